"""What is played, as a clip: for files, films and everything that wants all of its frames."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from viewer.session.lengths import relengthened
from viewer.session.take.evaluate import Frames, baked_frames, check_played_frame, layered, motion_of
from viewer.skeleton.clip import Clip
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.take.evaluate import Motion
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose

NAME = "take"
"""What the baked clip of a take on no clip is called."""


def baked_clip(document: Document) -> Clip:
    """The frames of the range that is played as a clip, each to the bit as `take_pose` has it, keys noted.

    The clip itself where nothing was keyed on it, no bone was made longer and all of it is played.

    Raises:
        InputError: there is neither clip nor take.
    """
    motion, (first, last) = motion_of(document), document.played
    clip, take = motion.clip, motion.take
    check_played_frame(document, last)
    own, edited = motion.own.offsets, motion.edited.offsets
    plain = clip is not None and (take is None or take.is_empty) and np.array_equal(own, edited)
    if clip is not None and plain:
        return clip if (first, last) == (0, len(clip) - 1) else clip.frames(first, last)
    if take is None or (clip is None and take.is_empty):
        shown = [document.pose] if clip is None else []
        frames = _stacked(shown, last - first + 1) if shown else layered(motion, first, last - first + 1)
    else:
        frames = baked_frames(motion, first, last)
    moved = np.flatnonzero((frames.translations != edited).any(axis=(0, 2)))
    return Clip(
        name=NAME if clip is None else clip.name,
        frame_time=document.frame_time,
        rotations=handed_over(frames.rotations),
        translated=moved,
        translations=frames.translations[:, moved],
        offsets=edited,
        keys=tuple(frame - first for frame in _keys(document) if first <= frame <= last),
    )


def _keys(document: Document) -> tuple[int, ...]:
    """Key frames: the take's, and those that the clip came with."""
    clip, take = document.clip_data, document.take
    return tuple(sorted({*(clip.keys if clip else ()), *(take.frames if take else ())}))


def _stacked(poses: list[Pose], count: int) -> Frames:
    rotations, translations = (np.stack([getattr(pose, name) for pose in poses]) for name in Frames._fields)
    return Frames(np.repeat(rotations, count, axis=0), np.repeat(translations, count, axis=0))


def shown_on_own_bones(motion: Motion, first: int, last: int) -> Frames:
    """Frames as they are shown, both ends included, but on the bones of the file: what keys are compared with."""
    frames = baked_frames(motion, first, last)
    own, edited = motion.own.offsets, motion.edited.offsets
    if own is edited or np.array_equal(own, edited):
        return frames
    return Frames(frames.rotations, relengthened(frames.translations, edited, own))


def baked_character(document: Document) -> Character:
    """The document as files take it: its skeleton, and what is played as its one clip; without motion no clip.

    The frames' numbers are those that the window shows; save it with `viewer.formats.save.save`.
    """
    if document.clip_data is None and document.take is None:
        return replace(document.character, skeleton=document.skeleton, clips=MappingProxyType({}))
    clip = baked_clip(document)
    return replace(document.character, skeleton=document.skeleton, clips=MappingProxyType({clip.name: clip}))
