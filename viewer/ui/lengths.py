"""Lengths as a figure's size asks for them: what is right for people is too coarse for a watch.

From a tenth of a metre to thirty metres of height everything is in metres with three decimals.
"""

from __future__ import annotations

import math

from viewer.gizmo.units import METRE, LengthUnit
from viewer.session.scale import LEAST, MOST, is_usual

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
