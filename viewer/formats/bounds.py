"""Limits that readers check before they allocate memory or spend time.

Text and plain arrays cost a fixed multiple of their bytes in the file and need no limit. The limits here are for what a
few bytes can demand: compressed arrays, arrays without data, frames between distant keys, very many joints, and numbers
too large to be squared and added.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from viewer.errors import FormatError, of_file, quote
from viewer.skeleton import Character, Clip, EffectorGoal, Pose, Skeleton
from viewer.spatial.checks import FARTHEST, Floats

MOST_JOINTS = 20_000
"""Joints of a skeleton, and also end sites or effectors: the longest sample chain has 10,000, large figures 2,000."""
MOST_GOALS = 2_000
"""Goals of a file, or effectors that are on when it opens: each adds rows to every solve."""
MOST_FRAMES = 1_000_000
"""Frames of a clip that is sampled from keys: nine hours at 30 a second."""

UNMEASURED = 9999999.0
"""What programs of Motion Analysis write for a value that was not measured, in HTR and TRC files."""

FREE_BYTES = 224 << 20
"""Bytes of a file's compressed arrays that are accepted at any compression: 100,000 frames of 60 joints."""
MOST_INFLATION = 16
"""Beyond `FREE_BYTES`, bytes of arrays per byte of the file; recorded motion compresses to about half."""
MOST_TEXT_BYTES = 32 << 20
"""Bytes of a compressed text: eight million characters, as for a skeleton of 20,000 joints with limits."""

FREE_NODE_FRAMES = 1 << 22
"""Nodes times frames, over all clips of a glTF file, that are accepted for any number of keys: 19 hours of one node or
23 minutes of 100 at 60 frames per second. Their arrays take 224 MiB."""
NODE_FRAMES_PER_BYTE = 4
"""Beyond `FREE_NODE_FRAMES`, nodes times frames per byte of the file: reached if one of 80 joints moves."""
FREE_NUMBERS = 1 << 20
"""Numbers of all accessors of a glTF file that are accepted without a byte for each."""


def room_for_arrays(file_bytes: int) -> int:
    """Most bytes of all compressed arrays of a file of this size."""
    return min(max(FREE_BYTES, MOST_INFLATION * file_bytes), 1 << 31)


def room_for_frames(file_bytes: int) -> int:
    """Most nodes times frames of a glTF file of this size."""
    return max(FREE_NODE_FRAMES, NODE_FRAMES_PER_BYTE * file_bytes)


def check_counts(joints: int, tips: int = 0, effectors: int = 0) -> None:
    """Refuse more than `MOST_JOINTS` joints, end sites or effectors, before anything is allocated for them."""
    for found, what in ((joints, "joints"), (tips, "end sites"), (effectors, "effectors")):
        if found > MOST_JOINTS:
            raise FormatError(f"expected at most {MOST_JOINTS:,} {what}, found {found:,}")


def check_character(character: Character, file: str | None = None) -> Character:
    """The character, unless it has too many parts or reaches beyond `FARTHEST`; ``file`` names the file in messages.

    The result of every reader is checked here. Skeletons, poses and clips check that each number is finite; this checks
    their sums, so that later computations cannot overflow.
    """
    with of_file(file):
        check_skeleton(character.skeleton, character.clips.values())
    return character


def check_skeleton(skeleton: Skeleton, clips: Iterable[Clip] = (), poses: Iterable[Pose] = ()) -> None:
    """Raise FormatError as `check_character` does, for a skeleton, its poses and the given poses and clips."""
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
    """(..., 3) -> (...), without overflow for vectors whose squares are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(np.hypot(np.hypot(vectors[..., 0], vectors[..., 1]), vectors[..., 2]))


def _largest(translations: Floats) -> Floats:
    """(F, T, 3) -> (T,) an upper bound of the lengths over all frames, without copying them."""
    if not len(translations):
        return np.zeros(translations.shape[1])
    return _lengths(np.maximum(translations.max(axis=0), -translations.min(axis=0)))
