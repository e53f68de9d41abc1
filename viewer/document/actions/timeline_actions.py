"""Actions on motion: the clip and frame shown, keys and the curves through them, markers, a take's range and rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from viewer.document import key_editing
from viewer.document.actions.pose_actions import fitting, indices
from viewer.document.document import Action, Document, Item, Marker, marker_at
from viewer.document.evaluation import base_pose, frame_pose
from viewer.document.key_editing import (
    checked_keys,
    counted,
    keyed,
    last_frame,
    present_take,
    simplified,
    take_of,
    with_take,
)
from viewer.document.motion_curves import KeyOnCurves, Tangent, places, with_point_moved, with_tangents, with_value
from viewer.document.posed_goals import carried
from viewer.document.remapping import with_motion
from viewer.document.take import CODES, Blend, Key, Track, check_frame, check_range, grouped
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import Vector
from viewer.skeleton import Character, Clip, JointKind, Pose
from viewer.spatial.checks import as_flag, as_number, as_positive, member, whole

Keys = tuple[Key, ...]


def at_frame(document: Document, frame: int, **changes: Any) -> Document:  # noqa: ANN401 - fields of a document
    """The document at a frame of its clip or take: limits do not bind, holds are set again, pins stay."""
    frame = whole(frame, "frame")
    return carried(document, frame_pose(document, frame), pins=False, frame=frame, **changes)


@dataclass(frozen=True, slots=True)
class SetFrame(Action, words="Frame {0.frame}", saved=False):
    """Show a frame of the clip or take: an undo step, as recorded sessions have it; `Session.seek` is none."""

    frame: int

    def apply(self, document: Document) -> Document:
        return at_frame(document, self.frame)


@dataclass(frozen=True, slots=True)
class SetClip(Action):
    """Show another clip, from its first frame, with its own keys; None: no clip, the pose stays."""

    name: str | None

    @property
    def label(self) -> str:
        return "No clip" if self.name is None else f"Clip {self.name}"

    def apply(self, document: Document) -> Document:
        if self.name is None:
            return document if document.clip is None else _on_clip(document, None)
        if self.name not in document.character.clips:
            raise InputError(unknown_name("clip", self.name, document.character.clips))
        return at_frame(_on_clip(document, self.name), 0)


@dataclass(frozen=True, slots=True)
class AddClip(Action):
    """Add a clip to the figure, or replace that of the same name, and show it from its first frame.

    It is the first clip of ``character``, which has the same joints.
    """

    character: Character

    @classmethod
    def of(cls, document: Document, clip: Clip) -> AddClip:
        """The action that adds a clip of the document's own skeleton."""
        clips = MappingProxyType({clip.name: clip})
        return cls(replace(document.character, skeleton=document.skeleton, clips=clips, skin=None))

    @property
    def label(self) -> str:
        return f"Motion {next(iter(self.character.clips), '')}".rstrip()

    def apply(self, document: Document) -> Document:
        clip, joints = self.character.clip, len(document.skeleton)
        if clip is None or len(clip.offsets) != joints:
            found = "no motion" if clip is None else f"{len(clip.offsets)}"
            raise InputError(f"expected motion of the {joints} joints of this figure, found {found}")
        clips = {**document.character.clips, clip.name: clip.on(document.character.skeleton.offsets)}
        character = replace(document.character, clips=MappingProxyType(clips))
        changed = replace(document, character=character, clip=None if document.clip == clip.name else document.clip)
        return at_frame(_on_clip(changed, clip.name), 0)


def _on_clip(document: Document, name: str | None) -> Document:
    """The document on another clip, with that clip's keys."""
    if name == document.clip:
        return document
    own = next((take for take in document.takes if take.base == name), None)
    others = tuple(take for take in document.takes if take is not own)
    return replace(document, clip=name, frame=0, take=own, put_aside=others)


@dataclass(frozen=True, slots=True)
class SetFrameTime(Action, words="Frame time {0.seconds:g} s"):
    """Correct the clip's frame time; the frames stay."""

    seconds: float

    def apply(self, document: Document) -> Document:
        clip = document.clip_data
        if clip is None or document.clip is None:
            raise InputError("no clip is loaded")
        seconds = as_number(self.seconds, "frame time")
        if seconds == clip.frame_time:
            return document
        clips = {**document.character.clips, document.clip: replace(clip, frame_time=seconds)}
        return replace(document, character=replace(document.character, clips=MappingProxyType(clips)))


@dataclass(frozen=True, slots=True)
class UseMotion(Action, words="Motion of another file"):
    """Use the motion of another file; figure, keys and goals stay.

    ``character`` is the file, read in the document's units.
    """

    character: Character

    def apply(self, document: Document) -> Document:
        """The document with that motion; a pose that was not edited since its frame was shown follows it."""
        shows = document.clip is not None and document.pose.same_as(frame_pose(document, document.frame))
        changed = with_motion(document, self.character)
        return at_frame(changed, changed.frame) if shows else changed


# --- keys


@dataclass(frozen=True, slots=True)
class MoveKeys(Action):
    """Move keys by a number of frames; existing keys at the new frames are replaced."""

    keys: tuple[Key, ...]
    by_frames: int
    verb: ClassVar[str] = "Move"
    stay: ClassVar[bool] = False

    @property
    def label(self) -> str:
        return counted(self.keys, self.verb)

    def apply(self, document: Document) -> Document:
        take, some = present_take(document), checked_keys(document, self.keys)
        entries = key_editing.shifted(key_editing.taken_out(take, some), self.by_frames, last_frame(document))
        if self.by_frames == 0 or not some:
            return document
        left = take if self.stay else key_editing.without(take, some)
        after = key_editing.with_entries(left, entries, base_pose(document, take, 0))
        last = take.last if take.is_trimmed else after.last
        after = replace(after, last=last, pins=key_editing.pins_along(after, take, some, self.by_frames))
        return with_take(document, after)


@dataclass(frozen=True, slots=True)
class CopyKeys(MoveKeys):
    """Copy keys by a number of frames; existing keys at the new frames are replaced."""

    verb: ClassVar[str] = "Duplicate"
    stay: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, eq=False)
class CopiedKeys:
    """Copied keys; frames count from the first of them.

    ``layered``: their values are added to a clip. ``entries`` are the keys of the joints with these names.
    """

    layered: bool
    names: tuple[str, ...]
    entries: tuple[Track, ...]


def copied_keys(document: Document, keys: Sequence[tuple[int, int]]) -> CopiedKeys:
    """Copy keys for `PasteKeys`."""
    take, some = present_take(document), checked_keys(document, keys)
    if not some:
        raise InputError("no keys are selected")
    start = min(key.frame for key in some)
    entries = tuple(replace(one, frames=one.frames - start) for one in key_editing.taken_out(take, some))
    names = tuple(document.skeleton.names[one.joint] for one in entries)
    return CopiedKeys(take.base is not None, names, entries)


@dataclass(frozen=True, slots=True)
class PasteKeys(Action, words="Paste keys"):
    """Paste copied keys, the first of them at a frame; existing keys there are replaced.

    ``copied`` is from `copied_keys`, of this or another document; without a ``frame`` it is the one shown.
    """

    copied: CopiedKeys
    frame: int | None = None

    def apply(self, document: Document) -> Document:
        frame, take = _frame(document, self.frame), take_of(document)
        if self.copied.layered != (document.clip is not None):
            ours = "on a clip" if self.copied.layered else "on no clip"
            raise InputError(f"these keys were copied from a take {ours}: they mean nothing here")
        joints = [document.skeleton.index(name) for name in self.copied.names]
        entries = [replace(one, joint=joint) for one, joint in zip(self.copied.entries, joints, strict=True)]
        moved = key_editing.shifted(entries, frame, last_frame(document))
        return with_take(document, key_editing.with_entries(take, moved, base_pose(document, take, 0)))


@dataclass(frozen=True, slots=True)
class SetRange(Action, words="Range {0.first} to {0.last}"):
    """Play and export only these frames, both included; this can extend a take without a clip."""

    first: int
    last: int

    def apply(self, document: Document) -> Document:
        check_range(self.first, self.last)
        most = last_frame(document)
        if most is not None and self.last > most:
            raise InputError(f"last frame: expected 0 to {most}, found {self.last}")
        first, last = int(self.first), int(self.last)
        if document.played == (first, last) and (document.clip is not None or document.take is not None):
            return document
        return with_take(document, replace(take_of(document), first=first, last=last))


@dataclass(frozen=True, slots=True)
class SetTakeRate(Action, words="{0.fps:g} frames per second"):
    """Set the take's frames per second; keys keep their frames. On a clip it corrects the clip's frame time."""

    fps: float

    def apply(self, document: Document) -> Document:
        seconds = 1.0 / as_positive(self.fps, "frames per second")
        if document.clip_data is not None:
            return SetFrameTime(seconds).apply(document)
        take = take_of(document)
        return document if seconds == take.frame_time else replace(document, take=replace(take, frame_time=seconds))


@dataclass(frozen=True, slots=True)
class SetAutoKey(Action, words="Auto-key {switched}"):
    """Switch auto-key: every edit of the pose sets keys of the joints that it changes, at the frame shown."""

    on: bool

    def apply(self, document: Document) -> Document:
        return document.changed(auto_key=as_flag(self.on, "auto-key"))


@dataclass(frozen=True, slots=True)
class KeyPose(Action):
    """Set keys of the pose shown; existing keys at the frame are replaced.

    Without a ``frame`` it is the one shown; a take without a clip grows to include it. Without names of ``joints`` they
    are all that can move. Without a ``blend`` the interpolation after the keys is that of the keys replaced, else
    smooth without a clip and linear on a clip. ``pose`` is keyed instead of the pose shown, which stays.
    """

    frame: int | None = None
    joints: tuple[str, ...] | None = None
    blend: Blend | None = None
    pose: Pose | None = None

    @property
    def label(self) -> str:
        if self.joints is None:
            return "Key pose"
        return f"Key {self.joints[0] if len(self.joints) == 1 else f'{len(self.joints)} joints'}"

    def apply(self, document: Document) -> Document:
        frame = _frame(document, self.frame)
        blend = None if self.blend is None else member(Blend, self.blend, "blend")
        if self.pose is None:
            return keyed(document, frame, _joints(document, self.joints), blend)
        posed = replace(document, pose=fitting(document, self.pose))
        after = keyed(posed, frame, _joints(posed, self.joints), blend)
        return document if after is posed or after.take is None else with_take(document, after.take)


def _frame(document: Document, asked: int | None) -> int:
    frame = document.frame if asked is None else asked
    check_frame(frame)
    return int(frame)


def _joints(document: Document, names: tuple[str, ...] | None) -> list[int]:
    """Joint indices; for None, of the joints that can move or have moved."""
    if names is not None:
        if not names:
            raise InputError("joints: expected at least one to key")
        return indices(document, names)
    fixed = document.skeleton.of_kind(JointKind.FIXED)
    still = (document.pose.rotations == document.skeleton.rest_rotations).all(axis=-1)
    return np.flatnonzero(~(fixed & still)).tolist() or list(range(len(fixed)))


@dataclass(frozen=True, slots=True)
class MovePoint(Action, words="Move {0.item[1]} at frame {0.frame}"):
    """Move an effector or joint at a frame of the motion; the solver poses the frames touched, which get keys.

    ``position`` is in metres, world frame; ``reach`` are frames before and after that follow, less with distance.
    """

    item: Item
    frame: int
    position: Vector
    reach: int = 0

    def apply(self, document: Document) -> Document:
        return with_point_moved(document, Item(*self.item), self.frame, self.position, self.reach)


@dataclass(frozen=True, slots=True)
class DeleteKeys(Action):
    """Remove keys. ``keys`` are (joint index, frame) of each; None: all at ``frame``, by default the frame shown."""

    keys: tuple[Key, ...] | None = None
    frame: int | None = None

    @property
    def label(self) -> str:
        return "Delete keys" if self.keys is None else counted(self.keys, "Delete")

    def apply(self, document: Document) -> Document:
        take = present_take(document)
        if self.keys is not None:
            keys = checked_keys(document, self.keys)
        else:
            frame = _frame(document, self.frame)
            keys = take.keys_at(frame)
            if not keys:
                raise InputError(f"there is no key at frame {frame}")
        return with_take(document, key_editing.without(take, keys)) if keys else document


@dataclass(frozen=True, slots=True)
class SetBlend(Action, words="Interpolation {0.blend}"):
    """Set the interpolation after keys; ``keys`` None: after all."""

    keys: tuple[Key, ...] | None
    blend: Blend

    def apply(self, document: Document) -> Document:
        take, blend = present_take(document), member(Blend, self.blend, "blend")
        chosen = None if self.keys is None else checked_keys(document, self.keys)
        tracks = tuple(_blended(track, chosen, CODES[blend]) for track in take.tracks)
        same = all(one is other for one, other in zip(tracks, take.tracks, strict=True))
        return document if same else with_take(document, replace(take, tracks=tracks))


def _blended(track: Track, keys: Keys | None, code: int) -> Track:
    frames = None if keys is None else [key.frame for key in keys if key.joint == track.joint]
    there = np.ones(len(track), np.bool_) if frames is None else np.isin(track.frames, frames)
    blends = np.where(there, code, track.blends)
    return track if np.array_equal(blends, track.blends) else replace(track, blends=blends)


@dataclass(frozen=True, slots=True)
class SimplifyKeys(Action, words="Simplify keys"):
    """Remove keys that interpolation between the others reproduces.

    ``tolerance_deg`` is in degrees by which any joint may differ at any frame, ``tolerance_m`` in metres relative to
    its parent.
    """

    tolerance_deg: float = 0.5
    tolerance_m: float = 2e-3

    def apply(self, document: Document) -> Document:
        degrees, metres = as_positive(self.tolerance_deg, "degrees"), as_positive(self.tolerance_m, "metres")
        take = present_take(document)
        after = simplified(take, float(np.radians(degrees)), metres)
        return document if after is take else with_take(document, after)


@dataclass(frozen=True, slots=True)
class OpenTimeline(Action, words="Frame {0.frame}", saved=False):
    """Go to a frame of a figure without clip or keys: it gets an empty take."""

    frame: int

    def apply(self, document: Document) -> Document:
        check_frame(self.frame)
        return replace(document, take=take_of(document), frame=self.frame)


@dataclass(frozen=True, slots=True)
class SetTangents(Action):
    """Set how slopes at keys are found: from their neighbours, flat, or kept; the keys become smooth."""

    keys: tuple[Key, ...]
    tangent: Tangent

    @property
    def label(self) -> str:
        return f"{self.tangent.capitalize()} tangents"

    def apply(self, document: Document) -> Document:
        tangent = member(Tangent, self.tangent, "tangent")
        chosen = checked_keys(document, self.keys)

        def changed(track: Track, some: list[int]) -> Track:
            return replace(track, tangents=with_tangents(document, track, some, tangent))

        return _with_tracks(document, chosen, changed)


@dataclass(frozen=True, slots=True)
class SetSlope(Action, words="Tangent of {0.joint}"):
    """Set how fast a coordinate changes at a key, which becomes smooth and gets a free tangent.

    ``index`` is of the coordinate, as of `SetCoordinate`; for joints without coordinates an Euler angle. ``slope`` is
    in radians, or metres of a slide, per frame.
    """

    joint: str
    frame: int
    index: int
    slope: float

    def apply(self, document: Document) -> Document:
        key = _key(document, self.joint, self.frame, self.index)
        velocity = key.with_slope(self.index, as_number(self.slope, "slope"))

        def changed(track: Track, _: list[int]) -> Track:
            tangents = track.all_tangents
            tangents[key.index] = velocity
            return replace(track, tangents=tangents)

        return _with_tracks(document, [Key(key.joint, key.frame)], changed)


@dataclass(frozen=True, slots=True)
class SetKeyValue(Action, words="Turn {0.joint} at frame {0.frame}"):
    """Set a coordinate of a joint at one of its keys; clamped to its range if limits are on.

    ``joint``, ``frame`` and ``index`` are as of `SetSlope`; ``value`` is in radians, or metres of a slide.
    """

    joint: str
    frame: int
    index: int
    value: float

    def apply(self, document: Document) -> Document:
        key = _key(document, self.joint, self.frame, self.index)
        return with_take(document, with_value(document, key, self.index, as_number(self.value, "value")))


def _key(document: Document, joint: str, frame: int, index: int) -> KeyOnCurves:
    key = KeyOnCurves(document, document.skeleton.index(joint), frame)
    known = places(document.skeleton, key.joint)
    if index not in known:
        raise InputError(f"joint {quote(joint)}: no curve {index}, it has {', '.join(map(str, known))}")
    return key


def _with_tracks(document: Document, keys: Sequence[Key], change: Callable[[Track, list[int]], Track]) -> Document:
    """The document with the tracks of some keys changed, and smooth interpolation after these keys."""
    take, frames, tracks = present_take(document), grouped(keys), []
    for track in take.tracks:
        if track.joint in frames:
            there = np.isin(track.frames, frames[track.joint])
            smooth = replace(track, blends=np.where(there, CODES[Blend.SMOOTH], track.blends))
            tracks.append(change(smooth, frames[track.joint]))
        else:
            tracks.append(track)
    after = replace(take, tracks=tuple(tracks))
    return document if after.same_as(take) else with_take(document, after)


@dataclass(frozen=True, slots=True)
class SetMarker(Action):
    """Name a frame; a name that it has already is replaced.

    Without a ``frame`` it is the one shown; without a name that is the first free one of ``Marker 1``, ``Marker 2`` and
    so on.
    """

    frame: int | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return f"Marker {self.name}".rstrip()

    def apply(self, document: Document) -> Document:
        frame = document.frame if self.frame is None else self.frame
        names = {marker.name for marker in document.markers}
        free = next(name for number in count(1) if (name := f"Marker {number}") not in names)
        made = Marker(frame, self.name or free)
        most = last_frame(document)
        if most is not None and made.frame > most:
            raise InputError(f"marker: expected a frame from 0 to {most}, found {made.frame}")
        others = [one for one in document.markers if one.frame != made.frame]
        return document.changed(markers=tuple(sorted([*others, made])))


@dataclass(frozen=True, slots=True)
class MoveMarker(Action, words="Move marker"):
    """Move a marker to a frame that has none."""

    frame: int
    to: int

    def apply(self, document: Document) -> Document:
        marker = _marker(document, self.frame)
        check_frame(self.to, "marker: frame")
        other = marker_at(document.markers, self.to)
        if other is not None and other is not marker:
            raise InputError(f"frame {self.to} has a marker already: {other.name}")
        others = [one for one in document.markers if one is not marker]
        return document.changed(markers=tuple(sorted([*others, replace(marker, frame=self.to)])))


@dataclass(frozen=True, slots=True)
class RemoveMarker(Action, words="Remove marker"):
    """Remove the marker of a frame."""

    frame: int

    def apply(self, document: Document) -> Document:
        marker = _marker(document, self.frame)
        return replace(document, markers=tuple(one for one in document.markers if one is not marker))


def _marker(document: Document, frame: int) -> Marker:
    marker = marker_at(document.markers, frame)
    if marker is None:
        raise InputError(f"there is no marker at frame {frame}")
    return marker
