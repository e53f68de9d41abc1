"""How much a file may ask for, in one place: what readers check before they take memory or time for it.

A file may always have what it spells out: text and plain arrays cost a fixed multiple of their bytes. What is bounded
here is what a few bytes can ask for: arrays that inflate or are stated without data, frames between keys that are
far apart, joints without end, numbers past the range in which lengths can be squared and added.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from viewer.errors import FormatError, quote
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.effectors import EffectorGoal
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

FARTHEST = 1e7
"""Metres from the origin that anything may stand: farther off a position has no millimetres left to be met within."""

MOST_JOINTS = 20_000
"""Joints of a skeleton, end sites and effectors likewise: the longest sample chain has 10,000, large figures 2,000."""
MOST_GOALS = 2_000
"""Goals of a file, and effectors that are on when it opens, which are held: each is rows of every solve."""
MOST_FRAMES = 1_000_000
"""Frames of a clip that is sampled from keys: nine hours at 30 a second."""

FREE_BYTES = 224 << 20
"""Bytes that a file's packed arrays may have together however well they are packed: 100,000 frames of 60 joints."""
MOST_INFLATION = 16
"""Bytes of arrays to the byte of a file that has more of them: recorded motion packs to half of it or less."""
MOST_TEXT_BYTES = 32 << 20
"""Bytes of a packed text: eight million characters, the skeleton file of 20,000 joints with limits."""

FREE_NODE_FRAMES = 1 << 22
"""Nodes times frames of all clips that a glTF file's keys may stand for, however few: 19 hours of one node, or 23
minutes of 100, at 60 frames a second. Their arrays fill 224 MiB."""
NODE_FRAMES_PER_BYTE = 4
"""The same to the byte of a file that stands for more: a figure of 80 joints of which one moves has as many."""
FREE_NUMBERS = 1 << 20
"""Numbers that a glTF file's accessors may state together without a byte for each."""


def room_for_arrays(file_bytes: int) -> int:
    """Bytes that the packed arrays of a file may have together."""
    return min(max(FREE_BYTES, MOST_INFLATION * file_bytes), 1 << 31)


def room_for_frames(file_bytes: int) -> int:
    """Nodes times frames that a glTF file may stand for."""
    return max(FREE_NODE_FRAMES, NODE_FRAMES_PER_BYTE * file_bytes)


def check_counts(joints: int, tips: int = 0, effectors: int = 0) -> None:
    """Refuse a skeleton that is too large, before anything is made for each of its parts.

    Raises:
        FormatError: more than `MOST_JOINTS` joints, end sites or effectors.
    """
    for found, what in ((joints, "joints"), (tips, "end sites"), (effectors, "effectors")):
        if found > MOST_JOINTS:
            raise FormatError(f"expected at most {MOST_JOINTS:,} {what}, found {found:,}")


def check_character(character: Character, file: str | None = None) -> Character:
    """The character, if it has no more parts than it may, and all it can reach lies within `FARTHEST`.

    Every reader's result passes here. That each number is finite its skeleton, poses and clips have checked themselves;
    here it is what the numbers come to together, so that nothing behind meets an overflow.

    Raises:
        FormatError: it has more parts, or reaches farther; ``file`` names the file.
    """
    try:
        check_skeleton(character.skeleton, character.clips.values())
    except FormatError as error:
        error.file = error.file or file
        raise
    return character


def check_skeleton(skeleton: Skeleton, clips: Iterable[Clip] = (), poses: Iterable[Pose] = ()) -> None:
    """Raise FormatError as `check_character`, for a skeleton with its own poses and those and the clips given."""
    check_counts(len(skeleton), len(skeleton.tip_parents), len(skeleton.effectors))
    held = sum(effector.goal is not EffectorGoal.OFF for effector in skeleton.effectors)
    if held > MOST_GOALS:
        raise FormatError(f"expected at most {MOST_GOALS:,} effectors that are on, found {held:,}")
    reach = _lengths(skeleton.offsets)
    for pose in (*skeleton.poses.values(), *poses):
        reach = np.maximum(reach, _lengths(pose.translations))
    for clip in clips:
        reach[clip.translated] = np.maximum(reach[clip.translated], _largest(clip.translations))
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            reach[joint] += reach[parent]
    ends = reach.copy()
    np.maximum.at(ends, skeleton.tip_parents, reach[skeleton.tip_parents] + _lengths(skeleton.tip_offsets))
    for effector in skeleton.effectors:
        ends[effector.joint] = max(ends[effector.joint], reach[effector.joint] + _lengths(np.array(effector.offset)))
    for capsule in skeleton.bodies.capsules if skeleton.bodies is not None else ():
        own = float(_lengths(np.array([capsule.a, capsule.b])).max()) + capsule.radius
        ends[capsule.joint] = max(ends[capsule.joint], reach[capsule.joint] + own)
    far = np.flatnonzero(~(ends <= FARTHEST))
    if far.size:
        found = "numbers that are not finite" if np.isnan(ends[far[0]]) else f"{ends[far[0]]:.3g}"
        expected = f"expected lengths that keep it within {FARTHEST:g} m of the origin, found {found}"
        raise FormatError(f"joint {quote(skeleton.names[far[0]])}: {expected}")


def _lengths(vectors: Floats) -> Floats:
    """(..., 3) -> (...), past the range of squares too."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.hypot(vectors[..., 0], vectors[..., 1]), vectors[..., 2]))


def _largest(translations: Floats) -> Floats:
    """(F, T, 3) -> (T,) a length that no frame exceeds, without a copy of the frames."""
    if not len(translations):
        return np.zeros(translations.shape[1])
    return _lengths(np.maximum(translations.max(axis=0), -translations.min(axis=0)))
