"""Goals that place an effector: its position, its joint's rotation, or both; and those that hold a figure in place."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from viewer.ik.algebra import logarithm_and_slope, product
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import FileKey, GoalDrawing, Kind, Measure, Places, Rows, at_target, effector_stand, largest
from viewer.ik.system import System, Work
from viewer.skeleton import EffectorGoal, Pose, Skeleton, World, above, effector_of, fk
from viewer.skeleton.names import body_part
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import norm


def position_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = target - point."""
    x, y, z = s.goal_target[g, 0], s.goal_target[g, 1], s.goal_target[g, 2]
    x, y, z = x - w.point[g, 0], y - w.point[g, 1], z - w.point[g, 2]
    weight = s.goal_weight[g]
    e[row], e[row + 1], e[row + 2] = weight * x, weight * y, weight * z
    w.miss[g, 0] = math.sqrt(x * x + y * y + z * z)
    return float(w.miss[g, 0] / s.tolerance[0]) if weight > 0.0 else 0.0


def position_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:  # noqa: ARG001 - as of all rows
    """Set e = target - point; returns the largest distance."""
    miss = s.goal_target[some] - w.point[some]
    w.miss[some, 0] = distance = norm(miss)
    weight = s.goal_weight[some]
    e[places] = weight[:, None] * miss
    return largest(distance.tolist(), weight)


PLACE = Rows(Measure.POINT, position_residual, position_residuals, at_target)


def pose_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show the target, where the effector is if it is a rotation alone, or a pin without one; and the rotation."""
    stand = effector_stand(goal, skeleton, world)
    target = stand.point if goal.target is None else np.array(goal.target)
    return GoalDrawing(
        stand.joint,
        stand.point,
        None if goal.kind == "rotation" else target,
        None if goal.kind == "position" else goal.target_rotation,
    )


def rotation_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = log(target * current^-1), world frame, and its derivative by a turn of the effector."""
    k = s.goal_joint[g]
    tx, ty, tz, tw = s.goal_rotation[g, 0], s.goal_rotation[g, 1], s.goal_rotation[g, 2], s.goal_rotation[g, 3]
    tx, ty, tz, tw = product(tx, ty, tz, tw, -w.turn[k, 0], -w.turn[k, 1], -w.turn[k, 2], w.turn[k, 3])
    x, y, z, angle, xx, xy, xz, yx, yy, yz, zx, zy, zz = logarithm_and_slope(tx, ty, tz, tw)
    weight = s.goal_rotation_weight[g]
    e[row], e[row + 1], e[row + 2] = weight * x, weight * y, weight * z
    w.by_turn[g, 0, 0], w.by_turn[g, 0, 1], w.by_turn[g, 0, 2] = xx, xy, xz
    w.by_turn[g, 1, 0], w.by_turn[g, 1, 1], w.by_turn[g, 1, 2] = yx, yy, yz
    w.by_turn[g, 2, 0], w.by_turn[g, 2, 1], w.by_turn[g, 2, 2] = zx, zy, zz
    w.miss[g, 1] = angle
    return float(angle / s.tolerance[1]) if weight > 0.0 else 0.0


def rotation_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:  # noqa: ARG001 - as of all rows
    """`rotation_residual` of some goals; returns the largest angle."""
    turns = np.concatenate([s.goal_rotation[some], w.turn[s.goal_joint[some]]], axis=1).tolist()
    found = np.array([
        logarithm_and_slope(*product(tx, ty, tz, tw, -qx, -qy, -qz, qw)) for tx, ty, tz, tw, qx, qy, qz, qw in turns
    ])  # fmt: skip
    weight = s.goal_rotation_weight[some]
    w.by_turn[some], w.miss[some, 1] = found[:, 4:].reshape(-1, 3, 3), found[:, 3]
    e[places] = weight[:, None] * found[:, :3]
    return largest(found[:, 3].tolist(), weight)


TURN = Rows(Measure.ROTATION, rotation_residual, rotation_residuals)


_POSITION = Kind(
    word="position",
    title="Position",
    hint="Reach a position",
    rows=(PLACE,),
    keys={"position": FileKey("target", "Where to be, world frame.")},
    drawing=pose_drawing,
)
_ROTATION = Kind(
    word="rotation",
    title="Rotation",
    hint="Take a rotation",
    rows=(TURN,),
    keys={"rotation": FileKey("target_rotation", "Rotation to have, world frame.")},
    drawing=pose_drawing,
)
_POSE = Kind(
    word="position+rotation",
    title="Position + rotation",
    hint="Reach a position with a rotation",
    command="pose",
    rows=(PLACE, TURN),
    keys={**_POSITION.keys, **_ROTATION.keys},
    drawing=pose_drawing,
)
KINDS = (_POSITION, _ROTATION, _POSE)


_STANDING = {"foot", "ankle"}
_FOOT_DOFS = 6
"""Dofs of a leg that has its foot in any place with any rotation: one with fewer stands on a point."""


def holds(skeleton: Skeleton, pose: Pose, others: Iterable[Goal] = ()) -> tuple[Goal, ...]:
    """Goals that keep every active effector where ``pose`` has it; feet are pinned.

    Feet are pinned in position and rotation; those of legs with few joints, as of most robots on four legs, in
    position: both would hold the body fast.

    ``others``: goals that are set already; their effectors' joints get no hold.
    """
    taken = {effector_of(skeleton, goal.effector).joint for goal in others if goal.effector}
    world = fk(skeleton, pose)
    result: list[Goal] = []
    for effector in skeleton.effectors:
        if effector.goal is EffectorGoal.OFF or effector.joint in taken:
            continue
        place = world.point(effector.joint, effector.offset)
        turn = world.rotations[effector.joint]
        if body_part(skeleton.names[effector.joint]).part in _STANDING:
            turns = _leg_dofs(skeleton, effector.joint) >= _FOOT_DOFS
            result.append(Goal.pin(effector.name, place, turn if turns else False))
        else:
            point = None if effector.goal is EffectorGoal.ROTATION else place
            result.append(Goal.pose(effector.name, point, None if effector.goal is EffectorGoal.POSITION else turn))
    return tuple(result)


def _leg_dofs(skeleton: Skeleton, joint: int) -> int:
    """Dofs of a joint and those above it, without the root."""
    return sum(skeleton.kinds[one].dofs for one in above(skeleton, joint)[:-1])
