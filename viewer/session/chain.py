"""How long the chain is that a drag moves: how many joints above what is dragged take part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.session.standing import above, below
from viewer.skeleton.effectors import find_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from viewer.session.document import Document
    from viewer.session.drag_goals import Held
    from viewer.session.values import Item
    from viewer.skeleton.skeleton import Skeleton


class Way(NamedTuple):
    """The joints that can bring something dragged to its target, nearest first.

    Attributes:
        joint: that it is fixed to.
        movers: of it: without that joint where it stands in its middle, which turning does not move.
    """

    joint: int
    movers: tuple[int, ...]


def ways_of(document: Document, items: Iterable[Item], held: Iterable[Held]) -> tuple[Way, ...]:
    """One for each item: effectors by their places, joints by the point that is held."""
    skeleton, points = document.skeleton, {one.item: one.point for one in held}
    ways = []
    for item in items:
        if item.kind == "effector":
            place = find_place(skeleton, item.name)
            joint, point = place.joint, np.add(place.offset, document.handle(item.name).offset)
        else:
            joint, point = skeleton.index(item.name), np.array(points[item])
        path = above(skeleton, joint)
        ways.append(Way(joint, tuple(path if point.any() else path[1:])))
    return tuple(ways)


def longest(ways: Sequence[Way], skeleton: Skeleton, locked: frozenset[str]) -> int:
    """Joints of the longest chain, without those that may not move anyway."""
    return max((sum(skeleton.names[joint] not in locked for joint in way.movers) for way in ways), default=0)


def locked_beyond(skeleton: Skeleton, ways: Sequence[Way], length: int, locked: frozenset[str]) -> frozenset[str]:
    """Names of the joints that may not move while only so many do above what is dragged.

    What hangs on those that do moves, too: it may have goals of its own.
    """
    tops = []
    for way in ways:
        free = [joint for joint in way.movers if skeleton.names[joint] not in locked][:length]
        tops.append(free[-1] if free else way.joint)
    moves = below(skeleton, tops)
    return locked | {name for name, free in zip(skeleton.names, moves.tolist(), strict=True) if not free}
