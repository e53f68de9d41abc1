"""Is a target too far, or too near? Sure where it says so: what it finds out of reach nothing reaches.

A goal is held against the base of its chain, where that cannot move, and every two goals against each other along the
way that joins them. The tables are worked out once for a system; to test new targets takes a few array operations.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.ik.kernels import DISTANCE
from viewer.ik.reach_tables import tables_of
from viewer.ik.spans import bodies_of, moving, segment_distance
from viewer.spatial.quaternion import angle_between

if TYPE_CHECKING:
    from viewer.ik.reach_tables import Tables
    from viewer.ik.system import System
    from viewer.spatial.checks import Floats

_ROUNDING = 1e-9
"""Part of the lengths added up that rounding may be wrong by, generously; radians of turns."""
_FAR_OUT = 1e-12
"""Likewise of the targets' coordinates."""

END = 1e150
"""Metres; the squares of anything farther out overflow."""


class Miss(StrEnum):
    """In which way a target is out of reach."""

    FAR = "far"
    """Too far."""
    NEAR = "near"
    """Too near."""
    WIDE = "wide"
    """A distance is asked that is more than the way to its point and the chain together."""
    TURN = "turn"
    """A turn is asked of what cannot turn."""


class Gap(NamedTuple):
    """A target, or two, out of reach.

    Attributes:
        miss: how.
        goals: the system's goal, held against its base; or two, held against each other.
        short: metres (of a turn radians) that are missing.
        reach, fold: metres, the longest and the shortest distance that the chain spans.
        distance: metres between base and target (the nearest place of a base that slides), or between both targets.
        asked: metres that the goals are to keep from their targets, together.
    """

    miss: Miss
    goals: tuple[int, ...]
    short: float
    reach: float = 0.0
    fold: float = 0.0
    distance: float = 0.0
    asked: float = 0.0


class Reach:
    """The test for one system, whatever its targets; threads may share it."""

    def __init__(self, system: System) -> None:
        """Note what stands still: the tables depend on how."""
        turns, moves = moving(system)
        self._unturned, self._unmoved = np.flatnonzero(~turns), np.flatnonzero(~moves)
        self._last: tuple[Floats, Floats, Tables] | None = None

    def out_of_reach(self, system: System, q: Floats, t: Floats) -> bool:
        """Whether any goal, or any two, are certainly out of reach.

        Args:
            system: the one that this was made for, with targets in it.
            q: (K, 4) local rotations in any pose: they say how joints that cannot turn stand.
            t: (K, 3) local translations, likewise.
        """
        tables = self._tables(system, q, t)
        distances, turns = _distances(system, tables), _turns(system, tables)
        return bool((distances.beyond > 0.0).any() or (turns > system.tolerance[1] + _ROUNDING).any())

    def gaps(self, system: System, q: Floats, t: Floats) -> list[Gap]:
        """All that is out of reach; arguments as for `out_of_reach`."""
        tables = self._tables(system, q, t)
        found = _distances(system, tables)
        gaps = []
        for i in np.flatnonzero((found.beyond > 0.0).any(axis=0)).tolist():
            way = int(found.beyond[:, i].argmax())
            goals = tuple(goal for goal in (int(tables.one[i]), int(tables.other[i])) if goal >= 0)
            numbers = (found.short[way, i], tables.reach[i], tables.fold[i], found.nearest[i], found.asked[i])
            gaps.append(Gap(_WAYS[way], goals, *(float(number) for number in numbers)))
        turns = _turns(system, tables)
        off = np.flatnonzero(turns > system.tolerance[1] + _ROUNDING).tolist()
        return gaps + [Gap(Miss.TURN, (int(tables.fixed[i]),), float(turns[i])) for i in off]

    def _tables(self, system: System, q: Floats, t: Floats) -> Tables:
        turns, places = q[self._unturned], t[self._unmoved]
        last = self._last
        if last is None or not (np.array_equal(last[0], turns) and np.array_equal(last[1], places)):
            last = (turns, places, tables_of(system, bodies_of(system, q, t)))
            self._last = last
        return last[2]


_WAYS = (Miss.FAR, Miss.NEAR, Miss.WIDE)


class _Distances(NamedTuple):
    """Of the B + P tests: metres missing by way (3, B + P), those beyond tolerances, nearest places, what is asked."""

    short: Floats
    beyond: Floats
    nearest: Floats
    asked: Floats


def _distances(system: System, tables: Tables) -> _Distances:
    """Triangle inequalities, generalised to chains.

    A chain spans fold .. reach; its base is nearest .. farthest from the target. So the effector gets between
    max(nearest - reach, fold - farthest, 0) and farthest + reach from it.
    """
    count = len(tables.base)
    target = np.clip(system.goal_target, -END, END)
    apart = target[tables.one]
    apart[:count] -= tables.base
    apart[count:] -= target[tables.other[count:]]
    nearest, farthest = segment_distance(apart, tables.direction, tables.half)
    nearest, farthest = np.maximum(nearest - tables.extra, 0.0), farthest + tables.extra
    wanted = np.where(system.goal_kind == DISTANCE, system.goal_distance, 0.0)
    one = wanted[tables.one]
    other = np.where(tables.other >= 0, wanted[tables.other], 0.0)
    asked = one + other
    short = np.stack([
        nearest - tables.reach - asked, tables.fold - farthest - asked, np.abs(one - other) - farthest - tables.reach
    ])  # fmt: skip
    slack = system.tolerance[0] * (1.0 + (tables.other >= 0)) + _ROUNDING * (nearest + tables.reach + asked)
    # Goals that ask for no place may have NaN there, which `fmax` leaves out.
    slack += _FAR_OUT * np.fmax.reduce(np.abs(target), axis=None, initial=0.0)
    return _Distances(short, short - slack, nearest, asked)


def _turns(system: System, tables: Tables) -> Floats:
    """(T + A,) radians that goals which can never turn are off."""
    count = len(tables.turns)
    if len(tables.fixed) == 0:
        return np.zeros(0)
    turned, aimed = tables.fixed[:count], tables.fixed[count:]
    angles = angle_between(tables.turns, system.goal_rotation[turned])
    ahead = np.clip(system.goal_target[aimed], -END, END) - tables.points
    sine = np.linalg.norm(np.cross(tables.axes, ahead), axis=-1)
    cosine = np.einsum("...i,...i->...", tables.axes, ahead)
    # An effector that is at the point aims at it: both are 0 there.
    return np.concatenate([angles, np.arctan2(sine, cosine)])
