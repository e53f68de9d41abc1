"""Cyclic coordinate descent: each joint in turn is moved so that the errors of the goals below it are least.

Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical manipulators"
(IEEE Trans. Robotics and Automation 7(4), 1991), where each joint's best angle is in closed form; here for any number
of effectors on a tree, for every kind of joint, from the tips to the base or from the base to the tips.

Limits hold by clamping each joint as it is moved. CCD is commonly limited this way, and locks up for this reason: a
joint at its limit keeps the others from reaching the target another way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from viewer.ik import algebra
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED
from viewer.ik.methods.common import STILL, Problem, Progress
from viewer.ik.methods.joint_fit import fit_axis, fit_ball, pairs_for, wanted_point
from viewer.ik.methods.mechanism import (
    Mechanism,
    Quaternion,
    Vector,
    dot,
    length,
    log,
    minus,
    multiply,
    plus,
    rotate,
    scaled,
)
from viewer.ik.vectorised.joint_arrays import move

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
    error, worst = problem.evaluate(problem.state)
    progress = Progress(problem, error)
    status = CONVERGED if progress.met(worst) else None
    if status is None and problem.settings.max_iterations <= 0:
        status = BUDGET
    mechanism, nudged = Mechanism(problem), False
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
    """Move joint k so that the goals below it come as near as it can bring them; radians or metres moved."""
    goals, largest = mechanism.below[k], 0.0
    if mechanism.moves[k]:
        largest = _shift_root(mechanism, k)
    if mechanism.form[k] == algebra.SLIDE:
        largest = _slide(mechanism, k)
    if mechanism.ball[k]:
        made = fit_ball(mechanism, k, pairs_for(mechanism, goals, mechanism.place[k]))
        largest = max(largest, _carry(mechanism, k, made))
    for i in mechanism.angles[k]:
        made = fit_axis(mechanism, k, i, pairs_for(mechanism, goals, mechanism.place[k]))
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
    """Weighted mean of target minus effector of the goals below joint k that set a position."""
    total, miss = 0.0, (0.0, 0.0, 0.0)
    for g in mechanism.below[k]:
        if mechanism.goal_near[g]:
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
