"""Rotating one joint so that the effectors below it come as near to their goals as possible.

Every goal is read as pairs of vectors from the joint's pivot: where a point of the effector is, r, and where it should
to be, d. A turn R of the joint then costs the sum over pairs of w |R r - d|^2, which has closed-form minima: about an
axis, and for a ball joint (the orthogonal Procrustes problem).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from viewer.ik import algebra
from viewer.ik.methods.mechanism import (
    UNITS,
    UNTURNED,
    Mechanism,
    Quaternion,
    Vector,
    axes_of,
    cross,
    dot,
    exp,
    inverse,
    length,
    log,
    minus,
    multiply,
    plus,
    quaternion,
    rotate,
    scaled,
    shortest_turn,
)
from viewer.spatial.quaternion import from_matrix

Pair: TypeAlias = tuple[Vector, Vector, float]
"""r, d (world frame, metres) and w."""

_NO_LEVER = 1e-12
"""Below this part of the largest possible lever a joint cannot move its effectors towards their targets."""
_ONE_LINE = 1e-6
"""Below this ratio of their singular values pairs lie on one line and leave the rotation about it open ..."""
_LEAST_TWIST = 1e-9
"""... which this weight of no rotation, relative to the pairs' own weight, then makes as small as possible."""
_FRACTIONS = (1.0, 0.5, 0.25)


def cost(pairs: list[Pair], turn: Quaternion) -> float:
    """Sum of w |R r - d|^2."""
    total = 0.0
    for r, d, weight in pairs:
        miss = minus(rotate(turn, r), d)
        total += weight * dot(miss, miss)
    return total


def best_angle(pairs: list[Pair], axis: Vector) -> float:
    """The angle about a unit axis of least cost, -pi .. pi: tan = sum w a.(r x d) / sum w (r.d - a.r a.d).

    Also right at 180 degrees. 0 where no turn is better than another.
    """
    sine = cosine = most = 0.0
    for r, d, weight in pairs:
        sine += weight * dot(axis, cross(r, d))
        cosine += weight * (dot(r, d) - dot(axis, r) * dot(axis, d))
        most += weight * length(r) * length(d)
    return math.atan2(sine, cosine) if math.hypot(sine, cosine) > _NO_LEVER * most else 0.0


def best_turn(pairs: list[Pair]) -> Quaternion:
    """The rotation of least cost; of several the smallest.

    One pair: the shortest turn from r to d. More: R = U diag(1, 1, det U V^T) V^T with sum w d r^T = U S V^T (Umeyama,
    "Least-squares estimation of transformation parameters between two point patterns", IEEE PAMI 13, 1991, eq. 40-43).
    """
    pairs = [pair for pair in pairs if length(pair[0]) > 0.0 and length(pair[1]) > 0.0]
    if not pairs:
        return UNTURNED
    if len(pairs) == 1:
        return shortest_turn(*pairs[0][:2])
    r, d = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    weight = np.array([pair[2] for pair in pairs])
    product = (d * weight[:, None]).T @ r
    u, sizes, v_transposed = np.linalg.svd(product)
    if sizes[1] <= _ONE_LINE * sizes[0]:
        u, _, v_transposed = np.linalg.svd(product + _LEAST_TWIST * sizes[0] * np.eye(3))
    mirrored = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v_transposed))])
    return quaternion(from_matrix(u @ mirrored @ v_transposed).tolist())


def turn_ball(mechanism: Mechanism, k: int, turn: Quaternion) -> Quaternion:
    """Rotate a ball joint in the world; returns the rotation that limits and stiffness allowed."""
    before, here = mechanism.turn[k], log(turn)
    angle = length(here)
    if angle > mechanism.cap:
        here = scaled(here, mechanism.cap / angle)
    here = rotate(inverse(before), here)
    first = mechanism.angle[k]
    if mechanism.form[k] == algebra.TURNS:
        a, b, c = mechanism.ready[first : first + 3]
        x, y, z = rotate(inverse(mechanism.basis[k]), here)
        x, y, z, w = multiply(mechanism.q[k], exp(rotate(mechanism.basis[k], (a * x, b * y, c * z))))
        size = math.sqrt(x * x + y * y + z * z + w * w)
        mechanism.q[k] = (x / size, y / size, z / size, w / size)
    else:
        mechanism.q[k] = multiply(mechanism.q[k], exp(here))
        for d, x in enumerate(mechanism.read_ball(k), first):
            mechanism.change(d, x - mechanism.x[d])
        mechanism.set_joint(k)
    mechanism.follow(k)
    return multiply(mechanism.turn[k], inverse(before))


def turn_axis(mechanism: Mechanism, k: int, i: int, angle: float) -> Quaternion:
    """Change joint k's i-th angle within its limits; returns the resulting world rotation."""
    before = mechanism.turn[k]
    mechanism.change(mechanism.angle[k] + i, min(max(angle, -mechanism.cap), mechanism.cap))
    mechanism.set_joint(k)
    mechanism.follow(k)
    return multiply(mechanism.turn[k], inverse(before))


def fit_ball(mechanism: Mechanism, k: int, pairs: list[Pair]) -> Quaternion:
    """Rotate a ball joint to the least cost of its pairs, within limits; returns the world rotation.

    Limits bend the way to the best turn: if the full turn makes it worse, half or a quarter of it is tried.
    """
    local, before = mechanism.q[k], mechanism.turn[k]
    first, last = mechanism.first[k], mechanism.first[k + 1]
    coordinates = mechanism.x[first:last]
    wanted, here = log(best_turn(pairs)), cost(pairs, UNTURNED)
    for part in _FRACTIONS:
        made = turn_ball(mechanism, k, exp(scaled(wanted, part)))
        if cost(pairs, made) <= here:
            return made
        mechanism.q[k], mechanism.turn[k], mechanism.x[first:last] = local, before, coordinates
    return UNTURNED


def fit_axis(mechanism: Mechanism, k: int, i: int, pairs: list[Pair]) -> Quaternion:
    """Change joint k's i-th angle to the least cost of its pairs; returns the world rotation.

    The cost is a sinusoid of the angle: from here to its minimum it only falls, so a limit on the way does no harm.
    """
    return turn_axis(mechanism, k, i, best_angle(pairs, mechanism.angle_axis(k, i)))


_SMALL = 1e-9


def pairs_for(mechanism: Mechanism, goals: Iterable[int], pivot: Vector) -> list[Pair]:
    """Pairs of all these goals as seen from a pivot.

    place: the effector and its target.
    distance: the effector and the nearest point at the right distance.
    rotation: the three axes as they are and should be. Their squared chords are 2 phi^2 for a small angle phi,
        hence half the weight.
    aim: the point of the axis, drawn out as a ray, that is as far from the pivot as the target is: a turn that brings
        it to the target points the ray at it. Seen from the effector a miss of 1 m is 1 / distance radians.
    """
    pairs: list[Pair] = []
    for g in goals:
        turn = mechanism.turn_weight[g] * mechanism.turn_weight[g]
        if mechanism.goal_near[g]:
            r = minus(mechanism.point[g], pivot)
            if length(r) > mechanism.least_arm:
                pairs.append((r, minus(wanted_point(mechanism, g), pivot), mechanism.weight[g] * mechanism.weight[g]))
        if mechanism.goal_turns[g]:
            found, expected = axes_of(mechanism.turn[mechanism.goal_joint[g]]), axes_of(mechanism.rotation[g])
            pairs += [(r, d, 0.5 * turn) for r, d in zip(found, expected, strict=True)]
        if mechanism.goal_looks[g]:
            pairs.append(_ray_pair(mechanism, g, pivot, turn))
    return pairs


def wanted_point(mechanism: Mechanism, g: int) -> Vector:
    """The target position of a goal's effector: its target, or the nearest point at its distance from there."""
    target = mechanism.target[g]
    if mechanism.goal_lengths[g] != 1:
        return target
    away = minus(mechanism.point[g], target)
    size = length(away)
    direction = scaled(away, 1.0 / size) if size > _SMALL else UNITS[0]
    return plus(target, scaled(direction, mechanism.distance[g]))


def _ray_pair(mechanism: Mechanism, g: int, pivot: Vector, weight: float) -> Pair:
    """The point p + a u of an aim's ray with |p + a u| = |t|, all from the pivot, and the target t.

    Where the target is nearer to the pivot than the ray ever gets, the ray's nearest point is taken.
    """
    p, t = minus(mechanism.point[g], pivot), minus(mechanism.target[g], pivot)
    u = rotate(mechanism.turn[mechanism.goal_joint[g]], mechanism.goal_axis[g])
    along = dot(p, u)
    square = along * along - dot(p, p) + dot(t, t)
    a = max(math.sqrt(max(square, 0.0)) - along, 0.0)
    distance = max(length(minus(t, p)), _SMALL)
    return plus(p, scaled(u, a)), t, weight / (distance * distance)
