"""Clips that change the scale of joints: how the size of what follows them differs from rest."""

from __future__ import annotations

import numpy as np

from viewer.formats.gltf.nodes import Local, Tree
from viewer.formats.gltf.tracks import Track, local_motion
from viewer.skeleton.skin import Sizes
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import multiply, to_matrix

_SAME = 1e-5
"""Scales that differ from those at rest by a smaller fraction do not count."""
_BLOCK = 1 << 15
"""Nodes times frames that are computed together, which bounds memory."""


def sizes_of(tree: Tree, tracks: list[Track], times: Floats, carriers: int) -> Sizes | None:
    """How a clip changes the size of what follows the joints.

    Args:
        tree: all nodes.
        tracks: of the clip.
        times: (F,) of its frames, seconds.
        carriers: nodes at the top of the tree that are no joints.

    Returns:
        The joints that change theirs, and how; None if there are none.
    """
    if not any(track.part == "scale" and _varies(track, tree) for track in tracks):
        return None
    rest = _shapes(tree, local_motion(tree, [], np.zeros(1)))[0, carriers:]
    if not bool((np.abs(np.linalg.det(rest)) > 0.0).all()):
        return None  # what has no size at rest can get none
    back = np.linalg.inv(rest)
    step = max(1, _BLOCK // len(tree.nodes))
    blocks = (slice(start, start + step) for start in range(0, len(times), step))
    changes = np.concatenate(
        [
            (_shapes(tree, local_motion(tree, tracks, times, frames))[:, carriers:] @ back).astype(np.float32)
            for frames in blocks
        ]
    )
    changed = np.flatnonzero((np.abs(changes - np.eye(3)) > _SAME).any(axis=(0, 2, 3)))
    return Sizes(changed, changes[:, changed]) if changed.size else None


def _varies(track: Track, tree: Tree) -> bool:
    rest = tree.scales[track.joint]
    return bool((np.abs(track.values - rest) > _SAME * np.abs(rest).max()).any())


def _shapes(tree: Tree, local: Local) -> Floats:
    """(F, J, 3, 3) the scale and shear of each node's world transform, in its own frame."""
    matrices = to_matrix(local.rotations) * local.scales[..., None, :]
    linear, turns = np.empty_like(matrices), np.empty_like(local.rotations)
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent < 0:
            linear[:, joint], turns[:, joint] = matrices[:, joint], local.rotations[:, joint]
        else:
            linear[:, joint] = linear[:, parent] @ matrices[:, joint]
            turns[:, joint] = multiply(turns[:, parent], local.rotations[:, joint])
    return np.asarray(to_matrix(turns).swapaxes(-1, -2) @ linear)
