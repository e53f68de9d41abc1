"""Loops that numba compiles: the Jacobian, the dual system, and what limits do to a step.

J is kept transposed, a row per freedom: ``w.jacobian`` (n, m), weighted by the goals' weights and scaled by the
freedoms' spreads, so that the step is dx = S J^T y with (J J^T + lambda I) y = e, S the spreads. A freedom touches only
the goals below its joint: goals stand in depth-first order, so these are the rows ``low[k]`` to ``high[k]``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from viewer.ik.kernels import (
    AIM,
    DISTANCE,
    EULER,
    HINGE,
    POSE,
    POSITION,
    SLIDE,
    TURNS,
    UNIVERSAL,
    product,
    turned,
    unit,
)

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Bools, Floats

_AT_LIMIT = 1e-9
_NEAR_LIMIT = 1e-2


def linearise(s: System, w: Work, x: Floats) -> None:
    """Fill ``w.jacobian`` at the pose that `residuals` was last called with.

    One long function: to call another per freedom would pass `System` and `Work`, some sixty arrays, each time.
    """
    for k in range(len(s.parent)):
        if s.low[k] == s.high[k]:
            continue
        form, p = s.form[k], s.parent[k]
        qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
        px, py, pz = w.place[k, 0], w.place[k, 1], w.place[k, 2]
        if form == TURNS:
            # The axes that its freedoms turn about are turned from its own.
            qx, qy, qz, qw = product(qx, qy, qz, qw, s.basis[k, 0], s.basis[k, 1], s.basis[k, 2], s.basis[k, 3])
        # World rotation of the frame that the joint moves in: its parent's times its rest.
        bx, by, bz, bw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
        if p >= 0:
            bx, by, bz, bw = product(w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3], bx, by, bz, bw)
        start = s.first[k] + s.moves[k]
        for d in range(s.first[k], s.first[k + 1]):
            i = d - start
            turns = i >= 0 and form != SLIDE
            # The world axis (ax, ay, az) that the freedom turns about or moves along.
            if i < 0:
                ax, ay, az = unit(i, -3), unit(i, -2), unit(i, -1)
            elif form == TURNS:
                ax, ay, az = turned(qx, qy, qz, qw, unit(i, 0), unit(i, 1), unit(i, 2))
            elif form == HINGE or (form == UNIVERSAL and i == 1):
                ax, ay, az = turned(qx, qy, qz, qw, s.axes[k, i, 0], s.axes[k, i, 1], s.axes[k, i, 2])
            elif form == UNIVERSAL or form == SLIDE:
                ax, ay, az = turned(bx, by, bz, bw, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2])
            else:
                c = s.order[k, i]
                ax, ay, az = unit(c, 0), unit(c, 1), unit(c, 2)
                if i == 2:
                    # What acts first turns about an axis of the joint's own frame.
                    ax, ay, az = turned(qx, qy, qz, qw, ax, ay, az)
                else:
                    if form == EULER and i == 1:
                        c = s.order[k, 0]
                        sine, cosine = math.sin(0.5 * x[d - 1]), math.cos(0.5 * x[d - 1])
                        ax, ay, az = turned(sine * unit(c, 0), sine * unit(c, 1), sine * unit(c, 2), cosine, ax, ay, az)
                    elif form != EULER:
                        ax, ay, az = swing_axis(s.order[k, 0], s.order[k, 1], x[start], x[start + 1], ax, ay, az)
                    ax, ay, az = turned(bx, by, bz, bw, ax, ay, az)
            spread = s.spread[d]
            for g in range(s.goal_low[k], s.goal_high[k]):
                vx, vy, vz = ax, ay, az
                if turns:
                    rx, ry, rz = w.point[g, 0] - px, w.point[g, 1] - py, w.point[g, 2] - pz
                    vx, vy, vz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
                kind, row = s.goal_kind[g], s.goal_row[g]
                scale = s.goal_weight[g] * spread
                if kind == POSITION or kind == POSE:
                    w.jacobian[d, row] = scale * vx
                    w.jacobian[d, row + 1] = scale * vy
                    w.jacobian[d, row + 2] = scale * vz
                    row += 3
                if kind == DISTANCE:
                    along = w.by_move[g, 0, 0] * vx + w.by_move[g, 0, 1] * vy + w.by_move[g, 0, 2] * vz
                    w.jacobian[d, row] = scale * along
                elif kind != POSITION:
                    scale = s.goal_rotation_weight[g] * spread
                    for j in range(3):
                        total = 0.0
                        if turns:
                            total = w.by_turn[g, j, 0] * ax + w.by_turn[g, j, 1] * ay + w.by_turn[g, j, 2] * az
                        if kind == AIM:
                            total += w.by_move[g, j, 0] * vx + w.by_move[g, j, 1] * vy + w.by_move[g, j, 2] * vz
                        w.jacobian[d, row + j] = scale * total


def swing_axis(
    i: int, j: int, first: float, second: float, ux: float, uy: float, uz: float
) -> tuple[float, float, float]:
    """How a swing by the vector v (``first`` on axis i, ``second`` on axis j) turns when v changes along u: J_l(v) u.

    J_l(v) u = u + (1 - cos a) / a^2 v x u + (a - sin a) / a^3 v x (v x u), a = |v|: Chirikjian, "Stochastic Models,
    Information Theory, and Lie Groups" vol. 2 (2012), eq. 10.85.
    """
    vx = first * unit(i, 0) + second * unit(j, 0)
    vy = first * unit(i, 1) + second * unit(j, 1)
    vz = first * unit(i, 2) + second * unit(j, 2)
    square = first * first + second * second
    a = math.sqrt(square)
    one, two = 0.5, 1.0 / 6.0
    if a > 1e-4:
        one, two = (1.0 - math.cos(a)) / square, (a - math.sin(a)) / (square * a)
    fx, fy, fz = vy * uz - vz * uy, vz * ux - vx * uz, vx * uy - vy * ux
    return (
        ux + one * fx + two * (vy * fz - vz * fy),
        uy + one * fy + two * (vz * fx - vx * fz),
        uz + one * fz + two * (vx * fy - vy * fx),
    )


def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, dx: Floats) -> None:
    """Set dx = pull + S J^T y, what is held for frozen freedoms, and 0 for those that take no part."""
    for k in range(len(s.parent)):
        low, high = s.low[k], s.high[k]
        for d in range(s.first[k], s.first[k + 1]):
            if frozen[d] or s.spread[d] == 0.0:
                dx[d] = w.held[d] if frozen[d] else 0.0
                continue
            total = 0.0
            for r in range(low, high):
                total += w.jacobian[d, r] * y[r]
            dx[d] = pull[d] + s.spread[d] * total


def less_pull(s: System, w: Work, frozen: Bools, pull: Floats, e: Floats, out: Floats) -> None:
    """Set out = e - J pull: what is left to do for the goals when the pull, and frozen freedoms, have been followed."""
    for r in range(len(e)):
        out[r] = e[r]
    for k in range(len(s.parent)):
        low, high = s.low[k], s.high[k]
        for d in range(s.first[k], s.first[k + 1]):
            wish = w.held[d] if frozen[d] else pull[d]
            if wish != 0.0 and s.spread[d] != 0.0:
                part = wish / s.spread[d]
                for r in range(low, high):
                    out[r] -= w.jacobian[d, r] * part


def freeze(s: System, w: Work, x: Floats, filling: bool) -> int:
    """Freeze the freedoms that stand at a limit and would leave it by ``w.step``; returns how many are new.

    With ``filling`` also those that only come to their limit on the way: they go as far as that, and the others make up
    for what is missing. Else their step is shortened, and the others, which count on all of it, might make it worse.

    Their share is taken out of ``w.gram``: cheaper than summing the others again.
    """
    count = 0
    for k in range(len(s.parent)):
        low, high = s.low[k], s.high[k]
        for d in range(s.first[k], s.first[k + 1]):
            if w.frozen[d]:
                continue
            step = w.step[d]
            room = x[d] - s.lower[d] if step < 0.0 else s.upper[d] - x[d]
            if step == 0.0 or room > _AT_LIMIT * s.unit[d] + (abs(step) if filling else 0.0):
                continue
            w.frozen[d] = True
            w.held[d] = math.copysign(room, step) if filling else 0.0
            count += 1
            for r in range(low, high):
                value = w.jacobian[d, r]
                for c in range(low, r + 1):
                    w.gram[r, c] -= value * w.jacobian[d, c]
    return count


def shorten(s: System, dx: Floats, x: Floats, part: float) -> None:
    """Let a freedom that would cross its limit go only ``part`` of the way to it (all the way when it is near)."""
    for d in range(len(dx)):
        room = s.upper[d] - x[d] if dx[d] > 0.0 else s.lower[d] - x[d]
        if abs(dx[d]) > abs(room):
            dx[d] = room if abs(room) < _NEAR_LIMIT * s.unit[d] else part * room


def cap(s: System, dx: Floats, most: float) -> float:
    """Scale the step so that no freedom goes farther than ``most`` of its unit; returns how far the farthest goes."""
    largest = 0.0
    for d in range(len(dx)):
        largest = max(largest, abs(dx[d]) / s.unit[d])
    if largest > most:
        for d in range(len(dx)):
            dx[d] *= most / largest
        largest = most
    return largest
