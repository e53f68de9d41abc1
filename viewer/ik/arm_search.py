"""Search for a pose of an arm: the descent and the restarts of `viewer.ik.levenberg_marquardt`, by an arm's own steps.

The same steps are taken, from the same seeds: only the last bits differ. Both engines run this source.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import fill_row, put_row
from viewer.ik.kernels.arm import (
    add_up,
    linearise_arm,
    propose_arm,
    put_arm,
    put_arm_pull,
    put_arm_step,
    reach_of,
    solve_arm,
    take_seed,
    try_arm_step,
)
from viewer.ik.kernels.forward import residuals
from viewer.ik.kernels.six_axes import has_closed_form, take_nearest
from viewer.ik.kernels.step import cap
from viewer.ik.levenberg_marquardt import (
    BUDGET,
    CONVERGED,
    LEAST_BOOST,
    MET,
    PULL_EVERY,
    RELAX,
    SLOW,
    STALLED,
    TIGHTEN,
    look_for_stall,
    note_ending,
)
from viewer.ik.line_search import helps_one
from viewer.ik.restarts import CHOICE
from viewer.ik.system import Settings, State, System, Work

_STEPS_TRIED = 5
"""How often a step that raises the error is retried with more damping."""


def choose_seed(s: System, w: Work, state: State, start: State, begin: int) -> None:
    """`viewer.ik.restarts.start_anew`: the coordinates of the best of the next few seeds."""
    least, chosen = math.inf, begin
    for i in range(begin, begin + CHOICE):
        take_seed(s, state, start, i)
        error, _ = reach_of(s, w, state.x, state.e)
        if error < least:
            least, chosen = error, i
    take_seed(s, state, start, chosen)


def step_arm_again(
    s: System, w: Work, state: State, trial: State, settings: Settings, damping: float, error: float
) -> tuple[float, float]:
    """`viewer.ik.line_search.step_again`, by the system of the last step; squared error and worst miss afterwards."""
    fill_row(w.pull, 0.0)
    fill_row(w.held, 0.0)
    solve_arm(w, state.e, damping)
    put_arm_step(s, w, w.y)
    cap(s, w.step, settings.step_cap)
    new_error, new_worst = try_arm_step(s, w, state, trial)
    if new_error < error:
        put_row(trial.x, state.x)
        put_row(trial.e, state.e)
        return new_error, new_worst
    return reach_of(s, w, state.x, state.e)


def search_arm(
    s: System, w: Work, state: State, trial: State, best: State, start: State, settings: Settings
) -> tuple[int, int, float]:
    """Move ``state`` to a pose that meets the goal, or to the nearest of those where descents stalled.

    Args:
        s: the system, an arm.
        w: scratch, with the bones of the start.
        state: afterwards the answer.
        trial: scratch.
        best: scratch.
        start: where to start, inside its limits; the pose that restarts of unlimited joints begin from.
        settings: the recipe's numbers, with restarts.

    Returns:
        Status (CONVERGED, STALLED or BUDGET), iterations, squared error. ``w.tally`` is as after `minimise`.
    """
    put_row(start.x, state.x)
    error, worst = reach_of(s, w, state.x, state.e)
    put_row(state.x, best.x)
    best_error, mark, since, ended = error, error, 0, math.inf
    boost, restarts, iterations, status = 1.0, 0, 0, BUDGET
    dofs, rows = len(s.lower), len(state.e)
    w.tally[0] = 0
    if worst > 1.0 and settings.max_iterations > 0 and has_closed_form(s, w) and take_nearest(s, w, start.x, state.x):
        iterations = 1
        error, worst = reach_of(s, w, state.x, state.e)
    while worst > 1.0 and iterations < settings.max_iterations:
        iterations += 1
        linearise_arm(s, w)
        fill_row(w.pull, 0.0)
        pulled = settings.pull > 0.0 and iterations % PULL_EVERY == 1
        if pulled:
            put_arm_pull(s, w, state.x, start.x, settings)
        moved, stops = 0.0, True
        for _ in range(_STEPS_TRIED):
            if stops:  # what stopped was taken out
                add_up(w, dofs, rows)
            damping = (settings.damping_scale * error + settings.damping) * boost
            largest, stops = propose_arm(s, w, state, settings, damping)
            new_error, new_worst = try_arm_step(s, w, state, trial)
            taken = new_error <= error * settings.least_gain or new_worst <= MET
            if taken or (new_error < error and helps_one(s, state, trial, error - new_error)):
                slow = settings.restarts >= max(restarts, 1) and new_error > SLOW * error
                # Another step by the same factor reduces the error by about the same ratio: is that enough?
                finishes = new_worst > 1.0 and new_worst * new_worst * new_error <= error
                put_row(trial.x, state.x)
                put_row(trial.e, state.e)
                error, worst, moved = new_error, new_worst, largest
                boost = max(LEAST_BOOST if slow or not taken else 1.0, boost * RELAX)
                if finishes:
                    error, worst = step_arm_again(s, w, state, trial, settings, damping, error)
                break
            if pulled:
                fill_row(w.pull, 0.0)
                pulled = False
            else:
                boost *= TIGHTEN
        if error < best_error:
            best_error = error
            put_row(state.x, best.x)
        stalled, mark, since = look_for_stall(moved, error, worst, mark, since)
        if stalled and worst > 1.0:
            ended = note_ending(w, error, ended)
            if restarts == settings.restarts:
                status = STALLED
                break
            choose_seed(s, w, state, start, restarts * CHOICE)
            error, worst = reach_of(s, w, state.x, state.e)
            restarts += 1
            boost, mark, since = 1.0, error, 0
    if worst > 1.0 and best_error < error:
        put_row(best.x, state.x)
    put_arm(s, state, start)
    if worst > 1.0:
        error, _ = residuals(s, w, state.q, state.t, state.e)
        return status, iterations, error
    return CONVERGED, iterations, error
