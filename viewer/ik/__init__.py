"""Inverse kinematics: goals as values, and the solver that finds the pose."""

from __future__ import annotations

from importlib import import_module

from viewer.ik.goals import Goal
from viewer.ik.warming import warm_up

__all__ = ["Goal", "Solution", "Solver", "Status", "warm_up"]

# Imported on first use: reading a goals file needs no solver. `__init__.pyi` says the same to type checkers.
_LATER = {"Solution": "viewer.ik.solution", "Solver": "viewer.ik.solver", "Status": "viewer.ik.solution"}


def __getattr__(name: str) -> object:
    """The solver and its results, on first use."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
