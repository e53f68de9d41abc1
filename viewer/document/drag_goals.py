"""Goals of an IK drag, and goals that share one target point."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.checks import as_vector
from viewer.document.default_goals import world_of
from viewer.document.document import Document
from viewer.document.goal import DocumentGoal, Item
from viewer.document.planar import in_plane
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal, Quaternion, Vector, placed_kind
from viewer.skeleton.skeleton import find_place

DRAGGED = 5.0
"""Weight of a dragged goal in holds: where not all can be met, holds yield to it, and it yields to pins."""


class Grab(NamedTuple):
    """A point of a bone that the pointer drags.

    Attributes:
        joint: the joint whose bone it is.
        point_local: (3,) metres in the joint's frame.
    """

    joint: str
    point_local: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a dragged item, world frame; None leaves that part free."""

    position: Vector | None = None
    rotation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class DraggedJoint:
    """A dragged joint and the point in its frame by which it is dragged.

    Attributes:
        item: of the joint.
        joint: its index.
        point: (3,) metres in its frame.
        offset: the point relative to the place that the joint's name finds.
    """

    item: Item
    joint: int
    point: Vector
    offset: Vector


def dragged_joint(document: Document, name: str, point: ArrayLike) -> DraggedJoint:
    """Prepare a joint for dragging by a point.

    Raises:
        InputError: an unknown joint, an invalid point, or a name that means another joint's effector.
    """
    joint = document.skeleton.index(name)
    found = find_place(document.skeleton, name)
    if found.joint != joint:
        raise InputError(f"joint {quote(name)} cannot be dragged: an effector on another joint has its name")
    x, y, z = local = as_vector(point, f"grabbed point of {quote(name)}")
    a, b, c = found.offset
    return DraggedJoint(Item("joint", name), joint, local, (x - a, y - b, z - c))


def prioritised(goals: Mapping[str, Goal], names: Container[str]) -> dict[str, Goal]:
    """Raise the weight of some goals, so that the others yield where not all can be met.

    The weight of pins, and of goals for two effectors, is raised by the same factor: they hold as well as before.

    Args:
        goals: by id.
        names: ids of the goals to raise.
    """
    return {
        name: replace(goal, weight=DRAGGED * goal.weight, rotation_weight=DRAGGED * goal.rotation_weight)
        if name in names or goal.pinned or KINDS[goal.kind].relative
        else goal
        for name, goal in goals.items()
    }


def settling_goals(document: Document) -> dict[str, Goal]:
    """The goals of a solve after an edit, by id; selected goals have priority.

    The goal dragged last is usually selected, so that changing a setting after a drag does not make it yield.
    """
    goals = document.solver_goals()
    names = {item.name for item in document.selection if item.kind == "effector"}
    return prioritised(goals, names) if names & goals.keys() else goals


def drag_goals(
    document: Document, joints: Iterable[DraggedJoint], targets: Mapping[Item, Target], effectors: Collection[str] = ()
) -> dict[str, Goal]:
    """All goals of a drag, by id; goals of dragged joints by the joint's name.

    Other position goals of a dragged joint are left out; of a pose goal the rotation remains.

    Args:
        document: with its goals.
        joints: the dragged joints.
        targets: of the dragged items.
        effectors: ids of the dragged goals.
    """
    dragged = {held.joint: held for held in joints}
    goals: dict[str, Goal] = {}
    asked = prioritised(document.solver_goals(), effectors) if effectors else document.solver_goals()
    for name, goal in asked.items():
        if find_place(document.skeleton, goal.effector).joint not in dragged:
            goals[name] = goal
        elif KINDS[goal.kind].placed and KINDS[goal.kind].has_rotation:
            goals[name] = replace(goal, kind=placed_kind(point=False, rotation=True), target=None)
        elif not KINDS[goal.kind].lengths:
            goals[name] = goal
    for held in dragged.values():
        name = held.item.name
        goals[name if name not in goals else f"{name} point"] = _joint_goal(document, held, targets.get(held.item))
    return goals


def _joint_goal(document: Document, held: DraggedJoint, target: Target | None) -> Goal:
    world, name = world_of(document.skeleton, document.pose), held.item.name
    position = target.position if target and target.position else world.point(held.joint, np.array(held.point))
    position = in_plane(document, np.array(position), world.point(held.joint, np.array(held.point)))
    if target and target.rotation:
        return Goal.pose(name, position, target.rotation, offset=held.offset, weight=DRAGGED, rotation_weight=DRAGGED)
    return Goal.position(name, position, offset=held.offset, weight=DRAGGED)


def linked_goals(document: Document, name: str) -> tuple[str, ...]:
    """Ids of the joint's other goals that share this goal's target point.

    Distances and aims about one ball share its position: moving the point of one moves it for all.
    """
    goal = document.goal(name)
    if not _has_point(goal):
        return ()
    joint = find_place(document.skeleton, goal.effector).joint
    return tuple(
        other.id
        for other in document.goals
        if other is not goal
        and _has_point(other)
        and other.position == goal.position
        and find_place(document.skeleton, other.effector).joint == joint
    )


def linked_items(document: Document, items: Iterable[Item]) -> dict[Item, tuple[Item, ...]]:
    """By dragged goal, the goals that share its target point."""
    return {
        item: tuple(Item("effector", name) for name in linked_goals(document, item.name))
        for item in items
        if item.kind == "effector"
    }


def _has_point(goal: DocumentGoal) -> bool:
    return goal.has_position and not goal.placed and goal.position is not None
