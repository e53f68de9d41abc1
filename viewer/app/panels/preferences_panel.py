"""The preferences, and the page of keys and mouse (F1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import TITLE
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import Choice, choices, close_button, dialog, escape_pressed
from viewer.app.widgets.pen import Pen, gap
from viewer.session.user_files import LARGEST_SCALE, SMALLEST_SCALE, Preset
from viewer.ui.commands import HelpRow, help_rows

_HELP_POPUP = "##help"
PRESETS: tuple[Preset, ...] = ("simple", "blender", "maya")

_HELP_WIDTH, _LOWEST, _HEAD = 1180.0, 300.0, 52.0
_ROW, _GROUP, _BELOW, _CAPS = 19.0, 23.0, 5.0, 158.0
"""Heights of a row, of a heading and of the space below a group, width of the column of keys; logical pixels."""
_MARGIN = 6.0
_NARROWEST = 330.0
"""Least width of a column, logical pixels."""

Groups = list[tuple[str, tuple["HelpRow", ...]]]


@dataclass(slots=True)
class _Help:
    """State of the help: filter text, key of the arrangement, columns of groups, height in logical pixels."""

    query: str = ""
    key: object = None
    columns: list[Groups] = field(default_factory=list)
    deepest: float = 640.0


def draw_help(ui: PanelContext) -> None:
    """Open the page of keys when it is requested, close it when it is requested again, and draw it."""
    state: _Help = ui.memory.setdefault("state", _Help())
    asked = ui.take("help") is not None
    if asked and not imgui.is_popup_open(_HELP_POPUP):
        imgui.open_popup(_HELP_POPUP)
        state.query, asked = "", False
    with dialog(
        ui, _HELP_POPUP, width=_HELP_WIDTH, height=max(state.deepest + _HEAD + 32.0, _LOWEST), margin=_MARGIN
    ) as shown:
        if shown is None:
            return
        closed = _head(ui, state)
        imgui.begin_child("rows", (0.0, 0.0))
        _help_rows(ui, state)
        imgui.end_child()
        shown.closed = asked or closed or escape_pressed()


def _head(ui: PanelContext, state: _Help) -> bool:
    """Title, filter, mouse preset, close button; returns whether that was pressed."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, h = imgui.get_content_region_avail().x, pen.px(26)
    pen.strong(x, pen.middle(y, h, TITLE), "Keyboard and mouse", "text", TITLE)
    after = x + pen.width("Keyboard and mouse", TITLE, bold=True) + pen.px(40)
    closed = close_button(ui, x + wide - pen.px(24), y, hint="Close   Esc")
    end = _presets(ui, pen, (after + pen.px(140), y), x + wide - pen.px(40))
    imgui.set_cursor_screen_pos((after, y))
    imgui.begin_child("filter", (max(min(pen.px(260), end - after - pen.px(20)), pen.px(60)), h))
    fresh = imgui.is_window_appearing()
    state.query = fields.search_field(ui, "filter", state.query, "Type to filter", focus=fresh).text
    imgui.end_child()
    pen.rule(x - pen.px(16), x + wide + pen.px(16), y + pen.px(_HEAD - 14))
    imgui.set_cursor_screen_pos((x, y + pen.px(_HEAD)))
    return closed


def _choose_preset(ui: PanelContext, widths: float | None = None) -> None:
    view = ui.controller.view
    chosen = controls.choose(ui, "preset", PRESETS, [name.capitalize() for name in PRESETS], view.preset, widths=widths)
    if chosen != view.preset:
        view.preset = chosen


def _presets(ui: PanelContext, pen: Pen, start: tuple[float, float], end: float) -> float:
    """The mouse presets, ending at ``end``, with a label if there is room for it; returns where they begin."""
    each, y = pen.px(70), start[1]
    left = end - len(PRESETS) * each
    imgui.set_cursor_screen_pos((left, y))
    _choose_preset(ui, each)
    label_x = left - pen.width("Mouse preset") - pen.px(12)
    if label_x < start[0]:
        return left
    pen.text(label_x, pen.middle(y, pen.px(26)), "Mouse preset", "text2")
    return label_x


def _help_rows(ui: PanelContext, state: _Help) -> None:
    wide = imgui.get_content_region_avail().x
    count = max(1, min(3, int(wide / ui.px(_NARROWEST))))
    key = (state.query, ui.controller.view.preset, count)
    if state.key != key:
        state.key = key
        state.columns = arranged(found(state.query, ui.controller.view.preset), count)
    pen = Pen(ui)
    x, top = imgui.get_cursor_screen_pos()
    across, deepest = wide / count, 0.0
    for index, groups in enumerate(state.columns):
        y = top
        for heading, rows in groups:
            pen.strong(x + index * across, y, heading, "accent")
            y += pen.px(_GROUP)
            for row in rows:
                y += _help_row(pen, row, x + index * across, y, across - pen.px(10))
            y += pen.px(_BELOW)
        deepest = max(deepest, y - top)
    if not state.columns or not any(state.columns):
        pen.text(x, top, f'No key or action matches "{state.query}"', "text3")
    if not state.query:
        state.deepest = deepest / ui.scale
    imgui.dummy((1.0, deepest - pen.px(_BELOW)))


def _help_row(pen: Pen, row: HelpRow, x: float, y: float, room: float) -> float:
    """Draw keys and, in the next column or after the keys, what they do; returns the height of the row.

    Keys that leave no room for the words wrap to the next line.
    """
    words_wide = pen.width(row.words)
    at, words_at, top = x, x + pen.px(_CAPS), y
    for caps in row.caps:
        wide = sum(_cap_width(pen, cap) for cap in caps) + pen.px(11) * (len(caps) - 1) + pen.px(9)
        end = x + room - (words_wide if y == top else 0.0)
        if at > x and at + wide > max(end, x + pen.px(_CAPS)):
            at, y = x, y + pen.px(_ROW)
        for index, cap in enumerate(caps):
            if index:
                pen.small(at + pen.px(3), y + pen.px(2), "+")
                at += pen.px(11)
            at += controls.key_cap(pen, at, y, cap)
        at += pen.px(9)
        words_at = max(words_at, at) if y == top else words_at
    words = pen.fit(row.words, x + room - words_at)
    pen.text(words_at, pen.middle(top, pen.px(18)), words, "text2")
    return y - top + pen.px(_ROW)


def _cap_width(pen: Pen, cap: str) -> float:
    return max(pen.width(cap, 13.0) + pen.px(10), pen.px(18))


def found(query: str, preset: str) -> Groups:
    """The rows that contain every word of a filter, by heading."""
    words = query.casefold().split()

    def fits(heading: str, row: HelpRow) -> bool:
        text = " ".join((heading, row.words, *("+".join(caps) for caps in row.caps))).casefold()
        return all(word in text for word in words)

    kept = ((heading, tuple(row for row in rows if fits(heading, row))) for heading, rows in help_rows(preset).items())
    return [(heading, rows) for heading, rows in kept if rows]


def arranged(groups: Groups, count: int) -> list[Groups]:
    """The groups in ``count`` columns, in order in each, with the least possible height."""
    heights = [len(rows) * _ROW + _GROUP + _BELOW for _, rows in groups]

    def depth(way: tuple[int, ...]) -> float:
        return max(sum(h for h, column in zip(heights, way, strict=True) if column == c) for c in range(count))

    # Columns are numbered in the order of their first groups: other numberings give the same page.
    ways = [way for way in product(range(count), repeat=len(groups)) if _in_order(way)]
    best = min(ways, key=depth, default=())
    columns = [[g for g, column in zip(groups, best, strict=True) if column == c] for c in range(count)]
    return [column for column in columns if column]


def _in_order(way: tuple[int, ...]) -> bool:
    """Whether each column number appears after all smaller ones."""
    return all(column <= max(way[:place], default=-1) + 1 for place, column in enumerate(way))


_WIDTH, _LABEL = 520.0, 150.0
_SCALES = (1.0, 1.25, 1.5, 2.0, 3.0)
_SNAP = fields.Format(decimals=3, unit=" m", per_pixel=0.001, snap=0.01, units=fields.METRES, low=1e-4, high=1000.0)
_ANGLE = fields.Format(decimals=1, unit="°", per_pixel=0.1, snap=1.0, units=fields.ANGLE.units, low=0.1, high=180.0)


def draw_preferences(ui: PanelContext) -> None:
    """Draw the dialog while it is open; changes apply at once."""
    with dialog(ui, "preferences", width=_WIDTH, title="Preferences") as shown:
        if shown is None:
            return
        _scale(ui)
        controls.separator(ui)
        _mouse(ui)
        controls.separator(ui)
        _snapping(ui)
        gap(ui.px(6))
        shown.closed |= bool(choices(ui, Choice("Close", primary=True)))


def _scale(ui: PanelContext) -> None:
    preferences = ui.controller.view.preferences
    controls.label(ui, "Interface scale", width=_LABEL)
    words = ["Auto", *(f"{100.0 * scale:.0f} %" for scale in _SCALES)]
    now = preferences.ui_scale
    each = float(int(imgui.get_content_region_avail().x / len(words)))
    preferences.ui_scale = controls.choose(ui, "scale", (None, *_SCALES), words, now, widths=each)
    if preferences.ui_scale != now:
        ui.controller.view.changed()
    controls.label(ui, "", width=_LABEL)
    if controls.text_button(ui, "Smaller", enabled=ui.scale > SMALLEST_SCALE):
        _set_scale(ui, ui.scale - 0.05)
    imgui.same_line()
    if controls.text_button(ui, "Larger", enabled=ui.scale < LARGEST_SCALE):
        _set_scale(ui, ui.scale + 0.05)
    controls.note(ui, f"{100.0 * ui.scale:.0f} % now", gap=imgui.get_style().item_spacing.x / ui.scale)


def _set_scale(ui: PanelContext, scale: float) -> None:
    wanted = round(20.0 * min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)) / 20.0
    ui.controller.view.preferences.ui_scale = wanted
    ui.controller.view.changed()


def _mouse(ui: PanelContext) -> None:
    controls.label(ui, "Mouse", width=_LABEL, height=26, hint="Which buttons move the camera; F1 lists them")
    _choose_preset(ui)
    view = ui.controller.view
    for name, words, after in (
        ("two_fingers", "Trackpad", "Two fingers orbit, Shift pans, Ctrl zooms"),
        ("reduce_motion", "Reduce motion", "The camera moves instantly"),
        ("keep_in_view", "Keep in view", "The camera follows a motion that leaves the view"),
    ):
        before = getattr(view.preferences, name)
        if _switch(ui, words, after, on=before):
            setattr(view.preferences, name, not before)
            view.changed()


def _switch(ui: PanelContext, words: str, after: str, *, on: bool) -> bool:
    controls.label(ui, words, width=_LABEL)
    pressed = controls.toggle(ui, words, on=on)
    controls.note(ui, after, gap=imgui.get_style().item_spacing.x / ui.scale)
    return pressed


def _snapping(ui: PanelContext) -> None:
    controller = ui.controller
    if _switch(ui, "Magnet", "Drags snap; hold Ctrl to move freely", on=controller.view.magnet):
        controller.view.magnet = not controller.view.magnet
    controls.label(ui, "Snap steps", width=_LABEL)
    for name, form, hint in (("snap_m", fields.in_lengths(ui, _SNAP), "Moving"), ("snap_deg", _ANGLE, "Rotating")):
        before = getattr(controller.view, name)
        step = fields.number(ui, name.replace("_", " "), before, form, width=110, hint=hint)
        if step != before:  # setting it requests another frame
            setattr(controller.view, name, step)
        imgui.same_line()
    imgui.new_line()
