"""What edits mean for a take: keys where auto-key is on, stretches solved anew on other bones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.session.take.changing import keyed
from viewer.session.take.evaluate import motion_of
from viewer.session.take.pins import resolved

if TYPE_CHECKING:
    from viewer.session.document import Document

_MOVED = 1e-12
"""Of a quaternion's component, or metres: an edit changed a joint that differs by more."""


def only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame, figure and plane are as before."""
    names = ("clip", "take", "frame", "character", "skeleton", "auto_key", "planar")
    return all(getattr(before, name) is getattr(after, name) for name in names)


def kept_up(before: Document, after: Document) -> Document:
    """The document after a step with its take kept up: edits keyed if that is on, and stretches solved on new bones."""
    take = after.take
    if before is after or take is not before.take or (before.clip, before.frame) != (after.clip, after.frame):
        return after
    if before.skeleton is not after.skeleton and not np.array_equal(before.skeleton.offsets, after.skeleton.offsets):
        if take is None or not take.pins:
            return after
        solved = resolved(after, motion_of(after), take)
        return after if solved is take else replace(after, take=solved)
    if not after.auto_key or before.character is not after.character:
        return after
    turned = np.abs(after.pose.rotations - before.pose.rotations).max(axis=-1) > _MOVED
    moved = np.abs(after.pose.translations - before.pose.translations).max(axis=-1) > _MOVED
    joints = np.flatnonzero(turned | moved).tolist()
    return keyed(after, after.frame, joints) if joints else after
