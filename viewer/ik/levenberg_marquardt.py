"""One descent: damped least squares towards all goals at once, in terms of a backend's functions.

The step is that of the dual system (Wampler 1986) with damping that follows the squared error (Sugihara 2011,
"Solvability-unconcerned inverse kinematics by the Levenberg-Marquardt method", IEEE Trans. Robotics 27), limits inside
the step, a monotone guard, and restarts from seeded poses where it stalls. Both engines of `viewer.ik.backends` run
this source, each with its own functions, which are looked up by name among this module's globals.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from viewer.ik.algebra import fill_row, put_row, put_table, scale_row
from viewer.ik.arm_steps import (
    choose_seed,
    linearise_arm,
    propose_arm,
    put_arm,
    put_arm_step,
    put_way_back,
    reach_of,
    solve_arm,
    take_closed_form,
    try_arm_step,
)
from viewer.ik.kernels.contact_rows import (
    add_row,
    drop_row,
    find_rates,
    most_violated,
    push_step,
    solve_active,
    take_step,
)
from viewer.ik.kernels.dual_system import gram, solve_dual, substitute
from viewer.ik.kernels.joints import difference, move, residuals
from viewer.ik.kernels.starts import FEWEST, align_roots, stand_roots
from viewer.ik.kernels.step import cap, freeze, less_pull, linearise, shorten, spread_step, yield_swings
from viewer.ik.system import LEAST_WEIGHT, Settings, State, System, Work
from viewer.spatial.checks import Floats

CONVERGED, UNREACHABLE, STALLED, DIVERGED, BUDGET = range(5)

STALL_EVERY = 3
STALLED_RATIO, NEARLY_STALLED_RATIO = 0.5, 0.85
"""A squared error above this part of what it was `STALL_EVERY` iterations ago is a stall: far from goals, and near."""
NEARBY = 20.0
"""Tolerances within which all goals are near."""
AS_NEAR = 1.01
"""Squared errors within this factor of each other count as equal."""
PULL_EVERY = 4
"""Iterations from one pull to the next while the goals are not met."""
STILL = 1e-7
"""Radians or metres: a step below this is none."""
_TRIES = 5
"""How often a step that raises the error is retried with more damping."""


def squared(e: Floats) -> float:
    """The sum of squares."""
    total = 0.0
    for r in range(len(e)):
        total += e[r] * e[r]
    return total


def look_for_stall(moved: float, error: float, worst: float, mark: float, since: int) -> tuple[bool, float, int]:
    """Whether a descent stalls.

    ``moved``: the largest component of the last step; ``error``: squared, afterwards; ``worst``: the largest residual,
    in tolerances; ``mark``: the squared error ``since`` iterations ago.

    Returns:
        Whether it does, and the mark and the iterations since for the next look.
    """
    since += 1
    stalled = moved < STILL
    if since < STALL_EVERY:
        return stalled, mark, since
    return stalled or error > (STALLED_RATIO if worst > NEARBY else NEARLY_STALLED_RATIO) * mark, error, 0


def note_ending(w: Work, error: float, ended: float) -> float:
    """Count the descents that end as near as the nearest in ``w.tally``; returns the least squared error of all."""
    if error < ended / AS_NEAR:
        w.tally[0] = 0
    if error < ended * AS_NEAR:
        w.tally[0] += 1
    return min(ended, error)


def put_pull(s: System, w: Work, state: State, settings: Settings, pulled: bool, settling: float) -> None:
    """Fill ``w.pull``: part of the way back to the anchor, if ``pulled``.

    With ``settling``, its longest part while goals that are met settle, it is that of the settling.
    """
    fill_row(w.pull, 0.0)
    if pulled:
        if w.as_arm[0]:
            put_way_back(s, w, state.x, w.start.x)
        else:
            difference(s, w, state.x, state.q, state.t, w.anchor.x, w.anchor.q, w.anchor.t, w.pull)
        scale_row(w.pull, _SETTLING if settling > 0.0 else settings.pull)
        cap(s, w.pull, settling if settling > 0.0 else settings.pull_cap)
        if settings.guarded and settings.restarts == 0:
            scale_row(w.pull, w.yielding[0])


def propose(
    s: System, w: Work, state: State, settings: Settings, error: float, boost: float, clamp_to_limit: bool
) -> float:
    """Compute the step from the current pose into ``w.step``; returns its largest component.

    With ``clamp_to_limit``, dofs that would cross a limit stop there and the others make up for them; else `shorten`
    scales the step of such dofs.
    """
    damping = (settings.damping_scale * error + settings.damping) * boost
    fill_row(w.frozen, False)
    gram(s, w)
    largest = 0.0
    for _ in range(settings.limit_passes + 1):
        less_pull(s, w, w.frozen, w.pull, state.e, w.wanted)
        solve_dual(w, w.wanted, damping, w.y)
        spread_step(s, w, w.frozen, w.y, w.pull, w.step)
        keep_apart(s, w, damping)
        largest = cap(s, w.step, min(settings.step_cap, w.room[0]))
        if freeze(s, w, state.x, clamp_to_limit) == 0:
            break
    return largest


class Descent(NamedTuple):
    """Where a descent is after an iteration.

    Attributes:
        error: squared.
        worst: the largest residual, in tolerances.
        moved: the largest component of the last step; 0 if none was taken.
        boost: factor on the damping of the next step.
        bold: longest part of the next pull while goals that are met settle.
        pulled: whether the last step had a pull.
    """

    error: float
    worst: float
    moved: float
    boost: float
    bold: float
    pulled: bool


def minimise(s: System, w: Work, state: State, settings: Settings) -> tuple[int, int, float]:
    """Move ``state`` to a pose that meets the goals, or comes as near as possible.

    ``state`` begins inside its limits.

    Returns:
        Status (CONVERGED, STALLED or BUDGET: reach is checked later), iterations, squared error.
    """
    error, worst = evaluate(s, w, state)
    # Without restarts every step is nearer than the last, so ``w.best`` is free to remember the way, from call to call.
    strides = settings.guarded and settings.restarts == 0 and settings.pull > 0.0
    if not strides or w.since[0] == 0:
        keep(w, state, w.best)
    best_error, mark, since = error, error, 0
    iterations, settling = 0, 0
    if w.as_arm[0] and worst > 1.0 and settings.max_iterations > 0 and take_closed_form(s, w, state.x):
        iterations = 1
        error, worst = evaluate(s, w, state)
    at = Descent(error, worst, math.inf, 1.0, settings.pull_cap, False)
    restarts, status, afresh = 0, BUDGET, iterations == 0
    ended = math.inf
    w.tally[0] = 0
    while iterations < settings.max_iterations and w.room[0] > 0.0:
        rests = not settings.settle or (at.pulled and at.moved < _AT_REST) or settling >= _SETTLINGS
        if at.worst <= 1.0 and iterations >= settings.least_iterations and rests:
            break
        iterations += 1
        if w.as_arm[0]:
            linearise_arm(s, w)
        else:
            linearise(s, w, state.x)
        # A pull every few iterations is enough, unless the goals are met: then only the pull remains.
        pulled = settings.pull > 0.0 and (iterations % PULL_EVERY == 1 or at.worst <= 1.0 or afresh)
        settles = pulled and settings.settle and at.worst <= 1.0
        settling += settles
        put_pull(s, w, state, settings, pulled, at.bold if settles else 0.0)
        at = advance(s, w, state, settings, at, pulled, strides, restarts)
        error, worst = at.error, at.worst
        if error < best_error and not strides:
            best_error = error
            keep(w, state, w.best)
        if strides and worst > 1.0 and at.moved > 0.0:
            w.since[0] += 1
            if w.since[0] == STRIDE_EVERY:
                error, worst = stride(s, w, state, settings, error)
                copy(state, w.best)
                w.since[0] = 0
        boost = at.boost
        stalled, mark, since = look_for_stall(at.moved, error, worst, mark, since)
        if stalled and worst > 1.0 and (restarts > settings.restarts or settings.restarts == 0):
            # No restarts left: go on while the error falls. The pose is at rest when an iteration that begins
            # like the first of a solve takes no step: solving again from here would move nothing.
            if at.moved < STILL:
                if afresh:
                    status = STALLED
                    break
                at, afresh = Descent(error, worst, at.moved, 1.0, at.bold, at.pulled), True
                continue
        elif stalled and worst > 1.0:
            ended = note_ending(w, error, ended)
            if restarts < settings.restarts:
                start_anew(s, w, state, restarts * CHOICE)
            elif w.as_arm[0]:
                status = STALLED
                break
            else:
                copy(w.best, state)  # the last one polishes the best so far
                restarts = settings.restarts
            restarts += 1
            error, worst = evaluate(s, w, state)
            boost, mark, since = 1.0, error, 0
        at, afresh = Descent(error, worst, at.moved, boost, at.bold, at.pulled), False
    nearer = at.worst > 1.0 and best_error < at.error and not strides
    if nearer:
        keep(w, w.best, state)
    if w.as_arm[0]:
        put_arm(s, w, state)
    if nearer or (w.as_arm[0] and at.worst > 1.0):
        error, worst = residuals(s, w, state.q, state.t, state.e)
        return CONVERGED if worst <= 1.0 else status, iterations, error
    return CONVERGED if at.worst <= 1.0 else status, iterations, at.error


def advance(
    s: System,
    w: Work,
    state: State,
    settings: Settings,
    at: Descent,
    pulled: bool,
    strides: bool,
    restarts: int,
) -> Descent:
    """Take the first step that brings the goals nearer: first one with the pull, then with more and more damping.

    ``w`` has the pull, if there is one; ``at``: where the descent is; ``strides``: whether no step may make the error
    larger.

    Returns:
        Where the descent is then.
    """
    error, boost, bold = at.error, at.boost, at.bold
    # Overlaps do not change the damping, which follows the goals' own error.
    follows = squared(state.e) if keeps_apart(s) else error
    # Once goals are met, a straight limb would swing far for a tiny gain.
    met = strides and at.worst <= 1.0
    first = -1 if settings.restarts > 0 else 1 if pulled else 0
    for attempt in range(_TRIES if settings.restarts > 0 else _TRIES + 1):
        # A dof that stops at its limit may make the step worse: from now on the others make up for it. A shorter
        # step does not help, since a dof just short of its limit is stopped by any step.
        clamp_to_limit = settings.clamp_to_limit or (first >= 0 and attempt > first)
        damping = (settings.damping_scale * follows + settings.damping) * boost
        if w.as_arm[0]:
            largest = propose_arm(s, w, state, settings, damping, pulled)
        else:
            largest = propose(s, w, state, settings, follows, boost, clamp_to_limit)
            shorten(s, w.step, state.x, settings.limit_gain)
        new_error, new_worst = try_step(s, w, state)
        most = error * (_WORTHWHILE if met and not pulled else settings.least_gain)
        if strides and new_error > most and new_worst > NEARBY:
            new_error, new_worst = follow_curve(s, w, state, damping)
        taken = new_error <= most or new_worst <= MET or not settings.guarded
        if taken or (new_error < error and helps_one(s, state, w.trial, error - new_error)):
            keep(w, w.trial, state)
            # Another step by the same factor reduces the error by about the same ratio: is that enough?
            finishes = settings.restarts > 0 and new_worst > 1.0 and new_worst * new_worst * new_error <= error
            swung = strides and new_worst > NEARBY and new_error > _LITTLE_GAIN * error
            slow = settings.restarts >= max(restarts, 1) and new_error > SLOW * error
            w.room[0] -= largest
            if strides and pulled:
                yield_swings(s, w)
            # Unreachable goals cause more damping than the others need, and so do those far off in a search.
            boost = max(LEAST_BOOST if slow or not taken else 1.0, boost * RELAX)
            bold *= _BOLDER if pulled else 1.0
            if finishes:
                new_error, new_worst = step_again(s, w, state, settings, damping, new_error)
            if swung and largest > 0.0:
                # Out of reach the squared error curves more than its linearised goals do: a step may go twice as far
                # as it should, and the pose would oscillate across the valley instead of descending along it.
                scale_row(w.step, -0.5)
                new_error, new_worst = step_if_nearer(s, w, state, new_error)
            return Descent(new_error, new_worst, largest, boost, bold, pulled)
        if pulled:
            # The pull is optional: it is dropped before the step towards the goals is shortened.
            fill_row(w.pull, 0.0)
            pulled = False
            bold *= _TIMIDER
            if met:
                w.yielding[0] = max(_LEAST_PULL, _TIMIDER * w.yielding[0])
        elif met:
            break
        elif attempt != first:
            boost *= TIGHTEN
    # The last evaluation was of a rejected step.
    error, worst = evaluate(s, w, state)
    return Descent(error, worst, 0.0, boost, bold, pulled)


MET = 0.5
"""Where all goals are within this part of their tolerances, the pull may make them worse."""
_LEAST_PULL = 0.02
"""The pull is never weakened below this part."""
_WORTHWHILE = 0.25
"""Part of the squared error to which a step without a pull must bring goals that are met already."""
_LITTLE_GAIN = 0.9
"""A step that leaves more than this part of the squared error may have overshot."""
TIGHTEN, RELAX, LEAST_BOOST = 8.0, 0.25, 1e-4
"""Factors on the damping after a step that is rejected and one that is taken; the least that these come to."""
SLOW = 0.1
"""A search whose step leaves more than this part of the squared error may go on with less damping."""
_SETTLINGS, _SETTLING = 24, 0.25
"""Steps of settling when the goals are met, and the part of the way to the anchor of each: more may oscillate."""
_BOLDER, _TIMIDER = 1.5, 0.5
"""Factors on the length of such steps: while the goals stay met, and when they do not."""
_AT_REST = 1e-3
"""Radians or metres: a pose that moves less in one step has settled."""


# --- other start poses: the body moved to its goals, or the best of a few seeds

CHOICE = 8
"""Seeds that each restart chooses from."""
_UPRIGHT = 0.1
"""Squared error below which only the upright body is tried: 0.15 units of length for five goals."""
_LYING = 0.9
"""A body that is not upright must leave less than this part of the upright one's squared error."""


def copy(source: State, target: State) -> None:
    """Copy a pose."""
    put_row(source.x, target.x)
    put_table(source.q, target.q)
    put_table(source.t, target.t)
    put_row(source.e, target.e)


def keep(w: Work, source: State, target: State) -> None:
    """`copy`; of an arm only coordinates and residuals, of which a step moves nothing else."""
    if w.as_arm[0]:
        put_row(source.x, target.x)
        put_row(source.e, target.e)
    else:
        copy(source, target)


def evaluate(s: System, w: Work, state: State) -> tuple[float, float]:
    """Squared error and worst miss of a pose; of an arm, of its coordinates."""
    if w.as_arm[0]:
        return reach_of(s, w, state.x, state.e)
    return residuals(s, w, state.q, state.t, state.e)


def try_step(s: System, w: Work, state: State) -> tuple[float, float]:
    """Move ``trial`` by ``w.step`` from ``state``; returns its squared error and worst miss."""
    if w.as_arm[0]:
        return try_arm_step(s, w, state)
    copy(state, w.trial)
    move(s, w, w.step, w.trial.x, w.trial.q, w.trial.t)
    return residuals(s, w, w.trial.q, w.trial.t, w.trial.e)


def step_if_nearer(s: System, w: Work, state: State, error: float) -> tuple[float, float]:
    """Take ``w.step`` if that lowers the squared error; returns this and the worst miss of ``state`` afterwards."""
    new_error, new_worst = try_step(s, w, state)
    if new_error < error:
        keep(w, w.trial, state)
        return new_error, new_worst
    return evaluate(s, w, state)


def limited(
    settings: Settings, iterations: int, restarts: int, damped: float = 1.0, damped_far: float = 1.0
) -> Settings:
    """The same settings with other numbers of iterations and restarts, and with more damping.

    Compiled code has no `_replace`: all fields are listed.
    """
    return Settings(
        iterations,
        settings.least_iterations,
        damped * settings.damping,
        damped_far * settings.damping_scale,
        settings.step_cap,
        settings.limit_passes,
        settings.limit_gain,
        settings.pull,
        settings.pull_cap,
        restarts,
        settings.least_gain,
        settings.stand,
        settings.guarded,
        settings.clamp_to_limit,
        settings.settle,
    )


def begin(s: System, w: Work, start: State) -> None:
    """Set the anchor to the start of a solve, moved towards the preferred pose by each dof's preference."""
    anchor = w.anchor
    copy(start, anchor)
    if len(s.preference) > 0:
        difference(s, w, anchor.x, anchor.q, anchor.t, s.preferred, s.preferred_turn, anchor.t, w.step)
        for d in range(len(w.step)):
            w.step[d] *= s.preference[d]
        move(s, w, w.step, anchor.x, anchor.q, anchor.t)


def reseed(s: System, w: Work, seed: Floats, state: State) -> None:
    """Set ``state`` to the pose of a seed: bounded coordinates as they are, all others a step from the anchor."""
    copy(w.anchor, state)
    touching = keeps_apart(s)
    for k in range(len(s.parent)):
        # Dofs without a range move from where they are.
        idle = touching and s.low[k] == s.high[k]
        for d in range(s.first[k], s.first[k + 1]):
            w.step[d] = 0.0
            if s.spread[d] != 0.0 and not idle:
                w.step[d] = seed[d] - state.x[d] if s.bounded[d] else seed[d]
    move(s, w, w.step, state.x, state.q, state.t)


def stand_or_lie(s: System, w: Work, state: State, error: float) -> None:
    """Move bodies that `residuals` was last called with to where their goals are: upright, or as these fit best.

    Otherwise a body that lies, or is upside down, would have to be turned over step by step, and often gets stuck.
    """
    stand_roots(s, w, state.q, state.t)
    if error <= _UPRIGHT:
        return
    standing, _ = residuals(s, w, state.q, state.t, state.e)
    if standing > _UPRIGHT:
        copy(state, w.trial)
        align_roots(s, w, w.trial.q, w.trial.t, FEWEST)
        lying, _ = residuals(s, w, w.trial.q, w.trial.t, w.trial.e)
        if lying < _LYING * standing:
            copy(w.trial, state)


def start_anew(s: System, w: Work, state: State, begin: int) -> None:
    """Move ``state`` to the best of the next few seeds: a pose that begins nearer ends at the goals more often."""
    if w.as_arm[0]:
        choose_seed(s, w, state, begin, begin + CHOICE)
        return
    least = math.inf
    for i in range(begin, begin + CHOICE):
        reseed(s, w, s.seeds[i], w.trial)
        error, _ = residuals(s, w, w.trial.q, w.trial.t, w.trial.e)
        if align_roots(s, w, w.trial.q, w.trial.t, 1):
            error, _ = residuals(s, w, w.trial.q, w.trial.t, w.trial.e)
        if error < least or i == begin:
            least = error
            copy(w.trial, state)


# --- steps beside the plain one: a correction, an extrapolation, the same factors again


STRIDE_EVERY = 4
"""Iterations from one stride to the next."""
_STRIDES, _STRIDE, _STRIDE_CAP = 3, 2.0, 0.06
"""Limits of strides: how many in a row, their factor on the motion so far, and radians or metres of each."""

_FELT, _SOME = 0.1, 0.02
"""A gain of one goal counts, even if others lose, from these parts of its tolerance and of its squared miss."""


def helps_one(s: System, before: State, after: State, gain: float) -> bool:
    """Whether a step that lowers the squared error by ``gain`` brings one goal clearly nearer to its target.

    Beside an unreachable goal the gain of all others is a small part of the error, however near they come.
    """
    last = 0
    for g in range(len(s.goal_kind)):
        row = s.goal_row[g]
        middle = row + s.goal_lengths[g]
        last = middle + s.goal_angles[g]
        if middle > row and comes_nearer(before.e, after.e, row, middle, gain, s.goal_weight[g] * s.tolerance[0]):
            return True
        tolerance = s.goal_rotation_weight[g] * s.tolerance[1]
        if last > middle and comes_nearer(before.e, after.e, middle, last, gain, tolerance):
            return True
    for r in range(last, len(after.e)):  # noqa: SIM110 - of functions; compiled code takes a loop
        if comes_nearer(before.e, after.e, r, r + 1, gain, s.tolerance[0]):
            return True
    return False


def comes_nearer(before: Floats, after: Floats, row: int, end: int, gain: float, tolerance: float) -> bool:
    """Whether residuals in some rows shrink by enough to count; ``gain`` as in `helps_one`, a tolerance as weighted."""
    was = now = 0.0
    for r in range(row, end):
        was += before[r] * before[r]
        now += after[r] * after[r]
    least = (_FELT * tolerance) ** 2
    return bool(gain > least and was - now > max(least, _SOME * was))


def follow_curve(s: System, w: Work, state: State, damping: float) -> tuple[float, float]:
    """Correct ``w.step``, which led to ``trial``, by the residuals there that the linearisation did not predict.

    Stiff goals, such as pinned feet, let the others move only along a curve: a straight step leaves it, and only tiny
    ones would be taken (the effect of Maratos; the cure is the second-order correction of Nocedal and Wright,
    "Numerical Optimization", 2nd ed. 2006, section 18.3). The same factors are used again.

    Returns:
        Squared error and worst miss of the pose in ``trial`` afterwards.
    """
    put_row(w.step, w.held)
    less_pull(s, w, w.frozen, w.step, state.e, w.wanted)
    for r in range(len(w.wanted)):
        w.wanted[r] = w.trial.e[r] - w.wanted[r]
    solve_dual(w, w.wanted, damping, w.y)
    # Frozen dofs keep their step; the others keep theirs plus the correction.
    spread_step(s, w, w.frozen, w.y, w.held, w.step)
    keep_apart(s, w, damping)
    cap(s, w.step, w.room[0])
    shorten(s, w.step, state.x, 1.0)
    return try_step(s, w, state)


def stride(s: System, w: Work, state: State, settings: Settings, error: float) -> tuple[float, float]:
    """Extrapolate the motion since the pose in ``w.best``, in growing strides, as long as the error falls.

    Out of reach the squared error is a narrow valley: steps oscillate across it and advance slowly along it (the
    pattern move of Hooke and Jeeves, "'Direct search' solution of numerical and statistical problems", J. ACM 8, 1961).

    Returns:
        Squared error and worst miss of the pose in ``state`` afterwards.
    """
    for _ in range(_STRIDES):
        difference(s, w, state.x, state.q, state.t, w.best.x, w.best.q, w.best.t, w.step)
        scale_row(w.step, -_STRIDE)
        cap(s, w.step, min(_STRIDE_CAP, w.room[0] / _STRIDES))
        shorten(s, w.step, state.x, 1.0)
        new_error, _ = try_step(s, w, state)
        if new_error > error * settings.least_gain:
            break
        copy(w.trial, state)
        error = new_error
    return residuals(s, w, state.q, state.t, state.e)


def step_again(
    s: System, w: Work, state: State, settings: Settings, damping: float, error: float
) -> tuple[float, float]:
    """A second step with the factors of the first, which are in the scratch: a third of the cost of an iteration.

    It converges more slowly than that (Shamanskii, "A modification of Newton's method", Ukr. Math. J. 19, 1967), and is
    enough for the last part of the way. Dofs that the first step left at their limits stay there.

    ``state``: the pose after the first step, which `residuals` was last called with; ``damping`` is that of the first
    step, ``error`` the squared error there.

    Returns:
        Squared error and worst miss of the pose in ``state`` afterwards.
    """
    fill_row(w.pull, 0.0)
    fill_row(w.held, 0.0)
    if w.as_arm[0]:  # its small system is solved anew
        solve_arm(w, state.e, damping)
        put_arm_step(s, w, w.y)
    else:
        substitute(w, state.e, w.y)
        spread_step(s, w, w.frozen, w.y, w.pull, w.step)
    cap(s, w.step, settings.step_cap)
    shorten(s, w.step, state.x, settings.limit_gain)
    return step_if_nearer(s, w, state, error)


# --- bodies stay apart

MOST_WEIGHT, _STIFFER = 1e6, 10.0
"""The largest weight of overlaps, for heavy goals that push into something solid; its change from frame to frame."""
_ROUNDS = 5
"""Rows are added at most this many times the size of the active set."""


def keeps_apart(s: System) -> bool:
    """Whether the figure can touch anything."""
    return len(s.contact.joint) > 0


def weigh_overlaps(w: Work, first: bool) -> None:
    """Set the weight of overlaps: the least at the start of a solve, adapted to the last overlap in each drag step."""
    c = w.contact
    if first:
        c.weight[0] = LEAST_WEIGHT
    elif c.overlap[1] > 1.0:
        c.weight[0] = min(MOST_WEIGHT, _STIFFER * c.weight[0])
    else:
        c.weight[0] = max(LEAST_WEIGHT, c.weight[0] / _STIFFER)


def keep_apart(s: System, w: Work, damping: float) -> None:
    """Correct ``w.step``, the goals' step under this damping, whose factor is in the scratch, so that no gap closes.

    The step u of the goals minimises |A u - e|^2 + lambda |u|^2, with u in spreads of the dofs. Each gap g_r between
    two bodies, with the rows D u of how fast a step opens it, adds a constraint D u >= b: bodies that overlap must
    part, and bodies that are near may close most of their gap. The best step for the goals among those is

        u + H^-1 D^T mu,    H = A^T A + lambda I,    mu >= 0, and 0 where D u > b,

    over the rows D of an active set. The row that is violated most is added until none is violated; rows that would
    pull are removed (a dual method: Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex
    quadratic programs", Mathematical Programming 27, 1983). With the factor of the goals' step H^-1 x = (x - A^T G^-1 A
    x) / lambda, G = A A^T + lambda I. Treating gaps as rows comes from Faverjon and Tournassoud, "A local based
    approach for path planning of manipulators with a high number of degrees of freedom" (IEEE ICRA 1987).
    """
    c = w.contact
    if c.rows[0] == 0:
        return
    fill_row(c.active, False)
    push_step(s, w, 0)
    find_rates(s, w)
    count, most = 0, len(c.chosen)
    for _ in range(_ROUNDS * most):
        row = most_violated(s, w)
        if row < 0 or count == most:
            break
        add_row(s, w, count, row, damping)
        count = without_pulls(w, count + 1)
        push_step(s, w, count)
        find_rates(s, w)
    if count > 0:
        take_step(s, w)


def without_pulls(w: Work, count: int) -> int:
    """Find the pushes of the rows in the active set, dropping rows that would pull; returns how many are left."""
    c = w.contact
    while count > 0:
        solve_active(w, count)
        worst, least = -1, 0.0
        for i in range(count):
            if c.push[i] < least:
                worst, least = i, c.push[i]
        if worst < 0:
            break
        drop_row(w, worst, count)
        count -= 1
    return count
