"""Reading glTF 2.0: the joints of a skin, or what is animated, as a skeleton with clips and its meshes as a skin.

A mesh that cannot be shown is left out with a warning: the skeleton still opens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, of_file, quote, shown
from viewer.formats.bounds import check_counts, room_for_frames
from viewer.formats.gltf.container import DRACO, MARK, Accessors, CompressedError, File, Index, counted, open_gltf
from viewer.formats.gltf.mesh_parts import Instance, Materials, displayed, keep, part, transform_of
from viewer.formats.gltf.nodes import (
    FIGURE,
    OBJECT,
    Local,
    Track,
    Tree,
    bake,
    carried,
    count_carriers,
    figures_in,
    find_tree,
    frame_grid,
    local_motion,
    local_of,
    parents_of,
    sizes_of,
    times_of,
    tracks_of,
    without_carriers,
    without_figures,
)
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import unconverted
from viewer.skeleton import Character, Clip, FreeNames, JointKind, Skeleton, Skin, Source, rest_world
from viewer.skeleton.attached import MOST_BINDINGS, WORLD, Mesh, Sizes
from viewer.skeleton.names import find_effectors, unique_names
from viewer.spatial.checks import Floats, handed_over
from viewer.spatial.quaternion import to_matrix, unit

_INFLUENCES = 8
"""Most joints that move a vertex: those of the largest weights."""
_MODES = {4: "triangles", 5: "a strip", 6: "a fan"}
_WARNINGS = 5
"""Meshes that are left out with a line each; the others are counted."""

_MOVED = 1e-9
"""A translation counts as animated if it differs from rest by more than this fraction of the skeleton's size."""
_BLOCK = 1 << 19
"""Nodes times frames that are computed together."""


def read_gltf(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a .gltf or .glb file."""
    file, buffers = open_gltf(path, name)
    size = path.stat().st_size + sum(len(data) for data in {id(data): data for data in buffers}.values())
    # An overflow is refused later, when the character is checked, with the name of its joint.
    with of_file(name), np.errstate(over="ignore", invalid="ignore"):
        character = _character(file, buffers, path, name, size)
    return replace(character, warnings=(*character.warnings, *unconverted("glTF", units, up)))


def _character(whole: File, buffers: list[bytes], path: Path, name: str, size: int) -> Character:
    file = without_figures(whole)
    tree, accessors = find_tree(file), Accessors(file, buffers)
    check_counts(len(tree.nodes), len(tree.tips))
    animations, compressed = _animations(file, tree, accessors)
    carriers = count_carriers(tree, {track.joint for _, tracks in animations for track in tracks})
    joints = without_carriers(tree, carriers)
    names, warnings = unique_names([_name(file, node) for node in joints.nodes])
    warnings += compressed
    rest, shears = bake(tree, local_motion(tree, [], np.zeros(1)))
    skeleton = _skeleton(joints, names, carried(rest, carriers), Path(name).stem)
    clips: dict[str, Clip] = {}
    sizes: dict[str, Sizes] = {}
    free, room = FreeNames(), room_for_frames(size)
    for wanted, tracks in animations:
        called = free.take(wanted)
        room = _taken(room, sum(map(len, times_of(tracks))), called)
        times, frame_time, notes = frame_grid(tracks, called)
        room = _taken(room, len(times) * len(tree.nodes), called)
        baked, sheared = _baked(tree, tracks, times, carriers)
        clips[called] = _clip(called, frame_time, skeleton, baked)
        changes = sizes_of(tree, tracks, times, carriers)
        if changes is not None:
            sizes[called] = changes
        warnings += notes
        shears |= sheared
    if shears:
        listed = ", ".join(shown(_name(file, tree.nodes[joint])) for joint in sorted(shears)[:3])
        warnings.append(
            f"scale that differs between axes shears what hangs on {listed}: places are right, shapes are not"
        )
    skin, notes = _skin(file, accessors, buffers, path, tree, carriers, skeleton)
    warnings += notes
    if skin is not None:
        skin = replace(skin, sizes=MappingProxyType(sizes))
        warnings += _not_followed(file, sizes, names)
    ours = file.asset.generator == MARK  # the only mesh of such a file may be that of the bones
    objects = sum(node.mark == OBJECT for node in file.nodes)
    beside = {"camera": len(file.cameras), "object": objects, "other figure": figures_in(whole)}
    unread = counted(({} if skin or ours else file.counts()) | beside)
    source = Source(path=name, format="gltf", joint_order=tuple(range(len(names))), unread=unread)
    limited, limits_from = derived_limits(skeleton, clips.values())
    return Character(limited, MappingProxyType(clips), source, tuple(warnings), limits_from, skin)


def _name(file: File, node: int) -> str:
    return file.nodes[node].name or f"node{node}"


def _animations(file: File, tree: Tree, accessors: Accessors) -> tuple[list[tuple[str, list[Track]]], list[str]]:
    """Name and tracks of each animation that moves the tree, and a warning if some cannot be read."""
    found: list[tuple[str, list[Track]]] = []
    lost: list[str] = []
    for index, animation in enumerate(file.animations):
        name = animation.name or f"animation{index}"
        try:
            tracks = tracks_of(animation, tree, accessors, f"animations[{index}]")
        except CompressedError as error:
            lost.append(f"clip {quote(name)} is not read: {error.problem}")
            continue
        if tracks:
            found.append((name, tracks))
    more = [f"{len(lost) - 1} more clips are not read"] if len(lost) > 1 else []
    return found, lost[:1] + more


def _not_followed(file: File, sizes: Mapping[str, Sizes], names: tuple[str, ...]) -> list[str]:
    """Changes of meshes by clips that are not kept or not followed, a line each."""
    lines = []
    if sizes:
        clip, each = next(iter(sizes.items()))
        joint = shown(names[int(each.joints[0])])
        lines.append(f"clip {quote(clip)} changes the size of {joint}: shown while it plays, but not written again")
    if any(channel.target.path == "weights" for animation in file.animations for channel in animation.channels):
        lines.append("animated morph targets are not followed: the meshes keep their shape at rest")
    return lines


def _skeleton(tree: Tree, names: tuple[str, ...], rest: Local, name: str) -> Skeleton:
    tip_parents = np.array([joint for joint, _ in tree.tips], dtype=np.intp)
    order = np.argsort(tip_parents, kind="stable")
    tip_parents = tip_parents[order]
    places = np.array([place for _, place in tree.tips], dtype=np.float64).reshape(-1, 3)[order]
    tip_offsets = places * rest.scales[0][tip_parents]
    return Skeleton(
        name=name,
        names=names,
        parents=tree.parents,
        offsets=rest.translations[0],
        rest_rotations=rest.rotations[0],
        # Roots are free even if they are no joints: the bodies of two skins under one node move only by that node.
        kinds=tuple(
            JointKind.FREE if parent < 0 else JointKind.BALL if is_joint else JointKind.FIXED
            for is_joint, parent in zip(tree.joints, tree.parents.tolist(), strict=True)
        ),
        tip_parents=tip_parents,
        tip_offsets=tip_offsets,
        effectors=find_effectors(names, tree.parents, tip_parents, tip_offsets),
    )


def _taken(room: int, wanted: int, clip: str) -> int:
    """The nodes times frames that a clip leaves for others."""
    if wanted > room:
        found = f"expected at most {room:,} nodes times frames for a file of this size, found {wanted:,}"
        raise FormatError(f"clip {quote(clip)}: {found}")
    return room - wanted


def _baked(tree: Tree, tracks: list[Track], times: Floats, carriers: int) -> tuple[tuple[Floats, Floats], set[int]]:
    """Translations (F, J, 3) and rotations (F, J, 4) of the joints at all times, and the nodes whose scale shears.

    It is computed block by block, because intermediate results take more memory than the motion itself.
    """
    shape, shears = (len(times), len(tree.nodes) - carriers), set[int]()
    result = np.empty((*shape, 3)), np.empty((*shape, 4))
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(times), step):
        frames = slice(start, start + step)
        baked, sheared = bake(tree, local_motion(tree, tracks, times, frames))
        for each, block in zip(result, carried(baked, carriers), strict=False):
            each[frames] = block
        shears |= sheared
    return result, shears


def _clip(name: str, frame_time: float, skeleton: Skeleton, motion: tuple[Floats, Floats]) -> Clip:
    translations, rotations = motion
    high, low = translations.max(axis=0), translations.min(axis=0)
    size = max(*(float(np.abs(each).max()) for each in (skeleton.offsets, high, low)), 1e-300)
    apart = np.maximum(high - skeleton.offsets, skeleton.offsets - low) > _MOVED * size
    moved = np.flatnonzero(apart.any(axis=1))
    return Clip(
        name=name,
        frame_time=frame_time,
        rotations=handed_over(rotations),
        translated=moved,
        translations=handed_over(translations[:, moved]),
        offsets=skeleton.offsets,
    )


# --- the skin


class _Primitive(msgspec.Struct, rename="camel"):
    """Triangles of one material."""

    attributes: dict[str, Index]
    indices: Index | None = None
    material: Index | None = None
    mode: int = 4
    targets: list[dict[str, Index]] = []
    extensions: Any = None


class _Mesh(msgspec.Struct, rename="camel"):
    """A mesh; weights are those of morph targets at rest."""

    primitives: list[_Primitive]
    weights: list[float] = []
    name: str = ""


def _skin(
    file: File,
    accessors: Accessors,
    buffers: list[bytes],
    path: Path,
    tree: Tree,
    carriers: int,
    skeleton: Skeleton,
) -> tuple[Skin | None, list[str]]:
    """The skin of a file, None if nothing can be shown, and a line for each part that cannot be shown.

    Pictures may be beside the file at ``path``; ``skeleton`` was made of the tree's nodes but for those that carry it.
    """
    file = _without_objects(file)
    reader = _Reader(file, accessors, Materials(file, buffers, path), tree, carriers, skeleton)
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
        skeleton_joints=len(skeleton),
        parts=parts,
        contents=counted(file.counts()),
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
        own = [part(meshes, index, _Mesh, "meshes") for index in range(len(meshes))]
        used = [each.material for mesh in own for each in mesh.primitives if each.material is not None]
        materials = materials[: 1 + max(used, default=-1)]
    return msgspec.structs.replace(file, nodes=nodes, meshes=meshes, materials=materials)


def _is_drawn_bones(file: File, node: int) -> bool:
    """Whether a mesh is the picture of the bones that ikviewer writes where there is no skin."""
    return file.asset.generator == MARK and file.nodes[node].mark is None and file.nodes[node].name.endswith(" bones")


class _Reader:
    """Collects meshes and bindings, as of `Skin`; ``warnings`` are repairs, a line each."""

    def __init__(
        self, file: File, accessors: Accessors, materials: Materials, tree: Tree, carriers: int, skeleton: Skeleton
    ) -> None:
        self.meshes: list[Mesh] = []
        self.joints: list[int] = []
        self.transforms: list[Floats] = []
        self.warnings: list[str] = []
        self.materials = materials
        self._file, self._accessors, self._rest = file, accessors, rest_world(skeleton)
        self._joints = {node: max(index - carriers, WORLD) for index, node in enumerate(tree.nodes)}
        self._worlds = _worlds(file, tree)
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
        return self._scene is None or node in self._scene

    def instance(self, index: int) -> Instance:
        """Read the mesh of a node; of one that cannot be shown nothing is kept."""
        file, node = self._file, self._file.nodes[index]
        assert node.mesh is not None
        data = part(file.meshes, node.mesh, _Mesh, "meshes")
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
        while above >= 0 and above not in self._joints and above not in self._anchors:
            below.append(above)
            above = self._parents[above]
        if above in self._anchors:
            joint, matrix = self._anchors[above]
        elif above < 0:
            joint, matrix = WORLD, np.eye(4)
        else:
            joint, matrix = self._joints[above], self._worlds[above]
            if joint != WORLD:
                matrix = _inverse(self._rest.positions[joint], self._rest.rotations[joint]) @ matrix
        self._anchors[above] = joint, matrix
        for each in reversed(below):
            matrix = matrix @ _local_matrix(self._file, each)
            self._anchors[each] = joint, matrix
        return joint, matrix

    def _mesh(
        self, name: str, data: _Primitive, bindings: range, morphs: list[float], skinned: bool, path: str
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

    def _rows(self, data: _Primitive, name: str, components: int, count: int, path: str) -> Floats:
        rows = self._accessors.floats(data.attributes[name], components, f"{path}.attributes.{name}")
        if len(rows) != count:
            raise FormatError(f"expected {count} vertices, found {len(rows)}", path=f"{path}.attributes.{name}")
        return rows

    def _attribute(self, data: _Primitive, name: str, morphs: list[float], path: str) -> Floats:
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

    def _normals(self, data: _Primitive, morphs: list[float], count: int, path: str) -> NDArray[np.float32] | None:
        if "NORMAL" not in data.attributes:
            return None
        self._rows(data, "NORMAL", 3, count, path)
        return unit(self._attribute(data, "NORMAL", morphs, path)).astype(np.float32)

    def _colours(self, data: _Primitive, count: int, path: str) -> NDArray[np.uint8] | None:
        if "COLOR_0" not in data.attributes:
            return None
        index = data.attributes["COLOR_0"]
        wide = 3 if index < len(self._file.accessors) and self._file.accessors[index].type == "VEC3" else 4
        rows = self._rows(data, "COLOR_0", wide, count, path)
        alpha = np.ones((count, 1)) if wide == 3 else np.clip(rows[:, 3:], 0.0, 1.0)
        return np.rint(255.0 * np.concatenate([displayed(rows[:, :3]), alpha], axis=1)).astype(np.uint8)

    def _triangles(self, data: _Primitive, count: int, path: str) -> NDArray[np.uint32]:
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
        self, data: _Primitive, bindings: range, count: int, name: str, path: str
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


def _worlds(file: File, tree: Tree) -> dict[int, Floats]:
    """The world transforms (4, 4) of the tree's nodes at rest, with scales."""
    worlds: list[Floats] = []
    for node, parent in zip(tree.nodes, tree.parents.tolist(), strict=True):
        own = _local_matrix(file, node)
        worlds.append(own if parent < 0 else worlds[parent] @ own)
    return dict(zip(tree.nodes, worlds, strict=True))


def _inverse(position: Floats, rotation: Floats) -> Floats:
    """(4, 4) joint_from_world of a rigid pose."""
    result = np.eye(4)
    result[:3, :3] = to_matrix(rotation).T
    result[:3, 3] = -result[:3, :3] @ position
    return result


def _local_matrix(file: File, node: int) -> Floats:
    """(4, 4) parent_from_node at rest."""
    stated = file.nodes[node].matrix
    if stated is not None:
        return np.array(stated, dtype=np.float64).reshape(4, 4).T
    translation, rotation, scale = local_of(file.nodes[node], node)
    result = np.eye(4)
    result[:3, :3] = to_matrix(rotation) * scale
    result[:3, 3] = translation
    return result
