"""What is near in a pose, row by row: plain loops, which `viewer.ik.compiled.numba_engine` compiles.

`viewer.ik.contact.touching` gives the same rows in the same order with numpy. Both measure by
`viewer.ik.contact.distances`, so that their numbers are the same, too. In compiled
code the functions of single numbers at the end of this module replace numpy's in `viewer.spatial.closest`.
"""

from __future__ import annotations

import math

from viewer.ik.contact.distances import Measure, capsule_to_ball, capsule_to_box, capsule_to_capsule, capsule_to_grid
from viewer.ik.contact.volumes import BOX, ON_FLOOR, SPHERE, Near, Volumes
from viewer.spatial.checks import Floats
from viewer.spatial.closest import Triple, turn

_AND_ROUNDING = 1.0 + 1e-9


def find_near(v: Volumes, w: Near, place: Floats, spin: Floats, within: float) -> int:
    """Fill the rows of ``w`` with all gaps below some metres, and return their number.

    Args:
        v: the volumes.
        w: the rows.
        place: (K, 3) world places of the joints.
        spin: (K, 4) their world rotations.
        within: ``v.near``, or less; of pairs of small bodies not more than ``v.pair_near``.
    """
    place_capsules(v, w, place, spin)
    count = near_floor(v, w, within)
    count = near_pairs(v, w, count, within)
    count = near_objects(v, w, count, within)
    w.rows[0] = count
    return count


def triple(table: Floats, row: int) -> Triple:
    """Three numbers of a row."""
    return table[row, 0], table[row, 1], table[row, 2]


def place_capsules(v: Volumes, w: Near, place: Floats, spin: Floats) -> None:
    """World places of the ends and middles of all capsules' axes."""
    for c in range(len(v.joint)):
        k = v.joint[c]
        q = spin[k, 0], spin[k, 1], spin[k, 2], spin[k, 3]
        ax, ay, az = turn(q, triple(v.a, c), 1.0)
        bx, by, bz = turn(q, triple(v.b, c), 1.0)
        w.a[c, 0], w.a[c, 1], w.a[c, 2] = ax + place[k, 0], ay + place[k, 1], az + place[k, 2]
        w.b[c, 0], w.b[c, 1], w.b[c, 2] = bx + place[k, 0], by + place[k, 1], bz + place[k, 2]
        for i in range(3):
            w.centre[c, i] = 0.5 * (w.a[c, i] + w.b[c, i])


def axis_of(w: Near, c: int) -> Triple:
    """From the end a of a capsule's axis to its end b."""
    return w.b[c, 0] - w.a[c, 0], w.b[c, 1] - w.a[c, 1], w.b[c, 2] - w.a[c, 2]


def put(w: Near, row: int, first: int, second: int, joint: int, other: int, measure: Measure) -> None:
    """Fill one row."""
    gap, p, q, n = measure
    w.first[row], w.second[row] = first, second
    w.joints[row, 0], w.joints[row, 1] = joint, other
    w.gap[row] = gap
    w.p[row, 0], w.p[row, 1], w.p[row, 2] = p
    w.q[row, 0], w.q[row, 1], w.q[row, 2] = q
    w.n[row, 0], w.n[row, 1], w.n[row, 2] = n


def near_floor(v: Volumes, w: Near, within: float) -> int:
    """Rows of ends that are near the floor, from the first one on; returns their number."""
    count = 0
    for e in range(len(v.ends)):
        c = v.ends[e, 0]
        x, y, z = triple(w.b, c) if v.ends[e, 1] == 1 else triple(w.a, c)
        low = y - v.clearance[e]
        gap = low - v.floor[0]
        if gap < within:
            put(w, count, c, ON_FLOOR, v.joint[c], -1, (gap, (x, low, z), (x, v.floor[0], z), (0.0, 1.0, 0.0)))
            count += 1
    return count


def put_balls(v: Volumes, w: Near) -> None:
    """A ball around each chunk of capsules."""
    for h in range(len(w.ball)):
        first, end = v.chunks[h], v.chunks[h + 1]
        for i in range(3):
            total = 0.0
            for c in range(first, end):
                total += w.centre[c, i]
            w.ball[h, i] = total / (end - first)
        radius = 0.0
        for c in range(first, end):
            x, y, z = w.centre[c, 0] - w.ball[h, 0], w.centre[c, 1] - w.ball[h, 1], w.centre[c, 2] - w.ball[h, 2]
            radius = greater(radius, root(x * x + y * y + z * z) + v.reach[c])
        w.ball[h, 3] = radius


def near_pairs(v: Volumes, w: Near, count: int, within: float) -> int:
    """Rows of pairs of capsules, from ``count`` on; returns how many rows there are then."""
    if len(v.blocks) > 0:
        put_balls(v, w)
    for b in range(len(v.blocks)):
        g, h = v.blocks[b, 0], v.blocks[b, 1]
        x, y, z = w.ball[g, 0] - w.ball[h, 0], w.ball[g, 1] - w.ball[h, 1], w.ball[g, 2] - w.ball[h, 2]
        # A little more, so that rounding excludes nothing that is near.
        far = (w.ball[g, 3] + w.ball[h, 3] + within) * _AND_ROUNDING
        if x * x + y * y + z * z >= far * far:
            continue
        for k in range(v.blocks[b, 2], v.blocks[b, 3]):
            i, j = v.pairs[k, 0], v.pairs[k, 1]
            x, y, z = w.centre[i, 0] - w.centre[j, 0], w.centre[i, 1] - w.centre[j, 1], w.centre[i, 2] - w.centre[j, 2]
            near = lesser(within, v.pair_near[k])
            far = v.reach[i] + v.reach[j] + near
            if x * x + y * y + z * z >= far * far:
                continue
            measure = capsule_to_capsule(
                triple(w.a, i), axis_of(w, i), v.radius[i], triple(w.a, j), axis_of(w, j), v.radius[j]
            )
            if measure[0] < near:
                put(w, count, i, j, v.joint[i], v.joint[j], measure)
                count += 1
    return count


def near_objects(v: Volumes, w: Near, count: int, within: float) -> int:
    """Rows of capsules and objects, from ``count`` on; returns how many rows there are then."""
    for k in range(len(v.tests)):
        c, o = v.tests[k, 0], v.tests[k, 1]
        center = triple(v.object_place, o)
        x, y, z = w.centre[c, 0] - center[0], w.centre[c, 1] - center[1], w.centre[c, 2] - center[2]
        far = v.reach[c] + v.object_reach[o] + within
        if x * x + y * y + z * z >= far * far:
            continue
        p, u, radius = triple(w.a, c), axis_of(w, c), v.radius[c]
        q = v.object_turn[o, 0], v.object_turn[o, 1], v.object_turn[o, 2], v.object_turn[o, 3]
        if v.object_kind[o] == SPHERE:
            measure = capsule_to_ball(p, u, radius, center, v.object_size[o, 0])
        elif v.object_kind[o] == BOX:
            measure = capsule_to_box(p, u, radius, center, q, triple(v.object_size, o))
        else:
            shape = 1.0 * v.grid_shape[o, 0], 1.0 * v.grid_shape[o, 1], 1.0 * v.grid_shape[o, 2]
            measure = capsule_to_grid(
                p, u, radius, center, q, v.grid, v.grid_start[o], shape, triple(v.grid_low, o), v.grid_cell[o]
            )
        if measure[0] < within:
            put(w, count, c, -2 - o, v.joint[c], -1, measure)
            count += 1
    return count


def choose(condition: bool, a: float, b: float) -> float:
    """Return a where the condition holds, else b."""
    return a if condition else b


def lesser(a: float, b: float) -> float:
    """The smaller number."""
    return min(a, b)


def greater(a: float, b: float) -> float:
    """The larger number."""
    return max(a, b)


def root(a: float) -> float:
    """The square root."""
    return math.sqrt(a)


def size(a: float) -> float:
    """The absolute value."""
    return abs(a)


def whole(a: float) -> int:
    """The integer below a number that is 0 or more."""
    return int(a)
