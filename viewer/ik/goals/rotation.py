"""Goals for a rotation: the effector's joint is to be turned as a rotation says."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.algebra import logarithm, product
from viewer.ik.goals.goal import Goal, GoalKind
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Stand, stand_of
from viewer.ik.goals.numbers import Quaternion
from viewer.ik.goals.rows import NOTHING, Measure, Places, Rows, Turn, put_turns
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import angle_between

_NO_DIGITS = 1e-3
"""Below this angle a difference that should be a^2 / 12 is mostly rounding."""


def rotation_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = log(target * current^-1), world frame; its derivative by a turn of the effector is J_r^-1(e).

    J_r^-1(e) = I + [e]x / 2 + (1 / a^2 - (1 + cos a) / (2 a sin a)) [e]x^2, a = |e|: Chirikjian, "Stochastic Models,
    Information Theory, and Lie Groups" vol. 2 (2012), eq. 10.86. At a = pi it stays finite.
    """
    k = s.goal_joint[g]
    tx, ty, tz, tw = s.goal_rotation[g, 0], s.goal_rotation[g, 1], s.goal_rotation[g, 2], s.goal_rotation[g, 3]
    tx, ty, tz, tw = product(tx, ty, tz, tw, -w.turn[k, 0], -w.turn[k, 1], -w.turn[k, 2], w.turn[k, 3])
    v = w.vectors[0]
    v[0], v[1], v[2], angle = logarithm(tx, ty, tz, tw)
    if angle < 1e-3:  # noqa: SIM108 - compiled code, with a comment of its own
        second = 1.0 / 12.0
    else:
        # (1 + cos) / sin = cot(a / 2), finite up to pi.
        second = 1.0 / (angle * angle) - 0.5 / (angle * math.tan(0.5 * angle))
    square = angle * angle
    for i in range(3):
        for j in range(3):
            w.by_turn[g, i, j] = second * v[i] * v[j]
        w.by_turn[g, i, i] += 1.0 - second * square
        e[row + i] = s.goal_rotation_weight[g] * v[i]
    w.by_turn[g, 0, 1] -= 0.5 * v[2]
    w.by_turn[g, 0, 2] += 0.5 * v[1]
    w.by_turn[g, 1, 0] += 0.5 * v[2]
    w.by_turn[g, 1, 2] -= 0.5 * v[0]
    w.by_turn[g, 2, 0] -= 0.5 * v[1]
    w.by_turn[g, 2, 1] += 0.5 * v[0]
    w.miss[g, 1] = angle
    return float(angle / s.tolerance[1]) if s.goal_rotation_weight[g] > 0.0 else 0.0


def rotation_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:  # noqa: ARG001 - as of all rows
    """Set e = log(target * current^-1), and its derivative; returns the largest angle."""
    pairs = zip(s.goal_rotation[some].tolist(), w.turn[s.goal_joint[some]].tolist(), strict=True)
    return put_turns(s, w, some, places, [turn_to(target, turn) for target, turn in pairs], e)


def turn_to(target: Quaternion, turn: Quaternion) -> Turn:
    """From a rotation to its target: log(target * turn^-1)."""
    x, y, z, w = turn
    x, y, z, angle = logarithm(*product(*target, -x, -y, -z, w))
    second = 1.0 / 12.0
    if not angle < _NO_DIGITS:
        second = 1.0 / (angle * angle) - 0.5 / (angle * math.tan(0.5 * angle))
    a, b, c, rest = second * x, second * y, second * z, 1.0 - second * angle * angle
    by_turn = (
        a * x + rest, a * y - 0.5 * z, a * z + 0.5 * y,
        b * x + 0.5 * z, b * y + rest, b * z - 0.5 * x,
        c * x - 0.5 * y, c * y + 0.5 * x, c * z + rest,
    )  # fmt: skip
    return Turn((x, y, z), by_turn, NOTHING, angle)


TURN = Rows(Measure.ROTATION, rotation_residual, rotation_residuals)


def degrees_to(goal: Goal, stand: Stand) -> float:
    """Degrees to the rotation; NaN for a pin that has none of its own."""
    if goal.target_rotation is None:
        return NAN
    return math.degrees(float(angle_between(stand.rotation, np.array(goal.target_rotation))))


def rotation_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Degrees to the rotation."""
    return NAN, degrees_to(goal, stand_of(goal, skeleton, world))


def rotation_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show how the joint is to be turned, where the effector is."""
    stand = stand_of(goal, skeleton, world)
    return Drawing(stand.joint, stand.point, rotation=goal.target_rotation)


KIND = Kind(
    word=GoalKind.ROTATION,
    title="Rotation",
    hint="Take a rotation",
    rows=(TURN,),
    keys={"rotation": FileKey("target_rotation", "How to be turned, world frame.")},
    miss=rotation_miss,
    drawing=rotation_drawing,
)
