"""Reading the meshes of a glTF file as the skin of its skeleton.

A mesh that cannot be shown is left out with a warning: the skeleton still opens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, shown
from viewer.formats.gltf import container
from viewer.formats.gltf.container import DRACO, MARK, Accessors, File, Index
from viewer.formats.gltf.mesh_parts import Instance, Materials, displayed, keep, part, transform_of
from viewer.formats.gltf.nodes import FIGURE, OBJECT, local_of, parents_of
from viewer.skeleton import Skin
from viewer.skeleton.attached import MOST_BINDINGS, WORLD, Mesh
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import to_matrix
from viewer.spatial.vectors import unit

_INFLUENCES = 8
"""Most joints that move a vertex: those of the largest weights."""
_MODES = {4: "triangles", 5: "a strip", 6: "a fan"}
_WARNINGS = 5
"""Meshes that are left out with a line each; the others are counted."""


class PrimitiveData(msgspec.Struct, rename="camel"):
    """Triangles of one material."""

    attributes: dict[str, Index]
    indices: Index | None = None
    material: Index | None = None
    mode: int = 4
    targets: list[dict[str, Index]] = []
    extensions: Any = None


class MeshData(msgspec.Struct, rename="camel"):
    """A mesh; weights are those of morph targets at rest."""

    primitives: list[PrimitiveData]
    weights: list[float] = []
    name: str = ""


class Rig(NamedTuple):
    """The joints of the skeleton in the file's nodes; -1 for nodes above it, which stand still.

    ``worlds`` are the nodes' (4, 4) transforms at rest, with scales; ``positions`` (J, 3) and ``rotations`` (J, 4) the
    world pose of the skeleton at rest.
    """

    joints: Mapping[int, int]
    worlds: Mapping[int, Floats]
    positions: Floats
    rotations: Floats


def read_skin(
    file: File, accessors: Accessors, buffers: list[bytes], path: Path, rig: Rig
) -> tuple[Skin | None, list[str]]:
    """The skin of a file, None if nothing can be shown, and a line for each part that cannot be shown.

    Pictures may be beside the file at ``path``; ``rig`` is of the skeleton that was made of its nodes.
    """
    file = _without_objects(file)
    reader = _Reader(file, accessors, Materials(file, buffers, path), rig)
    instances: list[Instance] = []
    failed: list[str] = []
    for index, node in enumerate(file.nodes):
        if node.mesh is None or not reader.is_in_scene(index) or _is_drawn_bones(file, index):
            continue
        try:
            instances.append(reader.instance(index))
        except FormatError as error:
            error.file = None
            called = f"mesh {shown(node.name)}" if node.name else f"the mesh of node {index}"
            failed.append(f"{called} is not shown: {error}")
    lines = failed[:_WARNINGS]
    lines += [f"{len(failed) - _WARNINGS} more meshes are not shown"] if len(failed) > _WARNINGS else []
    lines += reader.warnings + reader.materials.warnings
    if not instances:
        return None, lines
    try:
        parts = keep(file, buffers, instances, reader.materials.image)
    except FormatError as error:
        error.file = None
        lines.append(f"the meshes cannot be written again: {error}")
        parts = None
    skin = Skin(
        meshes=tuple(reader.meshes),
        joints=np.array(reader.joints, dtype=np.intp),
        transforms=np.array(reader.transforms).reshape(-1, 3, 4),
        skeleton_joints=len(rig.positions),
        parts=parts,
        contents=container.counted(file.counts()),
    )
    return skin, lines


def _without_objects(file: File) -> File:
    """The file without the meshes of objects and figures beside the figure and their materials, which come last.

    The figure's own counts are then right, and it is written again without what belonged to the objects.
    """
    if not any(node.mark in (OBJECT, FIGURE) for node in file.nodes):
        return file
    nodes = [msgspec.structs.replace(node, mesh=None) if node.mark == OBJECT else node for node in file.nodes]
    meshes = file.meshes[: 1 + max((node.mesh for node in nodes if node.mesh is not None), default=-1)]
    materials = file.materials
    with contextlib.suppress(FormatError):  # a mesh that cannot be read is reported with its node
        own = [part(meshes, index, MeshData, "meshes") for index in range(len(meshes))]
        used = [each.material for mesh in own for each in mesh.primitives if each.material is not None]
        materials = materials[: 1 + max(used, default=-1)]
    return msgspec.structs.replace(file, nodes=nodes, meshes=meshes, materials=materials)


def _is_drawn_bones(file: File, node: int) -> bool:
    """Whether a mesh is the picture of the bones that ikviewer writes where there is no skin."""
    return file.asset.generator == MARK and file.nodes[node].mark is None and file.nodes[node].name.endswith(" bones")


class _Reader:
    """Collects meshes and bindings, as of `Skin`; ``warnings`` are repairs, a line each."""

    def __init__(self, file: File, accessors: Accessors, materials: Materials, rig: Rig) -> None:
        """Begin without meshes."""
        self.meshes: list[Mesh] = []
        self.joints: list[int] = []
        self.transforms: list[Floats] = []
        self.warnings: list[str] = []
        self.materials = materials
        self._file, self._accessors, self._rig = file, accessors, rig
        self._parents = parents_of(file)
        self._skins: dict[int, range] = {}
        self._anchors: dict[int, tuple[int, Floats]] = {}
        self._scene = self._nodes_of_scene()

    def _nodes_of_scene(self) -> set[int] | None:
        """The nodes of the file's scene; None if it does not say, so that all count."""
        file = self._file
        which = file.scene or 0
        if which >= len(file.scenes):
            return None
        found: set[int] = set()
        left = [node for node in file.scenes[which].nodes if node < len(file.nodes)]
        while left:
            node = left.pop()
            if node not in found:
                found.add(node)
                left += file.nodes[node].children
        return found or None

    def is_in_scene(self, node: int) -> bool:
        """Whether a node belongs to the file's scene."""
        return self._scene is None or node in self._scene

    def instance(self, index: int) -> Instance:
        """Read the mesh of a node; of one that cannot be shown nothing is kept."""
        file, node = self._file, self._file.nodes[index]
        assert node.mesh is not None
        data = part(file.meshes, node.mesh, MeshData, "meshes")
        first = len(self.joints)
        try:
            bindings = range(first, first + 1) if node.skin is None else self._skin(node.skin)
            if node.skin is None:
                self._bind(*self._anchor(index))
            name = node.name or data.name or f"mesh{node.mesh}"
            weights = node.weights if node.weights is not None else data.weights
            where = f"meshes[{node.mesh}]"
            made = [
                self._mesh(name, each, bindings, weights, node.skin is not None, f"{where}.primitives[{i}]")
                for i, each in enumerate(data.primitives)
            ]
        except FormatError:
            del self.joints[first:], self.transforms[first:]
            self._skins = {skin: kept for skin, kept in self._skins.items() if kept.start < first}
            raise
        if not made:
            raise FormatError("expected triangles, found none", path=where)
        self.meshes += made
        skin = "" if node.skin is None else file.skins[node.skin].name
        return Instance(name, node.mesh, bindings, node.skin is not None, skin, node.weights)

    def _bind(self, joint: int, transform: Floats) -> None:
        if len(self.joints) >= MOST_BINDINGS:
            raise FormatError(f"expected at most {MOST_BINDINGS:,} joints of skins, found more")
        if not np.isfinite(transform).all():
            raise FormatError("expected finite transforms, found numbers too large")
        self.joints.append(joint)
        self.transforms.append(transform[:3])

    def _skin(self, index: int) -> range:
        file, path = self._file, f"skins[{index}]"
        if index in self._skins:
            return self._skins[index]
        if index >= len(file.skins):
            raise FormatError(f"expected one of {len(file.skins)} skins, found {index}", path="skins")
        skin, first = file.skins[index], len(self.joints)
        inverse = np.broadcast_to(np.eye(4), (len(skin.joints), 4, 4))
        stated = skin.inverse_bind_matrices
        if stated is not None:
            if isinstance(stated, bool) or not isinstance(stated, int) or stated < 0:
                raise FormatError("expected an accessor", path=f"{path}.inverseBindMatrices")
            flat = self._accessors.floats(stated, 16, f"{path}.inverseBindMatrices")
            if len(flat) < len(skin.joints):
                found = f"expected {len(skin.joints)} matrices, found {len(flat)}"
                raise FormatError(found, path=f"{path}.inverseBindMatrices")
            inverse = flat.reshape(-1, 4, 4).swapaxes(1, 2)
        for node, matrix in zip(skin.joints, inverse, strict=False):
            joint, local = self._anchor(node)
            self._bind(joint, local @ matrix)
        self._skins[index] = range(first, len(self.joints))
        return self._skins[index]

    def _anchor(self, node: int) -> tuple[int, Floats]:
        """The joint that carries a node, and (4, 4) joint_from_node at rest, with scales."""
        below: list[int] = []
        above = node
        while above >= 0 and above not in self._rig.joints and above not in self._anchors:
            below.append(above)
            above = self._parents[above]
        if above in self._anchors:
            joint, matrix = self._anchors[above]
        elif above < 0:
            joint, matrix = WORLD, np.eye(4)
        else:
            joint, matrix = self._rig.joints[above], self._rig.worlds[above]
            if joint != WORLD:
                matrix = _inverse(self._rig.positions[joint], self._rig.rotations[joint]) @ matrix
        self._anchors[above] = joint, matrix
        for each in reversed(below):
            matrix = matrix @ local_matrix(self._file, each)
            self._anchors[each] = joint, matrix
        return joint, matrix

    def _mesh(
        self, name: str, data: PrimitiveData, bindings: range, morphs: list[float], skinned: bool, path: str
    ) -> Mesh:
        if isinstance(data.extensions, dict) and DRACO in data.extensions:
            raise FormatError(f"it needs {DRACO}, which is not supported", path=path)
        if data.mode not in _MODES:
            raise FormatError("expected triangles, found points or lines", path=f"{path}.mode")
        if "POSITION" not in data.attributes:
            raise FormatError("expected positions, found none", path=f"{path}.attributes")
        positions = self._attribute(data, "POSITION", morphs, path)
        count = len(positions)
        triangles = self._triangles(data, count, path)
        material, use = self.materials.material(data.material)
        normals = self._normals(data, morphs, count, path)
        places = None
        if use is not None:
            which, matrix = transform_of(use)
            if f"TEXCOORD_{which}" in data.attributes:
                flat = self._rows(data, f"TEXCOORD_{which}", 2, count, path)
                places = flat @ matrix[:, :2].T + matrix[:, 2]
        if not skinned:
            own, weights = np.full((count, 1), bindings.start), np.ones((count, 1))
        else:
            own, weights = self._influences(data, bindings, count, name, path)
        return Mesh(
            name=name,
            positions=positions.astype(np.float32),
            triangles=triangles,
            bindings=own.astype(np.uint16),
            weights=weights.astype(np.float32),
            normals=normals,
            places=None if places is None else places.astype(np.float32),
            colours=self._colours(data, count, path),
            material=material if places is not None else replace(material, picture=None),
        )

    def _rows(self, data: PrimitiveData, name: str, components: int, count: int, path: str) -> Floats:
        rows = self._accessors.floats(data.attributes[name], components, f"{path}.attributes.{name}")
        if len(rows) != count:
            raise FormatError(f"expected {count} vertices, found {len(rows)}", path=f"{path}.attributes.{name}")
        return rows

    def _attribute(self, data: PrimitiveData, name: str, morphs: list[float], path: str) -> Floats:
        """An attribute (V, 3) with its morph targets as they are at rest."""
        rows = self._accessors.floats(data.attributes[name], 3, f"{path}.attributes.{name}")
        for target, weight in zip(data.targets, morphs, strict=False):
            if weight and name in target:
                more = self._accessors.floats(target[name], 3, f"{path}.targets")
                if len(more) != len(rows):
                    raise FormatError(f"expected {len(rows)} vertices, found {len(more)}", path=f"{path}.targets")
                rows = rows + weight * more
        if not bool((np.abs(rows) <= np.finfo(np.float32).max).all()):
            raise FormatError("expected finite numbers, found some that are too large", path=f"{path}.attributes")
        return rows

    def _normals(self, data: PrimitiveData, morphs: list[float], count: int, path: str) -> NDArray[np.float32] | None:
        if "NORMAL" not in data.attributes:
            return None
        self._rows(data, "NORMAL", 3, count, path)
        return unit(self._attribute(data, "NORMAL", morphs, path)).astype(np.float32)

    def _colours(self, data: PrimitiveData, count: int, path: str) -> NDArray[np.uint8] | None:
        if "COLOR_0" not in data.attributes:
            return None
        index = data.attributes["COLOR_0"]
        wide = 3 if index < len(self._file.accessors) and self._file.accessors[index].type == "VEC3" else 4
        rows = self._rows(data, "COLOR_0", wide, count, path)
        alpha = np.ones((count, 1)) if wide == 3 else np.clip(rows[:, 3:], 0.0, 1.0)
        return np.rint(255.0 * np.concatenate([displayed(rows[:, :3]), alpha], axis=1)).astype(np.uint8)

    def _triangles(self, data: PrimitiveData, count: int, path: str) -> NDArray[np.uint32]:
        """(T, 3) indices of vertices."""
        if data.indices is None:
            row = np.arange(count)
        else:
            stated = self._accessors.floats(data.indices, 1, f"{path}.indices")[:, 0]
            row = stated.astype(np.intp)
            if row.size and not (int(row.min()) >= 0 and int(row.max()) < count):
                worst = int(row.max()) if int(row.max()) >= count else int(row.min())
                raise FormatError(f"expected indices below {count}, found {worst}", path=f"{path}.indices")
        if len(row) < 3:
            raise FormatError("expected triangles, found none", path=path)
        if data.mode == 4:
            corners = row[: len(row) // 3 * 3].reshape(-1, 3)
        elif data.mode == 5:
            corners = np.stack([row[:-2], row[1:-1], row[2:]], axis=1)
            corners[1::2] = corners[1::2, [1, 0, 2]]
        else:
            corners = np.stack([np.broadcast_to(row[0], len(row) - 2), row[1:-1], row[2:]], axis=1)
        return corners.astype(np.uint32)

    def _influences(
        self, data: PrimitiveData, bindings: range, count: int, name: str, path: str
    ) -> tuple[NDArray[np.intp], Floats]:
        """Bindings and weights (V, 4 or 8), the weights summing to 1."""
        sets = 0
        while f"JOINTS_{sets}" in data.attributes and f"WEIGHTS_{sets}" in data.attributes:
            sets += 1
        if not sets:
            raise FormatError("expected JOINTS_0 and WEIGHTS_0, found none", path=f"{path}.attributes")
        joints = np.concatenate([self._rows(data, f"JOINTS_{i}", 4, count, path) for i in range(sets)], axis=1)
        weights = np.concatenate([self._rows(data, f"WEIGHTS_{i}", 4, count, path) for i in range(sets)], axis=1)
        weights = np.maximum(weights, 0.0)
        joints = np.where(weights > 0.0, joints, 0.0 if not weights.size else joints[:, :1])
        if 4 * sets > _INFLUENCES:
            largest = np.argsort(-weights, axis=1, kind="stable")[:, :_INFLUENCES]
            joints, weights = np.take_along_axis(joints, largest, 1), np.take_along_axis(weights, largest, 1)
        sums = weights.sum(axis=1, keepdims=True)
        lost = ~((sums > 0.0) & np.isfinite(sums))[:, 0]
        if lost.any():
            weights[lost] = np.eye(1, weights.shape[1])
            sums[lost] = 1.0
            some = f"{int(lost.sum()):,} vertices have" if lost.sum() > 1 else "a vertex has"
            follow = "they follow their first joints" if lost.sum() > 1 else "it follows its first joint"
            self.warnings.append(f"mesh {shown(name)}: {some} no weight: {follow}")
        if joints.size and not (joints.min() >= 0 and joints.max() < len(bindings)):
            found = f"expected joints below {len(bindings)}, found {joints.max():g}"
            raise FormatError(found, path=f"{path}.attributes.JOINTS_0")
        return joints.astype(np.intp) + bindings.start, np.asarray(weights / sums)


def _inverse(position: Floats, rotation: Floats) -> Floats:
    """(4, 4) joint_from_world of a rigid pose."""
    result = np.eye(4)
    result[:3, :3] = to_matrix(rotation).T
    result[:3, 3] = -result[:3, :3] @ position
    return result


def local_matrix(file: container.File, node: int) -> Floats:
    """(4, 4) parent_from_node at rest."""
    stated = file.nodes[node].matrix
    if stated is not None:
        return np.array(stated, dtype=np.float64).reshape(4, 4).T
    translation, rotation, scale = local_of(file.nodes[node], node)
    result = np.eye(4)
    result[:3, :3] = to_matrix(rotation) * scale
    result[:3, 3] = translation
    return result
