"""The words that say how a file is read: units, axes, sources of limits. Loads no numpy."""

from __future__ import annotations

import math
import re
from typing import Literal, get_args

from viewer.errors import InputError, quote

UNIT_LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0564444}
"""Metres per unit; "cmu" is the unit of the CMU motion captures, which is 1/0.45 inch."""
UNIT_NAMES = ("auto", "m", "cm", "mm", "inch", "raw")
UpWord = Literal["auto", "y", "z"]
UP_NAMES: tuple[UpWord, ...] = get_args(UpWord)
LimitSource = Literal["file", "learned", "human+clip", "human", "clip", "none"]
"""Where the limits of a character come from; see `viewer.formats.limit_sources`."""
LIMIT_SOURCES: tuple[LimitSource, ...] = get_args(LimitSource)


def check_units(units: str | float) -> str:
    """The name of a unit, or a number of metres, as a string.

    Raises:
        InputError: it is neither.
    """
    text = str(units).strip().casefold()
    if text in UNIT_NAMES or text in UNIT_LENGTHS:
        return text
    if re.fullmatch(r"[0-9.]+(e[+-]?[0-9]+)?", text) and text.count(".") <= 1 and text[0] != "e" and text != ".":
        metres = float(text)
        if math.isfinite(metres) and 1e-12 <= metres <= 1e12:
            return text
    raise InputError(f"units: expected {', '.join(UNIT_NAMES)} or metres per unit, found {quote(str(units))}")


def check_up(up: str) -> UpWord:
    """One of auto, y, z.

    Raises:
        InputError: anything else.
    """
    for axis in UP_NAMES:
        if axis == str(up).casefold():
            return axis
    raise InputError(f"up: expected {', '.join(UP_NAMES)}, found {quote(up)}")
