"""What the numpy backend works out once for a `System`: index tables that depend on its joints and goals only.

Where a goal is to be, weights, limits and spreads are read from the system each time: callers may rewrite them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.system import ROWS_OF_KIND, System

if TYPE_CHECKING:
    from viewer.spatial.checks import Bools, Floats, Ints

_STRUCTURE = (
    "parent", "form", "held", "moves", "first", "rest", "offset", "axes", "order", "basis", "goal_low", "goal_high",
    "goal_kind", "goal_joint", "goal_row",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Which joints hang on which. Joint K, after the last, is the world.

    Attributes:
        parent: (K,) each joint's parent.
        rounds: (K + 1,) arrays: each joint's 1st, 2nd, 4th, ... ancestor, until all are the world.
    """

    parent: Ints
    rounds: tuple[Ints, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Goals grouped by what they ask, and the rows of each; m rows.

    Attributes:
        placed, placed_rows: (P,), (P, 3) goals that ask for a place.
        turned, turned_rows: (T,), (T, 3) for a rotation.
        distant, distant_rows: (D,) for a distance.
        aimed, aimed_rows: (A,), (A, 3) for a direction.
        goal: (m,) each row's goal.
        angular: (m,) whether the row is measured in radians.
        axis: (m, 3) the world axis of the rows of places, 0 for others.
        reach: (n, m) whether a freedom moves a row.
    """

    placed: Ints
    placed_rows: Ints
    turned: Ints
    turned_rows: Ints
    distant: Ints
    distant_rows: Ints
    aimed: Ints
    aimed_rows: Ints
    goal: Ints
    angular: Bools
    axis: Floats
    reach: Bools


class Structure:
    """A system as a key of the caches, which keep it alive, so that identities stay its own."""

    __slots__ = ("system",)

    def __init__(self, system: System) -> None:
        """A key for the system."""
        self.system = system

    def __hash__(self) -> int:
        """By identity of an array that the tables depend on."""
        return id(self.system.first)

    def __eq__(self, other: object) -> bool:
        """Whether they share all arrays that the tables depend on."""
        if not isinstance(other, Structure):
            return NotImplemented
        one, two = self.system, other.system
        return one is two or all(getattr(one, name) is getattr(two, name) for name in _STRUCTURE)


def tree_of(s: System) -> Tree:
    """The tree's tables."""
    return _tree(Structure(s))


def rows_of(s: System) -> Rows:
    """The goals' tables."""
    return _rows(Structure(s))


@lru_cache(maxsize=8)
def _tree(key: Structure) -> Tree:
    s = key.system
    count = len(s.parent)
    parent = np.where(s.parent < 0, count, s.parent).astype(np.intp)
    rounds = []
    above = np.append(parent, count)
    while (above < count).any():
        rounds.append(above)
        above = above[above]
    return Tree(parent, tuple(rounds))


@lru_cache(maxsize=8)
def _rows(key: Structure) -> Rows:
    s = key.system
    kind, three = s.goal_kind, np.arange(3)
    placed = np.flatnonzero((kind == kernels.POSITION) | (kind == kernels.POSE))
    turned = np.flatnonzero((kind == kernels.ROTATION) | (kind == kernels.POSE))
    aimed, distant = np.flatnonzero(kind == kernels.AIM), np.flatnonzero(kind == kernels.DISTANCE)
    goal = np.repeat(np.arange(len(kind)), [ROWS_OF_KIND[code] for code in kind.tolist()])
    # The rotation of a pose stands after its place.
    turned_rows = (s.goal_row[turned] + np.where(kind[turned] == kernels.POSE, 3, 0))[:, None] + three
    placed_rows, aimed_rows = s.goal_row[placed][:, None] + three, s.goal_row[aimed][:, None] + three
    angular, axis = np.zeros(len(goal), dtype=np.bool_), np.zeros((len(goal), 3))
    angular[turned_rows], angular[aimed_rows] = True, True
    axis[placed_rows] = np.eye(3)
    joint = joint_of_freedom(s)[:, None]
    return Rows(
        placed=placed,
        placed_rows=placed_rows,
        turned=turned,
        turned_rows=turned_rows,
        distant=distant,
        distant_rows=s.goal_row[distant],
        aimed=aimed,
        aimed_rows=aimed_rows,
        goal=goal,
        angular=angular,
        axis=axis,
        reach=(goal >= s.goal_low[joint]) & (goal < s.goal_high[joint]),
    )


def joint_of_freedom(s: System) -> Ints:
    """(n,) the joint of each freedom."""
    return np.repeat(np.arange(len(s.parent)), np.diff(s.first))
