"""Where handles lie on the screen, how much of them is seen, and which one a pixel hits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from viewer.gizmo.linear_view import LinearView
from viewer.gizmo.typed import AXIS_OF, PLANES, Part, Tool
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import perpendicular

ARROW: Final = (13.0, 84.0)
"""Where arrows begin and end: pixels from the middle at UI scale 1, as all lengths here."""

HEAD: Final = (13.0, 11.0)
"""How long and how wide an arrow's head is."""

SQUARE: Final = (25.0, 42.0)
"""Between which distances along both axes a plane's square lies."""

DISC: Final = 11.0
RING: Final = 72.0
VIEW_RING: Final = 84.0
"""Radii: the centre ring, the rings of the axes, the ring that faces the eye."""

AXIS_FADE: Final = (0.12, 0.26)
"""Foreshortening at which an arrow vanishes, and at which it is opaque."""

PLANE_FADE: Final = (0.18, 0.32)
"""Facing at which a square vanishes, and at which it is opaque."""

BACK_FADE: Final = (0.90, 0.98)
"""Facing at which the far half of a ring appears, and at which it is opaque: face-on, no half is nearer."""

_NO_POINTS: Final = np.empty((0, 2))
_ENDS: Final = np.array(ARROW)[:, None]
_CORNERS: Final = np.array([(SQUARE[a], SQUARE[b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))])
_AROUND = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
_CIRCLE: Final = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=-1)
_QUARTER: Final = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 49)


@dataclass(frozen=True, slots=True, eq=False)
class Handle:
    """One handle on the screen.

    Attributes:
        part: which.
        strength: 0 (not to be seen or hit) .. 1, by how it is turned to the eye.
        path: (N, 2) pixels: an arrow's ends, a square's corners, the near half of a ring, or a circle.
        back: (N, 2) pixels of the far half of a ring, or (0, 2).
        back_strength: 0 .. 1 likewise.
        closed: whether the path's end is joined to its start.
        area: whether what the path encloses belongs to the handle.
        near: how much it points at the eye: of two handles in one place, the larger is in front.
    """

    part: Part
    strength: float
    path: Floats
    back: Floats
    back_strength: float = 0.0
    closed: bool = False
    area: bool = False
    near: float = 0.0


def fade(value: float, limits: tuple[float, float]) -> float:
    """0 at and below the first limit, 1 at and above the second."""
    low, high = limits
    return min(max((value - low) / (high - low), 0.0), 1.0)


def unit(vector: Floats) -> Floats:
    """The vector (..., n) with length 1, or 0 where it has none."""
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    return np.asarray(vector / np.where(length > 0.0, length, 1.0))


class SeenAxes(NamedTuple):
    """How the axes of a gizmo are seen.

    Attributes:
        axes: (3, 3) unit vectors of the world as rows.
        pixels: (3, 2) that each axis appears, drawn one pixel long.
        away: how much each points away from the eye, -1 .. 1.
        lengths: how long each looks: 1 across the line of sight, 0 along it.
    """

    axes: Floats
    pixels: Floats
    away: list[float]
    lengths: list[float]


def seen_axes(axes: Floats, view: LinearView) -> SeenAxes:
    """How axes (3, 3), as columns, are seen."""
    rows = axes.T
    away = rows @ view.sight
    across = rows - away[:, None] * view.sight
    return SeenAxes(rows, view.pixels(rows), away.tolist(), np.sqrt(np.einsum("ai,ai->a", across, across)).tolist())


def handle(part: Part, seen: SeenAxes, tool: Tool, view: LinearView, scale: float) -> Handle:
    """One handle of a tool; those that face the eye are the same in every tool."""
    axis = AXIS_OF.get(part)
    if axis is None:
        centre = part is Part.SCREEN
        path = view.centre + (DISC if centre else VIEW_RING) * scale * _CIRCLE
        return Handle(part, 1.0, path, _NO_POINTS, closed=True, area=centre, near=2.0 if centre else -2.0)
    if part in PLANES:
        return _square(part, axis, seen, view, scale)
    return _ring(part, seen.axes[axis], view, scale) if tool is Tool.ROTATE else _arrow(part, axis, seen, view, scale)


def ring_frame(axis: Floats, view: LinearView) -> tuple[Floats, Floats]:
    """Unit directions (3,) to a ring's point nearest to the eye, and to where turning takes that point next."""
    near = -view.sight + (view.sight @ axis) * axis
    length = float(np.linalg.norm(near))
    near = near / length if length > 1e-6 else perpendicular(axis)
    return near, np.cross(axis, near)


def _arrow(part: Part, axis: int, seen: SeenAxes, view: LinearView, scale: float) -> Handle:
    path = view.centre + scale * _ENDS * seen.pixels[axis]
    return Handle(part, fade(seen.lengths[axis], AXIS_FADE), path, _NO_POINTS, near=-seen.away[axis])


def _square(part: Part, axis: int, seen: SeenAxes, view: LinearView, scale: float) -> Handle:
    """A square at right angles to an axis, between the two after it."""
    sides = [(axis + 1) % 3, (axis + 2) % 3]
    path = view.centre + scale * _CORNERS @ seen.pixels[sides]
    near = -sum(seen.away[side] for side in sides)
    strength = fade(abs(seen.away[axis]), PLANE_FADE)
    return Handle(part, strength, path, _NO_POINTS, closed=True, area=True, near=near)


def _ring(part: Part, axis: Floats, view: LinearView, scale: float) -> Handle:
    near, side = view.pixels(np.stack(ring_frame(axis, view))) * (RING * scale)
    angle = _QUARTER[:, None]
    half = np.cos(angle) * near + np.sin(angle) * side
    seen = fade(view.facing(axis), BACK_FADE)
    return Handle(part, 1.0, view.centre + half, view.centre - half, back_strength=seen, near=0.5)


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
