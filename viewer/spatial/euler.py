"""Intrinsic Euler angles in all six orders of three different axes: R = R1(a) R2(b) R3(c).

The order "zxy" means R = Rz(a) Rx(b) Ry(c) for column vectors, as in a BVH file with the channels Z, X, Y.
Repeated axes ("zxz") do not occur in the files and limits of this package.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import multiply

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
