"""The inside of `viewer.scene` that tests use."""

from viewer.scene.annotations import short_text, text_width
from viewer.scene.axes_widget import centre_of, shapes
from viewer.scene.bones import measure
from viewer.scene.camera import FAR, FIT, NEAR, near_of
from viewer.scene.density import Density, density_of
from viewer.scene.drawlist import ground_of
from viewer.scene.flat import Path, arc, box, circle, clipped, dashes, fill, stroke, tessellate
from viewer.scene.look import SIDES, look_of
from viewer.scene.primitives import CAPSULE, SOLID, Records, SkinDraw
from viewer.scene.range_ends import range_ends, way_of
from viewer.scene.ranges import CONE_LENGTH, Swing, Travel, Twist, edge_coordinates, limited_joint, ranges_of, turns_of
from viewer.scene.skin import skin_draws
from viewer.scene.solids import triangles_of

__all__ = [
    "CAPSULE",
    "CONE_LENGTH",
    "FAR",
    "FIT",
    "NEAR",
    "SIDES",
    "SOLID",
    "Density",
    "Path",
    "Records",
    "SkinDraw",
    "Swing",
    "Travel",
    "Twist",
    "arc",
    "box",
    "centre_of",
    "circle",
    "clipped",
    "dashes",
    "density_of",
    "edge_coordinates",
    "fill",
    "ground_of",
    "limited_joint",
    "look_of",
    "measure",
    "near_of",
    "range_ends",
    "ranges_of",
    "shapes",
    "short_text",
    "skin_draws",
    "stroke",
    "tessellate",
    "text_width",
    "triangles_of",
    "turns_of",
    "way_of",
]
