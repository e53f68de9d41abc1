"""One rotation, several coordinates: which of them are meant, and the nearest ones inside the ranges.

A swing v is the same rotation as the long way round, v - 2 pi v / |v|. Euler angles (a, b, c) are the same as
(a + pi, pi - b, c + pi), and at gimbal lock only a sum or difference of the outer two counts. A limited joint is read
in the way that is least outside its ranges: 1 degree past a limit of 180 is 1 degree outside, not 359.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial.euler import axes_of, parity_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.spatial.checks import Floats

_LOCKED = 1e-8
"""Where the middle angle is this near to +-pi/2, the outer ones are known no better than they may be traded here."""

_ROUNDING = 1e-9
_CLEAR = 1e-6
"""A swing that is brought inside stays this much below pi, where a twist could no longer be told from the swing."""

_HALVINGS = 60


def counted(angles: Floats, middle: Floats, period: Floats) -> Floats:
    """Angles counted from the middle of their range: 170 degrees is 40 past [-150, -100], not 320.

    ``period`` is 2 pi, or 0 for coordinates that are not counted so.
    """
    return np.asarray(angles - period * np.rint((angles - middle) / (2.0 * np.pi)))


def excess(coordinates: Floats, lower: Floats, upper: Floats) -> Floats:
    """How far each coordinate is outside its range; 0 inside."""
    return np.maximum(np.maximum(lower - coordinates, coordinates - upper), 0.0)


def swing_excess(coordinates: Floats, twist_axis: int) -> Floats:
    """(...) how much more than half a turn the swing of coordinates (..., 3) is long: no rotation needs that."""
    beyond = _swing_length(coordinates, twist_axis) - np.pi
    return np.where(beyond > _ROUNDING, beyond, 0.0)


def nearer_swing(coordinates: Floats, lower: Floats, upper: Floats, twist_axis: int) -> Floats:
    """Swing-twist coordinates (..., J, 3), the swing the short or the long way round."""
    length = _swing_length(coordinates, twist_axis)
    shares = coordinates / np.where(length > 0.0, length, np.inf)[..., None]
    shares[..., twist_axis] = 0.0
    ways = [coordinates, coordinates - 2.0 * np.pi * shares]
    costs = []
    for way in ways:
        outside = excess(way, lower, upper)
        outside[..., twist_axis] = 0.0
        costs.append(np.maximum(outside.max(-1), swing_excess(way, twist_axis)))
    return _cheapest(ways, costs)


def nearer_euler(angles: Floats, lower: Floats, upper: Floats, middle: Floats, period: Floats, order: str) -> Floats:
    """Euler angles (..., J, 3) per axis x, y, z, in the one or the other half, at gimbal lock split in any way."""
    _, second, _ = axes_of(order)
    other = angles + np.pi
    other[..., second] = np.pi - angles[..., second]
    ways = [angles, counted(other, middle, period)]
    locked = np.abs(angles[..., second]) > 0.5 * np.pi - _LOCKED
    if locked.any():
        splits = _splits(angles, lower, upper, order)
        ways += [np.where(locked[..., None], counted(way, middle, period), angles) for way in splits]
    return _cheapest(ways, [excess(way, lower, upper).max(-1) for way in ways])


def swing_inside(coordinates: Floats, lower: Floats, upper: Floats, twist_axis: int) -> Floats:
    """The swings nearest to those of coordinates (..., J, 3), inside their ranges and no longer than half a turn.

    The nearest point of a box and a disc is the nearest in the box to the vector scaled down, by the least that will do
    (the multiplier of the disc's constraint). If the box has no such point, the one nearest to the disc is taken.
    """
    clipped = np.clip(coordinates, lower, upper)
    too_long = _swing_length(clipped, twist_axis) > np.pi - _CLEAR
    if not too_long.any():
        return clipped
    some, low, high = coordinates[too_long], *(np.broadcast_to(e, clipped.shape)[too_long] for e in (lower, upper))
    least, most = np.zeros(len(some)), np.ones(len(some))
    for _ in range(_HALVINGS):
        scale = 0.5 * (least + most)
        fits = _swing_length(np.clip(scale[:, None] * some, low, high), twist_axis) <= np.pi - _CLEAR
        least, most = np.where(fits, scale, least), np.where(fits, most, scale)
    pulled = np.clip(least[:, None] * some, low, high)
    pulled[:, twist_axis] = clipped[too_long][:, twist_axis]
    clipped[too_long] = pulled
    return clipped


def _swing_length(coordinates: Floats, twist_axis: int) -> Floats:
    return np.hypot(coordinates[..., (twist_axis + 1) % 3], coordinates[..., (twist_axis + 2) % 3])


def _splits(angles: Floats, lower: Floats, upper: Floats, order: str) -> list[Floats]:
    """Angles at gimbal lock with other splits of first + sign * third: if any is inside, one of these is.

    The splits that are inside form ranges, which end where one of the two angles is at an end of its own.
    """
    i, j, k = axes_of(order)
    sign = parity_of(order) * np.sign(angles[..., j])
    total = angles[..., i] + sign * angles[..., k]
    thirds = [np.clip(0.0, lower[:, k], upper[:, k]), lower[:, k], upper[:, k]]
    thirds += [sign * (total - end[:, i]) for end in (lower, upper)]
    ways = []
    for third in thirds:
        way = angles.copy()
        way[..., k] = np.where(np.isfinite(third), third, angles[..., k])
        way[..., i] = total - sign * way[..., k]
        ways.append(way)
    return ways


def _cheapest(ways: Sequence[Floats], costs: Sequence[Floats]) -> Floats:
    """Per joint the way (..., 3) that costs (...) least; the first one unless another is better past rounding."""
    best = np.argmin(np.stack([costs[0] - _ROUNDING, *costs[1:]]), axis=0)
    return np.asarray(np.take_along_axis(np.stack(ways), best[None, ..., None], axis=0)[0])
