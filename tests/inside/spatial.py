"""The inside of `viewer.spatial` that tests use."""

from viewer.spatial import closest, quaternion, vectors
from viewer.spatial.angles import (
    EULER_ORDERS,
    EulerOrder,
    axes_of,
    from_axis_sequence,
    from_euler,
    from_swing_twist,
    nearest_equivalent,
    parity_of,
    to_euler,
    to_swing_twist,
    twist_about,
    wrapped,
)
from viewer.spatial.checks import Bools, Floats, Ints, finite_floats, frozen, handed_over, unit_quaternions
from viewer.spatial.closest import planes, segment_distances
from viewer.spatial.projection import (
    Projection,
    Ray,
    closest_on_line,
    distance_to_points,
    hit_capsules,
    hit_sphere,
    hit_triangles,
)
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
from viewer.spatial.smoothing import ease, hermite, low_pass, median, quantiles, slopes, slow_path
