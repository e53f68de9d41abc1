"""The Jacobian methods: damped least squares, transpose, pseudo-inverse, selectively damped; and the default algorithm.

A Jacobian method is a function that proposes a step from the linearised goals. The loop puts the limits inside the
step: dofs that are at a limit and would leave it are frozen, and the method proposes again with the others.

Damped least squares: dx = J^T (J J^T + lambda^2 I)^-1 e: Wampler, "Manipulator inverse kinematic solutions based on
vector formulations and damped least-squares methods" (IEEE Trans. Systems, Man, Cybernetics 16, 1986); Nakamura and
Hanafusa, "Inverse kinematic solutions with singularity robustness for robot manipulator control" (J. Dynamic Systems
108, 1986). With automatic damping lambda^2 follows the squared error (Sugihara 2011, cited in
`viewer.ik.levenberg_marquardt`) and is raised whenever a step raises the error (Levenberg 1944, Marquardt 1963). It and
the default algorithm run the source of `viewer.ik.levenberg_marquardt` on the numpy backend's steps, over the rows of
`viewer.ik.methods.common`.

Transpose and pseudo-inverse: Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and
damped least squares methods" (2004), sections "The Jacobian transpose method", "The pseudoinverse method" and
"Singular value decomposition".

Selectively damped least squares clamps each singular vector's share of the step on its own: Buss and Kim, "Selectively
damped least squares for inverse kinematics" (Journal of Graphics Tools 10(3), 2005), section "Selectively damped least
squares"; symbols as there. With J = U diag(sigma) V^T, whose rows come in groups l of one vector each (the effectors'
places):

    N_i = sum over l of |u_(l,i)|                                              effectors' part in u_i
    M_i = 1 / sigma_i * sum over l and j of |v_(j,i)| |ds_l / dx_j|            joints' motions that add up to it
    gamma_i = min(1, N_i / M_i) * gamma_max
    phi_i = clamp(v_i * (u_i . e) / sigma_i, gamma_i)
    dx = clamp(sum over i of phi_i, gamma_max)

where clamp(x, d) scales x down so that no component is larger than d. Where joints' motions cancel out, M_i is large
and the share is cut down. There is no damping constant to choose; gamma_max is 45 degrees, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from viewer.ik.backends import twins
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, STALLED
from viewer.ik.methods.common import Problem, Progress, SolveRows, Tuning
from viewer.ik.numpy_engine import LOOPS, STEPS, cap, leaves_limits, shorten
from viewer.ik.numpy_kinematics import move
from viewer.ik.system import Settings, System, Work, copy_state
from viewer.spatial.checks import Bools, Floats, Ints

Propose: TypeAlias = Callable[[Problem, Floats], Floats]
"(problem, transposed Jacobian (n, m) with frozen dofs' rows zero) -> step (n,)."

_HALVINGS = 6
"""Times that a guarded method shortens a step that makes it worse."""


def dls_settings(settings: Settings, tuning: Tuning, unit: float = 1.0) -> Settings:
    """Settings that make the default loop plain damped least squares: no restarts, no pull, lambda as tuned.

    A constant lambda is taken without a guard, which would raise it; it is in units of the goals' weights, of which
    ``unit`` make one of the solver's.
    """
    plain = settings._replace(restarts=0, pull=0.0, clamp_to_limit=False, stand=False, settle=False)
    if tuning.damping is not None:
        plain = plain._replace(damping=(tuning.damping / unit) ** 2, damping_scale=0.0, guarded=False)
    return plain if tuning.guarded is None else plain._replace(guarded=tuning.guarded)


def solve_damped(problem: Problem) -> tuple[int, int]:
    """Damped least squares with constant or automatic damping."""
    problem.w.pull[:] = 0.0
    return solve_default(
        problem._replace(settings=dls_settings(problem.settings, problem.tuning, float(problem.s.scale[1])))
    )


def solve_default(problem: Problem) -> tuple[int, int]:
    """The default algorithm: guard, limits, pull and restarts as the settings say, over all rows."""
    run = _driver_over(problem.rows, problem.tuning.step)
    status, iterations, _ = run(problem.s, problem.w, problem.state, problem.settings)
    return int(status), int(iterations)


def _driver_over(rows: SolveRows, part: float) -> Any:  # noqa: ANN401 - a function made at run time has no type of its own
    """`viewer.ik.levenberg_marquardt.minimise` over these rows, taking the given part of every step."""

    def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, step: Floats) -> None:
        STEPS["spread_step"](s, w, frozen, y, pull, step)
        step *= part

    own = {"residuals": rows.residuals, "linearise": rows.linearise, "spread_step": spread_step}
    return twins(LOOPS, STEPS | own)["minimise"]


def iterate(problem: Problem, propose: Propose, *, guarded: bool) -> tuple[int, int]:
    """The loop of the Jacobian methods: linearise, propose, move, judge.

    ``guarded``: whether steps that make it worse are halved, up to `_HALVINGS` times, and then not taken; if not, this
    begins where it gets no better any more. The tuning may say otherwise.

    Returns:
        Status, iterations.
    """
    state = problem.state
    guarded = guarded if problem.tuning.guarded is None else problem.tuning.guarded
    raw = problem.tuning.guarded is False
    progress = Progress(problem)
    error, worst, status = progress.error, progress.worst, progress.begun
    while status is None:
        problem.rows.linearise(problem.s, problem.w, state.x)
        error, worst, moved = _take(problem, bounded_step(problem, propose), error, worst, guarded=guarded)
        status = progress.judge(error, worst, moved)
        if status in {None, STALLED} and progress.settled and not guarded and not raw:
            # It oscillates about the best pose, or creeps: from then on only steps that improve it are taken.
            guarded, status = True, progress.spent()
            progress.best()
            error, worst = problem.evaluate(state)
    if status != CONVERGED and not (raw and status == BUDGET):
        progress.best()
    return status, progress.iterations


def _take(problem: Problem, step: Floats, error: float, worst: float, *, guarded: bool) -> tuple[float, float, float]:
    """Move the state along a step, shortened if guarded; squared error, largest residual, and how far it went."""
    trial = problem.w.trial
    for _ in range(_HALVINGS):
        copy_state(problem.state, trial)
        move(problem.s, problem.w, step, trial.x, trial.q, trial.t)
        new_error, new_worst = problem.evaluate(trial)
        if new_error <= error or not guarded:
            copy_state(trial, problem.state)
            return new_error, new_worst, float(np.abs(step / problem.s.unit).max(initial=0.0))
        step *= 0.5
    return error, worst, 0.0


def bounded_step(problem: Problem, propose: Propose) -> Floats:
    """(n,) the method's step, capped, with dofs frozen that are at a limit and would leave it.

    A dof that would cross a limit goes a part of the way to it, so that it is met at rest and not in flight.
    """
    s, state, settings = problem.s, problem.state, problem.settings
    frozen = np.zeros(len(s.lower), dtype=np.bool_)
    step = np.zeros(len(frozen))
    for _ in range(settings.limit_passes + 1):
        step = problem.tuning.step * propose(problem, np.where(frozen[:, None], 0.0, problem.w.jacobian))
        cap(s, step, settings.step_cap)
        leaving = leaves_limits(s, step, state.x) & ~frozen
        frozen |= leaving
        if not leaving.any():
            break
    step[frozen] = 0.0
    shorten(s, step, state.x, settings.limit_gain)
    return step


_ROUNDING = 1e-10


def selectively_damped_step(jacobian: Floats, e: Floats, spread: Floats, groups: Ints, most: float) -> Floats:
    """(n,) the step dx.

    Args:
        jacobian: (n, m) transposed, scaled by the spreads.
        e: (m,) target minus current.
        spread: (n,) scale of the dofs: a step y of the scaled Jacobian moves them by spread * y.
        groups: (m,) the group of each row.
        most: gamma_max, radians (metres for dofs that slide).
    """
    v, sigma, u_transposed = np.linalg.svd(jacobian, full_matrices=False)
    kept = sigma > _ROUNDING * max(float(sigma.max(initial=0.0)), _ROUNDING)
    v, sigma, u = v[:, kept], sigma[kept], u_transposed[kept].T
    n_i = _lengths(u.T, groups).sum(axis=1)
    m_i = (_lengths(jacobian, groups).sum(axis=1) @ np.abs(v)) / sigma
    gamma = np.minimum(1.0, n_i / np.maximum(m_i, _ROUNDING)) * most
    shares = spread[:, None] * v * ((e @ u) / sigma)
    largest = np.abs(shares).max(axis=0, initial=0.0)
    shares *= np.where(largest > gamma, gamma / np.maximum(largest, _ROUNDING), 1.0)
    return clamped(shares.sum(axis=1), most)


def clamped(x: Floats, most: float) -> Floats:
    """``x`` scaled so that no component is larger than ``most``."""
    largest = float(np.abs(x).max(initial=0.0))
    return x * (most / largest) if largest > most else x


def _lengths(vectors: Floats, groups: Ints) -> Floats:
    """(a, L) lengths of the groups' parts of vectors (a, m)."""
    count = int(groups.max(initial=-1)) + 1
    member = (groups[:, None] == np.arange(count)).astype(np.float64)
    return np.asarray(np.sqrt((vectors * vectors) @ member))


def propose(problem: Problem, jacobian: Floats) -> Floats:
    """The step at the current pose."""
    return selectively_damped_step(
        jacobian, problem.state.e, problem.s.spread, problem.rows.groups, problem.tuning.most_turn
    )


def solve_selectively_damped(problem: Problem) -> tuple[int, int]:
    """Take every step, as in the paper; return the best pose."""
    return iterate(problem, propose, guarded=False)


_RANK = 1e-12


def optimal_step(jacobian: Floats, e: Floats) -> float:
    """The step along J^T e after which |e - alpha J J^T e| is least: alpha = <e, J J^T e> / <J J^T e, J J^T e>.

    Args:
        jacobian: (n, m) transposed.
        e: (m,) target minus current.

    Returns:
        0 where J^T e is 0: no dof helps.
    """
    response = (jacobian @ e) @ jacobian
    square = float(response @ response)
    return float(e @ response) / square if square > 0.0 else 0.0


def _transpose_step(problem: Problem, jacobian: Floats) -> Floats:
    """Dx = S alpha J^T e, S the dofs' spreads."""
    e = problem.state.e
    return problem.s.spread * (optimal_step(jacobian, e) * (jacobian @ e))


def solve_by_transpose(problem: Problem) -> tuple[int, int]:
    """Steepest descent, cheap and slow (Wolovich and Elliott, IEEE Conf. Decision and Control 1984).

    Steps are guarded: the linear model may promise too much, and this method never increases the error.
    """
    return iterate(problem, _transpose_step, guarded=True)


def least_squares_step(jacobian: Floats, e: Floats, truncation: float) -> Floats:
    """(n,) J^+ e of the transposed Jacobian (n, m), the shortest of the best steps, by singular value decomposition.

    J^+ = sum over sigma_i > 0 of v_i u_i^T / sigma_i; values below ``truncation`` times the largest one count as 0.
    """
    v, sigma, u_transposed = np.linalg.svd(jacobian, full_matrices=False)
    if not sigma.size or sigma[0] == 0.0:
        return np.zeros(len(jacobian))
    kept = sigma > max(truncation, _RANK) * sigma[0]
    return np.asarray(v[:, kept] @ ((u_transposed[kept] @ e) / sigma[kept]))


def _pseudo_inverse_step(problem: Problem, jacobian: Floats) -> Floats:
    """Dx = S J^+ e, S the dofs' spreads."""
    return problem.s.spread * least_squares_step(jacobian, problem.state.e, problem.tuning.truncation)


def solve_by_pseudo_inverse(problem: Problem) -> tuple[int, int]:
    """The truncated Moore-Penrose pseudo-inverse (Whitney, IEEE Trans. Man-Machine Systems 10, 1969).

    Near singular poses a sigma_i goes to 0 and its share of the step to infinity: with little truncation the step cap
    is reached and the figure jerks, which this method is there to show. So every step is taken, even if the error
    grows, unless the tuning says otherwise; the answer is the best pose.
    """
    return iterate(problem, _pseudo_inverse_step, guarded=False)
