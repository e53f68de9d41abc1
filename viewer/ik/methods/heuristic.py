"""The heuristic methods, which turn one joint after the other: CCD and FABRIK.

Cyclic coordinate descent: joints move one after the other, each so that the errors of the goals below it are least.
Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical manipulators"
(IEEE Trans. Robotics and Automation 7(4), 1991), where each joint's best angle is in closed form; here for any number
of effectors on a tree, for every kind of joint, from the tips to the base or from the base to the tips. Limits hold by
clamping each joint as it is moved. CCD is usually limited this way, and can lock up because of it: a joint at its limit
keeps the others from reaching the target another way.

FABRIK: points are laid along the bones from the goals to the root; from there the joints are turned to them. Aristidou
and Lasenby, "FABRIK: A fast, iterative solver for the inverse kinematics problem" (Graphical Models 73, 2011), for any
number of effectors on a tree: a joint with several branches goes to the mean of the places that these give it. Points
have no rotations. So on the way back joints are turned to their points, parents first: a joint with one bone by the
shortest turn, one with several by the best rotation for all, a hinge about its axis. Limits hold by clamping here,
too; the points ignore them, which is why FABRIK may not converge under limits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from viewer.ik import algebra
from viewer.ik.levenberg_marquardt import CONVERGED
from viewer.ik.methods.common import STILL, Problem, Progress
from viewer.ik.methods.mechanism import (
    Mechanism,
    Pair,
    axis_pairs,
    cross,
    dot,
    fits,
    freed,
    length,
    log,
    minus,
    multiply,
    pairs_for,
    plus,
    rotate,
    scaled,
    wanted_point,
)
from viewer.ik.numpy_kinematics import move
from viewer.spatial.checks import Quaternion, Vector

_NUDGE = 0.02
"""Radians by which every joint is bent when no joint has a lever, as in a straight arm with a target inwards."""


def solve_ccd(problem: Problem) -> tuple[int, int]:
    """CCD by sweeps from the tips to the base."""
    order = range(len(problem.s.parent) - 1, -1, -1)
    return _repeat(problem, lambda mechanism: _sweep(mechanism, order))


def solve_ccd_from_base(problem: Problem) -> tuple[int, int]:
    """CCD by sweeps from the base to the tips."""
    order = range(len(problem.s.parent))
    return _repeat(problem, lambda mechanism: _sweep(mechanism, order))


def _repeat(problem: Problem, change: Callable[[Mechanism], float]) -> tuple[int, int]:
    """Change a mechanism until all goals are met, nothing moves or improves any more, or the budget is used up.

    ``change`` is one iteration, and returns the largest turn (radians) or move (metres). Returns status and iterations.
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


def _sweep(mechanism: Mechanism, order: Sequence[int]) -> float:
    """Move every joint above a goal once, in the order given; the largest turn (radians) or move (metres)."""
    mechanism.refresh()
    largest = 0.0
    for k in order:
        if mechanism.below[k]:
            mechanism.follow(k)  # joints above may have moved in this sweep
            largest = max(largest, _move_joint(mechanism, k))
    return largest


def _move_joint(mechanism: Mechanism, k: int) -> float:
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


_STRAIGHT = 1e-3
"""Sine of the bend of two bones below which they are in no plane."""


def solve_fabrik(problem: Problem) -> tuple[int, int]:
    """FABRIK: both passes until nothing moves. Only a stiffness of 1 has an effect: points do not move by parts."""
    return _repeat(freed(problem), _there_and_back)


class _Points(NamedTuple):
    """The tree of points: (K,) the joints right below each joint that have goals at or below them; wanted positions."""

    branches: list[list[int]]
    wanted: list[Vector]


def _there_and_back(mechanism: Mechanism) -> float:
    """One pass to the root and one back; the largest turn (radians) or move (metres) of a joint."""
    mechanism.cap = math.inf  # points jump to where the goals are, and joints follow at once
    mechanism.refresh()
    points = _to_root(mechanism)
    return max((_follow(mechanism, k, points) for k in range(len(points.wanted)) if mechanism.below[k]), default=0.0)


def _own_goals(mechanism: Mechanism, k: int) -> list[int]:
    """The goals of joint k itself that have shells."""
    return [g for g in mechanism.below[k] if mechanism.goal_joint[g] == k and mechanism.goal_has_shell[g]]


def _to_root(mechanism: Mechanism) -> _Points:
    """Where each joint has to be for the goals below it: each bone is laid back from its end."""
    branches: list[list[int]] = [[] for _ in mechanism.parent]
    wanted = list(mechanism.place)
    for k in range(len(wanted) - 1, -1, -1):
        here = mechanism.place[k]
        asked = [_beside(wanted[c], here, length(minus(mechanism.place[c], here))) for c in branches[k]]
        for g in _own_goals(mechanism, k):
            if mechanism.goal_turns[g]:
                asked.append(minus(wanted_point(mechanism, g), rotate(mechanism.rotation[g], mechanism.goal_offset[g])))
            else:
                asked.append(_beside(wanted_point(mechanism, g), here, length(mechanism.goal_offset[g])))
        if asked:
            total = asked[0]
            for other in asked[1:]:
                total = plus(total, other)
            wanted[k] = scaled(total, 1.0 / len(asked))
            if mechanism.parent[k] >= 0:
                branches[mechanism.parent[k]].append(k)
    return _Points(branches, wanted)


def _beside(start: Vector, towards: Vector, distance: float) -> Vector:
    """The point at a distance from ``start`` in the direction of another point; ``start`` where the two coincide."""
    away = minus(towards, start)
    size = length(away)
    return plus(start, scaled(away, distance / size)) if size > 0.0 else start


def _follow(mechanism: Mechanism, k: int, points: _Points) -> float:
    """The pass from the root at joint k: lay the bones below it towards their points; radians or metres it moved."""
    largest = 0.0
    if mechanism.moves[k]:
        first = mechanism.first[k]
        a, b, c = mechanism.ready[first : first + 3]
        x, y, z = minus(points.wanted[k], mechanism.place[k])
        shift = (a * x, b * y, c * z)
        mechanism.t[k] = plus(mechanism.t[k], shift)
        largest = length(shift)
    mechanism.follow(k)
    return max([largest, *(length(log(made)) for made in fits(mechanism, k, lambda: _pairs(mechanism, k, points)))])


def _pairs(mechanism: Mechanism, k: int, points: _Points) -> list[Pair]:
    """The bones that start at joint k, and its goals, as they are and as they should be, from its centre."""
    here, turn = mechanism.place[k], mechanism.turn[k]
    pairs = []
    for c in points.branches[k]:
        pairs.append((rotate(turn, mechanism.t[c]), minus(points.wanted[c], here), 1.0))
        if not mechanism.ball[c] and len(mechanism.angles[c]) == 1:
            pairs += _hinge_pair(mechanism, k, c, points)
    for g in _own_goals(mechanism, k):
        if mechanism.goal_turns[g]:
            pairs += axis_pairs(turn, mechanism.rotation[g], 1.0)
        else:
            pairs.append((rotate(turn, mechanism.goal_offset[g]), minus(wanted_point(mechanism, g), here), 1.0))
    return [pair for pair in pairs if length(pair[0]) > mechanism.least_arm]


def _hinge_pair(mechanism: Mechanism, k: int, c: int, points: _Points) -> list[Pair]:
    """The axis of a hinge c below joint k, and the normal of the plane that its bone has to swing in; or nothing.

    Joint k turns about its own bone so that the hinge can bring its end to its point.
    """
    ends = [points.wanted[n] for n in points.branches[c]] or [
        wanted_point(mechanism, g) for g in _own_goals(mechanism, c)
    ]
    if len(ends) != 1:
        return []
    upper, lower = minus(points.wanted[c], mechanism.place[k]), minus(ends[0], points.wanted[c])
    normal = cross(upper, lower)
    size = length(normal)
    if size <= _STRAIGHT * length(upper) * length(lower):
        return []
    mechanism.follow(c)
    axis = mechanism.angle_axis(c, 0)
    side = math.copysign(1.0, dot(axis, normal))
    part = length(upper)  # as much as the bone counts
    return [(scaled(axis, part), scaled(normal, side * part / size), 1.0)]
