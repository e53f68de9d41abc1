"""Two textbook steps without damping, by the Jacobian's transpose and by its pseudo-inverse.

Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods"
(2004), sections "The Jacobian transpose method", "The pseudoinverse method" and "Singular value decomposition".
"""

from __future__ import annotations

import numpy as np

from viewer.ik.methods.common import Problem, iterate
from viewer.spatial.checks import Floats

_ROUNDING = 1e-12


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
    kept = sigma > max(truncation, _ROUNDING) * sigma[0]
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
