"""How goals and the pose follow each other: goals move along with the body, and a drag or an edit of some moves it.

A goal for two effectors belongs to one of them and names the other. A dragged effector leads: the holds of those that
it shares such a goal with, directly or through others, are switched off, and they follow. Where the goal's own target
is dragged, both follow. Pins stay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Document, Item
from viewer.document.document_goal import DocumentGoal
from viewer.document.planar import normal_of
from viewer.document.scope import in_plane
from viewer.document.solve_report import current_errors
from viewer.document.take import Pin
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, PIN_WEIGHT, Before, Goal, Quaternion, Vector, pose_kind
from viewer.ik.goals.kind import Stand, effector_stand
from viewer.ik.solver_options import serves_levels
from viewer.skeleton import EffectorGoal, Pose, Skeleton, World, at_or_below, effector_of, world_of
from viewer.skeleton.kinematics import fixed_points
from viewer.spatial.checks import as_vector
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, twist_about

DRAGGED = 5.0
"""Weight of a dragged goal among firm holds: where not all can be met, holds yield to it, and it yields to pins."""
_FAR = 10.0
"""A pin counts as out of reach from this many tolerances on."""
_PINS, _DRAGGED, _HOLDS = range(3)
"""Levels of goals where holds yield."""


def stand_of(document: Document, goal: DocumentGoal) -> Stand:
    """Where a goal's effector is in a document's pose, in the world, or what else its target there places."""
    kind, skeleton, world = KINDS[goal.kind], document.skeleton, world_of(document.skeleton, document.pose)
    return effector_stand(goal, skeleton, world) if kind.relative else kind.stand(goal, skeleton, world)


def _kept_by_keys(document: Document) -> dict[str, Pin | None]:
    """Pins of the keys next to the frame shown, by goal id; None if the two keys pin it at different positions.

    Between such keys the frame determines where the pin is, not the last edit, which may have been in another frame. On
    a clip keys are few, and pins stay fixed in the world.
    """
    take, frame = document.take, document.frame
    if take is None or document.clip is not None or not take.pins:
        return {}
    keys = take.frames
    place = bisect_right(keys, frame)
    there = place > 0 and keys[place - 1] == frame
    near = keys[max(place - 1, 0) : place + (not there)]
    held = [{pin.goal or pin.effector: pin for pin in take.pins.get(key, ())} for key in near]
    names = set(held[0]).intersection(*held)
    return {name: held[0][name] if held[0][name].is_near(held[-1][name]) else None for name in names}


def _met(goal: DocumentGoal, stand: Stand, pin: Pin | None) -> DocumentGoal:
    """A goal whose target is where its effector is, or exactly where a key pins it."""
    moved = goal.met_at(stand.point, stand.rotation)
    if pin is None:
        return moved
    return replace(moved, position=pin.position or moved.position, rotation=pin.rotation or moved.rotation)


def carried(
    document: Document, pose: Pose, joints: Collection[int] | None = None, *, pins: bool = True, **changes: object
) -> Document:
    """The document in another pose, its goals moved along with the body.

    ``joints`` are those that moved: only goals on them and their descendants move along; None: all. Without ``pins``
    goals pinned by the user keep their targets. ``changes`` are other fields of the document.
    """
    changed = document.with_pose(pose)
    changed = replace(changed, **changes) if changes else changed  # type: ignore[arg-type]
    skeleton = changed.skeleton
    moved = None if joints is None else at_or_below(skeleton, *joints)
    recorded = changed.clip is not None  # otherwise the user posed every frame and its pins
    kept = {} if pins else _kept_by_keys(changed)
    fixed = fixed_points(skeleton, tuple([(goal.effector, goal.offset) for goal in changed.goals]))
    world, joint_of, goals = world_of(skeleton, pose), fixed.joints.tolist(), []
    for goal, joint, place in zip(changed.goals, joint_of, fixed.at(world), strict=True):
        if goal.enabled and goal.of_two:
            ends = [effector_of(skeleton, name).joint for name in goal.ends]
            stays = moved is not None and not moved[ends].any()
            goals.append(goal if stays else as_they_are(skeleton, world, goal))
        elif not goal.enabled or not (moved is None or moved[joint]):
            goals.append(goal)
        elif pins or not goal.pinned or (goal.automatic and recorded) or goal.id in kept:
            stand = Stand(joint, place, world.rotations[joint])
            goals.append(_met(goal, stand, kept.get(goal.id) if goal.pinned else None))
        else:
            goals.append(goal)
    return changed.with_goals(tuple(goals))


def held(document: Document, goal: DocumentGoal, *, turn: bool = False) -> DocumentGoal:
    """A goal that holds its effector in place: of the kind that the skeleton defines, else its position.

    ``turn``: it holds the rotation instead of the position if the skeleton defines neither. A goal for two effectors
    keeps its kind.
    """
    if goal.of_two:
        return of_kind(document, goal, goal.kind)
    own = effector_of(document.skeleton, goal.effector).goal
    off = own is EffectorGoal.OFF
    kind = pose_kind(point=not turn, rotation=turn) if off else own.value
    stand = stand_of(document, goal)
    position, rotation = tuple(stand.point.tolist()), tuple(stand.rotation.tolist())
    return replace(goal, kind=kind, enabled=True, position=position, rotation=rotation)


def of_kind(document: Document, goal: DocumentGoal, kind: str) -> DocumentGoal:
    """A goal changed to another kind; missing numbers are such that the goal is met in the present pose."""
    skeleton, world, wanted = document.skeleton, world_of(document.skeleton, document.pose), KINDS[kind]
    if wanted.of_two and not goal.to:
        raise InputError(f"goal {quote(goal.id)}: expected a goal for two effectors, to be {kind}")
    stand, changes = wanted.stand(goal, skeleton, world), dict[str, Any](kind=kind, enabled=True)
    if wanted.sets_pose:
        changes["position"] = goal.position if goal.sets_pose and goal.has_position else stand.point
        changes["rotation"] = goal.rotation if goal.sets_pose and goal.has_rotation else stand.rotation
    else:
        point = None if KINDS[goal.kind].relative else goal.position
        first = wanted.first(
            Before(goal.effector, goal.offset, goal.enabled, point, goal.numbers, goal.to), skeleton, world
        )
        changes |= first.numbers
        if wanted.has_point or wanted.of_two:
            changes["position"] = stand.point if first.point is None else first.point
        if wanted.of_two:
            changes["rotation"] = stand.rotation
    return replace(goal, **changes)


def as_they_are(skeleton: Skeleton, world: World, goal: DocumentGoal) -> DocumentGoal:
    """A goal for two effectors whose targets are as a pose has what they place."""
    _, position, rotation = KINDS[goal.kind].stand(goal, skeleton, world)
    return replace(goal, position=tuple(position.tolist()), rotation=tuple(rotation.tolist()))


def confined(document: Document, goal: DocumentGoal) -> DocumentGoal:
    """The goal with its target in the plane of what it places, and its rotation restricted to the plane."""
    if document.planar is None or KINDS[goal.kind].relative:
        return goal
    stand, normal = stand_of(document, goal), normal_of(document.planar)
    changes: dict[str, object] = {}
    if goal.position is not None:
        changes["position"] = in_plane(document, np.array(goal.position), stand.point)
    if goal.rotation is not None:
        rotation = multiply(np.array(goal.rotation), conjugate(stand.rotation))
        changes["rotation"] = multiply(from_axis_angle(normal, twist_about(rotation, normal)), stand.rotation)
    return replace(goal, **changes)  # type: ignore[arg-type]


def with_goal(document: Document, goal: DocumentGoal) -> Document:
    """The document with one goal replaced, kept in the plane; the same object if the goals are equal.

    A goal for two that is switched on leads, and one that is switched off frees what it had led.
    """
    before, after = document.goal(goal.id), document.with_goal(confined(document, goal))
    led_before, leads = before.enabled and before.of_two, goal.enabled and goal.of_two
    if led_before == leads:
        return after
    return followers_off(after, (), (goal.id,)) if leads else followers_on(after, before.ends)


# --- goals of several effectors, and goals that share a target


def pairs_of(document: Document) -> list[DocumentGoal]:
    """The enabled goals for two effectors."""
    return [goal for goal in document.goals if goal.enabled and goal.of_two]


def linked_effectors(document: Document, effector: str) -> set[str]:
    """Effectors that share a goal for two with one, directly or through others; and itself."""
    found, left, pairs = {effector}, [effector], pairs_of(document)
    while left:
        here = left.pop()
        ends = {end for goal in pairs if here in goal.ends for end in goal.ends}
        left += ends - found
        found |= ends
    return found


def followers_off(document: Document, leaders: Iterable[str], goals: Iterable[str] = ()) -> Document:
    """The document with the holds of effectors that follow the leaders switched off; pinned goals stay.

    ``goals`` are ids of goals with new targets: their effectors lead, but both of a goal for two with a target in the
    world follow.
    """
    moved = [document.goal(name) for name in goals]
    leading = {*leaders, *(goal.effector for goal in moved if not (goal.of_two and goal.has_position))}
    linked = leading.union(*[goal.ends for goal in moved])
    follow = {other for name in linked for other in linked_effectors(document, name)} - leading
    if not follow:
        return document
    kept = tuple(
        replace(goal, enabled=False, follows=True)
        if goal.effector in follow and goal.sets_pose and not goal.pinned
        else goal
        for goal in document.goals
    )
    return replace(document, goals=kept)


def followers_on(document: Document, effectors: Iterable[str]) -> Document:
    """The document with the holds of some effectors on again that goals for two had switched off, if none is left."""
    for name in effectors:
        for goal in document.goals_of(name) if linked_effectors(document, name) == {name} else ():
            document = with_goal(document, of_kind(document, goal, goal.kind)) if goal.follows else document
    return document


def linked_goals(document: Document, name: str) -> tuple[str, ...]:
    """Ids of the joint's other goals that share this goal's target point.

    Distances and aims about one ball share its position: moving the point of one moves it for all.
    """
    goal = document.goal(name)
    if not _has_point(goal):
        return ()
    joint = effector_of(document.skeleton, goal.effector).joint
    return tuple(
        other.id
        for other in document.goals
        if other is not goal
        and _has_point(other)
        and other.position == goal.position
        and effector_of(document.skeleton, other.effector).joint == joint
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


# --- priorities in a drag, and after an edit


class Grab(NamedTuple):
    """A point of a bone that the pointer drags. ``point_local`` is (3,) metres in the joint's frame."""

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
    found = effector_of(document.skeleton, name)
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
        if not goal.effector or effector_of(document.skeleton, goal.effector).joint not in dragged:
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
