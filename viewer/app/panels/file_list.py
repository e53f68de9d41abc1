"""Parts of the file dialog: places and recent files at the left, the list of a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.widgets.items import item, tip
from viewer.app.widgets.pen import Pen
from viewer.formats.load import sample_names

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.file_state import State
    from viewer.app.panels.folder import Entry

ROW = 24
"""Height of a row, logical pixels."""
_DATE, _SIZE = 130.0, 70.0
"""Widths of the columns, logical pixels."""


def draw_places(ui: PanelContext, state: State) -> bool:
    """Folders at hand, and to open: files opened last and samples; whether one of these was opened."""
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    opened = False
    for words, path in state.places:
        if _row(ui, words, fa.ICON_FA_FOLDER, str(path), lit=path == state.folder):
            state.go(path)
    if state.samples:
        recent = ui.controller.preferences.recent
        if recent:
            _heading(ui, "Recent")
        for place in recent:
            if _row(ui, Path(place).name, fa.ICON_FA_CLOCK_ROTATE_LEFT, place):
                state.done(Path(place))
                opened = True
        _heading(ui, "Samples")
        for name in sample_names():
            if _row(ui, name, fa.ICON_FA_PERSON, f"sample:{name}"):
                ui.controller.files.open(f"sample:{name}")
                opened = True
    imgui.pop_style_var()
    return opened


def _heading(ui: PanelContext, words: str) -> None:
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.small(x + pen.px(6), pen.middle(y + pen.px(4), pen.px(ROW), SMALL), words)
    imgui.dummy((1.0, pen.px(ROW + 4)))


def _row(ui: PanelContext, words: str, icon: str, hint: str, *, lit: bool = False) -> bool:
    pen = Pen(ui)
    it = item(hint, imgui.get_content_region_avail().x, pen.px(ROW))
    if lit or it.hovered:
        pen.box(*it[:4], "accent_dk" if lit else "field")
    pen.icon(it.x + pen.px(14), it.middle[1], icon, "text3", SMALL)
    pen.text(it.x + pen.px(28), pen.middle(it.y, it.h), pen.fit(words, it.w - pen.px(34)), "text2")
    tip(hint)
    return it.clicked


def draw_list(ui: PanelContext, state: State) -> bool:
    """The folder's entries; whether one was chosen, by a double click."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail()
    pen.box(x, y, room.x, room.y, "app")
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    # Keys are for the field below: imgui's own would press what was clicked last, as a click does.
    imgui.begin_child("entries", (0.0, 0.0), window_flags=imgui.WindowFlags_.no_nav)
    if not state.entries:
        Pen(ui).text(x + pen.px(10), y + pen.px(8), "Nothing here that can be used", "text3")
    _show_marked(state, pen.px(ROW))
    clipper = imgui.ListClipper()
    clipper.begin(len(state.entries), pen.px(ROW))
    pressed: Entry | None = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            if _entry(ui, state.entries[index], chosen=state.entries[index].name == state.name):
                pressed = state.entries[index]
    imgui.end_child()
    imgui.pop_style_var()
    return pressed is not None and _pressed(state, pressed)


def _show_marked(state: State, row: float) -> None:
    """Scroll to the entry that the arrow keys have gone to."""
    if not state.stepped:
        return
    state.stepped = False
    place = next((index for index, entry in enumerate(state.entries) if entry.name == state.name), -1)
    top, room = imgui.get_scroll_y(), imgui.get_window_height()
    if place >= 0 and not top <= place * row <= top + room - row:
        imgui.set_scroll_y(place * row if place * row < top else (place + 1) * row - room)


def _pressed(state: State, entry: Entry) -> bool:
    double = imgui.get_io().mouse_clicked_last_count[0] == 2
    if entry.folder and (double or not state.saving):
        state.go(state.folder / entry.name)
        return False
    if entry.folder:
        return False
    state.name, state.replacing, state.problem = entry.name, None, ""
    return bool(double)


def _entry(ui: PanelContext, entry: Entry, *, chosen: bool) -> bool:
    pen = Pen(ui)
    it = item(entry.name, imgui.get_content_region_avail().x, pen.px(ROW))
    if chosen or it.hovered:
        pen.box(*it[:4], "accent_dk" if chosen else "field")
    icon = fa.ICON_FA_FOLDER if entry.folder else fa.ICON_FA_FILE
    pen.icon(it.x + pen.px(16), it.middle[1], icon, "text2" if entry.folder else "text3", SMALL)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(8)
    small = pen.middle(it.y, it.h, SMALL)
    columns = pen.px(_DATE + _SIZE)
    wide = it.w - pen.px(40) - columns
    if wide > pen.px(120):
        pen.right(right, small, entry.changed, "text3", SMALL)
        pen.right(right - pen.px(_DATE), small, entry.size, "text3", SMALL)
    else:
        wide += columns
    shown = pen.fit(entry.name, wide)
    pen.text(it.x + pen.px(32), y, shown, "text" if chosen or entry.folder else "text2")
    tip(entry.name if shown != entry.name else "")
    return it.clicked
