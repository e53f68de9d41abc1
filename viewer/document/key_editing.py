"""Keys: made from poses, inserted, removed, moved, copied and simplified; and the document with changed keys.

Recorded samples become keys, which are simplified within tolerances (Ramer, Douglas and Peucker).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from viewer.document.document import Document, shares
from viewer.document.edit_skeleton import bone_vectors
from viewer.document.evaluation import (
    Frames,
    Motion,
    base_pose,
    frame_pose,
    layered,
    motion_of,
    on_own_bones,
    one_frame,
    shown_on_own_bones,
)
from viewer.document.posed_goals import carried
from viewer.document.sampling import Samples, fade_frames, sampled
from viewer.document.solved_frames import resolved
from viewer.document.take import CODES, FRAMES, MOST_FRAMES, Blend, Key, Pin, Take, Track, grouped, sharing
from viewer.errors import InputError, quote
from viewer.skeleton import Pose
from viewer.spatial.checks import Bools, Floats, Ints, frozen, whole
from viewer.spatial.quaternion import IDENTITY, angle_between, conjugate, multiply, normalized, slerp

Keys = tuple[Key, ...]

_SAME_PLACE = 1e-12
"""Metres by which scaling bones and scaling them back may differ."""

_TOGETHER = 512
"""Keys per block of the simplification: the first of each block stays, so that memory is bounded."""
_STEP, _LINEAR = CODES[Blend.STEP], CODES[Blend.LINEAR]

_APART = 1e-12
"""A joint counts as changed if a quaternion component, or metres, differ by more."""
_MOVED = 1e-10
"""A joint counts as moved if a quaternion component, or metres, differ by more from the motion below."""


def differences(base: Pose | Frames, pose: Pose | Frames) -> Frames:
    """The difference of a pose from a base: rotations (..., J, 4) d with pose = base * d, translations (..., J, 3).

    Joints equal to the base, to the bit, have a difference of exactly zero.
    """
    turned = normalized(multiply(conjugate(base.rotations), pose.rotations))
    same = (base.rotations == pose.rotations).all(axis=-1, keepdims=True)
    moved = pose.translations - base.translations
    return Frames(np.where(same, IDENTITY, turned), np.where(np.abs(moved) <= _SAME_PLACE, 0.0, moved))


def entries_of(
    take: Take,
    base: Frames,
    shown: Frames,
    joints: Iterable[int],
    frames: Ints,
    blend: Blend,
    *,
    kept: bool = False,
    near: float = _SAME_PLACE,
) -> list[Track]:
    """Keys of joints from their poses at some frames, to be inserted into the joints' tracks.

    ``base`` are the clip's frames, or the take's rest pose for each frame; ``shown`` the poses, on the same bones.
    ``kept``: keys that are replaced keep their blends and tangents. Translations within ``near`` metres of the base at
    all frames get no keys of their own.
    """
    turned, moved = differences(base, shown)
    away = np.any(np.abs(moved) > near, axis=(0, 2))
    if take.base is None:
        turned, moved = shown
    entries, frames = [], frozen(frames, np.intp)
    for joint in sorted(set(joints)):
        track = take.track(joint)
        places = moved[:, joint] if away[joint] or (track is not None and track.translations is not None) else None
        blends, tangents = np.full(len(frames), CODES[blend]), None
        if kept and track is not None:
            there = np.isin(frames, track.frames)
            at = np.searchsorted(track.frames, frames[there])
            blends[there] = track.blends[at]
            if track.tangents is not None:
                tangents = np.full((len(frames), 6), np.nan)
                tangents[there] = track.tangents[at]
        entries.append(Track(joint, frames, turned[:, joint], places, blends, tangents))
    return entries


def with_entries(take: Take, entries: Sequence[Track], rest: Pose) -> Take:
    """The take with keys inserted; existing keys at their frames are replaced.

    Entries are of different joints. ``rest`` is the rest pose of a take without a clip: it has the translations of
    joints whose keys have none.
    """
    tracks = {track.joint: track for track in take.tracks}
    shared = _Insertion()
    for entry in entries:
        track = tracks.get(entry.joint)
        tracks[entry.joint] = entry if track is None else _merged(take, track, entry, rest, shared)
    ordered = tuple(tracks[joint] for joint in sorted(tracks))
    grows = take.base is None and not take.is_trimmed
    last = max((int(entry.frames[-1]) for entry in entries if grows), default=0)
    return replace(take, tracks=ordered, last=max(take.last, last), rest=rest if take.base is None else None)


class _Insertion:
    """Positions of new keys among old ones, computed once for all joints with keys at the same frames."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], tuple[Ints, Ints]] = {}
        self._keep: list[Ints] = []

    def order(self, old: Ints, new: Ints) -> tuple[Ints, Ints]:
        """Indices into the old keys followed by the new ones by frame, new ones replacing old; and the frames."""
        if (id(old), id(new)) not in self._known:
            self._keep += [old, new]  # the id of a freed array may be used again
            kept = np.flatnonzero(~np.isin(old, new))
            every = np.concatenate([kept, len(old) + np.arange(len(new))])
            frames = np.concatenate([old, new])[every]
            ascending = np.argsort(frames, kind="stable")
            self._known[id(old), id(new)] = every[ascending], frames[ascending]
        return self._known[id(old), id(new)]


def _merged(take: Take, track: Track, entry: Track, rest: Pose, shared: _Insertion) -> Track:
    order, frames = shared.order(track.frames, entry.frames)
    rotations = np.concatenate([track.rotations, entry.rotations])[order]
    blends = np.concatenate([track.blends, entry.blends])[order]
    tangents = None
    if track.tangents is not None or entry.tangents is not None:
        tangents = np.concatenate([track.all_tangents, entry.all_tangents])[order]
    if track.translations is None and entry.translations is None:
        return Track(track.joint, frames, rotations, None, blends, tangents)
    still = rest.translations[track.joint] if take.base is None else np.zeros(3)
    moved = [
        np.broadcast_to(still, (len(some.frames), 3)) if some.translations is None else some.translations
        for some in (track, entry)
    ]
    return Track(track.joint, frames, rotations, np.concatenate(moved)[order], blends, tangents)


def taken_out(take: Take, keys: Iterable[Key]) -> list[Track]:
    """Existing keys, by joint."""
    wanted, found = grouped((int(joint), int(frame)) for joint, frame in keys), []
    for joint, frames in sorted(wanted.items()):
        track = take.track(joint)
        missing = next((frame for frame in sorted(frames) if track is None or track.index(frame) is None), None)
        if track is None or missing is not None:
            raise InputError(f"no key of joint {joint} at frame {missing}")
        found.append(track.some(np.searchsorted(track.frames, np.unique(frames))))
    return found


def without(take: Take, keys: Iterable[Key]) -> Take:
    """The take without some keys; pins of frames that lose their last key are dropped."""
    gone = {entry.joint: entry.frames for entry in taken_out(take, keys)}
    left = []
    for track in take.tracks:
        keep = ~np.isin(track.frames, gone[track.joint]) if track.joint in gone else None
        if keep is None:
            left.append(track)
        elif keep.any():
            left.append(track.some(keep))
    return _with_fewer(take, tuple(left))


def _with_fewer(take: Take, tracks: tuple[Track, ...]) -> Take:
    """The take with fewer keys, without the pins of frames that have none left."""
    fewer = replace(take, tracks=tracks, rest=take.rest if tracks else None)
    left = set(fewer.frames)
    return replace(fewer, pins={frame: pins for frame, pins in take.pins.items() if frame in left})


def shifted(entries: Iterable[Track], by_frames: int, most: int | None) -> list[Track]:
    """Keys moved to other frames. ``most`` is the last frame allowed; None: the limit of takes."""
    by_frames = whole(by_frames, "frames to move by", least=-math.inf)
    last, moved = MOST_FRAMES - 1 if most is None else most, []
    for entry in entries:
        frames = [frame + by_frames for frame in entry.frames.tolist()]
        outside = next((frame for frame in frames if not 0 <= frame <= last), None)
        if outside is not None:
            raise InputError(f"a key would be at frame {outside}: expected 0 to {last}")
        moved.append(replace(entry, frames=np.array(frames, dtype=np.intp)))
    return moved


def pins_along(take: Take, before: Take, keys: Iterable[Key], by_frames: int) -> Mapping[int, tuple[Pin, ...]]:
    """The pins of a take after keys were moved from, or copied out of, another: they move along."""
    pins = dict(take.pins)
    for frame in {key[1] for key in keys}:
        if frame in before.pins:
            pins[frame + by_frames] = before.pins[frame]
        else:
            pins.pop(frame + by_frames, None)
    return pins


def present_take(document: Document) -> Take:
    """The document's take."""
    if document.take is None or document.take.is_empty:
        raise InputError("there are no keys")
    return document.take


def checked_keys(document: Document, keys: Sequence[tuple[int, int]]) -> Keys:
    """Existing keys, each once."""
    take, found = present_take(document), []
    for entry in keys:
        try:
            joint, frame = (int(number) for number in entry)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"key: expected a joint's index and a frame, found {quote(entry)}") from None
        key = Key(joint, frame)
        if not take.has(key):
            known = 0 <= joint < len(document.skeleton)
            name = quote(document.skeleton.names[joint]) if known else f"number {joint}"
            raise InputError(f"no key of joint {name} at frame {frame}")
        found.append(key)
    return tuple(dict.fromkeys(found))


def counted(keys: Sequence[object], verb: str) -> str:
    """``Move key``, ``Move 3 keys``."""
    return f"{verb} key" if len(keys) == 1 else f"{verb} {len(keys)} keys"


def last_frame(document: Document) -> int | None:
    """The last frame that can have a key; None: a take without a clip can grow."""
    return None if document.clip_data is None else len(document.clip_data) - 1


def carried_pose(pose: Pose, before: Pose, after: Pose) -> Pose:
    """Transfer an edit from one frame to another: after * (before^-1 * pose).

    Joints equal to ``before``, to the bit, become equal to ``after``, to the bit.
    """
    if before is after:
        return pose
    turned, moved = differences(before, pose)
    nothing = (turned[..., :3] == 0.0).all(axis=-1, keepdims=True)
    rotations = np.where(nothing, after.rotations, normalized(multiply(after.rotations, turned)))
    return Pose(rotations, after.translations + moved)


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

    Keys of ``joints``, None: all, between two ``frames``, None: all, may be removed.
    """
    some = [track for track in take.tracks if joints is None or track.joint in joints]
    groups = grouped(((id(track.frames), id(track.blends)), track) for track in some)
    kept: dict[int, Track] = {track.joint: track for track in take.tracks}
    for tracks in groups.values():
        for track in _thinned(take, tracks, (radians, metres), frames):
            kept[track.joint] = track
    after = tuple(kept[track.joint] for track in take.tracks)
    if all(one is other for one, other in zip(after, take.tracks, strict=True)):
        return take
    return _with_fewer(take, after)


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
    return list(sharing(tuple(replace(track.some(places), blends=blends) for track in tracks)))


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


@dataclass(slots=True)
class Run:
    """Samples of consecutive frames. ``poses`` and ``pins`` by frame; poses are on the file's bones."""

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

    ``take`` has keys of the moved joints; it is the same object if none moved. ``ends`` are the first and last frame.
    """

    take: Take
    joints: tuple[int, ...]
    ends: tuple[int, int]


def recorded(document: Document, take: Take, rest: Pose | None, run: Run) -> Recorded:
    """A take with the samples of a run as keys of the moved joints, one at each frame.

    ``rest`` is the take's rest pose if there is no clip.
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


# --- documents with changed keys


def current_pins(document: Document) -> tuple[Pin, ...]:
    """The pins of the document's goals."""
    found = []
    for goal in document.goals:
        if goal.pinned:
            position = goal.position if goal.has_position and goal.pin_position else None
            rotation = goal.rotation if goal.has_rotation and goal.pin_rotation else None
            found.append(
                Pin(goal.effector, position, rotation, goal.offset, "" if goal.id == goal.effector else goal.id)
            )
    return tuple(found)


def take_of(document: Document) -> Take:
    """The document's take, or a new one without keys."""
    if document.take is not None:
        return document.take
    clip = document.clip_data
    last = FRAMES - 1 if clip is None else max(len(clip) - 1, 0)
    return Take(base=document.clip, frame_time=document.frame_time, last=max(last, document.frame))


def shows_take(document: Document) -> bool:
    """Whether the pose shown is the frame's pose, not an edited one without keys."""
    if not document.has_motion:
        return False
    return 0 <= document.frame < document.frames and document.pose.same_as(frame_pose(document, document.frame))


def with_take(document: Document, take: Take) -> Document:
    """The document with another take, frames between keys solved where needed, in the pose of its frame.

    A joint that was edited stays as it is shown unless a key of the take holds that.
    """
    return with_resolved(document, resolved(document, take))


def with_feet_of(document: Document, other: Document) -> Take | None:
    """A document's take with the planted feet of another one of the same clip, planted again where its keys differ."""
    if other.take is None:
        return document.take
    own = tuple(one for one in take_of(document).solved if not one.planted)
    made = tuple(one for one in other.take.solved if one.planted)
    take = replace(take_of(document), feet=other.take.feet, solved=(*own, *made))
    return resolved(document, take)


def with_resolved(document: Document, solved: Take) -> Document:
    """The document with a take whose frames between keys are solved already; see `with_take`."""
    changed = replace(document, take=solved)
    if document.clip_data is None and document.frame > solved.end:
        changed = replace(changed, frame=solved.end)
    if not changed.has_motion or not changed.frame < changed.frames:
        return changed
    off = _off_motion(document)
    if off.any():
        # Keys hold a pose as it was before feet were planted and layers solved.
        below = layered(motion_of(changed), changed.frame, 1)
        off &= document.pose.differs(Pose(below.rotations[0], below.translations[0]), _APART)
    return changed if off.any() else _in_motion(changed)


def _in_motion(document: Document) -> Document:
    """The document in the pose of its frame; its goals move along unless that is a matter of rounding."""
    pose = frame_pose(document, document.frame)
    return replace(document, pose=pose) if pose.is_near(document.pose) else carried(document, pose, pins=False)


def _off_motion(document: Document) -> Bools:
    """(J,) the joints that are not as in the frame's motion; all of a document without any."""
    if not document.has_motion or not document.frame < document.frames:
        return np.ones(len(document.skeleton), np.bool_)
    return document.pose.differs(frame_pose(document, document.frame), _APART)


def _pinned(pin: Pin) -> tuple[object, ...]:
    """What a pin pins, wherever it is: the pins of a clip move along with the pose."""
    return pin.goal or pin.effector, pin.offset, pin.position is None, pin.rotation is None


def keyed(document: Document, frame: int, joints: Iterable[int], blend: Blend | None = None) -> Document:
    """The document with keys set from its pose; keys from which that pose comes already stay as they are.

    Without a ``blend`` they have that of the keys replaced, or the default. The document is itself if these keys exist.
    """
    take = take_of(document)
    base, pose = base_pose(document, take, frame), on_own_bones(document, document.pose)
    held = current_pins(document)
    if blend is None and frame == document.frame:
        there, off = {key.joint for key in take.keys_at(frame)}, _off_motion(document)
        joints = [joint for joint in joints if off[joint] or joint not in there]
        if not joints and [*map(_pinned, held)] == [*map(_pinned, take.pins.get(frame, ()))]:
            return document
    usual = blend or (Blend.SMOOTH if document.clip is None else Blend.LINEAR)
    frames, kept = np.array([frame]), blend is None
    entries = entries_of(take, one_frame(base), one_frame(pose), joints, frames, usual, kept=kept)
    after = with_entries(take, entries, base)
    pins = dict(after.pins)
    if held:
        pins[frame] = held
    else:
        pins.pop(frame, None)
    after = replace(after, pins=pins)
    if document.take is not None and after.same_as(document.take):
        return document
    return with_take(document, after)


def only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame, figure and plane are unchanged."""
    return shares(before, after, ("clip", "take", "frame", "character", "skeleton", "auto_key", "planar"))


def with_edits_keyed(before: Document, after: Document) -> Document:
    """The document after a step: edits keyed if auto-key is on; pins, feet and layers solved again on edited bones."""
    take = after.take
    if before is after or take is not before.take or (before.clip, before.frame) != (after.clip, after.frame):
        return after
    one, other = before.skeleton, after.skeleton
    if one is not other and not np.array_equal(bone_vectors(one), bone_vectors(other)):
        if take is None or not (take.pins or take.layers or take.feet):
            return after
        solved = resolved(after, take)
        return after if solved is take else replace(after, take=solved)
    if not after.auto_key or before.character is not after.character:
        return after
    plays = after.has_motion and after.frame < after.frames
    joints = np.flatnonzero(_off_motion(after) if plays else after.pose.differs(before.pose, _APART))
    return keyed(after, after.frame, joints.tolist()) if joints.size else after
