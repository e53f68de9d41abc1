"""Local rotations -> the angles of a joint's rotation channels, without jumps from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial.euler import nearest_equivalent, to_euler

if TYPE_CHECKING:
    from viewer.spatial.checks import Bools, Floats

_HELD = 1e-7
"""Radians: a rotation whose missing angles are below this is held by fewer than three channels."""
_CALM = 0.5 * np.pi
"""Angles that change by less than this in sum have no nearer equivalent: those add half a turn to two of them."""


def whole_order(axes: str) -> str:
    """Three axes that begin with those given: "zx" -> "zxy"."""
    return axes + "".join(axis for axis in "zxy" if axis not in axes)


def channel_angles(rotations: Floats, axes: str) -> Floats:
    """Radians (F, n, 3) of rotations (F, n, 4) in the order ``whole_order(axes)``, continuous over the frames.

    Of the equivalent triples each frame takes the one nearest to the frame before, so that no angle jumps by more
    than half a turn; the first frame takes the one whose angles beyond ``axes`` vanish, where there is one.
    """
    angles = to_euler(rotations, whole_order(axes))
    if not len(angles):
        return angles
    angles[0] = _fewest(angles[0], len(axes))
    direct = angles.copy()
    direct[...] = np.unwrap(angles, axis=0)
    rough = np.abs(np.diff(direct, axis=0)).sum(axis=-1).max(axis=0, initial=0.0) >= _CALM
    if rough.any():
        followed = angles[:, rough]
        for frame in range(1, len(followed)):
            followed[frame] = nearest_equivalent(followed[frame], followed[frame - 1])
        direct[:, rough] = followed
    return direct


def held(angles: Floats, count: int) -> Bools:
    """(n,) whether every frame's angles (F, n, 3) beyond the first ``count`` vanish."""
    return np.asarray((np.abs(angles[..., count:]) < _HELD).all(axis=(0, 2)))


def _fewest(angles: Floats, count: int) -> Floats:
    """Of both equivalent triples (n, 3) the one whose angles beyond ``count`` are smaller."""
    reference = angles.copy()
    reference[:, count:] = 0.0
    other = angles + np.pi
    other[:, 1] = np.pi - angles[:, 1]
    other -= 2.0 * np.pi * np.rint(other / (2.0 * np.pi))
    better = np.abs(other[:, count:]).sum(-1) < np.abs(angles[:, count:]).sum(-1) - _HELD
    return np.where(better[:, None], other, angles)
