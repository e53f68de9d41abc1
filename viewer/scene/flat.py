"""Flat shapes on the screen: paths, tessellated into triangles whose edges fade out over a pixel.

Points are in pixels. A `Path` is a line with a width, or a filled convex outline. Lists of them are tessellated
at once, because a handle has about a dozen, and numpy calls cost the same for one shape as for many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.gizmo import Fill, Letter, Shape, Stroke
from viewer.scene.look import PALETTE, RGB, RGBA
from viewer.scene.primitives import FLAT, Records, Text
from viewer.skeleton.attached import Singles
from viewer.spatial.checks import Bools, Floats, Ints, handed_over

Complexes: TypeAlias = NDArray[np.complex128]

_HALF_FEATHER = 0.5
"""Pixels over which an edge fades on either side."""
_MITRE = 2.0
"""Longest mitre of a corner, in half widths."""
_SMALL = 1e-9
_LANES = 4
"""Vertices across a line: two transparent, two opaque; a filled shape uses the last two for its rim."""


class Path(NamedTuple):
    """A line, or a filled shape, of points (N, 2) in pixels: the corners of a convex outline, either way round.

    The colour is red, green, blue, alpha; the width is 0 for a filled shape; a ``closed`` line returns to its start.
    """

    points: Floats
    colour: RGBA
    width: float = 0.0
    closed: bool = False


def tessellate(paths: Sequence[Path]) -> Records:
    """FLAT triangles of the shapes, in order; a shape with a point that is not finite is left out."""
    able = [path for path in paths if len(path.points) >= (2 if path.width > 0.0 else 3)]
    if not able:
        return np.empty(0, FLAT)
    points = np.concatenate([path.points for path in able])
    if not np.isfinite(points).all():
        return tessellate([path for path in able if np.isfinite(path.points).all()])
    shapes = tuple([(len(path.points), path.width, path.closed) for path in able])
    layout, painted = _painted(shapes, tuple([path.colour[:3] for path in able]))
    rows = painted.copy()
    rows.view(np.complex64)[:, 0] = _lanes(points, layout).take(layout.corners)
    rows[:, -1] = np.array([path.colour[3] for path in able]).take(layout.path_of_corner) * layout.fade
    return rows.reshape(-1).view(FLAT)


@lru_cache(maxsize=64)
def _painted(shapes: tuple[tuple[int, float, bool], ...], colours: tuple[RGB, ...]) -> tuple[_Layout, Singles]:
    """The layout of shapes, and their FLAT triangles (C, 6) without what a moving gizmo changes: positions, opacity."""
    layout = _layout(shapes)
    rows = np.zeros((len(layout.corners), 2 * _PAIRS), np.float32)
    rows[:, 2:-1] = np.array(colours).take(layout.path_of_corner, axis=0)
    return layout, rows


_PAIRS = FLAT.itemsize // 8


def rows_of(records: Records) -> Singles:
    """FLAT records as numbers (N, 6): numpy joins and moves these many times faster."""
    return records.view(np.float32).reshape(-1, 2 * _PAIRS)


class _Layout(NamedTuple):
    """The topology of a list of shapes, independent of their points' positions: N points, R rows, C triangle corners.

    Attributes:
        following: (N,) the point after each; after the last of a shape its first.
        here: (R,) the point of each row.
        pieces: (2, R) the piece of line, by its first point, that runs into each row, and the one that runs out of it.
        shift: (2, R) pixels that a row is moved along the one and along the other.
        offsets: (R, 4) pixels of the lanes from the line; of filled shapes outwards where they go clockwise.
        turned: (R, 4) the same, outwards where they go the other way round.
        first: (P,) the first point of each shape.
        rows: (P,) rows of each shape.
        corners: (C,) vertex indices of the triangles.
        path_of_corner: (C,) the shape of each.
        fade: (C,) opacity of each; a line thinner than a pixel is fainter instead.
        filled: (P,) whether a shape is filled; None where none is.
    """

    following: Ints
    here: Ints
    pieces: Ints
    shift: Floats
    offsets: Floats
    turned: Floats
    first: Ints
    rows: Ints
    corners: Ints
    path_of_corner: Ints
    fade: Floats
    filled: Bools | None


@lru_cache(maxsize=256)
def _layout(shapes: tuple[tuple[int, float, bool], ...]) -> _Layout:
    """The layout of shapes, given by number of points, width and whether it is closed."""
    patterns = [_pattern(count, width > 0.0, closed) for count, width, closed in shapes]
    rows = np.array([len(pattern.here) for pattern in patterns])
    counts = np.array([count for count, _, _ in shapes])
    last = np.cumsum(counts)
    begin = np.repeat(last - counts, rows)
    sizes = [len(pattern.corners) for pattern in patterns]
    corners = np.concatenate([pattern.corners for pattern in patterns])
    corners = corners + np.repeat((np.cumsum(rows) - rows) * _LANES, sizes)
    path_of_corner = np.repeat(np.arange(len(shapes)), sizes)
    thin = np.array([min(width, 1.0) if width > 0.0 else 1.0 for _, width, _ in shapes])
    fade = np.concatenate([pattern.fade for pattern in patterns]).reshape(-1)
    # A line thinner than a pixel is as wide as one, and fainter.
    half = np.array([0.5 * max(width, 1.0) if width > 0.0 else 0.0 for _, width, _ in shapes])
    edge = np.array([-_HALF_FEATHER, _HALF_FEATHER])
    offsets = np.stack([-half, -half, half, half], axis=1)
    offsets[:, 2:] = np.maximum(offsets[:, 2:] + edge, (0.0, -np.inf))
    offsets[:, :2] = -offsets[:, :1:-1]
    filled = half == 0.0
    offsets[filled, 2:] = edge
    following = np.arange(1, int(last[-1]) + 1)
    following[last - 1] = last - counts
    here, before, after = (
        np.concatenate([getattr(pattern, name) for pattern in patterns]) + begin for name in ("here", "before", "after")
    )
    shift = np.concatenate([pattern.shift for pattern in patterns])
    turned = offsets.copy()
    turned[filled, 2:] *= -1.0
    # At the ends of a line, what would run into it or out of it is its first or last piece.
    return _Layout(
        following=following,
        here=here,
        pieces=np.stack([np.where(before == here, here, before), np.where(after == here, before, here)]),
        shift=np.stack([np.minimum(shift, 0.0), np.maximum(shift, 0.0)]),
        offsets=np.repeat(offsets, rows, axis=0),
        turned=np.repeat(turned, rows, axis=0),
        first=last - counts,
        rows=rows,
        corners=corners,
        path_of_corner=path_of_corner,
        fade=fade[corners] * thin[path_of_corner],
        filled=filled if filled.any() else None,
    )


class _Pattern(NamedTuple):
    """The topology of one shape: R rows of vertices across the outline, and its triangles.

    Attributes:
        here, before, after: (R,) the point of each row and its neighbours.
        shift: (R,) pixels that a row is moved along the line, so that its ends fade.
        fade: (R, 4) opacity of each vertex.
        corners: (3 T,) vertex indices of the triangles, row by row of `_LANES`.
    """

    here: Ints
    before: Ints
    after: Ints
    shift: Floats
    fade: Floats
    corners: Ints


@lru_cache(maxsize=512)
def _pattern(count: int, line: bool, closed: bool) -> _Pattern:
    points = np.arange(count)
    if not line or closed:
        here = np.append(points, 0)
        shift, ends = np.zeros(count + 1), np.ones(count + 1)
        before, after = (here - 1) % count, (here + 1) % count
    else:
        here = np.concatenate([[0], points, [count - 1]])
        shift, ends = np.zeros(count + 2), np.ones(count + 2)
        shift[[0, 1, -2, -1]] = (-_HALF_FEATHER, _HALF_FEATHER, -_HALF_FEATHER, _HALF_FEATHER)
        ends[[0, -1]] = 0.0
        before, after = np.maximum(here - 1, 0), np.minimum(here + 1, count - 1)
    fade = ends[:, None] * ((0.0, 1.0, 1.0, 0.0) if line else (1.0, 1.0, 1.0, 0.0))
    row = np.arange(len(here) - 1)[:, None, None] * _LANES
    lanes = np.arange(0 if line else 2, _LANES - 1)[None, :, None]
    quads = np.array([0, 1, _LANES, _LANES, 1, _LANES + 1])
    corners = (row + lanes + quads).reshape(-1)
    if not line:
        inner = 2 + _LANES * np.arange(1, count - 1)
        fan = np.stack([np.full_like(inner, 2), inner, inner + _LANES], axis=1)
        corners = np.concatenate([fan.reshape(-1), corners])
    return _Pattern(here, before, after, shift, fade, corners)


def _lanes(points: Floats, layout: _Layout) -> Complexes:
    """(4 R,) pixels of the vertices of all rows; x + iy, which takes half as many calls of numpy as pairs do."""
    plane = points.view(np.complex128)[:, 0]
    after = plane.take(layout.following)
    runs = after - plane
    lengths = np.abs(runs)
    long = lengths > _SMALL
    into, out = (runs / np.where(long, lengths, np.inf)).take(layout.pieces)
    if not long.all():  # equal points next to each other
        into, out = np.where(into == 0.0, out, into), np.where(out == 0.0, into, out)
    offsets = layout.offsets
    if layout.filled is not None:  # outwards for either orientation of the outline
        areas = np.add.reduceat(plane.real * after.imag - plane.imag * after.real, layout.first)
        against = layout.filled & (areas > 0.0)
        if against.any():
            offsets = np.where(np.repeat(against, layout.rows)[:, None], layout.turned, offsets)
    here = plane.take(layout.here) + (layout.shift[0] * into + layout.shift[1] * out)
    places = here[:, None] + _mitre(into, out)[:, None] * offsets
    return np.asarray(places.reshape(-1))


def _mitre(into: Complexes, out: Complexes) -> Complexes:
    """(R,) offset from a point of a line to the corner on its right side, for a half width of 1."""
    total = into + out
    square = total.real**2 + total.imag**2
    back = square < _SMALL
    if back.any():  # the line turns back: an end instead of a corner
        total, square = np.where(back, out, total), np.where(back, 2.0, square)
    return np.asarray(1j * total * np.minimum(2.0 / square, _MITRE / np.sqrt(square)))


_FLATNESS = 0.08
"""Largest deviation of a polygon from its circle, pixels."""
_MOST = 96
DIAMOND: Floats = handed_over(np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
"""Corners (4, 2) of a diamond of half-diagonal 1."""


def circle(centre: ArrayLike, radius: float) -> Floats:
    """(N, 2) corners of a polygon that looks like a circle."""
    if radius <= _FLATNESS:
        return np.asarray(centre) + radius * _unit_circle(8)
    count = math.ceil(math.pi / math.acos(1.0 - _FLATNESS / radius))
    return np.asarray(np.asarray(centre) + radius * _unit_circle(min(max(4 * math.ceil(count / 4), 8), _MOST)))


def ring(pixel: Floats, radius: float, width: float, colour: str, shade: float) -> list[Shape]:
    """A ring on a dark disc of some opacity, for contrast; nothing at a pixel (2,) that is not finite."""
    if not np.isfinite(pixel).all():
        return []
    points = circle(pixel, radius)
    return [Fill(points, "halo", shade), Stroke(points, width, colour, 1.0, closed=True)]


def box(left: float, top: float, right: float, bottom: float, radius: float = 0.0) -> Floats:
    """(N, 2) corners of a box with rounded corners."""
    if radius <= 0.0:
        return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    quarter = 0.5 * math.pi
    middles = ((right - radius, top + radius), (right - radius, bottom - radius),
               (left + radius, bottom - radius), (left + radius, top + radius))  # fmt: skip
    starts = (-quarter, 0.0, quarter, 2.0 * quarter)
    turns = [start + np.linspace(0.0, quarter, 6) for start in starts]
    return np.concatenate(
        [np.array(middle) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
         for middle, turn in zip(middles, turns, strict=True)]
    )  # fmt: skip


def dashes(start: ArrayLike, end: ArrayLike, on: float, off: float) -> list[Floats]:
    """Pieces (2, 2) of a straight line: ``on`` pixels long, ``off`` pixels apart, from its start."""
    first, last = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(last - first))
    if length == 0.0:
        return []
    way = (last - first) / length
    begins = np.arange(0.0, length, on + off)
    ends = np.minimum(begins + on, length)
    return [first + np.outer(pair, way) for pair in np.stack([begins, ends], axis=1)]


def clipped(start: ArrayLike, end: ArrayLike, size: tuple[int, int], margin: float) -> tuple[Floats, Floats] | None:
    """The part of a line inside a view of (width, height) pixels and its margin, or None."""
    first, last = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        return None
    low, high = 0.0, 1.0
    for at, way, most in zip(first.tolist(), (last - first).tolist(), size, strict=True):
        if way == 0.0:
            if not -margin <= at <= most + margin:
                return None
            continue
        near, far = sorted(((-margin - at) / way, (most + margin - at) / way))
        low, high = max(low, near), min(high, far)
    return (first + low * (last - first), first + high * (last - first)) if low <= high else None


@lru_cache(maxsize=64)
def _unit_circle(count: int) -> Floats:
    turn = 2.0 * math.pi * np.arange(count) / count
    return handed_over(np.stack([np.cos(turn), np.sin(turn)], axis=1))


_LETTER = 13
_NEAR = 90.0
"""Radius in pixels that contains a gizmo."""


def shape_records(shapes: Iterable[Shape]) -> tuple[Records, list[Text]]:
    """FLAT triangles of strokes and fills, in order, and the letters."""
    paths: list[Path] = []
    texts: list[Text] = []
    for shape in shapes:
        colour = *PALETTE[shape.colour], shape.alpha  # not by `rgba`, whose cache is not for fading colours
        if isinstance(shape, Stroke):
            paths.append(Path(shape.points, colour, shape.width, shape.closed))
        elif isinstance(shape, Letter):
            x, y = shape.at.tolist()
            on_dot = shape.colour == "on_accent"  # dark letters on a bright dot need no dark rim
            texts.append(Text(shape.text, x, y, colour, _LETTER, "centre", halo=not on_dot, bold=True))
        else:
            paths.append(Path(shape.points, colour))
    return tessellate(paths), texts


def is_about(shapes: Sequence[Shape], pixel: tuple[float, float], scale: float) -> bool:
    """Whether closed lines surround a pixel, as those of a gizmo do, which then shows the selection."""
    reach = _NEAR * scale
    x, y = pixel
    for shape in reversed(shapes):  # a gizmo's last one is the ring around its middle
        if isinstance(shape, Stroke) and shape.closed:
            low, high = shape.points.min(axis=0).tolist(), shape.points.max(axis=0).tolist()
            if low[0] <= x <= high[0] and low[1] <= y <= high[1] and high[0] - low[0] <= 2.0 * reach:
                return True
    return False
