"""Joint names: making them unique, and reading side and part of the body out of them."""

from __future__ import annotations

from viewer.errors import quote


def unique_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names that repeat become ``name_2``, ``name_3``, ... (the first that is free), with a warning each."""
    taken = set(names)
    seen: set[str] = set()
    result: list[str] = []
    warnings: list[str] = []
    next_number: dict[str, int] = {}
    for name in names:
        unique = name
        if name in seen:
            number = next_number.get(name, 2)
            while (unique := f"{name}_{number}") in taken:
                number += 1
            next_number[name] = number + 1
            taken.add(unique)
            warnings.append(f"two joints are called {quote(name)}: one is now {quote(unique)}")
        seen.add(unique)
        result.append(unique)
    return tuple(result), warnings
