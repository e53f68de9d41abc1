"""Which handle a pixel hits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from viewer.gizmo.names import Part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.gizmo.handles import Handle
    from viewer.spatial.checks import Floats

HIT_WIDTH: Final = 10.0
"""Pixels across a line that hit it, at UI scale 1."""

_FARTHEST = 1e6
"""No pointer goes as many pixels; numbers beyond come from a fault, as those that are none."""

_SAME = 1.0
"""Pixels: of lines that are as near as this to the nearest one, the one in front is hit."""


def distance_to_path(pixel: Floats, path: Floats, *, closed: bool = False) -> float:
    """Pixels from a pixel (2,) to the nearest point of a path (N, 2)."""
    start = path if closed else path[:-1]
    run = np.roll(path, -1, axis=0) - path if closed else path[1:] - path[:-1]
    length2 = np.einsum("ni,ni->n", run, run)
    along = np.einsum("ni,ni->n", pixel - start, run) / np.where(length2 > 0.0, length2, 1.0)
    nearest = start + np.clip(along, 0.0, 1.0)[:, None] * run
    return float(np.linalg.norm(pixel - nearest, axis=-1).min(initial=np.inf))


def is_within(pixel: Floats, polygon: Floats) -> bool:
    """Whether a pixel (2,) is inside a convex polygon (N, 2), or on its border."""
    edge, toward = np.roll(polygon, -1, axis=0) - polygon, pixel - polygon
    turn = edge[:, 0] * toward[:, 1] - edge[:, 1] * toward[:, 0]
    return bool((turn >= 0.0).all() or (turn <= 0.0).all())


def hit(handles: Iterable[Handle], x: float, y: float, scale: float) -> Part | None:
    """The handle at a pixel: the centre before lines, these before areas; None where there is none."""
    pixel = np.array([x, y], dtype=np.float64)
    if not (np.abs(pixel) < _FARTHEST).all():
        return None
    seen = [one for one in handles if one.strength > 0.0]
    areas = [one for one in seen if one.area and is_within(pixel, one.path)]
    if any(one.part is Part.SCREEN for one in areas):
        return Part.SCREEN
    found = [(_distance(one, pixel), one) for one in seen if not one.area]
    found = [(distance, one) for distance, one in found if distance <= 0.5 * HIT_WIDTH * scale]
    if found:
        limit = min(distance for distance, _ in found) + _SAME * scale
        return max((one for distance, one in found if distance <= limit), key=lambda one: one.near).part
    return max(areas, key=lambda one: one.near).part if areas else None


def _distance(one: Handle, pixel: Floats) -> float:
    distance = distance_to_path(pixel, one.path, closed=one.closed)
    if one.back_strength >= 0.5:
        distance = min(distance, distance_to_path(pixel, one.back))
    return distance
