"""Local rotations -> the angles of a joint's rotation channels, without jumps from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial.euler import from_axis_sequence, nearest_equivalent, to_euler

if TYPE_CHECKING:
    from viewer.spatial.checks import Bools, Floats

_HELD = 1e-8
"""Radians: a rotation this near to one of fewer than three channels is held by them (half of the sixth decimal)."""
_CALM = 0.5 * np.pi
"""Angles that change by less than this in sum have no nearer equivalent: those add half a turn to two of them."""


def channel_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, len(axes)) of rotations (F, n, 4), continuous over the frames.

    Of the equivalent angles each frame takes those nearest to the frame before, so that no angle jumps by more
    than half a turn. Rotations that fewer than three angles cannot hold are read as the nearest that they can.
    """
    if len(axes) < 3:
        return np.asarray(np.unwrap(_few_angles(rotations, axes), axis=0)) if len(rotations) else _none(rotations, axes)
    angles = to_euler(rotations, axes)
    direct = np.asarray(np.unwrap(angles, axis=0)) if len(angles) else angles
    rough = np.abs(np.diff(direct, axis=0)).sum(axis=-1).max(axis=0, initial=0.0) >= _CALM
    if rough.any():
        followed = angles[:, rough]
        for frame in range(1, len(followed)):
            followed[frame] = nearest_equivalent(followed[frame], followed[frame - 1])
        direct[:, rough] = followed
    return direct


def held(rotations: Floats, axes: str) -> Bools:
    """(n,) whether angles about ``axes`` hold all frames of the rotations (F, n, 4)."""
    if len(axes) == 3:
        return np.ones(rotations.shape[1], dtype=np.bool_)
    nearest = from_axis_sequence(_few_angles(rotations, axes), axes)
    same_side = np.sign(np.einsum("fni,fni->fn", nearest, rotations))[..., None]
    apart = 2.0 * np.linalg.norm(nearest * same_side - rotations, axis=-1)
    return np.asarray((apart < _HELD).all(axis=0))


def _few_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, 0 to 2) of the rotation nearest to each of (F, n, 4) that so few angles hold.

    R1(a) R2(b) has the quaternion w = cos a/2 cos b/2, x = sin a/2 cos b/2, y = cos a/2 sin b/2 on its axes and
    z = sin a/2 sin b/2 on their cross product: its dot product with any other is a sum of one cosine of
    (a + b) / 2 and one of (a - b) / 2, and greatest at these two arctangents.
    """
    on = ["xyz".index(axis) for axis in axes]
    w = rotations[..., 3]
    if not on:
        return _none(rotations, axes)
    if len(on) == 1:
        return 2.0 * np.arctan2(rotations[..., on], w[..., None])
    parity = 1.0 if (on[1] - on[0]) % 3 == 1 else -1.0
    x, y, z = rotations[..., on[0]], rotations[..., on[1]], parity * rotations[..., 3 - sum(on)]
    total, difference = np.arctan2(x + y, w - z), np.arctan2(x - y, w + z)
    angles = np.stack([total + difference, total - difference], axis=-1)
    return np.asarray(angles - 2.0 * np.pi * np.rint(angles / (2.0 * np.pi)))


def _none(rotations: Floats, axes: str) -> Floats:
    return np.zeros((*rotations.shape[:-1], len(axes)))
