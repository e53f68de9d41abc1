"""The parts of a written glTF file: arrays in one buffer with their accessors, triangles and their look, objects.

Objects beside a figure, such as balls and props, are a node with a mesh each, moved by the first clip.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.formats.gltf import container
from viewer.formats.gltf.nodes import OBJECT
from viewer.formats.meshes import primitive as primitive_shape
from viewer.formats.save import check_range
from viewer.ik.contact import Object, Sphere, surface_of
from viewer.ik.contact.values import placed
from viewer.skeleton import Clip
from viewer.skeleton.attached import WORLD
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import hemisphere_continuous
from viewer.spatial.vectors import face_normals

_SHAPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_TYPES = {"|u1": 5121, "<u2": 5123, "<f4": 5126}
_VERTICES = 34962
"""`BufferView.target` of attributes of vertices, by its name in OpenGL: ARRAY_BUFFER."""

_CLAY = [0.62, 0.42, 0.26, 1.0]
"""Base colour of objects, linear: another than that of the bones."""


class BufferWriter:
    """Collects arrays and hands out the indices of their accessors."""

    def __init__(self) -> None:
        """Begin without arrays."""
        self.views: list[container.BufferView] = []
        self.accessors: list[container.Accessor] = []
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def data(self) -> bytes:
        """All arrays."""
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


def primitive(
    buffer: BufferWriter,
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


def material(name: str, colour: list[float]) -> dict[str, Any]:
    """A rough surface of a linear colour."""
    rough = {"baseColorFactor": colour, "metallicFactor": 0.0, "roughnessFactor": 0.8}
    return {"name": name, "pbrMetallicRoughness": rough}


def add_node(gltf: container.Written, node: container.Node, parent: int = WORLD) -> int:
    """Add a node below another one, or at the top of the scene; its index."""
    siblings = gltf.scenes[0].nodes if parent == WORLD else gltf.nodes[parent].children
    siblings.append(len(gltf.nodes))
    gltf.nodes.append(node)
    return siblings[-1]


def add_track(
    animation: container.Animation, node: int, path: str, times: int, values: int, interpolation: str = "LINEAR"
) -> None:
    """Add values of a node over time; ``times`` and ``values`` are accessors."""
    target = container.Target(node=node, path=path)
    animation.channels.append(container.Channel(sampler=len(animation.samplers), target=target))
    animation.samplers.append(container.Sampler(input=times, output=values, interpolation=interpolation))


class Moving(NamedTuple):
    """A shape at the origin, and its places (F, 3), metres, and turns (F, 4), world_from_object, over a clip.

    Where it is not ``there`` (F,), its place is that of the last frame before, else the first.
    """

    shape: Object
    there: Bools
    places: Floats
    turns: Floats


def add_objects(
    gltf: container.Written,
    objects: Callable[[int], Sequence[Object]],
    clip: Clip | None,
    buffer: BufferWriter,
) -> None:
    """Add objects to a file and their motion to its first animation, whose clip is given; without one those of frame 0.

    An object that comes later has the scale 0 until then: glTF 2.0 (section 3.5.2, transformations) has this as the way
    to hide a mesh.
    """
    moves = clip is not None and bool(gltf.animations)
    moving = moving_objects([objects(frame) for frame in range(len(clip) if clip is not None and moves else 1)])
    if not moving:
        return
    gltf.meshes, gltf.materials = [*gltf.meshes], [*gltf.materials, material("object", _CLAY)]
    meshes: dict[Object, int] = {}
    for one in moving:
        check_range("glTF", one.places)
        same = placed(one.shape, "mesh", one.shape.center, one.shape.rotation)
        if same not in meshes:
            meshes[same] = len(gltf.meshes)
            corners, normals = _triangles(one.shape)
            check_range("glTF", corners)
            made = primitive(buffer, corners, normals, None, len(gltf.materials) - 1)
            gltf.meshes.append({"name": one.shape.name, "primitives": [made]})
        node = container.Node(name=one.shape.name, mesh=meshes[same], extras={container.MARK: OBJECT})
        node.translation, node.rotation = tuple(one.places[0].tolist()), tuple(one.turns[0].tolist())
        if not one.there[0]:
            node.scale = (0.0, 0.0, 0.0)
        index = add_node(gltf, node)
        if moves:
            _move(gltf, index, one, buffer)


def _move(gltf: container.Written, node: int, one: Moving, buffer: BufferWriter) -> None:
    """Add tracks of a node to the first animation, at the times of the figure's tracks; constant values get none."""
    animation = gltf.animations[0]
    times = animation.samplers[0].input
    for path, values in (("translation", one.places), ("rotation", one.turns)):
        if (values != values[0]).any():
            add_track(animation, node, path, times, buffer.add(values.astype("<f4")))
    if not one.there.all():
        scales = np.repeat(one.there[:, None].astype("<f4"), 3, axis=1)
        add_track(animation, node, "scale", times, buffer.add(scales), "STEP")


def moving_objects(frames: Sequence[Sequence[Object]]) -> list[Moving]:
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
        moving.append(Moving(shape, there, places, hemisphere_continuous(turns)))
    return moving


def _triangles(shape: Object) -> tuple[Floats, Floats]:
    """(V, 3) corners of triangles in the object's own frame, and their normals: those of balls are smooth."""
    if isinstance(shape, Sphere):
        points, faces = primitive_shape("sphere", [1.0])
        normals = np.asarray(points, dtype=np.float64)[faces].reshape(-1, 3)
        return shape.radius * normals, normals
    vertices, faces = surface_of(shape)
    corners = vertices[faces]
    normals = face_normals(corners)
    seen = normals.any(axis=1)  # triangles of no area are left out
    return corners[seen].reshape(-1, 3), np.repeat(normals[seen], 3, axis=0)
