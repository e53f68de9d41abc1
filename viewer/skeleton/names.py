"""Joint names: making them unique, and reading side and part of the body out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import quote

if TYPE_CHECKING:
    from collections.abc import Iterable


class FreeNames:
    """Hands out names that nothing has yet, and remembers where it counted to: many equal names cost no more each."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """Begin with names that are not free."""
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """The name itself if it is free, else as `numbered`."""
        if name in self._taken:
            return self.numbered(name)
        self._taken.add(name)
        return name

    def numbered(self, name: str) -> str:
        """``name_2``, ``name_3``, ...: the first that is free."""
        number = self._next.get(name, 2)
        while (free := f"{name}_{number}") in self._taken:
            number += 1
        self._next[name] = number + 1
        self._taken.add(free)
        return free


def unique_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names that repeat become ``name_2``, ``name_3``, ... (the first that is free), with a warning each."""
    free = FreeNames(names)
    seen: set[str] = set()
    result: list[str] = []
    warnings: list[str] = []
    for name in names:
        unique = free.numbered(name) if name in seen else name
        if unique != name:
            warnings.append(f"two joints are called {quote(name)}: one is now {quote(unique)}")
        seen.add(unique)
        result.append(unique)
    return tuple(result), warnings
