"""Documents with other keys: frames solved between keys and the pose shown stay in step; auto-key; other units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from viewer.document.default_goals import carried
from viewer.document.document import Document
from viewer.document.evaluation import base_pose, frame_pose, motion_of, on_own_bones
from viewer.document.key_editing import Entry, entries_of, with_entries
from viewer.document.pins import pins_held, resolved
from viewer.document.take import FRAMES, Blend, Take


def take_of(document: Document) -> Take:
    """The document's take; a new one, without keys, where it has none."""
    if document.take is not None:
        return document.take
    clip = document.clip_data
    last = FRAMES - 1 if clip is None else max(len(clip) - 1, 0)
    return Take(base=document.clip, frame_time=document.frame_time, last=max(last, document.frame))


def shows_take(document: Document) -> bool:
    """Whether the pose shown is the frame's own, and not one that was edited and not keyed."""
    if document.clip_data is None and (document.take is None or document.take.is_empty):
        return False
    return 0 <= document.frame < document.frames and document.pose.same_as(frame_pose(document, document.frame))


def with_take(document: Document, take: Take, **changes: object) -> Document:
    """The document with another take, the stretches between its keys solved where they need it.

    A pose that was the frame's own is so afterwards; one that was edited stays. ``changes`` are of other fields.
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
    """The document with keys of its pose.

    Args:
        document: the very same one is given back where these keys are there already.
        frame: where to put them.
        joints: indices.
        blend: of the keys; None: as of the keys that are replaced, or as is usual.

    Raises:
        InputError: the clip has no such frame.
    """
    take = take_of(document)
    base, pose = base_pose(document, take, frame), on_own_bones(document, document.pose)
    usual = blend or (Blend.SMOOTH if document.clip is None else Blend.LINEAR)
    entries = entries_of(take, base, pose, joints, (frame, usual))
    if blend is None:
        entries = [_as_before(take, entry) for entry in entries]
    after = with_entries(take, entries, base)
    pins = dict(after.pins)
    held = pins_held(document)
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
    """The document with the numbers of its frame, where these are those of its pose but for rounding."""
    pose = frame_pose(document, document.frame)
    return replace(document, pose=pose) if pose.is_near(document.pose) else document


def _as_before(take: Take, entry: Entry) -> Entry:
    track = take.track(entry.joint)
    place = None if track is None else track.index(int(entry.frames[0]))
    if track is None or place is None:
        return entry
    return replace(entry, blends=track.blends[place : place + 1])


_MOVED = 1e-12
"""Of a quaternion's component, or metres: an edit changed a joint that differs by more."""


def only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame, figure and plane are as before."""
    names = ("clip", "take", "frame", "character", "skeleton", "auto_key", "planar")
    return all(getattr(before, name) is getattr(after, name) for name in names)


def with_edits_keyed(before: Document, after: Document) -> Document:
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
