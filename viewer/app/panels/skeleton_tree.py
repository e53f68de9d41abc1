"""The skeleton panel: the tree of joints with its search; and, while it is folded away, dialogs to find and rename."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import BASE, SMALL
from viewer.app.layout import Place
from viewer.app.panels.panel_parts import context_menu, effector_mark, point
from viewer.app.widgets.buttons import label, quiet
from viewer.app.widgets.dialogs import Choice, choices, dialog
from viewer.app.widgets.edits import act, attempt
from viewer.app.widgets.fields import Search, give_keyboard, search_field, text_line
from viewer.app.widgets.pen import Area, Pen, gap, item, tip
from viewer.document.actions import Select
from viewer.document.document import Document, DocumentGoal, Item
from viewer.document.report import joints_at_limit
from viewer.document.scope import joint_of
from viewer.scene.look import SIDES, look_of
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Ints

_RENAME_POPUP = "##rename"
ROW = 22
"""Height of a row of the tree, logical pixels."""
_NAME_FLAGS = imgui.InputTextFlags_.auto_select_all | imgui.InputTextFlags_.enter_returns_true


def in_tree(ui: PanelContext) -> int:
    """The joint whose row of the tree is a field now; -1: none."""
    return ui.controller.renaming.joint if Place.LEFT_TOP in ui.regions.rects else -1


def name_field(ui: PanelContext, joint: int, width: float) -> None:
    """The field that a row of the tree has become; Enter and leaving it take the name, Esc does not."""
    memory, own = ui.memory, ui.session.document.skeleton.names[joint]
    fresh = memory.get("renamed") != joint
    if fresh:
        memory["renamed"], memory["name"] = joint, own
        give_keyboard()
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (ui.px(4), (ui.px(ROW) - ui.px(BASE)) / 2.0))
    imgui.set_next_item_width(width)
    entered, memory["name"] = imgui.input_text("##new name", memory["name"], _NAME_FLAGS)
    imgui.pop_style_var()
    if fresh or not (entered or imgui.is_item_deactivated()):
        return
    if not imgui.is_key_pressed(imgui.Key.escape):
        attempt(ui, lambda: ui.controller.renaming.rename(joint, memory["name"]))
    _end_renaming(ui)


def _end_renaming(ui: PanelContext) -> None:
    ui.memory.pop("renamed", None)
    ui.controller.renaming.end()
    imgui.set_nav_cursor_visible(False)  # the list has the focus again, but keys are not used in it
    ui.wake()


def draw_rename_dialog(ui: PanelContext) -> None:
    """Draw the dialog, where there is no row for the name."""
    joint = ui.controller.renaming.joint
    if joint >= 0 and in_tree(ui) < 0 and ui.memory.get("renamed") != joint:
        ui.memory["renamed"], ui.memory["name"] = joint, ui.session.document.skeleton.names[joint]
        imgui.open_popup(_RENAME_POPUP)
    with dialog(ui, _RENAME_POPUP, width=360.0, title="Rename joint") as shown:
        if shown is None:
            return
        shown.closed |= joint < 0
        label(ui, "Name")
        if imgui.is_window_appearing():
            give_keyboard()
        room = imgui.get_content_region_avail().x
        ui.memory["name"], entered = text_line(ui, "name", ui.memory["name"], width=room, chosen=True)
        gap(ui.px(6))
        pressed = choices(ui, Choice("Cancel"), Choice("Rename", primary=True))
        if (entered or pressed == "Rename") and joint >= 0:
            shown.closed |= attempt(ui, lambda: ui.controller.renaming.rename(joint, ui.memory["name"]))
        shown.closed |= pressed == "Cancel"
        if shown.closed:
            _end_renaming(ui)


class Row(NamedTuple):
    """One row.

    Attributes:
        joint: its index.
        depth: steps from a root.
        parent: whether it has children.
        folded: whether they are hidden.
    """

    joint: int
    depth: int
    parent: bool
    folded: bool


@dataclass(slots=True)
class Folds:
    """What is folded in the tree: by hand, and around what is selected while the panel is short.

    Attributes:
        by_hand: joint -> folded, as the person left it.
        around: joints folded by themselves.
        version: changes with every change.
    """

    by_hand: dict[int, bool] = field(default_factory=dict)
    around: frozenset[int] = frozenset()
    version: int = 0

    def folded(self, joint: int) -> bool:
        """Whether the children of a joint are hidden."""
        return self.by_hand.get(joint, joint in self.around)

    def turn(self, joint: int) -> None:
        """Fold or unfold by hand."""
        self.by_hand[joint] = not self.folded(joint)
        self.version += 1

    def show(self, skeleton: Skeleton, joint: int, marked: Collection[int], fits: float) -> None:
        """Open the way to a joint, and fold others by themselves until the tree fits, or all that may are folded.

        Fingers and toes go first (what hangs on joints with an effector), then the limbs off the way.

        Args:
            skeleton: the joints.
            joint: the one to be seen; -1 for none.
            marked: joints with an effector.
            fits: rows that the panel has room for.
        """
        way = ancestors(skeleton, joint)
        heads, on_way = children_of(skeleton), set(way)
        # What was folded or opened by hand gives way where the joint wanted would not be seen.
        self.by_hand = {j: folded for j, folded in self.by_hand.items() if folded and j not in way[1:]}
        ends = frozenset(j for j in marked if j not in on_way and len(below(skeleton, j)) > _FEW)
        limbs = frozenset(child for above in way[1:] for child in heads[above] if child not in on_way and heads[child])
        for self.around in (frozenset(), ends, ends | limbs):
            if len(tree_rows(skeleton, self)) <= fits:
                break
        self.version += 1


_FEW = 2
"""Rows that are not worth folding away."""


def ancestors(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and those above it, nearest first."""
    way = []
    while joint >= 0:
        way.append(joint)
        joint = int(skeleton.parents[joint])
    return way


def below(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and all that hang on it, parents first."""
    heads = children_of(skeleton)
    found = [joint]
    for each in found:
        found.extend(heads[each])
    return found


@lru_cache(maxsize=8)
def children_of(skeleton: Skeleton) -> tuple[tuple[int, ...], ...]:
    """The children of each joint."""
    lists: list[list[int]] = [[] for _ in skeleton.names]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            lists[parent].append(joint)
    return tuple(tuple(some) for some in lists)


@lru_cache(maxsize=8)
def _order(skeleton: Skeleton) -> tuple[tuple[int, int], ...]:
    """Every joint with its depth, in the order of a tree that is all open."""
    depths = [0] * len(skeleton)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        depths[joint] = depths[parent] + 1 if parent >= 0 else 0
    return tuple((joint, depths[joint]) for joint in depth_first(skeleton))


def deepest(skeleton: Skeleton) -> int:
    """Steps from a root to the joint that is farthest down."""
    return max(depth for _, depth in _order(skeleton))


def tree_rows(skeleton: Skeleton, folds: Folds) -> list[Row]:
    """The rows that are not folded away, from the top."""
    heads = children_of(skeleton)
    rows: list[Row] = []
    hidden_below = -1
    for joint, depth in _order(skeleton):
        if 0 <= hidden_below < depth:
            continue
        folded = bool(heads[joint]) and folds.folded(joint)
        hidden_below = depth if folded else -1
        rows.append(Row(joint, depth, bool(heads[joint]), folded))
    return rows


def found_rows(skeleton: Skeleton, wanted: str, marked: Collection[str] = ()) -> list[Row]:
    """Rows of the joints whose names hold every word of a search, whatever the case; in the order of the tree.

    Args:
        skeleton: the joints.
        wanted: the words.
        marked: joints that match, too: those with effectors of such a name.
    """
    words = wanted.casefold().split()
    rows = []
    for joint, _ in _order(skeleton):
        name = skeleton.names[joint].casefold()
        if skeleton.names[joint] in marked or all(word in name for word in words):
            rows.append(Row(joint, 0, parent=False, folded=False))
    return rows


INDENT = 11
"""Logical pixels that a child stands to the right of its parent."""
_LEAST_INDENT = 4.0
"""Of trees too deep for that; where even this takes too much room, what is deeper stands no farther to the right."""
_NAME, _BESIDE = 88.0, 26.0
"""Logical pixels that a name has at least, and that stand before it: fold and side."""


@dataclass(slots=True)
class RowPainter:
    """What the rows of one frame share.

    Attributes:
        ui: what panels draw from.
        pen: of the window that the rows are in.
        document: whose joints they are.
        sides: per joint, index into `SIDES`.
        goals: of the effectors on a joint.
        selected: names of joints.
        hovered: name of the joint under the pointer, here or in the view.
        stuck: names of joints at a limit.
        missed: names of effectors whose goals are missed.
        flat: rows are what a search found: they name their parents.
        indent: framebuffer pixels that a child stands to the right of its parent ...
        most: ... and that any row stands to the right of a root at most.
    """

    ui: PanelContext
    pen: Pen
    document: Document
    sides: list[int]
    goals: dict[int, list[DocumentGoal]]
    selected: set[str]
    hovered: str
    stuck: frozenset[str]
    missed: frozenset[str]
    flat: bool
    indent: float
    most: float

    @classmethod
    def of(cls, ui: PanelContext, *, flat: bool) -> RowPainter:
        """For the document as it is now, in the current imgui window."""
        document = ui.session.document
        goals: dict[int, list[DocumentGoal]] = {}
        joints = {effector.name: effector.joint for effector in document.skeleton.effectors}
        for goal in document.goals:
            goals.setdefault(joints[goal.effector], []).append(goal)
        hovered = ui.controller.view.hovered_item()
        most = max(imgui.get_content_region_avail().x - ui.px(_NAME + _BESIDE), 0.0)
        indent = min(ui.px(INDENT), max(most / max(deepest(document.skeleton), 1), _LEAST_INDENT * ui.scale))
        return cls(
            ui=ui,
            pen=Pen(ui),
            document=document,
            sides=look_of(document.skeleton).sides.tolist(),
            goals=goals,
            selected={chosen.name for chosen in document.selection if chosen.kind == "joint"},
            hovered=hovered.name if hovered is not None and hovered.kind == "joint" else "",
            stuck=frozenset(joints_at_limit(document)),
            missed=frozenset(name for name, error in ui.session.errors.items() if not error.reached),
            flat=flat,
            indent=indent,
            most=most,
        )

    def name_at(self, left: float, row: Row) -> float:
        """Where the field for a row's name starts, in a row that starts at ``left``."""
        return self._fold_at(left, row) + self.pen.px(15)

    def _fold_at(self, left: float, row: Row) -> float:
        return left + self.pen.px(4) + round(min(row.depth * self.indent, self.most))

    def draw(self, row: Row, h: float) -> tuple[Area, bool]:
        """Draw a row, framebuffer pixels high; the item, and whether the pointer is on its fold."""
        pen, name = self.pen, self.document.skeleton.names[row.joint]
        imgui.push_id(row.joint)
        it = item(f"joint {name}", imgui.get_content_region_avail().x, h, right_too=True)
        imgui.pop_id()
        self._back(it, name)
        x = self._fold_at(it.x, row)
        if row.parent:
            caret = fa.ICON_FA_CARET_RIGHT if row.folded else fa.ICON_FA_CARET_DOWN
            pen.icon(x, it.middle[1], caret, "text3", SMALL)
        tick = x + pen.px(10)
        pen.box(tick, it.y + pen.px(6), pen.px(3), h - pen.px(12), SIDES[self.sides[row.joint]], rounding=1)
        right = self._marks(row.joint, it)
        shown = pen.fit(name, right - tick - pen.px(9))
        right = self._notes(row.joint, name, it, (tick + pen.px(9) + pen.width(shown), right))
        shown = pen.fit(name, right - tick - pen.px(9))
        strong = name in self.selected or any(goal.enabled for goal in self.goals.get(row.joint, ()))
        pen.text(tick + pen.px(9), pen.middle(it.y, h), shown, "text" if strong else "text2")
        tip(name if shown != name else "")
        return it, row.parent and imgui.get_mouse_pos().x < tick

    def _back(self, it: Area, name: str) -> None:
        chosen = name in self.selected
        if chosen:
            self.pen.box(*it[:4], "accent_dk", rounding=3)
        elif it.hovered or name == self.hovered:
            self.pen.box(*it[:4], "field", rounding=3)
        if name == self.hovered or (it.hovered and chosen):
            self.pen.upright(it.x, it.y, it.y + it.h, "hovered")

    def _marks(self, joint: int, it: Area) -> float:
        """The goals on the joint, at the right end: a mark, and how many; returns where the room left of them ends."""
        pen, right = self.pen, it.x + it.w - self.pen.px(6)
        goals = sorted(self.goals.get(joint, ()), key=lambda goal: goal.id not in self.missed)  # a missed one is seen
        if goals:
            effector_mark(pen, right - pen.px(6), it.middle[1], goals[0], reached=goals[0].id not in self.missed)
            right -= pen.px(15)
        if len(goals) > 1:
            right -= pen.width(f"{len(goals)}", SMALL)
            pen.text(right, pen.middle(it.y, it.h, SMALL), f"{len(goals)}", "text2", SMALL)
            right -= pen.px(4)
        return right

    def _notes(self, joint: int, name: str, it: Area, room: tuple[float, float]) -> float:
        """``limit``, or the parent of a joint that was searched for; returns where the room left of it ends."""
        pen, (left, right) = self.pen, room
        y = pen.middle(it.y, it.h, SMALL)
        if name in self.stuck:
            right -= pen.width("limit", SMALL)
            pen.small(right, y, "limit", "text" if name in self.selected else "limit")
            return right - pen.px(6)
        parent = int(self.document.skeleton.parents[joint])
        if self.flat and parent >= 0 and right - left > pen.px(52):
            words = pen.fit(self.document.skeleton.names[parent], right - left - pen.px(12), SMALL)
            pen.small(right - pen.width(words, SMALL), y, words)
        return right


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


def draw_skeleton_tree(ui: PanelContext) -> None:
    """Draw the panel."""
    state: _State = ui.memory.setdefault("state", _State())
    skeleton = ui.session.document.skeleton
    if skeleton.names != state.names:
        state = _renamed(ui, state, skeleton)
    _ask_name(ui, state)
    wanted, ui.controller.view.find_requested = ui.controller.view.find_requested, False
    search = search_field(ui, "find", ui.controller.view.finding, "Find joint", focus=wanted)
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
    ui.controller.view.finding = search.text
    again = search.text != state.query
    state.query = search.text
    found = _rows(state, ui.session.document.skeleton) if search.text.strip() else []
    mark = 0 if again or state.mark < 0 else state.mark + search.step
    state.mark = min(max(mark, 0), len(found) - 1) if search.active or search.entered else -1
    if search.entered and state.mark >= 0:
        chosen = found[state.mark].joint
        act(ui, Select((Item("joint", ui.session.document.skeleton.names[chosen]),)))
        ui.controller.view.finding = state.query = ""
        state.mark, state.active = -1, None  # which brings the joint into view
        imgui.set_nav_cursor_visible(False)  # keys are not used in the field
        ui.wake()
    elif state.mark >= 0 and (again or search.step):
        state.scroll_to = found[state.mark].joint


def _renamed(ui: PanelContext, state: _State, skeleton: Skeleton) -> _State:
    """What is kept for other names: of another tree nothing, of the same one what is folded and searched."""
    same = np.array_equal(skeleton.parents, state.parents)
    if not same:
        ui.memory["state"] = state = _State(parents=skeleton.parents)
        ui.controller.view.finding = ""
    state.names, state.key = skeleton.names, state.key and ()
    return state


def _ask_name(ui: PanelContext, state: _State) -> None:
    """Bring the row whose name is to be written into view."""
    joint = in_tree(ui)
    if joint == state.renamed:
        return
    state.renamed = joint
    if joint >= 0:
        ui.controller.view.finding = state.query = ""
        state.active = None  # as if it had just been selected


def _nothing_found(ui: PanelContext, state: _State) -> None:
    top = imgui.get_item_rect_min()
    imgui.set_cursor_screen_pos((top.x, top.y + ui.px(8)))
    quiet(ui, f'No joint matches "{state.query}"')
    if imgui.button("Clear"):
        ui.controller.view.finding = state.query = ""
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


_FIND_POPUP = "##find joint"
_MOST_FOUND, _FOUND_ROW = 8, 24


def draw_find_dialog(ui: PanelContext) -> None:
    """Draw the dialog, if there is no tree to search in."""
    if ui.controller.view.find_requested and Place.LEFT_TOP not in ui.regions.rects:
        ui.controller.view.find_requested = False
        ui.memory["query"], ui.memory["mark"] = "", 0
        imgui.open_popup(_FIND_POPUP)
    with dialog(ui, _FIND_POPUP, width=360.0, title="Find joint") as shown:
        if shown is None:
            return
        before = ui.memory["query"]
        search = search_field(ui, "query", before, "Part of the name", focus=imgui.is_window_appearing())
        ui.memory["query"] = search.text
        if search.text != before:
            ui.memory["mark"] = 0
        shown.closed |= _found_list(ui, search)
        if shown.closed:
            ui.wake()


def _found_list(ui: PanelContext, search: Search) -> bool:
    """The joints of such a name; whether one of them was chosen. Enter takes the marked one, which arrows move."""
    skeleton, query = ui.session.document.skeleton, search.text.strip()
    names = [skeleton.names[row.joint] for row in found_rows(skeleton, query)]
    mark = ui.memory["mark"] = max(0, min(ui.memory["mark"] + search.step, len(names) - 1))
    first = max(0, mark - _MOST_FOUND + 1)
    pen, h = Pen(ui), ui.px(_FOUND_ROW)
    chosen = names[mark] if search.entered and names else ""
    for place, name in enumerate(names[first : first + _MOST_FOUND], first):
        it = item(f"found {name}", imgui.get_content_region_avail().x, h)
        if it.hovered or place == mark:
            pen.box(*it[:4], "accent_dk" if place == mark else "field_hi")
        shown = pen.fit(name, it.w - pen.px(16))
        pen.text(it.x + pen.px(8), pen.middle(it.y, h), shown)
        tip(name if shown != name else "")
        chosen = name if it.clicked else chosen
    if not names:
        quiet(ui, f'No joint matches "{query}"')
    elif len(names) > first + _MOST_FOUND:
        quiet(ui, f"{len(names) - first - _MOST_FOUND} more")
    return bool(chosen) and act(ui, Select((Item("joint", chosen),)))
