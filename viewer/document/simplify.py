"""From recorded samples to keys: runs of samples, thinned within tolerances (Ramer, Douglas and Peucker)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Frames, Motion, layered, motion_of, shown_on_own_bones
from viewer.document.key_editing import Entry, chosen, differences, with_entries
from viewer.document.sampling import Samples, fade_frames, sampled
from viewer.document.take import CODES, Blend, Pin, Take, Track, sharing
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import angle_between, slerp

_TOGETHER = 512
"""Keys that are looked at together: every so many one stays, and memory is bounded."""
_STEP, _LINEAR = CODES[Blend.STEP], CODES[Blend.LINEAR]


def simplified(
    take: Take,
    radians: float,
    metres: float,
    frames: tuple[int, int] | None = None,
    joints: Collection[int] | None = None,
) -> Take:
    """The take without the keys that the others say as well; the very same one where all are needed.

    Joints that have keys at the same frames keep the same ones. Stretches that keys were taken from run at constant
    speed; no joint is then farther off at any frame than the tolerances say. Keys that begin a step all stay.

    Args:
        take: with any keys.
        radians: by which a joint may turn otherwise.
        metres: by which it may move otherwise.
        frames: first and last of those keys that may go; None: all.
        joints: whose keys may go; None: all joints'.
    """
    groups: dict[tuple[int, int], list[Track]] = {}
    for track in take.tracks:
        if joints is None or track.joint in joints:
            groups.setdefault((id(track.frames), id(track.blends)), []).append(track)
    kept: dict[int, Track] = {track.joint: track for track in take.tracks}
    for tracks in groups.values():
        for track in _thinned(take, tracks, (radians, metres), frames):
            kept[track.joint] = track
    after = tuple(kept[track.joint] for track in take.tracks)
    if all(one is other for one, other in zip(after, take.tracks, strict=True)):
        return take
    fewer = replace(take, tracks=after)
    left = set(fewer.frames)
    return replace(fewer, pins={frame: pins for frame, pins in take.pins.items() if frame in left})


def _thinned(
    take: Take, tracks: list[Track], tolerances: tuple[float, float], within: tuple[int, int] | None
) -> list[Track]:
    """The tracks of one group with fewer keys."""
    frames, blends = tracks[0].frames, tracks[0].blends
    needed = blends == _STEP
    needed[[0, -1]] = True
    if within is not None:
        needed |= (frames <= within[0]) | (frames >= within[1])
    needed[::_TOGETHER] = True
    fade = 0 if take.base is None else fade_frames(take.frame_time)
    keep = needed.copy()
    ends = np.flatnonzero(needed).tolist()
    for low, high in pairwise(ends):
        if high - low > 1:
            keep[low : high + 1] = _needed(tracks, low, high, tolerances, fade=fade)
    thinned = _with_keys(tracks, keep)
    while thinned is not tracks:
        far = _far_frames(tracks, thinned, tolerances, fade=fade)
        if not far.size:
            break
        # Smooth stretches beside those that were thinned lean on keys that are gone: these come back.
        near = np.searchsorted(frames, far, side="right")[:, None] + np.arange(-3, 3)
        again = keep.copy()
        again[np.clip(near, 0, len(frames) - 1)] = True
        if (again == keep).all():
            return tracks
        keep, thinned = again, _with_keys(tracks, again)
    return thinned


def _with_keys(tracks: list[Track], keep: Bools) -> list[Track]:
    if keep.all():
        return tracks
    places = np.flatnonzero(keep)
    # Where keys were taken out after one that stays, the way to the next is the straight one that was measured.
    thinned = np.diff(places, append=len(keep)) > 1
    blends = np.where(thinned, _LINEAR, tracks[0].blends[places])
    return list(sharing(tuple(replace(chosen(track, places), blends=blends) for track in tracks)))


def _needed(tracks: list[Track], low: int, high: int, tolerances: tuple[float, float], *, fade: int) -> Bools:
    """(high - low + 1,) which of these keys are needed, the first and the last among them."""
    keys = tracks[0].frames[low : high + 1]
    start = int(keys[0])
    dense = sampled(tracks, start, int(keys[-1]) - start + 1, fade=fade)
    keep = np.zeros(len(keys), np.bool_)
    keep[[0, -1]] = True
    waiting = [(0, len(keys) - 1)]
    while waiting:
        a, b = waiting.pop()
        if b - a < 2:
            continue
        errors = _straight_errors(dense, int(keys[a]) - start, int(keys[b]) - start, tolerances)
        worst = int(np.argmax(errors))
        if errors[worst] <= 1.0:
            continue
        middle = int(np.clip(np.searchsorted(keys, keys[a] + worst), a + 1, b - 1))
        keep[middle] = True
        waiting += [(a, middle), (middle, b)]
    return keep


def _straight_errors(dense: list[Samples], first: int, last: int, tolerances: tuple[float, float]) -> Floats:
    """(last - first + 1,) how far a straight way between two frames is off, in tolerances."""
    part = np.arange(last - first + 1) / (last - first)
    errors = np.zeros(len(part))
    for some in dense:
        turns = some.rotations[:, first : last + 1]
        straight = slerp(turns[:, :1], turns[:, -1:], part)
        errors = np.maximum(errors, angle_between(straight, turns).max(axis=0) / tolerances[0])
        if some.translations is not None:
            moved = some.translations[:, first : last + 1]
            line = moved[:, :1] + part[:, None] * (moved[:, -1:] - moved[:, :1])
            errors = np.maximum(errors, np.linalg.norm(line - moved, axis=-1).max(axis=0) / tolerances[1])
    return errors


def _far_frames(before: list[Track], after: list[Track], tolerances: tuple[float, float], *, fade: int) -> Ints:
    """Frames at which the thinned tracks are off by more than the tolerances."""
    frames = before[0].frames
    far = []
    for start in range(int(frames[0]), int(frames[-1]) + 1, _TOGETHER):
        count = min(_TOGETHER, int(frames[-1]) + 1 - start)
        pairs = [sampled(some, start, count, fade=fade) for some in (before, after)]
        errors = np.zeros(count)
        for one, other in zip(*pairs, strict=True):
            errors = np.maximum(errors, angle_between(one.rotations, other.rotations).max(axis=0) / tolerances[0])
            if one.translations is not None and other.translations is not None:
                apart = np.linalg.norm(one.translations - other.translations, axis=-1)
                errors = np.maximum(errors, apart.max(axis=0) / tolerances[1])
        far += (start + np.flatnonzero(errors > 1.0 + 1e-9)).tolist()
    return np.array(far, dtype=np.intp)


_MOVED = 1e-10
"""Of a quaternion's component, or metres: a joint that differs by more from what would have played was moved."""


@dataclass(slots=True)
class Run:
    """Samples of frames on end.

    Attributes:
        poses: by frame, on the bones of the file.
        pins: what was pinned, likewise.
    """

    poses: dict[int, Pose] = field(default_factory=dict)
    pins: dict[int, tuple[Pin, ...]] = field(default_factory=dict)

    def put(self, frame: int, pose: Pose, pins: tuple[Pin, ...]) -> None:
        """Take a sample."""
        last = next(reversed(self.pins.values()), ())
        self.poses[frame] = pose
        self.pins[frame] = last if pins == last else pins  # one tuple for all frames that are alike


@dataclass(frozen=True, slots=True)
class Recorded:
    """A take with a run in it.

    Attributes:
        take: with keys of the joints that were moved; the very same one where none was.
        joints: those.
        ends: the first and the last frame.
    """

    take: Take
    joints: tuple[int, ...]
    ends: tuple[int, int]


def recorded(document: Document, take: Take, rest: Pose | None, run: Run) -> Recorded:
    """A take with the samples of a run as keys, at each frame, of the joints that were moved otherwise than it has it.

    Args:
        document: on whose clip and bones the take is.
        take: without the run.
        rest: the take's rest pose where it is on no clip.
        run: one sample or more.
    """
    frames = np.array(sorted(run.poses), dtype=np.intp)
    ends = int(frames[0]), int(frames[-1])
    poses = [run.poses[frame] for frame in frames.tolist()]
    samples = Frames(np.stack([p.rotations for p in poses]), np.stack([p.translations for p in poses]))
    motion = motion_of(document)
    base = _base(motion, take, rest, ends)
    played = base if take.is_empty else shown_on_own_bones(motion._replace(take=take), *ends)
    turned, moved = _differ(samples.rotations, played.rotations), _differ(samples.translations, played.translations)
    joints = tuple(np.flatnonzero(turned | moved).tolist())
    if not joints:
        return Recorded(take, (), ends)
    after = with_entries(take, _entries(take, base, samples, joints, frames), rest or poses[0])
    kept = {frame: held for frame, held in take.pins.items() if not ends[0] <= frame <= ends[1]}
    pins = kept | {frame: held for frame, held in run.pins.items() if held}
    # What was solved between the keys that were there says nothing of frames that have keys of their own now.
    solved = tuple(s for s in take.solved if s.first + len(s) <= ends[0] or s.first > ends[1])
    return Recorded(replace(after, pins=pins, solved=solved), joints, ends)


def _base(motion: Motion, take: Take, rest: Pose | None, ends: tuple[int, int]) -> Frames:
    """What keys are added to, on the bones of the file."""
    bare = replace(take, tracks=(), rest=rest, solved=())
    return layered(motion._replace(take=bare, edited=motion.own), ends[0], ends[1] - ends[0] + 1)


def _differ(one: np.ndarray, other: np.ndarray) -> Bools:
    return np.asarray((np.abs(one - other).max(axis=-1) > _MOVED).any(axis=0))


def _entries(take: Take, base: Frames, samples: Frames, joints: tuple[int, ...], frames: Ints) -> list[Entry]:
    turns, ways = differences(base, samples)
    away = (ways != 0.0).any(axis=(0, 2))
    if take.base is None:
        turns, ways = samples
    blends = np.full(len(frames), CODES[Blend.LINEAR])
    entries = []
    for joint in joints:
        track = take.track(joint)
        wanted = away[joint] or (track is not None and track.translations is not None)
        entries.append(Entry(joint, frames, turns[:, joint], ways[:, joint] if wanted else None, blends))
    return entries
