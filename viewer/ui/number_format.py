"""Formatting of numbers in the window, and length units that suit the figure."""

from __future__ import annotations

import math
from functools import lru_cache

from viewer.document.import_export import LEAST, MOST, is_usual
from viewer.gizmo import METRE, LengthUnit
from viewer.ik.findings import FAR, far

MINUS = "\N{MINUS SIGN}"
DASH = "\N{EN DASH}"
"""Shown instead of a missing number."""

_STEPS = (("km", 1000.0, 1000.0), ("m", 1.0, 0.1), ("cm", 0.01, 0.01), ("mm", 0.001, 1e-5), ("µm", 1e-6, 0.0))
"""Units of steps, their length in metres, and the length from which each is used."""

_PARTS = 1000.0
"""Least height of a figure in units of the last decimal shown."""
_FINEST = 9


def fixed(value: float, decimals: int) -> str:
    """A number with fixed decimals; zero has no sign."""
    if not math.isfinite(value):
        return DASH
    text = f"{abs(value):.{decimals}f}"
    return MINUS + text if value < 0.0 and float(text) != 0.0 else text


def degrees(radians: float) -> str:
    """An angle in radians as degrees: ``12.4°``."""
    return f"{fixed(math.degrees(radians), 1)}°"


def centimetres(metres: float) -> str:
    """A distance in centimetres, without the unit."""
    return fixed(100.0 * metres, 1 if metres < 1.0 else 0)


def millimetres(length: float, finest: int = 1) -> str:
    """An error in metres as millimetres without unit; below a metre with decimals, more for tiny figures."""
    return fixed(1000.0 * length, finest if abs(length) < 1.0 else 0)


def error(length: float, finest: int = 1) -> str:
    """An error in metres with unit: ``0.1 mm``, from ten metres on ``11.1 m``."""
    return far(length) if length >= FAR else f"{millimetres(length, finest)} mm"


def short(length: float) -> str:
    """A short error: whole millimetres from ten on, as ``178 mm``; smaller ones with more digits.

    Large errors are in metres: ``11.1 m``.
    """
    if length >= FAR:
        return far(length)
    size = 1000.0 * length
    return f"{fixed(size, 0 if size >= 10.0 else 1 if size >= 0.05 or not size else 3)} mm"


def weight(value: float) -> str:
    """A weight: ``1.00``."""
    return fixed(value, 2)


def milliseconds(seconds: float) -> str:
    """A duration in seconds: ``0.42 ms``; ``2.26 s`` from one second on."""
    return f"{fixed(1000.0 * seconds, 2)} ms" if seconds < 1.0 else f"{fixed(seconds, 2)} s"


def seconds(value: float) -> str:
    """A time in a clip: ``1.683 s``."""
    return f"{fixed(value, 3)} s"


def clock(value: float) -> str:
    """Elapsed seconds: ``0:04``."""
    whole = int(value)
    return f"{whole // 60}:{whole % 60:02d}"


def step(length: float) -> str:
    """A snap step or grid cell: ``5 cm``, ``0.1 m``, ``2 mm``, ``20 µm``, ``1 km``."""
    name, worth = next((name, worth) for name, worth, least in _STEPS if length >= 0.999 * least)
    return f"{length / worth:.6g} {name}"


def unit_for(height: float) -> LengthUnit:
    """The length unit for a figure of a height: metres, or millimetres for small figures."""
    if is_usual(height):
        return METRE
    name, metres = ("mm", 0.001) if height < LEAST else ("m", 1.0)
    wanted = math.ceil(-math.log10(height / metres / _PARTS))
    return LengthUnit(name, metres, min(max(wanted, 0), _FINEST))


@lru_cache(maxsize=4)
def error_decimals(height: float) -> int:
    """Decimals of errors in millimetres for a figure of a height."""
    return 1 if is_usual(height) or height >= MOST else unit_for(height).decimals
