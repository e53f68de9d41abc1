"""Vectors (..., 3) in batches: product, cross product, length, direction; normals of triangles, nearest points.

As numpy's own `cross` and `linalg.norm`, which take two to four times as long: for some dozens of vectors their checks
are most of their time, and for thousands they pass over them more than once.
"""

from __future__ import annotations

import numpy as np

from viewer.spatial.checks import Floats


def dot(a: Floats, b: Floats) -> Floats:
    """(...) the dot products of vectors (..., N)."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def cross(a: Floats, b: Floats) -> Floats:
    """(..., 3) the cross products of vectors (..., 3)."""
    result = np.empty(a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape))
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    result[..., 0] = ay * bz - az * by
    result[..., 1] = az * bx - ax * bz
    result[..., 2] = ax * by - ay * bx
    return result


def norm(vectors: Floats) -> Floats:
    """(...) the lengths of vectors (..., N)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)))


def unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) scaled to length 1; zero vectors stay zero."""
    lengths = norm(vectors)[..., None]
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def face_normals(corners: Floats) -> Floats:
    """(F, 3) unit normals of triangles (F, 3, 3), counter-clockwise from outside; 0 of those without area."""
    return unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def nearest_on_segments(points: Floats, starts: Floats, ways: Floats) -> Floats:
    """(N, D) the places nearest to points, (D,) or (N, D), on segments from ``starts`` along ``ways`` (N, D)."""
    squares = np.einsum("ni,ni->n", ways, ways)  # 0 of a segment that is a point
    parts = np.einsum("ni,ni->n", points - starts, ways) / np.where(squares > 0.0, squares, 1.0)
    return np.asarray(starts + np.clip(parts, 0.0, 1.0)[:, None] * ways)
