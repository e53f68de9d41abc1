"""From recorded samples to keys, and the simplification of keys within tolerances (Ramer, Douglas and Peucker)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Frames, Motion, layered, motion_of, shown_on_own_bones
from viewer.document.key_editing import chosen, entries_of, with_entries
from viewer.document.sampling import Samples, fade_frames, sampled
from viewer.document.take import CODES, Blend, Pin, Take, Track, sharing
from viewer.skeleton import Pose
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import angle_between, slerp

_TOGETHER = 512
"""Keys per block of the simplification: the first of each block stays, so that memory is bounded."""
_STEP, _LINEAR = CODES[Blend.STEP], CODES[Blend.LINEAR]


def simplified(
    take: Take,
    radians: float,
    metres: float,
    frames: tuple[int, int] | None = None,
    joints: Collection[int] | None = None,
) -> Take:
    """The take without keys that interpolation of the others reproduces; the same object if all are needed.

    Joints with keys at the same frames keep the same ones. Spans that lost keys become linear; no joint is then farther
    off at any frame than the tolerances. Keys that begin a step all stay.

    Args:
        take: to be simplified.
        radians: tolerance of rotations.
        metres: tolerance of translations.
        frames: keys between these two may be removed; None: all.
        joints: whose keys may be removed; None: of all.
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
    for track in tracks:
        if track.tangents is not None:  # set by hand
            needed |= np.isfinite(track.tangents).any(axis=-1)
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
        # Smooth spans next to the simplified ones depend on removed keys: restore these.
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
    # A span that lost keys becomes the straight line that was measured.
    thinned = np.diff(places, append=len(keep)) > 1
    blends = np.where(thinned, _LINEAR, tracks[0].blends[places])
    return list(sharing(tuple(replace(chosen(track, places), blends=blends) for track in tracks)))


def _needed(tracks: list[Track], low: int, high: int, tolerances: tuple[float, float], *, fade: int) -> Bools:
    """(high - low + 1,) mask of the needed keys, with the first and the last."""
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
    """(last - first + 1,) error of a straight line between two frames, in units of the tolerances."""
    part = np.arange(last - first + 1) / (last - first)
    errors = np.zeros(len(part))
    for some in dense:
        rotations = some.rotations[:, first : last + 1]
        straight = slerp(rotations[:, :1], rotations[:, -1:], part)
        errors = np.maximum(errors, angle_between(straight, rotations).max(axis=0) / tolerances[0])
        if some.translations is not None:
            moved = some.translations[:, first : last + 1]
            line = moved[:, :1] + part[:, None] * (moved[:, -1:] - moved[:, :1])
            errors = np.maximum(errors, np.linalg.norm(line - moved, axis=-1).max(axis=0) / tolerances[1])
    return errors


def _far_frames(before: list[Track], after: list[Track], tolerances: tuple[float, float], *, fade: int) -> Ints:
    """Frames at which the simplified tracks differ by more than the tolerances."""
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
"""A joint counts as moved if a quaternion component, or metres, differ by more from the motion below."""


@dataclass(slots=True)
class Run:
    """Samples of consecutive frames.

    Attributes:
        poses: by frame, on the file's bones.
        pins: by frame.
    """

    poses: dict[int, Pose] = field(default_factory=dict)
    pins: dict[int, tuple[Pin, ...]] = field(default_factory=dict)

    def put(self, frame: int, pose: Pose, pins: tuple[Pin, ...]) -> None:
        """Add a sample."""
        last = next(reversed(self.pins.values()), ())
        self.poses[frame] = pose
        self.pins[frame] = last if pins == last else pins  # frames with equal pins share one tuple


@dataclass(frozen=True, slots=True)
class Recorded:
    """A take after a run was recorded into it.

    Attributes:
        take: with keys of the moved joints; the same object if none moved.
        joints: the moved joints.
        ends: first and last frame.
    """

    take: Take
    joints: tuple[int, ...]
    ends: tuple[int, int]


def recorded(document: Document, take: Take, rest: Pose | None, run: Run) -> Recorded:
    """A take with the samples of a run as keys of the moved joints, one at each frame.

    Args:
        document: has the clip and bones of the take.
        take: without the run.
        rest: the take's rest pose if there is no clip.
        run: one sample or more.
    """
    frames = np.array(sorted(run.poses), dtype=np.intp)
    ends = int(frames[0]), int(frames[-1])
    poses = [run.poses[frame] for frame in frames.tolist()]
    samples = Frames(np.stack([p.rotations for p in poses]), np.stack([p.translations for p in poses]))
    motion = motion_of(document)
    base = _base(motion, take, rest, ends)
    played = base if take.is_plain else shown_on_own_bones(motion._replace(take=take), *ends)
    turned, moved = _differ(samples.rotations, played.rotations), _differ(samples.translations, played.translations)
    joints = tuple(np.flatnonzero(turned | moved).tolist())
    if not joints:
        return Recorded(take, (), ends)
    after = with_entries(take, entries_of(take, base, samples, joints, frames, Blend.LINEAR), rest or poses[0])
    kept = {frame: held for frame, held in take.pins.items() if not ends[0] <= frame <= ends[1]}
    pins = kept | {frame: held for frame, held in run.pins.items() if held}
    # Frames solved between replaced keys are out of date.
    solved = tuple(s for s in take.solved if s.planted or s.first + len(s) <= ends[0] or s.first > ends[1])
    return Recorded(replace(after, pins=pins, solved=solved), joints, ends)


def _base(motion: Motion, take: Take, rest: Pose | None, ends: tuple[int, int]) -> Frames:
    """The frames that keys refer to, on the file's bones."""
    bare = replace(take, tracks=(), rest=rest, solved=())
    return layered(motion._replace(take=bare, edited=motion.own), ends[0], ends[1] - ends[0] + 1)


def _differ(one: np.ndarray, other: np.ndarray) -> Bools:
    return np.asarray((np.abs(one - other).max(axis=-1) > _MOVED).any(axis=0))
