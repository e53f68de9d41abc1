"""Goals for a pose: a position and a rotation, whose rows follow each other."""

from __future__ import annotations

from viewer.ik.goals import position, rotation
from viewer.ik.goals.goal import Goal, GoalKind
from viewer.ik.goals.kind import Drawing, Kind, stand_of
from viewer.ik.goals.position import position_residual
from viewer.ik.goals.rotation import rotation_residual
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World
from viewer.spatial.checks import Floats


def pose_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Fill the three rows of the position and the three of the rotation."""
    return max(position_residual(s, w, g, row, e), rotation_residual(s, w, g, row + 3, e))


def pose_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Metres to the target and degrees to the rotation."""
    stand = stand_of(goal, skeleton, world)
    return position.metres_to(goal, stand), rotation.degrees_to(goal, stand)


def pose_drawing(goal: Goal, skeleton: Skeleton, world: World) -> Drawing:
    """Show the target, turned as asked."""
    return position.position_drawing(goal, skeleton, world)._replace(rotation=goal.target_rotation)


KIND = Kind(
    word=GoalKind.POSE,
    title="Position + rotation",
    hint="Reach a position with a rotation",
    rows=(position.PLACE, rotation.TURN),
    keys={**position.KIND.keys, **rotation.KIND.keys},
    miss=pose_miss,
    drawing=pose_drawing,
)
