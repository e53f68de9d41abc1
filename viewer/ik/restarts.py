"""Other start poses: the body moved to its goals, or the best of a few seeds."""

from __future__ import annotations

import math

from viewer.ik.algebra import put_row, put_table
from viewer.ik.kernels.alignment import FEWEST, align_roots, stand_roots
from viewer.ik.kernels.forward import residuals
from viewer.ik.kernels.joints import prefer, reseed
from viewer.ik.system import Settings, State, System, Work

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
        settings.filling,
        settings.settle,
    )


def begin(s: System, w: Work, start: State, anchor: State) -> None:
    """Set the anchor to the start of a solve, moved towards the preferred pose by each dof's preference."""
    copy(start, anchor)
    if len(s.preference) > 0:
        prefer(s, w, anchor.x, anchor.q, anchor.t)


def stand_or_lie(s: System, w: Work, state: State, trial: State, error: float) -> None:
    """Move bodies that `residuals` was last called with to where their goals are: upright, or as these fit best.

    Otherwise a body that lies, or is upside down, would have to be turned over step by step, and often gets stuck.
    """
    stand_roots(s, w, state.q, state.t)
    if error <= _UPRIGHT:
        return
    standing, _ = residuals(s, w, state.q, state.t, state.e)
    if standing > _UPRIGHT:
        copy(state, trial)
        align_roots(s, w, trial.q, trial.t, FEWEST)
        lying, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if lying < _LYING * standing:
            copy(trial, state)


def start_anew(s: System, w: Work, state: State, trial: State, anchor: State, begin: int) -> None:
    """Move ``state`` to the best of the next few seeds: a pose that begins nearer ends at the goals more often."""
    least = math.inf
    for i in range(begin, begin + CHOICE):
        reseed(s, w, s.seeds[i], anchor.x, anchor.q, anchor.t, trial.x, trial.q, trial.t)
        error, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if align_roots(s, w, trial.q, trial.t, 1):
            error, _ = residuals(s, w, trial.q, trial.t, trial.e)
        if error < least or i == begin:
            least = error
            copy(trial, state)
