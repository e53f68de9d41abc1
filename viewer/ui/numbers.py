"""Numbers as the window writes them: fixed decimals, a real minus sign, units shown, never a negative zero."""

from __future__ import annotations

import math

MINUS = "\N{MINUS SIGN}"
DELTA = "\N{GREEK CAPITAL LETTER DELTA}"
DASH = "\N{EN DASH}"
"""Stands where there is no number."""


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals; what rounds to zero has no sign."""
    if not math.isfinite(value):
        return DASH
    text = f"{abs(value):.{decimals}f}"
    return MINUS + text if value < 0.0 and float(text) != 0.0 else text


def degrees(radians: float) -> str:
    """An angle, given in radians, as degrees: ``12.4°``."""
    return f"{fixed(math.degrees(radians), 1)}°"


def metres(length: float) -> str:
    """A length or coordinate: ``0.277 m``."""
    return f"{fixed(length, 3)} m"


def millimetres(length: float) -> str:
    """An error in metres, without its unit: a tenth of a millimetre, whole ones from a metre on."""
    return fixed(1000.0 * length, 1 if abs(length) < 1.0 else 0)


def error(length: float) -> str:
    """An error in metres: ``0.1 mm``."""
    return f"{millimetres(length)} mm"


def short(length: float) -> str:
    """An error in words: whole millimetres from ten of them on, as ``178 mm``."""
    return f"{fixed(1000.0 * length, 0 if abs(length) >= 0.01 else 1)} mm"


def weight(value: float) -> str:
    """A weight: ``1.00``."""
    return fixed(value, 2)


def milliseconds(seconds: float) -> str:
    """A time in seconds: ``0.42 ms``."""
    return f"{fixed(1000.0 * seconds, 2)} ms"


def seconds(value: float) -> str:
    """A place in a clip: ``1.683 s``."""
    return f"{fixed(value, 3)} s"


def clock(value: float) -> str:
    """Seconds that have passed: ``0:04``."""
    whole = int(value)
    return f"{whole // 60}:{whole % 60:02d}"


def step(length: float) -> str:
    """A snap step or grid cell as people say it: ``5 cm``, ``0.1 m``, ``2 mm``."""
    if length >= 0.1:
        return f"{length:g} m"
    return f"{100.0 * length:g} cm" if length >= 0.01 else f"{1000.0 * length:g} mm"


def middle_ellipsis(text: str, longest: int) -> str:
    """Text of at most ``longest`` characters; what is too long loses its middle."""
    if len(text) <= longest:
        return text
    tail = (longest - 1) // 2
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"
