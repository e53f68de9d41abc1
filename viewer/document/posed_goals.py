"""Goals in a pose: where effectors are, goals that are met there, and effectors that are held together.

A goal for two effectors belongs to one of them and names the other. A dragged effector leads: the holds of those that
it shares such a goal with, directly or through others, are switched off, and they follow. Where the goal's own target
is dragged, both follow. Pins stay.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from viewer.document.document import Document
from viewer.document.document_goal import DocumentGoal
from viewer.document.take import Pin
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Before, pose_kind
from viewer.ik.goals.kind import Stand, effector_stand
from viewer.skeleton import EffectorGoal, Pose, Skeleton, World, at_or_below, find_place, world_of
from viewer.skeleton.kinematics import fixed_points


def stand_of(skeleton: Skeleton, pose: Pose, goal: DocumentGoal) -> Stand:
    """Where a goal's effector is in a pose, in the world, or what else its target there places."""
    kind, world = KINDS[goal.kind], world_of(skeleton, pose)
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
            ends = [find_place(skeleton, name).joint for name in goal.ends]
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
    own = find_place(document.skeleton, goal.effector).goal
    off = own is EffectorGoal.OFF
    kind = pose_kind(point=not turn, rotation=turn) if off else own.value
    stand = stand_of(document.skeleton, document.pose, goal)
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


def led(document: Document, leaders: Iterable[str], goals: Iterable[str] = ()) -> Document:
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
        replace(goal, enabled=False) if goal.effector in follow and goal.sets_pose and not goal.pinned else goal
        for goal in document.goals
    )
    return replace(document, goals=kept)
