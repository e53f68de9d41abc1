"""Actions on the curves of a joint: values and slopes at keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from viewer.document.checks import as_number, one_of
from viewer.document.curves import KeyOnCurves, Tangent, places, with_tangents, with_value
from viewer.document.document import Action, Document
from viewer.document.key_editing import checked_keys, present_take
from viewer.document.take import CODES, Blend, Key, Track
from viewer.document.take_changes import with_take
from viewer.errors import InputError, quote


@dataclass(frozen=True, slots=True)
class SetTangents(Action):
    """Let the slopes at keys follow from their neighbours, be flat, or stay as they are; the keys become smooth."""

    keys: tuple[Key, ...]
    tangent: Tangent

    @property
    def label(self) -> str:
        return f"{self.tangent.capitalize()} tangents"

    def apply(self, document: Document) -> Document:
        tangent = one_of(Tangent, self.tangent, "tangent")
        chosen = checked_keys(document, self.keys)

        def changed(track: Track, some: list[int]) -> Track:
            return replace(track, tangents=with_tangents(document, track, some, tangent))

        return _with_tracks(document, chosen, changed)


@dataclass(frozen=True, slots=True)
class SetSlope(Action):
    """Set how fast a coordinate changes at a key, which becomes smooth; its tangent is free then.

    Attributes:
        joint: its name.
        frame: of the key.
        index: of the coordinate, as of `SetCoordinate`; of joints without coordinates an Euler angle.
        slope: radians, or metres of a slide, per frame.
    """

    joint: str
    frame: int
    index: int
    slope: float

    @property
    def label(self) -> str:
        return f"Tangent of {self.joint}"

    def apply(self, document: Document) -> Document:
        key = _key(document, self.joint, self.frame, self.index)
        velocity = key.with_slope(self.index, as_number(self.slope, "slope"))

        def changed(track: Track, _: list[int]) -> Track:
            tangents = track.all_tangents
            tangents[key.index] = velocity
            return replace(track, tangents=tangents)

        return _with_tracks(document, [Key(key.joint, key.frame)], changed)


@dataclass(frozen=True, slots=True)
class SetKeyValue(Action):
    """Set a coordinate of a joint at one of its keys; clamped to its range if limits are on.

    Attributes:
        joint, frame, index: as of `SetSlope`.
        value: radians, or metres of a slide.
    """

    joint: str
    frame: int
    index: int
    value: float

    @property
    def label(self) -> str:
        return f"Turn {self.joint} at frame {self.frame}"

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
    take = present_take(document)
    frames: dict[int, list[int]] = {}
    for key in keys:
        frames.setdefault(key.joint, []).append(key.frame)
    tracks = []
    for track in take.tracks:
        if track.joint in frames:
            there = np.isin(track.frames, frames[track.joint])
            smooth = replace(track, blends=np.where(there, CODES[Blend.SMOOTH], track.blends))
            tracks.append(change(smooth, frames[track.joint]))
        else:
            tracks.append(track)
    after = replace(take, tracks=tuple(tracks))
    return document if after.same_as(take) else with_take(document, after)
