"""Units and up axis of files that do not say: stated by the user, or guessed from the figure's size.

The guess (from the largest extent E of joints and tips in the first frame, or the rest pose): below 3 metres; 3 to 40
the CMU captures' unit; 40 to 120 inches; 120 to 400 centimetres; above millimetres. It suits people and animals, and
is always reported. Z is up where Y is the smallest extent and Z is more than 1.5 times it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from viewer.errors import InputError, quote
from viewer.formats.frame import UNIT_LENGTHS

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

_GUESSES = ((3.0, "m"), (40.0, "cmu"), (120.0, "inch"), (math.nextafter(400.0, math.inf), "cm"), (math.inf, "mm"))
"""Units by the extent that they are guessed below: 400 itself is not yet millimetres."""
_UP_RATIO = 1.5
GUESSES = ("units and axes are guessed", "units are guessed", "axes are guessed")
"""How the warnings begin that say what was guessed."""
UNIT_NAMES = ("auto", "m", "cm", "mm", "inch", "raw")
UP_NAMES = ("auto", "y", "z")


@dataclass(frozen=True, slots=True)
class Frame:
    """Units and axes that were settled on.

    Attributes:
        units: m, cm, mm, inch, cmu, raw or the number of metres.
        metres_per_unit: how long one unit is.
        up: "y" or "z".
        guessed_units: neither stated by the file nor by the user.
        guessed_up: likewise.
        height: metres from the lowest to the highest point looked at.
    """

    units: str
    metres_per_unit: float
    up: str
    guessed_units: bool
    guessed_up: bool
    height: float

    @property
    def guessed(self) -> bool:
        """Whether any of it was."""
        return self.guessed_units or self.guessed_up


def check_units(units: str | float) -> str:
    """A unit name or number of metres as a string.

    Raises:
        InputError: neither.
    """
    text = str(units).strip().casefold()
    if text in UNIT_NAMES or text in UNIT_LENGTHS:
        return text
    if re.fullmatch(r"[0-9.]+(e[+-]?[0-9]+)?", text) and text.count(".") <= 1 and text[0] != "e" and text != ".":
        metres = float(text)
        if math.isfinite(metres) and 1e-12 <= metres <= 1e12:
            return text
    raise InputError(f"units: expected {', '.join(UNIT_NAMES)} or metres per unit, found {quote(str(units))}")


def check_up(up: str) -> str:
    """One of auto, y, z.

    Raises:
        InputError: anything else.
    """
    axis = str(up).casefold()
    if axis not in UP_NAMES:
        raise InputError(f"up: expected {', '.join(UP_NAMES)}, found {quote(up)}")
    return axis


def metres_per_unit(units: str) -> float:
    """Of a name or number that `check_units` has passed, not "auto"."""
    if units == "raw":
        return 1.0
    return UNIT_LENGTHS[units] if units in UNIT_LENGTHS else float(units)


def guess_warnings(frame: Frame) -> list[str]:
    """How a file was read, where that was guessed, in words; that Y is up goes without saying where units are known."""
    height = f"height {frame.height:.3g} m"
    if frame.guessed_units and frame.guessed_up:
        return [f"{GUESSES[0]}: {in_words(frame)}, {height}"]
    if frame.guessed_units:
        return [f"{GUESSES[1]}: {in_words(frame).partition(',')[0]}, {height}"]
    return [f"{GUESSES[2]}: Z up, {height}"] if frame.guessed_up and frame.up == "z" else []


def in_words(frame: Frame) -> str:
    """Such as ``units of 0.01 m (cm), Y up``."""
    unit = "metres" if frame.units == "m" else f"units of {frame.metres_per_unit:g} m ({frame.units})"
    return f"{unit}, {frame.up.upper()} up"


def settle(units: str | float, up: str, points: Floats) -> Frame:
    """Units and axes from what the user said ("auto": guess) and the points (N, 3) of the first frame.

    ``raw`` units keep the axes, too, unless the user says which is up.
    """
    units, up = check_units(units), check_up(up)
    extent = points.max(axis=0) - points.min(axis=0) if len(points) else points.sum(axis=0)
    largest = float(extent.max(initial=0.0))
    guessed_units, guessed_up = units == "auto", up == "auto" and units != "raw"
    if up == "auto":
        z_up = units != "raw" and extent[1] == extent.min() and extent[2] > _UP_RATIO * extent[1]
        up = "z" if z_up else "y"
    if units == "auto":
        units = next(name for bound, name in _GUESSES if largest < bound)
    metres = metres_per_unit(units)
    return Frame(units, metres, up, guessed_units, guessed_up, height=float(extent["xyz".index(up)]) * metres)
