"""What the compiled kernels ask about kinds of goals: their rows, as constants by code, and their residuals.

Compiled code chooses among functions by comparing codes, so that every kind with rows has a line in `goal_residual`.
"""

from __future__ import annotations

from viewer.ik.goals import ROW_KINDS
from viewer.ik.goals.aim import AIM, aim_residual
from viewer.ik.goals.bend import BEND, bend_residual
from viewer.ik.goals.distance import DISTANCE, distance_residual
from viewer.ik.goals.pose import POSE
from viewer.ik.goals.position import POSITION, position_residual
from viewer.ik.goals.rotation import ROTATION, rotation_residual
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats

LENGTHS = tuple(sum(rows.count for rows in kind.rows if not rows.radians) for kind in ROW_KINDS)
"""By code: how many rows are lengths; they stand before the angles. Three are the way to a place."""
ANGLES = tuple(sum(rows.count for rows in kind.rows if rows.radians) for kind in ROW_KINDS)
"""How many are angles."""
LOOKS = tuple(any(rows.moved for rows in kind.rows) for kind in ROW_KINDS)
"""Whether moves of the effector change its angles."""
OWN = tuple(kind.own for kind in ROW_KINDS)
"""Whether nothing but turns of the effector's own joint changes it."""


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
    return 0.0


def sets_place(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be at a place."""
    return bool(LENGTHS[s.goal_kind[g]] == 3)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be turned in one way only."""
    return bool(ANGLES[s.goal_kind[g]] == 3 and not LOOKS[s.goal_kind[g]])
