"""The arithmetic of one solver iteration as loops over plain arrays, in the subset of Python that numba compiles.

`viewer.ik.compiled` compiles these functions; `viewer.ik.vectorised` does the same in numpy. Here ``s`` is a `System`
(constant during a solve), ``w`` a `Work` (scratch); K joints in depth-first order, n freedoms, G goals, m rows.

Freedoms: a hinge's, universal's or slide's coordinate; a limited ball's three coordinates (swing and twist, or Euler
angles); an unlimited ball's or root's three rotations about its own axes; a root's three translations before those.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from viewer.ik.kernels_readings import ROUNDING, excess, nearer_euler, nearer_swing, swing_excess, swing_inside

if TYPE_CHECKING:
    from typing import TypeAlias

    from viewer.ik.system import Integers, System, Work
    from viewer.spatial.checks import Floats

    Quaternion: TypeAlias = tuple[float, float, float, float]
    Vector: TypeAlias = tuple[float, float, float]

# How a joint moves; numba takes module constants as constants.
FIXED, TURNS, SWING_TWIST, EULER, HINGE, UNIVERSAL, SLIDE = range(7)
# What a goal asks.
POSITION, ROTATION, POSE, DISTANCE, AIM = range(5)

_SMALL = 1e-9


def unit(i: int, j: int) -> float:
    """1 where the indices are equal, else 0."""
    return 1.0 if i == j else 0.0


def product(ax: float, ay: float, az: float, aw: float, bx: float, by: float, bz: float, bw: float) -> Quaternion:
    """The quaternion product a * b."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def turned(qx: float, qy: float, qz: float, qw: float, x: float, y: float, z: float) -> Vector:
    """The vector (x, y, z) turned by a quaternion."""
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx


def exponential(x: float, y: float, z: float) -> Quaternion:
    """The rotation by a rotation vector."""
    angle = math.sqrt(x * x + y * y + z * z)
    scale = math.sin(0.5 * angle) / angle if angle > _SMALL else 0.5
    return x * scale, y * scale, z * scale, math.cos(0.5 * angle)


def logarithm(x: float, y: float, z: float, v: float) -> tuple[float, float, float, float]:
    """The rotation vector of a quaternion, the short way, and its length."""
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, abs(v))
    scale = angle / sine if sine > _SMALL else 2.0
    if v < 0.0:
        scale = -scale
    return x * scale, y * scale, z * scale, angle


def about(axis: int, angle: float) -> Quaternion:
    """The rotation about a coordinate axis."""
    sine = math.sin(0.5 * angle)
    return sine * unit(axis, 0), sine * unit(axis, 1), sine * unit(axis, 2), math.cos(0.5 * angle)


def relative_rotation(form: int, axes: Floats, order: Integers, x: float, y: float, z: float) -> Quaternion:
    """The rotation, after the rest rotation, that a joint's coordinates mean; axes (2, 3), order (3,)."""
    if form == HINGE:
        return exponential(x * axes[0, 0], x * axes[0, 1], x * axes[0, 2])
    if form == UNIVERSAL:
        ax, ay, az, aw = exponential(x * axes[0, 0], x * axes[0, 1], x * axes[0, 2])
        bx, by, bz, bw = exponential(y * axes[1, 0], y * axes[1, 1], y * axes[1, 2])
        return product(ax, ay, az, aw, bx, by, bz, bw)
    i, j = order[0], order[1]
    if form == EULER:
        ax, ay, az, aw = about(i, x)
        bx, by, bz, bw = about(j, y)
        ax, ay, az, aw = product(ax, ay, az, aw, bx, by, bz, bw)
    else:
        # Swing-twist coordinates stand as swing, swing, twist on the axes order[0], order[1], order[2].
        ax, ay, az, aw = exponential(
            x * unit(i, 0) + y * unit(j, 0), x * unit(i, 1) + y * unit(j, 1), x * unit(i, 2) + y * unit(j, 2)
        )
    bx, by, bz, bw = about(order[2], z)
    return product(ax, ay, az, aw, bx, by, bz, bw)


def coordinates_of(form: int, axes: Floats, order: Integers, rx: float, ry: float, rz: float, rw: float) -> Vector:
    """Coordinates of the rotation r after the rest rotation: of the nearest one that the joint can hold.

    The scalar twin of `viewer.skeleton.coordinates`, which derives the formulas.
    """
    if form == HINGE:
        return 2.0 * math.atan2(rx * axes[0, 0] + ry * axes[0, 1] + rz * axes[0, 2], rw), 0.0, 0.0
    if form == UNIVERSAL:
        ax, ay, az, bx, by, bz = axes[0, 0], axes[0, 1], axes[0, 2], axes[1, 0], axes[1, 1], axes[1, 2]
        u, v = rx * ax + ry * ay + rz * az, rx * bx + ry * by + rz * bz
        third = rx * (ay * bz - az * by) + ry * (az * bx - ax * bz) + rz * (ax * by - ay * bx)
        total, less = math.atan2(u + v, rw - third), math.atan2(u - v, rw + third)
        return total + less, total - less, 0.0
    i, j, k = order[0], order[1], order[2]
    # The quaternion's components on the axes that the coordinates stand for, and the order's handedness.
    u = rx * unit(i, 0) + ry * unit(i, 1) + rz * unit(i, 2)
    v = rx * unit(j, 0) + ry * unit(j, 1) + rz * unit(j, 2)
    z = rx * unit(k, 0) + ry * unit(k, 1) + rz * unit(k, 2)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    if form == EULER:
        z *= parity
        pw, pi, pj, pk = rw - v, u - z, rw + v, z + u
        middle = 2.0 * math.atan2(math.sqrt(pj * pj + pk * pk), math.sqrt(pw * pw + pi * pi))
        total, less = math.atan2(pi, pw), math.atan2(pk, pj)
        if middle < 1e-12:
            return 2.0 * total, middle - 0.5 * math.pi, 0.0
        if math.pi - middle < 1e-12:
            return 2.0 * less, middle - 0.5 * math.pi, 0.0
        return total + less, middle - 0.5 * math.pi, parity * (less - total)
    sign = -1.0 if rw < 0.0 else 1.0
    cosine = math.sqrt(rw * rw + z * z)
    ct, st = 1.0, 0.0
    if cosine > 1e-12:
        ct, st = sign * rw / cosine, sign * z / cosine
    # exp(swing) = r exp(-twist); the cross terms' sign is that of the cyclic order of the axes.
    first, second = sign * (ct * u - parity * st * v), sign * (ct * v + parity * st * u)
    sine = math.sqrt(first * first + second * second)
    scale = 2.0 * math.atan2(sine, cosine) / sine if sine > 1e-12 else 2.0
    return scale * first, scale * second, 2.0 * math.atan2(st, ct)


def set_local(s: System, k: int, x: Floats, q: Floats, t: Floats) -> None:
    """Local motion of a joint that has coordinates, from them."""
    d, count = s.first[k], s.first[k + 1] - s.first[k]
    rx, ry, rz, rw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
    if s.form[k] == SLIDE:
        vx, vy, vz = turned(rx, ry, rz, rw, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2])
        t[k, 0], t[k, 1], t[k, 2] = (
            s.offset[k, 0] + x[d] * vx,
            s.offset[k, 1] + x[d] * vy,
            s.offset[k, 2] + x[d] * vz,
        )
        q[k, 0], q[k, 1], q[k, 2], q[k, 3] = rx, ry, rz, rw
        return
    y = x[d + 1] if count > 1 else 0.0
    z = x[d + 2] if count > 2 else 0.0
    ax, ay, az, aw = relative_rotation(s.form[k], s.axes[k], s.order[k], x[d], y, z)
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = product(rx, ry, rz, rw, ax, ay, az, aw)


def into_limits(s: System, w: Work, q: Floats, t: Floats, x: Floats) -> bool:
    """Coordinates of all joints, brought inside their limits, and the local motion they give; whether any was out."""
    outside = False
    for k in range(len(s.parent)):
        form, d, end = s.form[k], s.first[k], s.first[k + 1]
        if form == TURNS or (form == FIXED and s.moves[k] == 3):
            continue
        rx, ry, rz, rw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
        if form == FIXED:
            if s.held[k]:
                q[k, 0], q[k, 1], q[k, 2], q[k, 3] = rx, ry, rz, rw
            continue
        if form == SLIDE:
            vx, vy, vz = turned(rx, ry, rz, rw, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2])
            mx, my, mz = t[k, 0] - s.offset[k, 0], t[k, 1] - s.offset[k, 1], t[k, 2] - s.offset[k, 2]
            x[d] = vx * mx + vy * my + vz * mz
        else:
            ax, ay, az, aw = product(-rx, -ry, -rz, rw, q[k, 0], q[k, 1], q[k, 2], q[k, 3])
            first, second, third = coordinates_of(form, s.axes[k], s.order[k], ax, ay, az, aw)
            x[d] = first
            if end - d > 1:
                x[d + 1] = second
            if end - d > 2:
                x[d + 2] = third
        for i in range(d, end):
            if s.turning[i]:
                # Angles are counted from the middle of their range.
                middle = 0.5 * (s.lower[i] + s.upper[i]) if s.bounded[i] else 0.0
                x[i] -= 2.0 * math.pi * round((x[i] - middle) / (2.0 * math.pi))
        if bring_inside(s, k, x):
            outside = True
        set_local(s, k, x, q, t)
    return outside


def bring_inside(s: System, k: int, x: Floats) -> bool:
    """Coordinates of joint k inside its limits, nearest to the reading that is least outside; whether that was out."""
    form, d, end = s.form[k], s.first[k], s.first[k + 1]
    lower, upper = s.lower[d:end], s.upper[d:end]
    if joint_excess(form, lower, upper, x[d:end]) == 0.0:
        return False
    if form == EULER:
        parity = 1.0 if (s.order[k, 1] - s.order[k, 0]) % 3 == 1 else -1.0
        x[d], x[d + 1], x[d + 2] = nearer_euler(lower, upper, parity, x[d], x[d + 1], x[d + 2])
    elif form == SWING_TWIST:
        x[d], x[d + 1] = nearer_swing(lower, upper, x[d], x[d + 1])
    worst = joint_excess(form, lower, upper, x[d:end])
    if worst > 0.0 and form == SWING_TWIST:
        x[d], x[d + 1] = swing_inside(lower, upper, x[d], x[d + 1])
    for i in range(d, end):
        x[i] = min(max(x[i], s.lower[i]), s.upper[i])
    return worst > ROUNDING


def joint_excess(form: int, lower: Floats, upper: Floats, x: Floats) -> float:
    """How far a joint's coordinates are outside their ranges, or its swing longer than half a turn."""
    worst = 0.0
    for i in range(len(x)):
        worst = max(worst, excess(x[i], lower[i], upper[i]))
    return max(worst, swing_excess(lower, upper, x[0], x[1])) if form == SWING_TWIST else worst


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
        The squared error e.e, and the largest residual in units of its tolerance (below 1: all goals are met).
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
    return float(angle / s.tolerance[1])


def distance_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = d - |point - from|; from the very place any direction leads away: x is taken."""
    total = 0.0
    for i in range(3):
        w.by_move[g, 0, i] = w.point[g, i] - s.goal_target[g, i]
        total += w.by_move[g, 0, i] * w.by_move[g, 0, i]
    length = math.sqrt(total)
    for i in range(3):
        w.by_move[g, 0, i] = w.by_move[g, 0, i] / length if length > _SMALL else (1.0 if i == 0 else 0.0)
    miss = s.goal_distance[g] - length
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0])


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
    if length < _SMALL:  # the effector is at the point: every direction is as good
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
    return float(angle / s.tolerance[1])


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
            unit = 1.0 if i == j else 0.0
            # d(u x v) = (u v^T - c I) W for a turn; dc = (u x v).W
            w.by_turn[g, i, j] = -(slope * cross[i] * cross[j] + h * (u[i] * v[j] - cosine * unit))
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
