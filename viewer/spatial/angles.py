"""Rotations as three angles: Euler angles, or a swing and a twist.

Euler angles are intrinsic, in all six orders of three different axes: R = R1(a) R2(b) R3(c). The order "zxy" means
R = Rz(a) Rx(b) Ry(c) for column vectors, as in a BVH file with the channels Z, X, Y. Repeated axes ("zxz") do not occur
in the files and limits of this package.

A swing is about an axis in the plane of two coordinate axes, a twist about the third: d = swing * twist, the twist acts
first. Ball-joint limits are ranges of the twist angle and of the two components of the swing's rotation vector; all
three are in one array in axis order x, y, z, the twist on its own axis.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import exp, multiply

EulerOrder: TypeAlias = Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"]
EULER_ORDERS: tuple[EulerOrder, ...] = get_args(EulerOrder)
_PARITY = {"xyz": 1.0, "yzx": 1.0, "zxy": 1.0, "xzy": -1.0, "yxz": -1.0, "zyx": -1.0}
_LOCK = 1e-12
"""Radians: if the middle angle is this near to +-pi/2, only the sum of the outer angles is defined."""


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


_SMALL = 1e-12
"""Cosine or sine of half an angle below which the twist is open, or the swing none."""


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
