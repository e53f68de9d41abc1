"""The unit that lengths are shown and typed in."""

from __future__ import annotations

from typing import NamedTuple


class LengthUnit(NamedTuple):
    """A unit of length, and how finely it is written.

    Attributes:
        name: behind numbers.
        metres: that it is worth.
        decimals: of a number in it, at least.
    """

    name: str = "m"
    metres: float = 1.0
    decimals: int = 3


METRE = LengthUnit()
