"""Actions on keys: setting, moving, copying, and how a take is played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from viewer.document import key_editing
from viewer.document.actions.poses import fitting
from viewer.document.actions.settings import SetFrameTime
from viewer.document.checks import as_flag, as_weight, one_of
from viewer.document.document import Action, Document
from viewer.document.evaluation import base_pose
from viewer.document.key_editing import checked_keys, counted, last_frame, present_take
from viewer.document.simplify import simplified
from viewer.document.take import CODES, Blend, Key, Track, check_frame, check_range
from viewer.document.take_changes import keyed, take_of, with_take
from viewer.errors import InputError
from viewer.skeleton.limits import JointKind
from viewer.skeleton.pose import Pose

Keys = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class MoveKeys(Action):
    """Move keys to later frames, or to earlier ones; keys that they come to stand on are replaced."""

    keys: tuple[Key, ...]
    by_frames: int

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return counted(self.keys, "Move")

    def apply(self, document: Document) -> Document:
        """The document with the keys moved."""
        return _displaced(document, self.keys, self.by_frames, stay=False)


@dataclass(frozen=True, slots=True)
class CopyKeys(Action):
    """Put copies of keys at other frames; keys that stand there are replaced."""

    keys: tuple[Key, ...]
    by_frames: int

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return counted(self.keys, "Duplicate")

    def apply(self, document: Document) -> Document:
        """The document with the copies."""
        return _displaced(document, self.keys, self.by_frames, stay=True)


def _displaced(document: Document, keys: Sequence[tuple[int, int]], by_frames: int, *, stay: bool) -> Document:
    take, some = present_take(document), checked_keys(document, keys)
    entries = key_editing.shifted(key_editing.taken_out(take, some), by_frames, last_frame(document))
    if by_frames == 0 or not some:
        return document
    rest = base_pose(document, take, 0)
    left = take if stay else key_editing.without(take, some)
    after = key_editing.with_entries(left, entries, rest)
    last = take.last if take.is_trimmed else after.last
    after = replace(after, last=last, pins=key_editing.pins_along(after, take, some, by_frames))
    return with_take(document, after)


@dataclass(frozen=True, slots=True, eq=False)
class CopiedKeys:
    """Keys that were copied; frames count from the first of them.

    Attributes:
        layered: whether they are what is added to a clip.
        names: of the joints.
        entries: their keys.
    """

    layered: bool
    names: tuple[str, ...]
    entries: tuple[key_editing.Entry, ...]


def copied_keys(document: Document, keys: Sequence[tuple[int, int]]) -> CopiedKeys:
    """Keys to paste elsewhere, as `PasteKeys` does.

    Raises:
        InputError: none, or some that are not there.
    """
    take, some = present_take(document), checked_keys(document, keys)
    if not some:
        raise InputError("no keys are selected")
    start = min(key.frame for key in some)
    entries = tuple(replace(one, frames=one.frames - start) for one in key_editing.taken_out(take, some))
    names = tuple(document.skeleton.names[one.joint] for one in entries)
    return CopiedKeys(take.base is not None, names, entries)


@dataclass(frozen=True, slots=True)
class PasteKeys(Action):
    """Put copied keys down, the first of them at a frame; keys that stand there are replaced.

    Attributes:
        copied: by `copied_keys`, here or in another document.
        frame: of the first; None: the frame shown.
    """

    copied: CopiedKeys
    frame: int | None = None

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return "Paste keys"

    def apply(self, document: Document) -> Document:
        """The document with the keys."""
        frame = document.frame if self.frame is None else self.frame
        check_frame(frame)
        take = take_of(document)
        if self.copied.layered != (document.clip is not None):
            ours = "on a clip" if self.copied.layered else "on no clip"
            raise InputError(f"these keys were copied from a take {ours}: they mean nothing here")
        joints = [document.skeleton.index(name) for name in self.copied.names]
        entries = [replace(one, joint=joint) for one, joint in zip(self.copied.entries, joints, strict=True)]
        moved = key_editing.shifted(entries, int(frame), last_frame(document))
        return with_take(document, key_editing.with_entries(take, moved, base_pose(document, take, 0)))


@dataclass(frozen=True, slots=True)
class SetRange(Action):
    """Play and export these frames only, both included; a take on no clip is made longer by it."""

    first: int
    last: int

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Range {self.first} to {self.last}"

    def apply(self, document: Document) -> Document:
        """The document with another range."""
        check_range(self.first, self.last)
        most = last_frame(document)
        if most is not None and self.last > most:
            raise InputError(f"last frame: expected 0 to {most}, found {self.last}")
        first, last = int(self.first), int(self.last)
        if document.played == (first, last) and (document.clip is not None or document.take is not None):
            return document
        return with_take(document, replace(take_of(document), first=first, last=last))


@dataclass(frozen=True, slots=True)
class SetTakeRate(Action):
    """Frames per second of the take; keys stay at their frames. On a clip it corrects the clip's frame time."""

    fps: float

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"{self.fps:g} frames per second"

    def apply(self, document: Document) -> Document:
        """The document with another rate."""
        seconds = 1.0 / as_weight(self.fps, "frames per second")
        if document.clip_data is not None:
            return SetFrameTime(seconds).apply(document)
        take = take_of(document)
        return document if seconds == take.frame_time else replace(document, take=replace(take, frame_time=seconds))


@dataclass(frozen=True, slots=True)
class SetAutoKey(Action):
    """Whether every edit of the pose sets keys of the joints that it changed, at the frame shown."""

    on: bool

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return "Auto-key on" if self.on else "Auto-key off"

    def apply(self, document: Document) -> Document:
        """The document with auto-key on or off."""
        on = as_flag(self.on, "auto-key")
        return document if on == document.auto_key else replace(document, auto_key=on)


@dataclass(frozen=True, slots=True)
class KeyPose(Action):
    """Set keys of the pose shown; keys that stand there are replaced.

    Attributes:
        frame: where; None: the frame shown. A take on no clip grows as far.
        joints: names; None: all that can move.
        blend: how the stretches after the keys run; None: as those of the keys replaced, or else smoothly without a
            clip, and at constant speed on one.
        pose: the pose to key in place of the one shown, which stays.
    """

    frame: int | None = None
    joints: tuple[str, ...] | None = None
    blend: Blend | None = None
    pose: Pose | None = None

    @property
    def label(self) -> str:
        """Name of the undo step."""
        if self.joints is None:
            return "Key pose"
        return f"Key {self.joints[0] if len(self.joints) == 1 else f'{len(self.joints)} joints'}"

    def apply(self, document: Document) -> Document:
        """The document with the keys."""
        frame = document.frame if self.frame is None else self.frame
        check_frame(frame)
        blend = None if self.blend is None else one_of(Blend, self.blend, "blend")
        if self.pose is None:
            return keyed(document, int(frame), _joints(document, self.joints), blend)
        posed = replace(document, pose=fitting(document, self.pose))
        after = keyed(posed, int(frame), _joints(posed, self.joints), blend)
        return document if after is posed or after.take is None else with_take(document, after.take)


def _joints(document: Document, names: tuple[str, ...] | None) -> list[int]:
    """Indices; of all, those that can move or do."""
    if isinstance(names, str):
        raise InputError(f"joints: expected a list of names, found {names!r}")
    if names is not None:
        if not names:
            raise InputError("joints: expected at least one to key")
        return [document.skeleton.index(name) for name in names]
    fixed = np.array([kind is JointKind.FIXED for kind in document.skeleton.kinds])
    still = (document.pose.rotations == document.skeleton.rest_rotations).all(axis=-1)
    return np.flatnonzero(~(fixed & still)).tolist() or list(range(len(fixed)))


@dataclass(frozen=True, slots=True)
class DeleteKeys(Action):
    """Remove keys.

    Attributes:
        keys: (joint index, frame) of each; None: all at ``frame``.
        frame: where ``keys`` does not say; None: the frame shown.
    """

    keys: tuple[Key, ...] | None = None
    frame: int | None = None

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return "Delete keys" if self.keys is None else counted(self.keys, "Delete")

    def apply(self, document: Document) -> Document:
        """The document without the keys."""
        take = present_take(document)
        if self.keys is not None:
            keys = checked_keys(document, self.keys)
        else:
            frame = document.frame if self.frame is None else self.frame
            check_frame(frame)
            keys = take.keys_at(int(frame))
            if not keys:
                raise InputError(f"there is no key at frame {frame}")
        return with_take(document, key_editing.without(take, keys)) if keys else document


@dataclass(frozen=True, slots=True)
class SetBlend(Action):
    """Say how the stretches after keys run; ``keys`` None: after all."""

    keys: tuple[Key, ...] | None
    blend: Blend

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Interpolation {self.blend}"

    def apply(self, document: Document) -> Document:
        """The document with other stretches."""
        take, blend = present_take(document), one_of(Blend, self.blend, "blend")
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
class SimplifyKeys(Action):
    """Remove keys that the others say as well.

    Attributes:
        tolerance_deg: degrees that any joint may turn otherwise than before, at any frame.
        tolerance_m: metres that any joint may move otherwise against its parent.
    """

    tolerance_deg: float = 0.5
    tolerance_m: float = 2e-3

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return "Simplify keys"

    def apply(self, document: Document) -> Document:
        """The document with fewer keys."""
        degrees, metres = as_weight(self.tolerance_deg, "degrees"), as_weight(self.tolerance_m, "metres")
        take = present_take(document)
        after = simplified(take, float(np.radians(degrees)), metres)
        return document if after is take else with_take(document, after)


@dataclass(frozen=True, slots=True)
class OpenTimeline(Action):
    """Go to a frame of a figure that has neither clip nor keys: from now on it has a take, without any."""

    frame: int
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Frame {self.frame}"

    def apply(self, document: Document) -> Document:
        """The document with an empty take."""
        check_frame(self.frame)
        return replace(document, take=take_of(document), frame=self.frame)
