"""Damped least squares, and the default algorithm with rows of any kind.

dx = J^T (J J^T + lambda^2 I)^-1 e: Wampler, "Manipulator inverse kinematic solutions based on vector formulations and
damped least-squares methods" (IEEE Trans. Systems, Man, Cybernetics 16, 1986); Nakamura and Hanafusa,
"Inverse kinematic solutions with singularity robustness for robot manipulator control" (J. Dynamic Systems 108, 1986).
With automatic damping lambda^2 follows the squared error (Sugihara 2011, cited in `viewer.ik.levenberg_marquardt`) and
is raised whenever a step makes it worse (Levenberg 1944, Marquardt 1963).

Both run the source of `viewer.ik.levenberg_marquardt` on the numpy backend's steps, over the rows of
`viewer.ik.methods.common`.
"""

from __future__ import annotations

from typing import Any

from viewer.ik.backends import twins
from viewer.ik.methods.common import Problem, Rows, Tuning
from viewer.ik.system import Settings, System, Work
from viewer.ik.vectorised.numpy_engine import LOOPS, STEPS
from viewer.spatial.checks import Bools, Floats


def dls_settings(settings: Settings, tuning: Tuning, unit: float = 1.0) -> Settings:
    """Settings that make the default loop plain damped least squares: no restarts, no pull, lambda as tuned.

    A constant lambda is taken without a guard, which would raise it; it is in units of the goals' weights, of which
    ``unit`` make one of the solver's.
    """
    plain = settings._replace(restarts=0, pull=0.0, filling=False, stand=False, settle=False)
    if tuning.damping is not None:
        plain = plain._replace(damping=(tuning.damping / unit) ** 2, damping_scale=0.0, guarded=False)
    return plain if tuning.guarded is None else plain._replace(guarded=tuning.guarded)


def solve(problem: Problem) -> tuple[int, int]:
    """Damped least squares with constant or automatic damping."""
    problem.w.pull[:] = 0.0
    return solve_default(
        problem._replace(settings=dls_settings(problem.settings, problem.tuning, float(problem.s.scale[1])))
    )


def solve_default(problem: Problem) -> tuple[int, int]:
    """The default algorithm: guard, limits, pull and restarts as the settings say, over all rows."""
    run = _driver_over(problem.rows, problem.tuning.step)
    states = (problem.state, problem.trial, problem.best, problem.anchor)
    status, iterations, _ = run(problem.s, problem.w, *states, problem.settings)
    return int(status), int(iterations)


def _driver_over(rows: Rows, part: float) -> Any:  # noqa: ANN401 - a function made at run time has no type of its own
    """`viewer.ik.levenberg_marquardt.minimise` over these rows, taking the given part of every step."""

    def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, step: Floats) -> None:
        STEPS["spread_step"](s, w, frozen, y, pull, step)
        step *= part

    own = {"residuals": rows.residuals, "linearise": rows.linearise, "spread_step": spread_step}
    return twins(LOOPS, STEPS | own)["minimise"]
