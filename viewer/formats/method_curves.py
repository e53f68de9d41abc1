"""Curves of errors in the laboratory: letter, colour and dashes of each method, and the scale of the errors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple, Self


class Curve(NamedTuple):
    """The look of one method.

    Attributes:
        letter: stands in a disc of the colour.
        colour: "#RRGGBB".
        dash: lengths of dashes and gaps in turn, logical pixels; empty: a solid line.
    """

    letter: str
    colour: str
    dash: tuple[int, ...]

    @property
    def ink(self) -> str:
        """The name of the colour in the window's palette."""
        return f"method_{self.letter}"


CURVES = (
    Curve("A", "#5AD7F2", ()),
    Curve("B", "#ADE08F", ()),
    Curve("C", "#BD8642", (8, 4)),
    Curve("D", "#5892E1", (2, 3)),
    Curve("E", "#F1C7CC", (8, 3, 2, 3)),
    Curve("F", "#A08AA1", (12, 4)),
    Curve("G", "#7F9780", (4, 3)),
    Curve("H", "#D6CBFC", (12, 3, 2, 3, 2, 3)),
)
"""In the order of the methods. Two colours are 14 CIEDE2000 apart in all four kinds of sight; dashes serve in print."""


_BELOW = 2
"""Powers of ten below the tolerance that a scale shows at least."""


class ErrorScale(NamedTuple):
    """A logarithmic scale of errors.

    Attributes:
        low: power of ten at its lower end.
        high: at its upper end.
        metres: errors are in metres, otherwise in degrees.
    """

    low: int
    high: int
    metres: bool

    @classmethod
    def of(cls, errors: Iterable[float], tolerance: float, *, metres: bool) -> Self:
        """The scale that shows errors and the tolerance, metres or degrees."""
        most = max(max(errors, default=tolerance), 10.0 * tolerance)
        return cls(math.floor(math.log10(tolerance)) - _BELOW, math.ceil(math.log10(most)), metres)

    def part(self, error: float) -> float:
        """Where an error is on the scale: 0 at its lower end or below, 1 at its upper end."""
        return (math.log10(max(error, 10.0**self.low)) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """The errors at its powers of ten, and their words: ``10 mm``, ``1 m``, ``0.1°``."""
        return [(10.0**power, self._words(power)) for power in range(self.low, self.high + 1)]

    def _words(self, power: int) -> str:
        if not self.metres:
            return f"{10.0**power:g}°"
        return f"{10.0 ** (power + 3):g} mm" if power < 0 else f"{10.0**power:g} m"
