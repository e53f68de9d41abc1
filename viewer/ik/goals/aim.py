"""Goals for an aim: an axis of the effector's joint points at a point."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.algebra import SMALL, turned
from viewer.ik.goals.goal import Number, Unit
from viewer.ik.goals.kind import (
    AHEAD,
    Before,
    FileKey,
    First,
    Kind,
    Measure,
    Rows,
    bone_direction,
    effector_stand,
    size_of,
)
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import rotate

_AXIS = Number(
    name="axis",
    unit=Unit.JOINT_DIRECTION,
    title="Axis",
    hint="The direction, in the joint's frame, that points at the target",
)
_NO_SLOPE = 1e-4
"""Below this sine a quotient of small differences has no digits."""
_ALIGNED = 1e-7
"""Below this sine two directions are taken as the same, or opposite."""


def aim_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = the rotation vector from the axis u to the direction v of the point: a (u x v) / |u x v|.

    With c = u.v, h = a / |u x v| and h' = dh/dc = (c h - 1) / (1 - c^2), the motion of the effector by a turn W and
    a move M changes -e by (h' w w^T + h (u v^T - c I)) (-W) + ...: see `aim_derivative`. Facing exactly away, any
    axis at right angles to u is right.
    """
    k = s.goal_joint[g]
    u, v, cross = w.vectors[0], w.vectors[1], w.vectors[2]
    qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
    u[0], u[1], u[2] = turned(qx, qy, qz, qw, s.goal_numbers[g, 0], s.goal_numbers[g, 1], s.goal_numbers[g, 2])
    length = 0.0
    for i in range(3):
        v[i] = s.goal_target[g, i] - w.point[g, i]
        length += v[i] * v[i]
    length = math.sqrt(length)
    if length < SMALL * s.scale[0]:  # the effector is at the point: any direction is right
        for i in range(3):
            e[row + i] = 0.0
            for j in range(3):
                w.by_turn[g, i, j] = 0.0
                w.by_move[g, i, j] = 0.0
        w.miss[g, 1] = 0.0
        return 0.0
    for i in range(3):
        v[i] /= length
    cross[0] = u[1] * v[2] - u[2] * v[1]
    cross[1] = u[2] * v[0] - u[0] * v[2]
    cross[2] = u[0] * v[1] - u[1] * v[0]
    sine = math.sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2])
    cosine = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    angle = math.atan2(sine, cosine)
    away = sine < _ALIGNED and cosine < 0.0
    if away:
        least = 0
        for i in range(1, 3):
            if abs(u[i]) < abs(u[least]):
                least = i
        along = u[least]
        total = math.sqrt(1.0 - along * along)
        for i in range(3):
            cross[i] = ((1.0 if i == least else 0.0) - along * u[i]) / total
            e[row + i] = s.goal_rotation_weight[g] * math.pi * cross[i]
    else:
        scale = angle / sine if sine > _ALIGNED else 1.0
        for i in range(3):
            e[row + i] = s.goal_rotation_weight[g] * scale * cross[i]
    aim_derivative(w, g, sine, cosine, angle, length, away)
    w.miss[g, 1] = angle
    return float(angle / s.tolerance[1]) if s.goal_rotation_weight[g] > 0.0 else 0.0


def aim_derivative(w: Work, g: int, sine: float, cosine: float, angle: float, length: float, away: bool) -> None:
    """-de/d(turn) and -de/d(move) of an aim; u, v, u x v are in w.vectors[0..2]."""
    u, v, cross = w.vectors[0], w.vectors[1], w.vectors[2]
    if away:
        # At all other points the residual turns the short way: take the turn itself, at right angles to u.
        for i in range(3):
            for j in range(3):
                w.by_turn[g, i, j] = (1.0 if i == j else 0.0) - u[i] * u[j]
                w.by_move[g, i, j] = 0.0
        return
    h = angle / sine if sine > _ALIGNED else 1.0
    # The quotient has no digits where it faces the point: 0 / 0.
    curved = sine > _NO_SLOPE or (cosine < 0.0 and sine > _ALIGNED)
    slope = (cosine * h - 1.0) / (sine * sine) if curved else -1.0 / 3.0
    for i in range(3):
        for j in range(3):
            same = 1.0 if i == j else 0.0
            # d(u x v) = (u v^T - c I) W for a turn; dc = (u x v).W
            w.by_turn[g, i, j] = -(slope * cross[i] * cross[j] + h * (u[i] * v[j] - cosine * same))
            # dv = -(I - v v^T) M / length for a move; u.dv and u x dv follow.
            lean = (u[j] - cosine * v[j]) / length
            w.by_move[g, i, j] = slope * cross[i] * lean
    for j in range(3):
        # Column j of h [u]x (I - v v^T) / length.
        x, y, z = -v[0] * v[j], -v[1] * v[j], -v[2] * v[j]
        if j == 0:
            x += 1.0
        elif j == 1:
            y += 1.0
        else:
            z += 1.0
        w.by_move[g, 0, j] += h * (u[1] * z - u[2] * y) / length
        w.by_move[g, 1, j] += h * (u[2] * x - u[0] * z) / length
        w.by_move[g, 2, j] += h * (u[0] * y - u[1] * x) / length


def aim_first(before: Before, skeleton: Skeleton, world: World) -> First:
    """Along the bone, at a point ahead."""
    stand = effector_stand(before, skeleton, world)
    axis = before.numbers.get(_AXIS.name) or tuple(bone_direction(skeleton, stand.joint).tolist())
    ahead = rotate(stand.rotation, np.array(axis)) * (AHEAD * size_of(skeleton))
    return First({_AXIS.name: axis}, stand.point + ahead)


KIND = Kind(
    word="aim",
    title="Aim",
    hint="Point an axis at a point",
    point_title="At",
    rows=(Rows(Measure.DIRECTION, aim_residual),),
    keys={
        "aim": FileKey("target", "Point that `axis` is to point at."),
        "axis": FileKey("axis", "Of `aim`, in the joint's frame.", _AXIS),
    },
    first=aim_first,
)
KINDS = (KIND,)
