"""The numbers of goals: how a kind declares one, and the checks of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.spatial.checks import Floats, finite_floats, plain_floats, unit_quaternions

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]
Value: TypeAlias = float | Vector
"The value of a number of a kind."
Checker: TypeAlias = Callable[[Mapping[str, Value]], str]
"""What is wrong with a goal's numbers together, where each by itself is right, in one line; "": nothing."""

LEAST_WEIGHT = 1e-300
"""Below it, near the end of the range of floats, weights have too few digits to be compared."""
LAST_LEVEL = 3
"""Goals have levels 0 to 3."""
_UNIT_ENOUGH = 1e-12


class Unit(StrEnum):
    """The unit of a number: how files and the window write it, and what a change of units does to it."""

    ANGLE = "angle"
    """Radians; degrees in files and in the window."""
    LENGTH = "length"
    """Metres; the figure's unit in the window."""
    PLAIN = "plain"
    """No unit."""
    JOINT_DIRECTION = "joint direction"
    """A unit vector in the joint's frame, which turns with the joint."""
    WORLD_DIRECTION = "world direction"
    """A unit vector in the world, which turns where the world's axes do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number that goals of some kind have; the same name is the same number in all kinds.

    Attributes:
        name: in `Goal.numbers`, and as a field of the goals of documents.
        unit: what it is measured in.
        title: its name in the window.
        hint: the tooltip there.
        least, most: bounds, both included; not of directions.
        default: for goals that do not state it; None: every goal states it.
        expected: the bounds in words, for messages.
        called: its name in messages about a `Goal`; its name if empty.
    """

    name: str
    unit: Unit
    title: str
    hint: str = ""
    least: float = -math.inf
    most: float = math.inf
    default: Value | None = None
    expected: str = ""
    called: str = ""

    @property
    def is_direction(self) -> bool:
        """Whether it is three numbers, a unit vector."""
        return self.unit in (Unit.JOINT_DIRECTION, Unit.WORLD_DIRECTION)

    @property
    def words(self) -> str:
        """Its name in messages."""
        return self.called or self.name

    def checked(self, value: object, what: str) -> Value:
        """The value as plain floats.

        Raises:
            InputError: no number, or one out of bounds; no direction.
        """
        if self.is_direction:
            return as_direction(value, what)  # type: ignore[arg-type]  # it checks
        number = as_float(value, what)
        if not (self.least <= number <= self.most and math.isfinite(number)):
            raise InputError(f"{what}: expected {self.bounds}, found {number:g}")
        return number

    @property
    def bounds(self) -> str:
        """Its bounds in words."""
        if self.expected:
            return self.expected
        if math.isfinite(self.least) and math.isfinite(self.most):
            return f"a finite number, {self.least:g} to {self.most:g}"
        return f"a finite number{f', {self.least:g} or more' if math.isfinite(self.least) else ''}"


def any_numbers(numbers: Mapping[str, Value]) -> str:  # noqa: ARG001 - a `Checker`
    """Numbers that need not fit together."""
    return ""


def as_point(value: ArrayLike, what: str) -> Vector:
    """Three finite numbers; an InputError names ``what``, as in all of these."""
    x, y, z = finite_floats(value, (3,), what).tolist()
    return x, y, z


def as_rotation(value: ArrayLike, what: str) -> Quaternion:
    """A unit quaternion (x, y, z, w)."""
    plain = plain_floats(value, 4)
    if plain is not None:
        x, y, z, w = plain
        if abs(x * x + y * y + z * z + w * w - 1.0) <= _UNIT_ENOUGH:
            return x, y, z, w
    x, y, z, w = _as_given(value, unit_quaternions(value, (4,), what))
    return x, y, z, w


def as_direction(value: ArrayLike, what: str) -> Vector:
    """A vector (3,) of any length but 0, normalised."""
    axis = finite_floats(value, (3,), what)
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise InputError(f"{what}: expected a direction, found the zero vector")
    # Dividing by the largest component first keeps the squares within float range.
    scaled = axis / largest
    x, y, z = _as_given(axis, scaled / np.linalg.norm(scaled))
    return x, y, z


def _as_given(given: ArrayLike, unit: Floats) -> list[float]:
    """The numbers of a unit vector, unchanged if it was one already, so that a file keeps a goal's bits."""
    array = np.asarray(given, dtype=np.float64)
    numbers: list[float] = (array if np.abs(array - unit).max() <= _UNIT_ENOUGH else unit).tolist()
    return numbers


def as_level(value: object, what: str) -> int:
    """A whole number, 0 to `LAST_LEVEL`."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= LAST_LEVEL:
        raise InputError(f"{what}: expected a whole number, 0 to {LAST_LEVEL}, found {quote(value)}")
    return int(value)


def as_weight(value: object, what: str) -> float:
    """A finite number, `LEAST_WEIGHT` or more."""
    number = as_float(value, what)
    if not 0.0 < number < math.inf:
        raise InputError(f"{what}: expected a finite number, more than 0, found {number:g}")
    if number < LEAST_WEIGHT:
        raise InputError(f"{what}: expected a finite number, {LEAST_WEIGHT:g} or more, found {number:g}")
    return number


def as_float(value: object, what: str) -> float:
    """A number, which may be infinite or NaN."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise InputError(f"{what}: expected a number, found {quote(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf
