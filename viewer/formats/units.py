"""Units and axes: stated or guessed, and the conversion between a file's own frame and metres, Y up.

If a figure has legs, the guess is the unit in which thigh and shank are nearest to a person's. Otherwise it follows
from the largest extent E of joints and tips in the first frame (or the rest pose): E < 3 metres; 3 to 40 the unit of
the CMU captures; 40 to 120 inches; 120 to 400 centimetres; larger millimetres. A guess is always reported.
Z is up if Y is the smallest extent and Z is more than 1.5 times as large, or if a recognised figure stands along Z, at
rest as well as in the first frame: in a stride, a person is longer than wide. For a recognised figure only the body
counts, because the file's root may be far from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from viewer.errors import FormatError
from viewer.formats.file_formats import UNIT_LENGTHS, check_units, check_up
from viewer.skeleton import Figure, Skeleton, Source, at_or_below, find_figure, rest_world
from viewer.skeleton.limbs import leg_length
from viewer.spatial.checks import Floats, Ints

_HALF_TURN_ROOT = math.sqrt(0.5)
_DIGITS = 15
"""Decimal numbers with this many digits are unchanged by a conversion to a double and back."""

_GUESSES = ((3.0, "m"), (40.0, "cmu"), (120.0, "inch"), (math.nextafter(400.0, math.inf), "cm"), (math.inf, "mm"))
"""A unit is guessed for extents below these bounds; 400 itself is still centimetres."""
_LEG = 0.86
"""Metres of a person's thigh and shank together."""
_RARE = math.log(1.65)
"""Rare units have to fit better than common ones by this difference of logarithms."""
_UNUSUAL = {"m": 0.0, "cm": 0.0, "mm": 0.0, "inch": _RARE, "cmu": _RARE}
_UP_RATIO = 1.5
GUESSES = ("units and axes are guessed", "units are guessed", "axes are guessed")
"""Beginnings of the warnings about guesses."""
BECAUSE = "; from its "
"""Precedes, in such a warning, the measure from which the units were guessed."""


def lengths_to_internal(values: Floats, source: Source) -> Floats:
    """Lengths of any shape from the file's units to metres."""
    inverse = _whole_inverse(source.metres_per_unit)
    # 57 cm are 57 / 100 = 0.57 m, but 57 * 0.01 = 0.5700000000000001: a division rounds only once.
    with np.errstate(over="ignore"):
        return np.asarray(values / inverse if inverse else values * source.metres_per_unit)


def lengths_to_source(values: Floats, source: Source) -> Floats:
    """Lengths of any shape from metres to the file's units, such that reading them gives the same metres.

    Of several such numbers the shortest is taken, so that numbers typed by a person are written as they were typed.
    """
    if source.metres_per_unit == 1.0:
        return np.asarray(values)
    inverse = _whole_inverse(source.metres_per_unit)
    with np.errstate(over="ignore"):
        plain = np.asarray(values * inverse if inverse else values / source.metres_per_unit)
        short = _shortest(plain)
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


def local_metres(values: Floats, source: Source, place: Callable[[int], str], roots: Ints | None = None) -> Floats:
    """(N, 3) translations of a file in metres; the rows ``roots`` are also rotated to Y up."""
    result = lengths_to_internal(values, source)
    if roots is not None and source.up == "z":
        result = result.copy()
        result[roots] = root_translations_to_internal(values[roots], source)
    wrong = np.flatnonzero(~np.isfinite(result).all(axis=-1))
    if wrong.size:
        raise FormatError("expected lengths within float range in metres", path=place(int(wrong[0])))
    return result


def root_rotations_to_internal(rotations: Floats, source: Source) -> Floats:
    """Rotations (..., 4) of roots from the file's axes to Y up: (-sin 45, 0, 0, cos 45) * q for Z up."""
    if source.up != "z":
        return np.asarray(rotations)
    x, y, z, w = (rotations[..., i] for i in range(4))
    return np.stack([x - w, y + z, z - y, w + x], axis=-1) * _HALF_TURN_ROOT


def root_rotations_to_source(rotations: Floats, source: Source) -> Floats:
    """The inverse of `root_rotations_to_internal`, rounded to the 15 decimals that rotating there and back keeps."""
    if source.up != "z":
        return np.asarray(rotations)
    x, y, z, w = (rotations[..., i] for i in range(4))
    return np.round(np.stack([x + w, y - z, z + y, w - x], axis=-1) * _HALF_TURN_ROOT, _DIGITS)


def _shortest(values: Floats) -> Floats:
    """Numbers of any shape, rounded to `_DIGITS` significant decimal digits."""
    flat = [float(f"{value:.{_DIGITS}g}") for value in np.ravel(values).tolist()]
    return np.array(flat, dtype=np.float64).reshape(np.shape(values))


def _whole_inverse(metres_per_unit: float) -> float:
    """The number of units in a metre if it is whole (100 cm, 1000 mm), else 0."""
    if not 1e-9 < metres_per_unit < 1.0:
        return 0.0
    inverse = float(round(1.0 / metres_per_unit))
    return inverse if 1.0 / inverse == metres_per_unit else 0.0


@dataclass(frozen=True, slots=True)
class Frame:
    """The units and axes that a file is read in.

    Attributes:
        units: m, cm, mm, inch, cmu, raw or the number of metres.
        metres_per_unit: length of one unit.
        up: "y" or "z".
        guessed_units: the units were stated neither by the file nor by the user.
        guessed_up: the same of the axis.
        height: metres from the lowest to the highest point of the first frame.
        leg: metres of the legs that the units were guessed from; None if they were not guessed from legs.
    """

    units: str
    metres_per_unit: float
    up: Literal["y", "z"]
    guessed_units: bool
    guessed_up: bool
    height: float
    leg: float | None = None

    @property
    def guessed(self) -> bool:
        """Whether units or axes are a guess."""
        return self.guessed_units or self.guessed_up


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The part of a file that belongs to a recognised figure.

    Attributes:
        points: (N, 3) the figure's joints and tips in the first frame, in the file's units and axes.
        leg: length of thigh and shank in the file's units; None for a figure without legs.
        stands_on_z: it stands along the file's Z axis, at rest as well as in the first frame.
    """

    points: Floats
    leg: float | None
    stands_on_z: bool = False


def body_of(skeleton: Skeleton, points: Floats, source: Source) -> Body | None:
    """The body of a recognised figure; None for any other skeleton.

    ``points`` (J + T, 3) are its joints and tips in the first frame, in the file's units and axes; ``source`` has those
    in which the skeleton was read.
    """
    figure = find_figure(skeleton)
    if figure is None:
        return None
    own = at_or_below(skeleton, figure.trunk)
    leg = leg_length(skeleton, figure)
    own_points = points[np.concatenate([own, own[skeleton.tip_parents]])]
    rest = root_translations_to_source(rest_world(skeleton).positions, source)
    stands = figure.upright and bool(figure.legs) and all(_is_along_z(places, figure) for places in (rest, points))
    return Body(own_points, None if leg is None else leg / source.metres_per_unit, stands)


def _is_along_z(places: Floats, figure: Figure) -> bool:
    """Whether the line from the ankles to the chest points up the Z axis; places (N, 3), the joints first."""
    ankles = places[[leg.last for leg in figure.legs]].mean(axis=0)
    x, y, z = places[figure.chest] - ankles
    return bool(z > _UP_RATIO * max(abs(x), abs(y)))


def metres_per_unit(units: str) -> float:
    """Metres per unit of what `check_units` returned, except "auto"."""
    if units == "raw":
        return 1.0
    return UNIT_LENGTHS[units] if units in UNIT_LENGTHS else float(units)


def target_source(source: Source, units: str | float | None, up: str | None) -> Source:
    """The source with the units and axes to write: its own unless others are given."""
    if units is not None and (name := check_units(units)) != "auto":
        up = "y" if name == "raw" and up is None else up
        source = replace(source, units=name, metres_per_unit=metres_per_unit(name))
    if up is not None and (axis := check_up(up)) != "auto":
        source = replace(source, up=axis)
    return source


def unconverted(form: str, units: str, up: str) -> tuple[str, ...]:
    """A warning, if units or axes are stated for a file whose format is in metres, Y up, always."""
    fits = units in ("auto", "m", "raw") and up in ("auto", "y")
    return () if fits else (f"{form} files are in metres, Y up: nothing was converted",)


def guess_warnings(frame: Frame) -> list[str]:
    """The guessed units and axes in words; Y up is not mentioned if only the axes were guessed."""
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
    """Units and axes as the user states them, or guessed from the first frame where they are "auto".

    "raw" keeps the axes too, unless ``up`` is stated. ``points`` (N, 3) are all joints and tips in the first frame; if
    ``body`` is the figure among them, the guess is made from it alone.
    """
    units, stated = check_units(units), check_up(up)
    extent = _extent(points if body is None else body.points)
    guessed_units, guessed_up = units == "auto", stated == "auto" and units != "raw"
    flat = extent[1] == extent.min() and extent[2] > _UP_RATIO * extent[1]
    z_up = units != "raw" and (flat or (body is not None and body.stands_on_z))
    axis: Literal["y", "z"] = stated if stated != "auto" else "z" if z_up else "y"
    leg = (body.leg or None) if guessed_units and body is not None else None
    if units == "auto":
        largest = float(extent.max(initial=0.0))
        units = next(name for bound, name in _GUESSES if largest < bound) if leg is None else _by_legs(leg)
    metres = metres_per_unit(units)
    height = float(_extent(points)["xyz".index(axis)]) * metres
    return Frame(units, metres, axis, guessed_units, guessed_up, height, None if leg is None else leg * metres)


def in_frame(source: Source, frame: Frame) -> Source:
    """The source with the units and axes of a frame."""
    return replace(source, metres_per_unit=frame.metres_per_unit, units=frame.units, up=frame.up, guessed=frame.guessed)


def _extent(points: Floats) -> Floats:
    """(3,) extents of the box around points (N, 3); zeros without points."""
    return np.asarray(np.ptp(points, axis=0)) if len(points) else np.zeros(3)


def _by_legs(leg: float) -> str:
    """The unit in which a leg of this length is nearest to a person's."""
    return min(_UNUSUAL, key=lambda name: abs(math.log(leg * UNIT_LENGTHS[name] / _LEG)) + _UNUSUAL[name])
