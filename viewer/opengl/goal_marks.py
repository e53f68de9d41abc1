"""Goals as marks in a picture: where effectors are and where they should be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.goals import GoalKind
from viewer.scene.scene import Mark
from viewer.skeleton.effectors import find_place
from viewer.spatial.quaternion import angle_between, rotate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.ik.goals import Goal
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_NEAR_M, _NEAR_DEG = 1e-3, 0.5
"""What counts as reached: the solver's own tolerances unless it is told others."""


def marks_of(goals: Iterable[Goal], skeleton: Skeleton, world: World) -> tuple[Mark, ...]:
    """One mark per goal that is enabled; function goals have no place and get none.

    Raises:
        InputError: a goal for an effector, joint or end site that is not there.
    """
    return tuple(_mark(goal, skeleton, world) for goal in goals if goal.enabled and goal.kind is not GoalKind.FUNCTION)


def _mark(goal: Goal, skeleton: Skeleton, world: World) -> Mark:
    place = find_place(skeleton, goal.effector)
    position = world.point(place.joint, np.add(place.offset, goal.offset))
    turn = world.rotations[place.joint]
    target = _target(goal, position)
    turned = None if goal.target_rotation is None else np.array(goal.target_rotation)
    metres = 0.0 if target is None else float(np.linalg.norm(target - position))
    degrees = 0.0 if turned is None else math.degrees(float(angle_between(turn, turned)))
    if goal.kind is GoalKind.AIM:
        degrees = _aim_error(goal, position, turn)
    return Mark(
        name=goal.effector,
        joint=place.joint,
        position=position,
        target=target,
        target_rotation=turned,
        reached=metres <= _NEAR_M and degrees <= _NEAR_DEG,
        error_m=metres,
        pin_position=goal.pinned and goal.kind is not GoalKind.ROTATION,
        pin_rotation=goal.pinned and goal.kind is not GoalKind.POSITION,
    )


def _target(goal: Goal, position: Floats) -> Floats | None:
    """(3,) the nearest place that the goal asks for; None where it asks for none."""
    if goal.kind is GoalKind.ROTATION or goal.kind is GoalKind.AIM:
        return None
    if goal.target is None:
        return position  # a pin that holds what is there
    target = np.array(goal.target)
    if goal.kind is not GoalKind.DISTANCE:
        return target
    away = position - target
    far = float(np.linalg.norm(away))
    return target + away * ((goal.target_distance or 0.0) / far) if far > 0.0 else target


def _aim_error(goal: Goal, position: Floats, turn: Floats) -> float:
    """Degrees between where the axis points and where its point lies; 0 at the point itself."""
    wanted, axis = np.asarray(goal.target) - position, rotate(turn, np.array(goal.axis))
    return math.degrees(math.atan2(float(np.linalg.norm(np.cross(axis, wanted))), float(axis @ wanted)))
