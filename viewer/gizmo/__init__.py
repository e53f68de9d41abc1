"""Handles to drag: rays in, transforms and shapes out. No OpenGL."""

from viewer.gizmo.constraint import RigidMotion
from viewer.gizmo.gizmo import METRE, Fill, Gizmo, LengthUnit, Letter, Part, Shape, Space, Stroke, Tool, axes_of
from viewer.gizmo.gizmo_drag import GizmoDrag, TypedNumbers

__all__ = [
    "METRE",
    "Fill",
    "Gizmo",
    "GizmoDrag",
    "LengthUnit",
    "Letter",
    "Part",
    "RigidMotion",
    "Shape",
    "Space",
    "Stroke",
    "Tool",
    "TypedNumbers",
    "axes_of",
]
