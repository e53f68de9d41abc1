"""Writing glTF 2.0: the joints as a skin, the bones as a mesh that it moves, each clip as an animation."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from viewer.formats.files import write_whole
from viewer.formats.gltf.buffer import BufferWriter
from viewer.formats.gltf.motion import animations
from viewer.formats.gltf.nodes import JOINT, ROOT, named_as_tip
from viewer.formats.gltf.structs import (
    MARK,
    Attributes,
    Buffer,
    Material,
    Mesh,
    Node,
    Primitive,
    Roughness,
    Scene,
    Skin,
    Written,
    WrittenAsset,
)
from viewer.formats.left_out import check_range
from viewer.skeleton.bone_mesh import bone_mesh
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import fk
from viewer.spatial.quaternion import conjugate, rotate, to_matrix

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

MOST_SMALL_JOINTS = 256
"""Joints that indices of one byte can tell apart."""

_MAGIC, _VERSION = b"glTF", 2
_JSON, _BIN = 0x4E4F534A, 0x004E4942
"""How a GLB file begins, and the kinds of its two chunks."""

_GREY = [0.55, 0.6, 0.66, 1.0]
"""Base colour of the bones, linear."""


def write_gltf(character: Character, path: Path) -> None:
    """Write a .glb file, or a .gltf file with its data inside: metres, Y up.

    A character whose only clip has one frame is written standing so, without an animation.

    Raises:
        OutputError: the file cannot be written.
        InputError: NaN or infinite numbers, or numbers past the range of 32-bit floats.
    """
    skeleton = character.skeleton
    clips = list(character.clips.values())
    only = clips[0] if len(clips) == 1 and len(clips[0]) == 1 else None
    pose = only.pose(0) if only else skeleton.rest_pose()
    motion = (array for clip in clips for array in (clip.rotations, clip.translations))
    check_range("glTF", skeleton.offsets, skeleton.tip_offsets, *motion)
    buffer = BufferWriter()
    gltf = Written(WrittenAsset("2.0", "ikviewer"), scene=0)
    _add_nodes(gltf, skeleton, pose)
    _add_mesh(gltf, skeleton, buffer)
    gltf.animations = animations(skeleton, [] if only else clips, buffer)
    gltf.accessors, gltf.buffer_views = buffer.accessors, buffer.views
    _write(gltf, buffer.data, path)


def _add_nodes(gltf: Written, skeleton: Skeleton, pose: Pose) -> None:
    """Node j is joint j; then the tips, the mesh, and a common root if there are several.

    Tips are joints of the skin, too: nodes beside it become objects of their own in programs that know bones.
    """
    count = len(skeleton) + len(skeleton.tip_names)
    gltf.nodes = [_node(name, pose.translations[j], pose.rotations[j]) for j, name in enumerate(skeleton.names)]
    gltf.nodes += [
        _node(name, offset, None) for name, offset in zip(skeleton.tip_names, skeleton.tip_offsets, strict=True)
    ]
    for child, parent in enumerate([*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()]):
        if parent >= 0:
            gltf.nodes[parent].children.append(child)
            if child < len(skeleton) and named_as_tip(skeleton.names[child], skeleton.names[parent]):
                gltf.nodes[child].extras = {MARK: JOINT}
    gltf.nodes.append(Node(name=f"{skeleton.name or 'skeleton'} bones", mesh=0, skin=0))
    roots = skeleton.roots.tolist()
    if len(roots) > 1:
        gltf.nodes.append(Node(name=f"{skeleton.name or 'skeleton'} root", children=roots, extras={MARK: ROOT}))
        roots = [len(gltf.nodes) - 1]
    gltf.skins = [Skin(name=skeleton.name, joints=list(range(count)), skeleton=roots[0])]
    gltf.scenes = [Scene(nodes=[*roots, count])]


def _node(name: str, translation: Floats, rotation: Floats | None) -> Node:
    node = Node(name=name)
    if translation.any():
        node.translation = tuple(translation.tolist())
    if rotation is not None and rotation[3] != 1.0:
        node.rotation = tuple(rotation.tolist())
    return node


def _add_mesh(gltf: Written, skeleton: Skeleton, buffer: BufferWriter) -> None:
    rest = fk(skeleton, skeleton.rest_pose())
    mesh = bone_mesh(skeleton, rest)
    small = len(skeleton) <= MOST_SMALL_JOINTS
    joints = np.zeros((len(mesh.joints), 4), dtype="u1" if small else "<u2")
    joints[:, 0] = mesh.joints
    weights = np.zeros((len(mesh.joints), 4), dtype="<f4")
    weights[:, 0] = 1.0
    attributes = Attributes(
        position=buffer.add(mesh.corners.astype("<f4"), vertices=True, bounds=True),
        normal=buffer.add(_unit32(mesh.normals), vertices=True),
        joints_0=buffer.add(joints, vertices=True),
        weights_0=buffer.add(weights, vertices=True),
    )
    gltf.meshes = [Mesh(name="bones", primitives=[Primitive(attributes=attributes, material=0)])]
    rough = Roughness(base_color_factor=_GREY, metallic_factor=0.0, roughness_factor=0.8)
    gltf.materials = [Material(name="bone", pbr_metallic_roughness=rough)]
    gltf.skins[0].inverse_bind_matrices = buffer.add(_inverse_bind(skeleton, rest))


def _inverse_bind(skeleton: Skeleton, rest: World) -> Floats:
    """(J + T, 4, 4) joint_from_world of joints and tips at rest, each column by column as glTF stores matrices."""
    rotations = np.concatenate([rest.rotations, rest.rotations[skeleton.tip_parents]])
    positions = np.concatenate([rest.positions, tip_positions(skeleton, rest)])
    turned_back = conjugate(rotations)
    inverse = np.zeros((len(positions), 4, 4))
    inverse[:, :3, :3] = to_matrix(turned_back)
    inverse[:, :3, 3] = -rotate(turned_back, positions)
    inverse[:, 3, 3] = 1.0
    return inverse.swapaxes(1, 2).astype("<f4")


def _unit32(vectors: Floats) -> Floats:
    """Unit vectors whose 32-bit numbers have unit length."""
    short = vectors.astype("<f4")
    return np.asarray(short / np.linalg.norm(short, axis=-1, keepdims=True), dtype="<f4")


def _write(gltf: Written, data: bytes, path: Path) -> None:
    if path.suffix.casefold() == ".gltf":
        uri = "data:application/octet-stream;base64," + base64.b64encode(data).decode("ascii")
        gltf.buffers = [Buffer(byte_length=len(data), uri=uri)]
        write_whole(path, msgspec.json.format(msgspec.json.encode(gltf), indent=2))
        return
    gltf.buffers = [Buffer(byte_length=len(data))]
    text = msgspec.json.encode(gltf)
    chunks = _chunk(_JSON, text, b" ") + _chunk(_BIN, data, b"\0")
    write_whole(path, struct.pack("<4sII", _MAGIC, _VERSION, 12 + len(chunks)) + chunks)


def _chunk(kind: int, data: bytes, filler: bytes) -> bytes:
    """A part of a GLB file: its length and kind, then its bytes, filled up to a multiple of four."""
    padded = data + filler * (-len(data) % 4)
    return struct.pack("<II", len(padded), kind) + padded
