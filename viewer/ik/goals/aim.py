"""Goals for an aim: an axis of the effector's joint is to point at a point."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind, Vector
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Rows, stand_of
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.quaternion import rotate

AIM = 4


def aim_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Degrees between where the axis points and where its point lies; 0 at the point itself."""
    stand = stand_of(goal, skeleton, world)
    wanted, axis = np.array(goal.target) - stand.point, rotate(stand.rotation, np.array(goal.axis))
    return NAN, math.degrees(math.atan2(float(np.linalg.norm(np.cross(axis, wanted))), float(axis @ wanted)))


def aim_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show the effector; its point may be anywhere."""
    stand = stand_of(goal, skeleton, world)
    return Drawing(stand.joint, stand.point)


KIND = Kind(
    word=GoalKind.AIM,
    code=AIM,
    rows=(Rows(3, radians=True),),
    keys={
        "aim": FileKey("target", Vector, "Point that `axis` is to point at."),
        "axis": FileKey("axis", Vector, "Of `aim`, in the joint's frame."),
    },
    miss=aim_miss,
    drawing=aim_drawing,
)
