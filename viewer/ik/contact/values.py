"""What a figure may touch: a floor, its own body, and objects; of a mesh the signed distances from its surface.

These are values; `viewer.ik.contact.volumes` measures what is near them. The distances of a closed mesh are on a grid,
negative inside, by the exact closest point of the surface. The closest point of a triangle is that of C. Ericson,
Real-Time Collision Detection (2005), 5.1.5; its sign is that of the pseudonormal of the face, edge or vertex that it
lies on (J. A. Baerentzen and H. Aanaes, "Signed distance computation using the angle weighted pseudonormal", IEEE TVCG
11, 2005), which is right for any closed surface. Grid points near the surface look at the triangles there, and pass on
what they found to their neighbours.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError, missing_library, quote
from viewer.spatial.checks import (
    FARTHEST,
    Floats,
    Ints,
    Quaternion,
    Vector,
    as_flag,
    as_number,
    as_vector,
    finite_floats,
    frozen,
    put,
    text,
    unit_quaternions,
    whole_numbers,
)
from viewer.spatial.closest import Triple, along, choose, clamp, cross, dot, minus
from viewer.spatial.quaternion import face_normals

FLOOR = "floor"
"""The name of the floor among those of objects."""
MOST_OBJECTS = 100
MOST_FACES = 200_000


@dataclass(frozen=True, slots=True)
class Sphere:
    """A ball that does not move.

    Attributes:
        name: unique among the objects of a contact.
        center: (3,) metres, world frame.
        radius: metres, above 0.
    """

    word: ClassVar[str] = "sphere"
    rotation: ClassVar[Quaternion] = (0.0, 0.0, 0.0, 1.0)
    name: str
    center: Vector
    radius: float

    def __post_init__(self) -> None:
        """Take plain numbers; an InputError names what cannot be used."""
        _check_object(self)


@dataclass(frozen=True, slots=True)
class Box:
    """A box that does not move.

    Attributes:
        name: unique among the objects of a contact.
        center: (3,) metres, world frame.
        size: (3,) metres along its own axes, each above 0.
        rotation: (x, y, z, w), world_from_box.
    """

    word: ClassVar[str] = "box"
    name: str
    center: Vector
    size: Vector
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        """Take plain numbers; an InputError names what cannot be used."""
        what = _check_object(self)
        put(self, size=as_vector(self.size, f"{what}: size"))
        for side in self.size:
            as_number(side, f"{what}: size", above=0.0)


@dataclass(frozen=True, slots=True, repr=False)
class Mesh:
    """A closed surface that does not move, such as a mug: its inside is solid.

    Give ``path``, a file that trimesh reads (OBJ, STL, PLY, GLB, ...), or ``vertices`` and ``faces``.

    Attributes:
        name: unique among the objects of a contact.
        path: the file, or "".
        vertices: (V, 3) metres, in the mesh's own frame.
        faces: (F, 3) indices of vertices, counter-clockwise as seen from outside.
        center: (3,) metres, world frame: where the mesh's origin is.
        rotation: (x, y, z, w), world_from_mesh.
        scale: metres per unit of the file or the vertices.
        content: a digest of vertices and faces: meshes are compared by it.
    """

    word: ClassVar[str] = "mesh"
    name: str
    path: str = ""
    vertices: Floats | None = field(default=None, compare=False)
    faces: Ints | None = field(default=None, compare=False)
    center: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    scale: float = 1.0
    content: str = field(default="", init=False)

    def __repr__(self) -> str:
        count = 0 if self.faces is None else len(self.faces)
        return f"<Mesh {quote(self.name)}: {count} faces>"

    def __post_init__(self) -> None:
        """Read the file, and check that the surface is closed.

        Raises:
            InputError: no name, neither a file nor vertices and faces, a surface that is open.
            MachineError: a file is given, and trimesh is not installed.
        """
        what = _check_object(self)
        put(self, path=str(self.path))
        vertices: Any = self.vertices
        faces: Any = self.faces
        if vertices is None and faces is None and self.path:
            vertices, faces = _read_mesh(self.path, what)
        elif vertices is None or faces is None:
            raise InputError(f"{what}: expected a path, or vertices and faces, found neither")
        points = finite_floats(vertices, (-1, 3), f"{what}: vertices")
        corners = whole_numbers(faces, (-1, 3), f"{what}: faces")
        points, corners = closed_surface(points, corners, what)
        digest = hashlib.sha256(points.tobytes() + corners.astype(np.int64).tobytes())
        put(self, vertices=frozen(points), faces=frozen(corners, np.intp), content=digest.hexdigest()[:16])

    def placed(self, name: str, center: Vector, rotation: Quaternion, scale: float) -> Mesh:
        """The same surface under another name and in another place, without checking it again.

        Raises:
            InputError: no name, a centre, rotation or scale that cannot be used.
        """
        made = copy(self)
        put(made, name=name, center=center, rotation=rotation, scale=scale)
        _check_object(made)
        return made


Object: TypeAlias = Sphere | Box | Mesh


def placed(one: Object, name: str, center: Vector, rotation: Quaternion) -> Object:
    """The same object under another name and in another place; balls do not turn."""
    if isinstance(one, Mesh):
        return one.placed(name, center, rotation, one.scale)
    if isinstance(one, Box):
        return replace(one, name=name, center=center, rotation=rotation)
    return replace(one, name=name, center=center)


_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]
)  # fmt: skip
"""Triangles of a unit cube with these corners, counter-clockwise as seen from outside."""


def surface_of(solid: Box | Mesh) -> tuple[Floats, Ints]:
    """Vertices (V, 3) of a box or mesh in its own frame, metres, and its triangles (F, 3)."""
    if isinstance(solid, Box):
        return _CORNERS * solid.size, _FACES
    assert solid.vertices is not None
    assert solid.faces is not None
    return solid.scale * solid.vertices, solid.faces


@dataclass(frozen=True, slots=True)
class Contact:
    """What the figure must not go through.

    Attributes:
        floor: height of a level floor, metres; None: there is none.
        bodies: whether the figure's own bodies keep apart.
        objects: solid obstacles.
        exclude: pairs of names of joints, objects or the floor that may go through each other; a joint means
            all bodies that are fixed to it.
    """

    floor: float | None = None
    bodies: bool = False
    objects: Sequence[Object] = ()
    exclude: Sequence[tuple[str, str]] = ()

    def __post_init__(self) -> None:
        """Take tuples; an InputError names what cannot be used."""
        if self.floor is not None:
            as_number(self.floor, "contact: floor")
            put(self, floor=float(self.floor))
        as_flag(self.bodies, "contact: bodies")
        objects = _listed(self.objects, "contact: objects: expected Spheres, Boxes and Meshes")
        names: set[str] = set()
        for one in objects:
            if not isinstance(one, Sphere | Box | Mesh):
                raise InputError(f"contact: objects: expected Spheres, Boxes and Meshes, found {quote(one)}")
            if one.name in names:
                raise InputError(f"contact: objects: expected names of their own, found {quote(one.name)} twice")
            names.add(one.name)
        if len(objects) > MOST_OBJECTS:
            raise InputError(f"contact: expected at most {MOST_OBJECTS} objects, found {len(objects)}")
        pairs = _listed(self.exclude, "contact: exclude: expected pairs of names")
        put(self, objects=objects, exclude=tuple(_pair(pair, place) for place, pair in enumerate(pairs)))

    def __bool__(self) -> bool:
        """Whether there is anything to touch."""
        return self.floor is not None or self.bodies or bool(self.objects)


def _listed(value: object, expected: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{expected}, found {quote(value)}")
    return tuple(value)


def _pair(value: object, place: int) -> tuple[str, str]:
    names = value if isinstance(value, (tuple, list)) else ()
    if len(names) != 2 or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"contact: exclude[{place}]: expected two names, found {quote(value)}")
    return names[0], names[1]


def _check_object(one: Object) -> str:
    """Take an object's name, place and size as plain numbers; returns what messages call it."""
    name = text(one.name, f"{one.word}: name", empty=False)
    if name == FLOOR:
        raise InputError(f"{one.word}: name: expected another name than that of the floor, found {quote(name)}")
    what = f"{one.word} {quote(name)}"
    put(one, name=name, center=as_vector(one.center, f"{what}: center"))
    if not isinstance(one, Sphere):
        x, y, z, w = unit_quaternions(one.rotation, (4,), f"{what}: rotation").tolist()
        put(one, rotation=(x, y, z, w))
    for field_name in ("radius", "scale"):
        if hasattr(one, field_name):
            as_number(getattr(one, field_name), f"{what}: {field_name}", above=0.0, most=FARTHEST)
            put(one, **{field_name: float(getattr(one, field_name))})
    return what


def _read_mesh(path: str, what: str) -> tuple[Any, Any]:
    """Vertices and faces of a file."""
    try:
        import trimesh  # noqa: PLC0415 - it is large, and few contacts have meshes
    except ImportError as error:
        raise missing_library(what, error) from error
    if not os.path.isfile(path):  # noqa: PTH113 - `Path.is_file` raises OSError for names that are too long
        raise InputError(f"{what}: no such file: {quote(path)}")
    try:
        found: Any = trimesh.load(path, force="mesh", process=False)
        return np.asarray(found.vertices), np.asarray(found.faces)
    except Exception as error:  # its readers raise anything
        said = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{what}: {quote(path)} cannot be read as a mesh: {said}") from error


def closed_surface(vertices: Floats, faces: Ints, what: str) -> tuple[Floats, Ints]:
    """The surface with equal vertices as one and without faces of no area, turned outside out.

    Raises:
        InputError: it has no faces or too many, indices of no vertices, or edges that only one face has.
    """
    if not len(faces):
        raise InputError(f"{what}: expected faces, found none")
    if len(faces) > MOST_FACES:
        raise InputError(f"{what}: expected at most {MOST_FACES:,} faces, found {len(faces):,}")
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise InputError(f"{what}: faces: expected vertices from 0 to {len(vertices) - 1}, found {faces.max()}")
    points, index = np.unique(vertices, axis=0, return_inverse=True)
    corners = index.reshape(-1)[faces]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    key, back = edges[:, 0] * len(points) + edges[:, 1], edges[:, 1] * len(points) + edges[:, 0]
    # Each edge is passed once in each direction, or as often in both where parts touch along it.
    if not np.array_equal(np.sort(key), np.sort(back)):
        open_edges = len(np.setdiff1d(key, back)) + len(np.setdiff1d(back, key))
        reason = f"{open_edges // 2 or 1} of its edges have one face only, or faces that look different ways"
        raise InputError(f"{what}: the mesh encloses no volume: {reason}")
    p = points - points.mean(axis=0)
    volume = float(np.einsum("fi,fi->", p[corners[:, 0]], np.cross(p[corners[:, 1]], p[corners[:, 2]])))
    if not abs(volume) > 0.0:
        raise InputError(f"{what}: the mesh encloses no volume")
    return points, np.ascontiguousarray(corners if volume > 0.0 else corners[:, ::-1])


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
        normals = face_normals(self.corners)
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
