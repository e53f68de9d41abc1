"""Scale taken out of a tree of nodes: our joints turn and move only, so their places must make up for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.spatial.quaternion import conjugate, multiply, rotate, to_matrix

if TYPE_CHECKING:
    from viewer.formats.gltf.nodes import Tree
    from viewer.formats.gltf.tracks import Local
    from viewer.spatial.checks import Floats

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
