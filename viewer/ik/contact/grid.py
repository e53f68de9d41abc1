"""Signed distances of a closed mesh on a grid: negative inside, by the exact closest point of the surface.

The closest point of a triangle is that of C. Ericson, Real-Time Collision Detection (2005), 5.1.5; its sign is that of
the pseudonormal of the face, edge or vertex that it lies on (J. A. Baerentzen and H. Aanaes, "Signed distance
computation using the angle weighted pseudonormal", IEEE TVCG 11, 2005), which is right for any closed surface. Grid
points near the surface look at the triangles there, and pass on what they found to their neighbours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.ik.contact.values import Mesh
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.closest import Triple, along, choose, clamp, cross, dot, minus

CELLS = 48
"""Along the longest side of the mesh."""
MARGIN = 6
"""Cells around it."""
_SAMPLES = 0.5
"""Cells between the points of a triangle that say which cells it passes through."""
_SURE = 2.0
"""Cells from the surface within which the pseudonormal says which side a point is on."""
_AT_ONCE = 1 << 16
"""Pairs of points and triangles that are measured together."""


class Grid(NamedTuple):
    """Signed distances at the corners of cells, in the mesh's frame.

    Attributes:
        values: (X, Y, Z) metres.
        low: (3,) where the first one is.
        cell: metres along a side of a cell.
    """

    values: Floats
    low: Floats
    cell: float


def distance_grid(mesh: Mesh) -> Grid:
    """The grid of a mesh at its scale: computed once for meshes of one content."""
    assert mesh.vertices is not None
    assert mesh.faces is not None
    grid = _grid(_Surface(mesh.vertices, mesh.faces, mesh.content))
    return Grid(grid.values * mesh.scale, grid.low * mesh.scale, grid.cell * mesh.scale)


class _Surface:
    """Vertices and faces as a key."""

    __slots__ = ("content", "faces", "vertices")

    def __init__(self, vertices: Floats, faces: Ints, content: str) -> None:
        self.vertices, self.faces, self.content = vertices, faces, content

    def __hash__(self) -> int:
        return hash(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Surface) and self.content == other.content


@lru_cache(maxsize=8)
def _grid(surface: _Surface) -> Grid:
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    cell = float((high - low).max()) / CELLS
    counts = np.ceil((high - low) / cell).astype(np.intp) + 1 + 2 * MARGIN
    start = 0.5 * (low + high) - 0.5 * (counts - 1) * cell
    triangles = _Triangles(surface.vertices, surface.faces)
    nearest = _nearest(triangles, counts, start, cell)
    places = start + cell * np.stack(np.unravel_index(np.arange(len(nearest)), counts), axis=-1)
    signed = triangles.distances(places, nearest).reshape(counts)
    return Grid(_with_sign_of_neighbours(signed, cell), start, cell)


def _nearest(triangles: _Triangles, counts: Ints, start: Floats, cell: float) -> Ints:
    """(X * Y * Z,) the nearest triangle of each grid point: of its own candidates, or of its neighbours'.

    Every point whose triangle changes proposes it to its six neighbours, until none is nearer.
    """
    points, some = triangles.in_cells(counts, start, cell)
    total = int(counts.prod())
    found, best = np.full(total, -1, dtype=np.intp), np.full(total, np.inf)
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    while len(points):
        index = np.stack(np.unravel_index(points, counts), axis=-1)
        square = triangles.squares(start + cell * index, some)
        order = np.lexsort((some, square, points))
        points, some, square, index = points[order], some[order], square[order], index[order]
        first = np.append(True, points[1:] != points[:-1])
        better = first & (square < best[points])
        points, some, index = points[better], some[better], index[better]
        found[points], best[points] = some, square[better]
        inside = [(index[:, axis] > 0, index[:, axis] < counts[axis] - 1) for axis in range(3)]
        steps = [(inside[axis][side], (2 * side - 1) * strides[axis]) for axis in range(3) for side in range(2)]
        some = np.concatenate([some[able] for able, _ in steps])
        points = np.concatenate([points[able] + step for able, step in steps])
        other = found[points] != some
        points, some = points[other], some[other]
    # Among many small triangles a point may have been assigned one beside the nearest.
    points = np.arange(total)
    while len(points):
        some = triangles.beside[:, found[points]]
        places = start + cell * np.stack(np.unravel_index(points, counts), axis=-1)
        squares = np.stack([triangles.squares(places, one) for one in some])
        least = squares.argmin(axis=0)
        rows = np.arange(len(points))
        better = squares[least, rows] < best[points]
        points, rows, least = points[better], rows[better], least[better]
        found[points], best[points] = some[least, rows], squares[least, rows]
    return found


def _with_sign_of_neighbours(signed: Floats, cell: float) -> Floats:
    """Far from the surface the sign is that of a neighbour: no surface passes between two distant points."""
    distance = np.abs(signed)
    known = distance <= _SURE * cell
    inside = known & (signed < 0.0)
    while not known.all():
        before = int(known.sum())
        for axis in range(3):
            for side in (slice(1, None), slice(None, -1)):
                to: list[slice] = [slice(None)] * 3
                of: list[slice] = [slice(None)] * 3
                to[axis], of[axis] = side, slice(None, -1) if side.start else slice(1, None)
                new = known[tuple(of)] & ~known[tuple(to)]
                inside[tuple(to)] |= new & inside[tuple(of)]
                known[tuple(to)] |= new
        if int(known.sum()) == before:
            break
    return np.where(inside, -distance, distance)


class _Triangles:
    """The faces of a closed surface, ready to be measured."""

    def __init__(self, vertices: Floats, faces: Ints) -> None:
        self.corners = vertices[faces]
        normals = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
        normals = normals / np.where(lengths > 0.0, lengths, 1.0)
        # (F, 7, 3): of the face, of its edges ab, bc, ca, and of its corners a, b, c.
        self.normals = np.empty((len(faces), 7, 3))
        self.normals[:, 0] = normals
        self._edge_normals(faces, len(vertices), normals)
        self._corner_normals(vertices, faces, normals)

    def _edge_normals(self, faces: Ints, count: int, normals: Floats) -> None:
        edges = np.concatenate([np.sort(faces[:, pair], axis=1) for pair in ([0, 1], [1, 2], [2, 0])])
        _, index = np.unique(edges[:, 0] * count + edges[:, 1], return_inverse=True)
        # (F, 3) the face on the other side of each edge: both have it, and are neighbours in this order.
        one, other = index.reshape(-1).argsort(kind="stable").reshape(-1, 2).T
        self.beside = np.empty((3, len(faces)), dtype=np.intp)
        self.beside.flat[one], self.beside.flat[other] = other % len(faces), one % len(faces)
        sums = np.zeros((int(index.max()) + 1, 3))
        np.add.at(sums, index.reshape(-1), np.tile(normals, (3, 1)))
        self.normals[:, 1:4] = sums[index.reshape(3, -1).T]

    def _corner_normals(self, vertices: Floats, faces: Ints, normals: Floats) -> None:
        sums = np.zeros_like(vertices)
        for corner in range(3):
            here, one, other = (vertices[faces[:, (corner + k) % 3]] for k in range(3))
            u, v = one - here, other - here
            angles = np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1), np.einsum("fi,fi->f", u, v))
            np.add.at(sums, faces[:, corner], angles[:, None] * normals)
        self.normals[:, 4:7] = sums[faces]

    def in_cells(self, counts: Ints, start: Floats, cell: float) -> tuple[Ints, Ints]:
        """Pairs (N,) of a grid point, by its number, and a triangle that passes through one of the cells around it."""
        edges = self.corners - np.roll(self.corners, 1, axis=1)
        parts = np.ceil(np.linalg.norm(edges, axis=-1).max(axis=1) / (_SAMPLES * cell)).astype(np.intp)
        parts = np.maximum(parts, 1)
        total = int(counts.prod())
        keys = []
        for part in np.unique(parts).tolist():
            some = np.flatnonzero(parts == part)
            i, j = (grid.ravel() for grid in np.meshgrid(np.arange(part + 1), np.arange(part + 1), indexing="ij"))
            weights = np.stack([i, j, part - i - j], axis=-1)[i + j <= part] / part
            step = max(1, _AT_ONCE // len(weights))
            for begin in range(0, len(some), step):
                block = some[begin : begin + step]
                places = np.einsum("sk,fki->fsi", weights, self.corners[block])
                base = np.clip(np.floor((places - start) / cell).astype(np.intp), 0, counts - 2)
                for corner in np.ndindex(2, 2, 2):
                    x, y, z = np.moveaxis(base + corner, -1, 0)
                    number = (x * counts[1] + y) * counts[2] + z
                    keys.append(np.unique(block[:, None] * total + number))
        return tuple(reversed(np.divmod(np.unique(np.concatenate(keys)), total)))  # type: ignore[return-value]  # two of them

    def squares(self, points: Floats, some: Ints) -> Floats:
        """(N,) squared distances of points (N, 3) from a triangle each."""
        found = np.empty(len(points))
        for start in range(0, len(points), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            apart, _ = closest_on_triangles(points[part], self.corners[some[part]])
            found[part] = dot(apart, apart)
        return found

    def distances(self, points: Floats, nearest: Ints) -> Floats:
        """(N,) signed distances of points (N, 3) from their nearest triangles."""
        found = np.empty(len(points))
        for start in range(0, len(points), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            apart, feature = closest_on_triangles(points[part], self.corners[nearest[part]])
            normal = self.normals[nearest[part], feature]
            side = sum(apart[axis] * normal[:, axis] for axis in range(3))
            found[part] = np.where(side < 0.0, -1.0, 1.0) * np.sqrt(dot(apart, apart))
        return found


def closest_on_triangles(points: Floats, corners: Floats) -> tuple[Triple, Ints]:
    """From the closest points of triangles (..., 3, 3) to points (..., 3), and what of the triangle they lie on.

    Returns:
        The components (...) of the way from the triangle to the point; and (...) 0 for its inside, 1 to 3 for its
        edges ab, bc, ca, 4 to 6 for its corners a, b, c.
    """
    p = points[..., 0], points[..., 1], points[..., 2]
    a, b, c = ((corners[..., k, 0], corners[..., k, 1], corners[..., k, 2]) for k in range(3))
    ab, ac, bc = minus(b, a), minus(c, a), minus(c, b)
    normal = cross(ab, ac)
    area = dot(normal, normal)
    flat = area > 0.0
    over = 1.0 / choose(flat, area, 1.0)
    ap = minus(p, a)
    v, w = dot(cross(ap, ac), normal) * over, dot(cross(ab, ap), normal) * over
    inside = flat & (v > 0.0) & (w > 0.0) & (v + w < 1.0)
    on_plane = along(along(a, ab, v), ac, w)
    best = minus(p, on_plane)
    least = choose(inside, dot(best, best), np.inf)
    feature = np.zeros(least.shape, dtype=np.intp)
    for edge, (start, way, ends) in enumerate(((a, ab, (4, 5)), (b, bc, (5, 6)), (a, ac, (4, 6)))):
        square = dot(way, way)
        t = clamp(dot(minus(p, start), way) / choose(square > 0.0, square, 1.0))
        apart = minus(p, along(start, way, t))
        distance = dot(apart, apart)
        nearer = ~inside & (distance < least)
        code = np.where(t <= 0.0, ends[0], np.where(t >= 1.0, ends[1], edge + 1))
        best = choose(nearer, apart[0], best[0]), choose(nearer, apart[1], best[1]), choose(nearer, apart[2], best[2])
        least, feature = choose(nearer, distance, least), np.where(nearer, code, feature)
    return best, feature
