"""Where the items of a document are, and where they are taken hold of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.session import Mode
from viewer.session.standing import stand_of, world_of
from viewer.skeleton.kinds import JointKind
from viewer.ui.movable import can_follow

if TYPE_CHECKING:
    from viewer.session import Document, Handle, Item
    from viewer.spatial.checks import Floats


def aims(handle: Handle) -> bool:
    """Whether a handle has a place in the world that can be dragged."""
    return handle.on and handle.has_position and handle.position is not None


def joint_of(document: Document, item: Item) -> int:
    """The joint that an item is, or is fixed to."""
    if item.kind == "joint":
        return document.skeleton.index(item.name)
    return stand_of(document.skeleton, document.pose, document.handle(item.name)).joint


def is_root(document: Document, item: Item) -> bool:
    """Whether an item is the handle of a root: one that can be put elsewhere, for others have no handle."""
    if item.kind != "joint":
        return False
    joint = joint_of(document, item)
    if document.skeleton.parents[joint] >= 0:
        return False
    if document.mode is Mode.FK:
        return document.skeleton.kinds[joint] is JointKind.FREE
    return can_follow(document, joint)


def can_move(document: Document, item: Item) -> bool:
    """Whether the handles that move things would move an item."""
    if item.kind == "effector" or is_root(document, item):
        return True
    return document.mode is Mode.IK and can_follow(document, joint_of(document, item))


def places(document: Document, item: Item) -> list[Floats]:
    """Where an item is, and where it should be."""
    if item.kind == "joint":
        world = world_of(document.skeleton, document.pose)
        return [world.positions[document.skeleton.index(item.name)]]
    handle = document.handle(item.name)
    at = stand_of(document.skeleton, document.pose, handle).position
    return [at, np.array(handle.position)] if aims(handle) else [at]


def together(document: Document, item: Item) -> list[Item]:
    """What the handles of an item move: all effectors selected, if it is one of them."""
    several = [other for other in document.selection if other.kind == "effector"]
    return several if item in several and document.mode is Mode.IK else [item]


def pivot(document: Document, item: Item) -> Floats:
    """(3,) world: where the handles of an item stand: amid all that they move."""
    return np.asarray(np.mean([grip(document, one)[0] for one in together(document, item)], axis=0))


def grip(document: Document, item: Item) -> tuple[Floats, Floats]:
    """(3,) and (4,), world: where an item is taken hold of: its target, or where it stands if it has none."""
    if item.kind == "joint":
        world, joint = world_of(document.skeleton, document.pose), joint_of(document, item)
        return world.positions[joint], world.rotations[joint]
    handle = document.handle(item.name)
    stand = stand_of(document.skeleton, document.pose, handle)
    position = np.array(handle.position) if aims(handle) else stand.position
    rotation = np.array(handle.rotation) if handle.on and handle.has_rotation else stand.rotation
    return position, rotation
