"""The start of a solve: the root is moved to fit the goals, and targets out of reach are brought nearer.

The turn that fits points to their targets is the eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix:
Horn, "Closed-form solution of absolute orientation using unit quaternions" (J. Opt. Soc. Am. A 4, 1987), section 4.

A target far out of reach pulls with a force that grows with its distance, and all steps become tiny against its error.
During the solve it is brought nearer, which changes the nearest pose by little (Buss, "Introduction to inverse
kinematics with Jacobian transpose, pseudoinverse and damped least squares methods", 2004, section 9, clamps the
residuals for this reason). What may go anywhere, roots and slides, goes there first: `viewer.ik.problems.carry`.

A chain without limits whose only target is too far for it points there at once. Steps come near that pose ever more
slowly the more joints there are, because no joint's turn brings a straight chain any nearer.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import TURNS, fill_row, product, short_way, turned, unit
from viewer.ik.goals.kind import along_of, is_flat, nearest_in_shell, outwards
from viewer.ik.kernels.joints import sets_place, sets_turn
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Quaternion

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
        if s.moves[k] == 3 and s.form[k] == TURNS and s.spread[s.first[k]] > 0.0:
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
    ax, ay, az, aw = best_turn(s, w, k)
    q[k, 0], q[k, 1], q[k, 2], q[k, 3] = product(ax, ay, az, aw, q[k, 0], q[k, 1], q[k, 2], q[k, 3])
    x, y, z = turned(ax, ay, az, aw, t[k, 0] - here[0], t[k, 1] - here[1], t[k, 2] - here[2])
    t[k, 0], t[k, 1], t[k, 2] = there[0] + x, there[1] + y, there[2] + z
    return True


def best_turn(s: System, w: Work, k: int) -> Quaternion:
    """The turn about the centroids (w.vectors[0] to w.vectors[1]) that fits the goals below joint k best."""
    here, there = w.vectors[0], w.vectors[1]
    # Sums of products of the two clouds' coordinates.
    sums = w.quaternions
    for i in range(3):
        for j in range(3):
            sums[i, j] = 0.0
    for g in range(s.goals_from[k], s.goals_to[k]):
        if sets_place(s, g):
            weight = s.goal_weight[g] * s.goal_weight[g]
            ax, ay, az = w.point[g, 0] - here[0], w.point[g, 1] - here[1], w.point[g, 2] - here[2]
            bx, by, bz = s.goal_target[g, 0] - there[0], s.goal_target[g, 1] - there[1], s.goal_target[g, 2] - there[2]
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
    # Numbers of Python, not of numpy, as the loop is also run without a compiler.
    xx, xy, xz = float(sums[0, 0]), float(sums[0, 1]), float(sums[0, 2])
    yx, yy, yz = float(sums[1, 0]), float(sums[1, 1]), float(sums[1, 2])
    zx, zy, zz = float(sums[2, 0]), float(sums[2, 1]), float(sums[2, 2])
    # Shifted so that the wanted eigenvalue is the largest in size, the power method finds its vector.
    shift = math.sqrt(xx * xx + xy * xy + xz * xz + yx * yx + yy * yy + yz * yz + zx * zx + zy * zy + zz * zz)
    shift = 1.8 * shift + 1e-12
    x, y, z, r = 0.01, 0.02, 0.03, 1.0
    wx, wy, wz, xy, zx, yz = yz - zy, zx - xz, xy - yx, xy + yx, zx + xz, yz + zy
    ww, xx, yy, zz = xx + yy + zz + shift, xx - yy - zz + shift, yy - xx - zz + shift, zz - xx - yy + shift
    for _ in range(POWERS):
        spin_w = ww * r + wx * x + wy * y + wz * z
        spin_x = wx * r + xx * x + xy * y + zx * z
        spin_y = wy * r + xy * x + yy * y + yz * z
        spin_z = wz * r + zx * x + yz * y + zz * z
        length = math.sqrt(spin_x * spin_x + spin_y * spin_y + spin_z * spin_z + spin_w * spin_w)
        x, y, z, r = spin_x / length, spin_y / length, spin_z / length, spin_w / length
    return x, y, z, r


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
        if s.moves[k] == 3 and s.form[k] == TURNS and s.spread[s.first[k]] > 0.0:
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


_FAR, _FAR_AFLOAT = 2.0, 4.0
"""Reaches of a chain: a target farther than that from its base is far out; from a root that may go there."""


def is_afloat(s: System, k: int) -> bool:
    """Whether a root is free to move."""
    return bool(s.moves[k] == 3 and s.spread[s.first[k]] > 0.0)


def far_out(s: System, t: Floats) -> bool:
    """Whether any shell is so far that the solve is to begin with `approach`; t: where the roots are."""
    for g in range(len(s.goal_kind)):
        if s.goal_has_shell[g]:
            k, limbs = s.goal_root[g], s.goal_reach[g]
            x, y, z = t[k, 0] - s.goal_target[g, 0], t[k, 1] - s.goal_target[g, 1], t[k, 2] - s.goal_target[g, 2]
            if math.sqrt(x * x + y * y + z * z) + abs(s.goal_shell[g, 0]) <= _FAR * limbs < math.inf:
                continue  # whatever its shell's form
            afloat, along = is_afloat(s, k), along_of(s, g)
            _, _, _, out = outwards(x, y, z, along, 0.0)
            if limbs == math.inf:
                limbs, afloat = chain_length(s, t, g, False), True
            reach = _FAR_AFLOAT * max(limbs, s.scale[0]) if afloat else _FAR * limbs
            if out - s.goal_shell[g, 1] > reach:
                return True
            # From inside of a wide sphere a base that stays is as far in all directions.
            if s.goal_shell[g, 0] - out > reach and (afloat or is_flat(along)):
                return True
    return False


def chain_length(s: System, t: Floats, g: int, endless: bool) -> float:
    """Metres from the root to a goal's effector along its bones, with slides at their longest; may be infinite.

    Without ``endless`` slides that have no ends count as they are at rest.
    """
    k = s.goal_joint[g]
    x, y, z = s.goal_offset[g, 0], s.goal_offset[g, 1], s.goal_offset[g, 2]
    total = math.sqrt(x * x + y * y + z * z)
    while k >= 0:
        at_rest = not endless and s.slides[k] == math.inf
        if not at_rest:
            total += s.slides[k]
        if s.parent[k] >= 0:
            x, y, z = s.offset[k, 0], s.offset[k, 1], s.offset[k, 2]
            bone = math.sqrt(x * x + y * y + z * z)
            if not at_rest:
                x, y, z = t[k, 0], t[k, 1], t[k, 2]
            total += max(bone, math.sqrt(x * x + y * y + z * z))
        k = s.parent[k]
    return total


def put_nearest(s: System, g: int, place: Floats, out: Floats) -> None:
    """The place in a goal's shell that is nearest to another (3,), into ``out`` (3,)."""
    target = (s.goal_target[g, 0], s.goal_target[g, 1], s.goal_target[g, 2])
    here, least, most = (place[0], place[1], place[2]), s.goal_shell[g, 0], s.goal_shell[g, 1]
    out[0], out[1], out[2] = nearest_in_shell(here, target, along_of(s, g), least, most)


def normalise(v: Floats) -> float:
    """Normalise a vector (3,) of any length in place and return its length; 0 stays 0."""
    largest = max(abs(v[0]), abs(v[1]), abs(v[2]))
    if not 0.0 < largest < math.inf:
        return 0.0
    x, y, z = v[0] / largest, v[1] / largest, v[2] / largest
    length = math.sqrt(x * x + y * y + z * z)
    v[0], v[1], v[2] = x / length, y / length, z / length
    return float(length * largest)


def apart(s: System, w: Work, one: int, other: int) -> float:
    """Metres between the shells of two goals: from w.vectors[0] in the one to w.vectors[1] in the other."""
    here, there = w.vectors[0], w.vectors[1]
    put_nearest(s, one, w.point[one], here)
    put_nearest(s, other, here, there)
    put_nearest(s, one, there, here)
    return put_heading(here, there, w.vectors[2])


def put_heading(here: Floats, there: Floats, out: Floats) -> float:
    """The direction from one place (3,) to another, into ``out`` (3,); returns the metres between them."""
    for i in range(3):
        out[i] = there[i] - here[i]
    return normalise(out)


def central_goal(s: System, w: Work, t: Floats, k: int) -> int:
    """The goal below a root that is nearest to the others, by weight, or -1; all that are far off are as far."""
    best, least = -1, math.inf
    for g in range(s.goals_from[k], s.goals_to[k]):
        if not (s.goal_has_shell[g] and s.goal_weight[g] > 0.0):
            continue
        cost = 0.0
        for h in range(s.goals_from[k], s.goals_to[k]):
            if s.goal_has_shell[h] and h != g:
                cost += s.goal_weight[h] ** 2 * min(apart(s, w, g, h), farthest_apart(s, t, g, h))
        if cost < least:
            best, least = g, cost
    return best


def farthest_apart(s: System, t: Floats, g: int, h: int) -> float:
    """Metres between the shells of two goals of a root from which on its limbs do not reach both at a time."""
    return _FAR * (chain_length(s, t, g, True) + chain_length(s, t, h, True))


def put_near(s: System, w: Work, t: Floats, k: int, centre: int, scales: Floats) -> float:
    """Set ``scales`` (m,) to 1 for the rows of places below a root that are near its central goal, else 0.

    ``centre`` is that goal; -1: all are near.

    Returns:
        The most metres from the root to the effector of such a goal; slides without ends count as they are at rest.
    """
    fill_row(scales, 0.0)
    longest = 0.0
    for g in range(s.goals_from[k], s.goals_to[k]):
        if s.goal_has_shell[g] and (centre < 0 or apart(s, w, centre, g) <= farthest_apart(s, t, centre, g)):
            longest = max(longest, chain_length(s, t, g, False))
            for r in range(s.goal_row[g], s.goal_row[g] + s.goal_lengths[g]):
                scales[r] = 1.0
    return longest


def draw_nearer(s: System, w: Work, k: int, centre: int, t: Floats) -> None:
    """Take the targets below a root nearer whose shells are far out, seen from its base or from its central goal's.

    ``centre`` is that goal, or -1.
    """
    here, there, way = w.vectors[0], w.vectors[1], w.vectors[2]
    for g in range(s.goals_from[k], s.goals_to[k]):
        if not s.goal_has_shell[g] or g == centre:
            continue
        # Between spheres, the least squares of the solve find the better place.
        if centre >= 0 and s.goal_shell[g, 1] > 0.0 and not is_flat(along_of(s, g)):
            continue
        if centre >= 0:
            most, far = farthest_apart(s, t, centre, g), apart(s, w, centre, g)
        else:
            for i in range(3):
                here[i] = t[k, i]
            put_nearest(s, g, here, there)
            most, far = _FAR * chain_length(s, t, g, True), put_heading(here, there, way)
        if far > most:
            for i in range(3):
                s.goal_target[g, i] = here[i] + most * way[i] + (s.goal_target[g, i] - there[i])


def went(s: System, place: Floats, turn: Floats) -> float:
    """The largest change of targets (G, 3) and (G, 4) since the last call, in units of length or radians."""
    most = 0.0
    for g in range(len(s.goal_kind)):
        moved, here, opposite = 0.0, 0.0, 0.0
        for i in range(3):
            moved += (place[g, i] - s.goal_target[g, i]) ** 2
        for i in range(4):
            here += (turn[g, i] - s.goal_rotation[g, i]) ** 2
            opposite += (turn[g, i] + s.goal_rotation[g, i]) ** 2
        moved, turned = math.sqrt(moved) / s.scale[0], 2.0 * math.sqrt(min(here, opposite))
        # Turns that a goal does not have are NaN.
        most = max(most, moved, 0.0 if math.isnan(turned) else turned)
    return most


_BEYOND = 1.0 + 1e-9
"""Reaches beyond which a target is out of reach even with rounding."""


def is_chain(s: System) -> bool:
    """Whether there is only one goal, a position, and its root does not move."""
    return (
        len(s.goal_kind) == 1
        and sets_place(s, 0)
        and s.goal_angles[0] == 0
        and not is_afloat(s, s.goal_root[0])
        and len(s.leader) == 0
    )


def stretch(s: System, w: Work, q: Floats, t: Floats) -> bool:
    """Straighten a chain that cannot reach its target towards it, in place; False if it can, or if limits apply.

    The pose is the one that `residuals` was last called with; afterwards the scratch's is another.
    """
    ahead = w.vectors[1]
    for i in range(3):
        ahead[i] = s.goal_target[0, i]
    reach = span(s, w)
    k = s.goal_joint[0]
    base = -1
    while k >= 0:
        if is_ball(s, k):
            base = k
        k = s.parent[k]
    if base < 0 or reach == math.inf:
        return False
    for i in range(3):
        ahead[i] -= w.place[base, i]
    if not reach * _BEYOND < normalise(ahead) < math.inf:
        return False
    point_ahead(s, w)
    k = s.goal_joint[0]
    while k >= 0:
        if is_ball(s, k):
            # The frame that it turns in: of what is rigid above it, and of the next ball.
            x, y, z, r = 0.0, 0.0, 0.0, 1.0
            p = s.parent[k]
            while p >= 0 and not is_ball(s, p):
                x, y, z, r = product(q[p, 0], q[p, 1], q[p, 2], q[p, 3], x, y, z, r)
                p = s.parent[p]
            if p >= 0:
                x, y, z, r = product(w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3], x, y, z, r)
            x, y, z, r = product(-x, -y, -z, r, w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3])
            length = math.sqrt(x * x + y * y + z * z + r * r)
            q[k, 0], q[k, 1], q[k, 2], q[k, 3] = x / length, y / length, z / length, r / length
        k = s.parent[k]
    return True


def is_ball(s: System, k: int) -> bool:
    """Whether a joint is a ball without limits."""
    d = s.first[k]
    if s.form[k] != TURNS or s.moves[k] > 0:
        return False
    return bool(s.spread[d] > 0.0 and s.spread[d + 1] > 0.0 and s.spread[d + 2] > 0.0)


def span(s: System, w: Work) -> float:
    """Length of the straight chain in metres; infinite if it has joints other than balls."""
    k = s.goal_joint[0]
    x, y, z = w.point[0, 0], w.point[0, 1], w.point[0, 2]
    total = 0.0
    while k >= 0:
        if is_ball(s, k):
            dx, dy, dz = x - w.place[k, 0], y - w.place[k, 1], z - w.place[k, 2]
            total += math.sqrt(dx * dx + dy * dy + dz * dz)
            x, y, z = w.place[k, 0], w.place[k, 1], w.place[k, 2]
        else:
            for d in range(s.first[k], s.first[k + 1]):
                if s.spread[d] > 0.0 and s.upper[d] > s.lower[d]:
                    return math.inf
        k = s.parent[k]
    return total


def point_ahead(s: System, w: Work) -> None:
    """Turn the balls' frames in the scratch, each the short way, so that the next ball is in the direction ahead."""
    ahead, along = w.vectors[1], w.vectors[2]
    k = s.goal_joint[0]
    x, y, z = w.point[0, 0], w.point[0, 1], w.point[0, 2]
    while k >= 0:
        if is_ball(s, k):
            along[0], along[1], along[2] = x - w.place[k, 0], y - w.place[k, 1], z - w.place[k, 2]
            x, y, z = w.place[k, 0], w.place[k, 1], w.place[k, 2]
            if normalise(along) > 0.0:
                ax, ay, az, aw = short_way(along[0], along[1], along[2], ahead[0], ahead[1], ahead[2])
                ax, ay, az, aw = product(ax, ay, az, aw, w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3])
                w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3] = ax, ay, az, aw
        k = s.parent[k]
