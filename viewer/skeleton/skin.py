"""The skin of a character: meshes whose vertices follow the joints by weight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.spatial.checks import Floats, Ints, frozen
from viewer.spatial.quaternion import to_matrix

Singles = NDArray[np.float32]
Wrap = Literal["repeat", "clamp", "mirror"]
Alpha = Literal["opaque", "mask", "blend"]

WORLD = -1
"""The joint index of vertices that are fixed in the world."""
MOST_BINDINGS = 1 << 16
"""Bindings of a skin, whose indices are of 16 bits."""


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
        """Keep the arrays read-only."""
        kinds = {"positions": "f4", "triangles": "u4", "bindings": "u2", "weights": "f4"}
        kinds |= {"normals": "f4", "places": "f4", "colours": "u1"}
        for name, kind in kinds.items():
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, frozen(array, np.dtype(kind)))


class Sizes(NamedTuple):
    """How a clip changes the size of what follows some joints; poses do not contain this.

    Attributes:
        joints: (K,) the joints.
        changes: (F, K, 3, 3) from the size at rest, in the joint's frame.
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
        """Check that indices are of existing bindings, joints and vertices.

        Raises:
            InputError: an index out of range.
        """
        object.__setattr__(self, "joints", frozen(self.joints, np.intp))
        object.__setattr__(self, "transforms", frozen(self.transforms))
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
        """How many vertices and meshes."""
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

        Args:
            positions: (J, 3) of the joints, world, metres.
            rotations: (J, 4) world_from_joint.
            size: (J, 3, 3) as of `size_at`.
        """
        shapes = to_matrix(rotations) if size is None else to_matrix(rotations) @ size
        turns = np.concatenate([shapes, np.eye(3)[None]])[self.joints]  # the last one is WORLD
        places = np.concatenate([positions, np.zeros((1, 3))])[self.joints]
        result = turns @ self.transforms
        result[:, :, 3] += places
        return result

    def posed(self, positions: Floats, rotations: Floats, step: int = 1, size: Floats | None = None) -> Floats:
        """(V, 3) world positions of all vertices, mesh by mesh; ``step``: only every nth of each mesh.

        Args:
            positions: (J, 3) of the joints, world, metres.
            rotations: (J, 4) world_from_joint.
            step: 1 for all vertices.
            size: (J, 3, 3) as of `size_at`.
        """
        matrices = self.matrices(positions, rotations, size)
        parts = [_placed(mesh, matrices, step) for mesh in self.meshes]
        return np.concatenate(parts) if parts else np.zeros((0, 3))


_BLOCK = 1 << 15
"""Vertices that are computed together, which bounds memory."""


def _placed(mesh: Mesh, matrices: Floats, step: int) -> Floats:
    result = np.empty((-(-len(mesh.positions) // step), 3))
    for start in range(0, len(result), _BLOCK):
        rows = slice(start * step, (start + _BLOCK) * step, step)
        blended = np.einsum("vk,vkij->vij", mesh.weights[rows].astype(np.float64), matrices[mesh.bindings[rows]])
        flat = np.einsum("vij,vj->vi", blended[:, :, :3], mesh.positions[rows].astype(np.float64))
        result[start : start + _BLOCK] = flat + blended[:, :, 3]
    return result
