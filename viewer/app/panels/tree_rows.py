"""The rows of the skeleton tree: which there are, and how they look."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import effector_mark
from viewer.app.widgets.pen import Item, Pen, item, tip
from viewer.document.document import Document, DocumentGoal
from viewer.document.effector_transform import joints_at_limit
from viewer.scene.look import SIDES, look_of
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import depth_first


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
_MOST_MARKS = 3


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
        missed: ids of the goals that are missed.
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
        hovered = ui.controller.hovered_item()
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

    def draw(self, row: Row, h: float) -> tuple[Item, bool]:
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

    def _back(self, it: Item, name: str) -> None:
        chosen = name in self.selected
        if chosen:
            self.pen.box(*it[:4], "accent_dk", rounding=3)
        elif it.hovered or name == self.hovered:
            self.pen.box(*it[:4], "field", rounding=3)
        if name == self.hovered or (it.hovered and chosen):
            self.pen.upright(it.x, it.y, it.y + it.h, "hovered")

    def _marks(self, joint: int, it: Item) -> float:
        """The effectors on the joint, at the right end; returns where the room left of them ends."""
        pen, right = self.pen, it.x + it.w - self.pen.px(6)
        for goal in self.goals.get(joint, ())[:_MOST_MARKS]:
            reached = goal.id not in self.missed
            effector_mark(pen, right - pen.px(6), it.middle[1], goal, reached=reached)
            right -= pen.px(15)
        return right

    def _notes(self, joint: int, name: str, it: Item, room: tuple[float, float]) -> float:
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
