"""Angles of three hinges over a whole motion, even where the bone that they turn passes near the first of their axes.

There the hinges would spin to keep up with the bone, although any first angle leaves it off by little. So the first
angle is a compromise over the whole motion: the least sum of squares of what the end of the limb is off, in metres, and
of the first hinge's speed. Which way round it goes, and which of two exact solutions it follows, is the shortest path
through a grid of angles and moments (Viterbi, "Error bounds for convolutional codes and an asymptotically optimum
decoding algorithm", 1967). Near that path the sum is a parabola, whose least value is found at once (`slow_path`). The
other two angles follow from the first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.motion.hinge_angles import Ranges, aim_angles
from viewer.spatial.angles import wrapped
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import from_axis_angle, multiply, rotate
from viewer.spatial.smoothing import slow_path
from viewer.spatial.vectors import cross, dot, norm

_NEAR = 0.26
"""Sine of the angle between bone and first axis below which the axis is near."""
_GRID, _RATE = 48, 20.0
"""Angles of the grid, and moments a second."""
_SLOW = 2e-3
"""Metres that the end may be off for each radian a second that the hinge is slower: 1 cm at 290 degrees."""
_FASTEST = np.radians(1200.0)
"""Radians a second of the first hinge at most, on the grid."""
_SHIFT = 0.3
"""Weight of the first hinge carrying the whole limb to another place, relative to the end being off."""
_OUTSIDE, _AWAY = 0.01, 1e-3
"""Metres that count as much as a radian outside a range, and as a radian away from its middle."""
_ROUNDS = 2
"""Number of parabolas, each taken at the minimum of the one before."""
_LEAST = 1e-4
"""Metres from the first axis below which a bone counts as on it and keeps the angle of the path."""


class Size(NamedTuple):
    """Metres (S,) from where the axes meet to the end of the limb, and how far the first axis passes by that point."""

    length: Floats
    lever: Floats


def are_near(axes: Floats, turns: Floats) -> Bools:
    """(...) whether the last of axes (..., 3, 3), which bones are along, comes near the first in turns (..., F, 4)."""
    return np.asarray(norm(cross(axes[..., :1, :], rotate(turns, axes[..., 2:, :]))).min(axis=-1) < _NEAR)


def path_angles(axes: Floats, turns: Floats, ranges: Ranges, rate: float, size: Size) -> Floats:
    """Angles (S, F, 3) of hinges that give turns (S, F, 4) nearly, and exactly away from the first axis.

    Args:
        axes: (S, 3, 3) of S rows of hinges; the bone is along the last one.
        turns: as the bone's joint should be turned.
        ranges: (S, 3) of the hinges.
        rate: frames per second.
        size: of what they turn.
    """
    count, last = turns.shape[1], axes[:, 2:]
    targets = rotate(turns, last)
    moments = np.unique(np.append(np.arange(0, count, max(1, round(rate / _RATE))), count - 1))
    found = _shortest(axes, turns[:, moments], ranges, np.diff(moments) / rate, size)
    first = np.stack([np.interp(np.arange(count), moments, each) for each in found])
    solutions = aim_angles(axes[:, :2], last, targets)[..., 0]
    pull = np.maximum(size.length[:, None] * norm(cross(axes[:, :1], targets)), _LEAST) ** 2
    pulls = pull.T[..., None] * np.eye(len(axes))
    for _ in range(_ROUNDS):
        # The end is off by the sine of the distance to the nearer solution; this parabola lies above its square and
        # touches it.
        ways = wrapped(first - solutions)
        way = np.where(np.abs(ways[0]) < np.abs(ways[1]), ways[0], ways[1])
        goal = pull * (first - 0.5 * np.sin(2.0 * way))
        first = slow_path(pulls, goal.T, (_SLOW * rate) ** 2).T
    others = _others(axes[:, None], turns, first)[0]
    return np.unwrap(np.concatenate([first[..., None], others], axis=-1), axis=1)


def _others(axes: Floats, turns: Floats, first: Floats) -> tuple[Floats, Floats]:
    """The second and the third angle (..., 2) by the first (...), and the square of what a bone of 1 m is off (...)."""
    one, second, last = np.moveaxis(axes, -2, 0)
    left = multiply(from_axis_angle(one, -first), turns)
    seen, across = rotate(left, last), cross(second, last)
    flat = cross(second, seen)
    angle = np.arctan2(dot(cross(across, flat), second), dot(flat, across))
    off = (dot(seen, second) - dot(last, second)) ** 2 + (norm(flat) - norm(across)) ** 2
    rest = multiply(from_axis_angle(second, -angle), left)
    return np.stack([angle, 2.0 * np.arctan2(dot(rest[..., :3], last), rest[..., 3])], axis=-1), off


def _shortest(axes: Floats, turns: Floats, ranges: Ranges, steps: Floats, size: Size) -> Floats:
    """The first angle (S, N) at some moments, steps (N - 1,) seconds apart: the shortest path through the grid."""
    around = np.linspace(-np.pi, np.pi, _GRID, endpoint=False)
    grid, rows = ranges.middle[:, :1] + around, np.arange(len(axes))
    others, off = _others(axes[:, None, None], turns[:, :, None], grid[:, None])
    first = np.broadcast_to(grid[:, None], off.shape)
    away = np.concatenate([first[..., None], others], axis=-1) - ranges.middle[:, None, None]
    away = np.abs(wrapped(away))
    outside = np.maximum(away - ranges.half[:, None, None], 0.0)
    cost = size.length[:, None, None] ** 2 * off
    cost += (2.0 * (_SHIFT * size.lever[:, None]) ** 2 * (1.0 - np.cos(grid)))[:, None]
    cost += _OUTSIDE**2 * (outside**2).sum(axis=-1) + _AWAY**2 * (away**2).sum(axis=-1)
    far = np.abs(wrapped(around[:, None] - around))
    moves = {step: np.where(far > _FASTEST * step, np.inf, (_SLOW / step * far) ** 2) for step in set(steps.tolist())}
    before: Ints = np.zeros(off.swapaxes(0, 1).shape, dtype=np.intp)
    total = cost[:, 0]
    for number, step in enumerate(steps.tolist(), start=1):
        ways = moves[step] + total[:, None]
        before[number] = ways.argmin(axis=2)
        total = ways.min(axis=2) + cost[:, number]
    path = [total.argmin(axis=1)]
    for each in before[:0:-1]:
        path.append(each[rows, path[-1]])
    return np.unwrap(grid[rows, path[::-1]].T, axis=-1)
