"""Goals of an IK drag, and goals that share one target point."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Document, Item
from viewer.document.document_goal import DocumentGoal
from viewer.document.planar import in_plane
from viewer.document.solve_report import current_errors
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, PIN_WEIGHT, Goal, Quaternion, Vector, pose_kind
from viewer.ik.solver_options import serves_levels
from viewer.skeleton import find_place, world_of
from viewer.spatial.checks import as_vector

DRAGGED = 5.0
"""Weight of a dragged goal among firm holds: where not all can be met, holds yield to it, and it yields to pins."""
_FAR = 10.0
"""A pin counts as out of reach from this many tolerances on."""
_PINS, _DRAGGED, _HOLDS = range(3)
"""Levels of goals where holds yield."""


class Grab(NamedTuple):
    """A point of a bone that the pointer drags.

    ``point_local`` is (3,) metres in the joint's frame.
    """

    joint: str
    point_local: ArrayLike = (0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class DragTarget:
    """Target of a dragged item, world frame; None leaves that part free."""

    position: Vector | None = None
    rotation: Quaternion | None = None


@dataclass(frozen=True, slots=True)
class DraggedJoint:
    """A dragged joint and the point in its frame by which it is dragged.

    ``point`` is (3,) metres in the frame of its joint, whose index is ``joint``; ``offset`` is the point relative to
    the place that the joint's name finds.
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


def holds_yield(document: Document) -> bool:
    """Whether holds give way to dragged goals that could be met without them.

    The document's setting, if the solver can serve these goals by levels.
    """
    if document.solver.firm_holds:
        return False
    return serves_levels(tuple(document.solver_goals().values()), document.solver.options(limits=True))


def is_hold(goal: Goal) -> bool:
    """Whether a goal, if it is not dragged, only keeps something in place: pinned goals and *Must* are no holds."""
    return KINDS[goal.kind].sets_pose and not goal.pinned and goal.level > _PINS


def yielding_holds(document: Document) -> frozenset[str]:
    """Ids of the holds that seem to give way in a pose without a report: those that are missed and not selected."""
    first = set(document.selected("effector"))
    missed = {name for name, error in current_errors(document).items() if not error.reached} - first
    if not missed or not first or not holds_yield(document):
        return frozenset()
    goals = document.solver_goals()
    return frozenset(name for name in missed if is_hold(goals[name]))


def far_pins(document: Document) -> frozenset[str]:
    """Ids of the pins that are out of reach: those that their effectors are far from in the document's pose."""
    pinned = [name for name, goal in document.solver_goals().items() if goal.pinned]
    near, errors = _FAR * document.solver.tolerance_m, current_errors(document)
    return frozenset(name for name in pinned if (errors[name].metres or 0.0) > near)


@dataclass(frozen=True, slots=True)
class Priority:
    """Which goals have priority: where not all can be met, the others yield to them, and they to pins.

    Pins that have priority, and those out of reach, draw no other pin off: they count as goals with priority.

    ``first`` are ids of the goals with priority, ``far`` those of the pins that are out of reach. Holds yield by their
    ``levels``, else by their weights. Goals with priority are ``raised`` above holds of every level, as in a drag, else
    they keep their levels.
    """

    first: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    levels: bool = False
    raised: bool = True

    def among(self, goals: Mapping[str, Goal]) -> dict[str, Goal]:
        """All goals, by id, with weights and levels by which the others yield."""
        first, far, levels, raised = self.first, self.far, self.levels, self.raised
        return {
            name: _prioritised(goal, first=name in first, far=name in far, levels=levels, raised=raised)
            for name, goal in goals.items()
        }


def _prioritised(goal: Goal, *, first: bool, far: bool, levels: bool, raised: bool) -> Goal:
    balances, first = KINDS[goal.kind].balances, first or KINDS[goal.kind].firm
    if first or goal.pinned:
        factor = DRAGGED / PIN_WEIGHT if goal.pinned and (first or far) else DRAGGED
        goal = replace(goal, weight=factor * goal.weight, rotation_weight=factor * goal.rotation_weight)
    if not levels or balances:
        return goal
    if goal.pinned:
        return replace(goal, level=_DRAGGED if first or far else _PINS)
    if first:
        return replace(goal, level=min(goal.level, _DRAGGED)) if raised else goal
    return replace(goal, level=max(goal.level, _HOLDS), hold=True) if is_hold(goal) else goal


def settling_goals(document: Document, edited: Collection[str]) -> dict[str, Goal]:
    """The goals of a solve after an edit, by id; selected goals have priority.

    The goal dragged last is usually selected, so changing a setting after a drag does not make it yield.

    ``edited`` are ids of goals that the edit has changed; they are no holds.
    """
    goals, far = document.solver_goals(), far_pins(document)
    first, levels = frozenset(document.selected("effector")), holds_yield(document)
    if not first & goals.keys() and not far:
        return goals
    return Priority(first.union(edited if levels else ()), far, levels=levels, raised=False).among(goals)


class DragGoals(NamedTuple):
    """What a drag asks for.

    ``goals`` are by id, those of dragged joints by the joint's name. ``strict`` are ids of the pins that the drag of
    other goals keeps met in every tick: those in reach, where holds yield. Firm holds draw pins off by weight, and more
    steps gain little.
    """

    goals: dict[str, Goal]
    strict: frozenset[str]
    priority: Priority


def drag_goals(
    document: Document,
    joints: Iterable[DraggedJoint],
    targets: Mapping[Item, DragTarget],
    effectors: Collection[str] = (),
) -> DragGoals:
    """All goals of a drag.

    Other position goals of a dragged joint are left out; of a pose goal the rotation remains.

    ``effectors`` are the ids of the dragged goals.
    """
    dragged = {held.joint: held for held in joints}
    goals: dict[str, Goal] = {}
    asked, levels = document.solver_goals(), holds_yield(document)
    far = far_pins(document)
    pinned = {name for name, goal in asked.items() if goal.pinned} if levels else set()
    priority = Priority(frozenset(effectors), far, levels)
    if effectors or far or (dragged and levels):
        asked = priority.among(asked)
    for name, goal in asked.items():
        if not goal.effector or find_place(document.skeleton, goal.effector).joint not in dragged:
            goals[name] = goal
        elif KINDS[goal.kind].sets_pose and KINDS[goal.kind].has_rotation:
            goals[name] = replace(goal, kind=pose_kind(point=False, rotation=True), target=None)
        elif not KINDS[goal.kind].lengths:
            goals[name] = goal
    for held in dragged.values():
        name = held.item.name
        goals[name if name not in goals else f"{name} point"] = _joint_goal(document, held, targets.get(held.item))
    return DragGoals(goals, frozenset(pinned.difference(effectors, far)), priority)


def _joint_goal(document: Document, held: DraggedJoint, target: DragTarget | None) -> Goal:
    world, name = world_of(document.skeleton, document.pose), held.item.name
    position = target.position if target and target.position else world.point(held.joint, held.point)
    position = in_plane(document, np.array(position), world.point(held.joint, held.point))
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
    return goal.has_position and not goal.sets_pose and goal.position is not None
