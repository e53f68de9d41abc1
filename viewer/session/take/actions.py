"""Actions on keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError
from viewer.session.actions.base import Action
from viewer.session.actions.poses import fitting
from viewer.session.checks import as_weight, one_of
from viewer.session.take import editing
from viewer.session.take.changing import keyed, with_take
from viewer.session.take.chosen_keys import checked_keys, counted, present_take
from viewer.session.take.displacing import CopiedKeys, CopyKeys, MoveKeys, PasteKeys, copied_keys
from viewer.session.take.playing import SetAutoKey, SetRange, SetTakeRate
from viewer.session.take.simplify import simplified
from viewer.session.take.values import CODES, Blend, Key, Track, check_frame
from viewer.skeleton.kinds import JointKind

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.skeleton.pose import Pose

    Keys = tuple[Key, ...]

__all__ = [
    "CopiedKeys",
    "CopyKeys",
    "DeleteKeys",
    "KeyPose",
    "MoveKeys",
    "PasteKeys",
    "SetAutoKey",
    "SetBlend",
    "SetRange",
    "SetTakeRate",
    "SimplifyKeys",
    "copied_keys",
]


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
        """What the history calls it."""
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
        """What the history calls it."""
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
        return with_take(document, editing.without(take, keys)) if keys else document


@dataclass(frozen=True, slots=True)
class SetBlend(Action):
    """Say how the stretches after keys run; ``keys`` None: after all."""

    keys: tuple[Key, ...] | None
    blend: Blend

    @property
    def label(self) -> str:
        """What the history calls it."""
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
        """What the history calls it."""
        return "Simplify keys"

    def apply(self, document: Document) -> Document:
        """The document with fewer keys."""
        degrees, metres = as_weight(self.tolerance_deg, "degrees"), as_weight(self.tolerance_m, "metres")
        take = present_take(document)
        after = simplified(take, float(np.radians(degrees)), metres)
        return document if after is take else with_take(document, after)
