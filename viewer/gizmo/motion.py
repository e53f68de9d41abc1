"""The motion that a drag gives its target, and the pointer's path as numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, overload

import numpy as np
from numpy.typing import ArrayLike

from viewer.gizmo.measures import Measure
from viewer.spatial.checks import Floats, frozen
from viewer.spatial.quaternion import multiply, rotate

IDENTITY = frozen([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A turn about a pivot and then a shift, both counted from where the drag began.

    Attributes:
        translation: (3,) metres in the world.
        rotation: (4,) unit quaternion in the world.
        pivot: (3,) metres in the world: what turns, turns about this.
        readout: how far, in words: ``ΔZ 0.124 m``.
    """

    translation: Floats
    rotation: Floats
    pivot: Floats
    readout: str = ""

    def __post_init__(self) -> None:
        """Take read-only arrays."""
        for name in ("translation", "rotation", "pivot"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def moves(self) -> bool:
        """Whether it shifts anything."""
        return bool(self.translation.any())

    @property
    def turns(self) -> bool:
        """Whether it turns anything."""
        return bool(self.rotation[:3].any())

    @overload
    def apply(self, position: ArrayLike, rotation: ArrayLike) -> tuple[Floats, Floats]: ...

    @overload
    def apply(self, position: ArrayLike, rotation: None) -> tuple[Floats, None]: ...

    def apply(self, position: ArrayLike, rotation: ArrayLike | None) -> tuple[Floats, Floats | None]:
        """Where things go that stood at positions (..., 3) with rotations (..., 4), or without any (None).

        What it neither moves nor turns comes back to the bit.
        """
        place = np.asarray(position, dtype=np.float64)
        if self.turns:
            place = self.pivot + rotate(self.rotation, place - self.pivot)
        if self.moves:
            place = place + self.translation
        if rotation is None:
            return place, None
        turned = np.asarray(rotation, dtype=np.float64)
        return place, multiply(self.rotation, turned) if self.turns else turned


FINE: Final = 0.1

_FARTHEST = 1e6
"""No pointer goes as many pixels; numbers beyond come from a fault."""

Leg = tuple[float, float, bool]
"""Where the pointer came to, in pixels, and whether it went there finely."""


class Path:
    """Where the pointer went, as far as it matters: the last place of each stretch of one speed."""

    def __init__(self, x: float, y: float) -> None:
        """Begin at a pixel."""
        self.start = _within_reason(x, y) or (0.0, 0.0)
        self.legs: list[Leg] = []

    @property
    def end(self) -> tuple[float, float]:
        """The pixel it has come to."""
        return self.legs[-1][:2] if self.legs else self.start

    def go(self, x: float, y: float, *, fine: bool) -> None:
        """Go on to a pixel; stay, where it is none."""
        x, y = _within_reason(x, y) or self.end
        if self.legs and self.legs[-1][2] == fine:
            self.legs.pop()
        self.legs.append((x, y, fine))


def _within_reason(x: float, y: float) -> tuple[float, float] | None:
    if not (math.isfinite(x) and math.isfinite(y)):
        return None
    return min(max(x, -_FARTHEST), _FARTHEST), min(max(y, -_FARTHEST), _FARTHEST)


class Track:
    """How far a path has come by one measure.

    Attributes:
        first: (k,) what the measure said at the start.
    """

    def __init__(self, measure: Measure, start: tuple[float, float], base: Floats | None = None) -> None:
        """Begin at a pixel; ``base`` (k,) is what has been covered before."""
        self._measure = measure
        found = measure.at(*start)
        self.first = np.zeros(1) if found is None else found
        self._anchor = self._last = self.first
        self._base = np.zeros(len(self.first)) if base is None else base
        self._fine = False

    @property
    def amount(self) -> Floats:
        """(k,) metres or radians covered since the start."""
        whole = self._last - self._anchor
        return self._base + (FINE * whole if self._fine else whole)

    def go(self, x: float, y: float, *, fine: bool) -> None:
        """Go on to a pixel; one about which the measure cannot tell is passed over."""
        with np.errstate(all="ignore"):
            found = self._measure.at(x, y)
        if found is None or not np.isfinite(found).all():
            return
        if self._measure.period:
            # Of all turns the angle may be, the one nearest to where it was.
            found = found + self._measure.period * np.round((self._last - found) / self._measure.period)
        if fine != self._fine:
            self._base, self._anchor, self._fine = self.amount, self._last, fine
        self._last = found

    def follow(self, legs: Iterable[Leg]) -> None:
        """Go the way of a path."""
        for x, y, fine in legs:
            self.go(x, y, fine=fine)
