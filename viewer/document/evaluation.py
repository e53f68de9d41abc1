"""The frames of a document: its clip with the keys on it, or the keys alone.

Frames are computed in blocks of fixed size and cached briefly: playing and scrubbing stay cheap, memory does not
grow with the clip, and a single frame has the same bits as in an export of all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.edit_skeleton import relengthened
from viewer.document.sampling import fade_frames, sampled, sampled_at
from viewer.document.take import Stretch, Take, check_frame
from viewer.errors import InputError
from viewer.skeleton import Clip, Pose, Skeleton
from viewer.skeleton.coordinates import following_frames
from viewer.spatial.checks import Floats, Ints, handed_over
from viewer.spatial.quaternion import multiply, normalized, slerp

BLOCK = 32
"""Frames per block."""


class Frames(NamedTuple):
    """Local poses of F frames.

    Attributes:
        rotations: (F, J, 4).
        translations: (F, J, 3) metres.
    """

    rotations: Floats
    translations: Floats


class Motion(NamedTuple):
    """Everything that the frames of a document depend on.

    Attributes:
        take: the keys, or None.
        clip: the clip below the keys, or None.
        own: the file's skeleton, to which the translations of clip and keys refer.
        edited: the document's skeleton, whose bones may have other lengths.
    """

    take: Take | None
    clip: Clip | None
    own: Skeleton
    edited: Skeleton

    @property
    def rest(self) -> Pose:
        """The pose, on the file's bones, of joints without keys if there is no clip."""
        return self.own.rest_pose() if self.take is None or self.take.rest is None else self.take.rest

    @property
    def fade(self) -> int:
        """Frames in which keys on a clip fade in and out; 0 without a clip."""
        return 0 if self.clip is None else fade_frames(self.clip.frame_time)


def one_frame(pose: Pose) -> Frames:
    """A pose as a single frame."""
    return Frames(pose.rotations[None], pose.translations[None])


def motion_of(document: Document) -> Motion:
    """The document's take, clip and skeletons."""
    return Motion(document.take, document.clip_data, document.character.skeleton, document.skeleton)


def frame_pose(document: Document, frame: int) -> Pose:
    """The pose of a frame, as played and exported.

    With a clip: the clip plus the keys on it, on bones as edited. Without: the keys, the take's rest pose for joints
    without keys, and the document's own pose if there are no keys at all.

    Raises:
        InputError: there is neither clip nor take, or no such frame.
    """
    check_played_frame(document, frame)
    motion = motion_of(document)
    if not document.has_motion:
        return document.pose
    if motion.take is None or motion.take.is_plain:
        return base_frame(document, frame)
    rotations, translations = (one[frame % BLOCK].copy() for one in _block(motion, frame // BLOCK))
    return Pose(handed_over(rotations), handed_over(translations))  # copied: the block can be freed


def frames_shown(document: Document, first: int, last: int) -> Frames:
    """Poses of consecutive frames, both ends included, each bit for bit as `frame_pose` has it, but cheaper.

    Raises:
        InputError: there is neither clip nor take, or no such frames.
    """
    check_played_frame(document, first)
    check_played_frame(document, last)
    motion, count = motion_of(document), last - first + 1
    if motion.take is None or motion.take.is_plain:
        if motion.clip is not None:
            return layered(motion._replace(take=None), first, count)
        return Frames(*(np.repeat(one, count, axis=0) for one in one_frame(document.pose)))
    blocks = [_block(motion, number) for number in range(first // BLOCK, last // BLOCK + 1)]
    some = slice(first % BLOCK, first % BLOCK + count)
    return Frames(*(np.concatenate([getattr(block, name) for block in blocks])[some] for name in Frames._fields))


def base_frame(document: Document, frame: int) -> Pose:
    """A frame of the clip alone, on bones as edited.

    Raises:
        InputError: there is no clip, or no such frame.
    """
    clip = document.clip_data
    if clip is None:
        raise InputError("no clip is loaded")
    return _on_bones(clip.pose(frame), document.character.skeleton, document.skeleton)


def home_pose(document: Document) -> Pose:
    """The pose that resetting restores: the clip's frame if there is a clip, else the relaxed pose."""
    if document.clip_data is not None:
        return base_frame(document, document.frame)
    return document.skeleton.relaxed_pose()


def check_played_frame(document: Document, frame: int) -> None:
    """Raise InputError unless the document has this frame."""
    clip, take = document.clip_data, document.take
    if clip is not None:
        clip.check_frame(frame)
    elif take is None:
        raise InputError("no clip is loaded")
    elif not 0 <= frame <= take.end:
        raise InputError(f"no frame {frame}: the take has 0 to {take.end}")


def layered(motion: Motion, first: int, count: int) -> Frames:
    """``count`` frames from ``first``: clip and keys, without the frames solved between keys."""
    take = motion.take
    if motion.clip is not None:
        rotations = motion.clip.rotations[first : first + count].copy()
        translations = motion.clip.local_translations(slice(first, first + count))
    else:
        rotations, translations = (np.repeat(one, count, axis=0) for one in one_frame(motion.rest))
    for some in sampled(take.tracks if take else (), first, len(rotations), fade=motion.fade):
        turned, moved = some.rotations.swapaxes(0, 1), some.translations
        if motion.clip is None:
            rotations[:, some.joints] = turned
            if moved is not None:
                translations[:, some.joints] = moved.swapaxes(0, 1)
            continue
        base = rotations[:, some.joints]
        nothing = (turned[..., :3] == 0.0).all(axis=-1, keepdims=True)
        rotations[:, some.joints] = np.where(nothing, base, normalized(multiply(base, turned)))
        if moved is not None:
            translations[:, some.joints] += moved.swapaxes(0, 1)
    if motion.own.offsets is not motion.edited.offsets:
        translations = relengthened(translations, motion.own.offsets, motion.edited.offsets)
    if motion.edited.mimics:
        rotations, translations = following_frames(motion.edited, rotations, translations)
    return Frames(rotations, translations)


@lru_cache(maxsize=24)
def _block(motion: Motion, number: int) -> Frames:
    return frames_from(motion, number * BLOCK, BLOCK)


def frames_from(motion: Motion, first: int, count: int) -> Frames:
    """``count`` frames from ``first`` as shown, computed at once: as by blocks, up to rounding."""
    frames = layered(motion, first, count)
    for stretch in motion.take.solved if motion.take else ():
        low, high = max(first, stretch.first), min(first + len(frames.rotations), stretch.first + len(stretch))
        part = share_of(motion.take, stretch)
        if low < high and part > 0.0:
            here, there = slice(low - first, high - first), slice(low - stretch.first, high - stretch.first)
            turned, moved = stretch.rotations[there], stretch.translations[there]
            if part < 1.0:
                turned = slerp(frames.rotations[here, stretch.joints], turned, part)
                moved = part * moved + (1.0 - part) * frames.translations[here, stretch.moved]
            frames.rotations[here, stretch.joints] = turned
            frames.translations[here, stretch.moved] = moved
    return Frames(handed_over(frames.rotations), handed_over(frames.translations))


def share_of(take: Take | None, stretch: Stretch) -> float:
    """How far solved frames go from the frames below them: planted feet may be off, or weigh less."""
    if not stretch.planted:
        return 1.0
    feet = None if take is None else take.feet
    return feet.weight if feet is not None and feet.on else 0.0


def _on_bones(pose: Pose, before: Skeleton, after: Skeleton) -> Pose:
    """A pose on a skeleton's bones, moved to those of another length; the same object if they are equal."""
    if before.offsets is after.offsets or np.array_equal(before.offsets, after.offsets):
        return pose
    return Pose(pose.rotations, relengthened(pose.translations, before.offsets, after.offsets))


def on_own_bones(document: Document, pose: Pose) -> Pose:
    """A pose of the document on the file's bones, as keys store it."""
    return _on_bones(pose, document.skeleton, document.character.skeleton)


def base_pose(document: Document, take: Take, frame: int) -> Pose:
    """The pose that keys at a frame refer to, on the file's bones: the clip's frame, else the take's rest pose.

    Raises:
        InputError: the clip has no such frame, or the frame is invalid.
    """
    clip = document.clip_data
    check_frame(frame)
    if clip is not None:
        return clip.pose(frame)
    return take.rest or on_own_bones(document, document.pose)


def baked_frames(motion: Motion, first: int, last: int) -> Frames:
    """Frames as shown, both ends included; computed block by block without caching."""
    joints, count = len(motion.edited), last - first + 1
    rotations, translations = np.empty((count, joints, 4)), np.empty((count, joints, 3))
    for number in range(first // BLOCK, last // BLOCK + 1):
        block, start = _block.__wrapped__(motion, number), number * BLOCK
        low, high = max(first, start), min(last + 1, start + BLOCK)
        rotations[low - first : high - first] = block.rotations[low - start : high - start]
        translations[low - first : high - first] = block.translations[low - start : high - start]
    return Frames(rotations, translations)


def shown_on_own_bones(motion: Motion, first: int, last: int) -> Frames:
    """Frames as shown, both ends included, on the file's bones: what new keys are compared with."""
    frames = baked_frames(motion, first, last)
    return Frames(frames.rotations, relengthened(frames.translations, motion.edited.offsets, motion.own.offsets))


def joint_at(document: Document, joint: int, frames: Ints) -> Frames:
    """The rotations and translations of one joint at some frames, as `frame_pose` has them up to rounding.

    Args:
        document: with a clip or a take.
        joint: its index.
        frames: (N,) ascending.

    Returns:
        Its rotations (N, 4) and translations (N, 3), local.

    Raises:
        InputError: there is neither clip nor take, or no such frames.
    """
    for end in (frames[0], frames[-1]):
        check_played_frame(document, int(end))
    motion, count = motion_of(document), len(frames)
    if not document.has_motion:
        return Frames(*(np.repeat(one[:, joint], count, axis=0) for one in one_frame(document.pose)))
    turned, moved = keyed_frames(motion, joint, frames)
    own, edited = motion.own.offsets[joint : joint + 1], motion.edited.offsets[joint : joint + 1]
    moved = relengthened(moved[:, None], own, edited)[:, 0]
    for stretch in motion.take.solved if motion.take else ():
        part = share_of(motion.take, stretch)
        if part == 0.0:
            continue
        here = slice(*np.searchsorted(frames, [stretch.first, stretch.first + len(stretch)]).tolist())
        there = frames[here] - stretch.first
        for index in np.flatnonzero(stretch.joints == joint).tolist():
            other = stretch.rotations[there, index]
            turned[here] = other if part == 1.0 else slerp(turned[here], other, part)
        for index in np.flatnonzero(stretch.moved == joint).tolist():
            moved[here] = part * stretch.translations[there, index] + (1.0 - part) * moved[here]
    return Frames(turned, moved)


def keyed_frames(motion: Motion, joint: int, frames: Ints) -> Frames:
    """On the file's bones, without the frames solved between keys."""
    clip, take, count = motion.clip, motion.take, len(frames)
    track = take.track(joint) if take is not None else None
    if clip is not None:
        turned = clip.rotations[frames, joint].copy()
        moving = np.flatnonzero(clip.translated == joint)
        moved = clip.translations[frames, moving[0]] if moving.size else np.tile(clip.offsets[joint], (count, 1))
    else:
        turned, moved = (np.repeat(one[:, joint], count, axis=0) for one in one_frame(motion.rest))
    if track is None:
        return Frames(turned, moved)
    found = sampled_at([track], frames, fade=motion.fade)
    added = None if found.translations is None else found.translations[0]
    if clip is not None:
        return Frames(normalized(multiply(turned, found.rotations[0])), moved if added is None else moved + added)
    return Frames(found.rotations[0], moved if added is None else added)
