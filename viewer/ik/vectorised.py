"""The numpy backend: the driver run with vectorised steps. Always there; `viewer.ik.compiled` is the faster one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.ik import driver, leaps, problems
from viewer.ik.twin import twins
from viewer.ik.vectorised_align import align_roots, stand_roots
from viewer.ik.vectorised_forward import residuals
from viewer.ik.vectorised_jacobian import linearise
from viewer.ik.vectorised_joints import difference, move, prefer, reseed
from viewer.ik.vectorised_measure import into_limits
from viewer.ik.vectorised_pull import yield_swings
from viewer.ik.vectorised_step import (
    cap,
    fill_row,
    freeze,
    gram,
    less_pull,
    put_row,
    put_table,
    scale_row,
    shorten,
    solve_dual,
    spread_step,
    substitute,
)

if TYPE_CHECKING:
    from viewer.ik.system import Settings, State, System, Work
    from viewer.ik.workspace import Workspace

STEPS: dict[str, Any] = {
    function.__name__: function
    for function in (
        align_roots, cap, difference, fill_row, freeze, gram, into_limits, less_pull, linearise, move, prefer, put_row, put_table,
        reseed, residuals, scale_row, shorten, solve_dual, spread_step, stand_roots, substitute, yield_swings,
    )
}  # fmt: skip
"""What they call."""

LOOPS = (leaps, driver, problems)
"""The modules whose functions each backend runs with steps of its own."""

_twins = twins(LOOPS, STEPS)
_solve, _solve_many = _twins["solve"], _twins["solve_many"]
begin = _twins["begin"]
"""`viewer.ik.problems.begin` with this backend's steps."""


def solve(
    s: System, w: Work, state: State, trial: State, best: State, anchor: State, settings: Settings
) -> tuple[int, int, float]:
    """`viewer.ik.driver.solve` with this backend's steps; overflow gives infinity, as it does in compiled code."""
    with np.errstate(all="ignore"):
        answer: tuple[int, int, float] = _solve(s, w, state, trial, best, anchor, settings)
    return answer


def solve_many(workspace: Workspace, settings: Settings, *, onward: bool) -> None:
    """`viewer.ik.problems.solve_many` with this backend's steps, on a workspace's problems."""
    with np.errstate(all="ignore"):
        _solve_many(*workspace.arrays, workspace.start, settings, workspace.one, onward)


__all__ = ["LOOPS", "STEPS", "begin", "into_limits", "residuals", "solve", "solve_many"]
