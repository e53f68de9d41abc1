"""The rows of the skeleton's tree: which joints are folded, which are found by a search."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from viewer.skeleton import Skeleton
from viewer.skeleton.tree import depth_first


class Row(NamedTuple):
    """A row of the tree: a joint's index, its depth below the root, whether it has children and whether they hide."""

    joint: int
    depth: int
    parent: bool
    folded: bool


@dataclass(slots=True)
class Folds:
    """Which joints of the tree are folded: by hand, and automatically where the panel is too short for all.

    Attributes:
        by_hand: joint -> folded, as the user left it.
        automatic: joints folded automatically.
        version: counts the changes.
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
        """Unfold the path to a joint, and fold other branches until the tree fits or no more can be folded.

        Fingers and toes (below joints with an effector) fold first, then limbs beside the path.

        Args:
            skeleton: the joints.
            joint: the one to show; -1 for none.
            marked: joints with an effector.
            fits: rows that the panel has room for.
        """
        path = ancestors(skeleton, joint)
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
"""Branches of so few rows are not folded automatically."""


def ancestors(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and its ancestors, nearest first; empty for -1."""
    path = []
    while joint >= 0:
        path.append(joint)
        joint = int(skeleton.parents[joint])
    return path


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
    """(joint, depth) of every joint, in the order of the unfolded tree."""
    depths = [0] * len(skeleton)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        depths[joint] = depths[parent] + 1 if parent >= 0 else 0
    return tuple((joint, depths[joint]) for joint in depth_first(skeleton))


def deepest(skeleton: Skeleton) -> int:
    """Depth of the deepest joint; a root has 0."""
    return max(depth for _, depth in _order(skeleton))


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


def found_rows(skeleton: Skeleton, wanted: str, marked: Collection[str] = ()) -> list[Row]:
    """Rows of the joints whose names contain every word of a search, ignoring case, in the order of the tree.

    Args:
        skeleton: the joints.
        wanted: the words.
        marked: names of joints that match in any case.
    """
    words = wanted.casefold().split()
    rows = []
    for joint, _ in _order(skeleton):
        name = skeleton.names[joint].casefold()
        if skeleton.names[joint] in marked or all(word in name for word in words):
            rows.append(Row(joint, 0, parent=False, folded=False))
    return rows
