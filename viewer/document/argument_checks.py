"""Checks of the arguments of actions: plain values out, one clear line of error."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote, unknown_name
from viewer.formats.bounds import FARTHEST
from viewer.ik.goals.goal import LEAST_WEIGHT, as_float
from viewer.spatial.checks import Vector, finite_floats, plain_floats

Value = TypeVar("Value")


def with_changes(value: Value, changes: Mapping[str, Any], what: str, but: Collection[str] = ()) -> Value:
    """A dataclass with other values of some fields, as actions state them.

    ``what`` is such a field in messages: "solver setting"; those in ``but`` cannot be changed.
    """
    given: Any = value  # typeshed's protocol of dataclasses cannot be imported
    known = [field.name for field in fields(given) if field.name not in but]
    for name in changes:
        if name not in known:
            raise InputError(unknown_name(what, name, known))
    made: Value = replace(given, **changes)
    return made


def as_vector(value: ArrayLike, what: str) -> Vector:
    """Three finite numbers, none larger than `FARTHEST`."""
    plain = plain_floats(value, 3)
    x, y, z = finite_floats(value, (3,), what).tolist() if plain is None else plain
    farthest = max(abs(x), abs(y), abs(z))
    if not (farthest <= FARTHEST and y == y and z == z):  # noqa: PLR0124 - NaN is not
        finite_floats(value, (3,), what)
        raise InputError(f"{what}: expected metres within {FARTHEST:g} of the origin, found {farthest:g}")
    return x, y, z


def as_number(value: object, what: str, *, least: float = -math.inf, most: float = math.inf) -> float:
    """A finite number within a range."""
    number = as_float(value, what)
    if not (math.isfinite(number) and least <= number <= most):
        bounds = f", {least:g} or more" if math.isfinite(least) else ""
        bounds = f", {least:g} to {most:g}" if math.isfinite(least) and math.isfinite(most) else bounds
        raise InputError(f"{what}: expected a finite number{bounds}, found {number:g}")
    return number


def as_positive(value: object, what: str) -> float:
    """A finite number above 0, large enough to be the weight of a goal."""
    number = as_number(value, what)
    if not number >= LEAST_WEIGHT:
        raise InputError(f"{what}: expected a number above 0, found {number:g}")
    return number


def as_name(value: object, what: str, most: int = 200) -> str:
    """A name of one line, without blanks at its ends, of at most so many characters."""
    name = value.strip() if isinstance(value, str) else ""
    if not name:
        raise InputError(f"{what}: expected a name, found {'none' if isinstance(value, str) else quote(value)}")
    if len(name) > most:
        raise InputError(f"{what}: expected a name of at most {most} characters, found {len(name)}")
    if not name.isprintable():
        raise InputError(f"{what}: expected a name of one line, found {quote(name)}")
    return name


def as_flag(value: object, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what}: expected True or False, found {quote(value)}")
    return bool(value)
