"""Goals for a distance of the effector from a point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.ik.goals.goal import Goal, Number, Unit
from viewer.ik.goals.kind import (
    AHEAD,
    Before,
    FileKey,
    First,
    GoalDrawing,
    Kind,
    Shell,
    bone_direction,
    effector_stand,
    size_of,
    within,
)
from viewer.skeleton import Skeleton, World
from viewer.spatial.quaternion import rotate

_LENGTH = Number(
    name="distance",
    unit=Unit.LENGTH,
    title="Distance",
    least=0.0,
    expected="a finite number, 0 or more",
    called="target distance",
)


def distance_first(before: Before, skeleton: Skeleton, world: World) -> First:
    """The present distance from its point; the point of a disabled goal is ahead along the bone."""
    stand, least = effector_stand(before, skeleton, world), size_of(skeleton) * AHEAD / 6.0
    centre = stand.point
    if not before.enabled:
        centre = centre + rotate(stand.rotation, bone_direction(skeleton, stand.joint)) * least
    elif before.point is not None:
        centre = np.array(before.point)
    apart = max(float(np.linalg.norm(stand.point - centre)), least)
    known = before.numbers.get(_LENGTH.name) if before.enabled else None
    return First({_LENGTH.name: known or apart}, centre)


def distance_shell(goal: Goal) -> Shell:
    """The sphere about the goal's point."""
    distance = goal.number(_LENGTH.name)
    return Shell(distance, distance)


def kept_at(goal: Goal, metres: float) -> Goal:
    """A distance goal about the point of another goal."""
    return replace(goal, kind="distance", numbers=((_LENGTH.name, metres),))


def distance_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show the nearest point at the right distance."""
    stand, centre = effector_stand(goal, skeleton, world), np.array(goal.target)
    away = stand.point - centre
    far = float(np.linalg.norm(away))
    target = centre + away * (goal.number("distance") / far) if far > 0.0 else centre
    return GoalDrawing(stand.joint, stand.point, target)


KIND = Kind(
    word="distance",
    title="Distance",
    hint="Keep a distance from a point",
    point_title="From",
    rows=(within(distance_shell),),
    keys={
        "distance": FileKey("distance", "How far to be from `from`.", _LENGTH),
        "from": FileKey("target", "Centre of `distance`."),
    },
    first=distance_first,
    drawing=distance_drawing,
)
KINDS = (KIND,)
