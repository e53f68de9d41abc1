"""One joint at many frames far apart, without working out all the others: for curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.session.lengths import relengthened
from viewer.session.take.evaluate import Frames, check_played_frame, motion_of
from viewer.session.take.sampling import fade_frames, sampled_at
from viewer.spatial.quaternion import multiply, normalized

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.take.evaluate import Motion
    from viewer.spatial.checks import Ints


def joint_at(document: Document, joint: int, frames: Ints) -> Frames:
    """What `viewer.session.take.evaluate.take_pose` has of one joint, but for rounding.

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
    if motion.clip is None and (motion.take is None or motion.take.is_empty):
        pose = document.pose
        return Frames(np.tile(pose.rotations[joint], (count, 1)), np.tile(pose.translations[joint], (count, 1)))
    turns, moved = _keyed(motion, joint, frames)
    own, edited = motion.own.offsets[joint : joint + 1], motion.edited.offsets[joint : joint + 1]
    moved = relengthened(moved[:, None], own, edited)[:, 0]
    for stretch in motion.take.solved if motion.take else ():
        here = (frames >= stretch.first) & (frames < stretch.first + len(stretch))
        there = frames[here] - stretch.first
        for place in np.flatnonzero(stretch.joints == joint).tolist():
            turns[here] = stretch.rotations[there, place]
        for place in np.flatnonzero(stretch.moved == joint).tolist():
            moved[here] = stretch.translations[there, place]
    return Frames(turns, moved)


def _keyed(motion: Motion, joint: int, frames: Ints) -> Frames:
    """On the bones of the file; not solved between keys."""
    clip, take, count = motion.clip, motion.take, len(frames)
    track = take.track(joint) if take is not None else None
    if clip is not None:
        turns = clip.rotations[frames, joint].copy()
        moving = np.flatnonzero(clip.translated == joint)
        moved = clip.translations[frames, moving[0]] if moving.size else np.tile(clip.offsets[joint], (count, 1))
    else:
        rest = take.rest if take is not None and take.rest is not None else motion.own.rest_pose()
        turns, moved = np.tile(rest.rotations[joint], (count, 1)), np.tile(rest.translations[joint], (count, 1))
    if track is None:
        return Frames(turns, moved)
    found = sampled_at([track], frames, fade=0 if clip is None else fade_frames(clip.frame_time))
    added = None if found.translations is None else found.translations[0]
    if clip is not None:
        return Frames(normalized(multiply(turns, found.rotations[0])), moved if added is None else moved + added)
    return Frames(found.rotations[0], moved if added is None else added)
