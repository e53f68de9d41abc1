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
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, rotate
from viewer.spatial.vectors import cross, dot, norm

_PLAIN = 1e-6
"""Sine of the angle to an axis below which a direction defines no angle about it: the last frame's is kept."""
_LESS = 0.01
"""Weight of the size of turns: if two solutions are inside their limits, or neither, the smaller turns are taken."""


def three_angles(axes: Floats, turns: Floats, cost: Callable[[Floats], float]) -> Floats:
    """Angles (F, 3) of hinges about axes (3, 3) that give turns (F, 4); of two solutions the one of lower cost.

    The cost is of angles (F, 3).
    """
    last = np.broadcast_to(axes[2], (len(turns), 3))
    found = []
    for aims in aim_angles(axes[:2], last, rotate(turns, last)):
        left = multiply(conjugate(turn_of(axes[:2], aims)), turns)
        twist = 2.0 * np.arctan2(left[:, :3] @ axes[2], left[:, 3])
        found.append(np.concatenate([aims, twist[:, None]], axis=1))
    return min(_followed(*found), key=cost)


def aiming_angles(axes: Floats, vectors: Floats, targets: Floats, cost: Callable[[Floats], float]) -> Floats:
    """Angles (F, 2) of hinges about axes (2, 3) that turn vectors (F, 3) nearest to directions (F, 3).

    Of two solutions the one of lower cost is taken; the cost is of angles (F, 2).
    """
    return min(_followed(*aim_angles(axes, vectors, targets)), key=cost)


def nearest_two(axes: Floats, turns: Floats) -> Floats:
    """Angles (F, 2) of hinges about axes (2, 3) whose turn is nearest to turns (F, 4).

    The dot product of both quaternions is a sum of two cosines, one of (x + y) / 2 and one of (x - y) / 2.
    """
    vector, scalar = turns[:, :3], turns[:, 3]
    first, second = vector @ axes[0], vector @ axes[1]
    both = vector @ cross(*axes) - scalar * (axes[0] @ axes[1])
    total, difference = np.arctan2(first + second, scalar - both), np.arctan2(first - second, scalar + both)
    return np.asarray(np.unwrap(np.stack([total + difference, total - difference], axis=1), axis=0))


def turn_of(axes: Floats, angles: Floats) -> Floats:
    """The turn (F, 4) of hinges about axes (K, 3) by angles (F, K)."""
    turn = from_axis_angle(axes[0], angles[:, 0])
    for axis, angle in zip(axes[1:], angles.T[1:], strict=True):
        turn = multiply(turn, from_axis_angle(axis, angle))
    return turn


def angle_about(axis: Floats, vectors: Floats, targets: Floats) -> Floats:
    """Angles (F,) about an axis (3,) that bring vectors (F, 3) nearest to targets (F, 3)."""
    across, wanted = cross(axis, vectors), cross(axis, targets)
    angle = np.arctan2(dot(cross(across, wanted), axis), dot(across, wanted))
    sure = norm(wanted) > _PLAIN * norm(targets)
    latest: Ints = np.maximum.accumulate(np.where(sure, np.arange(len(angle)), -1))
    return np.asarray(np.where(latest >= 0, angle[latest], 0.0), dtype=np.float64)


def aim_angles(axes: Floats, vectors: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The two solutions (F, 2) for the angles of two hinges that turn vectors (F, 3) nearest to targets (F, 3)."""
    first, second = axes
    vectors = np.broadcast_to(vectors, targets.shape)
    flat = vectors - (vectors @ second)[:, None] * second
    cosine, sine = flat @ first, cross(second, flat) @ first
    size = np.hypot(cosine, sine)
    height = targets @ first * norm(vectors) / np.maximum(norm(targets), 1e-300)
    part = (height - (vectors @ second) * (first @ second)) / np.maximum(size, 1e-300)
    middle, away = np.arctan2(sine, cosine), np.arccos(np.clip(part, -1.0, 1.0))
    found = []
    for angle in (middle + away, middle - away):
        carried = rotate(from_axis_angle(second, angle), vectors)
        found.append(np.stack([angle_about(first, carried, targets), angle], axis=1))
    return found[0], found[1]


def _followed(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Sort two solutions (F, K), given in any order in each frame, into two continuous ones."""

    def way(start: Floats, end: Floats) -> Floats:
        return np.asarray(np.abs((end - start + np.pi) % (2.0 * np.pi) - np.pi).sum(axis=1))

    straight = way(one[:-1], one[1:]) + way(other[:-1], other[1:])
    crossed = way(one[:-1], other[1:]) + way(other[:-1], one[1:])
    # From frame to frame they are exchanged or not: what counts is whether the number of exchanges so far is odd.
    odd = np.concatenate([[0], np.cumsum(crossed < straight) % 2])[:, None] > 0
    return np.unwrap(np.where(odd, other, one), axis=0), np.unwrap(np.where(odd, one, other), axis=0)


class Ranges(NamedTuple):
    """The middles (K,) and halves (K,) of the ranges of K hinges, radians; 0 and inf of hinges without limits."""

    middle: Floats
    half: Floats

    def cost(self, angles: Floats) -> float:
        """The mean of how far angles (F, K) are outside, radians, plus a small part for the size of turns."""
        off = np.abs((angles - self.middle + np.pi) % (2.0 * np.pi) - np.pi)
        return float((np.maximum(off - self.half, 0.0) + _LESS * off).sum(axis=1).mean())


def ranges_of(skeleton: Skeleton, joints: Sequence[int]) -> Ranges:
    """The ranges of hinges and universals."""
    found: list[tuple[float, float]] = []
    for joint in joints:
        limits, count = skeleton.limits[joint], len(skeleton.axes[joint]) if skeleton.axes[joint, 1].any() else 1
        pairs = [UNLIMITED] * count if limits is None else zip(limits.lower, limits.upper, strict=True)
        found += [(low, high) if np.isfinite(low) and np.isfinite(high) else UNLIMITED for low, high in pairs]
    middle = np.array([0.0 if np.isinf(low) else 0.5 * (low + high) for low, high in found])
    return Ranges(middle, np.array([high for _, high in found]) - middle)
