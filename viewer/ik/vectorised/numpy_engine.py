"""The numpy backend: the loop with vectorised steps. It is always there; `viewer.ik.compiled` is the faster one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from viewer.ik import active_set, levels, levenberg_marquardt, problems, restarts
from viewer.ik.arm_search import is_arm, join_bones, search_arm
from viewer.ik.backends import twins
from viewer.ik.kernels.contact_rows import penalty
from viewer.ik.system import Problems, Settings, State, System, Work
from viewer.ik.vectorised.alignment_arrays import align_roots, stand_roots
from viewer.ik.vectorised.contact_arrays import (
    add_row,
    drop_row,
    find_rates,
    most_violated,
    push_step,
    solve_active,
    take_step,
)
from viewer.ik.vectorised.forward_arrays import residuals
from viewer.ik.vectorised.joint_arrays import difference, into_limits, move, prefer, reseed
from viewer.ik.vectorised.step_arrays import (
    cap,
    excess_loss,
    fill_row,
    freeze,
    gram,
    less_pull,
    linearise,
    predicted_ease,
    put_excess,
    put_row,
    put_table,
    scale_columns,
    scale_row,
    shorten,
    solve_dual,
    spread_step,
    stiffen,
    substitute,
    yield_swings,
)

STEPS: dict[str, Any] = {
    function.__name__: function
    for function in (
        add_row, align_roots, cap, difference, drop_row, excess_loss, fill_row, find_rates, freeze, gram, into_limits,
        is_arm, join_bones, search_arm,
        less_pull, linearise, most_violated, move, penalty, predicted_ease, prefer, push_step, put_excess, put_row,
        put_table, reseed, residuals, scale_columns, scale_row, shorten, solve_active, solve_dual, spread_step,
        stand_roots, stiffen, substitute, take_step, yield_swings,
    )
}  # fmt: skip
"""The steps of the loop."""

LOOPS = (active_set, restarts, levenberg_marquardt, levels, problems)
"""The modules whose functions each backend runs with steps of its own."""

_Minimise: TypeAlias = Callable[[System, Work, State, State, State, State, Settings], tuple[int, int, float]]


def _overflowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose overflows give infinity without a warning, as in compiled code."""

    def run(*arguments: object) -> object:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


_twins = twins(LOOPS, STEPS)
begin = _twins["begin"]
"""`viewer.ik.problems.begin` with this backend's steps."""
minimise: _Minimise = _overflowing(_twins["minimise"])
"""`viewer.ik.levenberg_marquardt.minimise` with these steps."""
follow: _Minimise = _overflowing(_twins["follow"])
"""`viewer.ik.levels.follow` with these steps."""
_solve_batch = _overflowing(_twins["solve_batch"])


def solve_batch(workspace: Problems, settings: Settings, *, onward: bool) -> None:
    """`viewer.ik.problems.solve_batch` with this backend's steps, on a workspace's problems."""
    _solve_batch(*workspace.arrays, workspace.start, settings, workspace.one, onward)


__all__ = ["LOOPS", "STEPS", "begin", "follow", "into_limits", "minimise", "residuals", "solve_batch"]
