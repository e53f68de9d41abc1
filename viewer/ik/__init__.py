"""Inverse kinematics: goals as values, and the solver that finds the pose."""

from __future__ import annotations

from viewer.first_use import on_first_use

__all__ = ["Goal", "Solution", "Solver", "Status", "warm_up"]
# Planting feet on objects needs no goals, and reading a goals file no solver.
__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "viewer.ik.goals": ("Goal",),
        "viewer.ik.solution": ("Solution", "Status"),
        "viewer.ik.solver": ("Solver",),
        "viewer.ik.warming": ("warm_up",),
    },
)
