"""What a figure may touch: a floor, its own body, and objects. Values; `viewer.ik.contact.volumes` measures them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

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
        """Take plain numbers.

        Raises:
            InputError: no name, a centre or radius that cannot be used.
        """
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
        """Take plain numbers.

        Raises:
            InputError: no name, a centre, size or rotation that cannot be used.
        """
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
        """Its name and size."""
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
        """Take tuples.

        Raises:
            InputError: a floor that is no finite number, values that are no objects, two objects of one name, no pairs.
        """
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
    if not Path(path).is_file():
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
