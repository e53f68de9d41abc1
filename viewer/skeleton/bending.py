"""About which axis, and to which side, elbows and knees bend: by kind, limits, or the way a figure faces."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.figure_axes import unit
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.kinematics import fk
from viewer.skeleton.limbs import ARM
from viewer.skeleton.limits import LimitForm
from viewer.spatial.quaternion import conjugate, rotate

if TYPE_CHECKING:
    from viewer.skeleton.figure import Figure
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.limbs import Limb
    from viewer.skeleton.limits import JointLimits
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_BENT = np.sin(np.radians(15.0))
"""A limb that is bent this much at rest shows its plane."""
_AGREES = 0.5
"""Two axes within 60 degrees tell the same."""
_BEHIND = np.radians(10.0)
_BENDS = np.radians(25.0)
"""Limits show a bending axis if they let it turn this far to one side and at most `_BEHIND` to the other."""


def flexion_axis(skeleton: Skeleton, figure: Figure, limb: Limb) -> Floats | None:
    """Unit axis (3,), in the rest frame of the limb's lower joint; a positive turn about it bends the limb.

    Hinges and universals have it in their axes; its side follows from the limits, else from the figure. Of a ball it is
    square to the limb and to the way the figure faces, unless the limits say otherwise.

    Returns:
        None where neither limits nor the rest pose tell.
    """
    joint = limb.lower
    limits, kind = skeleton.limits[joint], skeleton.kinds[joint]
    expected = _expected(skeleton, figure, limb)
    if kind in (JointKind.HINGE, JointKind.UNIVERSAL):
        column = 0 if kind is JointKind.HINGE else _crosswise(skeleton, limb)
        axis = skeleton.axes[joint, column]
        sign = _side(limits, column)
        if sign == 0.0 and expected is not None:
            sign = float(np.sign(axis @ expected))
        return np.asarray(-axis if sign < 0 else axis)
    shown = _limited(limits)
    if expected is None or (shown is not None and float(shown @ expected) < _AGREES):
        return shown
    return expected


@lru_cache(maxsize=16)
def rest_world(skeleton: Skeleton) -> World:
    """Forward kinematics of the rest pose."""
    return fk(skeleton, skeleton.rest_pose())


def limb_places(world: World, limb: Limb) -> Floats:
    """World places (3, 3) of a limb's shoulder, elbow and wrist, or hip, knee and ankle.

    Where the limb has no hand or foot its end site stands in for it.
    """
    return np.vstack([world.positions[[limb.upper, limb.lower]], world.point(*limb.tip)])


def leg_length(skeleton: Skeleton, figure: Figure) -> float | None:
    """Length of thigh and shank at rest, the mean of both legs; None of a figure without legs."""
    world = rest_world(skeleton)
    bones = [np.diff(limb_places(world, leg), axis=0) for leg in figure.legs]
    return float(np.linalg.norm(bones, axis=-1).sum(axis=-1).mean()) if bones else None


def bends_towards(figure: Figure, limb: Limb, direction: Floats) -> Floats:
    """Unit vector (3,) that the lower bone moves to as the limb bends, its upper one pointing in ``direction``.

    Forearms go forward and shins back; of an arm that reaches forward, up, and of a lifted thigh, down.
    """
    sign = 1.0 if limb.kind == ARM else -1.0
    ahead = abs(float(direction @ figure.forward)) > np.cos(np.radians(35.0))
    return sign * (figure.up if ahead else figure.forward)


def _expected(skeleton: Skeleton, figure: Figure, limb: Limb) -> Floats | None:
    """The axis that the rest pose tells of: its own bend, else square to the limb and the way it faces."""
    if not figure.upright:
        return None
    world = rest_world(skeleton)
    shoulder, elbow, wrist = limb_places(world, limb)
    upper, lower = unit(elbow - shoulder), unit(wrist - elbow)
    axis = unit(np.cross(upper, bends_towards(figure, limb, upper)))
    bend = np.cross(upper, lower)
    if np.linalg.norm(bend) > _BENT and float(unit(bend) @ axis) > _AGREES:
        axis = unit(bend)
    return rotate(conjugate(world.rotations[limb.lower]), axis)


def _crosswise(skeleton: Skeleton, limb: Limb) -> int:
    """Which of a universal's axes lies across the bone: the other one twists it."""
    world = rest_world(skeleton)
    _, elbow, wrist = limb_places(world, limb)
    bone = rotate(conjugate(world.rotations[limb.lower]), unit(wrist - elbow))
    return int(np.argmin(np.abs(skeleton.axes[limb.lower] @ bone)))


def _side(limits: JointLimits | None, column: int) -> float:
    """Sign of the side that a range reaches farther to; 0 where it does not say."""
    if limits is None or not np.isfinite([limits.lower[column], limits.upper[column]]).all():
        return 0.0
    return float(np.sign(limits.upper[column] + limits.lower[column]))


def _limited(limits: JointLimits | None) -> Floats | None:
    """The coordinate axis that a ball's limits let bend the most, signed, if they let it bend to one side only."""
    if limits is None or limits.form is LimitForm.COORDINATES:
        return None
    far, near = np.maximum(limits.upper, -limits.lower), np.minimum(limits.upper, -limits.lower)
    if limits.form is LimitForm.SWING_TWIST:
        far[limits.twist_axis] = -np.inf
    axis = int(np.argmax(far))
    if near[axis] > _BEHIND or not _BENDS <= far[axis] < np.inf:
        return None
    sign = 1.0 if limits.upper[axis] == far[axis] else -1.0
    return np.asarray(sign * np.eye(3)[axis])
