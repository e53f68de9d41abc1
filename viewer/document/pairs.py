"""Effectors that hold together: how they are to each other in a pose, and which of them lead and which follow.

A goal for two effectors belongs to one of them and names the other. What is dragged leads: the holds of those that it
is held together with, directly or through others, are switched off, and they follow. Pins stay.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from viewer.document.document import Document
from viewer.document.goal import DocumentGoal
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.relative import relative_pose
from viewer.skeleton import Skeleton, World


def as_they_are(skeleton: Skeleton, world: World, goal: DocumentGoal) -> DocumentGoal:
    """A goal for two effectors that asks for what they are to each other in a pose.

    Raises:
        InputError: effectors that are not there, or of one joint.
    """
    asked = Goal.relative(goal.effector, goal.to, offset=goal.offset)
    KINDS[asked.kind].constants(asked, skeleton)
    position, rotation = relative_pose(asked, skeleton, world)
    return replace(goal, position=position, rotation=rotation)


def pairs_of(document: Document) -> list[DocumentGoal]:
    """The enabled goals for two effectors."""
    return [goal for goal in document.goals if goal.relative]


def held_with(document: Document, effector: str) -> set[str]:
    """Effectors that are held together with one, directly or through others; without itself."""
    found, left, pairs = {effector}, [effector], pairs_of(document)
    while left:
        here = left.pop()
        ends = {end for goal in pairs if here in (goal.effector, goal.to) for end in (goal.effector, goal.to)}
        left += ends - found
        found |= ends
    return found - {effector}


def led(document: Document, leaders: Collection[str]) -> Document:
    """The document with the holds of what follows some effectors switched off; pinned goals stay."""
    follow = {other for leader in leaders for other in held_with(document, leader)} - set(leaders)
    if not follow:
        return document
    goals = tuple(
        replace(goal, enabled=False) if goal.effector in follow and goal.placed and not goal.pinned else goal
        for goal in document.goals
    )
    return replace(document, goals=goals)
