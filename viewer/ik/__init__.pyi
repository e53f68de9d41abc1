# The names of the package, for type checkers and, by `viewer.first_use`, for Python, which imports them on first use.

from viewer.ik.backends import warm_up
from viewer.ik.goals import Goal
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver

__all__ = ["Goal", "Solution", "Solver", "Status", "warm_up"]
