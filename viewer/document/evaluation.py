"""The frames of a document: its clip with the keys on it, or the keys alone; and how two motions differ.

Frames are computed in blocks of fixed size and cached briefly: playing and scrubbing stay cheap, memory does not
grow with the clip, and a single frame has the same bits as in an export of all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.document.document import Document
from viewer.document.edit_skeleton import relengthened
from viewer.document.sampling import fade_frames, sampled, sampled_at
from viewer.document.take import Stretch, Take, Track, check_frame
from viewer.errors import InputError
from viewer.skeleton import Clip, Pose, Skeleton, World, fk_arrays
from viewer.skeleton.coordinates import following_frames
from viewer.spatial.checks import Bools, Floats, Ints, handed_over
from viewer.spatial.quaternion import IDENTITY, multiply, normalized, slerp

BLOCK = 32
"""Frames per block."""

_BLOCK = 256
"""Frames whose poses are held at once."""

Span: TypeAlias = tuple[int, int]
"""The first frame and the one after the last."""


class Frames(NamedTuple):
    """Local poses of F frames. Rotations (F, J, 4), translations (F, J, 3) metres."""

    rotations: Floats
    translations: Floats


class Motion(NamedTuple):
    """Everything that the frames of a document depend on.

    The keys and the clip below them, if there are any; the file's ``own`` skeleton, to which the translations of clip
    and keys refer; and the document's, ``edited``, whose bones may have other lengths.
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


def still(pose: Pose, count: int) -> Frames:
    """A pose in each of ``count`` frames."""
    return Frames(*(np.repeat(one, count, axis=0) for one in one_frame(pose)))


def motion_of(document: Document) -> Motion:
    """The document's take, clip and skeletons."""
    return Motion(document.take, document.clip_data, document.character.skeleton, document.skeleton)


def frame_pose(document: Document, frame: int) -> Pose:
    """The pose of a frame, as played and exported.

    With a clip: the clip plus the keys on it, on bones as edited. Without: the keys, the take's rest pose for joints
    without keys, and the document's own pose if there are no keys at all.
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
    """Poses of consecutive frames, both ends included, each bit for bit as `frame_pose` has it, but cheaper."""
    check_played_frame(document, first)
    check_played_frame(document, last)
    motion, count = motion_of(document), last - first + 1
    if motion.take is None or motion.take.is_plain:
        if motion.clip is not None:
            return layered(motion._replace(take=None), first, count)
        return still(document.pose, count)
    blocks = [_block(motion, number) for number in range(first // BLOCK, last // BLOCK + 1)]
    some = slice(first % BLOCK, first % BLOCK + count)
    return Frames(*(np.concatenate([getattr(block, name) for block in blocks])[some] for name in Frames._fields))


def base_frame(document: Document, frame: int) -> Pose:
    """A frame of the clip alone, on bones as edited."""
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
        rotations, translations = still(motion.rest, count)
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
    """The pose that keys at a frame refer to, on the file's bones: the clip's frame, else the take's rest pose."""
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

    Local, (N, 4) and (N, 3), at frames (N,), ascending.
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


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Distances between joints of one name in two motions.

    ``names`` and ``joints`` (N,), indices in the first, are those that both have; ``metres`` (F, N) are at the frames
    that are played of the first motion, from ``first`` on.
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

    ``from_root``: both are measured from their first roots, so that another path makes no difference.

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
    places = worlds_shown(document, first, last).positions
    return places - places[:, :1] if from_root else places


def worlds_shown(document: Document, first: int, last: int) -> World:
    """Forward kinematics of frames as they are shown."""
    shown = frames_shown(document, first, last)
    return fk_arrays(document.skeleton.parents, shown.rotations, shown.translations)


def rounded_up(metres: float) -> float:
    """The top of an axis for distances up to ``metres``: 1, 2 or 5 times a power of ten."""
    if not metres > 0.0:
        return 0.01
    power = 10.0 ** math.floor(math.log10(metres))
    return next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= metres * (1.0 - 1e-9))


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

    ``fade`` are the frames in which keys on a clip fade out beyond the outermost ones; 0: without a clip.
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
