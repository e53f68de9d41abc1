"""Checks of texts, enumeration words and single numbers."""

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
