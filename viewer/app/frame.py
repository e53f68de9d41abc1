"""Runs the panels in a frame: each in its imgui window, with tabs, and with an error message if it raises."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

from imgui_bundle import imgui

from viewer.app.context import Panel, PanelContext, icons
from viewer.app.layout import BORDER, MENU, TABBED, TABS, Place
from viewer.app.theme import colour, paint
from viewer.ui.numbers import Rect

FIXED = (
    imgui.WindowFlags_.no_title_bar
    | imgui.WindowFlags_.no_resize
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_collapse
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_bring_to_front_on_focus
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_docking
)
STILL = imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_scroll_with_mouse
OVERLAY = FIXED | STILL | imgui.WindowFlags_.no_background | imgui.WindowFlags_.no_inputs


@dataclass(frozen=True, slots=True)
class Look:
    """Style of a window.

    Attributes:
        background: colour of the palette.
        padded: it has the theme's padding.
        frame_above: vertical padding of framed widgets, pixels; None: the theme's.
    """

    background: str
    padded: bool
    frame_above: float | None = None


class FixedWindow:
    """A context manager for an imgui window with a fixed rectangle."""

    def __init__(self, name: str, rect: Rect, flags: int, look: Look) -> None:
        self._name, self._rect, self._flags, self._look = name, rect, flags, look

    def __enter__(self) -> None:
        rect, look = self._rect, self._look
        imgui.set_next_window_pos(imgui.ImVec2(rect.x, rect.y))
        imgui.set_next_window_size(imgui.ImVec2(max(1, rect.w), max(1, rect.h)))
        imgui.push_style_color(imgui.Col_.window_bg, colour(look.background))
        pushed = 1
        imgui.push_style_var(imgui.StyleVar_.window_min_size, imgui.ImVec2(1.0, 1.0))
        if not look.padded:
            imgui.push_style_var(imgui.StyleVar_.window_padding, imgui.ImVec2(0.0, 0.0))
            pushed += 1
        if look.frame_above is not None:
            padding = imgui.get_style().frame_padding
            imgui.push_style_var(imgui.StyleVar_.frame_padding, imgui.ImVec2(padding.x, look.frame_above))
            pushed += 1
        imgui.begin(self._name, None, self._flags)
        imgui.pop_style_var(pushed)
        imgui.pop_style_color()

    def __exit__(self, *_: object) -> None:
        imgui.end()


_TAB_PADDING = 12
_BARS = frozenset({Place.MENU, Place.TOOLBAR, Place.STATUS})


def window_name(panel: Panel) -> str:
    """The name of a panel's imgui window."""
    return f"##panel:{panel.id}"


def _strip_name(place: Place) -> str:
    return f"##tabs:{place}"


@dataclass(slots=True)
class Failure:
    """The traceback of a panel that raised, and whether the user has opened it."""

    trace: str
    shown: bool = False


@dataclass(slots=True)
class Frame:
    """Runs all panels.

    Attributes:
        ui: the context that panels get.
        panels: in the order of their tabs.
        failures: of panels that raised, by id.
        focused: id of the panel that has the focus, or had it last.
    """

    ui: PanelContext
    panels: Sequence[Panel]
    failures: dict[str, Failure] = field(default_factory=dict)
    focused: str = ""

    def opaque(self, name: str) -> str | None:
        """The part of the panels' layer that an imgui window is painted into; None for a floating window.

        Tabs of a place share a part, since they paint over one another.
        """
        root = name.split("/", 1)[0]
        if root.startswith("##tabs:"):
            return root
        place = next((panel.place for panel in self.panels if window_name(panel) == root), Place.FLOATING)
        if place in {Place.VIEWPORT, Place.FLOATING}:
            return None
        return f"##body:{self.ui.regions.place(place)}" if place in TABBED else root

    def run(self, *, live_only: bool = False) -> None:
        """Submit panels to imgui, between ``new_frame`` and ``render``.

        Args:
            live_only: only the panels that change in every frame of a drag; the others keep their pixels.
        """
        placed = self._placed()
        for place, panels in placed.items():
            if place in TABBED and not live_only and place in self.ui.regions.rects:
                self._tabs(place, panels)
        for place, panels in placed.items():
            for panel in self._front(place, panels):
                if not live_only or panel.live or place in {Place.VIEWPORT, Place.FLOATING}:
                    self._panel(panel)
        self.ui.panel = None

    def front(self, place: Place) -> Panel | None:
        """The panel in front in a tabbed place; None without panels."""
        panels = self._placed().get(place, [])
        return next(iter(self._front(place, panels)), None)

    def _placed(self) -> dict[Place, list[Panel]]:
        placed: dict[Place, list[Panel]] = {}
        here, document = self.ui.controller.view.workspace, self.ui.session.document
        for panel in self.panels:
            if panel.workspace not in (None, here) or here in panel.hidden_in or not panel.fits(document):
                continue
            placed.setdefault(self.ui.regions.place(panel.place), []).append(panel)
        return placed

    def _front(self, place: Place, panels: list[Panel]) -> list[Panel]:
        """The visible panels of a place."""
        if place is Place.FLOATING:
            return panels
        if place not in self.ui.regions.rects:
            return []
        if place not in TABBED:
            return panels
        chosen = self.ui.layout.tabs.get(place)
        return [next((panel for panel in panels if panel.id == chosen), panels[0])]

    def _panel(self, panel: Panel) -> None:
        ui = self.ui
        ui.panel = panel
        if panel.place is Place.FLOATING:
            ui.rect = Rect(0, 0, *ui.regions.size)
            self._guarded(panel)
            return
        ui.rect = ui.regions.body(ui.regions.place(panel.place))
        flags = OVERLAY if panel.place is Place.VIEWPORT else FIXED | (0 if panel.scrolls else STILL)
        if panel.place is Place.MENU:
            flags |= imgui.WindowFlags_.menu_bar
        with FixedWindow(window_name(panel), ui.rect, flags, self._look(panel)):
            if imgui.is_window_focused(imgui.FocusedFlags_.root_and_child_windows):
                self.focused = panel.id
            self._guarded(panel)

    def _look(self, panel: Panel) -> Look:
        background = "app" if panel.place in {Place.MENU, Place.STATUS} else "panel"
        bar = panel.place is Place.MENU
        # This padding makes the menu bar `MENU` high.
        above = (self.ui.px(MENU) - imgui.get_font_size()) / 2.0 if bar else None
        return Look(background, padded=panel.padded and panel.place not in _BARS, frame_above=above)

    def _guarded(self, panel: Panel) -> None:
        """Draw a panel; an exception is shown in its rectangle."""
        if panel.id in self.failures:
            self._failed(panel, self.failures[panel.id])
            return
        before = imgui.internal.ErrorRecoveryState()
        imgui.internal.error_recovery_store_state(before)
        try:
            panel.draw(self.ui)
        except Exception:  # noqa: BLE001 - a panel's fault must not lose the document
            imgui.internal.error_recovery_try_to_recover_state(before)
            self.failures[panel.id] = failure = Failure(traceback.format_exc())
            print(f"error: the {panel.title} panel failed", failure.trace, sep="\n", file=sys.stderr)  # noqa: T201
            self.ui.wake()

    def _failed(self, panel: Panel, failure: Failure) -> None:
        """Draw the message in place of a panel that failed."""
        ui = self.ui
        if panel.place is Place.FLOATING:
            imgui.set_next_window_pos(
                imgui.ImVec2(ui.regions.viewport.x + ui.px(12), ui.regions.viewport.y + ui.px(12))
            )
            imgui.begin(f"##failed:{panel.id}", None, FIXED | imgui.WindowFlags_.always_auto_resize)
        imgui.push_style_color(imgui.Col_.text, colour("warn"))
        imgui.text(icons.ICON_FA_TRIANGLE_EXCLAMATION)
        imgui.pop_style_color()
        imgui.same_line()
        imgui.text_wrapped(f"The {panel.title} panel failed; your document is safe")
        if imgui.button("Details"):
            failure.shown = not failure.shown
        imgui.same_line()
        if imgui.button("Reopen"):
            del self.failures[panel.id]
            ui.wake()
        if failure.shown:
            with ui.fonts.small():
                imgui.text_wrapped(failure.trace)
        if panel.place is Place.FLOATING:
            imgui.end()

    def _tabs(self, place: Place, panels: list[Panel]) -> None:
        """The strip of tabs above a place."""
        ui = self.ui
        rect, body = ui.regions.rects[place], ui.regions.body(place)
        if body.y == rect.y:
            return
        strip = Rect(rect.x, rect.y, rect.w, body.y - rect.y)
        front = self._front(place, panels)[0]
        with FixedWindow(_strip_name(place), strip, FIXED | STILL, Look("app", padded=False)):
            left = float(strip.x + ui.px(8))
            words = sum(imgui.calc_text_size(panel.title).x + ui.px(4) for panel in panels)
            padding = min(ui.px(_TAB_PADDING), (strip.w - ui.px(8) - words) / len(panels))
            for panel in panels:
                left = self._tab(place, panel, (left, max(padding, 0.0)), chosen=panel is front)

    def _tab(self, place: Place, panel: Panel, room: tuple[float, float], *, chosen: bool) -> float:
        """One tab; ``room``: its left end, and the space beside its words. Returns the left end of the next one."""
        left, padding = room
        ui = self.ui
        top, height = float(ui.regions.rects[place].y), ui.px(TABS)
        words = imgui.calc_text_size(panel.title)
        width = words.x + padding
        imgui.set_cursor_screen_pos(imgui.ImVec2(left, top))
        if imgui.invisible_button(panel.id, imgui.ImVec2(width, height)):
            ui.layout.tabs[place] = panel.id
            ui.wake()
        drawing = imgui.get_window_draw_list()
        near, far = imgui.ImVec2(left, top + ui.px(2)), imgui.ImVec2(left + width, top + height)
        hovered = imgui.is_item_hovered()
        if chosen or hovered:
            flags = imgui.ImDrawFlags_.round_top
            drawing.add_rect_filled(near, far, paint("panel" if chosen else "raised"), ui.px(4), flags)
        if chosen:
            line = imgui.ImVec2(left + width, top + ui.px(2 + BORDER))
            shade = paint("accent" if panel.id == self.focused else "field_on")
            drawing.add_rect_filled(near, line, shade, ui.px(2), imgui.ImDrawFlags_.round_top)
        at = imgui.ImVec2(left + padding / 2.0, top + round((height - words.y) / 2))
        drawing.add_text(at, paint("text" if chosen else "text2"), panel.title)
        return left + width + ui.px(4)
