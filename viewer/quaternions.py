"""Rotations as arrays: unit quaternions (x, y, z, w), converted from and to every other common form.

Every function takes arrays of any leading shape, (..., 4), and broadcasts. ``multiply(p, q)`` rotates by q first, then
by p, as matrices do. Angles are radians. q and -q are the same rotation.

    from viewer import quaternions

    q = quaternions.from_wxyz(numbers)                     # other libraries put w first
    arm = quaternions.multiply(q, quaternions.from_axis_angle((0, 0, 1), 0.5))
    print(quaternions.to_matrix(arm), quaternions.to_euler(arm, "zxy"))
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.spatial import quaternion
from viewer.spatial.checks import Floats, as_floats
from viewer.spatial.quaternion import EULER_ORDERS, EulerOrder

_ORTHOGONAL = 1e-3
"""Matrices may differ from rotations by this much, as after rounding to few digits."""

__all__ = [
    "angle_between", "between", "conjugate", "continuous", "from_6d", "from_axis_angle", "from_euler", "from_matrix",
    "from_rotation_vector", "from_wxyz", "identity", "multiply", "normalized", "rotate", "slerp", "to_6d",
    "to_axis_angle", "to_euler", "to_matrix", "to_rotation_vector", "to_wxyz",
]  # fmt: skip


def identity(*shape: int) -> Floats:
    """No rotation: (*shape, 4)."""
    return np.broadcast_to(quaternion.IDENTITY, (*shape, 4)).copy()


def normalized(q: ArrayLike) -> Floats:
    """Quaternions (..., 4) at unit length.

    Raises:
        InputError: not finite, or of length 0.
    """
    values = _last(q, 4, "quaternions")
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0)
    if not (largest > 0.0).all():
        raise InputError("quaternions: expected a length above 0, found 0")
    return quaternion.normalized(values / largest)


def multiply(p: ArrayLike, q: ArrayLike) -> Floats:
    """The product p q (..., 4): rotates by q, then by p."""
    return quaternion.multiply(_last(p, 4, "quaternions"), _last(q, 4, "quaternions"))


def conjugate(q: ArrayLike) -> Floats:
    """The inverse rotations (..., 4) of unit quaternions."""
    return quaternion.conjugate(_last(q, 4, "quaternions"))


def rotate(q: ArrayLike, v: ArrayLike) -> Floats:
    """Vectors (..., 3) rotated by unit quaternions (..., 4)."""
    return quaternion.rotate(_last(q, 4, "quaternions"), _last(v, 3, "vectors"))


def slerp(p: ArrayLike, q: ArrayLike, part: ArrayLike) -> Floats:
    """From p (part 0) to q (part 1) at constant angular speed along the shorter arc; parts (...)."""
    return quaternion.slerp(_last(p, 4, "quaternions"), _last(q, 4, "quaternions"), part)


def between(a: ArrayLike, b: ArrayLike) -> Floats:
    """The shortest rotations (..., 4) that turn directions a into directions b, both (..., 3) and not zero."""
    directions = [_last(v, 3, "directions") for v in (a, b)]
    if not all(v.any(axis=-1).all() for v in directions):
        raise InputError("directions: expected a length above 0, found 0")
    return quaternion.between(*directions)


def angle_between(p: ArrayLike, q: ArrayLike) -> Floats:
    """Radians (...) from 0 to pi between rotations p and q."""
    return quaternion.angle_between(_last(p, 4, "quaternions"), _last(q, 4, "quaternions"))


def continuous(rotations: ArrayLike) -> Floats:
    """(F, ..., 4) with the signs chosen so that consecutive frames are close, as training data needs."""
    return quaternion.hemisphere_continuous(_last(rotations, 4, "quaternions"))


def from_wxyz(q: ArrayLike) -> Floats:
    """Quaternions (w, x, y, z) as (x, y, z, w)."""
    return quaternion.from_wxyz(_last(q, 4, "quaternions"))


def to_wxyz(q: ArrayLike) -> Floats:
    """Quaternions (x, y, z, w) as (w, x, y, z)."""
    return quaternion.to_wxyz(_last(q, 4, "quaternions"))


def from_matrix(matrix: ArrayLike) -> Floats:
    """Unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3) that act on column vectors.

    Raises:
        InputError: a matrix that is not a rotation, such as a reflection or a scaled one.
    """
    values = _last(matrix, (3, 3), "rotation matrices")
    off = np.abs(values @ values.swapaxes(-1, -2) - np.eye(3)).max(initial=0.0)
    if off > _ORTHOGONAL or (np.linalg.det(values) < 0.0).any():
        raise InputError("rotation matrices: expected orthogonal ones of determinant 1, found another")
    return quaternion.from_matrix(values)


def to_matrix(q: ArrayLike) -> Floats:
    """Rotation matrices (..., 3, 3), for column vectors."""
    return quaternion.to_matrix(_last(q, 4, "quaternions"))


def from_6d(columns: ArrayLike) -> Floats:
    """Unit quaternions (..., 4) of the continuous 6D form (..., 6): a matrix's first column, then its second.

    They need not be perpendicular or of unit length: the second is made perpendicular to the first (Zhou et al., "On
    the continuity of rotation representations in neural networks", CVPR 2019).

    Raises:
        InputError: columns that are zero or parallel.
    """
    values = _last(columns, 6, "6D rotations")
    first, second = values[..., :3], values[..., 3:]
    x = first / np.maximum(np.linalg.norm(first, axis=-1, keepdims=True), np.finfo(float).tiny)
    y = second - quaternion.dot(x, second)[..., None] * x
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    if not (first.any(axis=-1).all() and (length[..., 0] > 1e-9 * np.linalg.norm(second, axis=-1)).all()):
        raise InputError("6D rotations: expected two columns in different directions, found zero or parallel ones")
    y /= length
    return quaternion.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


def to_6d(q: ArrayLike) -> Floats:
    """The first two columns (..., 6) of the rotation matrices, one after the other."""
    matrix = to_matrix(q)
    return np.concatenate([matrix[..., 0], matrix[..., 1]], axis=-1)


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Rotations (..., 4) by ``angle`` (...) radians about ``axis`` (..., 3) of any length above 0."""
    axes = _last(axis, 3, "axes")
    length = np.linalg.norm(axes, axis=-1, keepdims=True)
    if not (length > 0.0).all():
        raise InputError("axes: expected a length above 0, found 0")
    return quaternion.from_axis_angle(*_together(axes / length, angle))


def to_axis_angle(q: ArrayLike) -> tuple[Floats, Floats]:
    """Unit axes (..., 3) and angles (...) in 0 .. pi; the axis of no rotation is x."""
    vector = quaternion.log(_last(q, 4, "quaternions"))
    angle = np.linalg.norm(vector, axis=-1)
    some = angle > 0.0
    axis = np.where(some[..., None], vector / np.where(some, angle, 1.0)[..., None], (1.0, 0.0, 0.0))
    return axis, np.asarray(angle)


def from_rotation_vector(vector: ArrayLike) -> Floats:
    """Rotations (..., 4) by |v| radians about v (..., 3)."""
    return quaternion.exp(_last(vector, 3, "rotation vectors"))


def to_rotation_vector(q: ArrayLike) -> Floats:
    """Rotation vectors (..., 3), at most pi long."""
    return quaternion.log(_last(q, 4, "quaternions"))


def from_euler(angles: ArrayLike, order: EulerOrder) -> Floats:
    """Rotations (..., 4) of intrinsic angles (..., 3) in the order's sequence: "zxy" is R = Rz(a) Rx(b) Ry(c).

    Raises:
        InputError: an order that is not three different axes.
    """
    return quaternion.from_euler(_last(angles, 3, "Euler angles"), _order(order))


def to_euler(q: ArrayLike, order: EulerOrder) -> Floats:
    """Intrinsic angles (..., 3) in the order's sequence; the middle one within pi/2, the last 0 at gimbal lock."""
    return quaternion.to_euler(_last(q, 4, "quaternions"), _order(order))


def _order(order: object) -> str:
    if order not in EULER_ORDERS:
        raise InputError(f"Euler order: expected one of {', '.join(EULER_ORDERS)}, found {quote(order)}")
    return str(order)


def _together(axes: Floats, angle: ArrayLike) -> tuple[Floats, Floats]:
    """Axes (..., 3) and angles (...) of one leading shape."""
    angles = np.asarray(angle, dtype=np.float64)
    shape = np.broadcast_shapes(axes.shape[:-1], angles.shape)
    return np.broadcast_to(axes, (*shape, 3)), np.broadcast_to(angles, shape)


def _last(values: ArrayLike, last: int | tuple[int, ...], what: str) -> Floats:
    """Finite numbers whose last dimensions are these."""
    sizes = (last,) if isinstance(last, int) else last
    try:
        leading = np.ndim(values) - len(sizes)
    except ValueError:  # rows of different lengths
        leading = 0
    array = as_floats(values, (*(-1,) * max(leading, 0), *sizes), what)
    if not np.isfinite(array).all():
        raise InputError(f"{what}: expected finite numbers, found {array[~np.isfinite(array)][0]}")
    return array
