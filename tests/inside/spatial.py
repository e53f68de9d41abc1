"""The inside of `viewer.spatial` that tests use."""

from viewer.spatial import closest, quaternion, quaternion as vectors
from viewer.spatial.checks import (
    Bools,
    Floats,
    Ints,
    Vector,
    finite_floats,
    frozen,
    handed_over,
    unit_quaternions,
)
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
    EULER_ORDERS,
    IDENTITY,
    EulerOrder,
    angle_between,
    axes_of,
    conjugate,
    exp,
    from_axis_angle,
    from_axis_sequence,
    from_euler,
    from_swing_twist,
    hemisphere_continuous,
    log,
    multiply,
    nearest_equivalent,
    normalized,
    parity_of,
    perpendicular,
    rotate,
    slerp,
    to_euler,
    to_matrix,
    to_swing_twist,
    twist_about,
    wrapped,
)
from viewer.spatial.smoothing import ease, hermite, low_pass, median, quantiles, slopes, slow_path
