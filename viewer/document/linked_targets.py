"""Goals about one and the same point: the distance from a ball and the aim at it stay goals about one ball."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.document.document import Document
from viewer.document.goal import DocumentGoal, Item
from viewer.skeleton.skeleton import find_place


def sharing(document: Document, name: str) -> tuple[str, ...]:
    """Ids of the other goals of the same joint that ask about the very point that this one does.

    Only distances and aims have such a point. Where it is put elsewhere, it is for all of them.
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


def shared_by(document: Document, items: Iterable[Item]) -> dict[Item, tuple[Item, ...]]:
    """The goals that share a point with each of these, of those that are no joints."""
    return {
        item: tuple(Item("effector", name) for name in sharing(document, item.name))
        for item in items
        if item.kind == "effector"
    }


def _has_point(goal: DocumentGoal) -> bool:
    return goal.has_position and not goal.placed and goal.position is not None
