"""The solver: all goals of a skeleton in one solve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.assemble import assemble, freedoms_of
from viewer.ik.backends import engine_for
from viewer.ik.batch import BatchRun, batch_targets, checked_starts, stacked
from viewer.ik.drag import Drag
from viewer.ik.driver import CHOICE
from viewer.ik.goals import Goal, GoalKind
from viewer.ik.methods import METHODS, UserRows
from viewer.ik.natural import arm_joints, metric, stands
from viewer.ik.options import DEFAULT, Options, check_count
from viewer.ik.reach import Reach
from viewer.ik.runs import Runs
from viewer.ik.settings import INSIDE, seeds_for
from viewer.ik.solution import Solution, Status
from viewer.ik.targets import Targets
from viewer.ik.workspace import Workspace, checked_start

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from numpy.typing import ArrayLike

    from viewer.ik.batch import BatchSolution
    from viewer.ik.options import SolverOptions
    from viewer.ik.system import Settings
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton


class Solver(Runs):
    """Poses a skeleton so that all goals are met at once, inside the joint limits.

    Args:
        skeleton: the joints.
        goals: any number of `Goal`; one that is disabled asks for nothing.
        options: the attributes of `viewer.ik.options.Options`, as keywords.

    Raises:
        InputError: an unknown name, a number out of range, no goals at all.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], **options: Unpack[SolverOptions]) -> None:
        """Work out what depends on the skeleton and the goals."""
        self.options = Options(**options)
        self.skeleton = skeleton
        natural = self.options.natural
        self._freedoms = freedoms_of(
            skeleton,
            metric(skeleton) if natural else np.ones((len(skeleton), 3)),
            limits=self.options.limits,
            root=self.options.root,
            arms=arm_joints(skeleton) if natural else frozenset(),
        )
        self._given = self._start = skeleton.rest_pose()
        self._stands = natural and self.options.root == "free" and stands(skeleton)
        self.goals = goals

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals; setting them keeps all that depends on the skeleton alone."""
        return self._goals

    @goals.setter
    def goals(self, goals: Sequence[Goal]) -> None:
        given = _checked_goals(goals)
        tolerance = (INSIDE * self.options.tolerance_m, INSIDE * math.radians(self.options.tolerance_deg))
        assembly = assemble(self._freedoms, given, tolerance)
        if self.options.restarts:
            seeds = seeds_for(assembly.system, self.skeleton, self.options.seed)
            assembly = replace(assembly, system=assembly.system._replace(seeds=seeds))
        # Goals that are refused leave the solver as it was.
        self._goals, self.assembly = given, assembly
        self.targets = Targets(self.skeleton, self._goals)
        self._workspace = Workspace(self.skeleton, assembly)
        self._unserved = _unserved(self._goals, self.options.method)
        functions = [goal for goal in self._goals if goal.enabled and goal.kind is GoalKind.FUNCTION]
        self._extra = UserRows(self.skeleton, functions, float(assembly.system.scale[1])) if functions else None
        self._reach = Reach(assembly.system)
        self._one_shot = self._settings()
        # The compiled kernels serve `default` with the built-in goals; all else runs on numpy.
        self._needs_numpy = self.options.method != DEFAULT or self._extra is not None

    @property
    def one_shot(self) -> Settings:
        """The recipe's numbers of a whole solve under this solver's options."""
        return self._one_shot

    def _settings(self) -> Settings:
        settings = self.options.settings
        restarts = min(settings.restarts, len(self.assembly.system.seeds) // CHOICE) if self.options.restarts else 0
        return settings._replace(
            max_iterations=self.options.max_iterations, restarts=restarts, stand=settings.stand or self._stands
        )

    def solve(
        self, pose: Pose, *, targets: ArrayLike | None = None, target_rotations: ArrayLike | None = None
    ) -> Solution:
        """One solve, from ``pose``.

        Args:
            pose: where to start; pins without a place hold what their joint has in it.
            targets: (G, 3) other places for this call, one row per goal in order: where to be, the distance's
                ``from_``, the aim's point. NaN rows, and rows of goals without that part, are left as they are.
            target_rotations: (G, 4) other turns for this call, likewise.

        Raises:
            InputError: a pose of another skeleton, targets of another shape, infinite numbers, rotations that are none.
        """
        if pose is not self._given:  # poses do not change: one that was checked stays good
            self._given, self._start = pose, checked_start(self.skeleton, pose)
        pose = self._start
        solution = self.towards(self._workspace, pose, targets, target_rotations, self._one_shot)
        if self.options.exact and solution.status is not Status.CONVERGED:
            settled = self.targets.settle(pose, targets, target_rotations)
            stayed = self._workspace.pose(pose) if self._workspace.go_back(pose) else pose
            solution = self._solution(self._workspace, stayed, settled, solution.report)
        return solution

    def drag(self, pose: Pose) -> Drag:
        """A drag that begins at ``pose``: warm-started steps, anchored to it; see `Drag`."""
        return Drag(self, checked_start(self.skeleton, pose))

    def solve_batch(
        self,
        poses: Sequence[Pose] | Pose,
        targets: ArrayLike | None = None,
        target_rotations: ArrayLike | None = None,
        *,
        threads: int | None = None,
    ) -> BatchSolution:
        """N solves on all cores; each result is that of `solve`, whatever the number of threads.

        Args:
            poses: N start poses, or one for all.
            targets: (N, G, 3), as in `solve`.
            target_rotations: (N, G, 4), as in `solve`.
            threads: at most so many; one a core unless given.

        Raises:
            InputError: as `solve`; a method other than the default, function goals.
        """
        if self._needs_numpy:
            raise InputError("solve_batch: expected the default method and built-in goals")
        if threads is not None:
            check_count("threads", threads, least=1)
        starts = checked_starts(self.skeleton, poses)
        places, turns = batch_targets(self.targets, starts, targets, target_rotations)
        engine, _ = engine_for(self.options.backend)
        run = BatchRun(self.skeleton, self.assembly, engine, self.one_shot, self._reach, exact=self.options.exact)
        return run.solve(*stacked(starts), places, turns, threads=threads)


def _checked_goals(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    found: object = goals
    if not isinstance(found, Iterable):
        raise InputError(f"expected a list of goals, found {quote(found)}")
    given = tuple(goals)
    entries: tuple[object, ...] = given
    for entry in entries:
        if not isinstance(entry, Goal):
            raise InputError(f"expected a list of goals, found {quote(entry)} in it")
    if not any(goal.enabled for goal in given):
        raise InputError("a solver needs at least one goal that is enabled")
    return given


def _unserved(goals: Sequence[Goal], method: str) -> tuple[str, ...]:
    """Effectors of the enabled goals that a method cannot serve."""
    if method == DEFAULT:
        return ()
    served = METHODS[method].serves
    return tuple(dict.fromkeys(goal.effector for goal in goals if goal.enabled and goal.kind not in served))
