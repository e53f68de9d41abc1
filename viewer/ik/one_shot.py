"""One solve from a given pose: the quickest way first, a search with restarts, and more seeds where these all miss."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viewer.ik.arm_search import is_arm
from viewer.ik.prepared import OTHER_SEEDS, Prepared
from viewer.ik.runs import Runs
from viewer.ik.solution import Solution, Status
from viewer.ik.solver_options import DEFAULT
from viewer.ik.system import Settings
from viewer.skeleton import Pose

_MISSED = (Status.UNREACHABLE, Status.STALLED)
"""How solves end whose restarts have all missed a goal."""
_POSE_ROWS = 6
"""Residuals of a goal for a place and a rotation."""


class OneShot:
    """One-shot solves of prepared goals.

    Args:
        runs: of the goals.
        exact: whether a solve that does not converge gives the start pose back.

    Attributes:
        prepared: the goals.
    """

    def __init__(self, runs: Runs, *, exact: bool) -> None:
        """Remember them."""
        self._runs, self._exact = runs, exact
        self.prepared = runs.prepared

    def solve(self, pose: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution:
        """As `viewer.ik.solver.Solver.solve`."""
        runs, prepared = self._runs, self.prepared
        grips = prepared.grips
        quick = None if grips.adds else runs.from_known(pose, targets, target_rotations)
        if quick is not None and quick.status is Status.CONVERGED:
            return quick
        if quick is None:
            targets, target_rotations = grips.spread(targets, target_rotations)
            quick = None if grips.found else runs.from_unseen(pose, targets, target_rotations)
        start, outside = prepared.starts.start(pose)
        solution = quick or self._gripping(start, targets, target_rotations)
        if solution is None:
            drawn = prepared.starts.drawn(start)
            solution = runs.towards(prepared.workspace, drawn, targets, target_rotations, runs.settings)
        if solution.status in _MISSED:
            solution = self._sought_again(solution, start, targets, target_rotations)
        if self._exact and solution.status is not Status.CONVERGED:
            solution = runs.gone_back(solution, start, prepared.targets.settle(start, targets, target_rotations))
        solution.start_outside |= outside
        return solution

    def _sought_again(
        self, solution: Solution, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> Solution:
        """Solve again, from other seeds, where restarts find no pose and geometry does not exclude one.

        Few of a robot's branches may lead to a goal, and all restarts may miss them. The iterations are those of both
        solves.
        """
        runs, prepared = self._runs, self.prepared
        if runs.excluded or not seeks_again(prepared, runs.settings):
            return solution
        drawn, workspace = prepared.starts.drawn(start), prepared.reseeded[1]
        found = runs.towards(workspace, drawn, targets, target_rotations, longer(runs.settings))
        both = found if found.status is Status.CONVERGED else solution
        both.iterations, both.seconds = solution.iterations + found.iterations, solution.seconds + found.seconds
        return both

    def _gripping(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution | None:
        """Solve with grips; None without grips.

        Other goals are met first, by a solve with restarts; from there the fingers close, unless they hold already.
        """
        runs, prepared = self._runs, self.prepared
        grips = prepared.grips
        if not grips.found:
            return None
        if not any(goal.enabled for goal in grips.others):
            return self._gripping_alone(start, targets, target_rotations) if grips.stays else None
        settled = prepared.targets.settle(start, targets, target_rotations)
        first = OneShot(Runs(prepared.without_grips), exact=self._exact).solve(start, *settled)
        solution = runs.run(prepared.workspace, first.pose, settled, runs.settings._replace(max_iterations=0))
        if solution.status is Status.CONVERGED:
            solution = solution.with_pose(first.pose)  # without the last bits of limits and coordinates
        else:
            solution = runs.run(prepared.workspace, first.pose, settled, runs.settings)
        solution.iterations += first.iterations
        solution.seconds += first.seconds
        return solution

    def _gripping_alone(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution:
        """Solve with nothing but grips: hands close where they are or, where that is too far, move to the objects."""
        runs, prepared = self._runs, self.prepared
        settled = prepared.targets.settle(start, targets, target_rotations)
        solution = runs.run(prepared.workspace, start, settled, runs.settings)
        if solution.status is Status.CONVERGED:
            return solution
        count = len(prepared.grips.given)
        rows = [None if some is None else np.asarray(some)[:count] for some in (targets, target_rotations)]
        gone = OneShot(Runs(prepared.with_grips_that_move), exact=self._exact).solve(start, *rows)
        gone.iterations += solution.iterations
        gone.seconds += solution.seconds
        return gone if gone.status is Status.CONVERGED else solution


def seeks_again(prepared: Prepared, settings: Settings) -> bool:
    """Whether goals that restarts miss are searched for from other seeds, too.

    They are where goals leave no degree of freedom, as with a six-axis arm, or where the pose of an arm's tool is
    given: limits often leave few poses that reach it, and restarts may miss them all. Otherwise whole families of
    poses meet the goals, and a search four times as long gains nothing.
    """
    if prepared.options.method != DEFAULT or prepared.grips.grips or settings.restarts == 0:
        return False
    system = prepared.workspace.system
    rows = int(np.sum(system.goal_lengths + system.goal_angles))
    return bool(rows >= np.count_nonzero(system.spread)) or (rows == _POSE_ROWS and is_arm(system))


def longer(settings: Settings) -> Settings:
    """The settings of a search from the other seeds."""
    return settings._replace(
        restarts=OTHER_SEEDS * settings.restarts, max_iterations=OTHER_SEEDS * settings.max_iterations
    )
