"""Joints that no goal depends on: they stay as a solve finds them, but that they are brought inside their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats, Ints

_OUTSIDE = 1e-9
"""Radians or metres: less than this is rounding."""


class Idle:
    """The limited joints of a skeleton that take no part in a solve.

    Args:
        skeleton: the joints.
        taking_part: indices of the joints that the solver itself keeps inside their limits.
        limits: whether limits bind; if not, every pose stays as it is.
    """

    def __init__(self, skeleton: Skeleton, taking_part: Ints, *, limits: bool) -> None:
        """Find them."""
        self._space = joint_space(skeleton)
        limited: Bools = np.any(np.isfinite(self._space.lower) | np.isfinite(self._space.upper), axis=-1)
        limited[taking_part] = False
        self._joints = np.flatnonzero(limited) if limits else np.empty(0, dtype=np.intp)

    def pose_inside(self, pose: Pose) -> tuple[Pose, bool]:
        """The pose with these joints brought inside their limits; whether one was outside."""
        rotations, translations, outside = self.inside(pose.rotations, pose.translations)
        if not outside.any():
            return pose, False
        return Pose.trusted(handed_over(rotations), handed_over(translations)), True

    def inside(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats, Bools]:
        """Local rotations (..., J, 4) and translations (..., J, 3) with these joints brought inside their limits.

        Returns:
            Both, themselves where nothing was to be done, and (..., J) which joints were outside.
        """
        outside = np.zeros(rotations.shape[:-1], dtype=np.bool_)
        if not self._joints.size:
            return rotations, translations, outside
        measured = self._space.measure(rotations, translations)
        outside[..., self._joints] = self._space.excess(measured)[..., self._joints] > _OUTSIDE
        if not outside.any():
            return rotations, translations, outside
        turns, moves = self._space.rebuild(self._space.nearest_inside(measured), rotations, translations)
        chosen = outside[..., None]
        return np.where(chosen, turns, rotations), np.where(chosen, moves, translations), outside
