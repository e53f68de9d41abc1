"""Gizmos for tests: in any view, with any axes; their shapes as numbers, and drags of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import strategies as st
from inside.spatial import from_axis_angle, to_matrix
from strategies import random_quaternions, seeds
from views import Place, looking, pixel_of, places

from viewer.gizmo import Fill, Gizmo, GizmoDrag, Letter, Part, Stroke, Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inside.spatial import Floats, Projection

    from viewer.gizmo import RigidMotion, Shape

ORIGIN = np.zeros(3)
LOCAL = to_matrix(from_axis_angle([0.0, 1.0, 0.0], 0.5))
AXES = (Part.X, Part.Y, Part.Z)
PLANES = (Part.YZ, Part.ZX, Part.XY)
MOVES = (*AXES, *PLANES, Part.SCREEN)
TURNS = (*AXES, Part.VIEW_RING)
PIXELS = st.floats(-3000.0, 3000.0)
ANY_PIXEL = st.floats(width=64)


class Case(NamedTuple):
    """A gizmo in a view."""

    gizmo: Gizmo
    projection: Projection
    unit: float

    @property
    def pixel(self) -> tuple[float, float]:
        """Where its middle is seen."""
        return pixel_of(self.projection, self.gizmo.position)

    @property
    def metre(self) -> float:
        """Metres per pixel there."""
        return 1.0 / float(self.projection.pixels_per_metre(self.gizmo.position))

    @property
    def sight(self) -> Floats:
        """(3,) from the eye to it."""
        if self.projection.orthographic:
            return -self.projection.back
        to = self.gizmo.position - self.projection.eye
        return np.asarray(to / np.linalg.norm(to))

    def drag(self, part: Part, dx: float = 0.0, dy: float = 0.0, *, snap_m: float = 0.05) -> GizmoDrag:
        """A drag that begins so many pixels to the right of and below its middle."""
        x, y = self.pixel
        return GizmoDrag(self.gizmo, self.projection, part, x + dx, y + dy, snap_m=snap_m)

    def moved(self, drag: GizmoDrag, dx: float, dy: float, *, snap: bool = False, fine: bool = False) -> RigidMotion:
        """The pointer at so many pixels to the right of and below its middle."""
        x, y = self.pixel
        return drag.move(x + dx, y + dy, snap=snap, fine=fine)


def case_of(place: Place, seed: int, tool: Tool) -> Case:
    """With axes turned anyhow, or those of the world."""
    random = np.random.default_rng(seed)
    axes = np.eye(3) if random.random() < 0.3 else to_matrix(random_quaternions(random))
    return Case(Gizmo(tool, place.point, axes), place.projection, place.unit)


def cases(tool: Tool, *, orthographic: bool | None = None) -> st.SearchStrategy[Case]:
    """Gizmos of a tool, with any axes in any view, or in those of one kind of lens."""
    return st.builds(case_of, places(orthographic=orthographic), seeds, st.just(tool))


def simple(
    tool: Tool, yaw: float = 40.0, pitch: float = 15.0, distance: float = 3.0, *, orthographic: bool = False
) -> Case:
    """With the world's axes at the origin, in the middle of the view."""
    projection = looking(yaw, pitch, distance, orthographic=orthographic)
    return Case(Gizmo(tool, ORIGIN, np.eye(3)), projection, 1.0)


def numbers_of(shapes: Iterable[Shape]) -> Floats:
    """All numbers of shapes in one row."""
    rows: list[Floats] = []
    for shape in shapes:
        if isinstance(shape, Letter):
            rows.append(np.array([*shape.at, shape.alpha]))
        else:
            width = shape.width if isinstance(shape, Stroke) else 0.0
            rows.append(np.array([*shape.points.ravel(), width, shape.alpha]))
    return np.concatenate(rows) if rows else np.zeros(0)


def strokes(shapes: Iterable[Shape], colour: str) -> list[Stroke]:
    """The lines of one colour."""
    return [shape for shape in shapes if isinstance(shape, Stroke) and shape.colour == colour]


def fills(shapes: Iterable[Shape], colour: str) -> list[Fill]:
    """The areas of one colour."""
    return [shape for shape in shapes if isinstance(shape, Fill) and shape.colour == colour]


def letters(shapes: Iterable[Shape]) -> dict[str, Letter]:
    """The letters."""
    return {shape.text: shape for shape in shapes if isinstance(shape, Letter)}


def a_grab(tool: Tool = Tool.SELECT, part: Part = Part.SCREEN, other: Floats | None = None) -> GizmoDrag:
    """In a view from the front, and slightly from one side, in local axes, moved by 100 pixels to the right and up."""
    projection = looking(20.0, 20.0)
    x, y = projection.project(np.zeros(3)).tolist()
    drag = GizmoDrag(Gizmo(tool, np.zeros(3), LOCAL, other), projection, part, x + 30.0, y)
    drag.move(x + 130.0, y - 100.0)
    return drag
