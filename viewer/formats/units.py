"""Units and axes: stated by the user or guessed, and the conversion between a file's own frame and metres, Y up.

Of a figure with legs the unit is guessed that makes its legs (thigh and shank) most like those of a person. Of
anything else by the largest extent E of joints and tips in the first frame, or the rest pose: below 3 metres; 3 to 40
the CMU captures' unit; 40 to 120 inches; 120 to 400 centimetres; above millimetres. The guess is always reported.
Z is up where Y is the smallest extent and Z is more than 1.5 times it; of a figure only what belongs to its body
counts, because the root of a file may lie far from it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np

from viewer.errors import InputError, quote
from viewer.skeleton.character import Source
from viewer.skeleton.figure import find_figure
from viewer.skeleton.limbs import leg_length
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import at_or_below
from viewer.spatial.checks import Floats

UNIT_LENGTHS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0564444}
"""Metres per unit of the units that have a name; "cmu" is that of the CMU motion captures, 0.45 inch to the unit."""

_HALF_TURN_ROOT = math.sqrt(0.5)
_DIGITS = 15
"""Every decimal number of this many digits survives the way into a double and back."""


def lengths_to_internal(values: Floats, source: Source) -> Floats:
    """Lengths of any shape from the file's units to metres."""
    inverse = _whole_inverse(source.metres_per_unit)
    # 57 cm is 57 / 100 = 0.57 m, but 57 * 0.01 = 0.5700000000000001: dividing rounds once only.
    with np.errstate(over="ignore"):
        return np.asarray(values / inverse if inverse else values * source.metres_per_unit)


def lengths_to_source(values: Floats, source: Source) -> Floats:
    """Lengths of any shape from metres to the file's units: the number that reads back as the same metres.

    The shortest one is taken where there is one, so that what a person typed is written as it was typed.
    """
    if source.metres_per_unit == 1.0:
        return np.asarray(values)
    inverse = _whole_inverse(source.metres_per_unit)
    with np.errstate(over="ignore"):
        plain = np.asarray(values * inverse if inverse else values / source.metres_per_unit)
        short = rounded_digits(plain)
        return np.where(lengths_to_internal(short, source) == values, short, plain)


def root_translations_to_internal(values: Floats, source: Source) -> Floats:
    """Translations (..., 3) of roots from the file's units and axes to metres, Y up."""
    metres = lengths_to_internal(values, source)
    if source.up != "z":
        return metres
    return np.stack([metres[..., 0], metres[..., 2], -metres[..., 1]], axis=-1)


def root_translations_to_source(values: Floats, source: Source) -> Floats:
    """The inverse of `root_translations_to_internal`."""
    if source.up == "z":
        values = np.stack([values[..., 0], -values[..., 2], values[..., 1]], axis=-1)
    return lengths_to_source(values, source)


def root_rotations_to_internal(rotations: Floats, source: Source) -> Floats:
    """Rotations (..., 4) of roots from the file's axes to Y up: (-sin 45, 0, 0, cos 45) * q for Z up."""
    if source.up != "z":
        return np.asarray(rotations)
    x, y, z, w = (rotations[..., i] for i in range(4))
    return np.stack([x - w, y + z, z - y, w + x], axis=-1) * _HALF_TURN_ROOT


def root_rotations_to_source(rotations: Floats, source: Source) -> Floats:
    """The inverse of `root_rotations_to_internal`, to 15 decimals: to what the turn there and back left as it was."""
    if source.up != "z":
        return np.asarray(rotations)
    x, y, z, w = (rotations[..., i] for i in range(4))
    return np.round(np.stack([x + w, y - z, z + y, w - x], axis=-1) * _HALF_TURN_ROOT, _DIGITS)


def rounded_digits(values: Floats, digits: int = _DIGITS) -> Floats:
    """Numbers of any shape rounded to so many significant decimal digits."""
    flat = [float(f"{value:.{digits}g}") for value in np.ravel(values).tolist()]
    return np.array(flat, dtype=np.float64).reshape(np.shape(values))


def _whole_inverse(metres_per_unit: float) -> float:
    """The whole number that one metre has of this unit (100 cm, 1000 mm), else 0."""
    if not 1e-9 < metres_per_unit < 1.0:
        return 0.0
    inverse = float(round(1.0 / metres_per_unit))
    return inverse if 1.0 / inverse == metres_per_unit else 0.0


_GUESSES = ((3.0, "m"), (40.0, "cmu"), (120.0, "inch"), (math.nextafter(400.0, math.inf), "cm"), (math.inf, "mm"))
"""Units by the extent that they are guessed below: 400 itself is not yet millimetres."""
_LEG = 0.86
"""Metres of thigh and shank of a person."""
_RARE = math.log(1.65)
"""Units that few files are in have to fit so much better than the others (a difference of logarithms)."""
_UNUSUAL = {"m": 0.0, "cm": 0.0, "mm": 0.0, "inch": _RARE, "cmu": _RARE}
_UP_RATIO = 1.5
GUESSES = ("units and axes are guessed", "units are guessed", "axes are guessed")
"""How the warnings begin that say what was guessed."""
BECAUSE = "; from its "
"""What follows in such a warning is what the units were guessed from."""
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
        leg: metres of the legs that the units were guessed from, None where the size was it.
    """

    units: str
    metres_per_unit: float
    up: str
    guessed_units: bool
    guessed_up: bool
    height: float
    leg: float | None = None

    @property
    def guessed(self) -> bool:
        """Whether any of it was."""
        return self.guessed_units or self.guessed_up


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """What of a file belongs to a recognised figure.

    Attributes:
        points: (N, 3) its joints and tips in the first frame, in the file's units and axes.
        leg: length of thigh and shank in the file's units, None of a figure without legs.
    """

    points: Floats
    leg: float | None


def body_of(skeleton: Skeleton, points: Floats, metres_per_unit: float) -> Body | None:
    """The body of the figure that a skeleton is, or None.

    Args:
        skeleton: its joints.
        points: (J + T, 3) its joints and tips in the first frame, in the file's units and axes.
        metres_per_unit: what the skeleton was read with.
    """
    figure = find_figure(skeleton)
    if figure is None:
        return None
    own = at_or_below(skeleton, figure.trunk)
    leg = leg_length(skeleton, figure)
    own_points = points[np.concatenate([own, own[skeleton.tip_parents]])]
    return Body(own_points, None if leg is None else leg / metres_per_unit)


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
    why = f"{BECAUSE}leg length, {frame.leg:.3g} m" if frame.leg is not None else f"{BECAUSE}size"
    if frame.guessed_units and frame.guessed_up:
        return [f"{GUESSES[0]}: {in_words(frame)}, {height}{why}"]
    if frame.guessed_units:
        return [f"{GUESSES[1]}: {in_words(frame).partition(',')[0]}, {height}{why}"]
    return [f"{GUESSES[2]}: Z up, {height}"] if frame.guessed_up and frame.up == "z" else []


def in_words(frame: Frame) -> str:
    """Such as ``units of 0.01 m (cm), Y up``."""
    unit = "metres" if frame.units == "m" else f"units of {frame.metres_per_unit:g} m ({frame.units})"
    return f"{unit}, {frame.up.upper()} up"


def settle(units: str | float, up: str, points: Floats, body: Body | None = None) -> Frame:
    """Units and axes from what the user said ("auto": guess) and the points (N, 3) of the first frame.

    ``raw`` units keep the axes, too, unless the user says which is up.

    Args:
        units: as `check_units` takes them.
        up: as `check_up` takes it.
        points: of all joints and tips.
        body: the figure that is among them, which the guess then follows.
    """
    units, up = check_units(units), check_up(up)
    extent = _extent(points if body is None else body.points)
    guessed_units, guessed_up = units == "auto", up == "auto" and units != "raw"
    if up == "auto":
        z_up = units != "raw" and extent[1] == extent.min() and extent[2] > _UP_RATIO * extent[1]
        up = "z" if z_up else "y"
    leg = body.leg if guessed_units and body is not None else None
    if units == "auto":
        units = _by_size(float(extent.max(initial=0.0))) if leg is None else _by_legs(leg)
    metres = metres_per_unit(units)
    height = float(_extent(points)["xyz".index(up)]) * metres
    return Frame(units, metres, up, guessed_units, guessed_up, height, None if leg is None else leg * metres)


def in_frame(source: Source, frame: Frame) -> Source:
    """The source read in these units and axes."""
    return replace(source, metres_per_unit=frame.metres_per_unit, units=frame.units, up=frame.up, guessed=frame.guessed)


def _extent(points: Floats) -> Floats:
    """(3,) what points (N, 3) span; 0 of none."""
    return np.asarray(np.ptp(points, axis=0)) if len(points) else np.zeros(3)


def _by_legs(leg: float) -> str:
    """The unit that makes a leg of this length most like a person's."""
    return min(_UNUSUAL, key=lambda name: abs(math.log(leg * UNIT_LENGTHS[name] / _LEG)) + _UNUSUAL[name])


def _by_size(largest: float) -> str:
    """The unit of an extent."""
    return next(name for bound, name in _GUESSES if largest < bound)
