"""Handles made from where effectors stand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.session.standing import stand_of
from viewer.session.values import STANDING, Wanted
from viewer.skeleton.effectors import EffectorGoal, find_place
from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.handle import Handle
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_AHEAD = 0.3
"""A new aim looks at a point this far ahead, and a new distance is at least a sixth of it, in reaches of the figure."""


def held(document: Document, handle: Handle, *, turn: bool = False) -> Handle:
    """A handle that holds its effector where it stands: as the skeleton defines it, else in place.

    Args:
        document: gives the pose.
        handle: that is off, or asks for something else.
        turn: hold its rotation, not its position, where the skeleton says nothing.
    """
    own = find_place(document.skeleton, handle.effector).goal
    kind = Wanted(own.value) if own is not EffectorGoal.OFF else Wanted.ROTATION if turn else Wanted.POSITION
    stand = stand_of(document.skeleton, document.pose, handle)
    position, rotation = tuple(stand.position.tolist()), tuple(stand.rotation.tolist())
    return replace(handle, kind=kind, position=position, rotation=rotation)


def wanting(document: Document, handle: Handle, kind: Wanted) -> Handle:
    """A handle that asks for something else; what it has no numbers for yet is met where it stands."""
    if kind is Wanted.OFF:
        return replace(handle, kind=kind, pin_position=False, pin_rotation=False)
    skeleton = document.skeleton
    stand = stand_of(skeleton, document.pose, handle)
    size = float(np.linalg.norm(skeleton.offsets, axis=-1).sum()) or 1.0
    changes: dict[str, Any] = {"kind": kind}
    if kind in STANDING and not handle.stands:
        changes |= {"position": stand.position, "rotation": stand.rotation}
    elif kind in STANDING:
        changes |= {"rotation": stand.rotation if handle.rotation is None else handle.rotation}
        changes |= {"position": stand.position if handle.position is None else handle.position}
        if not handle.has_rotation:
            changes["rotation"] = stand.rotation
        if not handle.has_position:
            changes["position"] = stand.position
    elif kind is Wanted.DISTANCE:
        centre = stand.position if handle.position is None or not handle.on else np.array(handle.position)
        apart = float(np.linalg.norm(stand.position - centre))
        changes |= {"position": centre, "distance": handle.distance or max(apart, size * _AHEAD / 6.0)}
    else:
        axis = handle.axis or tuple(_direction(skeleton, stand.joint).tolist())
        ahead = rotate(stand.rotation, np.array(axis)) * (_AHEAD * size)
        changes |= {"axis": axis, "position": stand.position + ahead}
    return replace(handle, **changes)


def _direction(skeleton: Skeleton, joint: int) -> Floats:
    """The direction of a joint's bone in its own frame: to its first child or tip that lies apart from it, else y."""
    children = skeleton.offsets[skeleton.parents == joint]
    tips = skeleton.tip_offsets[skeleton.tip_parents == joint]
    for offset in (*children, *tips):
        length = float(np.linalg.norm(offset))
        if length > 0.0:
            return np.asarray(offset / length)
    return np.array([0.0, 1.0, 0.0])
