"""Checks of texts, enumeration words, flags and single numbers."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import TypeVar

import numpy as np

from viewer.errors import InputError, quote

E = TypeVar("E", bound=StrEnum)


def text(value: object, what: str, *, empty: bool = True) -> str:
    """A text that every file can hold.

    Args:
        value: what was given.
        what: names it in messages.
        empty: whether it may have no characters.

    Raises:
        InputError: no text, half of a surrogate pair, or empty where it may not be.
    """
    if not isinstance(value, str):
        raise InputError(f"{what}: expected text, found {quote(value)}")
    if not value and not empty:
        raise InputError(f"{what}: expected text that is not empty")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{what}: expected whole characters, found half of a surrogate pair: {quote(value)}")
    return value if type(value) is str else str(value)


def member(kind: type[E], value: object, what: str) -> E:
    """The member of an enumeration that it is or that its word names.

    Raises:
        InputError: there is none of that name; ``what`` names it in the message.
    """
    if type(value) is kind:
        return value
    try:
        return kind(value)  # type: ignore[arg-type]  # what is no word of it is refused
    except ValueError:
        listed = ", ".join(quote(str(one)) for one in kind)
        raise InputError(f"{what}: expected one of {listed}, found {quote(value)}") from None


def whole(value: object, what: str, *, least: int = 0) -> int:
    """A whole number, at least so large.

    Raises:
        InputError: it is none; ``what`` names it in the message.
    """
    if type(value) is int and value >= least:
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{what}: expected a whole number, {least} or more, found {quote(value)}")
    return int(value)


def seconds(value: object, what: str, *, unit: str = "seconds") -> float:
    """A time step, or a rate: a finite number above 0.

    Raises:
        InputError: it is none; ``what`` names it in the message.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise InputError(f"{what}: expected a number of {unit}, found {quote(value)}")
    if not 0 < value < math.inf:
        raise InputError(f"{what}: expected more than 0 {unit}, found {value}")
    return float(value)


def check_count(name: str, value: object, *, least: int) -> None:
    """Raise InputError unless ``value`` is an integer, and at least so large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(f"{name}: expected an integer, {least} or more, found {value}")


def check_range(
    name: str,
    value: object,
    *,
    above: float | None = None,
    least: float | None = None,
    most: float | None = None,
    below: float = math.inf,
) -> None:
    """Raise InputError unless ``value`` is a finite number in a range."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    low = least if above is None else above
    high = math.inf if most is None else most
    fits = number and low is not None and low <= value <= high and value < below and value != above  # type: ignore[operator]
    if not fits:
        ends = f"above {above:g}" if above is not None else f"of {least:g} or more"
        ends += (
            f" and {most:g} or less" if most is not None else f" and less than {below:g}" if below < math.inf else ""
        )
        raise InputError(f"{name}: expected a finite number {ends}, found {value}")


def check_finite(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is a finite number."""
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not math.isfinite(value):  # type: ignore[arg-type]
        raise InputError(f"{name}: expected a finite number, found {value}")


def check_flag(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: expected True or False, found {value!r}")
