"""What a drag may change: along which directions, or about which axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.gizmo.linear_view import LinearView
from viewer.gizmo.measures import Measure, axis_measure, plane_measure, ring_measure, screen_measure, view_ring_measure
from viewer.gizmo.motion import IDENTITY, Motion
from viewer.gizmo.typed import (
    AXES,
    AXIS_OF,
    LETTERS,
    METRE,
    PLANES,
    LengthUnit,
    Part,
    in_degrees,
    in_lengths,
    number,
    while_typed,
)
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import from_axis_angle

_NO_TURN = 1e-12
"""Radians below which a turn is none: full turns are not exact to the last bit."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """A part of the handles as a drag holds it.

    Attributes:
        part: arrow, square, ring or one that faces the eye.
        axes: (3, 3) of the space that it is of, as columns.
        turning: whether it turns rather than moves.
        facing: (3, 3) to the right, up and out of the screen, at the drag's start, as columns.
        typed_everywhere: whether a number can be typed for each of the three axes, not for the part's own alone.
    """

    part: Part
    axes: Floats
    turning: bool
    facing: Floats
    typed_everywhere: bool = False

    @property
    def indices(self) -> tuple[int, ...]:
        """The axes (0, 1, 2) that it is along or about; none of those that face the eye."""
        axis = AXIS_OF.get(self.part)
        if axis is None:
            return ()
        return (axis,) if self.part in AXES else tuple(sorted({0, 1, 2} - {axis}))

    def directions(self, *, typed: bool = False) -> Floats:
        """(3, k) of its numbers. What is typed has letters: where the eye's plane has none, all three axes serve."""
        if self.part is Part.VIEW_RING:
            return self.facing[:, 2:]
        if typed and self._all_axes:
            return self.axes
        if self.part is Part.SCREEN:
            return self.facing[:, :2]
        return self.axes[:, list(self.indices)]

    def names(self, *, typed: bool = False) -> tuple[str, ...]:
        """What its numbers are called."""
        if self.part is Part.VIEW_RING:
            return ("Δ",)
        if typed and self._all_axes:
            return tuple(f"Δ{letter}" for letter in LETTERS)
        if self.part is Part.SCREEN:
            return ("Right", "Up")
        return tuple(f"Δ{LETTERS[axis]}" for axis in self.indices)

    @property
    def _all_axes(self) -> bool:
        """Whether what is typed has a number for each axis."""
        return self.part is Part.SCREEN or self.typed_everywhere

    def measure(
        self, projection: Projection, view: LinearView | None, position: Floats, start: tuple[float, float]
    ) -> Measure:
        """Pixels to its numbers, for a drag that starts at a pixel."""
        directions = self.directions()
        if self.turning:
            if self.part is Part.VIEW_RING:
                return view_ring_measure(view, *start)
            return ring_measure(view, directions[:, 0], *start)
        if self.part is Part.SCREEN:
            return screen_measure(projection, view)
        if self.part in PLANES:
            return plane_measure(projection, view, position, directions)
        return axis_measure(view, directions[:, 0])

    def motion(
        self,
        numbers: Floats,
        pivot: Floats,
        decimals: int,
        typed: Sequence[str] | None = None,
        unit: LengthUnit = METRE,
    ) -> Motion:
        """What its numbers (k,) do, metres or degrees; ``typed`` are their texts, if they were typed."""
        names = self.names(typed=typed is not None)
        shown = (numbers if self.turning else numbers / unit.metres).tolist()
        texts = [number(value, 1 if self.turning else decimals) for value in shown]
        texts = texts if typed is None else while_typed(typed)
        if self.turning:
            return Motion(np.zeros(3), self._turn(float(numbers[0])), pivot, in_degrees(names[0], texts[0]))
        way = self.directions(typed=typed is not None) @ numbers
        return Motion(way, IDENTITY, pivot, in_lengths(names, texts, unit))

    def _turn(self, degrees: float) -> Floats:
        angle = math.remainder(math.radians(degrees), 2.0 * math.pi)
        return IDENTITY if abs(angle) < _NO_TURN else from_axis_angle(self.directions()[:, 0], angle)
