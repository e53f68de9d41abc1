"""Inverse kinematics: goals as values, and the solver that finds the pose."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Goal", "Solution", "Solver", "Status", "warm_up"]

# Imported on first use: planting feet on objects needs no goals, and reading a goals file no solver. `__init__.pyi`
# says the same to type checkers.
_MODULE_OF = {
    "Goal": "viewer.ik.goals",
    "Solution": "viewer.ik.solution",
    "Solver": "viewer.ik.solver",
    "Status": "viewer.ik.solution",
    "warm_up": "viewer.ik.warming",
}


def __getattr__(name: str) -> object:
    """The names of the room, on first use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found
