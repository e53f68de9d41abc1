"""What is near in a pose, and the rows that keep it apart: how steps open gaps, and which steps open one.

`viewer.ik.contact.volumes` gives the same rows in the same order with numpy. Both measure by
`viewer.spatial.closest`, so that their numbers are the same, too. In compiled
code the functions of single numbers below replace numpy's in `viewer.spatial.closest`. `viewer.ik.levenberg_marquardt`
uses the rows.
"""

from __future__ import annotations

import math

from viewer.ik.contact.volumes import BOX, ON_FLOOR, SPHERE, Near, Volumes
from viewer.ik.kernels.dual_system import substitute
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats
from viewer.spatial.closest import (
    SAMPLES,
    Measure,
    Triple,
    along,
    capsule_to_ball,
    capsule_to_box,
    capsule_to_capsule,
    capsule_to_grid,
    grid_value,
    turn,
)

_AND_ROUNDING = 1.0 + 1e-9


def find_near(v: Volumes, w: Near, place: Floats, spin: Floats, within: float) -> int:
    """Fill the rows of ``w`` with all gaps below some metres, and return their number.

    ``place`` (K, 3) and ``spin`` (K, 4): world places and rotations of the joints; ``within``: ``v.near``, or less; of
    pairs of small bodies not more than ``v.pair_near``.
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


def grid_differences(grid: Floats, start: int, shape: Triple, low: Triple, cell: float, x: Triple, h: float) -> Triple:
    """As in `viewer.spatial.closest`, one after the other."""
    return (
        grid_value(grid, start, shape, low, cell, (x[0] + h, x[1], x[2]))
        - grid_value(grid, start, shape, low, cell, (x[0] - h, x[1], x[2])),
        grid_value(grid, start, shape, low, cell, (x[0], x[1] + h, x[2]))
        - grid_value(grid, start, shape, low, cell, (x[0], x[1] - h, x[2])),
        grid_value(grid, start, shape, low, cell, (x[0], x[1], x[2] + h))
        - grid_value(grid, start, shape, low, cell, (x[0], x[1], x[2] - h)),
    )


def least_sample(
    grid: Floats, start: int, shape: Triple, low: Triple, cell: float, begin: Triple, way: Triple
) -> tuple[float, float]:
    """As in `viewer.spatial.closest`, one after the other."""
    best, least = 0.0, grid_value(grid, start, shape, low, cell, begin)
    for sample in range(1, SAMPLES + 1):
        t = sample / SAMPLES
        value = grid_value(grid, start, shape, low, cell, along(begin, way, t))
        if value < least:
            best, least = t, value
    return best, least


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


CLOSER = 0.9
"""Part of a gap by which one step may close it."""
EXACT = 1e-3
"""Tolerance of a row, in units of what counts as touching."""
YIELDING = 1e-6
"""Part of the mean of the gram's diagonal that is added to it: rows that no step can satisfy give way."""


def measure_overlap(s: System, w: Work) -> None:
    """Find what overlaps in the pose of ``w.turn`` and ``w.place``: `ContactWork.overlap`."""
    find_near(s.contact, w.near, w.place, w.turn, 0.0)
    total = deepest = 0.0
    for r in range(w.near.rows[0]):
        depth = -w.near.gap[r]
        if depth > 0.0:
            total += penalty(s, w, depth)
            deepest = max(deepest, depth)
    w.contact.overlap[0] = total
    w.contact.overlap[1] = deepest / s.contact.slack[0]


def penalty(s: System, w: Work, depth: float) -> float:
    """The penalty for an overlap of some metres, beside the squared error of the goals."""
    part: float = depth / s.scale[0]
    weight: float = w.contact.weight[0]
    return weight * part * part


def note_contacts(s: System, w: Work) -> None:
    """Find what is near in the pose that `residuals` was last called with: the step begins here."""
    c, near = w.contact, w.near
    find_near(s.contact, near, w.place, w.turn, s.contact.near[0])
    c.rows[0] = near.rows[0]
    for r in range(near.rows[0]):
        c.joints[r, 0], c.joints[r, 1], c.gap[r] = near.joints[r, 0], near.joints[r, 1], near.gap[r]
        for i in range(3):
            c.p[r, i], c.q[r, i], c.n[r, i] = near.p[r, i], near.q[r, i], near.n[r, i]


def put_twists(s: System, w: Work, k: int, turning: int) -> None:
    """The twists of joint k's dofs, of whose axes those from ``turning`` on turn."""
    twist = w.contact.twist
    px, py, pz = w.place[k, 0], w.place[k, 1], w.place[k, 2]
    for d in range(s.first[k], s.first[k + 1]):
        ax, ay, az = w.axes[d, 0], w.axes[d, 1], w.axes[d, 2]
        if d < turning:
            twist[d, 0], twist[d, 1], twist[d, 2] = 0.0, 0.0, 0.0
            twist[d, 3], twist[d, 4], twist[d, 5] = ax, ay, az
        else:
            twist[d, 0], twist[d, 1], twist[d, 2] = ax, ay, az
            twist[d, 3], twist[d, 4], twist[d, 5] = py * az - pz * ay, pz * ax - px * az, px * ay - py * ax


def find_rates(s: System, w: Work) -> None:
    """Put by how much the step ``w.contact.u`` opens each gap into ``w.contact.rate``."""
    c = w.contact
    for k in range(len(s.parent)):
        p = s.parent[k]
        for i in range(6):
            c.motion[k, i] = c.motion[p, i] if p >= 0 else 0.0
        for d in range(s.first[k], s.first[k + 1]):
            if c.u[d] != 0.0:
                for i in range(6):
                    c.motion[k, i] += c.u[d] * c.twist[d, i]
    for r in range(c.rows[0]):
        rate = 0.0
        for side in range(2):
            k = c.joints[r, side]
            if k < 0:
                continue
            ox, oy, oz = c.motion[k, 0], c.motion[k, 1], c.motion[k, 2]
            x, y, z = c.p[r, 0], c.p[r, 1], c.p[r, 2]
            if side == 1:
                x, y, z = c.q[r, 0], c.q[r, 1], c.q[r, 2]
            along = (
                c.n[r, 0] * (c.motion[k, 3] + oy * z - oz * y)
                + c.n[r, 1] * (c.motion[k, 4] + oz * x - ox * z)
                + c.n[r, 2] * (c.motion[k, 5] + ox * y - oy * x)
            )
            rate += along if side == 0 else -along
        c.rate[r] = rate


def least_rate(gap: float) -> float:
    """The least by which a step has to open a gap."""
    return -gap if gap < 0.0 else -CLOSER * gap


def most_violated(s: System, w: Work) -> int:
    """The row outside the active set that ``c.rate`` violates most; -1: none."""
    c, found = w.contact, -1
    most = EXACT * s.contact.slack[0]
    for r in range(c.rows[0]):
        violation = least_rate(c.gap[r]) - c.rate[r]
        if violation > most and not c.active[r]:
            found, most = r, violation
    return found


def add_row(s: System, w: Work, at: int, row: int, damping: float) -> None:
    """Put a row into the active set, with the step that opens its gap and the entries of the gram."""
    c = w.contact
    c.chosen[at], c.active[row] = row, True
    put_column(s, w, at, row)
    held = 0.0
    for r in range(len(c.residual)):
        c.residual[r] = 0.0
    for k in range(len(s.parent)):
        for d in range(s.first[k], s.first[k + 1]):
            value = c.column[at, d]
            held += value * (w.step[d] / s.spread[d] if s.spread[d] != 0.0 else 0.0)
            if w.frozen[d]:
                c.column[at, d] = value = 0.0
            if value != 0.0:
                for r in range(s.low[k], s.high[k]):
                    c.residual[r] += w.jacobian[d, r] * value
    c.short[at] = least_rate(c.gap[row]) - held
    substitute(w, c.residual, c.dual)
    for k in range(len(s.parent)):
        for d in range(s.first[k], s.first[k + 1]):
            value = c.column[at, d]
            if not w.frozen[d]:
                for r in range(s.low[k], s.high[k]):
                    value -= w.jacobian[d, r] * c.dual[r]
            c.answer[at, d] = value / damping
    for i in range(at + 1):
        total = 0.0
        for d in range(len(w.step)):
            total += c.column[i, d] * c.answer[at, d]
        c.gram[i, at] = c.gram[at, i] = total


def put_column(s: System, w: Work, at: int, row: int) -> None:
    """Put how much each dof opens the gap of a row, in spreads."""
    c = w.contact
    for d in range(len(w.step)):
        c.column[at, d] = 0.0
    nx, ny, nz = c.n[row, 0], c.n[row, 1], c.n[row, 2]
    for side in range(2):
        k = c.joints[row, side]
        x, y, z = c.p[row, 0], c.p[row, 1], c.p[row, 2]
        if side == 1:
            x, y, z = c.q[row, 0], c.q[row, 1], c.q[row, 2]
        while k >= 0:
            for d in range(s.first[k], s.first[k + 1]):
                ox, oy, oz = c.twist[d, 0], c.twist[d, 1], c.twist[d, 2]
                along = (
                    nx * (c.twist[d, 3] + oy * z - oz * y)
                    + ny * (c.twist[d, 4] + oz * x - ox * z)
                    + nz * (c.twist[d, 5] + ox * y - oy * x)
                )
                c.column[at, d] += along if side == 0 else -along
            k = s.parent[k]


def solve_active(w: Work, count: int) -> None:
    """Find the pushes by which all rows of the active set are as open as they should be: Cholesky's method."""
    c = w.contact
    mean = 0.0
    for i in range(count):
        mean += c.gram[i, i] / count
    ridge = YIELDING * mean
    for i in range(count):
        for j in range(i + 1):
            total = c.gram[i, j] + (ridge if i == j else 0.0)
            for k in range(j):
                total -= c.factor[i, k] * c.factor[j, k]
            if i == j:
                c.factor[i, i] = max(total, ridge * YIELDING) ** 0.5
            else:
                c.factor[i, j] = total / c.factor[j, j]
    for i in range(count):
        total = c.short[i]
        for k in range(i):
            total -= c.factor[i, k] * c.push[k]
        c.push[i] = total / c.factor[i, i]
    for i in range(count - 1, -1, -1):
        total = c.push[i]
        for k in range(i + 1, count):
            total -= c.factor[k, i] * c.push[k]
        c.push[i] = total / c.factor[i, i]


def drop_row(w: Work, at: int, count: int) -> None:
    """Take a row out of the active set; the last one takes its place."""
    c, last = w.contact, count - 1
    c.active[c.chosen[at]] = False
    c.chosen[at], c.short[at] = c.chosen[last], c.short[last]
    for d in range(c.column.shape[1]):
        c.column[at, d], c.answer[at, d] = c.column[last, d], c.answer[last, d]
    for i in range(count):
        c.gram[at, i] = c.gram[last, i]
    for i in range(count):
        c.gram[i, at] = c.gram[i, last]
    c.gram[at, at] = c.gram[last, last]


def push_step(s: System, w: Work, count: int) -> None:
    """Put the goals' step with the pushes of the active set, in spreads, into ``w.contact.u``."""
    c = w.contact
    for d in range(len(w.step)):
        total = w.step[d] / s.spread[d] if s.spread[d] != 0.0 else 0.0
        for i in range(count):
            total += c.push[i] * c.answer[i, d]
        c.u[d] = total


def take_step(s: System, w: Work) -> None:
    """Let ``w.contact.u`` be the step; frozen dofs keep theirs."""
    for d in range(len(w.step)):
        if s.spread[d] != 0.0 and not w.frozen[d]:
            w.step[d] = s.spread[d] * w.contact.u[d]
