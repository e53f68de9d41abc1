"""The help overlay (F1): the one table of keys and mouse, in columns, with a filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import TITLE
from viewer.app.widgets.buttons import icon_button, key_cap, segments
from viewer.app.widgets.dialogs import begin_dialog, end_dialog, escape_pressed
from viewer.app.widgets.fields import search_field
from viewer.app.widgets.pen import Pen
from viewer.session.preferences import Preset
from viewer.ui.commands import HelpRow, help_rows

NAME = "##help"
PRESETS: tuple[Preset, ...] = ("simple", "blender", "maya")

_WIDTH, _LOWEST, _HEAD = 1180.0, 300.0, 52.0
_ROW, _GROUP, _BELOW, _CAPS = 19.0, 23.0, 5.0, 158.0
"""Heights of a row, of a heading and of the room below a group, width of the column of keys; logical pixels."""
_MARGIN = 6.0
_NARROWEST = 330.0
"""Logical width of a column."""

Groups = list[tuple[str, tuple["HelpRow", ...]]]


@dataclass(slots=True)
class _State:
    """What the overlay keeps.

    Attributes:
        query: typed into the filter.
        key: what the columns were arranged for.
        columns: groups of rows.
        deepest: height of the deepest column without a filter, logical pixels.
    """

    query: str = ""
    key: object = None
    columns: list[Groups] = field(default_factory=list)
    deepest: float = 640.0


def draw(ui: PanelContext) -> None:
    """Open, draw and close the overlay."""
    state: _State = ui.memory.setdefault("state", _State())
    asked = ui.take("help") is not None
    if asked and not imgui.is_popup_open(NAME):
        imgui.open_popup(NAME)
        state.query, asked = "", False
    if not begin_dialog(ui, NAME, width=_WIDTH, height=max(state.deepest + _HEAD + 32.0, _LOWEST), margin=_MARGIN):
        return
    crossed = _head(ui, state)
    imgui.begin_child("rows", (0.0, 0.0))
    _rows(ui, state)
    imgui.end_child()
    if asked or crossed or escape_pressed():
        imgui.close_current_popup()
    end_dialog()


def _head(ui: PanelContext, state: _State) -> bool:
    """Title, filter, mouse preset, cross; whether the cross was pressed."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, h = imgui.get_content_region_avail().x, pen.px(26)
    pen.strong(x, pen.middle(y, h, TITLE), "Keyboard and mouse", "text", TITLE)
    after = x + pen.width("Keyboard and mouse", TITLE, bold=True) + pen.px(40)
    imgui.set_cursor_screen_pos((x + wide - pen.px(24), y))
    crossed = icon_button(ui, "close", fa.ICON_FA_XMARK, "Close   Esc", size=24, fill=None)
    end = _presets(ui, pen, (after + pen.px(140), y), x + wide - pen.px(40))
    imgui.set_cursor_screen_pos((after, y))
    imgui.begin_child("filter", (max(min(pen.px(260), end - after - pen.px(20)), pen.px(60)), h))
    fresh = imgui.is_window_appearing()
    state.query = search_field(ui, "filter", state.query, "Type to filter", focus=fresh).text
    imgui.end_child()
    pen.rule(x - pen.px(16), x + wide + pen.px(16), y + pen.px(_HEAD - 14))
    imgui.set_cursor_screen_pos((x, y + pen.px(_HEAD)))
    return crossed


def _presets(ui: PanelContext, pen: Pen, start: tuple[float, float], end: float) -> float:
    """Which buttons move the camera, up to ``end``; their label if it has room from ``start`` on. Where they begin."""
    each, y = pen.px(70), start[1]
    left = end - len(PRESETS) * each
    imgui.set_cursor_screen_pos((left, y))
    words = [name.capitalize() for name in PRESETS]
    chosen = segments(ui, "preset", words, PRESETS.index(ui.controller.view.preset), widths=each)
    if chosen is not None:
        ui.controller.view.preset = PRESETS[chosen]
    label = left - pen.width("Mouse preset") - pen.px(12)
    if label < start[0]:
        return left
    pen.text(label, pen.middle(y, pen.px(26)), "Mouse preset", "text2")
    return label


def _rows(ui: PanelContext, state: _State) -> None:
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
                y += _row(pen, row, x + index * across, y, across - pen.px(10))
            y += pen.px(_BELOW)
        deepest = max(deepest, y - top)
    if not state.columns or not any(state.columns):
        pen.text(x, top, f'No key or action matches "{state.query}"', "text3")
    if not state.query:
        state.deepest = deepest / ui.scale
    imgui.dummy((1.0, deepest - pen.px(_BELOW)))


def _row(pen: Pen, row: HelpRow, x: float, y: float, room: float) -> float:
    """Keys, and what they do in a column of its own, or behind the keys where they are many; how high the row is.

    Keys that leave no room for the words go on below them.
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
            at += key_cap(pen, at, y, cap)
        at += pen.px(9)
        words_at = max(words_at, at) if y == top else words_at
    words = pen.fit(row.words, x + room - words_at)
    pen.text(words_at, pen.middle(top, pen.px(18)), words, "text2")
    return y - top + pen.px(_ROW)


def _cap_width(pen: Pen, cap: str) -> float:
    return max(pen.width(cap, 13.0) + pen.px(10), pen.px(18))


def found(query: str, preset: str) -> Groups:
    """The rows that hold every word of a filter, in a key or in what it does, by heading."""
    words = query.casefold().split()

    def fits(heading: str, row: HelpRow) -> bool:
        text = " ".join((heading, row.words, *("+".join(caps) for caps in row.caps))).casefold()
        return all(word in text for word in words)

    kept = ((heading, tuple(row for row in rows if fits(heading, row))) for heading, rows in help_rows(preset).items())
    return [(heading, rows) for heading, rows in kept if rows]


def arranged(groups: Groups, count: int) -> list[Groups]:
    """The groups in so many columns, each in order, the deepest column as low as can be."""
    heights = [len(rows) * _ROW + _GROUP + _BELOW for _, rows in groups]

    def depth(way: tuple[int, ...]) -> float:
        return max(sum(h for h, column in zip(heights, way, strict=True) if column == c) for c in range(count))

    # Columns are told apart by the first group in each: the other numberings are the same page.
    ways = [way for way in product(range(count), repeat=len(groups)) if _in_order(way)]
    best = min(ways, key=depth, default=())
    columns = [[g for g, column in zip(groups, best, strict=True) if column == c] for c in range(count)]
    return [column for column in columns if column]


def _in_order(way: tuple[int, ...]) -> bool:
    """Whether columns are numbered as they come up."""
    most = -1
    for column in way:
        if column > most + 1:
            return False
        most = max(most, column)
    return True
