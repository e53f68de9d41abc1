"""The way of the pointer, as numbers: whole steps, and tenths of them where it goes finely."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.gizmo.measures import Measure
    from viewer.spatial.checks import Floats

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
