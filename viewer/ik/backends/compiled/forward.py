"""Forward kinematics and the goals' residuals.

What the rows of the Jacobian need of a goal is left in the scratch: see `viewer.ik.backends.compiled.step`.
"""

from __future__ import annotations

import math

from viewer.ik.backends.compiled.algebra import (
    AIM,
    DISTANCE,
    POSE,
    POSITION,
    ROTATION,
    SMALL,
    logarithm,
    product,
    turned,
)
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats


def forward(s: System, w: Work, q: Floats, t: Floats) -> None:
    """World rotations and positions of all joints: W = W_parent q, p = p_parent + W_parent t."""
    for k in range(len(s.parent)):
        p = s.parent[k]
        bx, by, bz, bw = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
        x, y, z = t[k, 0], t[k, 1], t[k, 2]
        if p >= 0:
            ax, ay, az, aw = w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3]
            bx, by, bz, bw = product(ax, ay, az, aw, bx, by, bz, bw)
            x, y, z = turned(ax, ay, az, aw, x, y, z)
            x, y, z = x + w.place[p, 0], y + w.place[p, 1], z + w.place[p, 2]
        w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3] = bx, by, bz, bw
        w.place[k, 0], w.place[k, 1], w.place[k, 2] = x, y, z


def residuals(s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:
    """Forward kinematics and all goals' residuals.

    Fills ``e`` (m,), weighted, target minus current, and in ``w`` what `rows` needs.

    Returns:
        The squared error e.e, and the largest residual in units of its tolerance (below 1: all goals are met); goals
        that weigh nothing are left out.
    """
    forward(s, w, q, t)
    worst = 0.0
    for g in range(len(s.goal_kind)):
        k, kind, row = s.goal_joint[g], s.goal_kind[g], s.goal_row[g]
        qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
        x, y, z = turned(qx, qy, qz, qw, s.goal_offset[g, 0], s.goal_offset[g, 1], s.goal_offset[g, 2])
        x, y, z = x + w.place[k, 0], y + w.place[k, 1], z + w.place[k, 2]
        w.point[g, 0], w.point[g, 1], w.point[g, 2] = x, y, z
        if kind == POSITION or kind == POSE:
            x, y, z = s.goal_target[g, 0] - x, s.goal_target[g, 1] - y, s.goal_target[g, 2] - z
            weight = s.goal_weight[g]
            e[row], e[row + 1], e[row + 2] = weight * x, weight * y, weight * z
            w.miss[g, 0] = math.sqrt(x * x + y * y + z * z)
            if weight > 0.0:
                worst = max(worst, w.miss[g, 0] / s.tolerance[0])
            row += 3
        if kind == ROTATION or kind == POSE:
            worst = max(worst, rotation_residual(s, w, g, row, e))
        elif kind == DISTANCE:
            worst = max(worst, distance_residual(s, w, g, row, e))
        elif kind == AIM:
            worst = max(worst, aim_residual(s, w, g, row, e))
    error = 0.0
    for r in range(len(e)):
        error += e[r] * e[r]
    # A comparison with NaN is false: what overflowed is never taken for met.
    return error, worst if error < math.inf else math.inf


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
    if angle < 1e-3:
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


def distance_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = d - |point - from|; from the very place any direction leads away: x is taken."""
    total = 0.0
    for i in range(3):
        w.by_move[g, 0, i] = w.point[g, i] - s.goal_target[g, i]
        total += w.by_move[g, 0, i] * w.by_move[g, 0, i]
    length = math.sqrt(total)
    for i in range(3):
        w.by_move[g, 0, i] = w.by_move[g, 0, i] / length if length > SMALL * s.scale[0] else (1.0 if i == 0 else 0.0)
    miss = s.goal_distance[g] - length
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0]) if s.goal_weight[g] > 0.0 else 0.0


def aim_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = the rotation vector from the axis u to the direction v of the point: a (u x v) / |u x v|.

    With c = u.v, h = a / |u x v| and h' = dh/dc = (c h - 1) / (1 - c^2), the motion of the effector by a turn W and
    a move M changes -e by (h' w w^T + h (u v^T - c I)) (-W) + ...: see `_aim_derivative`. Facing exactly away, any
    axis at right angles to u will do.
    """
    k = s.goal_joint[g]
    u, v, cross = w.vectors[0], w.vectors[1], w.vectors[2]
    qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
    u[0], u[1], u[2] = turned(qx, qy, qz, qw, s.goal_axis[g, 0], s.goal_axis[g, 1], s.goal_axis[g, 2])
    length = 0.0
    for i in range(3):
        v[i] = s.goal_target[g, i] - w.point[g, i]
        length += v[i] * v[i]
    length = math.sqrt(length)
    if length < SMALL * s.scale[0]:  # the effector is at the point: every direction is as good
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
    away = sine < 1e-7 and cosine < 0.0
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
        scale = angle / sine if sine > 1e-7 else 1.0
        for i in range(3):
            e[row + i] = s.goal_rotation_weight[g] * scale * cross[i]
    aim_derivative(w, g, sine, cosine, angle, length, away)
    w.miss[g, 1] = angle
    return float(angle / s.tolerance[1]) if s.goal_rotation_weight[g] > 0.0 else 0.0


def aim_derivative(w: Work, g: int, sine: float, cosine: float, angle: float, length: float, away: bool) -> None:
    """-de/d(turn) and -de/d(move) of an aim; u, v, u x v stand in w.vectors[0..2]."""
    u, v, cross = w.vectors[0], w.vectors[1], w.vectors[2]
    if away:
        # Off this one point the residual turns the short way: take the turn itself, at right angles to u.
        for i in range(3):
            for j in range(3):
                w.by_turn[g, i, j] = (1.0 if i == j else 0.0) - u[i] * u[j]
                w.by_move[g, i, j] = 0.0
        return
    h = angle / sine if sine > 1e-7 else 1.0
    # The quotient has no digits where it faces the point: 0 / 0.
    curved = sine > 1e-4 or (cosine < 0.0 and sine > 1e-7)
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
