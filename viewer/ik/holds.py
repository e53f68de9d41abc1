"""Goals that keep a figure in place while something is dragged: a hold per active effector, pins for the feet."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from viewer.ik.goals import Goal
from viewer.skeleton import EffectorGoal, Pose, Skeleton, find_place, fk
from viewer.skeleton.names import body_part

_STANDING = {"foot", "ankle"}


def holds(skeleton: Skeleton, pose: Pose, others: Iterable[Goal] = ()) -> tuple[Goal, ...]:
    """Goals that keep every active effector where ``pose`` has it; feet are pinned in position and rotation.

    Args:
        skeleton: its effectors, and what each of them holds.
        pose: where they are.
        others: goals that are set already; their effectors' joints get no hold.
    """
    taken = {find_place(skeleton, goal.effector).joint for goal in others if goal.effector}
    world = fk(skeleton, pose)
    result: list[Goal] = []
    for effector in skeleton.effectors:
        if effector.goal is EffectorGoal.OFF or effector.joint in taken:
            continue
        place = world.point(effector.joint, np.array(effector.offset))
        turn = world.rotations[effector.joint]
        if body_part(skeleton.names[effector.joint]).part in _STANDING:
            result.append(Goal.pin(effector.name, place, turn))
        elif effector.goal is EffectorGoal.POSE:
            result.append(Goal.pose(effector.name, place, turn))
        elif effector.goal is EffectorGoal.POSITION:
            result.append(Goal.position(effector.name, place))
        else:
            result.append(Goal.rotation(effector.name, turn))
    return tuple(result)
