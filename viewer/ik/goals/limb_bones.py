"""The two bones that meet at an elbow or a knee, or at any other joint: for bends and poles."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.numbers import Vector
from viewer.skeleton import JointKind, Skeleton, find_figure, find_place, fk
from viewer.spatial.quaternion import conjugate, perpendicular, rotate

STRAIGHT = 1e-3
"""Below this sine of the angle between them two bones are in one line."""


class LimbBones(NamedTuple):
    """Two bones of a skeleton that meet at a joint.

    Attributes:
        upper: the joint where the bone above begins.
        middle: the joint where they meet.
        end_joint: where the bone below ends: at this joint, or at
        end_offset: (3,) a place in its frame, in metres.
    """

    upper: int
    middle: int
    end_joint: int
    end_offset: Vector

    def length(self, skeleton: Skeleton) -> float:
        """Metres along the bones from the upper joint to the end."""
        total, joint = float(np.linalg.norm(self.end_offset)), self.end_joint
        while joint != self.upper:
            total += float(np.linalg.norm(skeleton.offsets[joint]))
            joint = int(skeleton.parents[joint])
        return total


def bones_at(goal: Goal, skeleton: Skeleton, *, own: bool = False) -> LimbBones:
    """The bones that meet at the joint of a goal; joints in the same place count as one.

    Args:
        goal: names the joint.
        skeleton: has it.
        own: both bones must be the joint's own: only its turns change the angle between them. Else the elbow or knee
            of a recognised figure has the arm or leg, whose upper and lower bone may consist of several joints.

    Raises:
        InputError: no joint between two bones.
    """
    place, expected = find_place(skeleton, goal.effector), "expected a joint between two bones"
    what, joint = f"{goal.kind} goal for {quote(goal.effector)}", place.joint
    if any(place.offset):
        raise InputError(f"{what}: {expected}, found a point beside its joint")
    if skeleton.parents[joint] < 0:
        raise InputError(f"{what}: {expected}, found a root")
    figure = None if own else find_figure(skeleton)
    limb = next((limb for limb in figure.limbs if limb.lower == joint), None) if figure is not None else None
    if limb is not None:
        x, y, z = limb.tip[1].tolist()
        return LimbBones(limb.upper, joint, limb.tip[0], (x, y, z))
    upper, end = _upper_joint(skeleton, joint), _bone_ends(skeleton)[joint]
    if upper is None or (own and upper != skeleton.parents[joint]):
        raise InputError(f"{what}: {expected}, found none above it")
    if end is None or (own and joint not in (end[0], skeleton.parents[end[0]])):
        raise InputError(f"{what}: {expected}, found none below it")
    return LimbBones(upper, joint, *end)


def _upper_joint(skeleton: Skeleton, joint: int) -> int | None:
    """The nearest joint above that is elsewhere; None where there is none."""
    while joint >= 0 and not skeleton.offsets[joint].any():
        joint = int(skeleton.parents[joint])
    return int(skeleton.parents[joint]) if joint >= 0 and skeleton.parents[joint] >= 0 else None


@lru_cache(maxsize=16)
def _bone_ends(skeleton: Skeleton) -> list[tuple[int, Vector] | None]:
    """Where each joint's bone ends, as in `LimbBones`: on the longest way below it; None where there is none."""
    ends: list[tuple[int, Vector] | None] = [None] * len(skeleton)
    longest = [0.0] * len(skeleton)

    def lead(joint: int, way: float, end: tuple[int, Vector] | None) -> None:
        if joint >= 0 and way > longest[joint]:
            longest[joint], ends[joint] = way, end

    for joint, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
        x, y, z = offset.tolist()
        lead(joint, float(np.linalg.norm(offset)), (joint, (x, y, z)))
    for child in range(len(skeleton) - 1, -1, -1):  # children come after their parents
        length = float(np.linalg.norm(skeleton.offsets[child]))
        end = (child, (0.0, 0.0, 0.0)) if length > 0.0 else ends[child]
        lead(int(skeleton.parents[child]), length + longest[child], end)
    return ends


@lru_cache(maxsize=64)
def bending_axis(skeleton: Skeleton, bones: LimbBones) -> Vector:
    """The axis, in the middle joint's frame, about which the limb bends from straight.

    The relaxed pose shows it; where the limb is straight there, its hinge; else any axis across.
    """
    world, joint = fk(skeleton, skeleton.relaxed_pose()), bones.middle
    to_joint = conjugate(world.rotations[joint])
    above = rotate(to_joint, world.positions[joint] - world.positions[bones.upper])
    below = rotate(to_joint, world.point(bones.end_joint, np.array(bones.end_offset)) - world.positions[joint])
    axis = np.cross(above, below)
    size = np.linalg.norm(axis)
    if size < STRAIGHT * np.linalg.norm(above) * np.linalg.norm(below):
        hinge = skeleton.kinds[joint] in (JointKind.HINGE, JointKind.UNIVERSAL)
        axis = skeleton.axes[joint, 0] if hinge else perpendicular(below)
        axis = axis - below * ((axis @ below) / (below @ below))
        size = np.linalg.norm(axis)
        if size < STRAIGHT:  # a hinge that only rolls its bone
            axis, size = perpendicular(below), np.float64(1.0)
    x, y, z = (axis / size).tolist()
    return x, y, z
