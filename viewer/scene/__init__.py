"""The visible scene as arrays: camera, draw list, picking. No OpenGL."""

from __future__ import annotations

from viewer.document.document_goal import balance_words
from viewer.scene.annotations import pick_axis
from viewer.scene.camera import Camera, ViewName, blend
from viewer.scene.drawlist import cell_of, draw_list
from viewer.scene.floor_marks import balance_of
from viewer.scene.look import PALETTE, figure_height, figure_points, floor_of, rgba
from viewer.scene.other_figures import other_at
from viewer.scene.picking import Hit, box, hits, pick, pick_trail
from viewer.scene.primitives import BONE, CAPSULE, FLAT, LINE, SOLID, SPHERE, VERTEX, DrawList, Ground, Text
from viewer.scene.ranges import RangeEnd, range_ends, way_of
from viewer.scene.scene import (
    Display,
    Footprint,
    Ghost,
    Mark,
    OtherFigure,
    PropShape,
    Scene,
    Tie,
    TouchRing,
    Trail,
    facing,
)

__all__ = [
    "BONE",
    "CAPSULE",
    "FLAT",
    "LINE",
    "PALETTE",
    "SOLID",
    "SPHERE",
    "VERTEX",
    "Camera",
    "Display",
    "DrawList",
    "Footprint",
    "Ghost",
    "Ground",
    "Hit",
    "Mark",
    "OtherFigure",
    "PropShape",
    "RangeEnd",
    "Scene",
    "Text",
    "Tie",
    "TouchRing",
    "Trail",
    "ViewName",
    "balance_of",
    "balance_words",
    "blend",
    "box",
    "cell_of",
    "draw_list",
    "facing",
    "figure_height",
    "figure_points",
    "floor_of",
    "hits",
    "other_at",
    "pick",
    "pick_axis",
    "pick_trail",
    "range_ends",
    "rgba",
    "way_of",
]
