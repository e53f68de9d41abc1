"""How far a pose is outside the joint limits, and the pose inside them that is nearest joint by joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.given import check_clip, check_pose, check_skeleton
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats


def limit_violation(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J,) largest excess of each joint over its ranges: radians, metres for slides; 0 inside.

    Raises:
        InputError: no skeleton, no pose, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_pose(pose)
    return _excess(skeleton, pose.rotations, pose.translations)


def clip_violation(skeleton: Skeleton, clip: Clip, frames: slice = slice(None)) -> Floats:
    """(F, J) the violation of every frame asked for.

    Raises:
        InputError: no skeleton, no clip, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_clip(clip)
    return _excess(skeleton, clip.rotations[frames], clip.local_translations(frames))


def project_pose(skeleton: Skeleton, pose: Pose, *, limits: bool = True) -> Pose:
    """The nearest pose that each joint's kind can hold and, if ``limits``, that its limits allow.

    Joint by joint and coordinate by coordinate; the rest of the tree is not asked. Joints that are inside already keep
    their numbers to the last bit, and translations other than those of slides are kept: a file may animate them.

    Raises:
        InputError: no skeleton, no pose, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_pose(pose)
    space = joint_space(skeleton)
    measured = space.measure(pose.rotations, pose.translations)
    wanted = space.nearest_inside(measured) if limits else measured
    rotations, translations = space.rebuild(wanted, pose.rotations, pose.translations)
    unchanged = (measured == wanted).all(axis=-1) & _holds(pose, rotations, translations)
    return Pose.trusted(
        handed_over(np.where(unchanged[:, None], pose.rotations, rotations)),
        handed_over(np.where(unchanged[:, None], pose.translations, translations)),
    )


def _holds(pose: Pose, rotations: Floats, translations: Floats) -> Bools:
    """(J,) whether the rebuilt motion is the pose's own but for rounding."""
    same_turn = np.abs(np.einsum("ji,ji->j", pose.rotations, rotations)) > 1.0 - 1e-14
    same_place = np.abs(pose.translations - translations).max(axis=-1) <= 1e-12
    result: Bools = same_turn & same_place
    return result


def _excess(skeleton: Skeleton, rotations: Floats, translations: Floats) -> Floats:
    space = joint_space(skeleton)
    return space.excess(space.measure(rotations, translations))
