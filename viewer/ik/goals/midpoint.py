"""Goals for the point midway between two effectors: it is at a place in the world, wherever each of them is.

Between two hands it places what they hold, between two feet the stance. It is a mean, as a centre of mass is: a joint
above both effectors moves all of it, one above a single effector half as far.
"""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.algebra import turned, unit
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import (
    TO,
    Constants,
    Ends,
    FileKey,
    GoalDrawing,
    Kind,
    Measure,
    Rows,
    Stand,
    both_stands,
)
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World, point_of
from viewer.spatial.checks import Floats


def midpoint_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = target - the point midway, along the world's axes, and what of it is below each joint: ``w.moment``."""
    point, middle, k = w.vectors[0], w.vectors[1], s.goal_other[g]
    point[0], point[1], point[2] = turned(
        w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3],
        s.goal_numbers[g, 0], s.goal_numbers[g, 1], s.goal_numbers[g, 2],
    )  # fmt: skip
    square = 0.0
    for i in range(3):
        point[i] += w.place[k, i]
        middle[i] = 0.5 * (w.point[g, i] + point[i])
        miss = s.goal_target[g, i] - middle[i]
        e[row + i] = s.goal_weight[g] * miss
        square += miss * miss
        for j in range(3):
            w.by_move[g, i, j] = unit(i, j)
    put_half(s, w, g, s.goal_joint[g], w.point[g])
    put_half(s, w, g, k, point)
    w.miss[g, 0] = math.sqrt(square)
    return float(w.miss[g, 0] / s.tolerance[0]) if s.goal_weight[g] > 0.0 else 0.0


def put_half(s: System, w: Work, g: int, k: int, point: Floats) -> None:
    """Put half of one effector's point into ``w.moment`` of the joints from k up, all of it where they move both."""
    several = g - len(s.goal_kind) + len(s.share)
    while k >= 0:
        for i in range(3):
            w.moment[several, k, i] = w.vectors[1, i] if s.share[several, k] == 1.0 else 0.5 * point[i]
        k = s.parent[k]


def midpoint_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """Both joints, and the points on them; errors are those of `point_of`."""
    other, point = point_of(skeleton, goal.to)
    return Constants(*point_of(skeleton, goal.effector, goal.offset), point, other=other)


def midpoint_stand(goal: Ends, skeleton: Skeleton, world: World) -> Stand:
    """The point midway; joint and rotation are the first effector's."""
    one, other = both_stands(goal, skeleton, world)
    return one._replace(point=0.5 * (one.point + other.point))


def midpoint_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show the point midway, its target, and the line between the effectors."""
    one, other = both_stands(goal, skeleton, world)
    ends = np.array([one.point, other.point])
    return GoalDrawing(one.joint, ends.mean(axis=0), np.array(goal.target), guides=(ends,))


KIND = Kind(
    word="midpoint",
    title="Midpoint",
    hint="Keep the point midway between two effectors at a place",
    rows=(Rows(Measure.MEAN, midpoint_residual),),
    keys={"midpoint": FileKey("target", "Where the point midway between two effectors is to be."), "to": TO},
    since=2,
    constants=midpoint_constants,
    stand=midpoint_stand,
    drawing=midpoint_drawing,
)
KINDS = (KIND,)
