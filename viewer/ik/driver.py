"""One solve: the recipe, in terms of a backend's steps.

Damped least squares in the dual (Wampler 1986; error-scaled damping after Sugihara 2011, "Solvability-unconcerned
inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27), limits inside the solve, a monotone
guard, and restarts from seeded poses where it stalls. The functions it calls are looked up by name among this module's
globals: `viewer.ik.vectorised` and `viewer.ik.compiled` each run this very source with their own.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from viewer.ik.kernels import put_row, put_table, scale_row
from viewer.ik.kernels_align import align_roots, stand_roots
from viewer.ik.kernels_dual import gram, solve_dual
from viewer.ik.kernels_far import approach, far_out
from viewer.ik.kernels_forward import residuals
from viewer.ik.kernels_groups import count_groups, keep, keep_group, note_weights, single_out, take_back
from viewer.ik.kernels_joints import difference, into_limits, move, reseed
from viewer.ik.kernels_step import cap, freeze, less_pull, linearise, shorten, spread_step
from viewer.ik.system import Settings

if TYPE_CHECKING:
    from viewer.ik.system import Many, State, System, Work

CONVERGED, UNREACHABLE, STALLED, DIVERGED, BUDGET = range(5)

_STALL_EVERY = 3
_STALLED_RATIO, _NEARLY_STALLED_RATIO = 0.5, 0.85
"""A squared error above this part of what it was `_STALL_EVERY` iterations ago is a stall; the second: near goals."""
_NEAR = 20.0
"""Tolerances within which all goals are near."""
CHOICE = 8
"""Seeds that each restart chooses from."""
_PULL_EVERY = 4
"""Iterations from one pull to the next while the goals are not met."""
_STILL = 1e-7
"""Radians or metres: a step below this is none."""
_TRIES = 5
"""Times that a step that makes it worse is taken back and tried with more damping."""


def propose(s: System, w: Work, state: State, settings: Settings, error: float, boost: float, crossing: bool) -> float:
    """The step from the current pose into ``w.step``; returns its largest component.

    With ``crossing`` freedoms that would come to a limit on the way stay where they are; the others do without them.
    With ``settings.filling`` these go as far as the limit and the others make up for it; else `shorten` cuts them off.
    """
    damping = (settings.damping_scale * error + settings.damping) * boost
    w.frozen[:] = False
    gram(s, w)
    largest = 0.0
    for _ in range(settings.limit_passes + 1):
        less_pull(s, w, w.frozen, w.pull, state.e, w.wanted)
        solve_dual(w, w.wanted, damping, w.y)
        spread_step(s, w, w.frozen, w.y, w.pull, w.step)
        largest = cap(s, w.step, settings.step_cap)
        if freeze(s, w, state.x, crossing, settings.filling) == 0:
            break
    return largest


def solve(
    s: System, w: Work, state: State, trial: State, best: State, anchor: State, settings: Settings
) -> tuple[int, int, float]:
    """Move ``state`` to where the goals are met, or as near as it gets.

    Args:
        s: the system.
        w: scratch.
        state: where to start, inside its limits; the answer stands here afterwards.
        trial: scratch.
        best: scratch.
        anchor: the pose that the pull leads back to and that restarts of unlimited joints begin from.
        settings: the recipe's numbers.

    Returns:
        Status (CONVERGED, STALLED or BUDGET: whether it was in reach is asked afterwards), iterations, squared error.
    """
    error, worst = residuals(s, w, state.q, state.t, state.e)
    # Without restarts every step is nearer than the last, so ``best`` is free to remember the way, from call to call.
    strides = settings.guarded and settings.restarts == 0
    if not strides or w.since[0] == 0:
        copy(state, best)
    best_error, mark, since = error, error, 0
    boost, restarts, status, afresh = 1.0, 0, BUDGET, True
    ended = math.inf
    w.tally[0] = 0
    iterations = 0
    while iterations < settings.max_iterations:
        if worst <= 1.0 and iterations >= settings.least_iterations:
            break
        iterations += 1
        linearise(s, w, state.x)
        # Once in a while is enough, unless the goals are met: then there is nothing else to do.
        pulled = settings.pull > 0.0 and (iterations % _PULL_EVERY == 1 or worst <= 1.0 or afresh)
        w.pull[:] = 0.0
        if pulled:
            difference(s, w, state.x, state.q, state.t, anchor.x, anchor.q, anchor.t, w.pull)
            scale_row(w.pull, settings.pull)
            cap(s, w.pull, settings.pull_cap)
        moved, crossing = 0.0, False
        first = -1 if settings.restarts > 0 else 1 if pulled else 0
        for attempt in range(_TRIES if settings.restarts > 0 else _TRIES + 1):
            largest = propose(s, w, state, settings, error, boost, crossing)
            shorten(s, w.step, state.x, settings.limit_gain)
            copy(state, trial)
            move(s, w, w.step, trial.x, trial.q, trial.t)
            new_error, new_worst = residuals(s, w, trial.q, trial.t, trial.e)
            most = error * settings.least_gain * (_CROSSING_GAIN if crossing else 1.0)
            if new_error <= most or new_worst <= _MET or not settings.guarded:
                copy(trial, state)
                error, worst, moved = new_error, new_worst, largest
                boost = max(1.0, boost * _RELAX)
                break
            if pulled:
                # The pull is only wished for: it goes before the goals are given less of a step.
                w.pull[:] = 0.0
                pulled = False
            elif attempt == first:
                # A freedom that is cut short at its limit may be what spoils it for the others. Where there are
                # restarts they are the quicker way out.
                crossing = True
            else:
                crossing = False
                boost *= _TIGHTEN
        if moved == 0.0:
            # What was evaluated last is a step that was taken back.
            error, worst = residuals(s, w, state.q, state.t, state.e)
        if error < best_error and not strides:
            best_error = error
            copy(state, best)
        if strides and worst > 1.0 and moved > 0.0:
            w.since[0] += 1
            if w.since[0] == _STRIDE_EVERY:
                error, worst = stride(s, w, state, trial, best, settings, error)
                copy(state, best)
                w.since[0] = 0
        since += 1
        stalled = moved < _STILL
        if since >= _STALL_EVERY:
            stalled = stalled or error > (_STALLED_RATIO if worst > _NEAR else _NEARLY_STALLED_RATIO) * mark
            mark, since = error, 0
        if stalled and worst > 1.0:
            if restarts > settings.restarts or settings.restarts == 0:
                # Nothing new to try: go on while it still gets nearer. It is at rest when no step is taken by an
                # iteration that begins as the first of a solve does: to solve again from here moves nothing.
                if moved < _STILL:
                    if afresh:
                        status = STALLED
                        break
                    boost, afresh = 1.0, True
                    continue
            else:
                if error < ended / _AS_NEAR:
                    w.tally[0] = 0
                if error < ended * _AS_NEAR:
                    w.tally[0] += 1
                ended = min(ended, error)
                if restarts < settings.restarts and iterations < settings.last_restart * settings.max_iterations:
                    start_anew(s, w, state, trial, anchor, restarts)
                else:
                    copy(best, state)  # the last one polishes the best so far
                    restarts = settings.restarts
                restarts += 1
                error, worst = residuals(s, w, state.q, state.t, state.e)
                boost, mark, since = 1.0, error, 0
        afresh = False
    if worst > 1.0 and best_error < error and not strides:
        copy(best, state)
    # What was evaluated last may be a step that was taken back: leave the misses of the answer in the scratch.
    error, worst = residuals(s, w, state.q, state.t, state.e)
    return CONVERGED if worst <= 1.0 else status, iterations, error


_MET = 0.5
"""Below this part of their tolerances all goals are met, and what the pull makes worse is no matter."""
_CROSSING_GAIN = 0.95
"""A step that goes without some freedoms must be worth it: out of reach it would only keep the pose from resting."""
_TIGHTEN = 8.0
_RELAX = 0.25


def start_anew(s: System, w: Work, state: State, trial: State, anchor: State, restarts: int) -> None:
    """Move ``state`` to the best of the next few seeds: a pose that begins nearer ends at the goals more often."""
    least = math.inf
    for i in range(restarts * CHOICE, (restarts + 1) * CHOICE):
        reseed(s, w, s.seeds[i], anchor.x, anchor.q, anchor.t, trial.x, trial.q, trial.t)
        residuals(s, w, trial.q, trial.t, trial.e)
        align_roots(s, w, trial.q, trial.t)
        error, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if error < least or i == restarts * CHOICE:
            least = error
            copy(trial, state)


def stride(
    s: System, w: Work, state: State, trial: State, since: State, settings: Settings, error: float
) -> tuple[float, float]:
    """Go on, ever farther, in the direction in which the pose has come since ``since``, as long as it gets nearer.

    Out of reach the squared error is a valley: steps go to and fro across it, and little by little along it (the
    pattern move of Hooke and Jeeves, "'Direct search' solution of numerical and statistical problems", J. ACM 8, 1961).

    Returns:
        Squared error and worst miss of the pose that stands in ``state`` afterwards.
    """
    for _ in range(_STRIDES):
        difference(s, w, state.x, state.q, state.t, since.x, since.q, since.t, w.step)
        scale_row(w.step, -_STRIDE)
        cap(s, w.step, _STRIDE_CAP)
        shorten(s, w.step, state.x, 1.0)
        copy(state, trial)
        move(s, w, w.step, trial.x, trial.q, trial.t)
        new_error, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if new_error > error * settings.least_gain:
            break
        copy(trial, state)
        error = new_error
    return residuals(s, w, state.q, state.t, state.e)


_STRIDE_EVERY, _STRIDES, _STRIDE, _STRIDE_CAP = 4, 3, 2.0, 0.06
_SEARCH = 0.65
"""Part of the iterations after which no restart begins: the rest is for coming to rest at the nearest pose."""
_ENOUGH = 50
"""Iterations of which it pays to keep some for that."""
_AS_NEAR = 1.01
"""Squared errors that differ by less than this factor are as good as each other."""
_AGREED = 3
"""Descents, from the start or from seeds, that end as near as the best: where so many do there is no nearer pose."""


def limited(settings: Settings, iterations: int, restarts: int) -> Settings:
    """The same with so many iterations, all of which may be spent on so many restarts."""
    return Settings(
        iterations,
        settings.least_iterations,
        settings.damping,
        settings.damping_scale,
        settings.step_cap,
        settings.limit_passes,
        settings.limit_gain,
        settings.pull,
        settings.pull_cap,
        restarts,
        settings.least_gain,
        settings.stand,
        settings.guarded,
        settings.filling,
        1.0,
    )


def copy(source: State, target: State) -> None:
    """Copy a pose."""
    put_row(source.x, target.x)
    put_table(source.q, target.q)
    put_table(source.t, target.t)
    put_row(source.e, target.e)


def solve_many(
    s: System,
    w: Work,
    state: State,
    trial: State,
    best: State,
    anchor: State,
    start: State,
    settings: Settings,
    many: Many,
    onward: bool,
) -> None:
    """Solve one problem after the other: their starts and targets stand in ``many``, and so do the answers.

    Args:
        s: the system.
        w: scratch.
        state: scratch; the last answer stands here afterwards.
        trial: scratch.
        best: scratch.
        anchor: scratch; with ``onward`` the pose that the pull leads back to.
        start: the last problem's start, inside its limits: what begins there ``again`` finds it here.
        settings: the recipe's numbers.
        many: the problems.
        onward: go on from the pose in ``state``, anchored where ``anchor`` is, instead of from the problems' starts.
    """
    outside = many.outside[0]
    groups = count_groups(s)
    for i in range(len(many.code)):
        put_table(many.target[i], s.goal_target)
        put_table(many.rotation[i], s.goal_rotation)
        if not onward:
            if not many.again[i]:
                put_table(many.q[i], start.q)
                put_table(many.t[i], start.t)
                outside = into_limits(s, w, start.q, start.t, start.x)
            many.outside[i] = outside
            copy(start, state)
        # A solve of no iterations moves nothing.
        moves = not onward and settings.max_iterations > 0
        far = far_out(s, state.t)
        if far or (moves and settings.stand):
            residuals(s, w, state.q, state.t, state.e)
        if far:
            approach(s, w, state.q, state.t, moves)
            residuals(s, w, state.q, state.t, state.e)
        if moves and settings.stand:
            stand_roots(s, w, state.q, state.t)
        if not onward:
            copy(state, anchor)
            w.since[0] = 0
        if groups > 1:
            keep(s, w, 0, state)
            keep(s, w, 1, state)
        answer, most = CONVERGED, 0
        # First all goals together; then, if they have no joint in common and are not all met, group by group.
        for group in range(-1, groups if groups > 1 else 0):
            if group == 0:
                note_weights(s, w)
                answer, most = CONVERGED, 0
            if group >= 0:
                single_out(s, w, group)
                take_back(s, w, 0, state)
                w.since[0] = 0
                if not onward:
                    copy(state, anchor)
            chosen, nearest, used = settings, 0.0, 0
            thorough = not onward and settings.restarts > 0 and settings.max_iterations >= _ENOUGH
            if group < 0 and groups > 1:
                thorough = False
                chosen = limited(settings, settings.max_iterations, 0)
            if thorough:
                chosen = limited(settings, int(_SEARCH * settings.max_iterations), settings.restarts)
            code, agreed = BUDGET, False
            for attempt in range(3):
                code, iterations, error = solve(s, w, state, trial, best, anchor, chosen)
                used += iterations
                if not thorough or code == CONVERGED or attempt == 2:
                    break
                left = settings.max_iterations - used
                if attempt == 0:
                    # Nothing meets the goals. Where the start leads to without a leap may be as near as the best of
                    # the restarts; so a solve that begins at the nearest pose ends there.
                    agreed = w.tally[0] >= _AGREED
                    nearest = error
                    put_table(state.q, many.q[i])
                    put_table(state.t, many.t[i])
                    copy(start, state)
                    copy(start, anchor)
                    left = left * 4 // 5
                    w.since[0] = 0
                elif error > _AS_NEAR * nearest:
                    put_table(many.q[i], state.q)
                    put_table(many.t[i], state.t)
                    into_limits(s, w, state.q, state.t, state.x)
                    w.since[0] = 0
                else:
                    break
                chosen = limited(settings, left, 0)
            if code == STALLED and agreed:
                code = UNREACHABLE
            most = max(most, used)
            if code != CONVERGED and (answer == CONVERGED or code == BUDGET or (answer == STALLED and code != STALLED)):
                answer = code
            if group < 0 and code == CONVERGED:
                break
            if group >= 0:
                keep_group(s, w, 1, group, state)
                if group == groups - 1:
                    single_out(s, w, -1)
                    take_back(s, w, 1, state)
                    w.since[0] = 0
                    residuals(s, w, state.q, state.t, state.e)
        if far:
            put_table(many.target[i], s.goal_target)
            _, worst = residuals(s, w, state.q, state.t, state.e)
            if worst > 1.0 and answer == CONVERGED:
                answer = STALLED
        many.code[i] = answer
        many.iterations[i] = most
        put_table(state.q, many.q[i])
        put_table(state.t, many.t[i])
        put_table(w.miss, many.miss[i])
