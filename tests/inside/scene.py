"""The inside of `viewer.scene` that tests use."""

from viewer.scene.camera import FAR, FIT, NEAR, near_of
from viewer.scene.drawlist import axes_shapes, centre_of, ground_of, short_text
from viewer.scene.flat import Path, box, circle, clipped, dashes, tessellate
from viewer.scene.limit_drawing import density_of
from viewer.scene.look import SIDES, look_of
from viewer.scene.primitives import CAPSULE, SOLID, Records, SkinDraw, text_width
from viewer.scene.ranges import (
    CONE_LENGTH,
    Swing,
    Travel,
    Twist,
    edge_coordinates,
    limited_joint,
    range_ends,
    ranges_of,
    turns_of,
    way_of,
)
from viewer.scene.scene import Density
from viewer.scene.solids import measure, skin_draws, triangles_of
