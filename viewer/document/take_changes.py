"""Documents with changed keys: frames solved between keys and the pose shown are updated; auto-key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from viewer.document.document import Document
from viewer.document.edit_skeleton import bone_vectors
from viewer.document.evaluation import base_pose, frame_pose, motion_of, on_own_bones, one_frame
from viewer.document.key_editing import entries_of, with_entries
from viewer.document.pins import current_pins, resolved
from viewer.document.posed_goals import carried
from viewer.document.take import FRAMES, Blend, Take


def take_of(document: Document) -> Take:
    """The document's take, or a new one without keys."""
    if document.take is not None:
        return document.take
    clip = document.clip_data
    last = FRAMES - 1 if clip is None else max(len(clip) - 1, 0)
    return Take(base=document.clip, frame_time=document.frame_time, last=max(last, document.frame))


def shows_take(document: Document) -> bool:
    """Whether the pose shown is the frame's pose, not an edited one without keys."""
    if not document.has_motion:
        return False
    return 0 <= document.frame < document.frames and document.pose.same_as(frame_pose(document, document.frame))


def with_take(document: Document, take: Take, **changes: object) -> Document:
    """The document with another take, frames between keys solved where needed.

    A pose equal to the frame's pose stays so; an edited one stays unchanged. ``changes`` are other fields.
    """
    shown = shows_take(document)
    solved = resolved(document, motion_of(document)._replace(take=take), take)
    changed = replace(document, take=solved, **changes)  # type: ignore[arg-type]
    if document.clip_data is None and document.frame > solved.end:
        changed = replace(changed, frame=solved.end)
    if not shown or (changed.clip_data is None and solved.is_empty):
        return changed
    pose = frame_pose(changed, changed.frame)
    return changed if pose.same_as(changed.pose) else carried(changed, pose, pins=False)


def keyed(document: Document, frame: int, joints: Iterable[int], blend: Blend | None = None) -> Document:
    """The document with keys set from its pose.

    Args:
        document: returned itself if these keys exist already.
        frame: of the keys.
        joints: indices.
        blend: of the keys; None: that of the keys replaced, or the default.

    Raises:
        InputError: the clip has no such frame.
    """
    take = take_of(document)
    base, pose = base_pose(document, take, frame), on_own_bones(document, document.pose)
    usual = blend or (Blend.SMOOTH if document.clip is None else Blend.LINEAR)
    frames, kept = np.array([frame]), blend is None
    entries = entries_of(take, one_frame(base), one_frame(pose), joints, frames, usual, kept=kept)
    after = with_entries(take, entries, base)
    pins = dict(after.pins)
    held = current_pins(document)
    if held:
        pins[frame] = held
    else:
        pins.pop(frame, None)
    after = replace(after, pins=pins)
    if document.take is not None and after.same_as(document.take):
        return document
    solved = resolved(document, motion_of(document)._replace(take=after), after)
    changed = replace(document, take=solved)
    return in_step(changed) if frame == document.frame else changed


def in_step(document: Document) -> Document:
    """The document with the exact pose of its frame, if its pose differs from it by rounding only."""
    pose = frame_pose(document, document.frame)
    return replace(document, pose=pose) if pose.is_near(document.pose) else document


_MOVED = 1e-12
"""A joint counts as changed if a quaternion component, or metres, differ by more."""


def only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame, figure and plane are unchanged."""
    names = ("clip", "take", "frame", "character", "skeleton", "auto_key", "planar")
    return all(getattr(before, name) is getattr(after, name) for name in names)


def with_edits_keyed(before: Document, after: Document) -> Document:
    """The document after a step: edits keyed if auto-key is on; pins, feet and layers solved anew on edited bones."""
    take = after.take
    if before is after or take is not before.take or (before.clip, before.frame) != (after.clip, after.frame):
        return after
    one, other = before.skeleton, after.skeleton
    if one is not other and not np.array_equal(bone_vectors(one), bone_vectors(other)):
        if take is None or not (take.pins or take.layers or take.feet):
            return after
        solved = resolved(after, motion_of(after), take)
        return after if solved is take else replace(after, take=solved)
    if not after.auto_key or before.character is not after.character:
        return after
    turned = np.abs(after.pose.rotations - before.pose.rotations).max(axis=-1) > _MOVED
    moved = np.abs(after.pose.translations - before.pose.translations).max(axis=-1) > _MOVED
    joints = np.flatnonzero(turned | moved).tolist()
    return keyed(after, after.frame, joints) if joints else after
