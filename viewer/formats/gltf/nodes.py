"""Which nodes of a glTF file are joints, how they hang together at rest, and scale taken out of the tree."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.errors import FormatError
from viewer.formats.gltf.container import File, Node
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import conjugate, from_matrix, multiply, rotate, to_matrix

_TIP = ".tip"
"""What the names of end sites that we write have in them."""
_NUMBERED_TIP = re.compile(r"\.tip[0-9]*")
JOINT, ROOT = "joint", "root"
"""Marks of nodes: a joint though its name is that of an end site; what stands above several roots."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes that are joints, parents first.

    Attributes:
        nodes: (J,) their indices in the file.
        parents: (J,) which of them each hangs on, -1 for roots.
        joints: (J,) whether each is a joint of a skin, or animated where there is none; else only an ancestor of one.
        translations, rotations, scales: (J, 3), (J, 4), (J, 3) local, at rest.
        tips: (joint, place in its frame) of the end sites.
    """

    nodes: tuple[int, ...]
    parents: Ints
    joints: tuple[bool, ...]
    translations: Floats
    rotations: Floats
    scales: Floats
    tips: tuple[tuple[int, tuple[float, float, float]], ...]


class Local(NamedTuple):
    """Local motion of J nodes: (F, J, 3), (F, J, 4) unit, (F, J, 3)."""

    translations: Floats
    rotations: Floats
    scales: Floats


def find_tree(file: File) -> Tree:
    """The skin's joints and their ancestors; without a skin the animated nodes and theirs; without motion all nodes.

    Raises:
        FormatError: no nodes, nodes that are their own ancestors or have two parents, a rotation that is none.
    """
    parents = _parents(file)
    wanted = _wanted(file, parents)
    taken = set(wanted)
    for node in wanted:
        above = parents[node]
        while above >= 0 and above not in taken and file.nodes[above].mark != ROOT:
            taken.add(above)
            above = parents[above]
    order = [node for node in _parents_first(parents) if node in taken]
    place = {node: index for index, node in enumerate(order)}
    rest = [_local(file.nodes[node], node) for node in order]
    return Tree(
        nodes=tuple(order),
        parents=np.array([place.get(parents[node], -1) for node in order], dtype=np.intp),
        joints=tuple(node in wanted for node in order),
        translations=np.array([t for t, _, _ in rest]),
        rotations=np.array([r for _, r, _ in rest]),
        scales=np.array([s for _, _, s in rest]),
        tips=tuple(tip for node in order for tip in _tips(file, place, node)),
    )


def _wanted(file: File, parents: list[int]) -> dict[int, None]:
    """In the file's order: a dict, because sets have none."""
    count = len(file.nodes)
    found = [node for skin in file.skins for node in skin.joints]
    if not found:
        targets = (channel.target for animation in file.animations for channel in animation.channels)
        found = sorted({t.node for t in targets if t.node is not None and t.path != "weights"})
    if not found:
        found = list(range(count))
    if not found:
        raise FormatError("expected nodes, found none")
    if max(found) >= count:
        raise FormatError(f"expected one of {count} nodes, found {max(found)}", path="skins[0].joints")
    wanted = dict.fromkeys(node for node in found if not (file.skins and _ends(file, parents[node], node)))
    if not wanted:
        raise FormatError("expected joints, found end sites only", path="skins[0].joints")
    return wanted


def _parents(file: File) -> list[int]:
    parents = [-1] * len(file.nodes)
    for index, node in enumerate(file.nodes):
        for child in node.children:
            if child >= len(parents) or child == index or parents[child] >= 0:
                found = f"expected children with one parent each, found {child}"
                raise FormatError(found, path=f"nodes[{index}].children")
            parents[child] = index
    return parents


def _parents_first(parents: list[int]) -> list[int]:
    """All nodes in the file's own order, but each after its ancestors.

    Raises:
        FormatError: a node that is its own ancestor.
    """
    order: list[int] = []
    placed = [False] * len(parents)
    for node in range(len(parents)):
        above = []
        while node >= 0 and not placed[node]:
            placed[node] = True
            above.append(node)
            node = parents[node]  # noqa: PLW2901 - up the tree, until somebody has a place
        if node in above:
            raise FormatError("expected a tree, found a node that is its own ancestor", path=f"nodes[{node}]")
        order += reversed(above)
    return order


def _ends(file: File, parent: int, node: int) -> bool:
    """Whether a joint of a skin is an end site: other programs show it as a bone, but it moves nothing."""
    own = file.nodes[node]
    bare = not own.children and own.mesh is None and own.mark != JOINT
    return bare and parent >= 0 and named_as_tip(own.name, file.nodes[parent].name)


def named_as_tip(name: str, parent: str) -> bool:
    """Whether that is the name of an end site of a joint of that name."""
    return name.startswith(parent) and _NUMBERED_TIP.fullmatch(name, len(parent)) is not None


def _tips(file: File, place: dict[int, int], node: int) -> list[tuple[int, tuple[float, float, float]]]:
    """The end sites: nodes named so, without anything on them."""
    tips = []
    for child in file.nodes[node].children:
        own = file.nodes[child]
        if child not in place and not own.children and own.mesh is None and _TIP in own.name:
            tips.append((place[node], own.translation))
    return tips


def _local(node: Node, index: int) -> tuple[Floats, Floats, Floats]:
    """Translation, unit rotation and scale of a node at rest."""
    path = f"nodes[{index}]"
    if node.matrix is not None:
        return _taken_apart(np.array(node.matrix, dtype=np.float64).reshape(4, 4).T, path)
    values = (node.translation, node.rotation, node.scale)
    translation, rotation, scale = (np.array(value, dtype=np.float64) for value in values)
    if not all(np.isfinite(v).all() for v in (translation, rotation, scale)):
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    return translation, unit(rotation, path), scale


def unit(rotations: Floats, path: str) -> Floats:
    """Rotations (..., 4) of unit length: other programs write them as exactly as they like.

    Raises:
        FormatError: one without a length.
    """
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if not bool((length > 1e-6).all() and np.isfinite(length).all()):
        raise FormatError("expected rotations, found a quaternion without length", path=path)
    return np.asarray(rotations / length)


def _taken_apart(matrix: Floats, path: str) -> tuple[Floats, Floats, Floats]:
    if not np.isfinite(matrix).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=f"{path}.matrix")
    columns = matrix[:3, :3]
    # What overflows here is refused with its joint's name, when the character is checked.
    with np.errstate(all="ignore"):
        scale, size = np.linalg.norm(columns, axis=0), np.linalg.det(columns)
    if size < 0.0:
        scale[0] = -scale[0]
    if not scale.all():
        return matrix[:3, 3].copy(), np.array([0.0, 0.0, 0.0, 1.0]), scale
    return matrix[:3, 3].copy(), np.asarray(from_matrix(columns / scale)), scale


_EVEN = 1e-4
"""Scales of the axes that differ by less count as one."""
_BLOCK = 1 << 16
"""Node-frames worked out together, for bounded memory."""


class Baked(NamedTuple):
    """Local motion without scale: (F, J, 3) and (F, J, 4); ``scales`` (F, J, 3) were multiplied into it."""

    translations: Floats
    rotations: Floats
    scales: Floats


def bake(tree: Tree, local: Local) -> tuple[Baked, set[int]]:
    """Translations that put every node where its matrices, scale included, put it.

    Returns:
        The motion, and the nodes whose uneven or mirrored scale shears what hangs on them: their children's places
        are right all the same.
    """
    if (local.scales == 1.0).all():
        return Baked(local.translations, local.rotations, local.scales), set()
    translations = np.empty_like(local.translations)
    whole = np.ones_like(local.scales)
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(translations), step):
        block = slice(start, start + step)
        translations[block], whole[block] = _block(tree, *(part[block] for part in local))
    return Baked(translations, local.rotations, whole), _sheared(tree, local)


def _block(tree: Tree, translations: Floats, rotations: Floats, scales: Floats) -> tuple[Floats, Floats]:
    frames, count = translations.shape[:2]
    matrices = to_matrix(rotations) * scales[..., None, :]
    linear = np.empty((count, frames, 3, 3))
    places = np.empty((count, frames, 3))
    turns = np.empty((count, frames, 4))
    whole = np.empty((count, frames, 3))
    result = np.empty_like(translations)
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent < 0:
            linear[joint], places[joint] = matrices[:, joint], translations[:, joint]
            turns[joint], whole[joint] = rotations[:, joint], scales[:, joint]
            result[:, joint] = translations[:, joint]
            continue
        linear[joint] = linear[parent] @ matrices[:, joint]
        moved = np.einsum("fij,fj->fi", linear[parent], translations[:, joint])
        places[joint] = places[parent] + moved
        turns[joint] = multiply(turns[parent], rotations[:, joint])
        whole[joint] = whole[parent] * scales[:, joint]
        result[:, joint] = rotate(conjugate(turns[parent]), moved)
    return result, whole.swapaxes(0, 1)


def _sheared(tree: Tree, local: Local) -> set[int]:
    parents = set(tree.parents.tolist())
    low, high = local.scales.min(axis=(0, 2)), local.scales.max(axis=(0, 2))
    spread = np.ptp(local.scales, axis=2).max(axis=0)
    uneven = (spread > _EVEN * np.maximum(np.abs(low), np.abs(high))) | (low < 0.0)
    return {joint for joint in np.flatnonzero(uneven).tolist() if joint in parents}


def count_carriers(tree: Tree, moving: AbstractSet[int]) -> int:
    """How many of the tree's first nodes only carry the others.

    Args:
        tree: the nodes, parents first.
        moving: those that a clip moves.
    """
    parents = tree.parents.tolist()
    with_tips = {joint for joint, _ in tree.tips}
    # The least parent of each node and those after it.
    least = np.minimum.accumulate(tree.parents[::-1])[::-1].tolist()
    count = 0
    while not (tree.joints[count] or count in moving or count in with_tips):
        # The next one hangs on it, and it alone: everything after that one hangs on that.
        if parents[count + 1] != count or (count + 2 < len(parents) and least[count + 2] <= count):
            break
        count += 1
    return count


def without_carriers(tree: Tree, count: int) -> Tree:
    """The tree from node ``count`` on, which becomes the root. Its local values at rest are still those of the file."""
    return Tree(
        nodes=tree.nodes[count:],
        parents=np.maximum(tree.parents[count:] - count, -1),
        joints=tree.joints[count:],
        translations=tree.translations[count:],
        rotations=tree.rotations[count:],
        scales=tree.scales[count:],
        tips=tuple((joint - count, place) for joint, place in tree.tips),
    )


def carried(baked: Baked, count: int) -> Baked:
    """Motion of the nodes from ``count`` on: the first of them moves in the world as it moved on its carriers."""
    translations, rotations = baked.translations[:, count:].copy(), baked.rotations[:, count:].copy()
    for carrier in reversed(range(count)):
        turn = baked.rotations[:, carrier]
        translations[:, 0] = baked.translations[:, carrier] + rotate(turn, translations[:, 0])
        rotations[:, 0] = multiply(turn, rotations[:, 0])
    return Baked(translations, rotations, baked.scales[:, count:])
