"""Unit quaternions (x, y, z, w), Hamilton product, right-handed, in batches.

Every function takes arrays of any leading shape and broadcasts. ``multiply(p, q)`` rotates by q first, then by p,
as matrices do. q and -q are the same rotation; a function that prefers one of them documents it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.vectors import cross, dot, norm

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY.flags.writeable = False

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
_SMALL = 1e-12
"""Below this angle or sine the limit of a quotient is used: the next term is below rounding."""

_FEW = 160
"""Numbers up to which fewer, larger calls of numpy are faster; their sums have the same order, so the same bits."""
SCALAR_FIRST = np.array([3, 0, 1, 2])
PRODUCT_COLUMNS = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 0, 3, 2]])
PRODUCT_SIGNS = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, 1.0, -1.0]])
"""p * q = pw q[0] + px q[1] + py q[2] + pz q[3], with q[k] = q[PRODUCT_COLUMNS[k]] * PRODUCT_SIGNS[k]."""
_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def multiply(p: ArrayLike, q: ArrayLike) -> Floats:
    """The product p * q: (..., 4), rotates by q, then by p."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if p.size <= _FEW and q.size <= _FEW:
        columns = q.take(PRODUCT_COLUMNS, -1)
        columns *= PRODUCT_SIGNS
        return np.asarray(np.add.reduce(p.take(SCALAR_FIRST, -1)[..., None] * columns, axis=-2))
    px, py, pz, pw = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qx, qy, qz, qw = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    result = np.empty((*np.broadcast_shapes(p.shape[:-1], q.shape[:-1]), 4))
    result[..., 0] = pw * qx + px * qw + py * qz - pz * qy
    result[..., 1] = pw * qy - px * qz + py * qw + pz * qx
    result[..., 2] = pw * qz + px * qy - py * qx + pz * qw
    result[..., 3] = pw * qw - px * qx - py * qy - pz * qz
    return result


def conjugate(q: ArrayLike) -> Floats:
    """The inverse rotation of unit quaternions (..., 4)."""
    return np.asarray(np.asarray(q, dtype=np.float64) * _CONJUGATE)


def normalized(q: ArrayLike) -> Floats:
    """(..., 4) scaled to unit length; the identity where the length is 0."""
    q = np.asarray(q, dtype=np.float64)
    size = norm(q)[..., None]
    some = size > 0
    return np.asarray(q / size) if some.all() else np.where(some, q / np.where(some, size, 1.0), IDENTITY)


def rotate(q: ArrayLike, v: ArrayLike) -> Floats:
    """Vectors (..., 3) rotated by unit quaternions (..., 4): v + 2 u x (u x v + w v), u the vector part."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    if q.size <= 3 * _FEW and v.size <= 3 * _FEW:
        u, back = q.take(_NEXT, -1), q.take(_LAST, -1)
        t = u * v.take(_LAST, -1) - back * v.take(_NEXT, -1)
        t *= 2.0
        turned = v + q[..., 3:] * t
        turned += u * t.take(_LAST, -1)
        turned -= back * t.take(_NEXT, -1)
        return np.asarray(turned)
    ux, uy, uz, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    tx = 2.0 * (uy * vz - uz * vy)
    ty = 2.0 * (uz * vx - ux * vz)
    tz = 2.0 * (ux * vy - uy * vx)
    result = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), 3))
    result[..., 0] = vx + w * tx + uy * tz - uz * ty
    result[..., 1] = vy + w * ty + uz * tx - ux * tz
    result[..., 2] = vz + w * tz + ux * ty - uy * tx
    return result


def exp(rotation_vector: ArrayLike) -> Floats:
    """The rotation by |v| radians about v, of rotation vectors (..., 3); exact near 0."""
    v = np.asarray(rotation_vector, dtype=np.float64)
    angle = norm(v)
    half = 0.5 * angle
    scale = np.where(angle > _SMALL, np.sin(half) / np.where(angle > _SMALL, angle, 1.0), 0.5)
    return _with_scalar(v * scale[..., None], np.cos(half))


def log(q: ArrayLike) -> Floats:
    """The rotation vector (..., 3) of unit quaternions, |v| in 0 .. pi: the short way round.

    By atan2 of the vector part's length and w, it keeps full precision near 0 and near pi (acos does not).
    """
    q = np.asarray(q, dtype=np.float64)
    u = np.where(q[..., 3:] < 0, -q[..., :3], q[..., :3])
    sine = norm(u)
    angle = 2.0 * np.arctan2(sine, np.abs(q[..., 3]))
    scale = np.where(sine > _SMALL, angle / np.where(sine > _SMALL, sine, 1.0), 2.0)
    return u * scale[..., None]


def angle_between(p: ArrayLike, q: ArrayLike) -> Floats:
    """Radians 0 .. pi from rotation p to rotation q, (...)."""
    relative = multiply(conjugate(p), q)
    sine = norm(relative[..., :3])
    return np.asarray(2.0 * np.arctan2(sine, np.abs(relative[..., 3])))


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Floats:
    """Rotation by ``angle`` (...) radians about unit ``axis`` (..., 3)."""
    half = 0.5 * np.asarray(angle, dtype=np.float64)
    return _with_scalar(np.asarray(axis, dtype=np.float64) * np.sin(half)[..., None], np.cos(half))


def _with_scalar(vector: Floats, scalar: Floats) -> Floats:
    """(..., 4) of vector parts (..., 3), which have the full shape, and scalar parts (...)."""
    result = np.empty((*vector.shape[:-1], 4))
    result[..., :3], result[..., 3] = vector, scalar
    return result


def between(a: ArrayLike, b: ArrayLike) -> Floats:
    """The shortest rotation that turns direction a into direction b, both (..., 3), not zero.

    Opposite directions turn by pi about some axis perpendicular to a (any is as short as any other).
    """
    a, b = _unit(a), _unit(b)
    halfway, apart = a + b, a - b
    # For nearly opposite directions the sum is mostly rounding error: its part along their difference is removed.
    halfway -= apart * (dot(halfway, apart) / np.maximum(dot(apart, apart), 1.0))[..., None]
    size = norm(halfway)
    turns_less = size > _SMALL
    # q = (a x h, a . h) with h the unit vector halfway.
    h = halfway / np.where(turns_less, size, 1.0)[..., None]
    q = _with_scalar(cross(a, h), dot(a, h))
    if turns_less.all():
        return q
    return np.where(turns_less[..., None], q, _with_scalar(perpendicular(np.broadcast_to(a, h.shape)), np.zeros(())))


def perpendicular(a: ArrayLike) -> Floats:
    """A unit vector at right angles to each unit vector a (..., 3)."""
    a = np.asarray(a, dtype=np.float64)
    # The coordinate axis that is farthest from a keeps the cross product far from zero.
    least = np.eye(3)[np.argmin(np.abs(a), axis=-1)]
    return _unit(cross(a, least))


def slerp(p: ArrayLike, q: ArrayLike, part: ArrayLike) -> Floats:
    """From p (part 0) to q (part 1) at constant speed the short way; (..., 4), parts (...).

    Shoemake, "Animating rotation with quaternion curves" (SIGGRAPH 1985), with the angle taken from both the
    sum and the difference, so that it is exact near 0 as well.
    """
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    part = np.asarray(part, dtype=np.float64)
    q = np.where(dot(p, q)[..., None] < 0, -q, q)
    angle = 2.0 * np.arctan2(norm(p - q), norm(p + q))
    sine = np.sin(angle)
    apart = sine > 1e-8
    safe = np.where(apart, sine, 1.0)
    first = np.where(apart, np.sin((1.0 - part) * angle) / safe, 1.0 - part)
    second = np.where(apart, np.sin(part * angle) / safe, part)
    return normalized(first[..., None] * p + second[..., None] * q)


def to_matrix(q: ArrayLike) -> Floats:
    """Rotation matrices (..., 3, 3) for column vectors: ``to_matrix(q) @ v == rotate(q, v)``."""
    q = np.asarray(q, dtype=np.float64)
    x, y, z, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    # Each product once, and doubled, which is exact: for a few rotations the calls of numpy are what takes time.
    twice = q + q
    tx, ty, tz = twice[..., 0], twice[..., 1], twice[..., 2]
    xx, yy, zz, xy, xz, yz = x * tx, y * ty, z * tz, x * ty, x * tz, y * tz
    wx, wy, wz = w * tx, w * ty, w * tz
    matrix = np.empty((*q.shape[:-1], 3, 3))
    matrix[..., 0, 0], matrix[..., 0, 1], matrix[..., 0, 2] = 1 - (yy + zz), xy - wz, xz + wy
    matrix[..., 1, 0], matrix[..., 1, 1], matrix[..., 1, 2] = xy + wz, 1 - (xx + zz), yz - wx
    matrix[..., 2, 0], matrix[..., 2, 1], matrix[..., 2, 2] = xz - wy, yz + wx, 1 - (xx + yy)
    return matrix


def from_matrix(matrix: ArrayLike) -> Floats:
    """Unit quaternions (..., 4), w >= 0, of rotation matrices (..., 3, 3).

    Divides by the largest component, found from the diagonal (Shepperd, "Quaternion from rotation matrix",
    J. Guidance and Control 1, 1978): no angle loses precision.
    """
    m = np.asarray(matrix, dtype=np.float64)
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Row k of this symmetric matrix is 4 q_k times q.
    k = np.empty((*m.shape[:-2], 4, 4))
    k[..., 0, 0], k[..., 1, 1] = 1 + xx - yy - zz, 1 - xx + yy - zz
    k[..., 2, 2], k[..., 3, 3] = 1 - xx - yy + zz, 1 + xx + yy + zz
    k[..., 0, 1] = k[..., 1, 0] = m[..., 1, 0] + m[..., 0, 1]
    k[..., 0, 2] = k[..., 2, 0] = m[..., 0, 2] + m[..., 2, 0]
    k[..., 1, 2] = k[..., 2, 1] = m[..., 2, 1] + m[..., 1, 2]
    k[..., 0, 3] = k[..., 3, 0] = m[..., 2, 1] - m[..., 1, 2]
    k[..., 1, 3] = k[..., 3, 1] = m[..., 0, 2] - m[..., 2, 0]
    k[..., 2, 3] = k[..., 3, 2] = m[..., 1, 0] - m[..., 0, 1]
    largest = np.argmax(np.einsum("...ii->...i", k), axis=-1)
    rows = 4 * np.arange(largest.size).reshape(largest.shape) + largest
    q = normalized(k.reshape(-1, 4).take(rows, axis=0))
    return np.where(q[..., 3:] < 0, -q, q)


def hemisphere_continuous(rotations: ArrayLike) -> Floats:
    """(F, ..., 4) with signs chosen so that each frame lies within pi of the one before, as q and not -q."""
    q = np.asarray(rotations, dtype=np.float64)
    flips = np.einsum("f...i,f...i->f...", q[1:], q[:-1]) < 0
    signs = np.where(np.cumsum(flips, axis=0) % 2 == 1, -1.0, 1.0)
    result = q.copy()
    result[1:] *= signs[..., None]
    return result


def _unit(v: ArrayLike) -> Floats:
    v = np.asarray(v, dtype=np.float64)
    return np.asarray(v / norm(v)[..., None])
