"""What a document shows frame by frame: its clip with what was keyed on it, or the keys alone.

Frames are worked out in blocks of fixed size, kept for a moment: playing and scrubbing cost little, nothing grows with
the length of the clip, and one frame asked for alone has the bits that it has in an export of all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.session.lengths import relengthened
from viewer.session.take.sampling import fade_frames, sampled
from viewer.session.take.values import check_frame
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import handed_over
from viewer.spatial.quaternion import multiply, normalized

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.take.values import Take
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

BLOCK = 32
"""Frames that are worked out together."""


class Frames(NamedTuple):
    """Whole local poses of F frames.

    Attributes:
        rotations: (F, J, 4).
        translations: (F, J, 3) metres.
    """

    rotations: Floats
    translations: Floats


class Motion(NamedTuple):
    """All that a document's frames depend on.

    Attributes:
        take: the keys, or None.
        clip: that they are on, or None.
        own: the skeleton of the file, which the clip's and the keys' translations are of.
        edited: the document's, whose bones may be longer.
    """

    take: Take | None
    clip: Clip | None
    own: Skeleton
    edited: Skeleton


def motion_of(document: Document) -> Motion:
    """What the document's frames depend on."""
    return Motion(document.take, document.clip_data, document.character.skeleton, document.skeleton)


def take_pose(document: Document, frame: int) -> Pose:
    """The pose of a frame: as it is played and exported.

    The clip with the differences of the keys on it, on bones as long as they have been made. Without a clip what is
    keyed, and the take's rest pose for joints that are not; without any keys the document's own pose.

    Raises:
        InputError: there is neither clip nor take, or no such frame.
    """
    check_played_frame(document, frame)
    motion = motion_of(document)
    if motion.clip is None and (motion.take is None or motion.take.is_empty):
        return document.pose
    if motion.take is None or motion.take.is_empty:
        return base_frame(document, frame)
    rotations, translations = _block(motion, frame // BLOCK)
    return Pose(rotations[frame % BLOCK], translations[frame % BLOCK])


def frames_shown(document: Document, first: int, last: int) -> Frames:
    """The poses of frames on end, both ends included, each to the bit as `take_pose` has it; all at once costs less.

    Raises:
        InputError: there is neither clip nor take, or no such frames.
    """
    check_played_frame(document, first)
    check_played_frame(document, last)
    motion, count = motion_of(document), last - first + 1
    if motion.take is None or motion.take.is_empty:
        if motion.clip is not None:
            return layered(motion._replace(take=None), first, count)
        pose = document.pose
        return Frames(*(np.repeat(one[None], count, axis=0) for one in (pose.rotations, pose.translations)))
    blocks = [_block(motion, number) for number in range(first // BLOCK, last // BLOCK + 1)]
    some = slice(first % BLOCK, first % BLOCK + count)
    return Frames(*(np.concatenate([getattr(block, name) for block in blocks])[some] for name in Frames._fields))


def base_frame(document: Document, frame: int) -> Pose:
    """A frame of the clip alone, on bones as long as they have been made.

    Raises:
        InputError: there is no clip, or no such frame.
    """
    clip = document.clip_data
    if clip is None:
        raise InputError("no clip is loaded")
    return _on_edited(motion_of(document), clip.pose(frame))


def check_played_frame(document: Document, frame: int) -> None:
    """Raise InputError unless the document has such a frame."""
    clip, take = document.clip_data, document.take
    if clip is not None:
        clip.check_frame(frame)
    elif take is None:
        raise InputError("no clip is loaded")
    elif not 0 <= frame <= take.end:
        raise InputError(f"no frame {frame}: the take has 0 to {take.end}")


def layered(motion: Motion, first: int, count: int) -> Frames:
    """Frames from ``first`` on with the keys' values, not solved between them."""
    take = motion.take
    if motion.clip is not None:
        rotations = motion.clip.rotations[first : first + count].copy()
        translations = motion.clip.local_translations(slice(first, first + count))
    else:
        rest = take.rest if take is not None and take.rest is not None else motion.own.rest_pose()
        rotations = np.repeat(rest.rotations[None], count, axis=0)
        translations = np.repeat(rest.translations[None], count, axis=0)
    fade = 0 if motion.clip is None else fade_frames(motion.clip.frame_time)
    for some in sampled(take.tracks if take else (), first, len(rotations), fade=fade):
        turns, moved = some.rotations.swapaxes(0, 1), some.translations
        if motion.clip is None:
            rotations[:, some.joints] = turns
            if moved is not None:
                translations[:, some.joints] = moved.swapaxes(0, 1)
            continue
        base = rotations[:, some.joints]
        nothing = (turns[..., :3] == 0.0).all(axis=-1, keepdims=True)
        rotations[:, some.joints] = np.where(nothing, base, normalized(multiply(base, turns)))
        if moved is not None:
            translations[:, some.joints] += moved.swapaxes(0, 1)
    if motion.own.offsets is not motion.edited.offsets:
        translations = relengthened(translations, motion.own.offsets, motion.edited.offsets)
    return Frames(rotations, translations)


@lru_cache(maxsize=24)
def _block(motion: Motion, number: int) -> Frames:
    """The frames of a block as they are shown."""
    first = number * BLOCK
    frames = layered(motion, first, BLOCK)
    for stretch in motion.take.solved if motion.take else ():
        low, high = max(first, stretch.first), min(first + len(frames.rotations), stretch.first + len(stretch))
        if low < high:
            here, there = slice(low - first, high - first), slice(low - stretch.first, high - stretch.first)
            frames.rotations[here, stretch.joints] = stretch.rotations[there]
            frames.translations[here, stretch.moved] = stretch.translations[there]
    return Frames(handed_over(frames.rotations), handed_over(frames.translations))


def _on_edited(motion: Motion, pose: Pose) -> Pose:
    own, edited = motion.own.offsets, motion.edited.offsets
    if own is edited or np.array_equal(own, edited):
        return pose
    return Pose(pose.rotations, relengthened(pose.translations, own, edited))


def on_own_bones(document: Document, pose: Pose) -> Pose:
    """A pose of the document on the bones of the file: what keys are made of."""
    own, edited = document.character.skeleton.offsets, document.skeleton.offsets
    if own is edited or np.array_equal(own, edited):
        return pose
    return Pose(pose.rotations, relengthened(pose.translations, edited, own))


def base_pose(document: Document, take: Take, frame: int) -> Pose:
    """What keys at a frame are added to, on the bones of the file: the clip's frame, else the take's rest.

    Raises:
        InputError: the clip has no such frame; no take may have it.
    """
    clip = document.clip_data
    check_frame(frame)
    if clip is not None:
        return clip.pose(frame)
    return take.rest or on_own_bones(document, document.pose)


def baked_frames(motion: Motion, first: int, last: int) -> Frames:
    """Frames as they are shown, both ends included: block by block, none kept."""
    joints, count = len(motion.edited), last - first + 1
    rotations, translations = np.empty((count, joints, 4)), np.empty((count, joints, 3))
    for number in range(first // BLOCK, last // BLOCK + 1):
        block, start = _block.__wrapped__(motion, number), number * BLOCK
        low, high = max(first, start), min(last + 1, start + BLOCK)
        rotations[low - first : high - first] = block.rotations[low - start : high - start]
        translations[low - first : high - first] = block.translations[low - start : high - start]
    return Frames(rotations, translations)
