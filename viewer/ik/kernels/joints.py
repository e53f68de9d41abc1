"""Joint coordinates, their limits, and moving along a step; forward kinematics and the goals' residuals.

`viewer.skeleton.coordinates` derives the formulas of coordinates.

What the rows of the Jacobian need of a goal is left in the scratch: see `viewer.ik.kernels.step`. Compiled code cannot
look up a function in a table, so `goal_residual` is a comparison of codes for each kind, made of the table of kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from viewer.ik.algebra import (
    EULER,
    FIXED,
    HINGE,
    SLIDE,
    SWING_TWIST,
    TURNS,
    UNIVERSAL,
    about,
    exponential,
    half_turn_series,
    logarithm,
    product,
    put_row,
    three_angles,
    three_halves,
    turned,
    unit,
)
from viewer.ik.goals import ROW_KINDS, Kind
from viewer.ik.kernels.contact_rows import measure_overlap
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Integers, Quaternion, Vector

LOCKED = 1e-8
"""Radians from gimbal lock within which only the sum or the difference of two Euler angles is known."""
ROUNDING = 1e-9
"""Radians or metres: excesses that differ by less are equal."""
CLEAR, HALVINGS = 1e-6, 60
"""Radians by which a swing stays below half a turn, and bisections that find it: to the last digit of a float64."""


def excess(value: float, lower: float, upper: float) -> float:
    """How far a coordinate is outside its range; 0 inside."""
    return max(lower - value, value - upper, 0.0)


def counted(angle: float, lower: float, upper: float) -> float:
    """An angle counted from the middle of its range, if that has two ends."""
    if lower == -math.inf or upper == math.inf:
        return angle
    return angle - 2.0 * math.pi * round((angle - 0.5 * (lower + upper)) / (2.0 * math.pi))


def euler_excess(lower: Floats, upper: Floats, a: float, b: float, c: float) -> float:
    """How far Euler angles are outside their ranges (3,)."""
    return max(excess(a, lower[0], upper[0]), excess(b, lower[1], upper[1]), excess(c, lower[2], upper[2]))


def nearer_euler(
    lower: Floats, upper: Floats, parity: float, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """The set of Euler angles of a rotation, of two, that violates less; at gimbal lock, the best split.

    The parity is 1 for xyz, yzx and zxy, else -1.
    """
    best_a, best_b, best_c = a, b, c
    # Another reading must be better past rounding.
    least = euler_excess(lower, upper, a, b, c) - ROUNDING
    locked = abs(b) > 0.5 * math.pi - LOCKED
    sign = parity if b > 0.0 else -parity
    total = a + sign * c
    for way in range(6 if locked else 1):
        first, second, third = a + math.pi, math.pi - b, c + math.pi
        if way > 0:
            # The splits that are inside form ranges, which end where one of the two angles is at an end of its own.
            if way == 1:
                third = min(max(0.0, lower[2]), upper[2])
            elif way == 2:
                third = lower[2]
            elif way == 3:
                third = upper[2]
            elif way == 4:
                third = sign * (total - lower[0])
            else:
                third = sign * (total - upper[0])
            if abs(third) == math.inf:
                third = c
            first, second = total - sign * third, b
        first, third = counted(first, lower[0], upper[0]), counted(third, lower[2], upper[2])
        cost = euler_excess(lower, upper, first, second, third)
        if cost < least:
            least, best_a, best_b, best_c = cost, first, second, third
    return best_a, best_b, best_c


def swing_excess(lower: Floats, upper: Floats, a: float, b: float) -> float:
    """How far a swing (a, b) is outside its ranges, or longer than half a turn."""
    beyond = math.sqrt(a * a + b * b) - math.pi
    result = max(excess(a, lower[0], upper[0]), excess(b, lower[1], upper[1]))
    return max(result, beyond) if beyond > ROUNDING else result


def nearer_swing(lower: Floats, upper: Floats, a: float, b: float) -> tuple[float, float]:
    """A swing by the short or the long way round: the one that violates less."""
    length = math.sqrt(a * a + b * b)
    if length > 0.0:
        part = 1.0 - 2.0 * math.pi / length
        if swing_excess(lower, upper, part * a, part * b) < swing_excess(lower, upper, a, b) - ROUNDING:
            return part * a, part * b
    return a, b


def short_swing(lower: Floats, upper: Floats, a: float, b: float, old_a: float, old_b: float) -> tuple[float, float]:
    """A swing of more than half a turn the short way round; where its ranges forbid that, the old one."""
    length = math.sqrt(a * a + b * b)
    if length <= math.pi:
        return a, b
    part = 1.0 - 2.0 * math.pi / length
    if swing_excess(lower, upper, part * a, part * b) > 0.0:
        return old_a, old_b
    return part * a, part * b


def swing_inside(lower: Floats, upper: Floats, a: float, b: float) -> tuple[float, float]:
    """The swing nearest to (a, b) that is inside its ranges and no longer than half a turn."""
    x, y = min(max(a, lower[0]), upper[0]), min(max(b, lower[1]), upper[1])
    if math.sqrt(x * x + y * y) <= math.pi - CLEAR:
        return x, y
    least, most = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (least + most)
        x, y = min(max(scale * a, lower[0]), upper[0]), min(max(scale * b, lower[1]), upper[1])
        if math.sqrt(x * x + y * y) <= math.pi - CLEAR:
            least = scale
        else:
            most = scale
    return min(max(least * a, lower[0]), upper[0]), min(max(least * b, lower[1]), upper[1])


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
        return three_angles(i, j, order[2], x, y, z)
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
    """Set the local motion of a joint that has coordinates, from these."""
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
    """Bring the coordinates of all joints inside their limits and set the local motion; whether any was outside."""
    outside = False
    for k in range(len(s.parent)):
        form, d, end = s.form[k], s.first[k], s.first[k + 1]
        if form == TURNS or (form == FIXED and s.moves[k] == 3):
            continue
        rx, ry, rz, rw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
        if form == FIXED:
            if s.parent[k] >= 0:
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
    for p in range(len(s.leader)):
        apart = s.ratio[p] * x[s.leader[p]] + s.shift[p] - x[s.follower[p]]
        if s.turning[s.follower[p]]:
            apart -= 2.0 * math.pi * round(apart / (2.0 * math.pi))
        if abs(apart) > ROUNDING:
            outside = True
    follow_leaders(s, x, q, t)
    return outside


def follow_leaders(s: System, x: Floats, q: Floats, t: Floats) -> None:
    """Set the coordinates and local motion of joints that follow others."""
    for p in range(len(s.leader)):
        x[s.follower[p]] = s.ratio[p] * x[s.leader[p]] + s.shift[p]
        set_local(s, s.follower_joint[p], x, q, t)


def bring_inside(s: System, k: int, x: Floats) -> bool:
    """Coordinates of joint k inside its limits, nearest to the reading least outside; whether that was outside."""
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
    """How far a joint's coordinates are outside their ranges, or its swing exceeds half a turn."""
    worst = 0.0
    for i in range(len(x)):
        worst = max(worst, excess(x[i], lower[i], upper[i]))
    return max(worst, swing_excess(lower, upper, x[0], x[1])) if form == SWING_TWIST else worst


def move(s: System, w: Work, dx: Floats, x: Floats, q: Floats, t: Floats) -> None:
    """Move along a step in place; coordinates stay within their limits."""
    for k in range(len(s.parent)):
        form, d, end = s.form[k], s.first[k], s.first[k + 1]
        if d == end:
            continue
        for i in range(s.moves[k]):
            t[k, i] += dx[d + i]
        d += s.moves[k]
        if form == TURNS:
            ax, ay, az = turned(s.basis[k, 0], s.basis[k, 1], s.basis[k, 2], s.basis[k, 3], dx[d], dx[d + 1], dx[d + 2])
            ax, ay, az, aw = exponential(ax, ay, az)
            ax, ay, az, aw = product(q[k, 0], q[k, 1], q[k, 2], q[k, 3], ax, ay, az, aw)
            total = math.sqrt(ax * ax + ay * ay + az * az + aw * aw)
            q[k, 0], q[k, 1], q[k, 2], q[k, 3] = ax / total, ay / total, az / total, aw / total
        elif form != FIXED:
            first, second = x[d], x[d + 1] if end - d > 1 else 0.0
            for i in range(d, end):
                x[i] = min(max(x[i] + dx[i], s.lower[i]), s.upper[i])
            if form == SWING_TWIST:
                x[d], x[d + 1] = short_swing(s.lower[d:end], s.upper[d:end], x[d], x[d + 1], first, second)
            if form not in (EULER, HINGE):
                set_local(s, k, x, q, t)
    if len(s.leader) > 0:
        follow_leaders(s, x, q, t)
    turn_by_angles(s, w, x, q, t)


def put_sines(w: Work, x: Floats) -> None:
    """Put sines and cosines of half the coordinates into the scratch: together they take half the time.

    Whole lanes of them, or the compiler would do the last few one by one.
    """
    put_row(x, w.angles)
    for d in range(len(w.angles)):
        turns = math.floor(w.angles[d] / (2.0 * math.pi) + 0.5)
        half = 0.5 * (w.angles[d] - 2.0 * math.pi * turns)
        sine, cosine = half_turn_series(half * half)
        # A whole turn changes the sign of both.
        sign = 1.0 - 2.0 * (turns - 2.0 * math.floor(0.5 * turns))
        w.sines[d], w.cosines[d] = sign * half * sine, sign * cosine


def turn_by_angles(s: System, w: Work, x: Floats, q: Floats, t: Floats) -> None:
    """Set local rotations of hinges and joints with Euler angles."""
    put_sines(w, x)
    for k in range(len(s.parent)):
        form, d = s.form[k], s.first[k]
        if form == HINGE:
            sine, aw = w.sines[d], w.cosines[d]
            ax, ay, az = sine * s.axes[k, 0, 0], sine * s.axes[k, 0, 1], sine * s.axes[k, 0, 2]
        elif form == EULER:
            a, b = d + 1, d + 2
            i, j, c = s.order[k, 0], s.order[k, 1], s.order[k, 2]
            ax, ay, az, aw = three_halves(
                i, j, c, w.sines[d], w.cosines[d], w.sines[a], w.cosines[a], w.sines[b], w.cosines[b]
            )
        else:
            continue
        rx, ry, rz, rw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
        q[k, 0], q[k, 1], q[k, 2], q[k, 3] = product(rx, ry, rz, rw, ax, ay, az, aw)


def difference(
    s: System, w: Work, x: Floats, q: Floats, t: Floats, x0: Floats, q0: Floats, t0: Floats, out: Floats
) -> None:
    """Put the step from a pose (x, q, t) to another (x0, q0, t0) into ``out`` (n,)."""
    for k in range(len(s.parent)):
        d, end = s.first[k], s.first[k + 1]
        for i in range(s.moves[k]):
            out[d + i] = t0[k, i] - t[k, i]
        d += s.moves[k]
        if s.form[k] == TURNS and end > d:
            ax, ay, az, aw = product(-q[k, 0], -q[k, 1], -q[k, 2], q[k, 3], q0[k, 0], q0[k, 1], q0[k, 2], q0[k, 3])
            ax, ay, az, aw = logarithm(ax, ay, az, aw)
            out[d], out[d + 1], out[d + 2] = turned(
                -s.basis[k, 0], -s.basis[k, 1], -s.basis[k, 2], s.basis[k, 3], ax, ay, az
            )
        else:
            for i in range(d, end):
                out[i] = x0[i] - x[i]
                if s.turning[i] and s.lower[i] == -math.inf and s.upper[i] == math.inf:
                    # An angle without limits goes back the short way.
                    out[i] -= 2.0 * math.pi * round(out[i] / (2.0 * math.pi))


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


GoalResidual: TypeAlias = Callable[[System, Work, int, Floats], float]
"(system, scratch, goal, e (m,)) -> tolerances that it misses by; fills its rows of e and its part of the scratch."


def dispatch_source(kinds: Sequence[Kind]) -> str:
    """The source of `goal_residual` for kinds, whose places in the list are their codes."""
    lines = ["def goal_residual(s, w, g, e):", "    kind, row = s.goal_kind[g], s.goal_row[g]"]
    for code, kind in enumerate(kinds):
        calls, at = [], 0
        for rows in kind.rows:
            calls.append(f"{rows.residual.__name__}(s, w, g, row + {at}, e)")
            at += rows.count
        lines += [f"    if kind == {code}:", f"        return {reduce('max({}, {})'.format, calls)}"]
    return "\n".join([*lines, "    return 0.0"])


def _made_of(kinds: Sequence[Kind]) -> GoalResidual:
    """`goal_residual` as a function of this module, whose source is `dispatch_source`."""
    space: dict[str, Any] = {rows.residual.__name__: rows.residual for kind in kinds for rows in kind.rows}
    space["__name__"] = __name__  # of the module, where copies of its functions look for it
    exec(dispatch_source(kinds), space)  # noqa: S102 - made of names in this package alone
    made: GoalResidual = space["goal_residual"]
    return made


goal_residual = _made_of(ROW_KINDS)


def sets_place(s: System, g: int) -> bool:
    """Whether a goal sets the position of its effector."""
    return bool(s.goal_lengths[g] == 3 and s.goal_other[g] < 0)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal sets the whole rotation of its effector."""
    return bool(s.goal_angles[g] == 3 and not s.goal_aims[g] and s.goal_other[g] < 0)


def residuals(s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:
    """Forward kinematics and all goals' residuals.

    Fills ``e`` (m,), weighted, target minus current, and in ``w`` what `linearise` needs.

    Returns:
        The squared error e.e with the penalty for overlaps, and the largest residual in units of its tolerance, or
        overlap in units of what counts as touching (below 1: all goals are met); goals that weigh nothing are left out.
    """
    forward(s, w, q, t)
    worst = 0.0
    for g in range(len(s.goal_kind)):
        k = s.goal_joint[g]
        qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
        x, y, z = turned(qx, qy, qz, qw, s.goal_offset[g, 0], s.goal_offset[g, 1], s.goal_offset[g, 2])
        x, y, z = x + w.place[k, 0], y + w.place[k, 1], z + w.place[k, 2]
        w.point[g, 0], w.point[g, 1], w.point[g, 2] = x, y, z
        worst = max(worst, goal_residual(s, w, g, e))
    error = 0.0
    for r in range(len(e)):
        error += e[r] * e[r]
    if len(s.contact.joint) > 0:
        measure_overlap(s, w)
        error += w.contact.overlap[0]
        worst = max(worst, w.contact.overlap[1])
    # Comparisons with NaN are false, so goals that overflowed never count as met.
    return error, worst if error < math.inf else math.inf
