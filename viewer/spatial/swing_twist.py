"""Splits a rotation into a twist about one coordinate axis and a swing about an axis in the plane of the two others.

d = swing * twist, the twist acts first. Ball-joint limits are ranges of the twist angle and of the two components of
the swing's rotation vector; all three are in one array in axis order x, y, z, the twist on its own axis.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.euler import wrapped
from viewer.spatial.quaternion import exp, multiply

_SMALL = 1e-12


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
