"""Goals about one and the same point: the distance from a ball and the aim at it stay goals about one ball."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.document.document import Document
from viewer.document.handle import Handle, Item
from viewer.skeleton.skeleton import find_place


def sharing(document: Document, effector: str) -> tuple[str, ...]:
    """Names of the other effectors of the same joint whose goals ask about the very point that this one's does.

    Only distances and aims have such a point. Where it is put elsewhere, it is for all of them.
    """
    handle = document.handle(effector)
    if not _has_point(handle):
        return ()
    joint = find_place(document.skeleton, effector).joint
    return tuple(
        other.effector
        for other in document.handles
        if other is not handle
        and _has_point(other)
        and other.position == handle.position
        and find_place(document.skeleton, other.effector).joint == joint
    )


def shared_by(document: Document, items: Iterable[Item]) -> dict[Item, tuple[Item, ...]]:
    """The effectors that share a point with each of these, of those that are effectors."""
    return {
        item: tuple(Item("effector", name) for name in sharing(document, item.name))
        for item in items
        if item.kind == "effector"
    }


def _has_point(handle: Handle) -> bool:
    return handle.on and not handle.stands and handle.position is not None
