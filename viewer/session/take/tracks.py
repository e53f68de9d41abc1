"""Keys of single joints, pins at keys, and frames solved between them, as immutable values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.spatial.checks import finite_floats, frozen, unit_quaternions

if TYPE_CHECKING:
    from viewer.ik.goals import Quaternion, Vector
    from viewer.spatial.checks import Floats, Ints


class Blend(StrEnum):
    """How the stretch after a key runs."""

    STEP = "step"
    """It stays as at the key until the next one."""
    LINEAR = "slerp"
    """At constant speed the short way; translations in a straight line."""
    SMOOTH = "smooth"
    """Without a jump in speed: a quaternion spline; translations by cubics."""


BLENDS = tuple(Blend)
"""Blends by their code."""
CODES = {blend: code for code, blend in enumerate(BLENDS)}


class Key(NamedTuple):
    """One key: of one joint (its index) at one frame."""

    joint: int
    frame: int


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """The keys of one joint.

    On a clip, values are what is added to it: rotations d with new = base * d, translations new - base. Else they are
    whole local ones. Translations are those on the bones of the file, before any was made longer.

    Attributes:
        joint: its index.
        frames: (K,) ascending, 0 or more; K is 1 or more.
        rotations: (K, 4) unit quaternions (x, y, z, w).
        translations: (K, 3) metres in the parent's frame; None: those of the clip, or of the take's rest.
        blends: (K,) `CODES` of how the stretch after each key runs.
    """

    joint: int
    frames: Ints
    rotations: Floats
    translations: Floats | None
    blends: Ints

    def __post_init__(self) -> None:
        """Take read-only arrays and check them.

        Raises:
            InputError: shapes that do not fit, frames out of order, no rotations, unknown blends.
        """
        what = f"track of joint {self.joint}"
        frames, blends = frozen(self.frames, np.intp), frozen(self.blends, np.intp)
        keys = len(frames)
        if frames.shape != (keys,) or keys == 0 or frames[0] < 0 or (np.diff(frames) <= 0).any():
            raise InputError(f"{what}: expected frames from 0 in ascending order")
        if blends.shape != (keys,) or blends.min() < 0 or blends.max() >= len(BLENDS):
            raise InputError(f"{what}: expected one blend from 0 to {len(BLENDS) - 1} for each key")
        rotations = frozen(self.rotations)
        unit_quaternions(rotations, (keys, 4), f"{what}: rotations")
        put = object.__setattr__
        if self.translations is not None:
            put(self, "translations", frozen(finite_floats(self.translations, (keys, 3), f"{what}: translations")))
        for name, array in (("frames", frames), ("rotations", rotations), ("blends", blends)):
            put(self, name, array)

    def __len__(self) -> int:
        """Number of keys."""
        return len(self.frames)

    def index(self, frame: int) -> int | None:
        """Which of the keys stands at a frame; None if none does."""
        place = int(np.searchsorted(self.frames, frame))
        return place if place < len(self.frames) and self.frames[place] == frame else None


_SAME = 1e-5
"""Metres, or of a quaternion's component: pins nearer to each other are the same."""


class Pin(NamedTuple):
    """What was pinned when a key was made.

    Attributes:
        effector: its name.
        position: metres, world frame; None where its place is not pinned.
        rotation: world_from_joint; None where its turn is not.
        offset: metres in the joint's frame, added to the effector's own.
    """

    effector: str
    position: Vector | None
    rotation: Quaternion | None
    offset: Vector = (0.0, 0.0, 0.0)

    def is_near(self, other: Pin) -> bool:
        """Whether it holds the same parts at the same place, as nearly as can be told."""
        for mine, its in zip(self[1:], other[1:], strict=True):
            if (mine is None) != (its is None):
                return False
            if mine is not None and np.abs(np.subtract(mine, its)).max() > _SAME:  # type: ignore[arg-type]
                return False
        return True


@dataclass(frozen=True, slots=True, eq=False)
class Stretch:
    """Frames between keys that hold the same pins, solved once and kept.

    Attributes:
        first: the first of these frames.
        digest: of all that it was solved from: while that is the same, it is kept.
        joints: (J',) whose rotations were solved; none where the pins could not be held from either end.
        rotations: (N, J', 4) whole local ones.
        moved: (M,) joints whose translations were solved.
        translations: (N, M, 3) metres, on the bones as long as they were made.
    """

    first: int
    digest: str
    joints: Ints
    rotations: Floats
    moved: Ints
    translations: Floats

    def __post_init__(self) -> None:
        """Take read-only arrays.

        Raises:
            InputError: shapes that do not fit.
        """
        for name in ("rotations", "translations"):
            object.__setattr__(self, name, frozen(getattr(self, name)))
        for name in ("joints", "moved"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.intp))
        shapes = (len(self.rotations), len(self.joints), 4), (len(self.rotations), len(self.moved), 3)
        if (self.rotations.shape, self.translations.shape) != shapes:
            raise InputError("solved frames: expected rotations (N, J, 4) and translations (N, M, 3)")

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.rotations)
