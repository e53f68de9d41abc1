"""Our own solver as a contender."""

from __future__ import annotations

from typing import Unpack

from viewer.cli.bench.rigs import Rig
from viewer.ik.solution import Solution
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.spatial.checks import Floats


class Ours:
    """`viewer.Solver` with its defaults, but for the options given."""

    def __init__(self, rig: Rig, **options: Unpack[SolverOptions]) -> None:
        """Make the solver once; new targets rebuild nothing."""
        self.solver = Solver(rig.skeleton, rig.goals(), **options)
        self.rest = rig.skeleton.rest_pose()
        self.turns = bool(rig.turned.any())

    def solve(self, targets: Floats, turns: Floats) -> Solution:
        """See `Contender.solve`."""
        return self.solver.solve(self.rest, targets=targets, target_rotations=turns if self.turns else None)

    def pose(self, answer: Solution) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return answer.pose.rotations, answer.pose.translations

    def iterations(self, answer: Solution) -> int:
        """See `Contender.iterations`."""
        return answer.iterations

    def unserved(self, targets: Floats, turns: Floats) -> bool:
        """Whether the method cannot serve some of the rig's goals."""
        return bool(self.solve(targets, turns).unserved)
