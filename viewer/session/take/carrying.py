"""Poses carried from one frame of a motion to another: what they differ by from it goes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.session.take.editing import differences
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import multiply, normalized

if TYPE_CHECKING:
    from viewer.spatial.checks import Bools


def carried_pose(pose: Pose, before: Pose, after: Pose) -> Pose:
    """What a pose differs by from one frame, added to another: after * (before^-1 * pose).

    Joints that are as in ``before``, to the bit, come out as in ``after``, to the bit.

    Args:
        pose: of the same skeleton as the frames.
        before: the frame that it was made at.
        after: the frame that it is wanted at.
    """
    if before is after:
        return pose
    turns, moved = differences(before, pose)
    nothing = (turns[..., :3] == 0.0).all(axis=-1, keepdims=True)
    rotations = np.where(nothing, after.rotations, normalized(multiply(after.rotations, turns)))
    return Pose(rotations, after.translations + moved)


def with_joints(pose: Pose, other: Pose, chosen: Bools) -> Pose:
    """The pose with some joints (J,) as in another one."""
    some = chosen[:, None]
    rotations = np.where(some, other.rotations, pose.rotations)
    return Pose(rotations, np.where(some, other.translations, pose.translations))


def different(one: Pose, other: Pose) -> Bools:
    """(J,) joints that are not as in another pose, to the bit."""
    turned = (one.rotations != other.rotations).any(axis=-1)
    return np.asarray(turned | (one.translations != other.translations).any(axis=-1))
