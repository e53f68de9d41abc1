"""Cyclic coordinate descent: joints move one after the other, each so that the errors of the goals below it are least.

Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical manipulators"
(IEEE Trans. Robotics and Automation 7(4), 1991), where each joint's best angle is in closed form; here for any number
of effectors on a tree, for every kind of joint, from the tips to the base or from the base to the tips.

Limits hold by clamping each joint as it is moved. CCD is usually limited this way, and can lock up because of it: a
joint at its limit keeps the others from reaching the target another way.

The functions that rotate one joint so that the effectors below it come as near to their goals as possible serve other
methods, too. Every goal is read as pairs of vectors from the joint's pivot: to a point of the effector, r, and to its
target, d. A turn R of the joint then costs the sum over pairs of w |R r - d|^2, which has closed-form minima: about an
axis, and for a ball joint (the orthogonal Procrustes problem).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from viewer.ik import algebra
from viewer.ik.goals.shell import nearest_in_shell
from viewer.ik.levenberg_marquardt import CONVERGED
from viewer.ik.methods.common import STILL, Problem, Progress
from viewer.ik.methods.mechanism import (
    UNTURNED,
    Mechanism,
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
from viewer.ik.numpy_kinematics import move
from viewer.spatial.checks import Quaternion, Vector
from viewer.spatial.quaternion import from_matrix

_NUDGE = 0.02
"""Radians by which every joint is bent when no joint has a lever, as in a straight arm with a target inwards."""


def solve(problem: Problem) -> tuple[int, int]:
    """Sweeps from the tips to the base."""
    order = range(len(problem.s.parent) - 1, -1, -1)
    return repeat(problem, lambda mechanism: sweep(mechanism, order))


def solve_from_base(problem: Problem) -> tuple[int, int]:
    """Sweeps from the base to the tips."""
    order = range(len(problem.s.parent))
    return repeat(problem, lambda mechanism: sweep(mechanism, order))


def repeat(problem: Problem, change: Callable[[Mechanism], float]) -> tuple[int, int]:
    """Change a mechanism until all goals are met, nothing moves or improves any more, or the budget is used up.

    Args:
        problem: its state is moved.
        change: one iteration; returns the largest turn (radians) or move (metres).

    Returns:
        Status, iterations.
    """
    progress = Progress(problem)
    mechanism, nudged, status = Mechanism(problem), False, progress.begun
    while status is None:
        moved = change(mechanism)
        mechanism.store(problem.state)
        if moved < STILL and not nudged:
            nudged, moved = True, _NUDGE
            _bend(problem)
            mechanism.load(problem.state)
        error, worst = problem.evaluate(problem.state)
        status = progress.judge(error, worst, moved)
    if status != CONVERGED:
        progress.best()
    return status, progress.iterations


def sweep(mechanism: Mechanism, order: Sequence[int]) -> float:
    """Move every joint above a goal once, in the order given; the largest turn (radians) or move (metres)."""
    mechanism.refresh()
    largest = 0.0
    for k in order:
        if mechanism.below[k]:
            mechanism.follow(k)  # joints above may have moved in this sweep
            largest = max(largest, move_joint(mechanism, k))
    return largest


def move_joint(mechanism: Mechanism, k: int) -> float:
    """Move joint k so that the goals below it come as near as possible; returns the radians or metres moved."""
    goals, largest = mechanism.below[k], 0.0
    if mechanism.moves[k]:
        largest = _shift_root(mechanism, k)
    if mechanism.form[k] == algebra.SLIDE:
        largest = _slide(mechanism, k)
    for made in fits(mechanism, k, lambda: pairs_for(mechanism, goals, mechanism.place[k])):
        largest = max(largest, _carry(mechanism, k, made))
    return largest


def _carry(mechanism: Mechanism, k: int, made: Quaternion) -> float:
    """Apply a rotation of joint k to the goals below it; returns its angle."""
    pivot = mechanism.place[k]
    for g in mechanism.below[k]:
        mechanism.point[g] = plus(pivot, rotate(made, minus(mechanism.point[g], pivot)))
    for joint in {mechanism.goal_joint[g] for g in mechanism.below[k]} - {k}:
        mechanism.turn[joint] = multiply(made, mechanism.turn[joint])
    return length(log(made))


def _shift_root(mechanism: Mechanism, k: int) -> float:
    """Move a root by the goals' weighted mean miss, which minimises their error."""
    first = mechanism.first[k]
    a, b, c = mechanism.ready[first : first + 3]
    x, y, z = _mean_miss(mechanism, k)
    shift = (a * x, b * y, c * z)
    size = length(shift)
    if size > mechanism.cap:
        shift = scaled(shift, mechanism.cap / size)
    mechanism.t[k] = plus(mechanism.t[k], shift)
    _carry_shift(mechanism, k, shift)
    return length(shift)


def _slide(mechanism: Mechanism, k: int) -> float:
    """Move a slide by the goals' mean miss along it, inside its limits."""
    d, axis = mechanism.first[k], mechanism.angle_axis(k, 0)
    wanted, before = dot(_mean_miss(mechanism, k), axis), mechanism.x[d]
    mechanism.change(d, min(max(wanted, -mechanism.cap), mechanism.cap))
    mechanism.set_joint(k)
    _carry_shift(mechanism, k, scaled(axis, mechanism.x[d] - before))
    return abs(float(mechanism.x[d] - before))


def _mean_miss(mechanism: Mechanism, k: int) -> Vector:
    """Weighted mean of the ways into their shells of the goals below joint k."""
    total, miss = 0.0, (0.0, 0.0, 0.0)
    for g in mechanism.below[k]:
        if mechanism.goal_has_shell[g]:
            weight = mechanism.weight[g] * mechanism.weight[g]
            total += weight
            miss = plus(miss, scaled(minus(wanted_point(mechanism, g), mechanism.point[g]), weight))
    return scaled(miss, 1.0 / total) if total > 0.0 else miss


def _carry_shift(mechanism: Mechanism, k: int, shift: Vector) -> None:
    """Apply a translation of joint k to it and to the goals below it."""
    mechanism.place[k] = plus(mechanism.place[k], shift)
    for g in mechanism.below[k]:
        mechanism.point[g] = plus(mechanism.point[g], shift)


def _bend(problem: Problem) -> None:
    """Bend every joint slightly, away from limits that are reached."""
    s, state = problem.s, problem.state
    step = np.where(s.spread > 0.0, np.where(state.x + _NUDGE > s.upper, -_NUDGE, _NUDGE), 0.0)
    for k in np.flatnonzero(s.moves).tolist():
        step[s.first[k] : s.first[k] + 3] = 0.0
    step[s.first[:-1][s.form == algebra.SLIDE]] = 0.0
    move(s, problem.w, step, state.x, state.q, state.t)


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


def fits(mechanism: Mechanism, k: int, pairs: Callable[[], list[Pair]]) -> Iterator[Quaternion]:
    """Turn a joint to the least cost of its pairs, freely or about one axis after the other; yields each turn."""
    if mechanism.ball[k]:
        yield fit_ball(mechanism, k, pairs())
    for i in mechanism.angles[k]:
        yield fit_axis(mechanism, k, i, pairs())


_SMALL = 1e-9


def pairs_for(mechanism: Mechanism, goals: Iterable[int], pivot: Vector) -> list[Pair]:
    """Pairs of all these goals as seen from a pivot.

    shell: the effector and the nearest place in it; that of a position is the target.
    rotation: the three axes as they are and should be. Their squared chords are 2 phi^2 for a small angle phi,
        so half the weight is used.
    aim: the point of the axis, drawn out as a ray, that is as far from the pivot as the target is: a turn that brings
        it to the target points the ray at it. Seen from the effector a miss of 1 m is 1 / distance radians.
    """
    pairs: list[Pair] = []
    for g in goals:
        turn = mechanism.turn_weight[g] * mechanism.turn_weight[g]
        if mechanism.goal_has_shell[g]:
            r = minus(mechanism.point[g], pivot)
            if length(r) > mechanism.least_arm:
                pairs.append((r, minus(wanted_point(mechanism, g), pivot), mechanism.weight[g] * mechanism.weight[g]))
        if mechanism.goal_turns[g]:
            pairs += axis_pairs(mechanism.turn[mechanism.goal_joint[g]], mechanism.rotation[g], 0.5 * turn)
        if mechanism.goal_aims[g]:
            pairs.append(_ray_pair(mechanism, g, pivot, turn))
    return pairs


def axis_pairs(turn: Quaternion, wanted: Quaternion, weight: float) -> list[Pair]:
    """The pairs of a frame's three axes as they are and as they should be."""
    return [(r, d, weight) for r, d in zip(axes_of(turn), axes_of(wanted), strict=True)]


def wanted_point(mechanism: Mechanism, g: int) -> Vector:
    """The place in a goal's shell that is nearest to its effector."""
    return nearest_in_shell(mechanism.point[g], mechanism.target[g], mechanism.along[g], *mechanism.shell[g])


def _ray_pair(mechanism: Mechanism, g: int, pivot: Vector, weight: float) -> Pair:
    """The point p + a u of an aim's ray with |p + a u| = |t|, all from the pivot, and the target t.

    Where the target is nearer to the pivot than the ray ever gets, the ray's nearest point is taken.
    """
    p, t = minus(mechanism.point[g], pivot), minus(mechanism.target[g], pivot)
    x, y, z = mechanism.numbers[g][:3]
    u = rotate(mechanism.turn[mechanism.goal_joint[g]], (x, y, z))
    along = dot(p, u)
    square = along * along - dot(p, p) + dot(t, t)
    a = max(math.sqrt(max(square, 0.0)) - along, 0.0)
    distance = max(length(minus(t, p)), _SMALL)
    return plus(p, scaled(u, a)), t, weight / (distance * distance)
