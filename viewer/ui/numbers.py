"""Numbers as the window writes them, and lengths in a unit that suits the figure."""

from __future__ import annotations

import math
from typing import NamedTuple

from viewer.document.opening import LEAST, MOST, is_usual
from viewer.gizmo.typed import METRE, LengthUnit
from viewer.ik.findings import FAR, far

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
"""Stands where there is no number."""

_STEPS = (("km", 1000.0, 1000.0), ("m", 1.0, 0.1), ("cm", 0.01, 0.01), ("mm", 0.001, 1e-5), ("µm", 1e-6, 0.0))
"""Units of steps, metres that they are worth, and from how many metres on each is used."""


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; what rounds to zero has no sign."""
    if not math.isfinite(value):
        return DASH
    text = f"{abs(value):.{decimals}f}"
    return MINUS + text if value < 0.0 and float(text) != 0.0 else text


def degrees(radians: float) -> str:
    """An angle, given in radians, as degrees: ``12.4°``."""
    return f"{fixed(math.degrees(radians), 1)}°"


def millimetres(length: float, finest: int = 1) -> str:
    """An error in metres, without its unit: a tenth of a millimetre, whole ones from a metre on.

    Args:
        length: metres.
        finest: decimals below a metre: more of them for figures that are themselves millimetres high.
    """
    return fixed(1000.0 * length, finest if abs(length) < 1.0 else 0)


def error(length: float, finest: int = 1) -> str:
    """An error in metres: ``0.1 mm``, from ten metres on ``11.1 m``."""
    return far(length) if length >= FAR else f"{millimetres(length, finest)} mm"


def short(length: float) -> str:
    """An error in words: whole millimetres from ten of them on, as ``178 mm``; what is tiny by the digits it has.

    What is far off, in metres: ``11.1 m``.
    """
    if length >= FAR:
        return far(length)
    size = 1000.0 * length
    return f"{fixed(1000.0 * length, 0 if size >= 10.0 else 1 if size >= 0.05 or not size else 3)} mm"


def weight(value: float) -> str:
    """A weight: ``1.00``."""
    return fixed(value, 2)


def milliseconds(seconds: float) -> str:
    """A time in seconds: ``0.42 ms``; ``2.26 s`` from a second on."""
    return f"{fixed(1000.0 * seconds, 2)} ms" if seconds < 1.0 else f"{fixed(seconds, 2)} s"


def seconds(value: float) -> str:
    """A place in a clip: ``1.683 s``."""
    return f"{fixed(value, 3)} s"


def clock(value: float) -> str:
    """Seconds that have passed: ``0:04``."""
    whole = int(value)
    return f"{whole // 60}:{whole % 60:02d}"


def step(length: float) -> str:
    """A snap step or grid cell as people say it: ``5 cm``, ``0.1 m``, ``2 mm``, ``20 µm``, ``1 km``."""
    name, worth = next((name, worth) for name, worth, least in _STEPS if length >= 0.999 * least)
    return f"{length / worth:.6g} {name}"


_PARTS = 1000.0
"""A figure's height is at least so many of the smallest steps that its numbers show."""
_FINEST = 9


def unit_for(height: float) -> LengthUnit:
    """The unit for a figure of a height: metres, millimetres for small ones."""
    if is_usual(height):
        return METRE
    name, metres = ("mm", 0.001) if height < LEAST else ("m", 1.0)
    wanted = math.ceil(-math.log10(height / metres / _PARTS))
    return LengthUnit(name, metres, min(max(wanted, 0), _FINEST))


def error_decimals(height: float) -> int:
    """Decimals of an error in millimetres, for a figure of a height."""
    return 1 if is_usual(height) or height >= MOST else unit_for(height).decimals


class Rect(NamedTuple):
    """Where something is in the window: framebuffer pixels from the top left corner.

    Attributes:
        x: left edge.
        y: top edge.
        w: width.
        h: height.
    """

    x: int
    y: int
    w: int
    h: int

    def contains(self, x: float, y: float) -> bool:
        """Whether a pixel is inside."""
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), at least one pixel each: what a projection can be made for."""
        return max(1, self.w), max(1, self.h)
