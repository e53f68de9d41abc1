"""Goals for a rotation: the effector's joint is to be turned as a rotation says."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind, Quaternion
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Rows, stand_of
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.quaternion import angle_between

ROTATION = 1
TURN = Rows(3, radians=True, moved=False)


def rotation_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Degrees to the rotation; NaN for a pin that has none of its own."""
    if goal.target_rotation is None:
        return NAN, NAN
    turn = stand_of(goal, skeleton, world).rotation
    return NAN, math.degrees(float(angle_between(turn, np.array(goal.target_rotation))))


def rotation_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show how the joint is to be turned, where the effector is."""
    stand = stand_of(goal, skeleton, world)
    return Drawing(stand.joint, stand.point, rotation=goal.target_rotation)


KIND = Kind(
    word=GoalKind.ROTATION,
    code=ROTATION,
    rows=(TURN,),
    keys={"rotation": FileKey("target_rotation", Quaternion, "How to be turned, world frame.")},
    miss=rotation_miss,
    drawing=rotation_drawing,
)
