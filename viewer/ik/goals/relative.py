"""Goals for two effectors that stay together: one keeps its position and rotation in the frame of the other.

Two hands on one thing are such a pair. Joints above both effectors do not change this; joints above the second one
alone move it like any point, and joints above the first one alone act as if the second moved the opposite way.
"""

from __future__ import annotations

import math

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.algebra import logarithm_and_slope, product, turned, unit
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import TO, Constants, Ends, GoalDrawing, Kind, Measure, Rows, Stand, both_stands
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World, point_of
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate

_TOGETHER = 0.5
"""Part of the tolerances that counts as met: a gap between hands that hold one thing is visible."""


def relative_place_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = target - the effector's place in the base's frame; that frame's axes are the rows of ``by_move``."""
    k = s.goal_other[g]
    qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
    x, y, z = w.point[g, 0] - w.place[k, 0], w.point[g, 1] - w.place[k, 1], w.point[g, 2] - w.place[k, 2]
    square = 0.0
    for i in range(3):
        ax, ay, az = turned(qx, qy, qz, qw, unit(i, 0), unit(i, 1), unit(i, 2))
        w.by_move[g, i, 0], w.by_move[g, i, 1], w.by_move[g, i, 2] = ax, ay, az
        miss = s.goal_target[g, i] + s.goal_numbers[g, i] - (ax * x + ay * y + az * z)
        e[row + i] = s.goal_weight[g] * miss
        square += miss * miss
    w.miss[g, 0] = math.sqrt(square)
    return float(w.miss[g, 0] / (_TOGETHER * s.tolerance[0])) if s.goal_weight[g] > 0.0 else 0.0


def relative_turn_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = log(target * relative^-1), relative = base^-1 * effector, in the base's frame.

    A turn of the effector by t changes it by -J_r^-1(e) base^-1 t.
    """
    k, b = s.goal_joint[g], s.goal_other[g]
    bx, by, bz, bw = w.turn[b, 0], w.turn[b, 1], w.turn[b, 2], w.turn[b, 3]
    # target * (base^-1 * effector)^-1 = target * effector^-1 * base
    tx, ty, tz, tw = s.goal_rotation[g, 0], s.goal_rotation[g, 1], s.goal_rotation[g, 2], s.goal_rotation[g, 3]
    tx, ty, tz, tw = product(tx, ty, tz, tw, -w.turn[k, 0], -w.turn[k, 1], -w.turn[k, 2], w.turn[k, 3])
    tx, ty, tz, tw = product(tx, ty, tz, tw, bx, by, bz, bw)
    x, y, z, angle, xx, xy, xz, yx, yy, yz, zx, zy, zz = logarithm_and_slope(tx, ty, tz, tw)
    weight = s.goal_rotation_weight[g]
    e[row], e[row + 1], e[row + 2] = weight * x, weight * y, weight * z
    for j in range(3):
        # Column j of J_r^-1 base^-1: of the world's axis j, as the base sees it.
        cx, cy, cz = turned(-bx, -by, -bz, bw, unit(j, 0), unit(j, 1), unit(j, 2))
        w.by_turn[g, 0, j] = xx * cx + xy * cy + xz * cz
        w.by_turn[g, 1, j] = yx * cx + yy * cy + yz * cz
        w.by_turn[g, 2, j] = zx * cx + zy * cy + zz * cz
    w.miss[g, 1] = angle
    return float(angle / (_TOGETHER * s.tolerance[1])) if weight > 0.0 else 0.0


def relative_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The joint and point of ``to``, and the effector's as the base.

    Raises:
        InputError: an effector that is not there, or two of one joint.
    """
    joint, other = point_of(skeleton, goal.to)
    base, own = point_of(skeleton, goal.effector, goal.offset)
    _check_joints(goal, base, joint)
    return Constants(joint, other, own, other=base)


def _check_joints(goal: Ends, base: int, other: int) -> None:
    if base == other:
        pair = f"{quote(goal.effector)} and {quote(goal.to)}"
        raise InputError(f"relative goal: expected effectors of two joints, found {pair} of one")


def relative_stand(goal: Ends, skeleton: Skeleton, world: World) -> Stand:
    """The place of ``to`` from the effector, and its rotation, both in the frame of the effector's joint.

    Raises:
        InputError: as `relative_constants`.
    """
    base, other = both_stands(goal, skeleton, world)
    _check_joints(goal, base.joint, other.joint)
    back = conjugate(base.rotation)
    return Stand(other.joint, rotate(back, other.point - base.point), multiply(back, other.rotation))


def relative_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show ``to`` and its target."""
    base, other = both_stands(goal, skeleton, world)
    target = base.point + rotate(base.rotation, np.array(goal.target)) if goal.target is not None else other.point
    return GoalDrawing(other.joint, other.point, target)


_PLACE = Rows(Measure.RELATIVE_POINT, relative_place_residual)
_TURN = Rows(Measure.RELATIVE_ROTATION, relative_turn_residual)


def _kind(word: str, title: str, hint: str, rows: tuple[Rows, ...]) -> Kind:
    return Kind(
        word=word,
        title=title,
        hint=hint,
        rows=rows,
        keys={"to": TO},
        named_by="relative",
        since=2,
        constants=relative_constants,
        stand=relative_stand,
        drawing=relative_drawing,
        relative=True,
        firm=True,
    )


KINDS = (
    _kind("relative", "Hold together", "Keep two effectors as they are to each other", (_PLACE, _TURN)),
    _kind("relative position", "Hold beside", "Keep one effector's place beside another", (_PLACE,)),
    _kind("relative rotation", "Turn alike", "Keep one effector's turn beside another", (_TURN,)),
)
