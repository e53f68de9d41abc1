"""Tables that the numpy backend computes once per `System`: of its joints, limits and goals' kinds.

Targets, weights and spreads are read from the system each time: callers may rewrite them in place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from viewer.ik.goals import ROW_KINDS
from viewer.ik.goals.kind import Measure, Places, Rows
from viewer.ik.system import System
from viewer.spatial.checks import Bools, Floats, Ints

_Made = TypeVar("_Made")

_STRUCTURE = (
    "first", "parent", "form", "held", "moves", "rest", "offset", "axes", "order", "basis", "goals_from", "goals_to",
    "goal_kind", "goal_joint", "goal_row", "goal_middle", "goal_upper", "share",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Parents and descendants of K joints. Joint K, after the last, is the world.

    Attributes:
        parent: (K,) each joint's parent.
        rounds: (K + 1,) arrays: each joint's 1st, 2nd, 4th, ... ancestor, until all are the world.
    """

    parent: Ints
    rounds: tuple[Ints, ...]


class Block(NamedTuple):
    """Rows of one kind of goal.

    Attributes:
        rows: their measure and functions.
        goals: N goals that have them.
        places: (N, count) their indices among all rows.
    """

    rows: Rows
    goals: Places
    places: Ints


class LimbRow(NamedTuple):
    """The row of a goal about a limb.

    Attributes:
        goal, row: which.
        middle, upper: joints.
        reach: (n, 3) 1 where a dof moves the limb's end, middle or upper joint, else 0.
    """

    goal: int
    row: int
    middle: int
    upper: int
    reach: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """Goals grouped by kind, and the m rows of each.

    Attributes:
        blocks: rows of one sort, of all goals that have such.
        goal: (m,) each row's goal.
        angular: (m,) whether the row is measured in radians.
        axis: (3, m) the world axis of the rows of places, 0 for others.
        reach: (n, m) 1 where a dof moves a row, else 0; of goals of several joints their shares of it.
        limbs: the rows that are about a limb of three joints.
        centers: the goals of a centre of mass.
    """

    blocks: tuple[Block, ...]
    goal: Ints
    angular: Bools
    axis: Floats
    reach: Floats
    limbs: tuple[LimbRow, ...]
    centers: tuple[int, ...]


class Limits(NamedTuple):
    """The limits of n coordinates.

    Attributes:
        low, high: (n,) at its lower limit is what is below, at its upper one what is above.
        unlimited: (U,) angles without limits.
        middle, period: (n,) the middle of the ranges that angles are counted from, and a whole turn; 0 where there is
            no such range.
    """

    low: Floats
    high: Floats
    unlimited: Ints
    middle: Floats
    period: Floats


class Key:
    """A system as a key of the caches, which keep it alive, so that identities stay its own."""

    __slots__ = ("names", "system")

    def __init__(self, system: System, names: tuple[str, ...]) -> None:
        """A key for these arrays of the system."""
        self.system, self.names = system, names

    def __hash__(self) -> int:
        """By identity of one of them."""
        return id(getattr(self.system, self.names[0]))

    def __eq__(self, other: object) -> bool:
        """Whether they share all of them."""
        if not isinstance(other, Key):
            return NotImplemented
        one, two = self.system, other.system
        return one is two or all(getattr(one, name) is getattr(two, name) for name in self.names)


def kept(make: Callable[[System], _Made], names: tuple[str, ...] = _STRUCTURE) -> Callable[[System], _Made]:
    """Compute a table from arrays of a system, or return the cached one.

    The last system nearly always comes again, which is checked first.
    """
    cached = lru_cache(maxsize=8)(lambda key: make(key.system))
    last: tuple[System, _Made] | None = None

    def look_up(s: System) -> _Made:
        nonlocal last
        known = last  # other threads may change it
        if known is not None and known[0] is s:
            return known[1]
        found = cached(Key(s, names))
        last = s, found
        return found

    return look_up


def places(indices: Ints) -> Places:
    """Indices (N,), as a slice if they are evenly spaced."""
    if len(indices) == 0:
        return slice(0, 0)
    steps = np.diff(indices)
    step = int(steps[0]) if len(steps) else 1
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1, step) if step > 0 and (steps == step).all() else indices


@kept
def tree_of(s: System) -> Tree:
    """The tree's tables."""
    count = len(s.parent)
    parent = np.where(s.parent < 0, count, s.parent).astype(np.intp)
    rounds = []
    above = np.append(parent, count)
    while (above < count).any():
        rounds.append(above)
        above = above[above]
    return Tree(parent, tuple(rounds))


@kept
def rows_of(s: System) -> RowTable:
    """The goals' tables."""
    kinds = [ROW_KINDS[code] for code in s.goal_kind.tolist()]
    goal = np.repeat(np.arange(len(kinds)), [kind.count for kind in kinds])
    angular, axis = np.zeros(len(goal), dtype=np.bool_), np.zeros((3, len(goal)))
    joint = joint_of_dof(s)[:, None]
    reach = ((goal >= s.goals_from[joint]) & (goal < s.goals_to[joint])).astype(np.float64)
    several = goal >= len(kinds) - len(s.share)
    reach[:, several] = s.share.T[joint_of_dof(s)[:, None], goal[several] - (len(kinds) - len(s.share))]
    blocks = []
    for rows in dict.fromkeys(rows for kind in ROW_KINDS for rows in kind.rows):
        some = [g for g, kind in enumerate(kinds) if rows in kind.rows]
        if not some:
            continue
        first = [s.goal_row[g] + sum(other.count for other in kinds[g].rows[: kinds[g].rows.index(rows)]) for g in some]
        stand = np.array(first, dtype=np.int64)[:, None] + np.arange(rows.count)
        blocks.append(Block(rows, places(np.array(some, dtype=np.intp)), stand))
        angular[stand] = rows.radians
        if rows.measure is Measure.POINT:
            axis[:, stand] = np.eye(3)[:, None]
        if rows.measure is Measure.JOINT_ANGLE:
            reach[:, stand] *= s.goal_joint[goal[stand]] == joint[:, :, None]
    limbs = tuple(_limb_row(s, g) for g in np.flatnonzero(s.goal_middle >= 0).tolist())
    centers = tuple(g for g, kind in enumerate(kinds) if kind.balances)
    return RowTable(tuple(blocks), goal, angular, axis, reach, limbs, centers)


def _limb_row(s: System, g: int) -> LimbRow:
    end, middle, upper = int(s.goal_joint[g]), int(s.goal_middle[g]), int(s.goal_upper[g])
    joint = joint_of_dof(s)
    above = [np.isin(joint, _above(s, one)) for one in (end, middle, upper)]
    return LimbRow(g, int(s.goal_row[g]), middle, upper, np.stack(above, axis=1).astype(np.float64))


def _above(s: System, joint: int) -> list[int]:
    """A joint and those above it."""
    line = [joint]
    while s.parent[line[-1]] >= 0:
        line.append(int(s.parent[line[-1]]))
    return line


def joint_of_dof(s: System) -> Ints:
    """(n,) the joint of each dof."""
    return np.repeat(np.arange(len(s.parent)), np.diff(s.first))


def _limits(s: System) -> Limits:
    room = _AT_LIMIT * s.unit
    unlimited = s.turning & np.isinf(s.lower) & np.isinf(s.upper)
    counted = s.bounded & s.turning
    middle = np.zeros_like(s.lower)
    middle[counted] = 0.5 * (s.lower[counted] + s.upper[counted])
    period = np.where(counted, 2.0 * np.pi, 0.0)
    return Limits(s.lower + room, s.upper - room, np.flatnonzero(unlimited), middle, period)


limits_of = kept(_limits, ("lower", "upper", "unit", "bounded", "turning"))
"""The limits' tables."""

_AT_LIMIT = 1e-9
