"""What the compiled kernels ask about kinds of goals: the residuals of each.

Compiled code chooses among functions by comparing codes, so that every kind with rows has a line in `goal_residual`.
"""

from __future__ import annotations

from viewer.ik.goals.aim import AIM, aim_residual
from viewer.ik.goals.bend import BEND, bend_residual
from viewer.ik.goals.distance import DISTANCE, distance_residual
from viewer.ik.goals.pole import POLE, pole_residual
from viewer.ik.goals.pose import POSE
from viewer.ik.goals.position import POSITION, position_residual
from viewer.ik.goals.rotation import ROTATION, rotation_residual
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats


def goal_residual(s: System, w: Work, g: int, e: Floats) -> float:
    """Fill the rows of goal g in ``e``, and its part of the scratch; how many tolerances it misses by."""
    kind, row = s.goal_kind[g], s.goal_row[g]
    if kind == POSITION:
        return position_residual(s, w, g, row, e)
    if kind == ROTATION:
        return rotation_residual(s, w, g, row, e)
    if kind == POSE:
        return max(position_residual(s, w, g, row, e), rotation_residual(s, w, g, row + 3, e))
    if kind == DISTANCE:
        return distance_residual(s, w, g, row, e)
    if kind == AIM:
        return aim_residual(s, w, g, row, e)
    if kind == BEND:
        return bend_residual(s, w, g, row, e)
    if kind == POLE:
        return pole_residual(s, w, g, row, e)
    return 0.0


def sets_place(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be at a place."""
    return bool(s.goal_lengths[g] == 3)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be turned in one way only."""
    return bool(s.goal_angles[g] == 3 and not s.goal_looks[g])
