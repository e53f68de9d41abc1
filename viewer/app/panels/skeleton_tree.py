"""The skeleton panel: a search and the tree of joints, in step with what is selected and pointed at in the view."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.panels.commands import context_menu, point
from viewer.app.panels.marks import effector_mark
from viewer.app.panels.tree_rows import Folds, Row, below, found_rows, tree_rows
from viewer.app.widgets.edits import act
from viewer.app.widgets.fields import search_field
from viewer.app.widgets.items import item, tip
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import quiet
from viewer.scene.look import SIDES, look_of
from viewer.session.actions import Select
from viewer.session.document import Item
from viewer.skeleton.effectors import find_place

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.document import Document, Handle
    from viewer.skeleton.skeleton import Skeleton

ROW = 22
"""Height of a row, logical pixels."""
INDENT = 11


@dataclass(slots=True)
class _State:
    """What the panel keeps.

    Attributes:
        query: typed into the search.
        folds: what is folded.
        names: of the joints that the rows are of.
        active: what was selected last when the tree was last scrolled.
        key: what the rows were worked out from.
        rows: of the tree.
        scroll_to: the joint to bring into view.
    """

    query: str = ""
    folds: Folds = field(default_factory=Folds)
    names: tuple[str, ...] = ()
    active: Item | None = None
    key: Any = None
    rows: list[Row] = field(default_factory=list)
    scroll_to: int = -1


@dataclass(slots=True)
class _Painter:
    """What the rows of one frame share."""

    ui: PanelContext
    pen: Pen
    document: Document
    sides: list[int]
    handles: dict[int, list[Handle]]
    selected: set[str]
    hovered: str
    stuck: frozenset[str]
    missed: frozenset[str]
    flat: bool


def draw(ui: PanelContext) -> None:
    """Draw the panel."""
    state: _State = ui.memory.setdefault("state", _State())
    skeleton = ui.session.document.skeleton
    if skeleton.names != state.names:
        ui.memory["state"] = state = _State(names=skeleton.names)
    wanted, ui.controller.find_requested = ui.controller.find_requested, False
    state.query = search_field(ui, "find", state.query, "Find joint", focus=wanted)
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


def _nothing_found(ui: PanelContext, state: _State) -> None:
    top = imgui.get_item_rect_min()
    imgui.set_cursor_screen_pos((top.x, top.y + ui.px(8)))
    quiet(ui, f'No joint matches "{state.query}"')
    if imgui.button("Clear"):
        state.query = ""
        ui.wake()


def _follow(ui: PanelContext, state: _State) -> None:
    """Scroll to what was selected since the last frame, and open the way to it."""
    document = ui.session.document
    if document.active == state.active:
        return
    state.active = document.active
    if state.active is None:
        return
    joint = _joint_of(document.skeleton, state.active)
    fits = imgui.get_content_region_avail().y / ui.px(ROW)
    state.folds.show(document.skeleton, joint, short=len(document.skeleton) > fits)
    state.scroll_to = joint


def _joint_of(skeleton: Skeleton, chosen: Item) -> int:
    return skeleton.index(chosen.name) if chosen.kind == "joint" else find_place(skeleton, chosen.name).joint


def _rows(state: _State, skeleton: Skeleton) -> list[Row]:
    # Only the names and the parents matter here: stretching a bone makes another skeleton, but not another tree.
    key = (state.query.strip(), state.folds.version)
    if state.key != key:
        state.key = key
        state.rows = found_rows(skeleton, key[0]) if key[0] else tree_rows(skeleton, state.folds)
    return state.rows


def _draw_rows(ui: PanelContext, state: _State, rows: list[Row]) -> None:
    painter = _painter(ui, flat=bool(state.query.strip()))
    h = ui.px(ROW)
    if state.scroll_to >= 0:
        _scroll(rows, state.scroll_to, h)
        state.scroll_to = -1
    clipper = imgui.ListClipper()
    clipper.begin(len(rows), h)
    pointed = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            if _row(painter, state, rows[index], h):
                pointed = rows[index]
    point(ui, Item("joint", painter.document.skeleton.names[pointed.joint]) if pointed is not None else None)


def _scroll(rows: list[Row], joint: int, h: float) -> None:
    place = next((index for index, row in enumerate(rows) if row.joint == joint), -1)
    top, room = imgui.get_scroll_y(), imgui.get_window_height()
    if place >= 0 and not top <= place * h <= top + room - h:
        imgui.set_scroll_y(max(0.0, place * h - (room - h) / 2.0))


def _painter(ui: PanelContext, *, flat: bool) -> _Painter:
    document, report = ui.session.document, ui.session.report
    skeleton = document.skeleton
    handles: dict[int, list[Handle]] = {}
    for effector, handle in zip(skeleton.effectors, document.handles, strict=True):
        handles.setdefault(effector.joint, []).append(handle)
    hovered = ui.controller.hovered_item()
    return _Painter(
        ui=ui,
        pen=Pen(ui),
        document=document,
        sides=look_of(skeleton).sides.tolist(),
        handles=handles,
        selected={chosen.name for chosen in document.selection if chosen.kind == "joint"},
        hovered=hovered.name if hovered is not None and hovered.kind == "joint" else "",
        stuck=frozenset(report.at_limit) if report and document.limits_on else frozenset(),
        missed=frozenset(name for name, error in ui.session.errors.items() if not error.reached),
        flat=flat,
    )


def _row(painter: _Painter, state: _State, row: Row, h: float) -> bool:
    """Draw a row and answer it; whether the pointer is over it."""
    ui, pen, skeleton = painter.ui, painter.pen, painter.document.skeleton
    name = skeleton.names[row.joint]
    imgui.push_id(row.joint)
    it = item("row", imgui.get_content_region_avail().x, h, right_too=True)
    chosen = name in painter.selected
    if chosen:
        pen.box(*it[:4], "accent_dk", rounding=3)
    elif it.hovered or name == painter.hovered:
        pen.box(*it[:4], "field", rounding=3)
    if name == painter.hovered or (it.hovered and chosen):
        pen.upright(it.x, it.y, it.y + it.h, "hovered")
    x = it.x + pen.px(INDENT * min(row.depth, 14) + 4)
    if row.parent:
        caret = fa.ICON_FA_CARET_RIGHT if row.folded else fa.ICON_FA_CARET_DOWN
        pen.icon(x, it.middle[1], caret, "text3", SMALL)
    tick = x + pen.px(10)
    pen.box(tick, it.y + pen.px(6), pen.px(3), h - pen.px(12), SIDES[painter.sides[row.joint]], rounding=1)
    _name(painter, row, name, tick + pen.px(9), it.x + it.w)
    if it.clicked:
        _clicked(ui, state, row, name, fold=row.parent and imgui.get_mouse_pos().x < tick)
    imgui.pop_id()
    return it.hovered


def _name(painter: _Painter, row: Row, name: str, x: float, end: float) -> None:
    """The name, and at the right end what is special about the joint."""
    pen, middle = painter.pen, imgui.get_item_rect_min().y + imgui.get_item_rect_size().y / 2.0
    marks = painter.handles.get(row.joint, ())
    right = end - pen.px(12)
    for handle in marks[:3]:
        effector_mark(pen, right, middle, handle, reached=handle.effector not in painter.missed)
        right -= pen.px(15)
    right += pen.px(6)
    y = middle - 15.0 * pen.scale / 2.0
    if name in painter.stuck:
        width = pen.width("limit", SMALL)
        pen.small(right - width, y + pen.px(1), "limit", "text" if name in painter.selected else "limit")
        right -= width + pen.px(6)
    elif painter.flat and painter.document.skeleton.parents[row.joint] >= 0:
        above = painter.document.skeleton.names[painter.document.skeleton.parents[row.joint]]
        room = right - x - pen.width(name) - pen.px(12)
        if room > pen.px(40):
            above = pen.fit(above, room, SMALL)
            pen.small(right - pen.width(above, SMALL), y + pen.px(1), above)
    shown = pen.fit(name, right - x)
    strong = name in painter.selected or any(handle.on for handle in marks)
    pen.text(x, y, shown, "text" if strong else "text2")
    if shown != name:
        tip(name)


def _clicked(ui: PanelContext, state: _State, row: Row, name: str, *, fold: bool) -> None:
    here, io = Item("joint", name), imgui.get_io()
    if imgui.is_mouse_released(imgui.MouseButton_.right):
        if here not in ui.session.document.selection:
            act(ui, Select((here,)))
        context_menu(ui, here, io.mouse_pos.x, io.mouse_pos.y)
    elif fold:
        state.folds.turn(row.joint)
    elif io.mouse_clicked_last_count[0] == 2:
        skeleton = ui.session.document.skeleton
        act(ui, Select(tuple(Item("joint", skeleton.names[j]) for j in reversed(below(skeleton, row.joint)))))
    else:
        act(ui, Select((here,), "add" if io.key_shift else "toggle" if io.key_ctrl else "set"))
    state.active = ui.session.document.active  # it was clicked here: it is in view already
    ui.wake()
