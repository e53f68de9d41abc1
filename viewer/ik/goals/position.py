"""Goals for a position: the effector is to be at a point."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind
from viewer.ik.goals.kind import NAN, Drawing, FileKey, Kind, Stand, stand_of
from viewer.ik.goals.rows import Measure, Places, Rows, largest, lengths_of
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World
from viewer.spatial.checks import Floats, Ints


def position_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = target - point."""
    x, y, z = (
        s.goal_target[g, 0] - w.point[g, 0],
        s.goal_target[g, 1] - w.point[g, 1],
        s.goal_target[g, 2] - w.point[g, 2],
    )
    weight = s.goal_weight[g]
    e[row], e[row + 1], e[row + 2] = weight * x, weight * y, weight * z
    w.miss[g, 0] = math.sqrt(x * x + y * y + z * z)
    return float(w.miss[g, 0] / s.tolerance[0]) if weight > 0.0 else 0.0


def position_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:  # noqa: ARG001 - as of all rows
    """Set e = target - point; returns the largest distance."""
    miss = s.goal_target[some] - w.point[some]
    w.miss[some, 0] = distance = lengths_of(miss)
    weight = s.goal_weight[some]
    e[places] = weight[:, None] * miss
    return largest(distance.tolist(), weight)


PLACE = Rows(Measure.POINT, position_residual, position_residuals)


def metres_to(goal: Goal, stand: Stand) -> float:
    """Metres to the target; NaN for a pin that has none of its own."""
    return NAN if goal.target is None else float(np.linalg.norm(stand.point - np.array(goal.target)))


def position_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Metres to the target."""
    return metres_to(goal, stand_of(goal, skeleton, world)), NAN


def position_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show the target; a pin without one is where the effector is."""
    stand = stand_of(goal, skeleton, world)
    target = stand.point if goal.target is None else np.array(goal.target)
    return Drawing(stand.joint, stand.point, target)


KIND = Kind(
    word=GoalKind.POSITION,
    title="Position",
    hint="Reach a position",
    rows=(PLACE,),
    keys={"position": FileKey("target", "Where to be, world frame.")},
    miss=position_miss,
    drawing=position_drawing,
)
