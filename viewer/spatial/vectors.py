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


AHEAD, BEHIND = np.array([[1, 2, 0], [2, 0, 1]]), np.array([[2, 0, 1], [1, 2, 0]])
"""a x b = a[AHEAD[0]] b[BEHIND[0]] - a[AHEAD[1]] b[BEHIND[1]]."""
_FEW = 1000
"""Vectors up to which fewer calls of numpy, of a row per component, are faster; the same sums, so the same bits."""


def rows_of(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Two arrays (..., N) with all axes in reverse, which puts components first and keeps broadcasting."""
    if a.ndim < b.ndim:
        a = a.reshape((1,) * (b.ndim - a.ndim) + a.shape)
    elif b.ndim < a.ndim:
        b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    return a.T, b.T


def cross(a: Floats, b: Floats) -> Floats:
    """(..., 3) the cross products of vectors (..., 3)."""
    together = np.broadcast(a, b)
    if together.size <= 3 * _FEW:
        a, b = rows_of(a, b)
        products = a.take(AHEAD, 0) * b.take(BEHIND, 0)
        return np.asarray((products[0] - products[1]).T.copy())
    result = np.empty(together.shape)
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
