"""Writing glTF 2.0: joints as a skin, bones or the kept meshes, clips as animations, arrays in one buffer.

Objects beside a figure, such as balls and props, are a node with a mesh each, moved by the first clip.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import write_whole
from viewer.formats.gltf import container
from viewer.formats.gltf.mesh_parts import Instance, Parts, linear
from viewer.formats.gltf.nodes import FIGURE, JOINT, MESH, OBJECT, ROOT, named_as_tip
from viewer.formats.meshes import primitive
from viewer.formats.save import check_range, left_out, nodes_only
from viewer.ik.contact import Object, Sphere, surface_of
from viewer.ik.contact.values import placed
from viewer.skeleton import Character, Clip, JointKind, Pose, Skeleton, Skin, World, rest_world
from viewer.skeleton.attached import WORLD
from viewer.skeleton.bodies import bone_mesh
from viewer.skeleton.kinematics import joints_and_tips
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import conjugate, face_normals, hemisphere_continuous, rotate, to_matrix

_MOST_SMALL_JOINTS = 256
"""Joints that indices of one byte can distinguish."""

_GREY, _CLAY = [0.55, 0.6, 0.66, 1.0], [0.62, 0.42, 0.26, 1.0]
"""Base colours of bones and of objects beside them, linear."""
_SHAPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_TYPES = {"|u1": 5121, "<u2": 5123, "<f4": 5126}
_VERTICES = 34962
"""`BufferView.target` of attributes of vertices, by its name in OpenGL: ARRAY_BUFFER."""


def write_gltf(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write a .glb file, or a .gltf file with its data inside: metres, Y up, 32-bit floats.

    A character whose only clip has one frame is written in that pose, without an animation.
    """
    try:
        _write_character(character, path, options)
    except ValueError as error:  # raised for infinite numbers, which JSON does not have
        raise InputError("cannot be written as glTF: expected numbers within single precision") from error
    return [] if options.pose else left_out(character, "glTF", nodes_only(character.skeleton))


def _write_character(character: Character, path: Path, options: WriteOptions) -> None:
    skeleton = character.skeleton
    clips = list(character.clips.values())
    only = clips[0] if len(clips) == 1 and len(clips[0]) == 1 else None
    pose = only.pose(0) if only else skeleton.rest_pose()
    motion = (array for clip in clips for array in (clip.rotations, clip.translations))
    check_range("glTF", skeleton.offsets, skeleton.tip_offsets, *motion)
    buffer = _Buffer()
    gltf = container.Written(container.Asset("2.0", container.MARK), scene=0, scenes=[container.Scene(nodes=[])])
    _add_nodes(gltf, skeleton, pose)
    if character.skin is not None and character.skin.parts is not None:
        _add_kept(gltf, character.skin, skeleton, buffer)
    else:
        _add_surface(gltf, character, 0, buffer)
    gltf.animations = _animations(skeleton, [] if only else clips, 0, buffer)
    for other in options.figures:
        _add_figure(gltf, other, buffer)
    if options.objects is not None:
        _add_objects(gltf, options.objects, clips[0] if clips else None, buffer)
    gltf.accessors, gltf.buffer_views = buffer.accessors, buffer.views
    _write(gltf, buffer.data, path)


def _add_figure(gltf: container.Written, other: Character, buffer: _Buffer) -> None:
    """Add another figure, with its meshes in their colours, and its motion to the first animation, if there is one."""
    skeleton, clip, tops = other.skeleton, other.clip, gltf.scenes[0].nodes
    check_range("glTF", skeleton.offsets, skeleton.tip_offsets)
    first, before = len(gltf.nodes), len(tops)
    _add_nodes(gltf, skeleton, skeleton.rest_pose() if clip is None else clip.pose(0))
    _add_surface(gltf, other, first, buffer)
    for top in tops[before:]:
        gltf.nodes[top].extras = {container.MARK: FIGURE}
    if clip is None or not gltf.animations:
        return
    check_range("glTF", clip.rotations, clip.translations)
    (moves,), animation = _animations(skeleton, [clip], first, buffer), gltf.animations[0]
    for channel in moves.channels:
        channel.sampler += len(animation.samplers)
    animation.channels += moves.channels
    animation.samplers += moves.samplers


def _add_nodes(gltf: container.Written, skeleton: Skeleton, pose: Pose) -> None:
    """A node for each joint, then for each tip, then a common root if there are several roots.

    Tips are joints of the skin too: other programs would import nodes outside the skin as separate objects.
    """
    first = len(gltf.nodes)
    gltf.nodes += [_node(name, pose.translations[j], pose.rotations[j]) for j, name in enumerate(skeleton.names)]
    gltf.nodes += [
        _node(name, offset, None) for name, offset in zip(skeleton.tip_names, skeleton.tip_offsets, strict=True)
    ]
    for child, parent in enumerate([*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()]):
        if parent >= 0:
            gltf.nodes[first + parent].children.append(first + child)
            if child < len(skeleton) and named_as_tip(skeleton.names[child], skeleton.names[parent]):
                gltf.nodes[first + child].extras = {container.MARK: JOINT}
    roots = (first + skeleton.roots).tolist()
    if len(roots) > 1:
        gltf.nodes.append(
            container.Node(name=f"{skeleton.name or 'skeleton'} root", children=roots, extras={container.MARK: ROOT})
        )
        roots = [len(gltf.nodes) - 1]
    gltf.scenes[0].nodes += roots


def _node(name: str, translation: Floats, rotation: Floats | None) -> container.Node:
    node = container.Node(name=name)
    if translation.any():
        node.translation = tuple(translation.tolist())
    if rotation is not None and rotation[3] != 1.0:
        node.rotation = tuple(rotation.tolist())
    return node


def _add_surface(gltf: container.Written, character: Character, first: int, buffer: _Buffer) -> None:
    """The bones of a figure, or its meshes if they follow its joints, as a mesh; ``first`` is the node of its joint 0.

    The mesh follows all joints and tips.
    """
    skeleton, skin, rest = character.skeleton, character.skin, rest_world(character.skeleton)
    top = gltf.scenes[0].nodes[-1]
    if skin is not None and skin.follows_joints:
        name, primitives = "meshes", _shapes(gltf, skin, skeleton, buffer)
    else:
        name, primitives = "bones", [_bones(gltf, skeleton, buffer)]
    gltf.meshes = [*gltf.meshes, {"name": name, "primitives": primitives}]
    inverse = buffer.add(_inverse_bind(skeleton, rest))
    joints = list(range(first, first + len(skeleton) + len(skeleton.tip_names)))
    gltf.skins.append(container.Skin(name=skeleton.name, joints=joints, skeleton=top, inverse_bind_matrices=inverse))
    node = container.Node(name=f"{skeleton.name or 'skeleton'} {name}", mesh=len(gltf.meshes) - 1)
    node.skin = len(gltf.skins) - 1
    _add_node(gltf, node)


def _bones(gltf: container.Written, skeleton: Skeleton, buffer: _Buffer) -> dict[str, Any]:
    mesh = bone_mesh(skeleton, rest_world(skeleton))
    influences = _influences(skeleton, mesh.joints[:, None], np.ones((len(mesh.joints), 1)))
    gltf.materials = [*gltf.materials, _material("bone", _GREY)]
    return _primitive(buffer, mesh.corners, mesh.normals, influences, len(gltf.materials) - 1)


def _shapes(gltf: container.Written, skin: Skin, skeleton: Skeleton, buffer: _Buffer) -> list[dict[str, Any]]:
    """The meshes of a robot, or of a figure whose skeleton was edited: flat triangles in their colours, at rest."""
    rest = rest_world(skeleton)
    turns = to_matrix(rest.rotations)[skin.joints]
    linears = turns @ skin.transforms[:, :, :3]
    places = (turns @ skin.transforms[:, :, 3:])[:, :, 0] + rest.positions[skin.joints]
    primitives: list[dict[str, Any]] = []
    for mesh in skin.meshes:
        order = np.argsort(-mesh.weights, axis=1, kind="stable")[:, :4]  # more than four are not written
        bindings = np.take_along_axis(mesh.bindings, order, axis=1).astype(np.intp)
        weights = np.take_along_axis(mesh.weights, order, axis=1).astype(np.float64)
        weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
        moved = np.einsum("vkij,vj->vki", linears[bindings], mesh.positions.astype(np.float64)) + places[bindings]
        points = np.einsum("vk,vki->vi", weights, moved)
        corners = points[mesh.triangles]
        normals = face_normals(corners)
        seen = normals.any(axis=1)  # triangles of no area are left out
        vertices = mesh.triangles[seen].ravel()
        if not len(vertices):
            continue
        influences = _influences(skeleton, skin.joints[bindings][vertices], weights[vertices])
        flat, material = np.repeat(normals[seen], 3, axis=0), len(gltf.materials)
        primitives.append(_primitive(buffer, corners[seen].reshape(-1, 3), flat, influences, material))
        colour = np.array(mesh.material.colour)
        made = _material(mesh.name, [*linear(colour[:3]).tolist(), float(colour[3])])
        gltf.materials = [*gltf.materials, made]
    return primitives


def _influences(skeleton: Skeleton, joints: Ints, weights: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Up to four joints (V, K) of each vertex, and their weights, as (V, 4) for a file."""
    more = [(0, 0), (0, 4 - joints.shape[1])]
    index = "u1" if len(skeleton) <= _MOST_SMALL_JOINTS else "<u2"
    return np.pad(joints, more).astype(index), np.pad(weights, more).astype("<f4")


def _inverse_bind(skeleton: Skeleton, rest: World) -> Floats:
    """(J + T, 4, 4) joint_from_world of joints and tips at rest, in glTF's column-major order."""
    rotations = np.concatenate([rest.rotations, rest.rotations[skeleton.tip_parents]])
    positions = joints_and_tips(skeleton, rest)
    turned_back = conjugate(rotations)
    inverse = np.zeros((len(positions), 4, 4))
    inverse[:, :3, :3] = to_matrix(turned_back)
    inverse[:, :3, 3] = -rotate(turned_back, positions)
    inverse[:, 3, 3] = 1.0
    return inverse.swapaxes(1, 2).astype("<f4")


def _write(gltf: container.Written, data: bytes, path: Path) -> None:
    if path.suffix.casefold() == ".gltf":
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode("ascii")
        gltf.buffers = [container.Buffer(byte_length=len(data), uri=uri)]
        write_whole(path, msgspec.json.format(msgspec.json.encode(gltf), indent=2))
        return
    gltf.buffers = [container.Buffer(byte_length=len(data))]
    text = msgspec.json.encode(gltf)
    chunks = _chunk(container.JSON_CHUNK, text, b" ") + _chunk(container.BIN_CHUNK, data, b"\0")
    write_whole(path, struct.pack("<4sII", container.MAGIC, 2, 12 + len(chunks)) + chunks)


def _chunk(kind: int, data: bytes, filler: bytes) -> bytes:
    """A chunk of a GLB file: its length and kind, then its bytes, padded to a multiple of four."""
    padded = data + filler * (-len(data) % 4)
    return struct.pack("<II", len(padded), kind) + padded


# --- clips


class _Track(NamedTuple):
    """Values of one property of one joint in a clip, (F, 3) or (F, 4), and its value at rest."""

    path: str
    joint: int
    values: Floats
    rest: Floats


def _animations(skeleton: Skeleton, clips: Sequence[Clip], first: int, buffer: _Buffer) -> list[container.Animation]:
    """An animation for each clip; ``first`` is the node of joint 0.

    A property that rests in all clips is left out. One that moves in any clip is written in all of them: otherwise a
    program that switches clips would keep its last value. If nothing moves at all, the first joint's rotation is
    written, because a clip without tracks has no duration.
    """
    played = [clip for clip in clips if len(clip)]
    tracks = [_tracks(skeleton, clip) for clip in played]
    moving = {place for own in tracks for place, track in own.items() if not _is_at_rest(track)} or {("rotation", 0)}
    return [
        _animation(clip, [_track(skeleton, clip, own, place) for place in sorted(moving)], first, buffer)
        for clip, own in zip(played, tracks, strict=True)
    ]


def _tracks(skeleton: Skeleton, clip: Clip) -> dict[tuple[str, int], _Track]:
    rotations = hemisphere_continuous(clip.rotations)
    tracks = [_Track("rotation", j, rotations[:, j], skeleton.rest_rotations[j]) for j in range(len(skeleton))]
    moved = enumerate(clip.translated.tolist())
    tracks += [_Track("translation", j, clip.translations[:, i], skeleton.offsets[j]) for i, j in moved]
    return {(track.path, track.joint): track for track in tracks}


def _track(skeleton: Skeleton, clip: Clip, tracks: dict[tuple[str, int], _Track], place: tuple[str, int]) -> _Track:
    """A clip's own track, or a track that stays at the joint's offset."""
    path, joint = place
    offset = skeleton.offsets[joint]
    return tracks.get(place) or _Track(path, joint, np.repeat(offset[None], len(clip), axis=0), offset)


def _animation(clip: Clip, tracks: list[_Track], first: int, buffer: _Buffer) -> container.Animation:
    result = container.Animation(name=clip.name, channels=[], samplers=[])
    times = buffer.add((np.arange(len(clip)) * clip.frame_time).astype("<f4"), bounds=True)
    for track in tracks:
        _add_track(result, first + track.joint, track.path, times, buffer.add(track.values.astype("<f4")))
    return result


def _is_at_rest(track: _Track) -> bool:
    """Whether all frames equal the rest value in the file's 32-bit numbers."""
    stored, still = track.values.astype(np.float32), track.rest.astype(np.float32)
    return bool((stored == still).all() or (len(still) == 4 and (stored == -still).all()))


# --- the skin: its parts as they were read, on the joints of this file


def _add_kept(gltf: container.Written, skin: Skin, skeleton: Skeleton, buffer: _Buffer) -> None:
    """Add meshes, materials, textures and images as they were read, and the nodes and skins that place them."""
    parts: Parts = skin.parts
    views = [buffer.add_view(view, data) for view, data in parts.views]
    first = len(buffer.accessors)
    buffer.accessors += [container.with_views(accessor, views.__getitem__) for accessor in parts.accessors]
    gltf.meshes = [
        mesh
        | {"primitives": [container.with_accessors(one, lambda index: first + index) for one in mesh["primitives"]]}
        for mesh in parts.meshes
    ]
    gltf.materials, gltf.textures, gltf.samplers = parts.materials, parts.textures, parts.samplers
    gltf.images = [
        image | {"bufferView": views[image["bufferView"]]} if "bufferView" in image else image for image in parts.images
    ]
    gltf.extensions_used, gltf.extensions_required = parts.used, parts.required
    skins: dict[range, int] = {}
    for instance in parts.instances:
        if not instance.skinned:
            _add_static(gltf, instance, skin)
            continue
        if instance.bindings not in skins:
            skins[instance.bindings] = len(gltf.skins)
            gltf.skins.append(_skin(gltf, instance, skin, skeleton, buffer))
        node = container.Node(name=instance.name, mesh=instance.mesh, skin=skins[instance.bindings])
        node.weights = instance.weights
        _add_node(gltf, node)
    # Readers, this one included, know joints by skins alone: others are marked, but for those that only carry some.
    skinned, inner = {joint for one in gltf.skins for joint in one.joints}, set(skeleton.parents.tolist())
    for joint, kind in enumerate(skeleton.kinds):
        if joint not in skinned and not (kind is JointKind.FIXED and joint in inner):
            gltf.nodes[joint].extras = {container.MARK: JOINT}


def _matrix(transform: Floats) -> list[float]:
    """(3, 4) as glTF's 16 numbers, column by column."""
    whole = np.concatenate([transform, [[0.0, 0.0, 0.0, 1.0]]])
    numbers: list[float] = whole.T.ravel().tolist()
    return numbers


def _add_static(gltf: container.Written, instance: Instance, skin: Skin) -> None:
    """A mesh that follows one joint, or is fixed in the world."""
    joint, transform = int(skin.joints[instance.bindings.start]), skin.transforms[instance.bindings.start]
    node = container.Node(name=instance.name, mesh=instance.mesh, extras={container.MARK: MESH})
    node.weights = instance.weights
    if not np.array_equal(transform, np.eye(3, 4)):
        node.matrix = _matrix(transform)
    _add_node(gltf, node, joint)


def _skin(
    gltf: container.Written, instance: Instance, skin: Skin, skeleton: Skeleton, buffer: _Buffer
) -> container.Skin:
    """A skin on the nodes of the joints; joints that several bindings share stand for one, their tips for others."""
    nodes: list[int] = []
    matrices: list[list[float]] = []
    tips = {
        joint: [len(skeleton) + tip for tip in np.flatnonzero(skeleton.tip_parents == joint).tolist()]
        for joint in set(skeleton.tip_parents.tolist())
    }
    for binding in instance.bindings:
        joint, transform = int(skin.joints[binding]), skin.transforms[binding].copy()
        node = joint
        if joint == WORLD or node in nodes:
            free = [tip for tip in tips.get(joint, ()) if tip not in nodes]
            node = free[0] if free else _helper(gltf, joint)
            if free:
                transform[:, 3] -= skeleton.tip_offsets[node - len(skeleton)]
        nodes.append(node)
        matrices.append(_matrix(transform))
    inverse = np.array(matrices).reshape(-1, 4, 4).astype("<f4")
    return container.Skin(joints=nodes, name=instance.skin, inverse_bind_matrices=buffer.add(inverse))


def _helper(gltf: container.Written, joint: int) -> int:
    """A node in the place of a joint, or of the world."""
    name = "world" if joint == WORLD else f"{gltf.nodes[joint].name}.tip{len(gltf.nodes)}"
    return _add_node(gltf, container.Node(name=name), joint)


# --- objects beside the figure


class _Moving(NamedTuple):
    """A shape at the origin, and its places (F, 3), metres, and turns (F, 4), world_from_object, over a clip.

    Where it is not ``there`` (F,), its place is that of the last frame before, else the first.
    """

    shape: Object
    there: Bools
    places: Floats
    turns: Floats


def _add_objects(
    gltf: container.Written,
    objects: Callable[[int], Sequence[Object]],
    clip: Clip | None,
    buffer: _Buffer,
) -> None:
    """Add objects to a file and their motion to its first animation, whose clip is given; without one those of frame 0.

    An object that comes later has the scale 0 until then: glTF 2.0 (section 3.5.2, transformations) has this as the way
    to hide a mesh.
    """
    moves = clip is not None and bool(gltf.animations)
    moving = _moving_objects([objects(frame) for frame in range(len(clip) if clip is not None and moves else 1)])
    if not moving:
        return
    gltf.meshes, gltf.materials = [*gltf.meshes], [*gltf.materials, _material("object", _CLAY)]
    meshes: dict[Object, int] = {}
    for one in moving:
        check_range("glTF", one.places)
        same = placed(one.shape, "mesh", one.shape.center, one.shape.rotation)
        if same not in meshes:
            meshes[same] = len(gltf.meshes)
            corners, normals = _triangles(one.shape)
            check_range("glTF", corners)
            made = _primitive(buffer, corners, normals, None, len(gltf.materials) - 1)
            gltf.meshes.append({"name": one.shape.name, "primitives": [made]})
        node = container.Node(name=one.shape.name, mesh=meshes[same], extras={container.MARK: OBJECT})
        node.translation, node.rotation = tuple(one.places[0].tolist()), tuple(one.turns[0].tolist())
        if not one.there[0]:
            node.scale = (0.0, 0.0, 0.0)
        index = _add_node(gltf, node)
        if moves:
            _move(gltf, index, one, buffer)


def _move(gltf: container.Written, node: int, one: _Moving, buffer: _Buffer) -> None:
    """Add tracks of a node to the first animation, at the times of the figure's tracks; constant values get none."""
    animation = gltf.animations[0]
    times = animation.samplers[0].input
    for path, values in (("translation", one.places), ("rotation", one.turns)):
        if (values != values[0]).any():
            _add_track(animation, node, path, times, buffer.add(values.astype("<f4")))
    if not one.there.all():
        scales = np.repeat(one.there[:, None].astype("<f4"), 3, axis=1)
        _add_track(animation, node, "scale", times, buffer.add(scales), "STEP")


def _moving_objects(frames: Sequence[Sequence[Object]]) -> list[_Moving]:
    """The objects of all frames, in the order in which they come; one that changes its shape counts as another."""
    found: dict[Object, dict[int, Object]] = {}
    for frame, objects in enumerate(frames):
        for one in objects:
            found.setdefault(placed(one, one.name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)), {})[frame] = one
    moving = []
    for shape, seen in found.items():
        there = np.isin(np.arange(len(frames)), list(seen))
        nearest = np.maximum.accumulate(np.where(there, np.arange(len(frames)), min(seen)))
        places = np.array([seen[frame].center for frame in nearest.tolist()], dtype=np.float64)
        turns = np.array([seen[frame].rotation for frame in nearest.tolist()])
        moving.append(_Moving(shape, there, places, hemisphere_continuous(turns)))
    return moving


def _triangles(shape: Object) -> tuple[Floats, Floats]:
    """(V, 3) corners of triangles in the object's own frame, and their normals: those of balls are smooth."""
    if isinstance(shape, Sphere):
        points, faces = primitive("sphere", [1.0])
        normals = np.asarray(points, dtype=np.float64)[faces].reshape(-1, 3)
        return shape.radius * normals, normals
    vertices, faces = surface_of(shape)
    corners = vertices[faces]
    normals = face_normals(corners)
    seen = normals.any(axis=1)  # triangles of no area are left out
    return corners[seen].reshape(-1, 3), np.repeat(normals[seen], 3, axis=0)


# --- arrays, triangles, nodes and tracks


class _Buffer:
    """Collects arrays and hands out the indices of their accessors."""

    def __init__(self) -> None:
        self.views: list[container.BufferView] = []
        self.accessors: list[container.Accessor] = []
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)

    def add(self, array: NDArray[Any], *, vertices: bool = False, bounds: bool = False) -> int:
        """Append an array (N,), (N, 3), (N, 4) or (N, 4, 4) of float32, uint8 or uint16; the index of its accessor.

        ``bounds`` states its smallest and largest values, which glTF requires of positions and times.
        """
        values = np.ascontiguousarray(array)
        accessor = container.Accessor(
            buffer_view=self.add_view(
                container.BufferView(0, 0, target=_VERTICES if vertices else None), values.tobytes()
            ),
            component_type=_TYPES[values.dtype.newbyteorder("<").str],
            count=len(values),
            type=_SHAPES[values.shape[1:]],
        )
        if bounds:
            accessor.min = np.atleast_1d(values.min(axis=0)).tolist()
            accessor.max = np.atleast_1d(values.max(axis=0)).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add_view(self, view: container.BufferView, data: bytes) -> int:
        """Append bytes as a buffer view like ``view``; its index."""
        made = msgspec.structs.replace(view, buffer=0, byte_offset=self._length, byte_length=len(data))
        self.views.append(made)
        padded = data + b"\0" * (-len(data) % 4)
        self._parts.append(padded)
        self._length += len(padded)
        return len(self.views) - 1


def _primitive(
    buffer: _Buffer,
    corners: Floats,
    normals: Floats,
    influences: tuple[NDArray[Any], NDArray[Any]] | None,
    material: int,
) -> dict[str, Any]:
    """Triangles, three corners (V, 3), metres, and normals of any length but 0 each, without an index.

    ``influences`` are (V, 4) indices of a skin's joints, and their weights; None: the triangles are rigid.
    """
    attributes = {
        "POSITION": buffer.add(corners.astype("<f4"), vertices=True, bounds=True),
        "NORMAL": buffer.add(_unit32(normals), vertices=True),
    }
    for name, each in zip(("JOINTS_0", "WEIGHTS_0"), influences or (), strict=False):
        attributes[name] = buffer.add(each, vertices=True)
    return {"attributes": attributes, "material": material}


def _unit32(vectors: Floats) -> Floats:
    """Vectors as 32-bit numbers of unit length."""
    short = vectors.astype("<f4")
    return np.asarray(short / np.linalg.norm(short, axis=-1, keepdims=True), dtype="<f4")


def _material(name: str, colour: list[float]) -> dict[str, Any]:
    """A rough surface of a linear colour."""
    rough = {"baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.8}
    return {"name": name, "pbrMetallicRoughness": rough}


def _add_node(gltf: container.Written, node: container.Node, parent: int = WORLD) -> int:
    """Add a node below another one, or at the top of the scene; its index."""
    siblings = gltf.scenes[0].nodes if parent == WORLD else gltf.nodes[parent].children
    siblings.append(len(gltf.nodes))
    gltf.nodes.append(node)
    return siblings[-1]


def _add_track(
    animation: container.Animation, node: int, path: str, times: int, values: int, interpolation: str = "LINEAR"
) -> None:
    """Add values of a node over time; ``times`` and ``values`` are accessors."""
    target = container.Target(node=node, path=path)
    animation.channels.append(container.Channel(sampler=len(animation.samplers), target=target))
    animation.samplers.append(container.Sampler(input=times, output=values, interpolation=interpolation))
