"""Finds the nodes of a glTF file that are joints, and their tree at rest, and removes scale from the tree."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

from viewer.errors import FormatError
from viewer.formats.bounds import check_counts
from viewer.formats.gltf.container import MARK, File, Node
from viewer.skeleton.tree import CycleError, parents_first
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, from_matrix, multiply, rotate, to_matrix

_TIP = ".tip"
"""Part of the names of the end sites that ikviewer writes."""
_NUMBERED_TIP = re.compile(r"\.tip[0-9]*")
JOINT, ROOT, MESH, OBJECT, FIGURE = "joint", "root", "mesh", "object", "figure"
"""Marks of nodes: a joint that could be taken for something else; the common parent of several roots; a mesh; an object
beside the figure; the top of another figure, or its mesh."""

_EVEN = 1e-4
"""Scales of the three axes that differ by less count as equal."""
_BLOCK = 1 << 16
"""Nodes times frames that are computed together, which bounds memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes that are joints, parents first.

    Attributes:
        nodes: (J,) their indices in the file.
        parents: (J,) index of each one's parent, -1 for roots.
        joints: (J,) whether each is a joint of a skin (without a skin: animated), not just an ancestor of one.
        translations, rotations, scales: (J, 3), (J, 4), (J, 3) local, at rest.
        tips: (joint, position in its frame) of the end sites.
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
    """The skin's joints and their ancestors; without a skin the animated nodes and theirs; without motion all."""
    parents = parents_of(file)
    wanted = _wanted(file, parents)
    check_counts(len(wanted))  # at once: nothing has been measured yet
    taken = set(wanted)
    for node in wanted:
        above = parents[node]
        while above >= 0 and above not in taken and file.nodes[above].mark != ROOT:
            taken.add(above)
            above = parents[above]
    try:
        order = [node for node in parents_first(parents) if node in taken]
    except CycleError as error:
        path = f"nodes[{error.joint}]"
        raise FormatError("expected a tree, found a node that is its own ancestor", path=path) from None
    place = {node: index for index, node in enumerate(order)}
    rest = [local_of(file.nodes[node], node) for node in order]
    return Tree(
        nodes=tuple(order),
        parents=np.array([place.get(parents[node], -1) for node in order], dtype=np.intp),
        joints=tuple(node in wanted for node in order),
        translations=np.array([t for t, _, _ in rest]),
        rotations=np.array([r for _, r, _ in rest]),
        scales=np.array([s for _, _, s in rest]),
        tips=tuple(tip for node in order for tip in _tips(file, place, node)),
    )


def figures_in(file: File) -> int:
    """How many other figures there are: each has a top that is not its mesh."""
    return sum(node.mark == FIGURE and node.mesh is None for node in file.nodes)


def without_figures(file: File) -> File:
    """The file with only the first figure and the objects beside it: other figures become bare nodes with a mark."""
    below = [index for index, node in enumerate(file.nodes) if node.mark == FIGURE]
    if not below:
        return file
    others: set[int] = set()
    while below:
        index = below.pop()
        if index < len(file.nodes) and index not in others:
            others.add(index)
            below += file.nodes[index].children
    kept = [index for index, skin in enumerate(file.skins) if not others.issuperset(skin.joints)]
    skins = {skin: place for place, skin in enumerate(kept)}
    bare = Node(extras={MARK: FIGURE})
    replace = msgspec.structs.replace
    nodes = [
        bare if index in others else replace(node, skin=skins.get(node.skin, node.skin)) if node.skin else node
        for index, node in enumerate(file.nodes)
    ]
    animations = [
        replace(one, channels=[channel for channel in one.channels if channel.target.node not in others])
        for one in file.animations
    ]
    return replace(file, nodes=nodes, skins=[file.skins[index] for index in kept], animations=animations)


def _wanted(file: File, parents: list[int]) -> dict[int, None]:
    """The nodes of `find_tree` without ancestors, as the keys of a dict, which keeps the file's order."""
    count = len(file.nodes)
    found = [node for skin in file.skins for node in skin.joints]
    found += [index for index, node in enumerate(file.nodes) if node.mark == JOINT]
    if not found:
        targets = (channel.target for animation in file.animations for channel in animation.channels)
        found = sorted({t.node for t in targets if t.node is not None and t.path != "weights"})
    if not found:
        found = [index for index, node in enumerate(file.nodes) if node.mark not in (MESH, FIGURE)]
    if not found:
        raise FormatError("expected nodes, found none")
    if max(found) >= count:
        raise FormatError(f"expected one of {count} nodes, found {max(found)}", path="skins[0].joints")
    wanted = dict.fromkeys(node for node in found if not (file.skins and _ends(file, parents[node], node)))
    if not wanted:
        raise FormatError("expected joints, found end sites only", path="skins[0].joints")
    return wanted


def parents_of(file: File) -> list[int]:
    """The parent of each node, -1 for those at the top."""
    parents = [-1] * len(file.nodes)
    for index, node in enumerate(file.nodes):
        for child in node.children:
            if child >= len(parents) or child == index or parents[child] >= 0:
                found = f"expected children with one parent each, found {child}"
                raise FormatError(found, path=f"nodes[{index}].children")
            parents[child] = index
    return parents


def _ends(file: File, parent: int, node: int) -> bool:
    """Whether a joint of a skin is an end site, which other programs show as a bone although it moves nothing."""
    own = file.nodes[node]
    bare = not own.children and own.mesh is None and own.mark != JOINT
    return bare and parent >= 0 and named_as_tip(own.name, file.nodes[parent].name)


def named_as_tip(name: str, parent: str) -> bool:
    """Whether a name is that of an end site of the joint ``parent``."""
    return name.startswith(parent) and _NUMBERED_TIP.fullmatch(name, len(parent)) is not None


def _tips(file: File, place: dict[int, int], node: int) -> list[tuple[int, tuple[float, float, float]]]:
    """The end sites of a joint: empty nodes with such a name."""
    tips = []
    for child in file.nodes[node].children:
        own = file.nodes[child]
        if child not in place and not own.children and own.mesh is None and _TIP in own.name:
            tips.append((place[node], own.translation))
    return tips


def local_of(node: Node, index: int) -> tuple[Floats, Floats, Floats]:
    """Translation, unit rotation and scale of a node at rest."""
    path = f"nodes[{index}]"
    if node.matrix is not None:
        return _decomposed(np.array(node.matrix, dtype=np.float64).reshape(4, 4).T, path)
    numbers = np.array((*node.translation, *node.rotation, *node.scale), dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    return numbers[:3], unit(numbers[3:7], path), numbers[7:]


def unit(rotations: Floats, path: str) -> Floats:
    """Rotations (..., 4) normalised to unit length, however exactly they were written."""
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if not bool((length > 1e-6).all() and np.isfinite(length).all()):
        raise FormatError("expected rotations, found a quaternion without length", path=path)
    return np.asarray(rotations / length)


def _decomposed(matrix: Floats, path: str) -> tuple[Floats, Floats, Floats]:
    if not np.isfinite(matrix).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=f"{path}.matrix")
    columns = matrix[:3, :3]
    # An overflow here is refused when the character is checked, with the name of its joint.
    with np.errstate(all="ignore"):
        scale, size = np.linalg.norm(columns, axis=0), np.linalg.det(columns)
    if size < 0.0:
        scale[0] = -scale[0]
    if not scale.all():
        return matrix[:3, 3].copy(), IDENTITY, scale
    return matrix[:3, 3].copy(), np.asarray(from_matrix(columns / scale)), scale


def bake(tree: Tree, local: Local) -> tuple[Local, set[int]]:
    """Move scales, which then count for all below, into the translations: every node keeps its world position.

    Also the nodes whose uneven or mirrored scale shears their children, whose positions are right all the same.
    """
    if (local.scales == 1.0).all():
        return local, set()
    translations = np.empty_like(local.translations)
    whole = np.ones_like(local.scales)
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(translations), step):
        block = slice(start, start + step)
        translations[block], whole[block] = _block(tree, Local(*(part[block] for part in local)))
    return Local(translations, local.rotations, whole), _sheared(tree, local)


def _block(tree: Tree, local: Local) -> tuple[Floats, Floats]:
    linear, turns = world_linear(tree, local)
    whole, result = local.scales.swapaxes(0, 1).copy(), local.translations.copy()
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            whole[joint] *= whole[parent]
            moved = np.einsum("fij,fj->fi", linear[parent], local.translations[:, joint])
            result[:, joint] = rotate(conjugate(turns[parent]), moved)
    return result, whole.swapaxes(0, 1)


def world_linear(tree: Tree, local: Local) -> tuple[Floats, Floats]:
    """(J, F, 3, 3) the nodes' world transforms without places, and (J, F, 4) the rotations in them."""
    matrices = (to_matrix(local.rotations) * local.scales[..., None, :]).swapaxes(0, 1)
    linear, turns = np.empty(matrices.shape), np.empty((*matrices.shape[:2], 4))
    for joint, parent in enumerate(tree.parents.tolist()):
        own = local.rotations[:, joint]
        linear[joint] = matrices[joint] if parent < 0 else linear[parent] @ matrices[joint]
        turns[joint] = own if parent < 0 else multiply(turns[parent], own)
    return linear, turns


def _sheared(tree: Tree, local: Local) -> set[int]:
    parents = set(tree.parents.tolist())
    low, high = local.scales.min(axis=(0, 2)), local.scales.max(axis=(0, 2))
    spread = np.ptp(local.scales, axis=2).max(axis=0)
    uneven = (spread > _EVEN * np.maximum(np.abs(low), np.abs(high))) | (low < 0.0)
    return {joint for joint in np.flatnonzero(uneven).tolist() if joint in parents}


def count_carriers(tree: Tree, moving: AbstractSet[int]) -> int:
    """The number of nodes at the top of the tree that only carry the others; a clip moves those in ``moving``."""
    parents = tree.parents.tolist()
    with_tips = {joint for joint, _ in tree.tips}
    # For each node the smallest parent of it and all later nodes.
    least = np.minimum.accumulate(tree.parents[::-1])[::-1].tolist()
    count = 0
    while not (tree.joints[count] or count in moving or count in with_tips):
        # Only the next node may be its child, and all later nodes have to be below that one.
        if parents[count + 1] != count or (count + 2 < len(parents) and least[count + 2] <= count):
            break
        count += 1
    return count


def without_carriers(tree: Tree, count: int) -> Tree:
    """The tree from node ``count`` on, which becomes the root; its local rest values stay those of the file."""
    return Tree(
        nodes=tree.nodes[count:],
        parents=np.maximum(tree.parents[count:] - count, -1),
        joints=tree.joints[count:],
        translations=tree.translations[count:],
        rotations=tree.rotations[count:],
        scales=tree.scales[count:],
        tips=tuple((joint - count, place) for joint, place in tree.tips),
    )


def carried(baked: Local, count: int) -> Local:
    """Motion of the nodes from ``count`` on, the carriers' motion included in that of the first one."""
    translations, rotations = baked.translations[:, count:].copy(), baked.rotations[:, count:].copy()
    for carrier in reversed(range(count)):
        turn = baked.rotations[:, carrier]
        translations[:, 0] = baked.translations[:, carrier] + rotate(turn, translations[:, 0])
        rotations[:, 0] = multiply(turn, rotations[:, 0])
    return Local(translations, rotations, baked.scales[:, count:])
