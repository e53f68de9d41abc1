"""Handles to drag: rays in, transforms and shapes out. No OpenGL."""

from viewer.gizmo.constraint import RigidMotion
from viewer.gizmo.gizmo import Fill, Gizmo, Letter, Shape, Stroke
from viewer.gizmo.gizmo_drag import GizmoDrag
from viewer.gizmo.typed import METRE, LengthUnit, Part, Space, Tool, TypedNumbers, axes_of

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
