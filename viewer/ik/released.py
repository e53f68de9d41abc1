"""Which limits hold a pose back: those that it leaves behind, nearer to its goals, as soon as it may.

In the terms of constrained optimisation these are the limits whose multipliers matter. They are found by solving on
without the limits that the pose is at, and then putting back every one that is not needed for the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.findings import limit_name

if TYPE_CHECKING:
    from viewer.ik.trials import Trial, Trials
    from viewer.spatial.checks import Bools, Floats, Ints

_ITERATIONS, _LEAP = 25, 120
_ROUNDS = 3
"""Without its limits a freedom may bring others to theirs."""
_AT_LIMIT = 1e-6
_LEFT_BEHIND = 1e-3
"""Radians or units of length beyond a limit."""
_MATTERS = 0.5
"""Of the squared error: what does not get below this part of it is held back by something else."""
_AS_GOOD = 1.1
_FEW, _MOST_TRIES = 6, 8


def without_limits(trials: Trials, stuck: Trial) -> tuple[Trial, list[str]]:
    """The trial without the limits that hold it back, and their names; the trial itself where none does.

    Args:
        trials: where to solve.
        stuck: at rest, with goals missed.
    """
    system = stuck.workspace.system
    freed, released = stuck, np.zeros(len(system.lower), dtype=np.bool_)
    for _ in range(_ROUNDS):
        x = freed.workspace.state.x
        near = _AT_LIMIT * system.unit
        at_limit = (x - system.lower < near) | (system.upper - x < near)
        more = at_limit & ~released & (system.spread > 0.0)
        if not (more.any() and freed.missed and trials.left):
            break
        released |= more
        freed = trials.release(freed, released, _ITERATIONS)
    if freed.missed and trials.left:
        # It may have to leap to get past them.
        anywhere = np.isfinite(system.lower) | np.isfinite(system.upper)
        loose = trials.release(stuck, anywhere, _LEAP, restarts=True)
        if not loose.missed:
            freed, released = loose, anywhere
    if freed.missed and freed.error > _MATTERS * stuck.error:
        return stuck, []
    freed, needed = _needed(trials, stuck, freed, released)
    joints = [trials.skeleton.names[joint] for joint in stuck.workspace.joints]
    x = freed.workspace.state.x
    ends = np.where(x > system.upper, system.upper, system.lower)
    return freed, [limit_name(system, joints, d, float(ends[d])) for d in needed.tolist()]


def _needed(trials: Trials, stuck: Trial, freed: Trial, released: Bools) -> tuple[Trial, Ints]:
    """The released freedoms (places) that the result cannot do without, farthest beyond their limits first."""
    order = _beyond(stuck, freed, released)
    # Half of them at a time, while that does as well; then one by one, the least beyond its limit first.
    while len(order) > _FEW and (tried := _as_good(trials, stuck, freed, order[: len(order) // 2])):
        freed, order = tried, _beyond(stuck, tried, released)
    for d in order[::-1][:_MOST_TRIES].tolist():
        rest = order[order != d]
        if len(rest) and (tried := _as_good(trials, stuck, freed, rest)):
            freed, order = tried, rest
    return freed, order[_excess(stuck, freed)[order] > _LEFT_BEHIND]


def _as_good(trials: Trials, stuck: Trial, freed: Trial, released: Ints) -> Trial | None:
    """A trial without the limits of these freedoms (places) alone, if it gets as near as ``freed``."""
    mask = np.zeros(len(stuck.workspace.system.lower), dtype=np.bool_)
    mask[released] = True
    for begin in (stuck, freed):
        tried = trials.release(stuck, mask, _ITERATIONS, begin=begin)
        if not tried.missed or (freed.missed and tried.error <= _AS_GOOD * freed.error):
            return tried
    return None


def _beyond(stuck: Trial, freed: Trial, released: Bools) -> Ints:
    """Places of the released freedoms that are beyond their limits, the farthest first."""
    excess = _excess(stuck, freed)
    places = np.flatnonzero(released & (excess > _LEFT_BEHIND))
    return places[np.argsort(-excess[places], kind="stable")]


def _excess(stuck: Trial, freed: Trial) -> Floats:
    """(n,) radians or units of length by which freedoms are beyond the limits that they had."""
    system, x = stuck.workspace.system, freed.workspace.state.x
    return np.asarray(np.maximum(system.lower - x, x - system.upper) / system.unit)
