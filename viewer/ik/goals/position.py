"""Goals for a position: the effector is to be at a point."""

from __future__ import annotations

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind, Vector
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Rows, stand_of
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton

POSITION = 0
PLACE = Rows(3)


def position_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Metres to the target; NaN for a pin that has none of its own."""
    stand = stand_of(goal, skeleton, world)
    return (NAN if goal.target is None else float(np.linalg.norm(stand.point - np.array(goal.target)))), NAN


def position_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show the target; a pin without one is where the effector is."""
    stand = stand_of(goal, skeleton, world)
    target = stand.point if goal.target is None else np.array(goal.target)
    return Drawing(stand.joint, stand.point, target)


KIND = Kind(
    word=GoalKind.POSITION,
    code=POSITION,
    rows=(PLACE,),
    keys={"position": FileKey("target", Vector, "Where to be, world frame.")},
    miss=position_miss,
    drawing=position_drawing,
)
