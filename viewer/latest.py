"""The latest value of what is slow to make: kept until what it depends on is another."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """A value that is made again only when what it depends on is another."""

    def __init__(self) -> None:
        self._made: tuple[tuple[object, ...], object, T] | None = None

    def of(self, make: Callable[[], T], *same: object, equal: object = None) -> T:
        """The value; ``make`` makes it if one of ``same`` is another object than before, or ``equal`` differs."""
        made = self._made
        if made is None or made[1] != equal or len(made[0]) != len(same) or not all(map(is_, made[0], same)):
            self._made = made = same, equal, make()
        return made[2]
