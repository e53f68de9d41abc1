"""What is attached to the joints of a skeleton: capsules as volumes, inertia, and a skin that follows them by weight.

Moments are those of a body if none of the second moments of its mass, trace / 2 - I, is below 0: then each principal
moment is at most the sum of the other two. Wensing, Kim, Slotine, "Linear matrix inequalities for physically consistent
inertial parameter identification", IEEE Robotics and Automation Letters 3, 2018.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.errors import InputError, quote
from viewer.spatial.checks import Floats, Ints, Vector, finite_floats, frozen, put, triple, whole, whole_numbers
from viewer.spatial.quaternion import rotate, to_matrix

Moments: TypeAlias = tuple[float, float, float, float, float, float]

MOST_CAPSULES = 1000
"""Most capsules of a skeleton: the number of pairs that are tested grows with its square."""

_NO_PAIRS = frozen(np.empty((0, 2)), np.intp)
_NO_CLEARANCES = frozen(np.empty((0, 2)))

_LARGEST = 1e100
"""Kilograms, and kg m^2: larger ones overflow where they are multiplied."""
_ROUNDING = 1e-9
"""Part of the largest moment by which second moments may be below 0."""
_ROWS, _COLUMNS = np.array([0, 1, 2, 0, 0, 1]), np.array([0, 1, 2, 1, 2, 2])
_Z = np.array((0.0, 0.0, 1.0))

Singles = NDArray[np.float32]
Wrap = Literal["repeat", "clamp", "mirror"]
Alpha = Literal["opaque", "mask", "blend"]

WORLD = -1
"""The joint index of vertices that are fixed in the world."""
MOST_BINDINGS = 1 << 16
"""Bindings of a skin, whose indices are of 16 bits."""

_BLOCK = 1 << 15
"""Vertices that are computed together, which bounds memory."""


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of a segment; the segment may be a point, and the capsule is then a ball.

    Attributes:
        joint: index of the joint that it is fixed to.
        a, b: the segment's ends, metres, in that joint's frame.
        radius: metres, above 0.
        mass: kilograms, above 0; None where it is not stated.
    """

    joint: int
    a: Vector
    b: Vector
    radius: float
    mass: float | None = None

    def __repr__(self) -> str:
        return f"<Capsule: joint {self.joint}, length {self.length:.4g}, radius {self.radius:.4g}>"

    @property
    def length(self) -> float:
        """Of the segment, metres."""
        return float(np.linalg.norm(np.subtract(self.b, self.a)))

    def __post_init__(self) -> None:
        put(self, joint=whole(self.joint, "capsule: joint"))
        put(self, a=triple(self.a, "capsule: a"), b=triple(self.b, "capsule: b"))
        for name, unit in (("radius", "metres"), ("mass", "kilograms")):
            value = getattr(self, name)
            if value is not None or name == "radius":
                number = float(finite_floats(value, (), f"capsule: {name}"))
                if not number > 0.0:
                    raise InputError(f"capsule: {name}: expected more than 0 {unit}, found {number:g}")
                put(self, **{name: number})


@dataclass(frozen=True, slots=True)
class Bodies:
    """The volumes of one skeleton. Two are equal if their capsules are.

    Attributes:
        capsules: (C,) in any order.
        pairs: (P, 2) indices of the capsules that are tested against each other, ascending; none until
            `viewer.skeleton.bodies.bodies_of` has chosen them.
        clearances: (C, 2) metres that the ends of each capsule stay above a floor: their radius, or less where they
            are lower in the poses of the figure; empty until they are known.
    """

    capsules: tuple[Capsule, ...]
    pairs: Ints = field(default_factory=lambda: _NO_PAIRS, compare=False)
    clearances: Floats = field(default_factory=lambda: _NO_CLEARANCES, compare=False)

    def __repr__(self) -> str:
        return f"<Bodies: {len(self.capsules)} capsules, {len(self.pairs)} pairs>"

    def __len__(self) -> int:
        return len(self.capsules)

    def __post_init__(self) -> None:
        given: object = self.capsules
        if not isinstance(given, Iterable):
            raise InputError(f"bodies: expected Capsules, found {quote(given)}")
        capsules = tuple(given)
        wrong = next((one for one in capsules if not isinstance(one, Capsule)), None)
        if wrong is not None:
            raise InputError(f"bodies: expected Capsules, found {quote(wrong)}")
        if len(capsules) > MOST_CAPSULES:
            raise InputError(f"bodies: expected at most {MOST_CAPSULES:,} capsules, found {len(capsules):,}")
        pairs = whole_numbers(self.pairs, (-1, 2), "bodies: pairs")
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < len(capsules):
            raise InputError(f"bodies: pairs: expected capsules from 0 to {len(capsules) - 1}")
        clearances = finite_floats(self.clearances, (-1, 2), "bodies: clearances")
        if len(clearances) not in {0, len(capsules)}:
            raise InputError(f"bodies: clearances: expected {len(capsules)} rows or none, found {len(clearances)}")
        put(self, capsules=capsules, pairs=frozen(pairs, np.intp), clearances=frozen(clearances))

    @property
    def table(self) -> CapsuleTable:
        """The capsules as arrays."""
        return CapsuleTable(
            np.array([one.joint for one in self.capsules], dtype=np.intp),
            np.array([one.a for one in self.capsules], dtype=np.float64).reshape(-1, 3),
            np.array([one.b for one in self.capsules], dtype=np.float64).reshape(-1, 3),
            np.array([one.radius for one in self.capsules], dtype=np.float64),
        )


def with_ends(bodies: Bodies, moved: Mapping[tuple[Any, ...], Any]) -> Bodies:
    """The volumes with other ends (3,) of capsules, by (joint, x, y, z); their pairs are open again."""
    return Bodies(
        tuple(
            replace(one, a=moved.get((one.joint, *one.a), one.a), b=moved.get((one.joint, *one.b), one.b))
            for one in bodies.capsules
        )
    )


class CapsuleTable(NamedTuple):
    """Capsules as arrays: joint (C,), ends a and b (C, 3) in the joints' frames, radius (C,), metres."""

    joint: Ints
    a: Floats
    b: Floats
    radius: Floats

    def ends(self, positions: Floats, rotations: Floats) -> tuple[Floats, Floats]:
        """World places (..., C, 3) of the ends a and b, of joints at (..., J, 3), turned as (..., J, 4)."""
        place, turn = positions[..., self.joint, :], rotations[..., self.joint, :]
        return np.asarray(place + rotate(turn, self.a)), np.asarray(place + rotate(turn, self.b))


# --- inertia


@dataclass(frozen=True, slots=True)
class Inertia:
    """What a joint carries rigidly.

    Attributes:
        mass: kilograms, 0 or more.
        center: (3,) its centre of mass in the joint's frame, metres.
        moments: (6,) xx, yy, zz, xy, xz, yz about the centre along the joint's axes, kg m^2: the entries of the matrix,
            so that products have the sign that they have there.
    """

    mass: float
    center: Vector = (0.0, 0.0, 0.0)
    moments: Moments = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        mass = float(finite_floats(self.mass, (), "inertia: mass"))
        if not 0.0 <= mass <= _LARGEST:
            least = f"0 to {_LARGEST:g}" if mass > 0.0 else "0 or more"
            raise InputError(f"inertia: mass: expected {least} kilograms, found {mass:g}")
        center = triple(self.center, "inertia: center")
        moments = finite_floats(self.moments, (6,), "inertia: moments")
        second, _ = _second_moments(_matrix(moments))
        if second[0] < -_ROUNDING * float(np.abs(moments).max()):
            found = ", ".join(f"{value:g}" for value in moments.tolist())
            raise InputError(f"inertia: moments: expected those of a body, no principal one above the sum of the "
                             f"other two, found {found}")  # fmt: skip
        put(self, mass=mass, center=center, moments=tuple(moments.tolist()))

    @property
    def matrix(self) -> Floats:
        """(3, 3) the moments about the centre along the joint's axes, kg m^2."""
        return _matrix(np.array(self.moments))

    def principal(self) -> tuple[Floats, Floats]:
        """(3,) principal moments, kg m^2, ascending, and (3, 3) their axes as columns, right-handed."""
        second, axes = _second_moments(self.matrix)
        second, axes = np.maximum(second[::-1], 0.0), axes[:, ::-1]
        return second.sum() - second, axes if np.linalg.det(axes) > 0.0 else -axes

    def reflected(self, flip: Floats) -> Inertia:
        """The mirror image; ``flip`` (3,) are the signs of the axes."""
        return Inertia.of(self.mass, flip * self.center, flip[:, None] * self.matrix * flip)

    @classmethod
    def of(cls, mass: float, center: ArrayLike, matrix: ArrayLike) -> Inertia:
        """From a symmetric matrix (3, 3); errors are those of the class."""
        found = np.asarray(matrix, dtype=np.float64)
        return cls(mass, tuple(np.asarray(center).tolist()), tuple(found[_ROWS, _COLUMNS].tolist()))

    @classmethod
    def nearest(cls, mass: float, center: ArrayLike, matrix: Floats) -> tuple[Inertia, bool]:
        """The inertia of a symmetric matrix (3, 3), or the nearest one that a body can have; and whether it differs."""
        second, axes = _second_moments(matrix)
        if second[0] >= -_ROUNDING * float(np.abs(matrix).max()):
            return cls.of(mass, center, matrix), False
        second = np.maximum(second, 0.0)
        return cls.of(mass, center, second.sum() * np.eye(3) - (axes * second) @ axes.T), True


def inertia_of_capsules(capsules: Iterable[tuple[Capsule, float]]) -> Inertia:
    """The inertia of solid capsules of one joint, each with its mass in kilograms."""
    parts = [(one, mass, 0.5 * np.add(one.a, one.b)) for one, mass in capsules]
    total = sum(mass for _, mass, _ in parts)
    if not total > 0.0:
        return Inertia(0.0)
    center = sum((mass * middle for _, mass, middle in parts), np.zeros(3)) / total
    matrix = np.zeros((3, 3))
    for one, mass, middle in parts:
        away = middle - center
        matrix += _capsule_matrix(one, mass) + mass * (away @ away * np.eye(3) - np.outer(away, away))
    return Inertia.of(total, center, matrix)


def _capsule_matrix(one: Capsule, mass: float) -> Floats:
    """(3, 3) of a solid capsule about its middle, kg m^2: a cylinder and two half balls of one density."""
    a, b, r = np.array(one.a), np.array(one.b), float(one.radius)
    length = float(np.linalg.norm(b - a))
    cylinder, ball = length, 4.0 / 3.0 * r  # volumes over pi r^2
    tube, ends = mass * cylinder / (cylinder + ball), mass * ball / (cylinder + ball)
    along = tube * r * r / 2.0 + ends * 0.4 * r * r
    across = tube * (length**2 / 12.0 + r * r / 4.0) + ends * (0.4 * r * r + length**2 / 4.0 + 0.375 * length * r)
    axis = (b - a) / length if length > 0.0 else _Z
    return np.asarray(across * np.eye(3) + (along - across) * np.outer(axis, axis))


def _matrix(moments: Floats) -> Floats:
    made = np.empty((3, 3))
    made[_ROWS, _COLUMNS] = made[_COLUMNS, _ROWS] = moments
    return made


def _second_moments(matrix: Floats) -> tuple[Floats, Floats]:
    """(3,) second moments of the mass, ascending, and (3, 3) their axes as columns."""
    most = float(np.abs(matrix).max())
    if not most <= _LARGEST:
        raise InputError(f"inertia: moments: expected at most {_LARGEST:g} kg m^2, found {most:g}")
    second, axes = np.linalg.eigh(0.5 * np.trace(matrix) * np.eye(3) - matrix)
    return np.asarray(second), np.asarray(axes)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A texture, as the bytes of its PNG or JPEG file.

    Attributes:
        data: the file.
        wrap: its continuation beyond its edges, horizontally and vertically.
    """

    data: bytes
    wrap: tuple[Wrap, Wrap] = ("repeat", "repeat")


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The material of a mesh.

    Attributes:
        colour: red, green, blue, alpha in 0 .. 1, as displayed; it multiplies the picture.
        picture: of the base colour, or None.
        alpha: "mask" hides parts less opaque than ``cutoff``, "blend" is translucent.
        cutoff: of "mask".
        double_sided: whether back faces are visible.
    """

    colour: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    picture: Picture | None = None
    alpha: Alpha = "opaque"
    cutoff: float = 0.5
    double_sided: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles of one material.

    Attributes:
        name: of the mesh in its file.
        positions: (V, 3) in the mesh's own frame.
        triangles: (T, 3) indices of vertices, counter-clockwise from outside.
        bindings: (V, K) indices into the skin's bindings, K = 1, 4 or 8.
        weights: (V, K) their parts, which sum to 1.
        normals: (V, 3) of unit length; None: each triangle is flat.
        places: (V, 2) in the material's picture, from its upper left corner; None without one.
        colours: (V, 4) red, green, blue, alpha, 0 .. 255, as displayed, which multiply the material's; None: white.
        material: its look.
    """

    name: str
    positions: Singles
    triangles: NDArray[np.uint32]
    bindings: NDArray[np.uint16]
    weights: Singles
    normals: Singles | None = None
    places: Singles | None = None
    colours: NDArray[np.uint8] | None = None
    material: Material = field(default_factory=Material)

    def __post_init__(self) -> None:
        kinds = {"positions": "f4", "triangles": "u4", "bindings": "u2", "weights": "f4"}
        kinds |= {"normals": "f4", "places": "f4", "colours": "u1"}
        for name, kind in kinds.items():
            array = getattr(self, name)
            if array is not None:
                put(self, **{name: frozen(array, np.dtype(kind))})


class Sizes(NamedTuple):
    """How a clip changes the size of what follows some joints; poses do not contain this.

    ``changes`` (F, K, 3, 3) of ``joints`` (K,) are from the size at rest, in the joint's frame.
    """

    joints: Ints
    changes: Singles


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """All meshes of a character.

    A binding is a joint and the transform from a mesh into that joint's frame. A vertex x is at
    sum_k w_k M_k x with M = world_from_joint joint_from_mesh of its bindings (linear blend skinning). The scales of the
    joints in a file are part of the transforms.

    Attributes:
        meshes: those that can be drawn.
        joints: (B,) the joint of each binding, or `WORLD`.
        transforms: (B, 3, 4) joint_from_mesh of each, metres.
        skeleton_joints: number of joints of the skeleton that it belongs to.
        parts: the parts of the file from which the meshes were read, in which they are written again; None: none.
        sizes: of joints that change theirs, by the name of the clip.
        contents: what these are, counted, such as "1 mesh".
    """

    meshes: tuple[Mesh, ...]
    joints: Ints
    transforms: Floats
    skeleton_joints: int
    parts: Any = None
    contents: tuple[str, ...] = ()
    sizes: Mapping[str, Sizes] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        put(self, joints=frozen(self.joints, np.intp), transforms=frozen(self.transforms))
        if len(self.joints) > MOST_BINDINGS:
            raise InputError(f"skin: expected at most {MOST_BINDINGS:,} bindings, found {len(self.joints):,}")
        if self.transforms.shape != (len(self.joints), 3, 4):
            raise InputError(f"skin transforms: expected {len(self.joints)} of 3 x 4, found {self.transforms.shape}")
        if len(self.joints) and not (self.joints.min() >= WORLD and self.joints.max() < self.skeleton_joints):
            raise InputError(f"skin joints: expected indices below {self.skeleton_joints}, found {self.joints.max()}")
        for mesh in self.meshes:
            most = (mesh.bindings, len(self.joints)), (mesh.triangles, len(mesh.positions))
            for indices, count in most:
                if indices.size and int(indices.max()) >= count:
                    raise InputError(f"skin mesh {mesh.name}: expected indices below {count}, found {indices.max()}")

    def __repr__(self) -> str:
        return f"<Skin: {self.vertices:,} vertices in {len(self.meshes)} meshes>"

    @property
    def vertices(self) -> int:
        """Number of vertices of all meshes."""
        return sum(len(mesh.positions) for mesh in self.meshes)

    @property
    def follows_joints(self) -> bool:
        """Whether there are meshes, and all of them follow joints."""
        return bool(self.meshes) and not (self.joints == WORLD).any()

    def size_at(self, clip: str | None, frame: int | None) -> Floats | None:
        """(J, 3, 3) change of size of all joints at a frame of a clip; None if there is none."""
        sizes = None if clip is None or frame is None else self.sizes.get(clip)
        if sizes is None or frame is None or not 0 <= frame < len(sizes.changes):
            return None
        result = np.tile(np.eye(3), (self.skeleton_joints, 1, 1))
        result[sizes.joints] = sizes.changes[frame]
        return result

    def matrices(self, positions: Floats, rotations: Floats, size: Floats | None = None) -> Floats:
        """(B, 3, 4) world_from_mesh of each binding, for the joints' world positions (J, 3) and rotations (J, 4).

        ``size`` is (J, 3, 3) as of `size_at`.
        """
        shapes = to_matrix(rotations) if size is None else to_matrix(rotations) @ size
        turns = np.concatenate([shapes, np.eye(3)[None]])[self.joints]  # the last one is WORLD
        places = np.concatenate([positions, np.zeros((1, 3))])[self.joints]
        result = turns @ self.transforms
        result[:, :, 3] += places
        return result

    def posed(self, positions: Floats, rotations: Floats, step: int = 1, size: Floats | None = None) -> Floats:
        """(V, 3) world positions of all vertices, mesh by mesh; ``step``: only every nth of each mesh.

        Positions, rotations and ``size`` are as of `matrices`.
        """
        matrices = self.matrices(positions, rotations, size)
        parts = [_placed(mesh, matrices, step) for mesh in self.meshes]
        return np.concatenate(parts) if parts else np.zeros((0, 3))


def _placed(mesh: Mesh, matrices: Floats, step: int) -> Floats:
    result = np.empty((-(-len(mesh.positions) // step), 3))
    for start in range(0, len(result), _BLOCK):
        rows = slice(start * step, (start + _BLOCK) * step, step)
        blended = np.einsum("vk,vkij->vij", mesh.weights[rows].astype(np.float64), matrices[mesh.bindings[rows]])
        flat = np.einsum("vij,vj->vi", blended[:, :, :3], mesh.positions[rows].astype(np.float64))
        result[start : start + _BLOCK] = flat + blended[:, :, 3]
    return result
