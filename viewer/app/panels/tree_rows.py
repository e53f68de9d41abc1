"""Which rows the skeleton tree has: folded limbs, joints found by a search. No drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from viewer.skeleton.tree import depth_first

if TYPE_CHECKING:
    from collections.abc import Collection

    from viewer.skeleton.skeleton import Skeleton


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
