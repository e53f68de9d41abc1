"""What is drawn below the handles during a drag: the locked axis, the steps of snapping, the angle turned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from viewer.gizmo.constraint import Constraint
from viewer.gizmo.gizmo import RING, VIEW_RING, Fill, Shape, Stroke, ring_frame, unit
from viewer.gizmo.typed import LETTERS, PLANES, Part
from viewer.spatial.checks import Floats
from viewer.spatial.projection import LinearView, Projection

LINE_WIDTH: Final = 1.5
SECTOR_ALPHA: Final = 0.16
TICKS: Final = 5
"""How many steps are shown to either side."""

TICK: Final = 4.0
TICK_TAKEN: Final = 8.0
TICK_MAJOR: Final = 6.0
"""Lengths in pixels."""

_MAJOR_DEG = 45.0
_MOST_TICKS = 720
_CLOSEST = 4.0
"""Pixels between ticks below which none are drawn."""

_SHORTEST = 0.02
"""Foreshortening below which an axis is not drawn."""


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """The state of a drag.

    Attributes:
        position: (3,) metres in the world where it began.
        first: radians about a ring's middle at which it began.
        numbers: (k,) metres or degrees since.
        step: of snapping, in the same units; 0 = it does not snap.
        locked: whether a key has locked the axis or plane.
    """

    position: Floats
    first: float
    numbers: Floats
    step: float
    locked: bool


def guides(
    constraint: Constraint, extent: Extent, projection: Projection, view: LinearView, scale: float
) -> list[Shape]:
    """All guides of a drag; ``view``: where it began."""
    shapes: list[Shape] = []
    if not constraint.turning or extent.locked:
        for axis in constraint.indices:
            line = line_across(projection, view, constraint.axes[:, axis])
            alpha = 0.5 if constraint.part in PLANES else 0.9
            if line is not None:
                shapes.append(Stroke(line, LINE_WIDTH * scale, LETTERS[axis].lower(), alpha))
    if constraint.turning:
        return shapes + _angle(constraint, extent, view, scale)
    return shapes + _steps(constraint, extent, projection, view, scale)


def line_across(projection: Projection, view: LinearView, axis: Floats) -> Floats | None:
    """(2, 2) ends of the visible part of an infinite line, pixels; None if nothing is visible."""
    if view.foreshortening(axis) < _SHORTEST:
        return None
    along, recede = view.spread @ axis * view.metre, float(view.recede @ axis) * view.metre
    # The picture of the place t pixels along is centre + along * t / (1 + recede t): it ends at the vanishing point.
    low, high = -math.inf, math.inf
    if recede > 0.0:
        high = 1.0 / recede
    elif recede < 0.0:
        low = 1.0 / recede
    for start, run, size in zip(view.centre.tolist(), along.tolist(), projection.size, strict=True):
        if abs(run) < _SHORTEST * 1e-6:
            if not 0.0 <= start <= size:
                return None
            continue
        ends = sorted(((0.0 - start) / run, (size - start) / run))
        low, high = max(low, ends[0]), min(high, ends[1])
    return view.centre + np.multiply.outer([low, high], along) if low < high else None


def _steps(
    constraint: Constraint, extent: Extent, projection: Projection, view: LinearView, scale: float
) -> list[Shape]:
    """Ticks to either side of where the drag began, and of where it is, along each of its directions."""
    directions = constraint.directions()
    if extent.step <= 0.0 or len(extent.numbers) != directions.shape[1]:
        return []
    shapes: list[Shape] = []
    for direction, amount in zip(directions.T, extent.numbers.tolist(), strict=True):
        spacing = extent.step * float(np.linalg.norm(view.spread @ direction))
        if view.foreshortening(direction) < _SHORTEST or spacing < _CLOSEST * scale:
            continue
        taken = round(amount / extent.step)
        steps = sorted({*range(-TICKS, TICKS + 1), *range(taken - TICKS, taken + TICKS + 1)})
        places = projection.project(extent.position + np.multiply.outer(np.array(steps) * extent.step, direction))
        along = unit(view.spread @ direction)
        shapes += _ticks(steps, places, np.array([-along[1], along[0]]), taken, scale)
    return shapes


def _ticks(steps: list[int], places: Floats, across: Floats, taken: int, scale: float) -> list[Shape]:
    shapes: list[Shape] = []
    for step, place in zip(steps, places, strict=True):
        if np.isfinite(place).all():
            half = 0.5 * scale * (TICK_TAKEN if step == taken else TICK) * across
            colour = "text" if step == taken else "text2"
            shapes.append(Stroke(np.stack([place - half, place + half]), LINE_WIDTH * scale, colour))
    return shapes


def _angle(constraint: Constraint, extent: Extent, view: LinearView, scale: float) -> list[Shape]:
    """The sector turned, and the steps around the ring."""
    if constraint.part is Part.VIEW_RING:
        frame, radius, colour = np.array([[1.0, 0.0], [0.0, -1.0]]), VIEW_RING * scale, "text"
    else:
        axis = constraint.directions()[:, 0]
        frame = view.pixels(np.stack(ring_frame(axis, view)))
        radius, colour = RING * scale, LETTERS[constraint.indices[0]].lower()
    turned = float(np.clip(extent.numbers[0], -360.0, 360.0))
    angles = extent.first + np.linspace(0.0, math.radians(turned), 1 + max(math.ceil(abs(turned) / 5.0), 1))
    rim = view.centre + radius * _directions(angles) @ frame
    # A fill is convex: a sector of up to half a turn.
    sectors = [rim[begin : begin + 37] for begin in range(0, len(rim) - 1, 36)]
    shapes: list[Shape] = [
        Fill(np.concatenate([view.centre[None], sector]), colour, SECTOR_ALPHA) for sector in sectors
    ]
    shapes += [Stroke(np.stack([view.centre, end]), LINE_WIDTH * scale, colour, 0.8) for end in (rim[0], rim[-1])]
    return shapes + _ring_ticks(extent, view, frame, radius, scale)


def _ring_ticks(extent: Extent, view: LinearView, frame: Floats, radius: float, scale: float) -> list[Shape]:
    count = round(360.0 / extent.step) if extent.step > 0.0 else 0
    if not 0 < count <= _MOST_TICKS:
        return []
    taken = round(float(extent.numbers[0]) / extent.step) % count
    angles = extent.first + np.radians(extent.step * np.arange(count))
    outward = _directions(angles) @ frame
    # Where the ring runs towards the eye, ticks are too close to tell apart.
    apart = np.linalg.norm(_directions(angles + 0.5 * np.pi) @ frame, axis=-1) * 2.0 * np.pi * radius / count
    shapes: list[Shape] = []
    for step in np.flatnonzero((apart >= _CLOSEST * scale) | (np.arange(count) == taken)).tolist():
        major = math.isclose(math.remainder(step * extent.step, _MAJOR_DEG), 0.0, abs_tol=1e-6)
        length = TICK_TAKEN if step == taken else TICK_MAJOR if major else TICK
        ends = view.centre + np.multiply.outer([radius, radius + length * scale], outward[step])
        shapes.append(Stroke(ends, LINE_WIDTH * scale, "text" if step == taken else "text2", 1.0 if major else 0.7))
    return shapes


def _directions(angles: Floats) -> Floats:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)
