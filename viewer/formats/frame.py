"""Between a file's own units and axes and ours: metres, Y up.

Lengths are scaled; of the joints only the roots turn, because all others stand in their parent's frame. A file
with Z up becomes Y up by the turn of -90 degrees about x, (x, y, z) -> (x, z, -y): root translations swap their
components (nothing is rounded), root rotations are multiplied by it from the left.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.skeleton.character import Source
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
