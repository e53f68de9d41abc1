"""Angles of two or three hinges: in closed form, and over a whole motion without spins of the first.

With axes a, b, c in the frame of what carries them, a turn is E = exp(a x) exp(b y) exp(c z). The first two hinges
alone determine where axis c goes: a . E c = a . exp(b y) c is one equation for y, with two solutions, and each gives x,
then z. A bone on two hinges is aimed in the same way (Paden and Kahan's subproblems, as in Murray, Li and Sastry:
"Robotic Manipulation", 1994, 3.3). Turns that cannot be reached are met as closely as the axes allow.

Both solutions are followed through all frames, so that neither jumps, and one of them is taken for the whole motion.

Where the bone that they turn passes near the first axis, the hinges would spin to keep up with it, although any first
angle leaves it off by little. So the first angle is a compromise over the whole motion: the least sum of squares of
what the end of the limb is off, in metres, and of the first hinge's speed. Which way round it goes, and which of two
exact solutions it follows, is the shortest path through a grid of angles and moments (Viterbi, "Error bounds for
convolutional codes and an asymptotically optimum decoding algorithm", 1967). Near that path the sum is a parabola,
whose least value is found at once (`slow_path`). The other two angles follow from the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Skeleton
from viewer.skeleton.limits import UNLIMITED
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import conjugate, cross, dot, from_axis_angle, multiply, norm, rotate, wrapped
from viewer.spatial.smoothing import slow_path

_PLAIN = 1e-6
"""Sine of the angle to an axis below which a direction defines no angle about it: the last frame's is kept."""
_LESS = 0.01
"""Weight of the size of turns: if two solutions are inside their limits, or neither, the smaller turns are taken."""


def three_angles(axes: Floats, turns: Floats, cost: Callable[[Floats], Floats]) -> Floats:
    """Angles (..., F, 3) of hinges about axes (..., 3, 3) that give turns (..., F, 4).

    Of two solutions the one of lower cost is taken; the costs (...) are of angles (..., F, 3).
    """
    last = axes[..., 2:, :]
    aims = aim_angles(axes[..., :2, :], last, rotate(turns, last))
    left = multiply(conjugate(turn_of(axes[..., :2, :], aims)), turns)
    twist = 2.0 * np.arctan2(dot(left[..., :3], last), left[..., 3])
    return _cheaper(np.concatenate([aims, twist[..., None]], axis=-1), cost)


def aiming_angles(axes: Floats, vectors: Floats, targets: Floats, cost: Callable[[Floats], Floats]) -> Floats:
    """Angles (..., F, 2) of hinges about axes (..., 2, 3) that turn vectors nearest to directions (..., F, 3).

    Of two solutions the one of lower cost is taken; the costs (...) are of angles (..., F, 2).
    """
    return _cheaper(aim_angles(axes, vectors, targets), cost)


def nearest_two(axes: Floats, turns: Floats) -> Floats:
    """Angles (..., F, 2) of hinges about axes (..., 2, 3) whose turn is nearest to turns (..., F, 4).

    The dot product of both quaternions is a sum of two cosines, one of (x + y) / 2 and one of (x - y) / 2.
    """
    one, other = axes[..., :1, :], axes[..., 1:, :]
    vector, scalar = turns[..., :3], turns[..., 3]
    first, second = dot(vector, one), dot(vector, other)
    both = dot(vector, cross(one, other)) - scalar * dot(one, other)
    total, difference = np.arctan2(first + second, scalar - both), np.arctan2(first - second, scalar + both)
    return np.asarray(np.unwrap(np.stack([total + difference, total - difference], axis=-1), axis=-2))


def turn_of(axes: Floats, angles: Floats) -> Floats:
    """The turn (..., F, 4) of hinges about axes (..., K, 3) by angles (..., F, K)."""
    turns = from_axis_angle(axes[..., None, :, :], angles)
    turn = turns[..., 0, :]
    for number in range(1, angles.shape[-1]):
        turn = multiply(turn, turns[..., number, :])
    return turn


def angle_about(axis: Floats, vectors: Floats, targets: Floats) -> Floats:
    """Angles (..., F) about axes (..., 1, 3) that bring vectors (..., F, 3) nearest to targets (..., F, 3)."""
    across, wanted = cross(axis, vectors), cross(axis, targets)
    angle = np.arctan2(dot(cross(across, wanted), axis), dot(across, wanted))
    sure = norm(wanted) > _PLAIN * norm(targets)
    if sure.all():
        return np.asarray(angle)
    sure = np.broadcast_to(sure, angle.shape)
    latest: Ints = np.maximum.accumulate(np.where(sure, np.arange(angle.shape[-1]), -1), axis=-1)
    return np.asarray(np.where(latest >= 0, np.take_along_axis(angle, latest, axis=-1), 0.0), dtype=np.float64)


def aim_angles(axes: Floats, vectors: Floats, targets: Floats) -> Floats:
    """The two solutions (2, ..., F, 2) for the angles of two hinges that turn vectors nearest to targets (..., F, 3).

    Args:
        axes: (..., 2, 3) of the hinges.
        vectors: (..., F, 3) or (..., 1, 3).
        targets: (..., F, 3) directions.
    """
    first, second = axes[..., :1, :], axes[..., 1:, :]
    along = dot(vectors, second)
    flat = vectors - along[..., None] * second
    cosine, sine = dot(flat, first), dot(cross(second, flat), first)
    size = np.hypot(cosine, sine)
    height = dot(targets, first) * norm(vectors) / np.maximum(norm(targets), 1e-300)
    part = (height - along * dot(first, second)) / np.maximum(size, 1e-300)
    middle, away = np.arctan2(sine, cosine), np.arccos(np.clip(part, -1.0, 1.0))
    angles = np.stack([middle + away, middle - away])
    carried = rotate(from_axis_angle(second, angles), vectors)
    return np.stack([angle_about(first, carried, targets), angles], axis=-1)


def _cheaper(solutions: Floats, cost: Callable[[Floats], Floats]) -> Floats:
    """Of two solutions (2, ..., F, K), given in any order in each frame, the one (..., F, K) of the lower cost (...).

    Each continues from frame to frame.
    """

    def way(start: Floats, end: Floats) -> Floats:
        return np.asarray(np.abs(wrapped(end - start)).sum(axis=-1))

    before, after = solutions[..., :-1, :], solutions[..., 1:, :]
    straight, crossed = way(before, after).sum(axis=0), way(before, after[::-1]).sum(axis=0)
    # From frame to frame they are exchanged or not: what counts is whether the number of exchanges so far is odd.
    odd = np.zeros((*solutions.shape[1:-1], 1), dtype=np.bool_)
    odd[..., 1:, 0] = np.cumsum(crossed < straight, axis=-1) % 2
    followed = np.unwrap(np.where(odd, solutions[::-1], solutions), axis=-2)
    costs = cost(followed)
    return np.asarray(np.where((costs[1] < costs[0])[..., None, None], followed[1], followed[0]))


class Ranges(NamedTuple):
    """The middles and halves (..., K) of the ranges of K hinges, radians; 0 and inf of hinges without limits."""

    middle: Floats
    half: Floats

    def cost(self, angles: Floats) -> Floats:
        """(...) how far angles (..., F, K) are outside, in the mean, radians; of those inside, smaller turns count."""
        off = np.abs(wrapped(angles - self.middle[..., None, :]))
        outside = np.maximum(off - self.half[..., None, :], 0.0)
        return np.asarray((outside + _LESS * off).sum(axis=-1).mean(axis=-1))


def ranges_of(skeleton: Skeleton, joints: Sequence[int]) -> Ranges:
    """The ranges of hinges and universals, in a row."""
    found: list[tuple[float, float]] = []
    for joint in joints:
        limits, count = skeleton.limits[joint], len(skeleton.axes[joint]) if skeleton.axes[joint, 1].any() else 1
        pairs = [UNLIMITED] * count if limits is None else zip(limits.lower, limits.upper, strict=True)
        found += [(low, high) if np.isfinite(low) and np.isfinite(high) else UNLIMITED for low, high in pairs]
    middle = np.array([0.0 if np.isinf(low) else 0.5 * (low + high) for low, high in found])
    return Ranges(middle, np.array([high for _, high in found]) - middle)


_NEAR = 0.5
"""Sine of the angle between bone and first axis below which the axis is near."""
_GRID, _RATE = 36, 20.0
"""Angles of the grid, and moments a second."""
_SLOW = 4e-3
"""Metres that the end may be off for each radian a second that the hinge is slower: 2 cm at 290 degrees."""
_CALM = 8e-3
"""The same, once it is known which way round the hinge goes: nearness of the axis multiplies noise."""
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

    ``axes`` (S, 3, 3): of S rows of hinges; the bone is along the last one. ``ranges``: (S, 3); ``rate``: frames per
    second.
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
        first = slow_path(pulls, goal.T, (_CALM * rate) ** 2).T
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
    totals, times = [cost[:, 0]], steps.tolist()
    for number, step in enumerate(times, start=1):
        # Where a way comes from is the first axis: numpy reduces that several times as fast as the last one.
        ways = moves[step][:, None] + totals[-1].T[..., None]
        totals.append(ways.min(axis=0) + cost[:, number])
    path = [totals[-1].argmin(axis=1)]
    for total, step in zip(totals[-2::-1], times[::-1], strict=True):
        path.append((moves[step][path[-1]] + total).argmin(axis=1))
    return np.unwrap(grid[rows, path[::-1]].T, axis=-1)
