"""Rows of goals: how they are counted and measured, and what the kinds share of them in numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.ik.backends.compiled.algebra import Vector
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Ints

Places: TypeAlias = Ints | slice
"""Indices; a slice where they are evenly spaced, which is quicker to read and write by."""
Residuals: TypeAlias = Callable[[System, Work, Floats, Places, Ints, Floats], float]
"(system, scratch, joints' frames (3, 3, K + 1), N goals, their places (N, count) in e, e (m,)) -> largest miss."
Matrix: TypeAlias = tuple[float, ...]
"Nine entries, row by row."


@dataclass(frozen=True, slots=True)
class Rows:
    """Residuals of a goal that are measured as one: a place, a turn, a length or an angle. Lengths stand before angles.

    Attributes:
        count: of rows. Three lengths are the way from the effector to its place.
        residuals: fills them in numpy, and in the scratch ``miss``, and how they answer to a turn (``by_turn``) or a
            move (``by_move``) of the effector. Its twin for the compiled kernels: `viewer.ik.goals.dispatch`.
        radians: they are angles, weighted per radian; else lengths, weighted per metre.
        moved: angles that a move of the effector changes, not only turns.
        own: angles that nothing but turns of the effector's own joint changes.
        spans: about three joints of a limb: ``by_move`` holds how its one row answers to moves of the limb's end,
            middle and upper joint, and ``by_turn`` to turns of the middle one.
    """

    count: int
    residuals: Residuals
    radians: bool = False
    moved: bool = False
    own: bool = False
    spans: bool = False

    @property
    def places(self) -> bool:
        """Whether they are the way from the effector to a place."""
        return self.count == 3 and not self.radians


class Turn(NamedTuple):
    """What turns an effector to where it is to be.

    Attributes:
        vector: the rotation vector.
        by_turn, by_move: how it answers to a turn or move of the effector, sign changed.
        angle: its length.
    """

    vector: Vector
    by_turn: Matrix
    by_move: Matrix
    angle: float


NOTHING: Matrix = (0.0,) * 9
_ONES = np.ones(3)


def put_turns(s: System, w: Work, some: Places, places: Ints, turns: list[Turn], e: Floats) -> float:
    """Note what these goals miss by; returns the largest angle."""
    weight, angles = s.goal_rotation_weight[some], [turn.angle for turn in turns]
    w.by_turn[some] = np.array([turn.by_turn for turn in turns]).reshape(-1, 3, 3)
    w.miss[some, 1] = angles
    e[places] = np.array([turn.vector for turn in turns]) * weight[:, None]
    return largest(angles, weight)


def largest(misses: Iterable[float], weights: Floats) -> float:
    """The largest miss of goals (N,) that weigh anything."""
    pairs = zip(misses, weights.tolist(), strict=True)
    return max([miss for miss, weight in pairs if weight > 0.0], default=0.0)


def lengths_of(v: Floats) -> Floats:
    """(N,) of vectors (N, 3)."""
    return np.asarray(np.sqrt((v * v).dot(_ONES)))
