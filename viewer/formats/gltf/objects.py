"""Objects beside a figure in a glTF file, such as balls and props: a node with a mesh each, moved by the first clip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.formats.gltf import container
from viewer.formats.gltf.buffers import BufferWriter, material, primitive
from viewer.formats.gltf.nodes import OBJECT
from viewer.formats.robot_meshes import primitive as primitive_shape
from viewer.formats.save import check_range
from viewer.ik.contact import Box, Mesh, Object, Sphere, surface_of
from viewer.skeleton import Clip
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import hemisphere_continuous

_CLAY = [0.62, 0.42, 0.26, 1.0]
"""Base colour of objects, linear: another than that of the bones."""


class Moving(NamedTuple):
    """An object over the frames of a clip.

    Attributes:
        shape: at the origin.
        there: (F,) whether it is there; where it is not, its place is that of the last frame before, else the first.
        places, turns: (F, 3) metres and (F, 4) world_from_object.
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
    """Add objects to a file and their motion to its first animation.

    An object that comes later has the scale 0 until then: glTF 2.0 (section 3.5.2, transformations) has this as the way
    to hide a mesh.

    Args:
        gltf: with all else that it holds.
        objects: what is there at a frame of the clip.
        clip: of the first animation; None: only the objects of frame 0 are written.
        buffer: takes the arrays.

    Raises:
        InputError: numbers beyond those of 32 bits.
    """
    moves = clip is not None and bool(gltf.animations)
    moving = moving_objects([objects(frame) for frame in range(len(clip) if clip is not None and moves else 1)])
    if not moving:
        return
    gltf.meshes, gltf.materials = [*gltf.meshes], [*gltf.materials, material("object", _CLAY)]
    meshes: dict[Object, int] = {}
    for one in moving:
        check_range("glTF", one.places)
        same = _renamed(one.shape, "mesh")
        if same not in meshes:
            meshes[same] = len(gltf.meshes)
            corners, normals = _triangles(one.shape)
            check_range("glTF", corners)
            made = primitive(buffer, corners, normals, None, len(gltf.materials) - 1)
            gltf.meshes.append(container.Mesh(name=one.shape.name, primitives=[made]))
        node = container.Node(name=one.shape.name, mesh=meshes[same], extras={container.MARK: OBJECT})
        node.translation, node.rotation = tuple(one.places[0].tolist()), tuple(one.turns[0].tolist())
        gltf.scenes[0].nodes.append(len(gltf.nodes))
        gltf.nodes.append(node)
        if not one.there[0]:
            node.scale = (0.0, 0.0, 0.0)
        if moves:
            _move(gltf, len(gltf.nodes) - 1, one, buffer)


def _move(gltf: container.Written, node: int, one: Moving, buffer: BufferWriter) -> None:
    """Tracks of a node in the first animation, at the times of the figure's; none of what stays as it is."""
    animation = gltf.animations[0]
    times = animation.samplers[0].input

    def add(path: str, values: Floats, interpolation: str) -> None:
        output = buffer.add(values.astype("<f4"))
        target = container.Target(node=node, path=path)
        animation.channels.append(container.Channel(sampler=len(animation.samplers), target=target))
        animation.samplers.append(container.Sampler(input=times, output=output, interpolation=interpolation))

    if (one.places != one.places[0]).any():
        add("translation", one.places, "LINEAR")
    if (one.turns != one.turns[0]).any():
        add("rotation", one.turns, "LINEAR")
    if not one.there.all():
        add("scale", np.repeat(one.there[:, None].astype(np.float64), 3, axis=1), "STEP")


def moving_objects(frames: Sequence[Sequence[Object]]) -> list[Moving]:
    """The objects of all frames, in the order in which they come; one that changes its shape counts as another."""
    found: dict[Object, dict[int, Object]] = {}
    for frame, there in enumerate(frames):
        for one in there:
            found.setdefault(_at_origin(one), {})[frame] = one
    return [_moving(shape, seen, len(frames)) for shape, seen in found.items()]


def _moving(shape: Object, seen: dict[int, Object], frames: int) -> Moving:
    there = np.zeros(frames, dtype=np.bool_)
    there[list(seen)] = True
    nearest = np.maximum.accumulate(np.where(there, np.arange(frames), min(seen)))
    placed = [seen[frame] for frame in nearest.tolist()]
    turns = [(0.0, 0.0, 0.0, 1.0) if isinstance(one, Sphere) else one.rotation for one in placed]
    places = np.array([one.center for one in placed], dtype=np.float64)
    return Moving(shape, there, places, hemisphere_continuous(np.array(turns)))


def _at_origin(one: Object) -> Object:
    if isinstance(one, Mesh):
        return one.placed(one.name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), one.scale)
    if isinstance(one, Box):
        return replace(one, center=(0.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0, 1.0))
    return replace(one, center=(0.0, 0.0, 0.0))


def _renamed(one: Object, name: str) -> Object:
    if isinstance(one, Mesh):
        return one.placed(name, one.center, one.rotation, one.scale)
    return replace(one, name=name)


def _triangles(shape: Object) -> tuple[Floats, Floats]:
    """(V, 3) corners of triangles in the object's own frame, and their normals: those of balls are smooth."""
    if isinstance(shape, Sphere):
        points, faces = primitive_shape("sphere", [1.0])
        normals = np.asarray(points, dtype=np.float64)[faces].reshape(-1, 3)
        return shape.radius * normals, normals
    vertices, faces = surface_of(shape)
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(across, axis=1)
    seen = length > 0.0  # triangles of no area are left out
    normals = np.repeat(across[seen] / length[seen, None], 3, axis=0)
    return corners[seen].reshape(-1, 3), normals
