"""Rows of goals: their number and measure, and what the kinds share in numpy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Self, TypeAlias

import numpy as np

from viewer.ik.algebra import Vector
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Ints

Places: TypeAlias = Ints | slice
"""Indices; a slice where they are evenly spaced, which is quicker to read and write by."""
Residual: TypeAlias = Callable[[System, Work, int, int, Floats], float]
"(system, scratch, goal, its place in e, e (m,)) -> tolerances that it misses by."
Residuals: TypeAlias = Callable[[System, Work, Floats, Places, Ints, Floats], float]
"(system, scratch, joints' frames (3, 3, K + 1), N goals, their places (N, count) in e, e (m,)) -> largest miss."
Matrix: TypeAlias = tuple[float, ...]
"Nine entries, row by row."


class Measure(Enum):
    """What rows of a goal measure.

    Attributes:
        count: how many rows.
        radians: they are angles, weighted per radian; else lengths, weighted per metre.
    """

    count: int
    radians: bool

    def __new__(cls, word: str, count: int, unit: str) -> Self:
        """Take a word, the count of rows, and "m" or "rad"."""
        member = object.__new__(cls)
        member._value_, member.count, member.radians = word, count, unit == "rad"
        return member

    POINT = "point", 3, "m"
    """The way from the effector to its target."""
    DISTANCE = "distance", 1, "m"
    """How far the effector is from its target."""
    RELATIVE_POINT = "relative point", 3, "m"
    """The way from the effector to a place in the frame of another joint, ``goal_base``; ``by_move`` turns into it."""
    LENGTH = "length", 1, "m"
    """Any other length: it has no target, and ``by_move`` says how it answers to moves of the effector."""
    ROTATION = "rotation", 3, "rad"
    """The turn from the effector's rotation to its target's."""
    CENTER = "centre of mass", 2, "m"
    """The level way, x and z, from the centre of mass to the support polygon; 0 inside."""
    RELATIVE_ROTATION = "relative rotation", 3, "rad"
    """The turn from the effector's rotation in such a frame to its target's."""
    DIRECTION = "direction", 3, "rad"
    """The turn from an axis of the effector's joint to the way to its target; moves of the effector change it, too."""
    JOINT_ANGLE = "joint angle", 1, "rad"
    """The angle between the bones above and below the effector's joint: only turns of that joint change it."""
    LIMB_ANGLE = "limb angle", 1, "rad"
    """An angle about the line between the ends of a limb, whose three joints `Constants` names.

    ``by_move`` holds how it answers to moves of the limb's end, middle and upper joint, and ``by_turn`` to turns of the
    middle one.
    """


@dataclass(frozen=True, slots=True)
class Rows:
    """Residuals of a goal that are measured as one. Lengths come before angles.

    Attributes:
        measure: what they measure.
        residual: fills them for one goal, compiled, and in the scratch ``miss``, and how they answer to a turn
            (``by_turn``) or a move (``by_move``) of the effector. No two kinds have functions of the same name.
        residuals: the same for many goals in numpy.
    """

    measure: Measure
    residual: Residual
    residuals: Residuals

    @property
    def count(self) -> int:
        """How many rows."""
        return self.measure.count

    @property
    def radians(self) -> bool:
        """Whether they are angles; else lengths."""
        return self.measure.radians


class Turn(NamedTuple):
    """The rotation of an effector to its target.

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
    """Put the errors of these goals and their derivatives into ``w``; returns the largest angle."""
    weight, angles = s.goal_rotation_weight[some], [turn.angle for turn in turns]
    w.by_turn[some] = np.array([turn.by_turn for turn in turns]).reshape(-1, 3, 3)
    w.miss[some, 1] = angles
    e[places] = np.array([turn.vector for turn in turns]) * weight[:, None]
    return largest(angles, weight)


def one_by_one(residual: Residual, s: System, w: Work, some: Places, places: Ints, e: Floats) -> float:
    """Fill the rows of some goals by ``residual``, for kinds of which a figure has few; returns the largest miss."""
    goals = np.arange(len(s.goal_kind))[some].tolist()
    pairs = zip(goals, places[:, 0].tolist(), strict=True)
    return max([residual(s, w, g, row, e) for g, row in pairs], default=0.0)


def largest(misses: Iterable[float], weights: Floats) -> float:
    """The largest miss of goals (N,) with a weight above 0."""
    pairs = zip(misses, weights.tolist(), strict=True)
    return max([miss for miss, weight in pairs if weight > 0.0], default=0.0)


def lengths_of(v: Floats) -> Floats:
    """Lengths (N,) of vectors (N, 3)."""
    return np.asarray(np.sqrt((v * v).dot(_ONES)))
