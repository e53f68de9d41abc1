"""The visible scene as arrays: camera, draw list, picking. No OpenGL."""

from viewer.document.document_goal import balance_words
from viewer.scene.camera import Camera, ViewName, blend
from viewer.scene.drawlist import cell_of, cell_shown, draw_list, pick_axis
from viewer.scene.limit_drawing import density_of
from viewer.scene.look import (
    PALETTE,
    RGBA,
    SIDES,
    facing,
    figure_height,
    figure_points,
    floor_of,
    look_of,
    rgba,
    seen_joints,
)
from viewer.scene.marks import balance_of
from viewer.scene.picking import Hit, box, hits, other_at, pick, pick_trail
from viewer.scene.primitives import (
    BONE,
    CAPSULE,
    FLAT,
    GRID_REACH,
    LINE,
    SOLID,
    SPHERE,
    VERTEX,
    DrawList,
    Ground,
    Records,
    SkinDraw,
    Text,
    text_width,
)
from viewer.scene.ranges import RangeEnd, range_ends, way_of
from viewer.scene.scene import (
    BODIES,
    Body,
    Density,
    Display,
    Footprint,
    Ghost,
    LimitsShown,
    Mark,
    OtherFigure,
    PropShape,
    Scene,
    Tie,
    TouchRing,
    Trail,
    props_of,
)
from viewer.scene.solids import MOST_SHADED, OCCLUDERS, axes_of, no_occluders, occluders_of, triangles_of

__all__ = [
    "BODIES", "BONE", "CAPSULE", "FLAT", "GRID_REACH", "LINE", "MOST_SHADED", "OCCLUDERS", "PALETTE", "RGBA",
    "SIDES", "SOLID", "SPHERE", "VERTEX", "Body", "Camera", "Density", "Display", "DrawList", "Footprint", "Ghost",
    "Ground", "Hit", "LimitsShown", "Mark", "OtherFigure", "PropShape", "RangeEnd", "Records", "Scene", "SkinDraw",
    "Text", "Tie", "TouchRing", "Trail", "ViewName", "axes_of", "balance_of", "balance_words", "blend",
    "box", "cell_of", "cell_shown",
    "density_of", "draw_list", "facing", "figure_height", "figure_points", "floor_of",
    "hits", "look_of", "no_occluders", "occluders_of", "other_at", "pick", "pick_axis", "pick_trail", "props_of",
    "range_ends", "rgba", "seen_joints", "text_width", "triangles_of", "way_of",
]  # fmt: skip
