"""Steps beside the plain one: a second-order correction, half a step back, an extrapolation, the same factors again."""

from __future__ import annotations

from viewer.ik.active_set import keep_apart
from viewer.ik.algebra import fill_row, put_row, scale_row
from viewer.ik.kernels.dual_system import solve_dual, substitute
from viewer.ik.kernels.forward import residuals
from viewer.ik.kernels.joints import difference, move
from viewer.ik.kernels.step import cap, less_pull, shorten, spread_step
from viewer.ik.restarts import copy
from viewer.ik.system import Settings, State, System, Work
from viewer.spatial.checks import Floats

STRIDE_EVERY = 4
"""Iterations from one stride to the next."""
_STRIDES, _STRIDE, _STRIDE_CAP = 3, 2.0, 0.06
"""Limits of strides: how many in a row, their factor on the motion so far, and radians or metres of each."""

_FELT, _SOME = 0.1, 0.02
"""A gain of one goal counts, whatever others lose, from these parts of its tolerance and of its squared miss."""


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


def follow_curve(s: System, w: Work, state: State, trial: State, damping: float) -> tuple[float, float]:
    """Correct ``w.step``, which led to ``trial``, by the residuals there that the linearisation did not predict.

    Stiff goals, such as pinned feet, let the others go only along a curve: a straight step leaves it, and only tiny
    ones would be taken (the effect of Maratos; the cure is the second-order correction of Nocedal and Wright,
    "Numerical Optimization", 2nd ed. 2006, section 18.3). The same factors are used again.

    Returns:
        Squared error and worst miss of the pose in ``trial`` afterwards.
    """
    put_row(w.step, w.held)
    less_pull(s, w, w.frozen, w.step, state.e, w.wanted)
    for r in range(len(w.wanted)):
        w.wanted[r] = trial.e[r] - w.wanted[r]
    solve_dual(w, w.wanted, damping, w.y)
    # Frozen dofs keep their step; the others keep theirs plus the correction.
    spread_step(s, w, w.frozen, w.y, w.held, w.step)
    keep_apart(s, w, damping)
    cap(s, w.step, w.room[0])
    shorten(s, w.step, state.x, 1.0)
    copy(state, trial)
    move(s, w, w.step, trial.x, trial.q, trial.t)
    return residuals(s, w, trial.q, trial.t, trial.e)


def half_back(s: System, w: Work, state: State, trial: State, error: float, worst: float) -> tuple[float, float]:
    """Go back half of the step ``w.step`` that was just taken, if that lowers the error.

    Out of reach the squared error curves more than its linearised goals do, so that a step may go twice as far as it
    should: the pose would oscillate across the valley instead of descending along it.

    Returns:
        Squared error and worst miss of the pose in ``state`` afterwards.
    """
    scale_row(w.step, -0.5)
    copy(state, trial)
    move(s, w, w.step, trial.x, trial.q, trial.t)
    new_error, new_worst = residuals(s, w, trial.q, trial.t, trial.e)
    if new_error < error:
        copy(trial, state)
        return new_error, new_worst
    return residuals(s, w, state.q, state.t, state.e)


def stride(
    s: System, w: Work, state: State, trial: State, since: State, settings: Settings, error: float
) -> tuple[float, float]:
    """Extrapolate the motion since ``since``, in growing strides, as long as the error falls.

    Out of reach the squared error is a narrow valley: steps oscillate across it and advance slowly along it (the
    pattern move of Hooke and Jeeves, "'Direct search' solution of numerical and statistical problems", J. ACM 8, 1961).

    Returns:
        Squared error and worst miss of the pose in ``state`` afterwards.
    """
    for _ in range(_STRIDES):
        difference(s, w, state.x, state.q, state.t, since.x, since.q, since.t, w.step)
        scale_row(w.step, -_STRIDE)
        cap(s, w.step, min(_STRIDE_CAP, w.room[0] / _STRIDES))
        shorten(s, w.step, state.x, 1.0)
        copy(state, trial)
        move(s, w, w.step, trial.x, trial.q, trial.t)
        new_error, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if new_error > error * settings.least_gain:
            break
        copy(trial, state)
        error = new_error
    return residuals(s, w, state.q, state.t, state.e)


def step_again(
    s: System, w: Work, state: State, trial: State, settings: Settings, error: float, worst: float
) -> tuple[float, float]:
    """A second step with the factors of the first, which are in the scratch: a third of the cost of an iteration.

    It converges more slowly than that (Shamanskii, "A modification of Newton's method", Ukr. Math. J. 19, 1967), and is
    enough for the last part of the way. Dofs that the first step left at their limits stay there.

    Args:
        s: the system.
        w: scratch.
        state: the pose after the first step, which `residuals` was last called with.
        trial: scratch.
        settings: the recipe's numbers.
        error: squared error there.
        worst: worst miss there.

    Returns:
        Squared error and worst miss of the pose in ``state`` afterwards.
    """
    fill_row(w.pull, 0.0)
    fill_row(w.held, 0.0)
    substitute(w, state.e, w.y)
    spread_step(s, w, w.frozen, w.y, w.pull, w.step)
    cap(s, w.step, settings.step_cap)
    shorten(s, w.step, state.x, settings.limit_gain)
    copy(state, trial)
    move(s, w, w.step, trial.x, trial.q, trial.t)
    new_error, new_worst = residuals(s, w, trial.q, trial.t, trial.e)
    if new_error < error:
        copy(trial, state)
        return new_error, new_worst
    return residuals(s, w, state.q, state.t, state.e)
