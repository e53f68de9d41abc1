"""Selectively damped least squares: each singular vector's share of the step is clamped on its own.

Buss and Kim, "Selectively damped least squares for inverse kinematics" (Journal of Graphics Tools 10(3), 2005), section
"Selectively damped least squares"; symbols as there. With J = U diag(sigma) V^T, whose rows come in groups l of one
vector each (the effectors' places):

    N_i = sum over l of |u_(l,i)|                                              effectors' part in u_i
    M_i = 1 / sigma_i * sum over l and j of |v_(j,i)| |ds_l / dx_j|            joints' motions that add up to it
    gamma_i = min(1, N_i / M_i) * gamma_max
    phi_i = clamp(v_i * (u_i . e) / sigma_i, gamma_i)
    dx = clamp(sum over i of phi_i, gamma_max)

where clamp(x, d) scales x down so that no component is larger than d. Where joints' motions cancel out, M_i is large
and the share is cut down. There is no damping constant to choose; gamma_max is 45 degrees, as in the paper.
"""

from __future__ import annotations

import numpy as np

from viewer.ik.methods.common import Problem, iterate
from viewer.spatial.checks import Floats, Ints

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


def solve(problem: Problem) -> tuple[int, int]:
    """Take every step, as in the paper; return the best pose."""
    return iterate(problem, propose, guarded=False)
