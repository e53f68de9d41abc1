"""The inside of `viewer.spatial` that tests use."""

from viewer.spatial import closest, quaternion
from viewer.spatial.checks import Bools, Floats, Ints, finite_floats, frozen, handed_over, unit_quaternions
from viewer.spatial.closest import planes, segment_distances
from viewer.spatial.euler import (
    axes_of,
    from_axis_sequence,
    from_euler,
    nearest_equivalent,
    parity_of,
    to_euler,
    wrapped,
)
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import (
    IDENTITY,
    angle_between,
    conjugate,
    exp,
    from_axis_angle,
    hemisphere_continuous,
    log,
    multiply,
    normalized,
    perpendicular,
    rotate,
    slerp,
    to_matrix,
)
from viewer.spatial.rays import (
    Ray,
    closest_on_line,
    distance_to_points,
    hit_capsules,
    hit_sphere,
    hit_triangles,
)
from viewer.spatial.smoothing import ease, hermite, low_pass
from viewer.spatial.swing_twist import from_swing_twist, to_swing_twist, twist_about

__all__ = [
    "IDENTITY",
    "Bools",
    "Floats",
    "Ints",
    "Projection",
    "Ray",
    "angle_between",
    "axes_of",
    "closest",
    "closest_on_line",
    "conjugate",
    "distance_to_points",
    "ease",
    "exp",
    "finite_floats",
    "from_axis_angle",
    "from_axis_sequence",
    "from_euler",
    "from_swing_twist",
    "frozen",
    "handed_over",
    "hemisphere_continuous",
    "hermite",
    "hit_capsules",
    "hit_sphere",
    "hit_triangles",
    "log",
    "low_pass",
    "multiply",
    "nearest_equivalent",
    "normalized",
    "parity_of",
    "perpendicular",
    "planes",
    "quaternion",
    "rotate",
    "segment_distances",
    "slerp",
    "to_euler",
    "to_matrix",
    "to_swing_twist",
    "twist_about",
    "unit_quaternions",
    "wrapped",
]
