"""What stands in for numpy's functions where compiled code runs the sources of contact on numbers."""

from __future__ import annotations

import math


def choose(condition: bool, a: float, b: float) -> float:
    """Return a where the condition holds, else b."""
    return a if condition else b


def lesser(a: float, b: float) -> float:
    """The smaller number."""
    return min(a, b)


def greater(a: float, b: float) -> float:
    """The larger number."""
    return max(a, b)


def root(a: float) -> float:
    """The square root."""
    return math.sqrt(a)


def size(a: float) -> float:
    """The absolute value."""
    return abs(a)


def whole(a: float) -> int:
    """The integer below a number that is 0 or more."""
    return int(a)
