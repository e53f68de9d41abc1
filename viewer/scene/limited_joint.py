"""One joint with limits: its ranges, its bone, and the turns at the edge of what it may do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.scene.look import look_of
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import LimitForm
from viewer.skeleton.readings import swing_inside
from viewer.skeleton.twist_axis import default_twist_axis
from viewer.spatial.euler import axes_of, from_euler
from viewer.spatial.quaternion import from_axis_angle, multiply, to_matrix
from viewer.spatial.swing_twist import from_swing_twist

if TYPE_CHECKING:
    from viewer.skeleton.limits import JointLimits
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

HALF_EDGE = 12
"""Points on half an edge of the range of two coordinates: 8 halves make a closed curve of 96."""
_AXES = np.eye(3)
_LOCKED = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LimitedJoint:
    """What of a joint with limits does not depend on the pose.

    Attributes:
        kind, limits: of the skeleton.
        bone: (3,) unit vector of its bone, in the joint's frame.
        length: metres of that bone.
        axes: (2, 3) of hinges and universals.
        lower, upper: (3,) ranges of its coordinates.
        free: the two coordinates that move the bone, of balls and universals.
        held: the coordinate that turns the bone about itself, of balls; else -1.
        edge: (96, 3, 3) rotations round the edge of what ``free`` may do, where these do not depend on ``held``: a turn
            by that acts before them; None where they do, or where there is no edge.
    """

    kind: JointKind
    limits: JointLimits
    bone: Floats
    length: float
    axes: Floats
    lower: Floats
    upper: Floats
    free: tuple[int, int]
    held: int
    edge: Floats | None = None

    @property
    def has_edge(self) -> bool:
        """Whether its bone may go to more than one direction, and not to all of them."""
        rows = list(self.free)
        bounded = np.isfinite(self.lower[rows]) | np.isfinite(self.upper[rows])
        return bool(bounded.any() and (self.upper[rows] - self.lower[rows] > _LOCKED).any())

    @property
    def turns_first(self) -> bool:
        """Whether the held coordinate acts before the free ones, or there is none."""
        if self.held < 0 or self.limits.form is not LimitForm.EULER:
            return True
        return axes_of(self.limits.order)[2] == self.held


@lru_cache(maxsize=8)
def _known(_skeleton: Skeleton) -> dict[int, LimitedJoint]:
    """The joints of a skeleton that have been asked for; filled by `limited_joint`."""
    return {}


def limited_joint(skeleton: Skeleton, joint: int) -> LimitedJoint:
    """A joint that has limits; kept for the skeletons in use."""
    known = _known(skeleton)
    if joint not in known:
        known[joint] = _with_edge(_measured(skeleton, joint))
    return known[joint]


def _measured(skeleton: Skeleton, joint: int) -> LimitedJoint:
    """A joint without a bone of its own is shown half as long as the bone that leads to it."""
    limits, kind, space = skeleton.limits[joint], skeleton.kinds[joint], joint_space(skeleton)
    assert limits is not None
    tail = _tail(skeleton, joint)
    if tail is None:
        tail = 0.5 * np.linalg.norm(skeleton.offsets[joint]) * _AXES[limits.twist_axis]
    length = float(np.linalg.norm(tail))
    bone = tail / length if length > 0.0 else _AXES[limits.twist_axis]
    held = -1
    if kind is JointKind.BALL:
        held = default_twist_axis(bone) if limits.form is LimitForm.EULER else limits.twist_axis
    first, second = (axis for axis in range(3) if axis != (held if held >= 0 else 2))
    ends = space.lower[joint], space.upper[joint]
    return LimitedJoint(kind, limits, bone, length, skeleton.axes[joint], *ends, (first, second), held)


def _tail(skeleton: Skeleton, joint: int) -> Floats | None:
    """(3,) from a joint to the end of its first bone of some length, in its frame."""
    look = look_of(skeleton)
    bone = int(look.main[joint])
    if bone < 0:
        return None
    child = int(look.children[bone])
    tips = len(look.children) - len(skeleton.tip_parents)
    return np.asarray(skeleton.offsets[child] if child >= 0 else skeleton.tip_offsets[bone - tips])


def _with_edge(joint: LimitedJoint) -> LimitedJoint:
    moves = joint.kind in {JointKind.BALL, JointKind.UNIVERSAL}
    if not (moves and joint.has_edge and joint.turns_first):
        return joint
    edge = to_matrix(turns_of(joint, edge_coordinates(joint, np.zeros(3))))
    return LimitedJoint(
        joint.kind, joint.limits, joint.bone, joint.length, joint.axes, joint.lower, joint.upper, joint.free,
        joint.held, edge,
    )  # fmt: skip


def edge_coordinates(joint: LimitedJoint, now: Floats) -> Floats:
    """(96, 3) coordinates round the edge of the free two, the others as in ``now`` (3,).

    Every 24th, from the 12th on, lies where the other of the two is at 0, or as near to it as it may be.
    """
    first, second = joint.free
    (low_a, middle_a, high_a), (low_b, middle_b, high_b) = _stations(joint, first), _stations(joint, second)
    corners = np.array([
        (low_a, low_b), (middle_a, low_b), (high_a, low_b), (high_a, middle_b),
        (high_a, high_b), (middle_a, high_b), (low_a, high_b), (low_a, middle_b),
    ])  # fmt: skip
    part = np.arange(HALF_EDGE)[:, None] / HALF_EDGE
    between = corners[:, None] + part * (np.roll(corners, -1, axis=0) - corners)[:, None]
    edge = np.tile(now, (8 * HALF_EDGE, 1))
    edge[:, [first, second]] = between.reshape(-1, 2)
    if joint.kind is not JointKind.BALL or joint.limits.form is LimitForm.EULER:
        return edge
    # A swing is at most half a turn long: of ranges that would allow more the edge is where they and that meet.
    turning = np.arange(3) == joint.held
    low, high = np.where(turning, -math.inf, joint.lower), np.where(turning, math.inf, joint.upper)
    return swing_inside(edge, low, high, joint.held)


def _stations(joint: LimitedJoint, axis: int) -> tuple[float, float, float]:
    """Lower end, the place nearest to 0, upper end of a coordinate; half a turn where it has no end."""
    low, high = max(float(joint.lower[axis]), -math.pi), min(float(joint.upper[axis]), math.pi)
    return low, min(max(0.0, low), high), high


def turns_of(joint: LimitedJoint, coordinates: Floats) -> Floats:
    """(N, 4) rotations from rest of coordinates (N, 3)."""
    if joint.kind is JointKind.HINGE:
        return from_axis_angle(joint.axes[0], coordinates[:, 0])
    if joint.kind is JointKind.UNIVERSAL:
        first = from_axis_angle(joint.axes[0], coordinates[:, 0])
        return multiply(first, from_axis_angle(joint.axes[1], coordinates[:, 1]))
    if joint.limits.form is LimitForm.SWING_TWIST:
        return from_swing_twist(coordinates, joint.limits.twist_axis)
    return from_euler(coordinates[:, axes_of(joint.limits.order)], joint.limits.order)
