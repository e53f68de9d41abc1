"""What is exported of a document: the played range as a clip, and the character with it."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Frames, baked_frames, check_played_frame, layered, motion_of
from viewer.document.layers import finished
from viewer.skeleton import Character, Clip, Pose
from viewer.spatial.checks import handed_over

NAME = "take"
"""Name of the baked clip of a take without a clip."""


def baked_clip(document: Document) -> Clip:
    """The played range as a clip, each frame bit for bit as `frame_pose` has it, with key frames.

    All layers are solved first.

    The clip itself if it has no keys on it, no bone was edited and its whole length is played.

    Raises:
        InputError: there is neither clip nor take.
    """
    document = finished(document)
    motion, (first, last) = motion_of(document), document.played
    clip, take = motion.clip, motion.take
    check_played_frame(document, last)
    own, edited = motion.own.offsets, motion.edited.offsets
    plain = clip is not None and (take is None or take.is_plain) and np.array_equal(own, edited)
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
    """Key frames of the take and of the clip."""
    clip, take = document.clip_data, document.take
    return tuple(sorted({*(clip.keys if clip else ()), *(take.frames if take else ())}))


def _stacked(poses: list[Pose], count: int) -> Frames:
    rotations, translations = (np.stack([getattr(pose, name) for pose in poses]) for name in Frames._fields)
    return Frames(np.repeat(rotations, count, axis=0), np.repeat(translations, count, axis=0))


def baked_character(document: Document) -> Character:
    """The document as it is exported: its skeleton, with the played range as its only clip; without motion no clip.

    The frames are exactly those that the window shows; save it with `viewer.formats.save.save`.
    """
    character = replace(document.character, skeleton=document.skeleton, limits_from=document.limits_source)
    if document.clip_data is None and document.take is None:
        return replace(character, clips=MappingProxyType({}))
    clip = baked_clip(document)
    return replace(character, clips=MappingProxyType({clip.name: clip}))
