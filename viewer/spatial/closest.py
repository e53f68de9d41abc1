"""Closest points of segments, points and boxes: one arithmetic for numbers and for arrays.

A vector here is a tuple of its three components, each a number or an array; arrays of one shape give answers of that
shape, element by element. There are no branches: `choose` takes one of two values. Compiled code runs this very source
on numbers, with a `choose` of its own (`viewer.ik.kernels.contact_rows`), and gives the same bits.

Sources: C. Ericson, Real-Time Collision Detection (2005), 5.1.2 and 5.1.9; the box is solved exactly, because the slope
of the squared distance along a segment is piecewise linear and rises.
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
