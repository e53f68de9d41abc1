"""The help overlay (F1): the one table of keys and mouse, in columns, with a filter."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import TITLE
from viewer.app.panels.requests import taken
from viewer.app.widgets.buttons import icon_button, key_cap, segments
from viewer.app.widgets.dialogs import begin_dialog, end_dialog, escape_pressed
from viewer.app.widgets.fields import search_field
from viewer.app.widgets.pen import Pen
from viewer.ui.commands import help_rows

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.preferences import Preset
    from viewer.ui.commands import HelpRow

NAME = "##help"
PRESETS: tuple[Preset, ...] = ("simple", "blender", "maya")

_WIDTH, _HEIGHT, _HEAD = 1180.0, 660.0, 52.0
_ROW, _GROUP, _CAPS = 20.0, 26.0, 158.0
"""Heights of a row and of a heading, width of the column of keys; logical pixels."""
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
    """

    query: str = ""
    key: object = None
    columns: list[Groups] = field(default_factory=list)


def draw(ui: PanelContext) -> None:
    """Open, draw and close the overlay."""
    state: _State = ui.memory.setdefault("state", _State())
    asked = taken(ui, "help") is not None
    if asked and not imgui.is_popup_open(NAME):
        imgui.open_popup(NAME)
        state.query, asked = "", False
    if not begin_dialog(ui, NAME, width=_WIDTH, height=_HEIGHT):
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
    right = x + wide
    imgui.set_cursor_screen_pos((right - pen.px(24), y))
    crossed = icon_button(ui, "close", fa.ICON_FA_XMARK, "Close   Esc", size=24, fill=None)
    each = pen.px(70)
    start = right - pen.px(40) - 3 * each
    imgui.set_cursor_screen_pos((start, y))
    preset = ui.controller.preset
    chosen = segments(ui, "preset", [name.capitalize() for name in PRESETS], PRESETS.index(preset), widths=each)
    if chosen is not None:
        ui.controller.preset = PRESETS[chosen]
    label = start - pen.width("Mouse preset") - pen.px(12)
    if label - after > pen.px(140):
        pen.text(label, pen.middle(y, h), "Mouse preset", "text2")
        end = label
    else:
        end = start
    imgui.set_cursor_screen_pos((after, y))
    imgui.begin_child("filter", (max(min(pen.px(260), end - after - pen.px(20)), pen.px(60)), pen.px(26)))
    fresh = imgui.is_window_appearing()
    state.query = search_field(ui, "filter", state.query, "Type to filter", focus=fresh)
    imgui.end_child()
    pen.rule(x - pen.px(16), x + wide + pen.px(16), y + pen.px(_HEAD - 14))
    imgui.set_cursor_screen_pos((x, y + pen.px(_HEAD)))
    return crossed


def _rows(ui: PanelContext, state: _State) -> None:
    wide = imgui.get_content_region_avail().x
    count = max(1, min(3, int(wide / ui.px(_NARROWEST))))
    key = (state.query, ui.controller.preset, count)
    if state.key != key:
        state.key = key
        state.columns = arranged(found(state.query, ui.controller.preset), count)
    pen = Pen(ui)
    x, top = imgui.get_cursor_screen_pos()
    across, deepest = wide / count, 0.0
    for index, groups in enumerate(state.columns):
        y = top
        for heading, rows in groups:
            pen.strong(x + index * across, y, heading, "accent")
            y += pen.px(_GROUP)
            for row in rows:
                _row(pen, row, x + index * across, y, across - pen.px(10))
                y += pen.px(_ROW)
            y += pen.px(10)
        deepest = max(deepest, y - top)
    if not state.columns or not any(state.columns):
        pen.text(x, top, f'No key or action matches "{state.query}"', "text3")
    imgui.dummy((1.0, deepest))


def _row(pen: Pen, row: HelpRow, x: float, y: float, room: float) -> None:
    """Keys in their column, and what they do; ways that do not fit are left to the page of keys."""
    at, end = x, x + pen.px(_CAPS - 6)
    for caps in row.caps:
        wide = sum(_cap_width(pen, cap) for cap in caps) + pen.px(11) * (len(caps) - 1)
        if at + wide > end and at > x:
            break
        for index, cap in enumerate(caps):
            if index:
                pen.small(at + pen.px(3), y + pen.px(2), "+")
                at += pen.px(11)
            at += key_cap(pen, at, y, cap)
        at += pen.px(9)
    words = pen.fit(row.words, room - pen.px(_CAPS))
    pen.text(x + pen.px(_CAPS), y, words, "text2")


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
    """The groups in so many columns, in order, the deepest as low as can be."""
    if not groups:
        return []
    heights = [len(rows) * _ROW + _GROUP + 10.0 for _, rows in groups]
    count = min(count, len(groups))
    ways = [(0, *cuts, len(groups)) for cuts in combinations(range(1, len(groups)), count - 1)]
    spans = [list(pairwise(way)) for way in ways]
    best = min(spans, key=lambda parts: max(sum(heights[a:b]) for a, b in parts))
    return [groups[a:b] for a, b in best]
