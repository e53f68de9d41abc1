"""Handles while one of them is held."""

from __future__ import annotations

from viewer.gizmo.constraint import Constraint
from viewer.gizmo.drawing import Shape, draw
from viewer.gizmo.gizmo import HELD, Gizmo
from viewer.gizmo.handles import handle
from viewer.gizmo.linear_view import linear_view
from viewer.gizmo.motion import Motion
from viewer.gizmo.typed import Tool
from viewer.spatial.projection import Projection


def held_shapes(
    gizmo: Gizmo, constraint: Constraint, motion: Motion, projection: Projection, scale: float
) -> list[Shape]:
    """The handles where the motion has brought them; the held one alone where the tool does not show it."""
    position, _ = motion.apply(gizmo.position, None)
    tool = Tool.ROTATE if constraint.turning else Tool.MOVE
    part = constraint.part
    if gizmo.tool is tool:
        return Gizmo(tool, position, constraint.axes).shapes(projection, scale, held=part)
    view = linear_view(projection, position)
    if view is None:
        return []
    return draw(handle(part, constraint.axes, tool, view, scale), constraint.axes, tool, view, scale, HELD)
