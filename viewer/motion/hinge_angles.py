"""Angles of two or three hinges in closed form: the first two aim a vector, the third makes the remaining twist.

With axes a, b, c in the frame of what carries them, a turn is E = exp(a x) exp(b y) exp(c z). The first two hinges
alone determine where axis c goes: a . E c = a . exp(b y) c is one equation for y, with two solutions, and each gives x,
then z. A bone on two hinges is aimed in the same way (Paden and Kahan's subproblems, as in Murray, Li and Sastry:
"Robotic Manipulation", 1994, 3.3). Turns that cannot be reached are met as closely as the axes allow.

Both solutions are followed through all frames, so that neither jumps, and one of them is taken for the whole motion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Skeleton
from viewer.skeleton.limits import UNLIMITED
from viewer.spatial.angles import wrapped
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, rotate
from viewer.spatial.vectors import cross, dot, norm

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

    Each goes on from frame to frame.
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
