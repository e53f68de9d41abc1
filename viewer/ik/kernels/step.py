"""The Jacobian, the dual system, and what limits do to a step.

J is kept transposed, a row per dof: ``w.jacobian`` (n, M), weighted by the goals' weights and scaled by the
dofs' spreads, so that the step is dx = S J^T y with (J J^T + lambda I) y = e, S the spreads. A dof touches only
the goals below its joint: goals stand in depth-first order, so these are the rows ``low[k]`` to ``high[k]``.

Ease keeps holds from pushing joints to their limits. A dof is at ease unless it is nearer to a limit than a given part
of its range, and nearer than where the drag began. Beyond that a spring draws it back: k (excess / spread)^2, stronger
than holds pull and weaker than what is dragged does. So a joint comes to its limit where the dragged goal needs it;
where only a hold would bring it there, the hold gives way. The spring's Hessian is diagonal: it stiffens the dofs, as
if they were less mobile by a factor.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import EULER, HINGE, SLIDE, SWING_TWIST, TURNS, UNIVERSAL, product, sine_cosine, turned, unit
from viewer.ik.kernels.contact_rows import note_contacts, put_twists
from viewer.ik.kernels.dual_system import take_out
from viewer.ik.system import System, Work
from viewer.spatial.checks import Bools, Floats, Vector

AT_LIMIT, NEAR_LIMIT = 1e-9, 1e-2
"""Radians or units of length: a dof so near to a limit is at it; a step across a limit so near goes all the way."""


def linearise(s: System, w: Work, x: Floats) -> None:
    """Fill ``w.jacobian`` at the pose that `residuals` was last called with."""
    touching = len(s.contact.joint) > 0
    if touching:
        note_contacts(s, w)
    for p in range(len(s.leader)):
        k = s.leader_joint[p]
        for r in range(s.low[k], s.high[k]):  # its goals need not be below it
            w.jacobian[s.leader[p], r] = 0.0
    for k in range(len(s.parent)):
        first, end = s.first[k], s.first[k + 1]
        if first == end or (s.low[k] == s.high[k] and not touching):
            continue
        put_axes(s, w, k, x)
        # The first of them move along their axes, the others turn about them.
        turning = end if s.form[k] == SLIDE else first + s.moves[k]
        if touching:
            put_twists(s, w, k, turning)
        for g in range(s.goals_from[k], s.goals_to[k]):
            row = s.goal_row[g]
            lengths, angles, aims = s.goal_lengths[g], s.goal_angles[g], s.goal_aims[g]
            turned_by = k == s.goal_joint[g] or not s.goal_one_joint[g]
            rx, ry, rz = w.point[g, 0] - w.place[k, 0], w.point[g, 1] - w.place[k, 1], w.point[g, 2] - w.place[k, 2]
            weight, rotation_weight = s.goal_weight[g], s.goal_rotation_weight[g]
            if angles == 3 and lengths != 1 and turned_by and not aims:
                place_and_turn(w, g, row, first, turning, end, lengths, weight, rotation_weight, rx, ry, rz)
                continue
            for d in range(first, end):
                ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
                turns = d >= turning
                vx, vy, vz = ax, ay, az
                if turns:
                    vx, vy, vz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
                if lengths == 3:
                    w.jacobian[d, row] = weight * vx
                    w.jacobian[d, row + 1] = weight * vy
                    w.jacobian[d, row + 2] = weight * vz
                elif lengths == 1:
                    along = w.by_move[g, 0, 0] * vx + w.by_move[g, 0, 1] * vy + w.by_move[g, 0, 2] * vz
                    w.jacobian[d, row] = weight * along
                if s.goal_middle[g] >= 0:
                    w.jacobian[d, row] = rotation_weight * along_limb(s, w, g, k, d, turns)
                    continue
                for j in range(angles):
                    total = 0.0
                    if turns and turned_by:
                        total = w.by_turn[g, j, 0] * ax + w.by_turn[g, j, 1] * ay + w.by_turn[g, j, 2] * az
                    if aims:
                        total += w.by_move[g, j, 0] * vx + w.by_move[g, j, 1] * vy + w.by_move[g, j, 2] * vz
                    w.jacobian[d, row + lengths + j] = rotation_weight * total
        if len(s.share) > 0:
            linearise_several(s, w, k, turning)
    if len(s.leader) > 0:
        give_to_leaders(s, w)


def place_and_turn(
    w: Work,
    g: int,
    row: int,
    first: int,
    turning: int,
    end: int,
    lengths: int,
    weight: float,
    rotation_weight: float,
    rx: float,
    ry: float,
    rz: float,
) -> None:
    """The rows of a goal that sets a rotation, with or without a place, which is at r from the joint of these dofs."""
    weight = weight if lengths > 0 else 0.0
    at = row + lengths
    for d in range(first, end):
        ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
        if d >= turning:
            if lengths > 0:
                w.jacobian[d, row] = weight * (ay * rz - az * ry)
                w.jacobian[d, row + 1] = weight * (az * rx - ax * rz)
                w.jacobian[d, row + 2] = weight * (ax * ry - ay * rx)
            ax, ay, az = rotation_weight * ax, rotation_weight * ay, rotation_weight * az
            w.jacobian[d, at] = w.by_turn[g, 0, 0] * ax + w.by_turn[g, 0, 1] * ay + w.by_turn[g, 0, 2] * az
            w.jacobian[d, at + 1] = w.by_turn[g, 1, 0] * ax + w.by_turn[g, 1, 1] * ay + w.by_turn[g, 1, 2] * az
            w.jacobian[d, at + 2] = w.by_turn[g, 2, 0] * ax + w.by_turn[g, 2, 1] * ay + w.by_turn[g, 2, 2] * az
        else:
            if lengths > 0:
                w.jacobian[d, row], w.jacobian[d, row + 1] = weight * ax, weight * ay
                w.jacobian[d, row + 2] = weight * az
            w.jacobian[d, at] = w.jacobian[d, at + 1] = w.jacobian[d, at + 2] = 0.0


def give_to_leaders(s: System, w: Work) -> None:
    """Add the rows of followers' dofs to those of their leaders: the chain rule, dx = E du, with J E in place of J."""
    for p in range(len(s.leader)):
        d, f, k = s.leader[p], s.follower[p], s.follower_joint[p]
        part = s.ratio[p] * s.spread[d] / s.spread[f] if s.spread[f] != 0.0 else 0.0
        for r in range(s.low[k], s.high[k]):
            w.jacobian[d, r] += part * w.jacobian[f, r]
            w.jacobian[f, r] = 0.0


def linearise_several(s: System, w: Work, k: int, turning: int) -> None:
    """Fill the rows of the goals of several joints for the dofs of joint k; those from ``turning`` on turn."""
    before = len(s.goal_kind) - len(s.share)
    for i in range(len(s.share)):
        g, share = before + i, s.share[i, k]
        if share == 0.0:
            continue
        row, lengths = s.goal_row[g], s.goal_lengths[g]
        weight, rotation_weight = share * s.goal_weight[g], share * s.goal_rotation_weight[g]
        rx, ry, rz = w.point[g, 0] - w.place[k, 0], w.point[g, 1] - w.place[k, 1], w.point[g, 2] - w.place[k, 2]
        if s.goal_mean[g]:  # the centre of what is below the joint
            rx, ry, rz = w.moment[i, k, 0] / share, w.moment[i, k, 1] / share, w.moment[i, k, 2] / share
            rx, ry, rz = rx - w.place[k, 0], ry - w.place[k, 1], rz - w.place[k, 2]
        for d in range(s.first[k], s.first[k + 1]):
            ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
            vx, vy, vz = ax, ay, az
            if d >= turning:
                vx, vy, vz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
            for j in range(lengths):
                along = w.by_move[g, j, 0] * vx + w.by_move[g, j, 1] * vy + w.by_move[g, j, 2] * vz
                w.jacobian[d, row + j] = weight * along
            for j in range(s.goal_angles[g]):
                about = w.by_turn[g, j, 0] * ax + w.by_turn[g, j, 1] * ay + w.by_turn[g, j, 2] * az
                w.jacobian[d, row + lengths + j] = rotation_weight * about if d >= turning else 0.0


def along_limb(s: System, w: Work, g: int, k: int, d: int, turns: bool) -> float:
    """How the row of a goal about a limb answers to dof d of joint k, one above the limb's end."""
    ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
    total = 0.0
    if turns and k <= s.goal_middle[g]:
        total = w.by_turn[g, 0, 0] * ax + w.by_turn[g, 0, 1] * ay + w.by_turn[g, 0, 2] * az
    for i in range(3):
        # Joints are in depth-first order: of those above the end, the ones above the middle are before it.
        joint = s.goal_middle[g] if i == 1 else s.goal_upper[g]
        if i > 0 and k > joint:
            continue
        vx, vy, vz = ax, ay, az
        if turns:
            px, py, pz = w.point[g, 0], w.point[g, 1], w.point[g, 2]
            if i > 0:
                px, py, pz = w.place[joint, 0], w.place[joint, 1], w.place[joint, 2]
            rx, ry, rz = px - w.place[k, 0], py - w.place[k, 1], pz - w.place[k, 2]
            vx, vy, vz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
        total += w.by_move[g, i, 0] * vx + w.by_move[g, i, 1] * vy + w.by_move[g, i, 2] * vz
    return total


def put_axes(s: System, w: Work, k: int, x: Floats) -> None:
    """The world axes that the dofs of joint k turn about or move along, times their spreads, into ``w.axes``."""
    form, p, start = s.form[k], s.parent[k], s.first[k] + s.moves[k]
    for d in range(s.first[k], start):
        for i in range(3):
            w.axes[d, i] = s.spread[d] * unit(d - s.first[k], i)
    qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
    if form == TURNS:
        # The axes that its dofs turn about are turned from its own.
        qx, qy, qz, qw = product(qx, qy, qz, qw, s.basis[k, 0], s.basis[k, 1], s.basis[k, 2], s.basis[k, 3])
        for i in range(s.first[k + 1] - start):
            put_axis(s, w, start + i, turned(qx, qy, qz, qw, unit(i, 0), unit(i, 1), unit(i, 2)))
        return
    if form == HINGE:
        put_axis(s, w, start, turned(qx, qy, qz, qw, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2]))
        return
    # World rotation of the frame that the joint moves in: its parent's times its rest.
    bx, by, bz, bw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
    if p >= 0:
        bx, by, bz, bw = product(w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3], bx, by, bz, bw)
    if form == UNIVERSAL or form == SLIDE:
        put_axis(s, w, start, turned(bx, by, bz, bw, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2]))
        if form == UNIVERSAL:
            put_axis(s, w, start + 1, turned(qx, qy, qz, qw, s.axes[k, 1, 0], s.axes[k, 1, 1], s.axes[k, 1, 2]))
    elif form == EULER or form == SWING_TWIST:
        i, j, c = s.order[k, 0], s.order[k, 1], s.order[k, 2]
        ux, uy, uz, vx, vy, vz = unit(i, 0), unit(i, 1), unit(i, 2), unit(j, 0), unit(j, 1), unit(j, 2)
        if form == SWING_TWIST:
            ux, uy, uz = swing_axis(i, j, x[start], x[start + 1], ux, uy, uz)
            vx, vy, vz = swing_axis(i, j, x[start], x[start + 1], vx, vy, vz)
        ux, uy, uz = turned(bx, by, bz, bw, ux, uy, uz)
        vx, vy, vz = turned(bx, by, bz, bw, vx, vy, vz)
        if form == EULER:
            # The first angle has turned the second's axis towards the third one.
            sine, cosine = sine_cosine(x[start])
            fx, fy, fz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            vx, vy, vz = cosine * vx + sine * fx, cosine * vy + sine * fy, cosine * vz + sine * fz
        put_axis(s, w, start, (ux, uy, uz))
        put_axis(s, w, start + 1, (vx, vy, vz))
        # The angle that acts first turns about an axis of the joint's own frame.
        put_axis(s, w, start + 2, turned(qx, qy, qz, qw, unit(c, 0), unit(c, 1), unit(c, 2)))


def put_axis(s: System, w: Work, d: int, axis: Vector) -> None:
    """An axis, times its dof's spread, into ``w.axes``."""
    for i in range(3):
        w.axes[d, i] = s.spread[d] * axis[i]


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
    """Set dx = pull + S J^T y; frozen dofs get their held step, idle ones 0."""
    for d in range(len(dx)):
        dx[d] = 0.0
    for limb in range(len(s.limb_low)):
        low, high, first, end = s.limb_low[limb], s.limb_high[limb], s.limb_first[limb], s.limb_first[limb + 1]
        # Sums along rows would be short; so rows are taken by three, which nearly all goals have.
        for r in range(low, high - 2, 3):
            one, two, three = y[r], y[r + 1], y[r + 2]
            for d in range(first, end):
                dx[d] += one * w.jacobian[d, r] + two * w.jacobian[d, r + 1] + three * w.jacobian[d, r + 2]
        for r in range(high - (high - low) % 3, high):
            for d in range(first, end):
                dx[d] += y[r] * w.jacobian[d, r]
    for d in range(len(dx)):
        value = pull[d] + s.spread[d] * dx[d] if s.spread[d] != 0.0 else 0.0
        dx[d] = w.held[d] if frozen[d] else value
    for p in range(len(s.leader)):
        dx[s.follower[p]] = s.ratio[p] * dx[s.leader[p]]


def less_pull(s: System, w: Work, frozen: Bools, pull: Floats, e: Floats, out: Floats) -> None:
    """Set out = e - J pull: the residual that remains after the pull and the steps of frozen dofs."""
    for r in range(len(e)):
        out[r] = e[r]
    for k in range(len(s.parent)):
        low, high = s.low[k], s.high[k]
        for d in range(s.first[k], s.first[k + 1]):
            wanted = w.held[d] if frozen[d] else pull[d]
            if wanted != 0.0 and s.spread[d] != 0.0:
                part = wanted / s.spread[d]
                for r in range(low, high):
                    out[r] -= w.jacobian[d, r] * part


def freeze(s: System, w: Work, x: Floats, clamp_to_limit: bool) -> int:
    """Freeze the dofs that are at a limit and would leave it by ``w.step``; returns how many are new.

    With ``clamp_to_limit`` also those that reach their limit on the way: they go as far as it, and the others make up
    for the rest. Without it their step is shortened, and the others, which rely on all of it, may raise the error.

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
            if step == 0.0 or room > AT_LIMIT * s.unit[d] + (abs(step) if clamp_to_limit else 0.0):
                continue
            w.frozen[d] = True
            w.held[d] = math.copysign(room, step) if clamp_to_limit else 0.0
            count += 1
            take_out(w, d, low, high)
    return count


def shorten(s: System, dx: Floats, x: Floats, part: float) -> None:
    """Let a dof that would cross its limit go only ``part`` of the way to it (all the way when it is near)."""
    for d in range(len(dx)):
        room = s.upper[d] - x[d] if dx[d] > 0.0 else s.lower[d] - x[d]
        if abs(dx[d]) > abs(room):
            dx[d] = room if abs(room) < NEAR_LIMIT * s.unit[d] else part * room


def cap(s: System, dx: Floats, most: float) -> float:
    """Scale the step so that no dof goes farther than ``most`` of its unit; returns how far the farthest dof goes."""
    largest = 0.0
    for d in range(len(dx)):
        largest = max(largest, abs(dx[d]) / s.unit[d])
    if largest > most:
        for d in range(len(dx)):
            dx[d] *= most / largest
        largest = most
    return largest


SWING, SWINGING = 3e-4, 0.5
"""Radians or units of length that dofs swing back; and that part, at least, of what others go on (both squared)."""
LESS, MORE, LEAST = 0.5, 1.1, 0.02
"""Factors on the part of the pull that is followed, after a step that takes the last one back and after others; least.
"""


def yield_swings(s: System, w: Work) -> None:
    """Weaken the pull where a step takes back the last one, and restore it gradually where none does.

    What the goals leave free is a curve; where it is narrow, as that of a knee that is nearly straight, a pull of some
    length steps to and fro across the place where it would rest. (Signs that change tell of steps that are too long:
    Riedmiller and Braun, "A direct adaptive method for faster backpropagation learning: the RPROP algorithm", 1993.)
    """
    back, on = 0.0, 0.0
    for d in range(len(w.step)):
        product = w.step[d] * w.before[d] / s.unit[d] ** 2
        if product < 0.0:
            back -= product
        else:
            on += product
        w.before[d] = w.step[d]
    swings = back > SWING**2 and back > SWINGING * on
    w.yielding[0] = max(LEAST, LESS * w.yielding[0]) if swings else min(1.0, MORE * w.yielding[0])


STIFFNESS = 1e-1
"""K: the loss of a dof that is beyond its ease by its own spread."""


def put_excess(s: System, x: Floats, home: Floats, out: Floats) -> None:
    """How far dofs (n,) are beyond their ease, signed, into ``out``; ``home``: where the drag began."""
    for d in range(len(x)):
        out[d] = 0.0
        if s.ease[d] > 0.0 and s.spread[d] > 0.0:
            upper, lower = max(s.upper[d] - s.ease[d], home[d]), min(s.lower[d] + s.ease[d], home[d])
            out[d] = max(x[d] - upper, 0.0) + min(x[d] - lower, 0.0)


def excess_loss(w: Work, out: Floats) -> float:
    """The loss of such excesses."""
    total = 0.0
    for d in range(len(out)):
        if out[d] != 0.0:
            total += (out[d] / w.mobility[d]) ** 2
    return STIFFNESS * total


def stiffen(s: System, w: Work, damping: float) -> None:
    """Scale spreads, and rows of Jacobian and twists, of dofs beyond their ease; draw these back by ``w.pull``.

    The damped step with K = damping + k instead of damping is that of dofs less mobile by sqrt(damping / K).
    """
    for d in range(len(w.excess)):
        w.pull[d] = w.posture[d]
        if w.excess[d] == 0.0:
            continue
        share = damping / (damping + STIFFNESS)
        w.pull[d] = share * w.posture[d] - (1.0 - share) * w.excess[d]
        mobility = math.sqrt(share) * w.mobility[d]
        factor = mobility / s.spread[d]
        s.spread[d] = mobility
        for r in range(w.jacobian.shape[1]):
            w.jacobian[d, r] *= factor
        if w.contact.rows[0] > 0:
            for i in range(6):
                w.contact.twist[d, i] *= factor


def predicted_ease(w: Work) -> float:
    """By how much ``w.step`` lowers the loss of the excesses, as long as they stay excesses."""
    gain = 0.0
    for d in range(len(w.excess)):
        if w.excess[d] != 0.0:
            gain += (w.excess[d] ** 2 - (w.excess[d] + w.step[d]) ** 2) / w.mobility[d] ** 2
    return STIFFNESS * gain
