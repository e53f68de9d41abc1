"""Closed loops of joints, such as a four-bar linkage: two places that stay together, which no tree can say."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from viewer.errors import InputError, quote


@dataclass(frozen=True, slots=True)
class LoopClosure:
    """Two places of a skeleton that stay together.

    Attributes:
        a, b: names of joints, effectors or tips.
        rigid: their joints also keep the rotation that they have to each other at rest.
    """

    a: str
    b: str
    rigid: bool = False


def checked_loops(given: Iterable[LoopClosure], known: Collection[str]) -> tuple[LoopClosure, ...]:
    """The loops whose places are there: edits that remove one open the loop.

    Raises:
        InputError: what is no loop, or one of a place with itself.
    """
    found = []
    for one in given:
        if not isinstance(one, LoopClosure):
            raise InputError(f"skeleton loops: expected a LoopClosure, found {quote(one)}")
        if one.a == one.b:
            raise InputError(f"skeleton loops: {quote(one.a)} cannot be closed with itself")
        if one.a in known and one.b in known:
            found.append(one)
    return tuple(found)


def renamed_loops(loops: Iterable[LoopClosure], names: Mapping[str, str]) -> tuple[LoopClosure, ...]:
    """With other names of places, by old ones."""
    return tuple(replace(one, a=names.get(one.a, one.a), b=names.get(one.b, one.b)) for one in loops)
