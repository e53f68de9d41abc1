"""The distances between two motions, and the frames in which some joints differ."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Motion, frames_from, frames_shown
from viewer.document.take import Track
from viewer.errors import InputError
from viewer.skeleton import Skeleton, fk_arrays
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY

_BLOCK = 256
"""Frames whose poses are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Distances between joints of one name in two motions.

    Attributes:
        names: of the N joints that both have, in the order of the first.
        joints: (N,) their indices in the first.
        first: frame of the first motion to which row 0 belongs.
        metres: (F, N) distances at the frames that are played of the first motion.
    """

    names: tuple[str, ...]
    joints: Ints
    first: int
    metres: Floats

    @property
    def mean(self) -> Floats:
        """(F,) mean over the joints, metres."""
        return np.asarray(self.metres.mean(axis=1))

    @property
    def most(self) -> Floats:
        """(F,) the largest distance of a joint, metres."""
        return np.asarray(self.metres.max(axis=1))

    def worst(self, frame: int | None = None) -> tuple[str, int, float]:
        """Joint, frame and metres of the largest distance: at a frame, or of all."""
        rows = self.metres if frame is None else self.metres[frame - self.first][None]
        row, column = np.unravel_index(int(np.argmax(rows)), rows.shape)
        return self.names[column], self.first + int(row) if frame is None else frame, float(rows[row, column])

    def covers(self, frame: int) -> bool:
        """Whether a frame of the first motion was compared."""
        return self.first <= frame < self.first + len(self.metres)

    def of(self, joint: int) -> Floats | None:
        """(F,) metres of a joint of the first skeleton; None if the second has none of that name."""
        found = np.flatnonzero(self.joints == joint)
        return self.metres[:, found[0]] if found.size else None


def shared_joints(one: Document, other: Document) -> tuple[str, ...]:
    """Names of the joints that both skeletons have, in the order of the first."""
    known = set(other.skeleton.names)
    return tuple([name for name in one.skeleton.names if name in known])


def compare(one: Document, other: Document, *, from_root: bool = False) -> Comparison:
    """Compare two motions, as played with their keys, at equal times since the starts of their ranges.

    Each is in its own coordinates, independent of where it stands among other figures. After the end of the second its
    last frame counts.

    Args:
        one: its frames count.
        other: the other one.
        from_root: measure both from their first roots, so that another path makes no difference.

    Raises:
        InputError: one of them has no motion, or they share no joint's name.
    """
    names = shared_joints(one, other)
    if not names:
        raise InputError("no joint has the same name in both figures")
    if not one.frames or not other.frames:
        raise InputError("only motions can be compared: one of the figures has no frames")
    mine = np.array([one.skeleton.index(name) for name in names])
    theirs = np.array([other.skeleton.index(name) for name in names])
    first, last = one.played
    seconds = np.arange(last - first + 1) * one.frame_time
    start, end = other.played
    frames = np.clip(start + np.floor(seconds / other.frame_time + 1e-6).astype(np.intp), start, end)
    parts = []
    for low in range(0, len(seconds), _BLOCK):
        high = min(low + _BLOCK, len(seconds))
        its = frames[low:high]
        here = _places(one, first + low, first + high - 1, from_root=from_root)
        there = _places(other, int(its[0]), int(its[-1]), from_root=from_root)[its - its[0]]
        parts.append(np.linalg.norm(here[:, mine] - there[:, theirs], axis=-1))
    metres = np.concatenate(parts)
    return Comparison(names, mine, first, metres)


def _places(document: Document, first: int, last: int, *, from_root: bool) -> Floats:
    """(F, J, 3) positions of the joints at frames, from the origin or from the first root."""
    shown = frames_shown(document, first, last)
    places = fk_arrays(document.skeleton.parents, shown.rotations, shown.translations).positions
    return places - places[:, :1] if from_root else places


def rounded_up(metres: float) -> float:
    """The top of an axis for distances up to ``metres``: 1, 2 or 5 times a power of ten."""
    if not metres > 0.0:
        return 0.01
    power = 10.0 ** math.floor(math.log10(metres))
    return next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= metres * (1.0 - 1e-9))


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
