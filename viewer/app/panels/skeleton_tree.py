"""The skeleton panel: a search and the tree of joints, in step with what is selected and pointed at in the view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.panel_parts import context_menu, point
from viewer.app.panels.rename import ROW, in_tree, name_field
from viewer.app.panels.tree_rows import Folds, Row, RowPainter, below, found_rows, tree_rows
from viewer.app.widgets.buttons import quiet
from viewer.app.widgets.edits import act
from viewer.app.widgets.fields import Search, search_field
from viewer.document.actions import Select
from viewer.document.document import Item
from viewer.document.scope import joint_of
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Ints


@dataclass(slots=True)
class _State:
    """What the panel keeps.

    Attributes:
        query: what the rows are searched by.
        mark: the row that Enter selects, counted from the first that was found; -1: nothing is searched for.
        folds: what is folded.
        names: of the joints that the rows are of.
        parents: likewise.
        renamed: the joint whose row is a field, -1 for none.
        active: what was selected last when the tree was last scrolled.
        key: what the rows were worked out from.
        rows: of the tree.
        scroll_to: the joint to bring into view.
    """

    query: str = ""
    mark: int = -1
    folds: Folds = field(default_factory=Folds)
    names: tuple[str, ...] = ()
    parents: Ints = field(default_factory=lambda: np.empty(0, np.intp))
    renamed: int = -1
    active: Item | None = None
    key: Any = None
    rows: list[Row] = field(default_factory=list)
    scroll_to: int = -1


def draw(ui: PanelContext) -> None:
    """Draw the panel."""
    state: _State = ui.memory.setdefault("state", _State())
    skeleton = ui.session.document.skeleton
    if skeleton.names != state.names:
        state = _renamed(ui, state, skeleton)
    _ask_name(ui, state)
    wanted, ui.controller.find_requested = ui.controller.find_requested, False
    search = search_field(ui, "find", ui.controller.finding, "Find joint", focus=wanted)
    _search(ui, state, search)
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    imgui.begin_child("rows", (0.0, 0.0))
    _follow(ui, state)
    rows = _rows(state, skeleton)
    if rows:
        _draw_rows(ui, state, rows)
    imgui.end_child()
    imgui.pop_style_var()
    if not rows:
        _nothing_found(ui, state)


def _search(ui: PanelContext, state: _State, search: Search) -> None:
    """Take what is searched for: arrows mark a row, Enter selects the joint of the marked one and ends the search."""
    ui.controller.finding = search.text
    again = search.text != state.query
    state.query = search.text
    found = _rows(state, ui.session.document.skeleton) if search.text.strip() else []
    mark = 0 if again or state.mark < 0 else state.mark + search.step
    state.mark = min(max(mark, 0), len(found) - 1) if search.active or search.entered else -1
    if search.entered and state.mark >= 0:
        chosen = found[state.mark].joint
        act(ui, Select((Item("joint", ui.session.document.skeleton.names[chosen]),)))
        ui.controller.finding = state.query = ""
        state.mark, state.active = -1, None  # which brings the joint into view
        imgui.set_nav_cursor_visible(False)  # nobody goes on by key in the field
        ui.wake()
    elif state.mark >= 0 and (again or search.step):
        state.scroll_to = found[state.mark].joint


def _renamed(ui: PanelContext, state: _State, skeleton: Skeleton) -> _State:
    """What is kept for other names: of another tree nothing, of the same one what is folded and searched."""
    same = np.array_equal(skeleton.parents, state.parents)
    if not same:
        ui.memory["state"] = state = _State(parents=skeleton.parents)
        ui.controller.finding = ""
    state.names, state.key = skeleton.names, state.key and ()
    return state


def _ask_name(ui: PanelContext, state: _State) -> None:
    """Bring the row whose name is to be written into view."""
    joint = in_tree(ui)
    if joint == state.renamed:
        return
    state.renamed = joint
    if joint >= 0:
        ui.controller.finding = state.query = ""
        state.active = None  # as if it had just been selected


def _nothing_found(ui: PanelContext, state: _State) -> None:
    top = imgui.get_item_rect_min()
    imgui.set_cursor_screen_pos((top.x, top.y + ui.px(8)))
    quiet(ui, f'No joint matches "{state.query}"')
    if imgui.button("Clear"):
        ui.controller.finding = state.query = ""
        ui.wake()


def _follow(ui: PanelContext, state: _State) -> None:
    """Scroll to what was selected since the last frame, and open the way to it."""
    document = ui.session.document
    fresh = state.key is None
    if document.active == state.active and not fresh:
        return
    state.active = document.active
    if state.active is None and not fresh:
        return
    skeleton = document.skeleton
    joint = -1 if state.active is None else joint_of(document, state.active)
    fits = imgui.get_content_region_avail().y / ui.px(ROW)
    state.folds.show(skeleton, joint, {effector.joint for effector in skeleton.effectors}, fits)
    state.scroll_to = joint


def _rows(state: _State, skeleton: Skeleton) -> list[Row]:
    # Only the names and the parents matter here: stretching a bone makes another skeleton, but not another tree.
    key = (state.query.strip(), state.folds.version)
    if state.key != key:
        state.key = key
        state.rows = found_rows(skeleton, key[0]) if key[0] else tree_rows(skeleton, state.folds)
    return state.rows


def _draw_rows(ui: PanelContext, state: _State, rows: list[Row]) -> None:
    painter = RowPainter.of(ui, flat=bool(state.query.strip()))
    h = ui.px(ROW)
    if state.scroll_to >= 0:
        _scroll(rows, state.scroll_to, h)
        state.scroll_to = -1
    clipper = imgui.ListClipper()
    clipper.begin(len(rows), h)
    written = next((index for index, row in enumerate(rows) if row.joint == state.renamed), -1)
    if written >= 0:
        clipper.include_item_by_index(written)  # scrolled away it must not be forgotten
    pointed = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            top = imgui.get_cursor_screen_pos()
            if _row(painter, state, rows[index], h):
                pointed = rows[index]
            if index == state.mark:
                painter.pen.frame(top.x, top.y, imgui.get_content_region_avail().x, h, "accent", rounding=3)
    point(ui, Item("joint", painter.document.skeleton.names[pointed.joint]) if pointed is not None else None)


def _scroll(rows: list[Row], joint: int, h: float) -> None:
    place = next((index for index, row in enumerate(rows) if row.joint == joint), -1)
    top, room = imgui.get_scroll_y(), imgui.get_window_height()
    if place >= 0 and not top <= place * h <= top + room - h:
        imgui.set_scroll_y(max(0.0, place * h - (room - h) / 2.0))


def _row(painter: RowPainter, state: _State, row: Row, h: float) -> bool:
    """Draw a row and answer it; whether the pointer is over it."""
    if row.joint == state.renamed:
        left, top = imgui.get_cursor_screen_pos()
        imgui.set_cursor_screen_pos((painter.name_at(left, row), top))
        name_field(painter.ui, row.joint, imgui.get_content_region_avail().x)
        imgui.set_cursor_screen_pos((left, top + h))
        return False
    it, on_fold = painter.draw(row, h)
    if it.clicked:
        _clicked(painter.ui, state, row, fold=on_fold)
    return it.hovered


def _clicked(ui: PanelContext, state: _State, row: Row, *, fold: bool) -> None:
    skeleton, io = ui.session.document.skeleton, imgui.get_io()
    here = Item("joint", skeleton.names[row.joint])
    if imgui.is_mouse_released(imgui.MouseButton_.right):
        if here not in ui.session.document.selection:
            act(ui, Select((here,)))
        context_menu(ui, here, io.mouse_pos.x, io.mouse_pos.y)
    elif fold:
        state.folds.turn(row.joint)
    elif io.mouse_clicked_last_count[0] == 2:
        act(ui, Select(tuple(Item("joint", skeleton.names[j]) for j in reversed(below(skeleton, row.joint)))))
    else:
        act(ui, Select((here,), "add" if io.key_shift else "toggle" if io.key_ctrl else "set"))
    state.active = ui.session.document.active  # it was clicked here: it is in view already
    ui.wake()
