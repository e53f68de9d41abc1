"""What the compiled kernels ask about kinds of goals: the residuals of each.

Compiled code cannot look a function up in a table: it compares codes, with a branch for each kind.
"""

from __future__ import annotations

from viewer.ik.goals import ROW_KINDS
from viewer.ik.goals.aim import aim_residual
from viewer.ik.goals.balance_goal import balance_residual
from viewer.ik.goals.bend import bend_residual
from viewer.ik.goals.distance import distance_residual
from viewer.ik.goals.pole import pole_residual
from viewer.ik.goals.pose import pose_residual
from viewer.ik.goals.position import position_residual
from viewer.ik.goals.relative import relative_place_residual, relative_residual, relative_turn_residual
from viewer.ik.goals.rotation import rotation_residual
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats

(
    POSITION, ROTATION, POSE, DISTANCE, AIM, BEND, POLE, RELATIVE, RELATIVE_POSITION, RELATIVE_ROTATION, BALANCE,
) = range(len(ROW_KINDS))  # fmt: skip
"""The codes, in the order of `ROW_KINDS`."""


def goal_residual(s: System, w: Work, g: int, e: Floats) -> float:
    """Fill the rows of goal g in ``e``, and its part of the scratch; how many tolerances it misses by."""
    kind, row = s.goal_kind[g], s.goal_row[g]
    if kind == POSITION:
        return position_residual(s, w, g, row, e)
    if kind == ROTATION:
        return rotation_residual(s, w, g, row, e)
    if kind == POSE:
        return pose_residual(s, w, g, row, e)
    if kind == DISTANCE:
        return distance_residual(s, w, g, row, e)
    if kind == AIM:
        return aim_residual(s, w, g, row, e)
    if kind == BEND:
        return bend_residual(s, w, g, row, e)
    if kind == POLE:
        return pole_residual(s, w, g, row, e)
    if kind == RELATIVE:
        return relative_residual(s, w, g, row, e)
    if kind == RELATIVE_POSITION:
        return relative_place_residual(s, w, g, row, e)
    if kind == RELATIVE_ROTATION:
        return relative_turn_residual(s, w, g, row, e)
    if kind == BALANCE:
        return balance_residual(s, w, g, row, e)
    return 0.0


def sets_place(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be at a place."""
    return bool(s.goal_lengths[g] == 3 and s.goal_base[g] < 0)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be turned in one way only."""
    return bool(s.goal_angles[g] == 3 and not s.goal_looks[g] and s.goal_base[g] < 0)
