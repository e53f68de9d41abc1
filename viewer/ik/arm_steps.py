"""The steps of an arm: hinges and slides in one chain with one goal at its end, such as a robot's tool.

A search for its pose is that of `viewer.ik.levenberg_marquardt.minimise`, from the same seeds, whose steps are those of
any figure (`viewer.ik.kernels.joints`, `viewer.ik.kernels.step`) with half of the arithmetic: only the last bits
differ. Joints that do not move are part of the bone above them, and only coordinates are moved. Both engines run this
source.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import FIXED, HINGE, SLIDE, fill_row, product, put_row, put_table, short_way, turned
from viewer.ik.kernels.dual_system import gram, solve_dual, solve_six, take_out
from viewer.ik.kernels.joints import goal_residual, put_sines, set_local, turn_by_angles
from viewer.ik.kernels.six_axes import has_closed_form, put_six_axes, take_nearest
from viewer.ik.kernels.step import AT_LIMIT, cap
from viewer.ik.system import Settings, State, System, Work
from viewer.spatial.checks import Floats


def is_arm(s: System) -> bool:
    """Whether the system is one goal for a place, a rotation or both, at the end of hinges and slides in a row."""
    if len(s.goal_kind) != 1 or len(s.leader) > 0 or len(s.contact.joint) > 0 or len(s.mass) > 0 or len(s.share) > 0:
        return False
    lengths, angles = s.goal_lengths[0], s.goal_angles[0]
    if lengths not in (0, 3) or angles not in (0, 3) or s.goal_aims[0] or s.goal_other[0] >= 0:
        return False
    for k in range(len(s.parent)):
        if s.parent[k] != k - 1 or s.moves[k] > 0 or s.form[k] not in (FIXED, HINGE, SLIDE):
            return False
    return len(s.lower) > 0


def join_bones(s: System, w: Work) -> None:
    """Put what is rigid between the joints that move, in the start pose, into ``w.bones``.

    A row for each dof, and one for the effector: the rotation (x, y, z, w) and the place of the joint at 0, the rest
    rotation included, in the frame of the one before; and 1 for a hinge. Frames are turned so that axes are their z.
    """
    qx, qy, qz, qw, px, py, pz = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    for k in range(len(s.parent)):
        form = s.form[k]
        tx, ty, tz = w.start.t[k, 0], w.start.t[k, 1], w.start.t[k, 2]
        rx, ry, rz, rw = w.start.q[k, 0], w.start.q[k, 1], w.start.q[k, 2], w.start.q[k, 3]
        if form != FIXED:
            rx, ry, rz, rw = s.rest[k, 0], s.rest[k, 1], s.rest[k, 2], s.rest[k, 3]
        if form == SLIDE:
            tx, ty, tz = s.offset[k, 0], s.offset[k, 1], s.offset[k, 2]
        tx, ty, tz = turned(qx, qy, qz, qw, tx, ty, tz)
        px, py, pz = px + tx, py + ty, pz + tz
        qx, qy, qz, qw = product(qx, qy, qz, qw, rx, ry, rz, rw)
        if form != FIXED:
            rx, ry, rz, rw = short_way(0.0, 0.0, 1.0, s.axes[k, 0, 0], s.axes[k, 0, 1], s.axes[k, 0, 2])
            qx, qy, qz, qw = product(qx, qy, qz, qw, rx, ry, rz, rw)
            put_bone(w.bones[s.first[k]], qx, qy, qz, qw, px, py, pz)
            w.bones[s.first[k], 7] = 1.0 if form == HINGE else 0.0
            qx, qy, qz, qw, px, py, pz = -rx, -ry, -rz, rw, 0.0, 0.0, 0.0
    tx, ty, tz = turned(qx, qy, qz, qw, s.goal_offset[0, 0], s.goal_offset[0, 1], s.goal_offset[0, 2])
    put_bone(w.bones[len(s.lower)], qx, qy, qz, qw, px + tx, py + ty, pz + tz)
    put_six_axes(w)


def put_bone(bone: Floats, qx: float, qy: float, qz: float, qw: float, px: float, py: float, pz: float) -> None:
    """A rotation and a place into a row."""
    bone[0], bone[1], bone[2], bone[3] = qx, qy, qz, qw
    bone[4], bone[5], bone[6] = px, py, pz


def reach_of(s: System, w: Work, x: Floats, e: Floats) -> tuple[float, float]:
    """Compute `viewer.ik.kernels.joints.residuals` of coordinates (n,); returns the squared error and the worst miss.

    Also leaves the axes of the dofs and the places of their joints in the scratch, for `linearise_arm`.
    """
    count = len(x)
    put_sines(w, x)
    qx, qy, qz, qw, px, py, pz = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    for d in range(count):
        turns = w.bones[d, 7] != 0.0
        tx, ty, tz = turned(qx, qy, qz, qw, w.bones[d, 4], w.bones[d, 5], w.bones[d, 6])
        px, py, pz = px + tx, py + ty, pz + tz
        bx, by, bz, bw = w.bones[d, 0], w.bones[d, 1], w.bones[d, 2], w.bones[d, 3]
        if turns:  # before the product, for which the next joint waits
            sine, cosine = w.sines[d], w.cosines[d]
            bx, by = bx * cosine + by * sine, by * cosine - bx * sine
            bz, bw = bz * cosine + bw * sine, bw * cosine - bz * sine
        qx, qy, qz, qw = product(qx, qy, qz, qw, bx, by, bz, bw)
        # Its z axis, which a turn about it leaves where it is.
        ax, ay, az = 2.0 * (qx * qz + qw * qy), 2.0 * (qy * qz - qw * qx), 1.0 - 2.0 * (qx * qx + qy * qy)
        if not turns:
            px, py, pz = px + x[d] * ax, py + x[d] * ay, pz + x[d] * az
        spread = s.spread[d]
        w.axes[d, 0], w.axes[d, 1], w.axes[d, 2] = spread * ax, spread * ay, spread * az
        w.hubs[d, 0], w.hubs[d, 1], w.hubs[d, 2] = px, py, pz
    bone = w.bones[count]
    tx, ty, tz = turned(qx, qy, qz, qw, bone[4], bone[5], bone[6])
    w.point[0, 0], w.point[0, 1], w.point[0, 2] = px + tx, py + ty, pz + tz
    k = s.goal_joint[0]
    w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3] = product(qx, qy, qz, qw, bone[0], bone[1], bone[2], bone[3])
    worst = goal_residual(s, w, 0, e)
    error = 0.0
    for r in range(0, len(e), 3):
        error += e[r] * e[r] + e[r + 1] * e[r + 1] + e[r + 2] * e[r + 2]
    return error, worst if error < math.inf else math.inf


def linearise_arm(s: System, w: Work) -> None:
    """Fill ``w.jacobian`` where `reach_of` was last called."""
    lengths, angles = s.goal_lengths[0], s.goal_angles[0]
    weight, rotation_weight = s.goal_weight[0], s.goal_rotation_weight[0]
    # Read once: the compiler must assume that every write to the Jacobian changes them.
    px, py, pz = w.point[0, 0], w.point[0, 1], w.point[0, 2]
    xx, xy, xz = w.by_turn[0, 0, 0], w.by_turn[0, 0, 1], w.by_turn[0, 0, 2]
    yx, yy, yz = w.by_turn[0, 1, 0], w.by_turn[0, 1, 1], w.by_turn[0, 1, 2]
    zx, zy, zz = w.by_turn[0, 2, 0], w.by_turn[0, 2, 1], w.by_turn[0, 2, 2]
    for d in range(len(s.lower)):
        turns = w.bones[d, 7]
        ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
        if lengths == 3:
            vx, vy, vz = ax, ay, az
            if turns != 0.0:
                rx, ry, rz = px - w.hubs[d, 0], py - w.hubs[d, 1], pz - w.hubs[d, 2]
                vx, vy, vz = ay * rz - az * ry, az * rx - ax * rz, ax * ry - ay * rx
            w.jacobian[d, 0], w.jacobian[d, 1], w.jacobian[d, 2] = weight * vx, weight * vy, weight * vz
        if angles == 3:
            part = turns * rotation_weight
            ax, ay, az = part * ax, part * ay, part * az
            w.jacobian[d, lengths] = xx * ax + xy * ay + xz * az
            w.jacobian[d, lengths + 1] = yx * ax + yy * ay + yz * az
            w.jacobian[d, lengths + 2] = zx * ax + zy * ay + zz * az


def solve_arm(w: Work, e: Floats, damping: float) -> None:
    """Solve the dual system into ``w.y``."""
    if len(e) == 6:
        solve_six(w.gram, e, damping, w.y)
    else:
        solve_dual(w, e, damping, w.y)


def put_arm_step(s: System, w: Work, y: Floats) -> None:
    """Set ``w.step`` = pull + S J^T y, or what is held."""
    a, b, c, i, j, k = y[0], y[1], y[2], 0.0, 0.0, 0.0
    if len(y) > 3:
        i, j, k = y[3], y[4], y[5]
    for d in range(len(s.lower)):
        total = w.jacobian[d, 0] * a + w.jacobian[d, 1] * b + w.jacobian[d, 2] * c
        # Zeros, where there are no such rows.
        total += w.jacobian[d, 3] * i + w.jacobian[d, 4] * j + w.jacobian[d, 5] * k
        held, free = w.held[d], w.pull[d] + s.spread[d] * total
        w.step[d] = held if w.frozen[d] else free


def propose_arm(s: System, w: Work, state: State, settings: Settings, damping: float, pulled: bool) -> float:
    """`viewer.ik.levenberg_marquardt.propose` with dofs that stop at their limits."""
    count, rows = len(s.lower), len(state.e)
    gram(s, w)
    fill_row(w.frozen, False)
    put_row(state.e, w.wanted)
    for d in range(count if pulled else 0):
        if w.pull[d] != 0.0 and s.spread[d] != 0.0:
            leave_out(w, d, w.pull[d] / s.spread[d])
    largest = 0.0
    for _ in range(settings.limit_passes + 1):
        solve_arm(w, w.wanted, damping)
        put_arm_step(s, w, w.y)
        largest = cap(s, w.step, settings.step_cap)
        again = False
        for d in range(count):
            step, after = w.step[d], state.x[d] + w.step[d]
            # One test decides for most dofs: a wrongly predicted branch takes as long as all the rest.
            if max(s.lower[d] - after, after - s.upper[d]) < -AT_LIMIT * s.unit[d]:
                continue
            room = state.x[d] - s.lower[d] if step < 0.0 else s.upper[d] - state.x[d]
            if room > AT_LIMIT * s.unit[d] + abs(step) or w.frozen[d] or step == 0.0:
                continue
            w.frozen[d], w.held[d], again = True, math.copysign(room, step), True
            leave_out(w, d, (w.held[d] - w.pull[d]) / s.spread[d])
            take_out(w, d, 0, rows)
        if not again:
            break
    return largest


def leave_out(w: Work, d: int, part: float) -> None:
    """Subtract the motion that a dof makes anyway, in spreads, from the residual that the step is to remove."""
    for r in range(len(w.wanted)):
        w.wanted[r] -= part * w.jacobian[d, r]


def put_way_back(s: System, w: Work, x: Floats, home: Floats) -> None:
    """Fill ``w.pull``: the whole way back to where the solve began."""
    for d in range(len(x)):
        back = home[d] - x[d]
        if s.turning[d] and s.lower[d] == -math.inf and s.upper[d] == math.inf:
            # An angle without limits goes back the short way.
            back -= 2.0 * math.pi * round(back / (2.0 * math.pi))
        w.pull[d] = back if s.spread[d] != 0.0 else 0.0


def try_arm_step(s: System, w: Work, state: State) -> tuple[float, float]:
    """Move ``trial`` by ``w.step``; returns its squared error and worst miss."""
    for d in range(len(s.lower)):
        w.trial.x[d] = min(max(state.x[d] + w.step[d], s.lower[d]), s.upper[d])
    return reach_of(s, w, w.trial.x, w.trial.e)


def take_seed(s: System, w: Work, state: State, i: int) -> None:
    """Set the coordinates that a seed stands for."""
    for d in range(len(s.lower)):
        seed = s.seeds[i, d] if s.bounded[d] else w.start.x[d] + s.seeds[i, d]
        state.x[d] = seed if s.spread[d] != 0.0 else w.start.x[d]


def put_arm(s: System, w: Work, state: State) -> None:
    """Set the local motion of the coordinates; joints that do not move stay as at the start."""
    put_table(w.start.q, state.q)
    put_table(w.start.t, state.t)
    for k in range(len(s.parent)):
        if s.form[k] == SLIDE:
            set_local(s, k, state.x, state.q, state.t)
    turn_by_angles(s, w, state.x, state.q, state.t)


def choose_seed(s: System, w: Work, state: State, begin: int, end: int) -> None:
    """`viewer.ik.levenberg_marquardt.start_anew`: the coordinates of the best of some seeds."""
    least, chosen = math.inf, begin
    for i in range(begin, end):
        take_seed(s, w, state, i)
        error, _ = reach_of(s, w, state.x, state.e)
        if error < least:
            least, chosen = error, i
    take_seed(s, w, state, chosen)


def take_closed_form(s: System, w: Work, x: Floats) -> bool:
    """Set the coordinates (6,) of the pose nearest to the start that meets the goal; False where none is known."""
    return has_closed_form(s, w) and take_nearest(s, w, w.start.x, x)
