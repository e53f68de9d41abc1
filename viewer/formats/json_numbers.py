"""Numbers and lines of the JSON files that are written: short, exact, and easy to read and compare by line."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike

    from viewer.spatial.checks import Floats

FEWEST_ROTATION_DECIMALS = 4
"""Rotations are never rounded more than this: with fewer decimals readers would refuse them as not unit."""

_WHOLE = 1e15
_DEGREE_DECIMALS = 10


def number(value: float) -> float | int:
    """A number that is written as short as can be: whole ones without a decimal point."""
    return int(value) if value.is_integer() and abs(value) < _WHOLE else value


def numbers(values: ArrayLike, decimals: int | None = None) -> list[float | int]:
    """A list of numbers, rounded to so many decimals if that is asked for.

    Raises:
        InputError: NaN or infinite.
    """
    return [number(value) for value in finite(rounded(np.asarray(values, dtype=np.float64), decimals)).tolist()]


def degrees_of(radians: float, unlimited: float = 0.0) -> float | int:
    """Degrees that read back as these radians, rounded to what a person would have typed where that does.

    Infinite ones are so many as ``unlimited`` says.
    """
    if not math.isfinite(radians):
        return number(unlimited)
    degrees = math.degrees(radians)
    near = (
        round(degrees, _DEGREE_DECIMALS), degrees, math.nextafter(degrees, math.inf), math.nextafter(degrees, -math.inf)
    )  # fmt: skip
    return number(next((some for some in near if math.radians(some) == radians), degrees))


def rotation_decimals(decimals: int | None) -> int | None:
    """Decimals of rotations where so many are asked for."""
    return None if decimals is None else max(decimals, FEWEST_ROTATION_DECIMALS)


def rounded(values: Floats, decimals: int | None) -> Floats:
    """Values with so many decimals; untouched for None."""
    # Numbers this large have no decimals, and rounding them would overflow.
    return values if decimals is None else np.where(np.abs(values) < _WHOLE, np.round(values, decimals), values)


def finite(values: Floats) -> Floats:
    """The values, which JSON can hold.

    Raises:
        InputError: NaN or infinite.
    """
    if not np.isfinite(values).all():
        raise InputError("cannot be written as JSON: expected finite numbers, found NaN or infinity")
    return values


def compact(value: object) -> str:
    """A value on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def block_list(items: Iterable[str], indent: str) -> str:
    """A list of written values, one per line."""
    lines = [f"{indent} {item}" for item in items]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "[]"


def block_object(items: Mapping[str, str], indent: str = "") -> str:
    """An object of written values, one per line."""
    lines = [f"{indent} {compact(key)}: {value}" for key, value in items.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"
