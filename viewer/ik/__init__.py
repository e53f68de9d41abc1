"""Inverse kinematics: goals as values, and the solver that finds the pose."""

from __future__ import annotations

from viewer.first_use import on_first_use

# Planting feet on objects needs no goals, and reading a goals file no solver.
__getattr__, __dir__, __all__ = on_first_use(__file__, __name__)
