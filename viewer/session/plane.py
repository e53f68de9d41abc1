"""Planes of the world, and what turning about their normals means for joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError, unknown_name
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, rotate

if TYPE_CHECKING:
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats

PLANES = ("xy", "yz", "zx")
"""Of the world, by the two axes that span them."""
_ALONG = 1e-6
"""Radians between an axis and a direction that count as none."""
_STEPS = 72
"""Angles of a full turn that are looked at before the ends of a range are narrowed down."""
_HALVINGS = 28
_INSIDE = 1e-10


def normal_of(plane: str) -> Floats:
    """(3,) the unit normal of a plane, towards whoever looks at it.

    Raises:
        InputError: it is none of `PLANES`.
    """
    if plane not in PLANES:
        raise InputError(unknown_name("plane", plane, PLANES))
    result = np.zeros(3)
    result[("yz", "zx", "xy").index(plane)] = 1.0
    return result


def joint_axes(world: World, normal: Floats) -> Floats:
    """(J, 3) the normal in the frame of each joint: it stays the same while joints turn about the normal alone."""
    return rotate(conjugate(world.rotations), normal)


def turns_about(skeleton: Skeleton, world: World, normal: Floats) -> Bools:
    """(J,) whether a joint can turn about the normal (of slides: slide across it) as it stands; fixed ones stay."""
    return np.array([_able(skeleton, world, normal, joint) for joint in range(len(skeleton))])


def _able(skeleton: Skeleton, world: World, normal: Floats, joint: int) -> bool:
    kind, (first, second) = skeleton.kinds[joint], skeleton.axes[joint]
    if kind in {JointKind.BALL, JointKind.FREE, JointKind.FIXED}:
        return True
    if kind is JointKind.HINGE:
        return _along(rotate(world.rotations[joint], first), normal)
    parent = int(skeleton.parents[joint])
    above = skeleton.rest_rotations[joint]
    if parent >= 0:
        above = multiply(world.rotations[parent], above)
    if kind is JointKind.SLIDE:
        return bool(abs(rotate(above, first) @ normal) < _ALONG)
    return _along(rotate(above, first), normal) or _along(rotate(world.rotations[joint], second), normal)


def _along(axis: Floats, normal: Floats) -> bool:
    return bool(np.linalg.norm(np.cross(axis, normal)) < _ALONG)


def ranges(skeleton: Skeleton, pose: Pose, axes: Floats, joints: Bools) -> Floats:
    """(J, 2) how far joints can turn about axes of their own frames before a limit stops them, radians.

    Where the pose is outside the limits it is the range that is nearest to it, and (0, 0) where no turn leads inside;
    infinite where no limit is met all the way round.

    Args:
        skeleton: with the limits that count.
        pose: where the turns are counted from.
        axes: (J, 3) unit.
        joints: (J,) those asked for; the others' rows say nothing.
    """
    result = np.tile([-np.inf, np.inf], (len(skeleton), 1))
    limited = [joint for joint in np.flatnonzero(joints).tolist() if skeleton.limits[joint] is not None]
    if not limited:
        return result
    space, around = joint_space(skeleton), np.linspace(-np.pi, np.pi, _STEPS + 1)

    def inside(angles: Floats) -> Bools:
        """(N, J) whether joints turned by angles (N, J) are within their limits."""
        turned = multiply(pose.rotations, from_axis_angle(axes, angles))
        excess = space.excess(space.measure(turned, np.broadcast_to(pose.translations, (*turned.shape[:-1], 3))))
        return np.asarray(excess <= _INSIDE)

    found = inside(np.repeat(around[:, None], len(skeleton), axis=1))
    ends, beyond = np.zeros((2, len(skeleton))), np.zeros((2, len(skeleton)))
    middle = _STEPS // 2
    for joint in limited:
        good = np.flatnonzero(found[:, joint])
        if len(good) == 0:
            result[joint] = 0.0
        elif len(good) < len(around):
            low = high = int(good[np.argmin(np.abs(good - middle))])
            while low > 0 and found[low - 1, joint]:
                low -= 1
            while high < _STEPS and found[high + 1, joint]:
                high += 1
            ends[:, joint] = around[[low, high]]
            beyond[:, joint] = around[[max(low - 1, 0), min(high + 1, _STEPS)]]
            result[joint] = ends[:, joint]
    for _ in range(_HALVINGS):
        half = 0.5 * (ends + beyond)
        good_now = inside(half)
        ends, beyond = np.where(good_now, half, ends), np.where(good_now, beyond, half)
    return np.where(np.isfinite(result[:, :1]), ends.T, result)
