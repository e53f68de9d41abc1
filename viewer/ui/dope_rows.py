"""Rows of keys that the timeline shows: of all joints together, and of single ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.session.take.values import CODES, Blend, Key
from viewer.ui.grips import joint_of

if TYPE_CHECKING:
    from viewer.session import Document
    from viewer.session.take.values import Take
    from viewer.spatial.checks import Bools, Ints

ALL = "All"


class Row(NamedTuple):
    """A row.

    Attributes:
        name: of the joint.
        joint: its index; -1: all joints that have keys.
        frames: (K,) of its keys, ascending.
        steps: (K,) whether what follows the key stays as it is until the next one; of all joints: whether all do.
    """

    name: str
    joint: int
    frames: Ints
    steps: Bools


def rows_of(document: Document) -> tuple[Row, ...]:
    """The row of all, then joints with keys: those of selected items first, then effectors' ones, then the others."""
    take, names = document.take, document.skeleton.names
    if take is None or take.is_empty:
        return ()
    first = [joint_of(document, item) for item in reversed(document.selection)]
    own = [effector.joint for effector in document.skeleton.effectors]
    keyed = {track.joint: track for track in take.tracks}
    order = [joint for joint in dict.fromkeys([*first, *own, *keyed]) if joint in keyed]
    step = CODES[Blend.STEP]
    rows = (Row(names[j], j, keyed[j].frames, keyed[j].blends == step) for j in order)
    return (_all(take), *rows)


def _all(take: Take) -> Row:
    frames = np.array(take.frames, dtype=np.intp)
    steps = np.ones(len(frames), dtype=np.bool_)
    seen: set[tuple[int, int]] = set()
    for track in take.tracks:
        if (id(track.frames), id(track.blends)) not in seen:  # tracks of the same frames share them
            seen.add((id(track.frames), id(track.blends)))
            steps[np.searchsorted(frames, track.frames[track.blends != CODES[Blend.STEP]])] = False
    return Row(ALL, -1, frames, steps)


def keys_in(document: Document, row: Row, low: float, high: float) -> tuple[Key, ...]:
    """The keys of a row from one frame to another, both included."""
    take = document.take
    if take is None:
        return ()
    found = []
    for track in take.tracks:
        if row.joint in (-1, track.joint):
            some = track.frames[np.searchsorted(track.frames, low) : np.searchsorted(track.frames, high, "right")]
            found += [Key(track.joint, frame) for frame in some.tolist()]
    return tuple(found)
