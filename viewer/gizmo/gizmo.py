"""Handles around a point: to be drawn, and to be picked."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Final

import numpy as np

from viewer.errors import InputError
from viewer.gizmo.drawing import PLAIN, Shape, Style, draw
from viewer.gizmo.handles import handle, hit, seen_axes
from viewer.gizmo.linear_view import LinearView, linear_view
from viewer.gizmo.typed import METRE, PARTS, LengthUnit, Part, Tool
from viewer.spatial.checks import UNIT_TOLERANCE, Floats, finite_floats, frozen
from viewer.spatial.projection import Projection

HOVERED: Final = Style(colour="hovered")
HELD: Final = Style(colour="hovered", whole=True)
STEPPED_BACK: Final = Style(alpha=0.25)
"""Of the other handles, while one is held."""


@dataclass(frozen=True, slots=True, eq=False)
class Gizmo:
    """The handles of a tool at a place.

    Attributes:
        tool: which handles.
        position: (3,) metres in the world, the middle of the handles.
        axes: (3, 3) unit vectors of the world as columns: x, y and z of the handles.
        other_axes: (3, 3) those that an axis key pressed twice takes; None: there are no others.
        unit: lengths of a drag are read and typed in it.

    Raises:
        InputError: numbers that are not finite, or of another shape; axes not at right angles or not of length 1.
    """

    tool: Tool
    position: Floats
    axes: Floats
    other_axes: Floats | None = None
    unit: LengthUnit = METRE

    def __post_init__(self) -> None:
        """Take read-only arrays of finite numbers."""
        object.__setattr__(self, "position", frozen(finite_floats(self.position, (3,), "gizmo position")))
        object.__setattr__(self, "axes", _axes(self.axes, "gizmo axes"))
        if self.other_axes is not None:
            object.__setattr__(self, "other_axes", _axes(self.other_axes, "gizmo other axes"))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The handles that its tool has."""
        return PARTS[self.tool]

    def shapes(
        self, projection: Projection, scale: float = 1.0, hovered: Part | None = None, held: Part | None = None
    ) -> list[Shape]:
        """What is drawn, farthest first; nothing where the eye does not see its middle.

        Args:
            projection: the view, in pixels.
            scale: UI scale: pixels per pixel of the design.
            hovered: the handle under the pointer.
            held: the handle that is being dragged; the others step back.
        """
        view = linear_view(projection, self.position)
        return [] if view is None else shapes_at(self.tool, self.axes, view, scale, hovered, held)

    def pick(self, projection: Projection, x: float, y: float, scale: float = 1.0) -> Part | None:
        """The handle at a pixel, or None."""
        view = linear_view(projection, self.position)
        if view is None:
            return None
        seen = seen_axes(self.axes, view)
        return hit([handle(part, seen, self.tool, view, scale) for part in self.parts], x, y, scale)


def shapes_at(
    tool: Tool, axes: Floats, view: LinearView, scale: float, hovered: Part | None = None, held: Part | None = None
) -> list[Shape]:
    """The handles of a tool with axes (3, 3), as columns, in a view; farthest first."""
    seen = seen_axes(axes, view)
    shapes: list[Shape] = []
    for one in sorted([handle(part, seen, tool, view, scale) for part in PARTS[tool]], key=attrgetter("near")):
        style = HELD if one.part is held else PLAIN if held is None else STEPPED_BACK
        if held is None and one.part is hovered:
            style = HOVERED
        shapes += draw(one, seen, tool, view, scale, style)
    return shapes


def held_shapes(tool: Tool, part: Part, axes: Floats, view: LinearView, scale: float) -> list[Shape]:
    """A handle that is held by itself, where the tool shown is not the one that has it."""
    seen = seen_axes(axes, view)
    return draw(handle(part, seen, tool, view, scale), seen, tool, view, scale, HELD)


def _axes(value: Floats, what: str) -> Floats:
    axes = finite_floats(value, (3, 3), what)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(axes.T @ axes - np.eye(3)).max()
    if not off <= UNIT_TOLERANCE:
        raise InputError(f"{what}: expected unit vectors at right angles as columns, found {axes.tolist()}")
    return frozen(axes)
