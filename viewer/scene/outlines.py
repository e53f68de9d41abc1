"""Outlines of flat shapes, as pixels: circles, diamonds, rounded boxes, dashes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.spatial.checks import Floats

_FLATNESS = 0.08
"""Pixels that a circle's straight pieces may be off it."""
_MOST = 96
DIAMOND: Floats = handed_over(np.array([[0.0, -1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]))
"""Corners (4, 2) of a diamond of half-diagonal 1."""


def circle(centre: ArrayLike, radius: float) -> Floats:
    """(N, 2) corners of a circle, as many as it needs to look round."""
    if radius <= _FLATNESS:
        return np.asarray(centre) + radius * _unit_circle(8)
    count = math.ceil(math.pi / math.acos(1.0 - _FLATNESS / radius))
    return np.asarray(np.asarray(centre) + radius * _unit_circle(min(max(4 * math.ceil(count / 4), 8), _MOST)))


def arc(centre: ArrayLike, radius: float, start: float, end: float) -> Floats:
    """(N, 2) points from one angle to another, radians clockwise from the right, as the screen's y points down."""
    turn = np.linspace(start, end, max(3, math.ceil(abs(end - start) / (2.0 * math.pi) * _MOST)))
    return np.asarray(np.asarray(centre) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1))


def box(left: float, top: float, right: float, bottom: float, radius: float = 0.0) -> Floats:
    """(N, 2) corners of a box whose corners are rounded."""
    if radius <= 0.0:
        return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])
    quarter = 0.5 * math.pi
    middles = ((right - radius, top + radius), (right - radius, bottom - radius),
               (left + radius, bottom - radius), (left + radius, top + radius))  # fmt: skip
    starts = (-quarter, 0.0, quarter, 2.0 * quarter)
    turns = [start + np.linspace(0.0, quarter, 6) for start in starts]
    return np.concatenate(
        [np.array(middle) + radius * np.stack([np.cos(turn), np.sin(turn)], axis=1)
         for middle, turn in zip(middles, turns, strict=True)]
    )  # fmt: skip


def dashes(start: ArrayLike, end: ArrayLike, on: float, off: float) -> list[Floats]:
    """Pieces (2, 2) of a straight line: ``on`` pixels long, ``off`` pixels apart, from its start."""
    first, last = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    length = float(np.linalg.norm(last - first))
    if length == 0.0:
        return []
    way = (last - first) / length
    begins = np.arange(0.0, length, on + off)
    ends = np.minimum(begins + on, length)
    return [first + np.outer(pair, way) for pair in np.stack([begins, ends], axis=1)]


def clipped(start: ArrayLike, end: ArrayLike, size: tuple[int, int], margin: float) -> tuple[Floats, Floats] | None:
    """The part of a line that is on a view of (width, height) pixels and its margin; None if none is."""
    first, last = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        return None
    low, high = 0.0, 1.0
    for at, way, most in zip(first.tolist(), (last - first).tolist(), size, strict=True):
        if way == 0.0:
            if not -margin <= at <= most + margin:
                return None
            continue
        near, far = sorted(((-margin - at) / way, (most + margin - at) / way))
        low, high = max(low, near), min(high, far)
    return (first + low * (last - first), first + high * (last - first)) if low <= high else None


@lru_cache(maxsize=64)
def _unit_circle(count: int) -> Floats:
    turn = 2.0 * math.pi * np.arange(count) / count
    return handed_over(np.stack([np.cos(turn), np.sin(turn)], axis=1))
