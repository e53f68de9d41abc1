"""Between two poses."""

from __future__ import annotations

from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import slerp


def blend_poses(a: Pose, b: Pose, part: float) -> Pose:
    """From a (part 0) to b (part 1): rotations by slerp the short way, translations linearly."""
    return Pose.trusted(
        slerp(a.rotations, b.rotations, part), a.translations + part * (b.translations - a.translations)
    )
