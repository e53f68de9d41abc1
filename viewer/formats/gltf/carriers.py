"""Nodes that only carry a figure: the "Armature" of Blender's exports, the scaled and turned "Z_UP" of other programs.

Such a node stands still, and below it is one joint, the one that has the figure's whole body on it. A free root can
only be a tree's first node; so these are folded into that joint, or the body could turn but not go anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.formats.gltf.baking import Baked
from viewer.formats.gltf.nodes import Tree
from viewer.spatial.quaternion import multiply, rotate

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet


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
