"""How far a capsule is from another one, from a ball, a box or the grid of a mesh, for numbers and for arrays.

As in `viewer.spatial.closest`, a vector is a tuple of its components, and compiled code runs this source on numbers. A
capsule is the segment from p to p + u with a radius. Each measure is a `Measure`: gap, metres, negative where they
overlap; the two points where the surfaces are nearest, world frame; and the unit normal from the other to the capsule,
along which the gap grows.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from viewer.spatial.checks import Floats
from viewer.spatial.closest import (
    Number,
    Triple,
    along,
    box_overlap,
    choose,
    direction,
    dot,
    greater,
    lesser,
    minus,
    root,
    segment_box,
    segment_point,
    segment_segment,
    size,
    turn,
)

Measure: TypeAlias = tuple[Number, Triple, Triple, Triple]
Turn: TypeAlias = tuple[Number, Number, Number, Number]

SAMPLES = 48
"""Points of a capsule's axis whose distance is read from a grid, before the minimum is refined."""
NARROWINGS = 8
"""Bisections of the interval of the least distance."""
APPROACHES = 3
"""Alternations between the nearest points of an axis outside a grid and of the surface inside."""


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


def grid_slope(grid: Floats, start: Number, shape: Triple, low: Triple, cell: Number, x: Triple) -> Triple:
    """The unit vector along which the distance grows at x; up where it does not."""
    h = 0.5 * cell
    slope = (
        grid_value(grid, start, shape, low, cell, (x[0] + h, x[1], x[2]))
        - grid_value(grid, start, shape, low, cell, (x[0] - h, x[1], x[2])),
        grid_value(grid, start, shape, low, cell, (x[0], x[1] + h, x[2]))
        - grid_value(grid, start, shape, low, cell, (x[0], x[1] - h, x[2])),
        grid_value(grid, start, shape, low, cell, (x[0], x[1], x[2] + h))
        - grid_value(grid, start, shape, low, cell, (x[0], x[1], x[2] - h)),
    )
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
    """Between a capsule and the surface that a grid of signed distances describes, turned by q.

    Args:
        p: start of the capsule's axis, world frame.
        u: the way to its end.
        radius: of the capsule.
        center: of the object.
        q: world_from_object.
        grid: (N,) the values of all grids, each in C order.
        start: where this one begins in it.
        shape: (3,) points along its axes, as floats.
        low: (3,) its first point, in the object's frame.
        cell: metres between points.
    """
    begin, way = turn(q, minus(p, center), -1.0), turn(q, u, -1.0)
    best = 0.0 * p[0]
    least = grid_value(grid, start, shape, low, cell, begin)
    for sample in range(1, SAMPLES + 1):
        t = best * 0.0 + sample / SAMPLES
        value = grid_value(grid, start, shape, low, cell, along(begin, way, t))
        nearer = value < least
        best, least = choose(nearer, t, best), choose(nearer, value, least)
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
