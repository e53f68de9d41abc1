"""Writing the skin of a character into a glTF file: its parts as they were read, on the joints of this file."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from viewer.formats.gltf import container
from viewer.formats.gltf.buffer_writer import BufferWriter
from viewer.formats.gltf.kept import Instance, Parts
from viewer.formats.gltf.nodes import JOINT, MESH
from viewer.skeleton import Skeleton, Skin
from viewer.skeleton.skin import WORLD
from viewer.spatial.checks import Floats


def add_skin(gltf: container.Written, skin: Skin, skeleton: Skeleton, buffer: BufferWriter) -> None:
    """Add meshes, materials, textures and images, and the nodes and skins that put them on the joints.

    Args:
        gltf: with its nodes, of which the first are joints and tips, and its scene.
        skin: has `Parts`.
        skeleton: the joints.
        buffer: takes the arrays.
    """
    parts: Parts = skin.parts
    views = [buffer.add_view(view, data) for view, data in parts.views]
    first = len(buffer.accessors)
    buffer.accessors += [_moved(accessor, views) for accessor in parts.accessors]
    gltf.meshes = [_mesh(mesh, first) for mesh in parts.meshes]
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
        gltf.scenes[0].nodes.append(len(gltf.nodes))
        gltf.nodes.append(node)
    if not gltf.skins:
        # Without a skin readers, this one included, cannot tell joints from other nodes.
        for node in gltf.nodes[: len(skeleton)]:
            node.extras = {container.MARK: JOINT}


def _moved(accessor: container.Accessor, views: list[int]) -> container.Accessor:
    """An accessor with the views' new indices."""
    replace = msgspec.structs.replace
    copy = replace(accessor)
    if copy.buffer_view is not None:
        copy.buffer_view = views[copy.buffer_view]
    if copy.sparse is not None:
        indices, values = copy.sparse.indices, copy.sparse.values
        copy.sparse = replace(
            copy.sparse,
            indices=replace(indices, buffer_view=views[indices.buffer_view]),
            values=replace(values, buffer_view=views[values.buffer_view]),
        )
    return copy


def _mesh(mesh: dict[str, Any], first: int) -> dict[str, Any]:
    """A mesh whose accessors begin at ``first``."""

    def moved(attributes: dict[str, int]) -> dict[str, int]:
        return {name: first + index for name, index in attributes.items()}

    primitives = []
    for one in mesh["primitives"]:
        made = one | {"attributes": moved(one["attributes"])}
        if "indices" in one:
            made["indices"] = first + one["indices"]
        if "targets" in one:
            made["targets"] = [moved(target) for target in one["targets"]]
        primitives.append(made)
    return mesh | {"primitives": primitives}


def _matrix(transform: Floats) -> list[float]:
    """(3, 4) as glTF's 16 numbers, column by column."""
    whole = np.concatenate([transform, [[0.0, 0.0, 0.0, 1.0]]])
    numbers: list[float] = whole.T.ravel().tolist()
    return numbers


def _add_static(gltf: container.Written, instance: Instance, skin: Skin) -> None:
    """A mesh that follows one joint, or stands in the world."""
    joint, transform = int(skin.joints[instance.bindings.start]), skin.transforms[instance.bindings.start]
    node = container.Node(name=instance.name, mesh=instance.mesh, extras={container.MARK: MESH})
    node.weights = instance.weights
    if not np.array_equal(transform, np.eye(3, 4)):
        node.matrix = _matrix(transform)
    siblings = gltf.scenes[0].nodes if joint == WORLD else gltf.nodes[joint].children
    siblings.append(len(gltf.nodes))
    gltf.nodes.append(node)


def _skin(
    gltf: container.Written, instance: Instance, skin: Skin, skeleton: Skeleton, buffer: BufferWriter
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
    index = len(gltf.nodes)
    name = "world" if joint == WORLD else f"{gltf.nodes[joint].name}.tip{index}"
    (gltf.scenes[0].nodes if joint == WORLD else gltf.nodes[joint].children).append(index)
    gltf.nodes.append(container.Node(name=name))
    return index
