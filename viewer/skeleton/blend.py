"""Between two poses."""

from __future__ import annotations

from viewer.skeleton.pose import Pose
from viewer.spatial.checks import handed_over
from viewer.spatial.quaternion import slerp


def blend_poses(a: Pose, b: Pose, part: float) -> Pose:
    """From a (part 0) to b (part 1): rotations by slerp the short way, translations linearly."""
    return Pose.trusted(
        handed_over(slerp(a.rotations, b.rotations, part)),
        handed_over(a.translations + part * (b.translations - a.translations)),
    )
