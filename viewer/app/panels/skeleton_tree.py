"""The skeleton panel: the tree of joints with its search; a dialog to rename joints while it is hidden."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.layout import Place
from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import effector_mark, highlight, select_by_click
from viewer.app.theme import BASE, SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import act, attempt
from viewer.app.widgets.pen import Area, Pen, gap, tip
from viewer.document import DocumentGoal, Item, joint_of, joints_at_limit
from viewer.document.actions import Select
from viewer.errors import plural
from viewer.scene import SIDES, look_of
from viewer.session.figures import StageFigure
from viewer.skeleton import Skeleton, above
from viewer.skeleton.joint_edits import unplaced
from viewer.skeleton.kinematics import depths
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Ints
from viewer.ui.events import NameQuestion


class Row(NamedTuple):
    """A row of the tree: a joint's index, its depth below the root, whether it has children and whether they hide."""

    joint: int
    depth: int
    parent: bool
    folded: bool


@dataclass(slots=True)
class Folds:
    """Which joints of the tree are folded: by hand, and automatically where the panel is too short for all.

    ``version`` counts the changes.
    """

    by_hand: dict[int, bool] = field(default_factory=dict)
    automatic: frozenset[int] = frozenset()
    version: int = 0

    def folded(self, joint: int) -> bool:
        """Whether the children of a joint are hidden."""
        return self.by_hand.get(joint, joint in self.automatic)

    def toggle(self, joint: int) -> None:
        """Fold or unfold a joint by hand."""
        self.by_hand[joint] = not self.folded(joint)
        self.version += 1

    def show(self, skeleton: Skeleton, joint: int, marked: Collection[int], fits: float) -> None:
        """Unfold the path to a joint, -1 for none, and fold other branches until ``fits`` rows or none can be folded.

        Fingers and toes, below ``marked`` joints, which have an effector, fold first, then limbs beside the path.
        """
        path = above(skeleton, joint)
        children = children_of(skeleton)
        # Folds by hand are dropped where they would hide the joint.
        self.by_hand = {j: folded for j, folded in self.by_hand.items() if folded and j not in path[1:]}
        ends = frozenset(j for j in marked if j not in path and len(below(skeleton, j)) > _FEW)
        limbs = frozenset(j for above in path[1:] for j in children[above] if j not in path and children[j])
        for self.automatic in (frozenset(), ends, ends | limbs):
            if len(tree_rows(skeleton, self)) <= fits:
                break
        self.version += 1


_FEW = 2
"""Branches of at most this many rows are not folded automatically."""


def below(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and its descendants, parents first."""
    children, found = children_of(skeleton), [joint]
    for each in found:
        found.extend(children[each])
    return found


@lru_cache(maxsize=8)
def children_of(skeleton: Skeleton) -> tuple[tuple[int, ...], ...]:
    """The children of each joint, as tuples of indices."""
    lists: list[list[int]] = [[] for _ in skeleton.names]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            lists[parent].append(joint)
    return tuple(tuple(some) for some in lists)


@lru_cache(maxsize=8)
def _order(skeleton: Skeleton) -> tuple[tuple[int, int], ...]:
    """(joint, depth) of every joint, in the order of the unfolded tree; nothing of an empty document."""
    if unplaced(skeleton):
        return ()
    found = depths(skeleton.parents).tolist()
    return tuple((joint, found[joint]) for joint in depth_first(skeleton))


def deepest(skeleton: Skeleton) -> int:
    """Depth of the deepest joint; a root has 0."""
    return max((depth for _, depth in _order(skeleton)), default=0)


def tree_rows(skeleton: Skeleton, folds: Folds) -> list[Row]:
    """The rows that no fold hides, from the top."""
    children = children_of(skeleton)
    rows: list[Row] = []
    hidden_below = -1
    for joint, depth in _order(skeleton):
        if 0 <= hidden_below < depth:
            continue
        folded = bool(children[joint]) and folds.folded(joint)
        hidden_below = depth if folded else -1
        rows.append(Row(joint, depth, bool(children[joint]), folded))
    return rows


def found_rows(skeleton: Skeleton, wanted: str) -> list[Row]:
    """Rows of the joints whose names contain every word of a search, ignoring case, in the order of the tree."""
    words, names = wanted.casefold().split(), [name.casefold() for name in skeleton.names]
    found = (joint for joint, _ in _order(skeleton) if all(word in names[joint] for word in words))
    return [Row(joint, 0, parent=False, folded=False) for joint in found]


ROW = 22
"""Height of a row of the tree, logical pixels."""
_NAME_FLAGS = imgui.InputTextFlags_.auto_select_all | imgui.InputTextFlags_.enter_returns_true


def is_shown(ui: PanelContext) -> bool:
    """Whether the tree is in front of the panels at its place."""
    front = ui.front(Place.LEFT_TOP)
    return front is not None and front.id == "skeleton"


def renamed_in_tree(ui: PanelContext) -> int:
    """The joint whose row of the tree is a text field now; -1: none."""
    return ui.controller.renaming.joint if is_shown(ui) else -1


def name_field(ui: PanelContext, joint: int, width: float) -> None:
    """The text field in place of a row of the tree: Enter and leaving it accept the name, Esc does not."""
    memory, own = ui.memory, ui.session.document.skeleton.names[joint]
    fresh = memory.get("renamed") != joint
    if fresh:
        memory["renamed"], memory["name"] = joint, own
        fields.focus_next_field()
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
    imgui.set_nav_cursor_visible(False)  # the list is focused again, but it does not use keys


def ask_new_name(ui: PanelContext) -> None:
    """Ask for the name of a joint in a dialog while the tree is hidden."""
    renaming = ui.controller.renaming
    joint = renaming.joint
    if joint >= 0 and not is_shown(ui):
        renaming.end()
        name, give = ui.session.document.skeleton.names[joint], partial(renaming.rename, joint)
        ui.controller.view.ask(NameQuestion("Rename joint", "Name", name, "Rename", give))


_INDENT, _LEAST_INDENT = 11.0, 4.0
"""Indent of a child, and in trees too deep for that; the deepest rows share one indent where even this is too much."""
_NAME, _BEFORE_NAME = 88.0, 26.0
"""Least width of a name, and width of the fold arrow and side mark before it; logical pixels."""


class RowPainter:
    """Draws the rows of one frame into the current imgui window; ``flat`` ones, of a search, name their parents."""

    def __init__(self, ui: PanelContext, *, flat: bool) -> None:
        self.ui, self.pen, self._flat = ui, Pen(ui), flat
        self.document = document = ui.session.document
        self._sides = look_of(document.skeleton).sides.tolist()
        self._goals: dict[int, list[DocumentGoal]] = {}
        joints = {effector.name: effector.joint for effector in document.skeleton.effectors}
        for goal in document.goals:
            self._goals.setdefault(joints[goal.effector], []).append(goal)
        self._selected, self._at_limit = set(document.selected("joint")), frozenset(joints_at_limit(document))
        hovered = ui.controller.view.hovered_item()
        self._hovered = hovered.name if hovered is not None and hovered.kind == "joint" else ""
        self._missed = {name for name, error in ui.session.errors.items() if not error.reached} - ui.session.yields
        self._most = max(imgui.get_content_region_avail().x - ui.px(_NAME + _BEFORE_NAME), 0.0)
        least = max(self._most / max(deepest(document.skeleton), 1), _LEAST_INDENT * ui.scale)
        self._indent = min(ui.px(_INDENT), least)

    def name_at(self, left: float, row: Row) -> float:
        """Where the name starts in a row that starts at ``left``."""
        return self._fold_at(left, row) + self.pen.px(15)

    def _fold_at(self, left: float, row: Row) -> float:
        return left + self.pen.px(4) + round(min(row.depth * self._indent, self._most))

    def draw(self, row: Row) -> tuple[Area, bool]:
        """Draw a row; returns its item, and whether the pointer is on its fold arrow."""
        pen, name = self.pen, self.document.skeleton.names[row.joint]
        chosen = name in self._selected
        imgui.push_id(row.joint)
        it = controls.list_row(pen, f"joint {name}", ROW, chosen=chosen, lit=name == self._hovered, rounding=3)
        imgui.pop_id()
        if name == self._hovered or (it.hovered and chosen):
            pen.upright(it.x, it.y, it.y + it.h, "hovered")
        x = self._fold_at(it.x, row)
        if row.parent:
            caret = fa.ICON_FA_CARET_RIGHT if row.folded else fa.ICON_FA_CARET_DOWN
            pen.icon(x, it.middle[1], caret, "text3", SMALL)
        tick = x + pen.px(10)
        pen.box(tick, it.y + pen.px(6), pen.px(3), it.h - pen.px(12), SIDES[self._sides[row.joint]], rounding=1)
        left, right = tick + pen.px(9), self._marks(row.joint, it)
        right = self._notes(row.joint, name, it, (left + pen.width(pen.fit(name, right - left)), right))
        strong = chosen or any(goal.enabled for goal in self._goals.get(row.joint, ()))
        tip(pen.fitted(left, pen.middle(it.y, it.h), name, right - left, "text" if strong else "text2"))
        return it, row.parent and imgui.get_mouse_pos().x < tick

    def _marks(self, joint: int, it: Area) -> float:
        """Draw a mark for the joint's goals at the right, and how many are on; returns the free room's right end."""
        pen, right = self.pen, it.x + it.w - self.pen.px(6)
        # A missed one first, one that is off last.
        goals = sorted(self._goals.get(joint, ()), key=lambda goal: (goal.id not in self._missed, not goal.enabled))
        count = sum(goal.enabled for goal in goals)
        if goals:
            effector_mark(pen, right - pen.px(6), it.middle[1], goals[0], reached=goals[0].id not in self._missed)
            right -= pen.px(15)
        if count > 1:
            right -= pen.width(f"{count}", SMALL)
            pen.text(right, pen.middle(it.y, it.h, SMALL), f"{count}", "text2", SMALL)
            right -= pen.px(4)
        return right

    def _notes(self, joint: int, name: str, it: Area, room: tuple[float, float]) -> float:
        """Draw ``limit``, or a search result's parent; returns the right end of the room left for the name."""
        pen, (left, right) = self.pen, room
        y = pen.middle(it.y, it.h, SMALL)
        if name in self._at_limit:
            right -= pen.width("limit", SMALL)
            pen.small(right, y, "limit", "text" if name in self._selected else "limit")
            return right - pen.px(6)
        parent = int(self.document.skeleton.parents[joint])
        if self._flat and parent >= 0 and right - left > pen.px(52):
            words = pen.fit(self.document.skeleton.names[parent], right - left - pen.px(12), SMALL)
            pen.small(right - pen.width(words, SMALL), y, words)
        return right


@dataclass(slots=True)
class _State:
    """State of the panel between frames.

    Attributes:
        query: the search text.
        mark: index of the search result that Enter selects; -1: no search.
        folds: folded joints.
        names: of the joints when the rows were made.
        parents: (J,) parents of the joints when the rows were made.
        renamed: the joint whose row is a text field; -1 for none.
        active: the active item when the tree was last scrolled.
        key: what the rows were made from.
        rows: of the tree, or of the search.
        scroll_to: the joint to bring into view; -1 for none.
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
    """Draw the search field and the tree, or what the search found."""
    state: _State = ui.memory.setdefault("state", _State())
    _figures(ui)
    skeleton = ui.session.document.skeleton  # a click on a row above makes another figure active
    if skeleton.names != state.names:
        state = _other_names(ui, state, skeleton)
    _show_renamed(ui, state)
    wanted = ui.take("find-joint") is not None
    search = fields.search_field(ui, "find", ui.controller.view.finding, "Find joint", focus=wanted)
    _search(ui, state, search)
    with controls.no_spacing():
        imgui.begin_child("rows", (0.0, 0.0))
        _follow(ui, state)
        rows = _rows(state, skeleton)
        if rows:
            _draw_rows(ui, state, rows)
        imgui.end_child()
    if not rows:
        _nothing_found(ui, state)


def _search(ui: PanelContext, state: _State, search: fields.Search) -> None:
    """Apply the search: arrow keys mark a result, Enter selects the marked joint and ends the search."""
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
        state.mark, state.active = -1, None  # so that `_follow` brings the joint into view
        imgui.set_nav_cursor_visible(False)  # the field does not use these keys
    elif state.mark >= 0 and (again or search.step):
        state.scroll_to = found[state.mark].joint


def _other_names(ui: PanelContext, state: _State, skeleton: Skeleton) -> _State:
    """The state for a skeleton with other names: folds and search are kept if the hierarchy is the same."""
    same = np.array_equal(skeleton.parents, state.parents)
    if not same:
        ui.memory["state"] = state = _State(parents=skeleton.parents)
        ui.controller.view.finding = ""
    state.names, state.key = skeleton.names, state.key and ()
    return state


def _show_renamed(ui: PanelContext, state: _State) -> None:
    """Bring the row that has become a text field into view."""
    joint = renamed_in_tree(ui)
    if joint == state.renamed:
        return
    state.renamed = joint
    if joint >= 0:
        ui.controller.view.finding = state.query = ""
        state.active = None  # as if it had just been selected


def _nothing_found(ui: PanelContext, state: _State) -> None:
    top = imgui.get_item_rect_min()
    imgui.set_cursor_screen_pos((top.x, top.y + ui.px(8)))
    if not state.query.strip():
        controls.quiet(ui, "No joints yet")
        return
    controls.quiet(ui, f'No joint matches "{state.query}"')
    if imgui.button("Clear"):
        ui.controller.view.finding = state.query = ""


def _follow(ui: PanelContext, state: _State) -> None:
    """Scroll to the item selected since the last frame, and unfold the path to it."""
    document = ui.session.document
    fresh = state.key is None
    if document.active_on_figure == state.active and not fresh:
        return
    state.active = document.active_on_figure
    if state.active is None and not fresh:
        return
    skeleton = document.skeleton
    joint = -1 if state.active is None else joint_of(document, state.active)
    fits = imgui.get_content_region_avail().y / ui.px(ROW)
    state.folds.show(skeleton, joint, {effector.joint for effector in skeleton.effectors}, fits)
    state.scroll_to = joint


def _rows(state: _State, skeleton: Skeleton) -> list[Row]:
    # Only names and parents matter: stretching a bone makes another skeleton, but not another tree.
    key = (state.query.strip(), state.folds.version)
    if state.key != key:
        state.key = key
        state.rows = found_rows(skeleton, key[0]) if key[0] else tree_rows(skeleton, state.folds)
    return state.rows


def _draw_rows(ui: PanelContext, state: _State, rows: list[Row]) -> None:
    painter = RowPainter(ui, flat=bool(state.query.strip()))
    h = ui.px(ROW)
    if state.scroll_to >= 0:
        controls.scroll_to_row(_index_of(rows, state.scroll_to), h)
        state.scroll_to = -1
    pointed = None
    for index in controls.rows_in_view(len(rows), h, always=_index_of(rows, state.renamed)):
        top = imgui.get_cursor_screen_pos()
        if _row(painter, state, rows[index], h):
            pointed = Item("joint", painter.document.skeleton.names[rows[index].joint])
        if index == state.mark:
            painter.pen.frame(top.x, top.y, imgui.get_content_region_avail().x, h, "accent", rounding=3)
    highlight(ui, pointed)


def _index_of(rows: list[Row], joint: int) -> int:
    return next((index for index, row in enumerate(rows) if row.joint == joint), -1)


def _row(painter: RowPainter, state: _State, row: Row, h: float) -> bool:
    """Draw a row and answer clicks; returns whether the pointer is over it."""
    if row.joint == state.renamed:
        left, top = imgui.get_cursor_screen_pos()
        imgui.set_cursor_screen_pos((painter.name_at(left, row), top))
        name_field(painter.ui, row.joint, imgui.get_content_region_avail().x)
        imgui.set_cursor_screen_pos((left, top + h))
        return False
    it, on_fold = painter.draw(row)
    if it.clicked:
        _clicked(painter.ui, state, row, fold=on_fold)
    return it.hovered


def _clicked(ui: PanelContext, state: _State, row: Row, *, fold: bool) -> None:
    skeleton = ui.session.document.skeleton
    right = imgui.is_mouse_released(imgui.MouseButton_.right)
    if fold and not right:
        state.folds.toggle(row.joint)
    elif imgui.get_io().mouse_clicked_last_count[0] == 2 and not right:
        act(ui, Select(tuple(Item("joint", skeleton.names[j]) for j in reversed(below(skeleton, row.joint)))))
    else:
        select_by_click(ui, Item("joint", skeleton.names[row.joint]))
    state.active = ui.session.document.active_on_figure  # a clicked row is in view already


# --- several figures, above the tree

_FIGURE, _MOST_FIGURES = 22, 6
"""Height of a row, logical pixels, and rows that are seen without scrolling."""
_EYE = 24
"""Width of the eye at the left of a row, and of the cross at its right, logical pixels."""


def _figures(ui: PanelContext) -> None:
    """Draw a row for each figure, if there are several: eye, name, joints; a click makes it active."""
    stage = ui.session.stage
    if not stage.several:
        return
    tall = ui.px(_FIGURE) * min(len(stage), _MOST_FIGURES)
    pointed = ""
    with controls.no_spacing():
        imgui.begin_child("figures", (0.0, tall))
        pen = Pen(ui)
        for figure in stage:
            if _figure(ui, pen, figure):
                pointed = figure.name
        imgui.end_child()
    ui.controller.figures.hover("" if pointed == ui.controller.figures.active else pointed)
    x, y = imgui.get_cursor_screen_pos()
    pen = Pen(ui)
    pen.box(x, y + ui.px(3), imgui.get_content_region_avail().x, max(1.0, ui.px(1)), "line")
    gap(ui.px(7))


def _figure(ui: PanelContext, pen: Pen, figure: StageFigure) -> bool:
    """Draw a row and answer clicks; whether the pointer is over it."""
    session, stage, figures = ui.session, ui.session.stage, ui.controller.figures
    name, hidden, active = figure.name, figure.hidden, figure is stage.figure
    it = controls.list_row(
        pen, f"figure {name}", _FIGURE, chosen=active, lit=name == ui.controller.view.lit_figure, rounding=3
    )
    eye, cross = it.x + pen.px(_EYE), it.x + it.w - pen.px(_EYE)
    pointer = imgui.get_mouse_pos().x
    icon = fa.ICON_FA_EYE_SLASH if hidden else fa.ICON_FA_EYE
    on_eye, on_cross = it.hovered and pointer < eye, it.hovered and pointer >= cross
    pen.icon(it.x + pen.px(12), it.middle[1], icon, "text" if on_eye else "text3" if hidden else "text2", SMALL)
    joints = plural(len(figure.document.skeleton), "joint")
    right = it.x + it.w - pen.px(6)
    if it.hovered:
        pen.icon(it.x + it.w - pen.px(12), it.middle[1], fa.ICON_FA_XMARK, "text" if on_cross else "text3", SMALL)
        right = cross
    else:
        right -= pen.width(joints, SMALL)
        pen.small(right, pen.middle(it.y, it.h, SMALL), joints)
    left = eye + pen.px(4)
    room, y = right - left - pen.px(6), pen.middle(it.y, it.h)
    words = pen.fit(name, room, bold=active)
    if active:
        pen.strong(left, y, words)
    else:
        pen.text(left, y, words, "text3" if hidden else "text2")
    if on_eye:
        tip("Show" if hidden else "Hide")
    elif on_cross:
        tip("Remove")
    else:
        tip(name if words != name else "" if active else "Work on it")
    if it.clicked:
        if on_eye:
            attempt(ui, lambda: session.figures.hide(name, not hidden))
        elif on_cross:
            attempt(ui, lambda: session.figures.remove(name))
        else:
            attempt(ui, lambda: figures.activate(name))
    return it.hovered
