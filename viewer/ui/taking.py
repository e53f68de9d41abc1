"""What is taken hold of where the figure is pressed, or by the handles: what moves then, and by which point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.gizmo import Tool
from viewer.session import Grab, Mode
from viewer.session.standing import world_of
from viewer.skeleton.kinds import JointKind
from viewer.spatial.quaternion import conjugate, rotate
from viewer.ui.gestures import item_of
from viewer.ui.grips import grip, is_root, joint_of, together
from viewer.ui.movable import can_follow
from viewer.ui.movers import JointMover, RootMover, TargetMover

if TYPE_CHECKING:
    from viewer.scene import Hit
    from viewer.session import Document, Item
    from viewer.spatial.checks import Floats
    from viewer.ui.movers import Mover

_MIDDLE = 1e-6
"""Metres from a joint within which a point is its middle."""


def can_take(document: Document, hit: Hit) -> bool:
    """Whether dragging what was hit would move anything."""
    item = item_of(hit)
    if item.kind == "effector" or is_root(document, item):
        return True
    return _follows(document, hit) if document.mode is Mode.IK else _turned_by(document, hit) is not None


def mover_for(document: Document, item: Item, hit: Hit) -> tuple[Mover | None, Floats]:
    """What a drag of what was hit moves, None where it cannot be moved; and the place that follows the pointer."""
    root = is_root(document, item) and hit.kind != "bone"
    if document.mode is Mode.FK:
        if root:
            return RootMover(item.name), hit.point
        joint = _turned_by(document, hit)
        return (None, hit.point) if joint is None else (JointMover(joint, hit.point), hit.point)
    if item.kind == "effector":
        return TargetMover(_together(document, item)), grip(document, item)[0]
    place, turn = grip(document, item)
    if root:
        return TargetMover({item: (place, turn)}), place
    if not _follows(document, hit):
        return None, hit.point
    local = rotate(conjugate(turn), hit.point - place)
    return TargetMover({item: (hit.point, turn)}, Grab(item.name, local)), hit.point


def mover_of_handles(document: Document, item: Item, tool: Tool) -> Mover:
    """What the handles of an item move."""
    fk, root = document.mode is Mode.FK, is_root(document, item)
    if fk and root:
        return RootMover(item.name)
    if fk or (tool is Tool.ROTATE and item.kind == "joint" and not root):
        return JointMover(document.skeleton.names[joint_of(document, item)])
    if item.kind == "effector" or root:
        return TargetMover(_together(document, item))
    return TargetMover({item: grip(document, item)}, Grab(item.name))


def _together(document: Document, item: Item) -> dict[Item, tuple[Floats, Floats]]:
    """What moves with an item, and where it is."""
    return {one: grip(document, one) for one in together(document, item)}


def _turned_by(document: Document, hit: Hit) -> str | None:
    """The joint that an FK drag of what was hit turns; None if none can."""
    skeleton = document.skeleton
    joint = hit.index
    if _in_the_middle(document, hit):
        joint = int(skeleton.parents[joint])
    while joint >= 0 and skeleton.kinds[joint] in {JointKind.FIXED, JointKind.SLIDE}:
        joint = int(skeleton.parents[joint])
    return None if joint < 0 else skeleton.names[joint]


def _follows(document: Document, hit: Hit) -> bool:
    """Whether solving can bring what was hit elsewhere."""
    return can_follow(document, hit.index, beside=not _in_the_middle(document, hit))


def _in_the_middle(document: Document, hit: Hit) -> bool:
    """Whether a joint was hit itself, and no bone."""
    middle = world_of(document.skeleton, document.pose).positions[hit.index]
    return hit.kind != "bone" and bool(np.linalg.norm(hit.point - middle) < _MIDDLE)
