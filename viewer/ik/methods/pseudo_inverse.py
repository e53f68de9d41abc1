"""The Moore-Penrose pseudo-inverse by singular value decomposition, truncated.

Whitney, "Resolved motion rate control of manipulators and human prostheses" (IEEE Trans. Man-Machine Systems 10, 1969);
Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least squares methods"
(2004), sections "The pseudoinverse method" and "Singular value decomposition":
J^+ = sum over sigma_i > 0 of v_i u_i^T / sigma_i.

Near singular poses a sigma_i goes to 0 and its share of the step to infinity: with little truncation the step cap is
reached and the figure jerks, which is what this method is shown for. Unguarded, unless the tuning says otherwise.
"""

from __future__ import annotations

import numpy as np

from viewer.ik.methods.common import Problem, iterate
from viewer.spatial.checks import Floats

_ROUNDING = 1e-12


def least_squares_step(jacobian: Floats, e: Floats, truncation: float) -> Floats:
    """(n,) J^+ e of the transposed Jacobian (n, m): the shortest of the steps that are best.

    Singular values below ``truncation`` times the largest one count as 0.
    """
    v, sigma, u_transposed = np.linalg.svd(jacobian, full_matrices=False)
    if not sigma.size or sigma[0] == 0.0:
        return np.zeros(len(jacobian))
    kept = sigma > max(truncation, _ROUNDING) * sigma[0]
    return np.asarray(v[:, kept] @ ((u_transposed[kept] @ e) / sigma[kept]))


def propose(problem: Problem, jacobian: Floats) -> Floats:
    """Dx = S J^+ e, S the dofs' spreads."""
    return problem.s.spread * least_squares_step(jacobian, problem.state.e, problem.tuning.truncation)


def solve(problem: Problem) -> tuple[int, int]:
    """Take every step, even if the error grows; return the best pose."""
    return iterate(problem, propose, guarded=False)
