"""Cyclic coordinate descent: each joint in turn is moved so that the errors of the goals below it are least.

Wang and Chen, "A combined optimization method for solving the inverse kinematics problem of mechanical manipulators"
(IEEE Trans. Robotics and Automation 7(4), 1991), where each joint's best angle is in closed form; here for any number
of effectors on a tree, for every kind of joint, from the tips to the base or from the base to the tips.

Limits hold by clamping each joint as it is moved. This is how CCD is commonly limited, and why it locks up: a joint at
its limit keeps the others from going round another way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.ik.backends.compiled import algebra
from viewer.ik.backends.vectorised.joints import move
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED
from viewer.ik.methods.common import STILL, Problem, Progress
from viewer.ik.methods.figure import Figure, Quaternion, Vector, dot, length, log, minus, multiply, plus, rotate, scaled
from viewer.ik.methods.fit import fit_axis, fit_ball, pairs_for, wanted_point

_NUDGE = 0.02
"""Radians by which every joint is bent when no joint has a lever, as in a straight arm with a target inwards."""


def solve(problem: Problem) -> tuple[int, int]:
    """Sweeps from the tips to the base."""
    return _solve(problem, range(len(problem.s.parent) - 1, -1, -1))


def solve_from_base(problem: Problem) -> tuple[int, int]:
    """Sweeps from the base to the tips."""
    return _solve(problem, range(len(problem.s.parent)))


def _solve(problem: Problem, order: Sequence[int]) -> tuple[int, int]:
    """Sweep until all goals are met, nothing moves or gains any more, or the budget is used up."""
    error, worst = problem.evaluate(problem.state)
    progress = Progress(problem, error)
    status = CONVERGED if progress.met(worst) else None
    if status is None and problem.settings.max_iterations <= 0:
        status = BUDGET
    figure, nudged = Figure(problem), False
    while status is None:
        moved = sweep(figure, order)
        figure.store(problem.state)
        if moved < STILL and not nudged:
            nudged, moved = True, _NUDGE
            _bend(problem)
            figure.load(problem.state)
        error, worst = problem.evaluate(problem.state)
        status = progress.judge(error, worst, moved)
    if status != CONVERGED:
        progress.best()
    return status, progress.iterations


def sweep(figure: Figure, order: Sequence[int]) -> float:
    """Move every joint above a goal once, in the order given; the largest turn (radians) or move (metres)."""
    figure.refresh()
    largest = 0.0
    for k in order:
        if figure.below[k]:
            figure.follow(k)  # joints above may have moved in this sweep
            largest = max(largest, move_joint(figure, k))
    return largest


def move_joint(figure: Figure, k: int) -> float:
    """Move joint k so that the goals below it come as near as it can bring them; radians or metres moved."""
    goals, largest = figure.below[k], 0.0
    if figure.moves[k]:
        largest = _shift_root(figure, k)
    if figure.form[k] == algebra.SLIDE:
        largest = _slide(figure, k)
    if figure.ball[k]:
        made = fit_ball(figure, k, pairs_for(figure, goals, figure.place[k]))
        largest = max(largest, _carry(figure, k, made))
    for i in figure.angles[k]:
        made = fit_axis(figure, k, i, pairs_for(figure, goals, figure.place[k]))
        largest = max(largest, _carry(figure, k, made))
    return largest


def _carry(figure: Figure, k: int, made: Quaternion) -> float:
    """Apply a rotation of joint k to the goals below it; returns its angle."""
    pivot = figure.place[k]
    for g in figure.below[k]:
        figure.point[g] = plus(pivot, rotate(made, minus(figure.point[g], pivot)))
    for joint in {figure.goal_joint[g] for g in figure.below[k]} - {k}:
        figure.turn[joint] = multiply(made, figure.turn[joint])
    return length(log(made))


def _shift_root(figure: Figure, k: int) -> float:
    """Move a root by the goals' weighted mean miss, which is what costs least."""
    first = figure.first[k]
    a, b, c = figure.ready[first : first + 3]
    x, y, z = _mean_miss(figure, k)
    shift = (a * x, b * y, c * z)
    size = length(shift)
    if size > figure.cap:
        shift = scaled(shift, figure.cap / size)
    figure.t[k] = plus(figure.t[k], shift)
    _carry_shift(figure, k, shift)
    return length(shift)


def _slide(figure: Figure, k: int) -> float:
    """Move a slide by the goals' mean miss along it, inside its limits."""
    d, axis = figure.first[k], figure.angle_axis(k, 0)
    wanted, before = dot(_mean_miss(figure, k), axis), figure.x[d]
    figure.change(d, min(max(wanted, -figure.cap), figure.cap))
    figure.set_joint(k)
    _carry_shift(figure, k, scaled(axis, figure.x[d] - before))
    return abs(float(figure.x[d] - before))


def _mean_miss(figure: Figure, k: int) -> Vector:
    """Weighted mean of target minus effector of the goals below joint k that ask for a place."""
    total, miss = 0.0, (0.0, 0.0, 0.0)
    for g in figure.below[k]:
        if figure.goal_near[g]:
            weight = figure.weight[g] * figure.weight[g]
            total += weight
            miss = plus(miss, scaled(minus(wanted_point(figure, g), figure.point[g]), weight))
    return scaled(miss, 1.0 / total) if total > 0.0 else miss


def _carry_shift(figure: Figure, k: int, shift: Vector) -> None:
    """Apply a translation of joint k to it and to the goals below it."""
    figure.place[k] = plus(figure.place[k], shift)
    for g in figure.below[k]:
        figure.point[g] = plus(figure.point[g], shift)


def _bend(problem: Problem) -> None:
    """Bend every joint slightly, away from limits that it is at."""
    s, state = problem.s, problem.state
    step = np.where(s.spread > 0.0, np.where(state.x + _NUDGE > s.upper, -_NUDGE, _NUDGE), 0.0)
    for k in np.flatnonzero(s.moves).tolist():
        step[s.first[k] : s.first[k] + 3] = 0.0
    step[s.first[:-1][s.form == algebra.SLIDE]] = 0.0
    move(s, problem.w, step, state.x, state.q, state.t)
