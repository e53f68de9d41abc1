"""Places the root at the start of a solve or restart: the posed figure moves as one rigid body to fit the goals best.

The turn that fits points to their targets is the eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix:
Horn, "Closed-form solution of absolute orientation using unit quaternions" (J. Opt. Soc. Am. A 4, 1987), section 4.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import TURNS, product, turned, unit
from viewer.ik.kernels.forward import sets_place, sets_turn
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats

POWERS = 40
"""Power iterations: the fit need not be exact, because the solve continues from it."""
FEWEST = 3
"""Position goals that suffice to locate a body."""
LEVER = 0.3
"""Metres at which a rotation's weight counts as a position's."""


def align_roots(s: System, w: Work, q: Floats, t: Floats, fewest: int) -> bool:
    """Turn and move every free root, in place, so that the goals below it fit best, from where `residuals` saw them.

    A root with fewer positions than ``fewest``, or with fewer than two goals, stays. Returns whether any was moved.
    """
    moved = False
    for k in range(len(s.parent)):
        if s.parent[k] < 0 and s.moves[k] == 3 and s.form[k] == TURNS and s.spread[s.first[k]] > 0.0:
            moved = align_root(s, w, k, q, t, fewest) or moved
    return moved


def align_root(s: System, w: Work, k: int, q: Floats, t: Floats, fewest: int) -> bool:
    """As `align_roots`, for one root."""
    here, there = w.vectors[0], w.vectors[1]
    total = 0.0
    turns = places = 0
    for i in range(3):
        here[i] = there[i] = 0.0
    for g in range(s.goals_from[k], s.goals_to[k]):
        if sets_turn(s, g):
            turns += 1
        if sets_place(s, g):
            weight = s.goal_weight[g] * s.goal_weight[g]
            total += weight
            places += 1
            for i in range(3):
                here[i] += weight * w.point[g, i]
                there[i] += weight * s.goal_target[g, i]
    if total == 0.0 or places + turns < 2 or places < fewest:
        return False
    for i in range(3):
        here[i] /= total
        there[i] /= total
    turn = w.quaternions[3]
    best_turn(s, w, k, turn)
    ax, ay, az, aw = turn[0], turn[1], turn[2], turn[3]
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = product(ax, ay, az, aw, q[k, 0], q[k, 1], q[k, 2], q[k, 3])
    x, y, z = turned(ax, ay, az, aw, t[k, 0] - here[0], t[k, 1] - here[1], t[k, 2] - here[2])
    t[k, 0], t[k, 1], t[k, 2] = there[0] + x, there[1] + y, there[2] + z
    return True


def best_turn(s: System, w: Work, k: int, turn: Floats) -> None:
    """The turn about the centroids (w.vectors[0] to w.vectors[1]) that fits the goals below joint k best."""
    here, there = w.vectors[0], w.vectors[1]
    # Sums of products of the two clouds' coordinates.
    sums = w.quaternions
    for i in range(3):
        for j in range(3):
            sums[i, j] = 0.0
    spin_x = spin_y = spin_z = spin_w = 0.0
    for g in range(s.goals_from[k], s.goals_to[k]):
        if sets_place(s, g):
            weight = s.goal_weight[g] * s.goal_weight[g]
            ax, ay, az = w.point[g, 0] - here[0], w.point[g, 1] - here[1], w.point[g, 2] - here[2]
            bx, by, bz = (
                s.goal_target[g, 0] - there[0],
                s.goal_target[g, 1] - there[1],
                s.goal_target[g, 2] - there[2],
            )
            add_products(sums, weight, ax, ay, az, bx, by, bz)
        if sets_turn(s, g):
            # An effector's three axes are points at a lever's length.
            weight = s.goal_rotation_weight[g] * LEVER
            weight *= weight
            for i in range(3):
                h, r = w.turn[s.goal_joint[g]], s.goal_rotation[g]
                ax, ay, az = turned(h[0], h[1], h[2], h[3], unit(i, 0), unit(i, 1), unit(i, 2))
                bx, by, bz = turned(r[0], r[1], r[2], r[3], unit(i, 0), unit(i, 1), unit(i, 2))
                add_products(sums, weight, ax, ay, az, bx, by, bz)
    xx, xy, xz = sums[0, 0], sums[0, 1], sums[0, 2]
    yx, yy, yz = sums[1, 0], sums[1, 1], sums[1, 2]
    zx, zy, zz = sums[2, 0], sums[2, 1], sums[2, 2]
    # Shifted so that the wanted eigenvalue is the largest in size, the power method finds its vector.
    shift = math.sqrt(xx * xx + xy * xy + xz * xz + yx * yx + yy * yy + yz * yz + zx * zx + zy * zy + zz * zz)
    shift = 1.8 * shift + 1e-12
    turn[0], turn[1], turn[2], turn[3] = 0.01, 0.02, 0.03, 1.0
    for _ in range(POWERS):
        x, y, z, r = turn[0], turn[1], turn[2], turn[3]
        spin_w = (xx + yy + zz + shift) * r + (yz - zy) * x + (zx - xz) * y + (xy - yx) * z
        spin_x = (yz - zy) * r + (xx - yy - zz + shift) * x + (xy + yx) * y + (zx + xz) * z
        spin_y = (zx - xz) * r + (xy + yx) * x + (yy - xx - zz + shift) * y + (yz + zy) * z
        spin_z = (xy - yx) * r + (zx + xz) * x + (yz + zy) * y + (zz - xx - yy + shift) * z
        length = math.sqrt(spin_x * spin_x + spin_y * spin_y + spin_z * spin_z + spin_w * spin_w)
        turn[0], turn[1], turn[2], turn[3] = spin_x / length, spin_y / length, spin_z / length, spin_w / length


def add_products(sums: Floats, weight: float, ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> None:
    """Add the products of two points' coordinates to the sums (3, 3): a row per coordinate of a, weighted."""
    sums[0, 0] += weight * ax * bx
    sums[0, 1] += weight * ax * by
    sums[0, 2] += weight * ax * bz
    sums[1, 0] += weight * ay * bx
    sums[1, 1] += weight * ay * by
    sums[1, 2] += weight * ay * bz
    sums[2, 0] += weight * az * bx
    sums[2, 1] += weight * az * by
    sums[2, 2] += weight * az * bz


def stand_roots(s: System, w: Work, q: Floats, t: Floats) -> None:
    """Turn every free root about the vertical and move it, in place, so that the goals below it fit best.

    The pose is the one that `residuals` was last called with.

    In the plane the turn of least squares has a closed form: Horn (1987), section 5. Fewer than `FEWEST` positions do
    not locate a body: the limbs reach them.
    """
    for k in range(len(s.parent)):
        if s.parent[k] < 0 and s.moves[k] == 3 and s.form[k] == TURNS and s.spread[s.first[k]] > 0.0:
            stand_root(s, w, k, q, t)


def stand_root(s: System, w: Work, k: int, q: Floats, t: Floats) -> None:
    """As `stand_roots`, for one root."""
    here, there = w.vectors[0], w.vectors[1]
    total = sine = cosine = 0.0
    count = 0
    for i in range(3):
        here[i] = there[i] = 0.0
    for again in range(2):
        for g in range(s.goals_from[k], s.goals_to[k]):
            if not sets_place(s, g):
                continue
            weight = s.goal_weight[g] * s.goal_trust[g]
            weight *= weight
            if again == 0:
                total += weight
                count += 1
                for i in range(3):
                    here[i] += weight * w.point[g, i]
                    there[i] += weight * s.goal_target[g, i]
            else:
                ax, az = w.point[g, 0] - here[0], w.point[g, 2] - here[2]
                bx, bz = s.goal_target[g, 0] - there[0], s.goal_target[g, 2] - there[2]
                sine += weight * (az * bx - ax * bz)
                cosine += weight * (ax * bx + az * bz)
        if count < FEWEST or total == 0.0:
            return
        if again == 0:
            for i in range(3):
                here[i] /= total
                there[i] /= total
    angle = math.atan2(sine, cosine)
    y, r = math.sin(0.5 * angle), math.cos(0.5 * angle)
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = product(0.0, y, 0.0, r, q[k, 0], q[k, 1], q[k, 2], q[k, 3])
    mx, my, mz = turned(0.0, y, 0.0, r, t[k, 0] - here[0], t[k, 1] - here[1], t[k, 2] - here[2])
    t[k, 0], t[k, 1], t[k, 2] = there[0] + mx, there[1] + my, there[2] + mz
