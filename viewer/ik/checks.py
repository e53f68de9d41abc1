"""Checks of numbers and flags: of goals, options and settings."""

from __future__ import annotations

import math

import numpy as np

from viewer.errors import InputError


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
