"""Goals for a distance: the effector is to be so far away from a point."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind, Vector
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Rows, stand_of
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton

DISTANCE = 3


def distance_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Metres too near or too far."""
    away = stand_of(goal, skeleton, world).point - np.array(goal.target)
    return abs(float(np.linalg.norm(away)) - (goal.target_distance or 0.0)), NAN


def distance_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show the nearest point at the right distance."""
    stand, centre = stand_of(goal, skeleton, world), np.array(goal.target)
    away = stand.point - centre
    far = float(np.linalg.norm(away))
    target = centre + away * ((goal.target_distance or 0.0) / far) if far > 0.0 else centre
    return Drawing(stand.joint, stand.point, target)


KIND = Kind(
    word=GoalKind.DISTANCE,
    code=DISTANCE,
    rows=(Rows(1),),
    keys={
        "distance": FileKey("target_distance", float, "How far to be from `from`.", math.inf),
        "from": FileKey("target", Vector, "Centre of `distance`."),
    },
    miss=distance_miss,
    drawing=distance_drawing,
)
