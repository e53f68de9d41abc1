"""Rotations of vectors, in batches: unit quaternions (x, y, z, w), Hamilton product, right-handed; Euler angles.

Every function takes arrays of any leading shape and broadcasts. ``multiply(p, q)`` rotates by q first, then by p,
as matrices do. q and -q are the same rotation; a function that prefers one of them documents it.

Euler angles are intrinsic, in all six orders of three different axes: R = R1(a) R2(b) R3(c). The order "zxy" means
R = Rz(a) Rx(b) Ry(c) for column vectors, as in a BVH file with the channels Z, X, Y. Repeated axes ("zxz") do not occur
in the files and limits of this package.

A swing is about an axis in the plane of two coordinate axes, a twist about the third: d = swing * twist, the twist acts
first. Ball-joint limits are ranges of the twist angle and of the two components of the swing's rotation vector; all
three are in one array in axis order x, y, z, the twist on its own axis.

Products and lengths of vectors stand at the end: numpy's own `cross` and `linalg.norm` take two to four times as long,
because for some dozens of vectors their checks are most of their time, and thousands they pass over more than once.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats

IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY.flags.writeable = False

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
_SMALL = 1e-12
"""Below this angle, sine or cosine the limit of a quotient is used: later terms are below rounding, twists are open."""

_ONE, _FEW = 32, 1000
"""Numbers, and rotations, up to which fewer calls of numpy are faster: along the last axis, and of a row per component.
Their sums have the same order, so the same bits.
"""
_AHEAD, _BEHIND = np.array([[1, 2, 0], [2, 0, 1]]), np.array([[2, 0, 1], [1, 2, 0]])
"""a x b = a[_AHEAD[0]] b[_BEHIND[0]] - a[_AHEAD[1]] b[_BEHIND[1]]."""
SCALAR_FIRST, SCALAR_LAST = np.array([3, 0, 1, 2]), np.array([1, 2, 3, 0])
"""Indices of the components of (x, y, z, w) in (w, x, y, z), and the other way round."""
PRODUCT_COLUMNS = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [1, 0, 3, 2]])
PRODUCT_SIGNS = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, 1.0, -1.0]])
"""p * q = pw q[0] + px q[1] + py q[2] + pz q[3], with q[k] = q[PRODUCT_COLUMNS[k]] * PRODUCT_SIGNS[k]."""
_LEFT = PRODUCT_COLUMNS[SCALAR_LAST]
_LEFT_SIGNS = np.array([[1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, 1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, 1.0, 1.0]])
_ROW_SIGNS = PRODUCT_SIGNS.reshape(16, 1)

EulerOrder: TypeAlias = Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]
EULER_ORDERS: tuple[EulerOrder, ...] = get_args(EulerOrder)
_PARITY = {"xyz": 1.0, "yzx": 1.0, "zxy": 1.0, "xzy": -1.0, "yxz": -1.0, "zyx": -1.0}
_LOCK = 1e-12
"""Radians: if the middle angle is this near to +-pi/2, only the sum of the outer angles is defined."""


def multiply(p: ArrayLike, q: ArrayLike) -> Floats:
    """The product p * q: (..., 4), rotates by q, then by p."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if p.size <= _ONE and q.size <= _ONE:
        columns = q.take(PRODUCT_COLUMNS, -1)
        columns *= PRODUCT_SIGNS
        return np.asarray(np.add.reduce(p.take(SCALAR_FIRST, -1)[..., None] * columns, axis=-2))
    together = np.broadcast(p, q)
    if together.size <= 4 * _FEW:
        p, q = _rows_of(p, q)
        columns = q.take(PRODUCT_COLUMNS, 0)
        signed = columns.reshape(16, -1)
        signed *= _ROW_SIGNS
        return np.asarray(np.add.reduce(p.take(SCALAR_FIRST, 0)[:, None] * columns, axis=0).T.copy())
    px, py, pz, pw = p[..., 0], p[..., 1], p[..., 2], p[..., 3]
    qx, qy, qz, qw = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    result = np.empty(together.shape)
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


def to_wxyz(q: Floats) -> Floats:
    """(..., 4) in the order (w, x, y, z)."""
    return q[..., SCALAR_FIRST]


def from_wxyz(q: Floats) -> Floats:
    """(..., 4) of the order (w, x, y, z)."""
    return q[..., SCALAR_LAST]


def left_factors(q: Floats) -> Floats:
    """Matrices (N, 4, 4) of quaternions q (N, 4): a row quaternion p times one of them is the product q * p."""
    return np.asarray(q[:, _LEFT] * _LEFT_SIGNS)


def times_vectors(q: Floats, v: Floats) -> Floats:
    """The products q * (v, 0) (N, 4) of quaternions (N, 4) and vectors (N, 3)."""
    return np.asarray(np.einsum("ni,nij->nj", v, left_factors(q)[:, :3]))


def rotate(q: ArrayLike, v: ArrayLike) -> Floats:
    """Vectors (..., 3) rotated by unit quaternions (..., 4): v + 2 u x (u x v + w v), u the vector part."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)
    together = np.broadcast(q[..., 0], v[..., 0])
    if together.size <= _FEW:
        q, v = _rows_of(q, v)
        u = q.take(_AHEAD, 0)
        products = u * v.take(_BEHIND, 0)
        t = products[0] - products[1]
        t += t
        turned = v + q[3] * t
        products = u * t.take(_BEHIND, 0)
        turned += products[0]
        turned -= products[1]
        return np.asarray(turned.T.copy())
    ux, uy, uz, w = q[..., 0], q[..., 1], q[..., 2], q[..., 3]
    vx, vy, vz = v[..., 0], v[..., 1], v[..., 2]
    tx = 2.0 * (uy * vz - uz * vy)
    ty = 2.0 * (uz * vx - ux * vz)
    tz = 2.0 * (ux * vy - uy * vx)
    result = np.empty((*together.shape, 3))
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


def axes_of(order: str) -> tuple[int, int, int]:
    """Axis indices (0 = x) of an order such as "zxy"."""
    first, second, third = ("xyz".index(axis) for axis in order)
    return first, second, third


def parity_of(order: str) -> float:
    """1 if an order's axes are in cyclic sequence ("xyz", "yzx", "zxy"), else -1."""
    return _PARITY[order]


def from_euler(angles: ArrayLike, order: str) -> Floats:
    """Quaternions (..., 4) of angles (..., 3) in radians, given in the order's own sequence."""
    sine, cosine = _half_sines(np.asarray(angles, dtype=np.float64))
    sa, sb, sc = sine[..., 0], sine[..., 1], sine[..., 2]
    ca, cb, cc = cosine[..., 0], cosine[..., 1], cosine[..., 2]
    parity = _PARITY[order]
    i, j, k = axes_of(order)
    # The product of the three half-angle quaternions, written out; each outer pair occurs twice.
    cc_ca, ss_ca, cs_ca, sc_ca = ca * cc, parity * (sa * sc), ca * sc, parity * (sa * cc)
    q = np.empty((*sine.shape[:-1], 4))
    q[..., i] = (parity * sc_ca) * cb + (parity * cs_ca) * sb
    q[..., j] = cc_ca * sb - ss_ca * cb
    q[..., k] = cs_ca * cb + sc_ca * sb
    q[..., 3] = cc_ca * cb - ss_ca * sb
    return q


def _half_sines(angles: Floats) -> tuple[Floats, Floats]:
    """Sine and cosine of half the angles, both from the tangent of a quarter of them.

    numpy vectorises the tangent but not sine and cosine, so long clips are read several times faster. The quaternion
    has unit length however the tangent is rounded.
    """
    tangent = np.tan(0.25 * angles)
    square = tangent * tangent
    whole = 1.0 / (1.0 + square)
    return 2.0 * tangent * whole, (1.0 - square) * whole


def to_euler(q: ArrayLike, order: str) -> Floats:
    """Angles (..., 3) in the order's sequence: outer ones in (-pi, pi], the middle one in [-pi/2, pi/2].

    At gimbal lock the last angle is 0. Each angle is an atan2 of half-angle sums, the method of Bernardes and
    Viollet, "Quaternion to Euler angles conversion" (PLoS ONE 17, 2022): precise at every middle angle.
    """
    q = np.asarray(q, dtype=np.float64)
    parity = _PARITY[order]
    i, j, k = axes_of(order)
    w, x, y, z = q[..., 3], q[..., i], q[..., j], parity * q[..., k]
    # R Rj(pi/2) = Ri(a) Rj(b + pi/2) Ri(-parity c): a symmetric sequence, whose quaternion p = q (1 + j)
    # splits into half sums and half differences of its outer angles.
    p_w, p_i, p_j, p_k = w - y, x - z, w + y, z + x
    middle = 2.0 * np.arctan2(np.hypot(p_j, p_k), np.hypot(p_w, p_i))
    total, difference = np.arctan2(p_i, p_w), np.arctan2(p_k, p_j)
    lower, upper = middle < _LOCK, np.pi - middle < _LOCK
    first = np.where(lower, 2.0 * total, np.where(upper, 2.0 * difference, total + difference))
    third = np.where(lower | upper, 0.0, parity * (difference - total))
    second = middle - 0.5 * np.pi
    return np.stack([wrapped(first), second, wrapped(third)], axis=-1)


def from_axis_sequence(angles: ArrayLike, axes: str) -> Floats:
    """Quaternions (..., 4) of any sequence of coordinate axes: R = R1(a1) R2(a2) ..., angles (..., n)."""
    angles = np.asarray(angles, dtype=np.float64)
    if axes in _PARITY:
        return from_euler(angles, axes)
    total = np.zeros((*angles.shape[:-1], 4))
    total[..., 3] = 1.0
    for position, axis in enumerate(axes):
        turn = np.zeros_like(total)
        turn[..., "xyz".index(axis)] = np.sin(0.5 * angles[..., position])
        turn[..., 3] = np.cos(0.5 * angles[..., position])
        total = multiply(total, turn) if position else turn
    return total


def nearest_equivalent(angles: ArrayLike, reference: ArrayLike) -> Floats:
    """The same rotations as ``angles`` (..., 3), written with the angles nearest to ``reference`` (..., 3).

    (a, b, c), (a + pi, pi - b, c + pi) and whole turns added to any angle are one rotation.
    """
    angles, reference = np.asarray(angles, dtype=np.float64), np.asarray(reference, dtype=np.float64)
    other = angles + np.pi
    other[..., 1] = np.pi - angles[..., 1]
    direct = _nearest_turns(angles, reference)
    other = _nearest_turns(other, reference)
    farther = np.abs(direct - reference).sum(-1) > np.abs(other - reference).sum(-1)
    return np.where(farther[..., None], other, direct)


def _nearest_turns(angles: Floats, reference: Floats) -> Floats:
    return np.asarray(angles + 2.0 * np.pi * np.rint((reference - angles) / (2.0 * np.pi)))


def wrapped(angles: Floats) -> Floats:
    """Angles counted in (-pi, pi]."""
    near = angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi))
    # Rounding may leave slightly more than half a turn, in either direction.
    return np.where(near > np.pi, near - 2.0 * np.pi, np.where(near <= -np.pi, near + 2.0 * np.pi, near))


def to_swing_twist(d: ArrayLike, twist_axis: int) -> Floats:
    """Coordinates (..., 3) of rotations d (..., 4), radians per axis x, y, z.

    The twist lies in (-pi, pi], the swing's rotation vector is at most pi long. A swing by exactly pi leaves
    the twist open: it is taken as 0.
    """
    d = np.asarray(d, dtype=np.float64)
    a, b = (twist_axis + 1) % 3, (twist_axis + 2) % 3
    w, t, da, db = d[..., 3], d[..., twist_axis], d[..., a], d[..., b]
    cosine = np.sqrt(w * w + t * t)  # of unit quaternions: nothing overflows, and hypot is six times as slow
    # Half-angle cosine and sine of the twist.
    divisor, open_twist = cosine, cosine < _SMALL
    if open_twist.any():
        sign = np.where(open_twist & (w < 0), -1.0, 1.0)
        w, t, da, db = np.where(open_twist, 1.0, w), np.where(open_twist, 0.0, t), sign * da, sign * db
        divisor = np.where(open_twist, 1.0, cosine)
    ct, st = w / divisor, t / divisor
    swing_a, swing_b = ct * da - st * db, ct * db + st * da
    sine = np.sqrt(swing_a * swing_a + swing_b * swing_b)
    angle = 2.0 * np.arctan2(sine, cosine)
    scale = np.where(sine > _SMALL, angle / np.where(sine > _SMALL, sine, 1.0), 2.0)
    result = np.empty((*d.shape[:-1], 3))
    # d and -d give the same swing, and the same twist except for a twist by pi, where either sign is possible.
    twist = 2.0 * np.arctan2(np.where(ct < 0, -st, st), np.abs(ct))
    result[..., twist_axis] = np.where(twist <= -np.pi, np.pi, twist)
    result[..., a] = scale * swing_a
    result[..., b] = scale * swing_b
    return result


def from_swing_twist(coordinates: ArrayLike, twist_axis: int) -> Floats:
    """Rotations (..., 4) of coordinates (..., 3); the inverse of `to_swing_twist`."""
    coordinates = np.asarray(coordinates, dtype=np.float64)
    swing, twist = coordinates.copy(), np.zeros_like(coordinates)
    swing[..., twist_axis] = 0.0
    twist[..., twist_axis] = coordinates[..., twist_axis]
    return multiply(exp(swing), exp(twist))


def twist_about(d: ArrayLike, axis: ArrayLike) -> Floats:
    """Angle (...) in (-pi, pi] of the twist of d (..., 4) about unit ``axis`` (..., 3), any direction.

    The rotation about that axis nearest to d, to which a hinge reduces a rotation.
    """
    d = np.asarray(d, dtype=np.float64)
    along = np.einsum("...i,...i->...", d[..., :3], np.asarray(axis, dtype=np.float64))
    return wrapped(2.0 * np.arctan2(along, d[..., 3]))


# --- vectors


def dot(a: Floats, b: Floats) -> Floats:
    """(...) the dot products of vectors (..., N)."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def _rows_of(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Two arrays (..., N) with all axes in reverse, which puts components first and keeps broadcasting."""
    if a.ndim < b.ndim:
        a = a.reshape((1,) * (b.ndim - a.ndim) + a.shape)
    elif b.ndim < a.ndim:
        b = b.reshape((1,) * (a.ndim - b.ndim) + b.shape)
    return a.T, b.T


def cross(a: Floats, b: Floats) -> Floats:
    """(..., 3) the cross products of vectors (..., 3)."""
    together = np.broadcast(a, b)
    if together.size <= 3 * _FEW:
        a, b = _rows_of(a, b)
        products = a.take(_AHEAD, 0) * b.take(_BEHIND, 0)
        return np.asarray((products[0] - products[1]).T.copy())
    result = np.empty(together.shape)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    result[..., 0] = ay * bz - az * by
    result[..., 1] = az * bx - ax * bz
    result[..., 2] = ax * by - ay * bx
    return result


def norm(vectors: Floats) -> Floats:
    """(...) the lengths of vectors (..., N)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors)))


def unit(vectors: Floats) -> Floats:
    """Vectors (..., 3) scaled to length 1; zero vectors stay zero."""
    lengths = norm(vectors)[..., None]
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0))


def face_normals(corners: Floats) -> Floats:
    """(F, 3) unit normals of triangles (F, 3, 3), counter-clockwise from outside; 0 of those without area."""
    return unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def nearest_on_segments(points: Floats, starts: Floats, ways: Floats) -> Floats:
    """(N, D) the places nearest to points, (D,) or (N, D), on segments from ``starts`` along ``ways`` (N, D)."""
    squares = dot(ways, ways)  # 0 of a segment that is a point
    parts = dot(points - starts, ways) / np.where(squares > 0.0, squares, 1.0)
    return np.asarray(starts + np.clip(parts, 0.0, 1.0)[:, None] * ways)
