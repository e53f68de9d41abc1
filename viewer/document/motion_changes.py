"""What has changed between two motions: the frames in which some joints differ."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from viewer.document.evaluation import Motion, frames_from
from viewer.document.take import Track
from viewer.skeleton import Skeleton
from viewer.spatial.checks import Bools, Ints
from viewer.spatial.quaternion import IDENTITY

Span: TypeAlias = tuple[int, int]
"""The first frame and the one after the last."""


def frame_count(motion: Motion) -> int:
    """Number of frames."""
    if motion.clip is not None:
        return len(motion.clip)
    return 0 if motion.take is None else motion.take.end + 1


def changed_frames(before: Motion, after: Motion, joints: frozenset[int]) -> list[Span] | None:
    """The frames in which joints differ between two motions; None: it may be all."""
    same = before.clip is after.clip and before.own is after.own and _same_bones(before.edited, after.edited)
    if not same or frame_count(before) != frame_count(after):
        return None
    if before.take is after.take:
        return []
    count = frame_count(after)
    if before.take is None or after.take is None:
        return None
    if after.clip is None and not before.rest.same_as(after.rest):
        return None
    spans = []
    for joint in joints:
        one, other = before.take.track(joint), after.take.track(joint)
        if one is not other:
            spans += _around_keys(one, other, after.fade, count)
    old, new = ({id(one): one for one in take.solved} for take in (before.take, after.take))
    for key in old.keys() ^ new.keys():
        stretch = (old | new)[key]
        spans.append((stretch.first, stretch.first + len(stretch)))
    some, found = np.array(sorted(joints)), []
    for start, stop in joined(spans, 0):
        now, was = (frames_from(_only(motion, joints), start, stop - start) for motion in (after, before))
        turned = (now.rotations[:, some] != was.rotations[:, some]).any(axis=(1, 2))
        moved = (now.translations[:, some] != was.translations[:, some]).any(axis=(1, 2))
        differ = np.flatnonzero(turned | moved) + start
        if len(differ):
            cuts = np.flatnonzero(np.diff(differ) > 1)
            firsts, lasts = differ[np.r_[0, cuts + 1]], differ[np.r_[cuts, len(differ) - 1]]
            found += list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
    return found


def _only(motion: Motion, joints: frozenset[int]) -> Motion:
    """A motion with the keys of some joints alone."""
    take = motion.take
    assert take is not None
    return motion._replace(take=replace(take, tracks=tuple(one for one in take.tracks if one.joint in joints)))


def _same_bones(one: Skeleton, other: Skeleton) -> bool:
    """Whether two skeletons differ by limits at most."""
    if one is other:
        return True
    arrays = ("parents", "offsets", "rest_rotations", "tip_parents", "tip_offsets", "axes")
    same = all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
    return same and one.kinds == other.kinds and one.mimics == other.mimics


def _around_keys(one: Track | None, other: Track | None, fade: int, count: int) -> list[Span]:
    """Frames beyond which two tracks of a joint are alike: smooth curves reach as far as the second key on.

    Args:
        one: before; None: no keys.
        other: after.
        fade: frames in which keys on a clip fade out beyond the outermost ones; 0: without a clip.
        count: of the motion.
    """
    tracks = [track for track in (one, other) if track is not None]
    every = np.unique(np.concatenate([track.frames for track in tracks]))
    differ = np.ones(len(every), dtype=np.bool_)
    if one is not None and other is not None:
        common, mine, its = np.intersect1d(one.frames, other.frames, assume_unique=True, return_indices=True)
        differ[np.searchsorted(every, common)] = ~_same_keys(one, mine, other, its)
    places = np.flatnonzero(differ)
    if not len(places):
        return []
    low, high = int(places[0]) - 2, int(places[-1]) + 2
    if fade and all(_is_nothing(track, every[max(low, 0)], every[min(high, len(every) - 1)]) for track in tracks):
        return []
    start = int(every[low]) if low >= 0 else int(every[0]) - fade if fade else 0
    stop = int(every[high]) + 1 if high < len(every) else int(every[-1]) + fade if fade else count
    return [(max(start, 0), min(stop, count))]


def _same_keys(one: Track, mine: Ints, other: Track, its: Ints) -> Bools:
    """Whether keys of two tracks are alike."""
    same = (one.rotations[mine] == other.rotations[its]).all(axis=1) & (one.blends[mine] == other.blends[its])
    if one.translations is not None and other.translations is not None:
        same &= (one.translations[mine] == other.translations[its]).all(axis=1)
    elif (one.translations is None) != (other.translations is None):
        same[:] = False
    if one.tangents is not None or other.tangents is not None:
        tangents = [track.all_tangents[some] for track, some in ((one, mine), (other, its))]
        same &= ((tangents[0] == tangents[1]) | np.isnan(tangents).all(axis=0)).all(axis=1)
    return np.asarray(same)


def _is_nothing(track: Track, first: int, last: int) -> bool:
    """Whether the keys on a clip from one frame to another leave it as it is."""
    some = slice(*np.searchsorted(track.frames, [first, last + 1]).tolist())
    turned, moved = (track.rotations[some] != IDENTITY).any(), track.translations
    return not turned and track.tangents is None and (moved is None or not moved[some].any())


def joined(spans: Iterable[Span], near: int) -> list[Span]:
    """Spans in order; those that overlap, or are as near as some frames, as one."""
    found: list[Span] = []
    for start, stop in sorted(spans):
        if found and start <= found[-1][1] + near:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return found
