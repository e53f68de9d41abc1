"""Draws a frame of the window: runs the panels, draws the scene, and composes both.

Each panel has its imgui window, with tabs, and an error message in its place if it raises.
"""

from __future__ import annotations

import math
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui
from numpy.typing import NDArray

from viewer.app.compositing import ImguiRenderer, Layers, Level, Painted, SceneBuffer, copy_list, write_texts
from viewer.app.input import DOUBLE_CLICK, Capture
from viewer.app.layout import BORDER, LANE, MENU, TABBED, TABS, Layout, Place
from viewer.app.panel_context import Panel, PanelContext
from viewer.app.panels.lanes import lane_heights
from viewer.app.theme import Fonts, apply_theme, colour, paint
from viewer.app.widgets import fields
from viewer.app.widgets.pen import Pen, tip
from viewer.app.window import Device
from viewer.opengl.gpu_objects import read_picture
from viewer.ui.controller import Controller
from viewer.ui.events import Rect

_LARGE = 3200
"""Width in pixels from which a window is on a screen of high density, even if the system reports a scale of 1."""
_LEAST = 640
"""Logical width in which the bars have room: in a window with fewer, everything is smaller."""

_TRANSPARENT = ("##Tooltip", "##Background", "##Foreground", "##panel:")
"""Beginnings of the names of imgui windows over the scene that ignore the mouse."""


def ui_scale(content_scale: float, width: int, wanted: float | None) -> float:
    """Framebuffer pixels per logical pixel: as ``wanted``, else by the monitor and the width of the framebuffer."""
    if wanted is None:
        wanted = 2.0 if content_scale <= 1.0 and width >= _LARGE else max(content_scale, 0.75)
    return min(wanted, max(width / _LEAST, 0.75))


class Painter:
    """Owns imgui, the layers and the scene's framebuffer of one window.

    Attributes:
        ui: the context that panels get.
        layers: keeps their pixels.
        capture: state of imgui in its last frame.
    """

    def __init__(self, device: Device, controller: Controller, panels: Sequence[Panel], layout: Layout) -> None:
        """Create imgui's context, and load fonts and shaders.

        Raises:
            MachineError: fonts are missing, or the driver refuses a shader.
        """
        self._device = device
        self._imgui = imgui.create_context()
        imgui.set_current_context(self._imgui)
        # After a panel has raised, its own traceback is printed: imgui's log adds nothing.
        self._imgui.debug_log_flags &= ~imgui.internal.DebugLogFlags_.output_to_tty
        self._set_up_io()
        fonts = Fonts()
        regions = layout.regions(device.size, 1.0)
        self.ui = PanelContext(controller, fonts, layout, regions, panels=panels)
        self.panels = PanelHost(self.ui)
        self._renderer = ImguiRenderer(device.context)
        self.layers = Layers(device.context, self._renderer)
        self.scene_buffer = SceneBuffer(device.context, self.layers.blit)
        self.capture = Capture()
        self._themed = 0.0
        self._late = False
        self._texts: list[Painted] = []
        self.arrange()

    def arrange(self) -> bool:
        """Update the regions for the current size, scale and layout; returns whether they changed."""
        device, ui = self._device, self.ui
        wanted = ui.controller.view.ui_scale
        scale = ui_scale(device.content_scale, device.size[0], wanted)
        imgui.set_current_context(self._imgui)
        if scale != self._themed:
            apply_theme(scale)
            self._themed = scale
        compares = ui.session.stage.several and bool(ui.controller.figures.compared)
        ui.layout.extra = sum(lane_heights(ui.session.document)) + (LANE if compares else 0.0)
        regions = ui.layout.regions(device.size, scale)
        changed = regions != ui.regions or ui.scale != scale
        ui.regions, ui.scale = regions, scale
        ui.controller.view.panels.folded = regions.folded
        ui.controller.view.scale, ui.controller.viewport = scale, regions.viewport
        ui.controller.view.pixel_ratio = device.size[0] / device.window_size[0]
        if changed:
            ui.controller.view.changed()
            self.layers.forget()
        return changed

    def paint(self, seconds: float, level: Level, *, full: bool = True, still: bool = False) -> None:
        """Draw a frame into the device's target, ``seconds`` after the last one.

        It has all panels, not only the live ones, if ``full``; if ``still`` all of the scene with 4 samples per pixel,
        else without what the level omits.
        """
        panels, floating = self._run_panels(seconds, full=full)
        self.layers.paint(self._device.size, panels)
        controller = self.ui.controller
        shown = controller.draw_list(), controller.projection()
        scene = self.scene_buffer.draw(*shown, level, still=still, scale=self.ui.scale)
        self.layers.compose(self._device.target, (scene, self.ui.regions.viewport), floating)

    def picture(self) -> NDArray[np.uint8]:
        """The scene and its texts without panels, (H, W, 3), as `paint` drew them last."""
        regions = self.ui.regions
        size, viewport = regions.size, regions.viewport
        canvas = self._device.context.simple_framebuffer(size)
        self.layers.blit(self.scene_buffer.shown, canvas, at=viewport)
        self._renderer.draw(self._texts, canvas)
        image = read_picture(canvas)
        canvas.release()
        return image[viewport.y : viewport.y + viewport.h, viewport.x : viewport.x + viewport.w]

    @property
    def cursor(self) -> str:
        """The pointer's shape that imgui requests."""
        imgui.set_current_context(self._imgui)
        return IMGUI_SHAPES.get(imgui.MouseCursor_(imgui.get_mouse_cursor()), "arrow")

    def close(self) -> None:
        """Release imgui's context; the device releases OpenGL's."""
        imgui.set_current_context(self._imgui)
        self._renderer.release()
        imgui.destroy_context(self._imgui)

    def _set_up_io(self) -> None:
        io = imgui.get_io()
        io.set_ini_filename("")
        io.set_log_filename("")
        io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard | imgui.ConfigFlags_.no_mouse_cursor_change
        io.config_nav_capture_keyboard = False
        io.config_input_text_cursor_blink = False  # so that a window at rest draws no frames
        io.mouse_double_click_time = DOUBLE_CLICK  # imgui counts it in frames, which software OpenGL draws slowly
        io.config_error_recovery = True
        io.config_error_recovery_enable_assert = False
        io.config_error_recovery_enable_tooltip = False
        io.config_error_recovery_enable_debug_log = True
        device, platform = self._device, imgui.get_platform_io()
        platform.platform_get_clipboard_text_fn = lambda _: device.clipboard()
        platform.platform_set_clipboard_text_fn = lambda _, text: device.set_clipboard(text)

    def _run_panels(self, seconds: float, *, full: bool) -> tuple[dict[str, list[Painted]], list[Painted]]:
        """Run a frame of imgui; returns the draw lists of panels by layer, and those of floating windows."""
        imgui.set_current_context(self._imgui)
        io = imgui.get_io()
        io.delta_time = max(seconds, 1e-4)
        io.display_size = imgui.ImVec2(*self._device.size)
        # Alt is held for drags and commands here: letting it go must not put the keyboard into the menu bar.
        self._imgui.nav_windowing_toggle_layer = False
        imgui.new_frame()
        # imgui would dim the window behind a dialog gradually, over frames that may never be drawn.
        self._imgui.dim_bg_ratio = 0.0 if imgui.internal.get_top_most_popup_modal() is None else 1.0
        controller, regions = self.ui.controller, self.ui.regions
        self.panels.run(live_only=not full)
        write_texts(controller.draw_list().texts, regions.viewport, self.ui.fonts, self.ui.scale)
        imgui.render()
        self._renderer.update_textures()
        # imgui takes one typed key, or one press or release, per frame: the others must not wait for the next event,
        # and what the last of them changes is seen in the frame after it.
        late = bool(self._imgui.input_events_queue.size())
        if late or self._late:
            self.ui.wake()
        self._late = late
        panels: dict[str, list[Painted]] = {}
        floating: list[Painted] = []
        for draw_list in imgui.get_draw_data().cmd_lists:
            painted = copy_list(draw_list)
            layer = self.panels.opaque(painted.name)
            (floating if layer is None else panels.setdefault(layer, [])).append(painted)
        self._texts = [painted for painted in floating if painted.name.startswith("##Background")]
        self._note_capture(floating)
        return panels, floating

    def _note_capture(self, floating: list[Painted]) -> None:
        io, capture = imgui.get_io(), self.capture
        capture.viewport = self.ui.regions.viewport
        capture.modal = imgui.is_popup_open("", imgui.PopupFlags_.any_popup)
        capture.typing = io.want_text_input
        capture.active = imgui.is_any_item_active()
        capture.awaited = fields.awaiting_focus()
        capture.frames += 1
        if capture.awaited:
            self.ui.wake()
        rects = []
        for name in dict.fromkeys(painted.name.split("/", 1)[0] for painted in floating):
            window = None if name.startswith(_TRANSPARENT) else imgui.internal.find_window_by_name(name)
            if window is not None:
                rects.append(Rect(round(window.pos.x), round(window.pos.y), round(window.size.x), round(window.size.y)))
        capture.floating = tuple(rects)


IMGUI_SHAPES: dict[imgui.MouseCursor_, str] = {
    imgui.MouseCursor_.text_input: "text",
    imgui.MouseCursor_.resize_all: "move",
    imgui.MouseCursor_.resize_ns: "ns",
    imgui.MouseCursor_.resize_ew: "ew",
    imgui.MouseCursor_.hand: "hand",
    imgui.MouseCursor_.not_allowed: "not-allowed",
}


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


@contextmanager
def fixed_window(
    name: str, rect: Rect, flags: int, background: str, *, padded: bool, frame_above: float | None = None
) -> Iterator[None]:
    """An imgui window with a fixed rectangle, in framebuffer pixels, and the background of a colour of the palette.

    ``frame_above`` is the vertical padding of framed widgets, pixels; None: the theme's, as all of it is if ``padded``.
    """
    imgui.set_next_window_pos((rect.x, rect.y))
    imgui.set_next_window_size((max(1, rect.w), max(1, rect.h)))
    imgui.push_style_color(imgui.Col_.window_bg, colour(background))
    style = imgui.get_style()
    padding, across = style.window_padding, style.frame_padding.x
    above = style.frame_padding.y if frame_above is None else frame_above
    imgui.push_style_var(imgui.StyleVar_.window_min_size, (1.0, 1.0))
    imgui.push_style_var(imgui.StyleVar_.window_padding, padding if padded else (0.0, 0.0))
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (across, above))
    imgui.begin(name, None, flags)
    imgui.pop_style_var(3)
    imgui.pop_style_color()
    try:
        yield
    finally:
        imgui.end()


_TAB_PADDING, _TAB_GAP = 12, 4
_BARS = frozenset({Place.MENU, Place.TOOLBAR, Place.STATUS})


def window_name(panel: Panel) -> str:
    """The name of a panel's imgui window."""
    return f"##panel:{panel.id}"


@dataclass(slots=True)
class Failure:
    """The traceback of a panel that raised, and whether the user has opened it."""

    trace: str
    shown: bool = False


@dataclass(slots=True)
class PanelHost:
    """Runs all panels.

    Attributes:
        failures: of panels that raised, by id.
        focused: id of the panel that has the focus, or had it last.
    """

    ui: PanelContext
    failures: dict[str, Failure] = field(default_factory=dict)
    focused: str = ""

    def opaque(self, name: str) -> str | None:
        """The part of the panels' layer that an imgui window is painted into; None for a floating window.

        Tabs of a place share a part, since they paint over one another.
        """
        root = name.split("/", 1)[0]
        if root.startswith("##tabs:"):
            return root
        place = next((panel.place for panel in self.ui.panels if window_name(panel) == root), Place.FLOATING)
        if place in {Place.VIEWPORT, Place.FLOATING}:
            return None
        return f"##body:{self.ui.regions.place(place)}" if place in TABBED else root

    def run(self, *, live_only: bool = False) -> None:
        """Submit panels to imgui, between ``new_frame`` and ``render``.

        With ``live_only`` those that change in every frame of a drag; the others keep their pixels.
        """
        placed = self.ui.placed()
        for place, panels in placed.items():
            if place in TABBED and not live_only and place in self.ui.regions.rects:
                self._tabs(place, panels)
        for place, panels in placed.items():
            for panel in self.ui.in_front(place, panels):
                if not live_only or panel.live or place in {Place.VIEWPORT, Place.FLOATING}:
                    self._panel(panel)
        self.ui.panel = None

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
        background = "app" if panel.place in {Place.MENU, Place.STATUS} else "panel"
        # This padding makes the menu bar `MENU` high.
        above = (ui.px(MENU) - imgui.get_font_size()) / 2.0 if panel.place is Place.MENU else None
        padded = panel.padded and panel.place not in _BARS
        with fixed_window(window_name(panel), ui.rect, flags, background, padded=padded, frame_above=above):
            if imgui.is_window_focused(imgui.FocusedFlags_.root_and_child_windows):
                self.focused = panel.id
            self._guarded(panel)

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
            imgui.set_next_window_size(imgui.ImVec2(ui.px(420), 0))  # wrapped text alone gives no width
            imgui.begin(f"##failed:{panel.id}", None, FIXED)
        imgui.push_style_color(imgui.Col_.text, colour("warn"))
        imgui.text(fa.ICON_FA_TRIANGLE_EXCLAMATION)
        imgui.pop_style_color()
        imgui.same_line()
        imgui.text_wrapped(f"The {panel.title} panel failed; your document is safe")
        if imgui.button("Details"):
            failure.shown = not failure.shown
        imgui.same_line()
        if imgui.button("Reopen"):
            del self.failures[panel.id]
        if failure.shown:
            with ui.fonts.small():
                imgui.text_wrapped(failure.trace)
        if panel.place is Place.FLOATING:
            imgui.end()

    def _tabs(self, place: Place, panels: list[Panel]) -> None:
        ui = self.ui
        rect, body = ui.regions.rects[place], ui.regions.body(place)
        if body.y == rect.y:
            return
        strip = Rect(rect.x, rect.y, rect.w, body.y - rect.y)
        front = panels.index(self.ui.in_front(place, panels)[0])
        with fixed_window(f"##tabs:{place}", strip, FIXED | STILL, "app", padded=False):
            left, room = float(strip.x + ui.px(8)), strip.w - ui.px(8) - len(panels) * ui.px(_TAB_GAP)
            words = [imgui.calc_text_size(panel.title).x for panel in panels]
            padding = max(min(ui.px(_TAB_PADDING), (room - sum(words)) / len(panels)), 0.0)
            for index, (panel, width) in enumerate(zip(panels, _cut(words, room, front), strict=True)):
                self._tab(place, panel, (left, width, padding), chosen=index == front)
                left += width + padding + ui.px(_TAB_GAP)

    def _tab(self, place: Place, panel: Panel, room: tuple[float, float, float], *, chosen: bool) -> None:
        """One tab; ``room``: its left end, the width of its words, which are cut to it, and the space beside them."""
        left, wide, padding = room
        ui = self.ui
        top, height = float(ui.regions.rects[place].y), ui.px(TABS)
        width, title = wide + padding, Pen(ui).fit(panel.title, math.ceil(wide))
        imgui.set_cursor_screen_pos(imgui.ImVec2(left, top))
        if imgui.invisible_button(panel.id, imgui.ImVec2(width, height)):
            ui.layout.tabs[place] = panel.id
        tip(panel.title if title != panel.title else "")
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
        at = imgui.ImVec2(left + padding / 2.0, top + round((height - imgui.get_text_line_height()) / 2))
        drawing.add_text(at, paint("text" if chosen else "text2"), title)


def _cut(widths: list[float], room: float, whole: int) -> list[float]:
    """The widths, the largest but one that stays ``whole`` cut to one size, so that all have room."""
    left, others = room - widths[whole], sorted(widths[:whole] + widths[whole + 1 :])
    for place, width in enumerate(others):
        share = max(left / (len(others) - place), 0.0)
        if width > share:
            return [one if index == whole else min(one, share) for index, one in enumerate(widths)]
        left -= width
    return list(widths)
