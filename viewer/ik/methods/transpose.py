"""The Jacobian transpose with the optimal step: a step of steepest descent, cheap and slow.

Wolovich and Elliott, "A computational technique for inverse kinematics" (IEEE Conf. Decision and Control 1984); the
step size is that of Buss, "Introduction to inverse kinematics with Jacobian transpose, pseudoinverse and damped least
squares methods" (2004), section "The Jacobian transpose method".
"""

from __future__ import annotations

from viewer.ik.methods.common import Problem, iterate
from viewer.spatial.checks import Floats


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


def propose(problem: Problem, jacobian: Floats) -> Floats:
    """Dx = S alpha J^T e, S the dofs' spreads."""
    e = problem.state.e
    return problem.s.spread * (optimal_step(jacobian, e) * (jacobian @ e))


def solve(problem: Problem) -> tuple[int, int]:
    """Take guarded steps: the linear model may promise too much, and this method never increases the error."""
    return iterate(problem, propose, guarded=True)
