"""The numpy backend, last part: the dual system and what limits do to a step."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.vectorised_tables import limits_of

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Bools, Floats

_NEAR_LIMIT = 1e-2


def gram(s: System, w: Work) -> None:
    """J J^T into ``w.gram`` (M, M), whose rows and columns beyond the m-th stay 0."""
    w.jacobian.T.dot(w.jacobian, out=w.gram)


@lru_cache(maxsize=8)
def _identity(size: int) -> Floats:
    return np.eye(size)


def solve_dual(w: Work, e: Floats, damping: float, y: Floats) -> None:
    """Solve (J J^T + damping I) y = e; ``w.gram`` is kept, ``w.factor`` is overwritten."""
    m = len(e)
    factor = w.factor[:m, :m]
    np.multiply(_identity(m), damping, out=factor)
    np.add(factor, w.gram[:m, :m], out=factor)
    substitute(w, e, y)


def substitute(w: Work, e: Floats, y: Floats) -> None:
    """`solve_dual` for another ``e``, with the matrix that it left."""
    factor = w.factor[: len(e), : len(e)]
    try:
        y[...] = np.linalg.solve(factor, e)
    except np.linalg.LinAlgError:
        # Without damping, rows that no freedom answers to: the shortest solution is the limit of ever less damping.
        y[...] = np.linalg.lstsq(factor, e, rcond=None)[0]


def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, dx: Floats) -> None:
    """Set dx = pull + S J^T y, what is held for frozen freedoms, and 0 for those that take no part."""
    np.multiply(w.jacobian[:, : len(y)].dot(y), s.spread, out=dx)
    np.add(dx, pull, out=dx)
    np.copyto(dx, 0.0, where=s.spread == 0.0)
    np.copyto(dx, w.held, where=frozen)


def less_pull(s: System, w: Work, frozen: Bools, pull: Floats, e: Floats, out: Floats) -> None:
    """Set out = e - J pull: what is left to do for the goals when the pull, and frozen freedoms, have been followed."""
    out[...] = e
    wish = np.where(frozen, w.held, pull)
    if np.count_nonzero(wish):
        # Freedoms that take no part have rows of zeros.
        np.divide(wish, s.spread, out=wish, where=s.spread != 0.0)
        np.subtract(out, wish.dot(w.jacobian)[: len(out)], out=out)


def freeze(s: System, w: Work, x: Floats, filling: bool) -> int:
    """Freeze the freedoms that stand at a limit and would leave it by ``w.step``; returns how many are new.

    With ``filling`` also those that only come to their limit on the way: they go as far as it.

    Their share is taken out of ``w.gram``.
    """
    limits, there = limits_of(s), x + w.step if filling else x
    low, high = (there <= limits.low) & (w.step < 0.0), (there >= limits.high) & (w.step > 0.0)
    leaving = ((low | high) > w.frozen).nonzero()[0]
    if leaving.size:
        w.frozen[leaving] = True
        w.held[leaving] = 0.0
        if filling:
            w.held[leaving] = np.where(low[leaving], s.lower[leaving], s.upper[leaving]) - x[leaving]
        share = w.jacobian.take(leaving, axis=0)
        np.subtract(w.gram, share.T.dot(share), out=w.gram)
    return len(leaving)


def leaves_limits(s: System, dx: Floats, x: Floats) -> Bools:
    """(n,) whether a freedom stands at a limit and would leave it by the step dx."""
    limits = limits_of(s)
    return (dx < 0.0) & (x <= limits.low) | (dx > 0.0) & (x >= limits.high)


def shorten(s: System, dx: Floats, x: Floats, part: float) -> None:
    """Let a freedom that would cross its limit go only ``part`` of the way to it (all the way when it is near)."""
    there = x + dx
    crossing = ((there < s.lower) | (there > s.upper)).nonzero()[0]
    if crossing.size:
        step = dx[crossing]
        room = np.where(step > 0.0, s.upper[crossing], s.lower[crossing]) - x[crossing]
        shorter = np.where(np.abs(room) < _NEAR_LIMIT * s.unit[crossing], room, part * room)
        dx[crossing] = np.where(np.abs(step) > np.abs(room), shorter, step)


def cap(s: System, dx: Floats, most: float) -> float:
    """Scale the step so that no freedom goes farther than ``most`` of its unit; returns how far the farthest goes."""
    share = np.abs(dx / s.unit)
    largest = float(share[share.argmax()]) if share.size else 0.0
    if largest > most:
        dx *= most / largest
    return min(largest, most)


def put_row(source: Floats, target: Floats) -> None:
    """Target = source."""
    target[...] = source


def put_table(source: Floats, target: Floats) -> None:
    """Target = source."""
    target[...] = source


def scale_row(values: Floats, factor: float) -> None:
    """Multiply by a number, in place."""
    values *= factor


def fill_row(values: Floats | Bools, value: float) -> None:
    """Set all of a row to one value."""
    values[...] = value
