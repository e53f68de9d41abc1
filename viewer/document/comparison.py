"""The distances between two motions: between joints of the same name, frame by frame."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import frames_shown
from viewer.errors import InputError
from viewer.skeleton import fk_arrays
from viewer.spatial.checks import Floats, Ints

_BLOCK = 256
"""Frames whose poses are held at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Distances between joints of one name in two motions.

    Attributes:
        names: of the N joints that both have, in the order of the first.
        joints: (N,) their indices in the first.
        first: frame of the first motion to which row 0 belongs.
        metres: (F, N) distances at the frames that are played of the first motion.
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

    Args:
        one: its frames count.
        other: the other one.
        from_root: measure both from their first roots, so that another path makes no difference.

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
    shown = frames_shown(document, first, last)
    places = fk_arrays(document.skeleton.parents, shown.rotations, shown.translations).positions
    return places - places[:, :1] if from_root else places


def rounded_up(metres: float) -> float:
    """The top of an axis for distances up to ``metres``: 1, 2 or 5 times a power of ten."""
    if not metres > 0.0:
        return 0.01
    power = 10.0 ** math.floor(math.log10(metres))
    return next(part * power for part in (1.0, 2.0, 5.0, 10.0) if part * power >= metres * (1.0 - 1e-9))
