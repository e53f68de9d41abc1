"""Pure functions that set, remove, move, copy and transfer keys; nothing is solved here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Frames
from viewer.document.take import CODES, MOST_FRAMES, Blend, Key, Pin, Take, Track
from viewer.errors import InputError, quote
from viewer.skeleton import Pose
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, normalized

Keys = tuple[Key, ...]

_SAME_PLACE = 1e-12
"""Metres by which scaling bones and scaling them back may differ."""


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """Keys of one joint, to be inserted into its track.

    Attributes:
        joint: its index.
        frames: (k,) ascending.
        rotations: (k, 4).
        translations: (k, 3); None: as without keys.
        blends: (k,) codes.
        tangents: (k, 6) as those of a `Track`; None: they follow from the neighbours.
    """

    joint: int
    frames: Ints
    rotations: Floats
    translations: Floats | None
    blends: Ints
    tangents: Floats | None = None


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
) -> list[Entry]:
    """Keys of joints from their poses at some frames.

    Args:
        take: that the keys will belong to.
        base: the clip's frames, or the take's rest pose for each frame.
        shown: the poses, on the same bones.
        joints: indices.
        frames: (k,) ascending.
        blend: of the keys.
        kept: whether keys that are replaced keep their blends and tangents.
        near: metres; translations this near to the base at all frames get no keys of their own.
    """
    turned, moved = differences(base, shown)
    away = np.any(np.abs(moved) > near, axis=(0, 2))
    if take.base is None:
        turned, moved = shown
    entries = []
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
        entries.append(Entry(joint, frames, turned[:, joint], places, blends, tangents))
    return entries


def with_entries(take: Take, entries: Sequence[Entry], rest: Pose) -> Take:
    """The take with keys inserted; existing keys at their frames are replaced.

    Args:
        take: without them.
        entries: of different joints.
        rest: (of a take without a clip) the take's rest pose, which has the translations of joints whose keys have
            none.
    """
    tracks = {track.joint: track for track in take.tracks}
    shared = _Insertion()
    for entry in entries:
        track = tracks.get(entry.joint)
        tracks[entry.joint] = _fresh(entry) if track is None else _merged(take, track, entry, rest, shared)
    ordered = tuple(tracks[joint] for joint in sorted(tracks))
    grows = take.base is None and not take.is_trimmed
    last = max((int(entry.frames[-1]) for entry in entries if grows), default=0)
    return replace(take, tracks=ordered, last=max(take.last, last), rest=rest if take.base is None else None)


def _fresh(entry: Entry) -> Track:
    return Track(entry.joint, entry.frames, entry.rotations, entry.translations, entry.blends, entry.tangents)


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


def _merged(take: Take, track: Track, entry: Entry, rest: Pose, shared: _Insertion) -> Track:
    order, frames = shared.order(track.frames, entry.frames)
    rotations = np.concatenate([track.rotations, entry.rotations])[order]
    blends = np.concatenate([track.blends, entry.blends])[order]
    tangents = None
    if track.tangents is not None or entry.tangents is not None:
        tangents = np.concatenate([_tangents(track), _tangents(entry)])[order]
    if track.translations is None and entry.translations is None:
        return Track(track.joint, frames, rotations, None, blends, tangents)
    still = rest.translations[track.joint] if take.base is None else np.zeros(3)
    moved = [
        np.broadcast_to(still, (len(some.frames), 3)) if some.translations is None else some.translations
        for some in (track, entry)
    ]
    return Track(track.joint, frames, rotations, np.concatenate(moved)[order], blends, tangents)


def _tangents(some: Track | Entry) -> Floats:
    return np.full((len(some.frames), 6), np.nan) if some.tangents is None else some.tangents


def taken_out(take: Take, keys: Iterable[Key]) -> list[Entry]:
    """Existing keys as entries, by joint.

    Raises:
        InputError: no such key.
    """
    wanted: dict[int, list[int]] = {}
    for joint, frame in keys:
        wanted.setdefault(int(joint), []).append(int(frame))
    found = []
    for joint, frames in sorted(wanted.items()):
        track = take.track(joint)
        missing = next((frame for frame in sorted(frames) if track is None or track.index(frame) is None), None)
        if track is None or missing is not None:
            raise InputError(f"no key of joint {joint} at frame {missing}")
        places = np.searchsorted(track.frames, np.unique(frames))
        found.append(entry_of(track, places))
    return found


def entry_of(track: Track, keep: Ints | np.ndarray | slice) -> Entry:
    """Some of a track's keys, by mask, ascending indices or slice."""
    some = chosen(track, keep)
    return Entry(track.joint, some.frames, some.rotations, some.translations, some.blends, some.tangents)


def without(take: Take, keys: Iterable[Key]) -> Take:
    """The take without some keys; pins of frames that lose their last key are dropped.

    Raises:
        InputError: no such key.
    """
    gone = {entry.joint: entry.frames for entry in taken_out(take, keys)}
    left = []
    for track in take.tracks:
        keep = ~np.isin(track.frames, gone[track.joint]) if track.joint in gone else None
        if keep is None:
            left.append(track)
        elif keep.any():
            left.append(chosen(track, keep))
    fewer = replace(take, tracks=tuple(left), rest=take.rest if left else None)
    frames = set(fewer.frames)
    return replace(fewer, pins={frame: pins for frame, pins in take.pins.items() if frame in frames})


def chosen(track: Track, keep: Ints | np.ndarray | slice) -> Track:
    """Some of a track's keys, by mask, ascending indices or slice."""
    moved = None if track.translations is None else track.translations[keep]
    tangents = None if track.tangents is None else track.tangents[keep]
    return Track(track.joint, track.frames[keep], track.rotations[keep], moved, track.blends[keep], tangents)


def shifted(entries: Iterable[Entry], by_frames: int, most: int | None) -> list[Entry]:
    """Keys moved to other frames.

    Args:
        entries: the keys.
        by_frames: frames to move by; below 0: earlier.
        most: the last frame allowed; None: the limit of takes.

    Raises:
        InputError: a key would be before frame 0 or after the last.
    """
    if isinstance(by_frames, bool) or not isinstance(by_frames, (int, np.integer)):
        raise InputError(f"frames to move by: expected an integer, found {quote(by_frames)}")
    last, moved = MOST_FRAMES - 1 if most is None else most, []
    for entry in entries:
        frames = [int(frame) + int(by_frames) for frame in entry.frames.tolist()]
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
    """The document's take.

    Raises:
        InputError: there are no keys.
    """
    if document.take is None or document.take.is_empty:
        raise InputError("there are no keys")
    return document.take


def checked_keys(document: Document, keys: Sequence[tuple[int, int]]) -> Keys:
    """Existing keys, each once.

    Raises:
        InputError: an invalid or missing key.
    """
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

    Args:
        pose: of the same skeleton as the frames.
        before: the frame that was edited.
        after: the frame that it is transferred to.
    """
    if before is after:
        return pose
    turned, moved = differences(before, pose)
    nothing = (turned[..., :3] == 0.0).all(axis=-1, keepdims=True)
    rotations = np.where(nothing, after.rotations, normalized(multiply(after.rotations, turned)))
    return Pose(rotations, after.translations + moved)


def with_joints(pose: Pose, other: Pose, chosen: Bools) -> Pose:
    """The pose with the joints of a mask (J,) as in another pose."""
    some = chosen[:, None]
    rotations = np.where(some, other.rotations, pose.rotations)
    return Pose(rotations, np.where(some, other.translations, pose.translations))


def different(one: Pose, other: Pose) -> Bools:
    """(J,) mask of joints that differ, to the bit."""
    turned = (one.rotations != other.rotations).any(axis=-1)
    return np.asarray(turned | (one.translations != other.translations).any(axis=-1))
