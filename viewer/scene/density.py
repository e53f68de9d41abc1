"""Where a clip takes the bone of a joint: patches on the sphere of its directions, brighter where it stays longer."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.scene.look import rgba
from viewer.scene.primitives import VERTEX, Records
from viewer.scene.ranges import CONE_LENGTH, Moment, limited_joint
from viewer.skeleton import Clip, JointKind, Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate

_CELL = 0.06
"""Width of a cell in radians, or a little more."""
_MOST_FRAMES = 3000
"""Of a longer clip every second, third, ... frame counts."""
_LEAST = 1e-9
_FILLED = 0.7
"""Part of its cell that a patch fills."""
_FAINT, _STRONG = 0.16, 0.7
"""Opacity of a patch with hardly a frame, and of the one with most."""


class Density(NamedTuple):
    """The directions that a bone takes: N of them.

    Attributes:
        ways: (N, 3) unit vectors, in the joint's frame at rest.
        shares: (N,) parts of the frames; they add up to 1.
    """

    ways: Floats
    shares: Floats


@lru_cache(maxsize=32)
def density_of(skeleton: Skeleton, clip: Clip, joint: int) -> Density | None:
    """The directions of a joint's bone in a clip; None if it has no limits, no bone, or is not one of the clip's.

    Args:
        skeleton: with the limits.
        clip: of a skeleton with the same joints.
        joint: its index.
    """
    if clip.rotations.shape[1] != len(skeleton) or skeleton.limits[joint] is None:
        return None
    if skeleton.kinds[joint] in {JointKind.SLIDE, JointKind.FIXED}:
        return None
    about = limited_joint(skeleton, joint)
    if about.length <= 0.0:
        return None
    frames = clip.rotations[:: -(-len(clip) // _MOST_FRAMES), joint]
    ways = rotate(multiply(conjugate(skeleton.rest_rotations[joint]), frames), about.bone)
    cells, inverse, counts = np.unique(np.round(ways / _CELL), axis=0, return_inverse=True, return_counts=True)
    middles = np.zeros((len(cells), 3))
    np.add.at(middles, inverse.reshape(-1), ways)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    return Density(middles, counts / counts.sum())


def draw_density(skeleton: Skeleton, joint: int, density: Density, now: Moment) -> Records:
    """VERTEX triangles, two a patch, where the rim of the joint's limits is."""
    radius = CONE_LENGTH * limited_joint(skeleton, joint).length
    ways = density.ways @ now.base.T
    half = 0.5 * _FILLED * _CELL * radius
    middles = now.place + radius * ways
    # All lie alike: along the axis that is most across the directions.
    along = now.base[:, np.abs(density.shares @ density.ways).argmin()]
    across = np.cross(ways, along)
    across *= half / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), _LEAST)
    over = np.cross(ways, across)
    corners = middles + np.stack([-across - over, across - over, across + over, over - across])
    records = np.zeros((len(ways), 6), VERTEX)
    records["position"] = corners[[0, 1, 2, 0, 2, 3]].transpose(1, 0, 2)
    strength = _FAINT + (_STRONG - _FAINT) * np.sqrt(density.shares / density.shares.max())
    records["colour"] = np.array([rgba("text", alpha) for alpha in strength.tolist()])[:, None]
    return records.reshape(-1)
