"""What is asked while an IK drag lasts."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.checks import as_vector
from viewer.document.default_goals import world_of
from viewer.document.document import Document
from viewer.document.goal import Item
from viewer.document.planar import in_plane
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal, Quaternion, Vector, placed_kind
from viewer.skeleton.skeleton import find_place

DRAGGED = 5.0
"""Holds that what is dragged weighs: where not all can be met, holds give way to it, and it to pins."""


class Grab(NamedTuple):
    """A point of a bone that is held by the pointer.

    Attributes:
        joint: the joint whose bone it is.
        point_local: (3,) metres in the joint's frame.
    """

    joint: str
    point_local: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a dragged item is to be, world frame; None: where it was, or as the solver likes."""

    position: Vector | None = None
    rotation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A joint that is dragged, by a point in its frame.

    Attributes:
        item: the joint's.
        joint: its index.
        point: (3,) metres in its frame.
        offset: the same, measured from the place that its name finds.
    """

    item: Item
    joint: int
    point: Vector
    offset: Vector


def held_joint(document: Document, name: str, point: ArrayLike) -> Held:
    """A joint to drag.

    Raises:
        InputError: no such joint, no such point, or its name means another joint's effector.
    """
    joint = document.skeleton.index(name)
    place = find_place(document.skeleton, name)
    if place.joint != joint:
        raise InputError(f"joint {quote(name)} cannot be dragged: an effector on another joint has its name")
    x, y, z = local = as_vector(point, f"grabbed point of {quote(name)}")
    a, b, c = place.offset
    return Held(Item("joint", name), joint, local, (x - a, y - b, z - c))


def put_first(goals: Mapping[str, Goal], names: Container[str]) -> dict[str, Goal]:
    """Goals of which some go first: where not all can be met, the others give way to them.

    Pins weigh more in the same proportion: nothing moves them that did not move them before.

    Args:
        goals: by id.
        names: of those that go first.
    """
    return {
        name: replace(goal, weight=DRAGGED * goal.weight, rotation_weight=DRAGGED * goal.rotation_weight)
        if name in names or goal.pinned
        else goal
        for name, goal in goals.items()
    }


def settling_goals(document: Document) -> dict[str, Goal]:
    """What is asked when a document is solved anew, by id: what is selected goes first.

    That is what was dragged last, too: letting go of it and then changing a setting does not make it give way.
    """
    goals = document.solver_goals()
    names = {item.name for item in document.selection if item.kind == "effector"}
    return put_first(goals, names) if names & goals.keys() else goals


def drag_goals(
    document: Document, joints: Iterable[Held], targets: Mapping[Item, Target], effectors: Collection[str] = ()
) -> dict[str, Goal]:
    """All goals of a drag, by the name they are reported under: the goals' and those of dragged joints.

    What else asks for the place of a dragged joint gives way; if it asks for its turn, too, that stays.

    Args:
        document: whose goals ask.
        joints: that are dragged.
        targets: where to.
        effectors: names of those that are dragged.
    """
    dragged = {held.joint: held for held in joints}
    goals: dict[str, Goal] = {}
    asked = put_first(document.solver_goals(), effectors) if effectors else document.solver_goals()
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


def _joint_goal(document: Document, held: Held, target: Target | None) -> Goal:
    world, name = world_of(document.skeleton, document.pose), held.item.name
    place = target.position if target and target.position else world.point(held.joint, np.array(held.point))
    place = in_plane(document, np.array(place), world.point(held.joint, np.array(held.point)))
    if target and target.rotation:
        return Goal.pose(name, place, target.rotation, offset=held.offset, weight=DRAGGED, rotation_weight=DRAGGED)
    return Goal.position(name, place, offset=held.offset, weight=DRAGGED)
