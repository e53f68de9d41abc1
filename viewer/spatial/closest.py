"""Closest points of segments, points and boxes; how far capsules are from bodies: for numbers and for arrays.

A vector here is a tuple of its three components, each a number or an array; arrays of one shape give answers of that
shape, element by element. There are no branches: `choose` takes one of two values. Compiled code runs this very source
on numbers, with a `choose` of its own (`viewer.ik.kernels.contact_rows`), and gives the same bits.

Sources: C. Ericson, Real-Time Collision Detection (2005), 5.1.2 and 5.1.9; the box is solved exactly, because the slope
of the squared distance along a segment is piecewise linear and rises.

A capsule is the segment from p to p + u with a radius. Each measure is a `Measure`: gap, metres, negative where they
overlap; the two points where the surfaces are nearest, world frame; and the unit normal from the other to the capsule,
along which the gap grows.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from viewer.spatial.checks import Floats

Number: TypeAlias = Any
"""A float, or an array of them."""
Triple: TypeAlias = tuple[Number, Number, Number]

PARALLEL = 1e-12
"""Squared sine of the angle between two segments that count as parallel: their overlap then touches in its middle."""
TINY = 1e-12
"""Points nearer than this, in parts of their segments' lengths, are one: their difference has no direction."""

lesser, greater, root, size = np.minimum, np.maximum, np.sqrt, np.abs

Measure: TypeAlias = tuple[Number, Triple, Triple, Triple]
Turn: TypeAlias = tuple[Number, Number, Number, Number]

SAMPLES = 48
"""Points of a capsule's axis whose distance is read from a grid, before the minimum is refined."""
NARROWINGS = 8
"""Bisections of the interval of the least distance."""
APPROACHES = 3
"""Alternations between the nearest points of an axis outside a grid and of the surface inside."""


def choose(condition: Number, a: Number, b: Number) -> Number:
    """Return a where the condition holds, else b."""
    return np.where(condition, a, b)


def clamp(value: Number) -> Number:
    """The value, within 0 and 1."""
    return lesser(greater(value, 0.0), 1.0)


def dot(a: Triple, b: Triple) -> Number:
    """Sum of the products of the components."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Triple, b: Triple) -> Triple:
    """The vector product a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def minus(a: Triple, b: Triple) -> Triple:
    """The difference a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def along(point: Triple, way: Triple, part: Number) -> Triple:
    """The point after that part of the way."""
    return point[0] + part * way[0], point[1] + part * way[1], point[2] + part * way[2]


def turn(q: tuple[Number, Number, Number, Number], v: Triple, sign: float) -> Triple:
    """The vector turned by a unit quaternion (x, y, z, w), or back by it with a sign of -1."""
    x, y, z, w = q[0], q[1], q[2], sign * q[3]
    tx, ty, tz = 2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])
    return v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx


def segment_segment(p: Triple, u: Triple, q: Triple, v: Triple) -> tuple[Number, Number]:
    """Where the segments p .. p + u and q .. q + v are nearest to each other, as parts 0 .. 1 of u and v.

    Segments of no length are points. Parallel ones touch in the middle of where they overlap.
    """
    r = minus(p, q)
    a, e, b, c, f = dot(u, u), dot(v, v), dot(u, v), dot(u, r), dot(v, r)
    by_a, by_e = 1.0 / choose(a > 0.0, a, 1.0), 1.0 / choose(e > 0.0, e, 1.0)
    across = a * e - b * b
    skew = across > PARALLEL * a * e
    overlap = 0.5 * (clamp(-c * by_a) + clamp((b - c) * by_a))
    s = choose(skew, clamp((b * f - c * e) / choose(skew, across, 1.0)), overlap)
    free = (b * s + f) * by_e
    t = clamp(free)
    return choose(free == t, s, clamp((b * t - c) * by_a)), t


def segment_point(p: Triple, u: Triple, point: Triple) -> Number:
    """Where the segment p .. p + u is nearest to a point, as a part 0 .. 1 of u."""
    square = dot(u, u)
    return clamp(dot(minus(point, p), u) / choose(square > 0.0, square, 1.0))


def direction(apart: Triple, u: Triple, v: Triple) -> tuple[Triple, Number]:
    """Unit vector along ``apart``, and its length; where it has none, one across both segments u and v.

    Segments that cross part at right angles to both; parallel ones, or points, at right angles to the first, or up.
    """
    length = root(dot(apart, apart))
    both = dot(u, u) * dot(v, v)
    far = length > TINY * (root(dot(u, u)) + root(dot(v, v)))
    n = cross(u, v)
    crossing = dot(n, n) > PARALLEL * both
    flat = size(u[0]) > size(u[2])
    aside = choose(flat, -u[1], 0.0), choose(flat, u[0], -u[2]), choose(flat, 0.0, u[1])
    n = choose(crossing, n[0], aside[0]), choose(crossing, n[1], aside[1]), choose(crossing, n[2], aside[2])
    square = dot(n, n)
    some = square > 0.0
    n = choose(some, n[0], 0.0), choose(some, n[1], 1.0), choose(some, n[2], 0.0)
    by = 1.0 / choose(far, length, root(choose(some, square, 1.0)))
    return (
        choose(far, apart[0], n[0]) * by,
        choose(far, apart[1], n[1]) * by,
        choose(far, apart[2], n[2]) * by,
    ), length


def _slope(p: Triple, u: Triple, half: Triple, t: Number) -> Number:
    """Half the slope, along u, of the squared distance from p + t u to the box."""
    x = along(p, u, t)
    return (
        u[0] * (x[0] - lesser(greater(x[0], -half[0]), half[0]))
        + u[1] * (x[1] - lesser(greater(x[1], -half[1]), half[1]))
        + u[2] * (x[2] - lesser(greater(x[2], -half[2]), half[2]))
    )


def segment_box(p: Triple, u: Triple, half: Triple) -> Number:
    """Where the segment p .. p + u is nearest to a box of half sizes about 0, as a part 0 .. 1 of u.

    The slope rises and is linear between the places where a component passes a face: the two of these, or ends, about
    its zero give that by one division. A segment that passes through the box gives the middle of what is inside.
    """
    low, high = 0.0 * p[0], 0.0 * p[0] + 1.0
    at_low, at_high = _slope(p, u, half, low), _slope(p, u, half, high)
    for axis in range(3):
        by = 1.0 / choose(u[axis] == 0.0, 1.0, u[axis])
        for side in range(2):
            t = clamp(((2.0 * side - 1.0) * half[axis] - p[axis]) * by)
            slope = _slope(p, u, half, t)
            below, above = (slope <= 0.0) & (t > low), (slope >= 0.0) & (t < high)
            low, at_low = choose(below, t, low), choose(below, slope, at_low)
            high, at_high = choose(above, t, high), choose(above, slope, at_high)
    rise = at_high - at_low
    rises = rise > 0.0
    return choose(
        rises,
        low + (high - low) * clamp(-at_low / choose(rises, rise, 1.0)),
        choose(at_low == 0.0, 0.5 * (low + high), low),
    )


def box_overlap(p: Triple, u: Triple, half: Triple) -> tuple[Number, Number, Triple]:
    """How to part the segment p .. p + u from a box of half sizes about 0 that it passes through, the shortest way.

    The box grown by the segment has faces across its own axes and across each axis and the segment: the face that is
    nearest to the origin tells (S. Gottschalk and others, "OBBTree", SIGGRAPH 1996, has these axes).

    Returns:
        The part 0 .. 1 of u that is to leave by that face; the way there, 0 or negative; the face's unit normal.
    """
    way, t = 0.0 * p[0] - np.inf, 0.0 * p[0]
    nx, ny, nz = t, t, t
    for axis in range(3):
        end = p[axis] + u[axis]
        up, down = lesser(p[axis], end) - half[axis], -greater(p[axis], end) - half[axis]
        rises = up >= down
        over, sign = choose(rises, up, down), choose(rises, 1.0, -1.0)
        slope = sign * u[axis]
        better = over > way
        way = choose(better, over, way)
        t = choose(better, choose(slope > 0.0, 0.0, choose(slope < 0.0, 1.0, 0.5)), t)
        nx = choose(better, sign * (axis == 0), nx)
        ny = choose(better, sign * (axis == 1), ny)
        nz = choose(better, sign * (axis == 2), nz)
    for axis in range(3):
        j, k = (axis + 1) % 3, (axis + 2) % 3
        square = u[j] * u[j] + u[k] * u[k]
        some = square > PARALLEL * dot(u, u)
        by = 1.0 / root(choose(some, square, 1.0))
        nj, nk = u[k] * by, -u[j] * by
        level, reach = p[j] * nj + p[k] * nk, half[j] * size(nj) + half[k] * size(nk)
        sign = choose(level >= 0.0, 1.0, -1.0)
        over, nj, nk = sign * level - reach, sign * nj, sign * nk
        # The edge of the box that the segment leaves by.
        cj, ck = choose(nj < 0.0, -half[j], half[j]), choose(nk < 0.0, -half[k], half[k])
        part = clamp(((cj - p[j]) * u[j] + (ck - p[k]) * u[k]) * by * by)
        better = some & (over > way)
        way, t = choose(better, over, way), choose(better, part, t)
        nx = choose(better, nj * (j == 0) + nk * (k == 0), nx)
        ny = choose(better, nj * (j == 1) + nk * (k == 1), ny)
        nz = choose(better, nj * (j == 2) + nk * (k == 2), nz)
    return t, way, (nx, ny, nz)


def planes(rows: Floats) -> Triple:
    """The components (...) of vectors (..., 3), as this module takes them."""
    return rows[..., 0], rows[..., 1], rows[..., 2]


def segment_distances(p: Floats, u: Floats, q: Floats, v: Floats) -> Floats:
    """Distances (...) between segments p .. p + u and q .. q + v, all (..., 3), metres."""
    s, t = segment_segment(planes(p), planes(u), planes(q), planes(v))
    apart = minus(along(planes(p), planes(u), s), along(planes(q), planes(v), t))
    return np.asarray(root(dot(apart, apart)))


def whole(value: Number) -> Number:
    """The integer below a number that is 0 or more."""
    return np.asarray(value).astype(np.intp)


def capsule_to_capsule(p: Triple, u: Triple, radius: Number, q: Triple, v: Triple, other: Number) -> Measure:
    """Between capsules of two radii."""
    s, t = segment_segment(p, u, q, v)
    x, y = along(p, u, s), along(q, v, t)
    n, length = direction(minus(x, y), u, v)
    return length - radius - other, along(x, n, -radius), along(y, n, other), n


def capsule_to_ball(p: Triple, u: Triple, radius: Number, center: Triple, other: Number) -> Measure:
    """Between a capsule and a ball."""
    x = along(p, u, segment_point(p, u, center))
    n, length = direction(minus(x, center), u, (0.0 * u[0], 0.0 * u[0], 0.0 * u[0]))
    return length - radius - other, along(x, n, -radius), along(center, n, other), n


def capsule_to_box(p: Triple, u: Triple, radius: Number, center: Triple, q: Turn, half: Triple) -> Measure:
    """Between a capsule and a box of half sizes, turned by q; the shortest way out where the axis is inside."""
    start, way = turn(q, minus(p, center), -1.0), turn(q, u, -1.0)
    near = segment_box(start, way, half)
    x = along(start, way, near)
    apart = (
        x[0] - lesser(greater(x[0], -half[0]), half[0]),
        x[1] - lesser(greater(x[1], -half[1]), half[1]),
        x[2] - lesser(greater(x[2], -half[2]), half[2]),
    )
    length = root(dot(apart, apart))
    inside = length == 0.0
    deep, back, face = box_overlap(start, way, half)
    by = 1.0 / choose(inside, 1.0, length)
    n = (
        choose(inside, face[0], apart[0] * by),
        choose(inside, face[1], apart[1] * by),
        choose(inside, face[2], apart[2] * by),
    )
    return _placed(p, u, radius, choose(inside, deep, near), choose(inside, back, length), turn(q, n, 1.0))


def _placed(p: Triple, u: Triple, radius: Number, t: Number, distance: Number, n: Triple) -> Measure:
    """The measure of a capsule whose axis has its least distance to a surface at part t, along n."""
    x = along(p, u, t)
    return distance - radius, along(x, n, -radius), along(x, n, -distance), n


def grid_value(grid: Floats, start: Number, shape: Triple, low: Triple, cell: Number, x: Triple) -> Number:
    """Signed distance (m) at x by the eight values around it; outside the grid that of its edge and the way there."""
    gx, gy, gz = (x[0] - low[0]) / cell, (x[1] - low[1]) / cell, (x[2] - low[2]) / cell
    cx = lesser(greater(gx, 0.0), shape[0] - 1.0)
    cy = lesser(greater(gy, 0.0), shape[1] - 1.0)
    cz = lesser(greater(gz, 0.0), shape[2] - 1.0)
    i, j, k = whole(lesser(cx, shape[0] - 2.0)), whole(lesser(cy, shape[1] - 2.0)), whole(lesser(cz, shape[2] - 2.0))
    fx, fy, fz = cx - i, cy - j, cz - k
    line, plane = whole(shape[2]), whole(shape[1] * shape[2])
    at = start + i * plane + j * line + k
    low_low = grid[at] * (1.0 - fz) + grid[at + 1] * fz
    low_high = grid[at + line] * (1.0 - fz) + grid[at + line + 1] * fz
    high_low = grid[at + plane] * (1.0 - fz) + grid[at + plane + 1] * fz
    high_high = grid[at + plane + line] * (1.0 - fz) + grid[at + plane + line + 1] * fz
    value = (low_low * (1.0 - fy) + low_high * fy) * (1.0 - fx) + (high_low * (1.0 - fy) + high_high * fy) * fx
    outside = gx - cx, gy - cy, gz - cz
    return value + cell * root(dot(outside, outside))


def grid_differences(
    grid: Floats, start: Number, shape: Triple, low: Triple, cell: Number, x: Triple, h: Number
) -> Triple:
    """By axis, the distance h ahead of x less that h behind it: for arrays, all six at once."""
    by = np.eye(3).reshape(3, 3, *[1] * np.ndim(x[0])) * h
    ahead = grid_value(grid, start, shape, low, cell, (x[0] + by[0], x[1] + by[1], x[2] + by[2]))
    behind = grid_value(grid, start, shape, low, cell, (x[0] - by[0], x[1] - by[1], x[2] - by[2]))
    a, b, c = ahead - behind
    return a, b, c


def least_sample(
    grid: Floats, start: Number, shape: Triple, low: Triple, cell: Number, begin: Triple, way: Triple
) -> tuple[Number, Number]:
    """The part of a way, in equal steps, at which the distance is least, and that: for arrays, all steps at once."""
    steps = np.arange(SAMPLES + 1.0).reshape(-1, *[1] * np.ndim(begin[0])) / SAMPLES
    values = grid_value(grid, start, shape, low, cell, along(begin, way, steps))
    return values.argmin(axis=0) / SAMPLES, values.min(axis=0)


def grid_slope(grid: Floats, start: Number, shape: Triple, low: Triple, cell: Number, x: Triple) -> Triple:
    """The unit vector along which the distance grows at x; up where it does not."""
    slope = grid_differences(grid, start, shape, low, cell, x, 0.5 * cell)
    length = root(dot(slope, slope))
    steep = length > 1e-9 * cell
    by = 1.0 / choose(steep, length, 1.0)
    return choose(steep, slope[0] * by, 0.0), choose(steep, slope[1] * by, 1.0), choose(steep, slope[2] * by, 0.0)


def into_grid(shape: Triple, low: Triple, cell: Number, inner: Triple, x: Triple) -> Triple:
    """The last place that is half a cell inside a grid on the way from a place inside it to x."""
    way = minus(x, inner)
    part = 1.0 + 0.0 * x[0]
    for axis in range(3):
        first, last = low[axis] + 0.5 * cell, low[axis] + cell * (shape[axis] - 1.5)
        moves = size(way[axis]) > 0.0
        by = 1.0 / choose(moves, way[axis], 1.0)
        part = choose(moves, lesser(part, greater((first - inner[axis]) * by, (last - inner[axis]) * by)), part)
    return along(inner, way, greater(part, 0.0))


def beside_grid(shape: Triple, low: Triple, cell: Number, x: Triple) -> Triple:
    """The place nearest to x that is half a cell inside a grid."""
    return (
        lesser(greater(x[0], low[0] + 0.5 * cell), low[0] + cell * (shape[0] - 1.5)),
        lesser(greater(x[1], low[1] + 0.5 * cell), low[1] + cell * (shape[1] - 1.5)),
        lesser(greater(x[2], low[2] + 0.5 * cell), low[2] + cell * (shape[2] - 1.5)),
    )


def capsule_to_grid(
    p: Triple,
    u: Triple,
    radius: Number,
    center: Triple,
    q: Turn,
    grid: Floats,
    start: Number,
    shape: Triple,
    low: Triple,
    cell: Number,
) -> Measure:
    """Between a capsule and the surface that a grid of signed distances describes, about a center, turned by q.

    The axis is p .. p + u, world frame. ``grid`` (N,) has the values of all grids, each in C order; this one begins at
    ``start`` and has ``shape`` (3,) points, as floats, ``cell`` metres apart, from ``low`` (3,) on, in the object's
    frame.
    """
    begin, way = turn(q, minus(p, center), -1.0), turn(q, u, -1.0)
    best, least = least_sample(grid, start, shape, low, cell, begin, way)
    step = 1.0 / SAMPLES
    for _ in range(NARROWINGS):
        step *= 0.5
        for side in range(2):
            t = lesser(greater(best + (2.0 * side - 1.0) * step, 0.0), 1.0)
            value = grid_value(grid, start, shape, low, cell, along(begin, way, t))
            nearer = value < least
            best, least = choose(nearer, t, best), choose(nearer, value, least)
    x = along(begin, way, best)
    n = grid_slope(grid, start, shape, low, cell, x)
    # Outside the grid the shortest way to the surface is not the way to the grid's edge and on from there. So the place
    # of the surface nearest to x, and the place of the axis nearest to that one, are found alternately. Those about
    # flat sides are found from the edge beside x, those about round ones from the edge toward the middle.
    for side in range(2):
        x = along(begin, way, best)
        edge = beside_grid(shape, low, cell, x)
        if side == 1:
            edge = into_grid(shape, low, cell, along(low, minus(shape, (1.0, 1.0, 1.0)), 0.5 * cell), x)
        for _ in range(APPROACHES):
            aside = grid_slope(grid, start, shape, low, cell, edge)
            foot = along(edge, aside, -grid_value(grid, start, shape, low, cell, edge))
            t = segment_point(begin, way, foot)
            x = along(begin, way, t)
            apart = minus(x, foot)
            length = root(dot(apart, apart))
            nearer = length < least
            by = 1.0 / choose(nearer, length, 1.0)
            n = (
                choose(nearer, apart[0] * by, n[0]),
                choose(nearer, apart[1] * by, n[1]),
                choose(nearer, apart[2] * by, n[2]),
            )
            best, least = choose(nearer, t, best), choose(nearer, length, least)
            edge = into_grid(shape, low, cell, foot, x)
    return _placed(p, u, radius, best, least, turn(q, n, 1.0))
