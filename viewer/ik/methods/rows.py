"""All rows of a solve side by side: the built-in goals', then those of user functions, analytic or by differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.methods.numeric import STEP, central_differences
from viewer.ik.system import ROWS_OF_KIND, State
from viewer.ik.vectorised_forward import residuals as own_residuals
from viewer.ik.vectorised_jacobian import linearise as own_linearise

if TYPE_CHECKING:
    from viewer.ik.methods.numeric import UserRows
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Floats, Ints

_JUMP = 0.5
"""A residual that changes by more than this within a step of differences has no derivative there."""


class Rows:
    """What the goals ask of a pose, m rows by n freedoms.

    The methods stand in for the numpy backend's steps of the same names, whose other steps work on any rows.

    Attributes:
        work: scratch with room for all rows.
        groups: (m,) rows of one number belong together: a place, a turn, or a function.
    """

    def __init__(self, s: System, w: Work, state: State, extra: UserRows | None, *, numeric: bool) -> None:
        """Allocate.

        Args:
            s: the system.
            w: scratch, which keeps the built-in goals' own arrays.
            state: where the solve begins.
            extra: the function goals.
            numeric: whether the built-in rows, too, are taken by differences.
        """
        self._own_work, self._extra, self._numeric = w, extra, numeric
        self._own = len(state.e)
        sizes = [] if extra is None else extra.begin(state)
        count, freedoms = self._own + sum(sizes), len(s.lower)
        self.groups = _groups(s, sizes)
        self.work = w._replace(
            jacobian=np.zeros((freedoms, count)),
            gram=np.zeros((count, count)),
            factor=np.zeros((count, count)),
            y=np.zeros(count),
            wanted=np.zeros(count),
        )
        self._evaluated = (state.q, state.t)

    def widened(self, state: State) -> State:
        """The same pose with room for the residuals of all rows."""
        return state._replace(e=np.zeros(len(self.work.y)))

    def residuals(self, s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:  # noqa: ARG002 - a backend's own
        """Fill ``e``; the squared error, and the largest residual in units of its tolerance."""
        own = self._own
        error, worst = own_residuals(s, self._own_work, q, t, e[:own])
        if self._extra is not None:
            e[own:], largest = self._extra.evaluate(q, t)
            error, worst = float(e @ e), max(worst, largest / float(s.tolerance[0]))
        self._evaluated = (q.copy(), t.copy())
        return error, worst

    def linearise(self, s: System, w: Work, x: Floats) -> None:
        """Fill ``w.jacobian`` (n, m) at the pose that `residuals` was last called with, whose coordinates are x."""
        own = self._own
        own_linearise(s, w, x)
        state = State(x, *self._evaluated, np.zeros(own))
        if self._numeric:
            rows = self._by_differences(s, state)
            w.jacobian[:, :own] = np.where(np.isfinite(rows), rows, w.jacobian[:, :own])
        if self._extra is not None:
            w.jacobian[:, own:] = self._extra.differences(s, w, state)

    def _by_differences(self, s: System, state: State) -> Floats:
        """(n, own) the built-in rows; NaN where a residual jumps, as a turn does that passes half a turn."""
        w = self._own_work
        kept = {name: getattr(w, name).copy() for name in ("turn", "place", "point", "miss", "by_turn", "by_move")}
        scratch = w._replace(**kept)

        def residuals(owner: Ints, turns: Floats, moves: Floats) -> Floats:
            rows = np.zeros((len(owner), self._own))
            for d, k in enumerate(owner.tolist()):
                q, t = state.q.copy(), state.t.copy()
                q[k], t[k] = turns[d], moves[d]
                own_residuals(s, scratch, q, t, rows[d])
            return rows

        rows = central_differences(s, scratch, state, residuals)
        most = _JUMP / (2.0 * STEP) * _weights(s) * np.maximum(s.spread / s.unit, 1.0)[:, None]
        return np.where(np.abs(rows) > most, np.nan, rows)


def _groups(s: System, sizes: list[int]) -> Ints:
    """(m,) the group of every row: places, turns and functions are measured as one vector each."""
    lengths: list[int] = []
    for kind in s.goal_kind.tolist():
        lengths += [3, 3] if kind == kernels.POSE else [ROWS_OF_KIND[kind]]
    lengths += sizes
    return np.repeat(np.arange(len(lengths)), lengths)


def _weights(s: System) -> Floats:
    """(own,) the weight of every row of the built-in goals."""
    weights: list[float] = []
    for kind, place, turn in zip(s.goal_kind.tolist(), s.goal_weight, s.goal_rotation_weight, strict=True):
        if kind in (kernels.POSITION, kernels.POSE):
            weights += [place] * 3
        if kind in (kernels.ROTATION, kernels.POSE, kernels.AIM):
            weights += [turn] * 3
        if kind == kernels.DISTANCE:
            weights.append(place)
    return np.array(weights)
