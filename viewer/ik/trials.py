"""Solving parts of a problem again, to find out why the whole was not solved."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.assemble import KIND_CODES, Assembly, assemble, freedoms_of
from viewer.ik.backends import engine_for
from viewer.ik.goals import GoalKind
from viewer.ik.kernels_groups import only_looks
from viewer.ik.leaps import CHOICE
from viewer.ik.methods import METHODS
from viewer.ik.natural import metric, principal
from viewer.ik.settings import INSIDE, ONE_SHOT, seeds_for
from viewer.ik.system import Settings, copy_state
from viewer.ik.vectorised import into_limits
from viewer.ik.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from viewer.ik.goals import Goal
    from viewer.ik.options import Options
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats

_EFFORT, _LEAST, _MOST = 40_000, 60, 400
"""Iterations of all trials of a problem together: so many divided by its freedoms and rows, within these ends."""
_RESTARTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """Some of the goals, solved as well as it went.

    Attributes:
        workspace: holds the pose found, and the goals' system.
        error: squared, weighted.
        missed: metres and radians by which goals are off, by their places in the list; goals that are met are not here.
    """

    workspace: Workspace
    error: float
    missed: dict[int, tuple[float, float]]


class Trials:
    """Solves some of a problem's goals, from the pose that its solve ended in, while iterations are left.

    Args:
        skeleton: the joints.
        goals: all goals.
        targets: (G, 3) and (G, 4), settled.
        pose: where trials start.
        options: those of the solve.

    Attributes:
        asked: the goals that can be tried: enabled; functions cannot.
        served: those of them that the method serves.
        left: iterations that are left.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], targets: tuple[Floats, Floats], pose: Pose, options: Options
    ) -> None:
        """Take the problem; nothing is solved yet."""
        self.skeleton, self.goals, self.options = skeleton, tuple(goals), options
        method = METHODS.get(options.method)
        self.asked = [i for i, goal in enumerate(goals) if goal.enabled and goal.kind in KIND_CODES]
        self.served = [i for i in self.asked if method is None or goals[i].kind in method.serves]
        self._targets, self._pose = targets, pose
        spreads = metric(skeleton) if options.natural else np.ones((len(skeleton), 3))
        axes = principal(skeleton) if options.natural else None
        self._freedoms = freedoms_of(skeleton, spreads, limits=options.limits, root=options.root, principal=axes)
        self._engine, _ = engine_for(options.backend)
        self.left = _MOST

    def look(self) -> Trial:
        """All goals in the pose as it is; also sets how many iterations a problem of this size may take."""
        workspace = self._workspace(self.asked, {}, {})
        effort = _EFFORT // (1 + len(workspace.work.step) + len(workspace.work.y))
        self.left = min(max(effort, _LEAST), _MOST)
        return self._run(workspace, Settings(max_iterations=0))

    def solve(
        self,
        chosen: Collection[int],
        iterations: int,
        *,
        restarts: bool = False,
        kinds: dict[int, GoalKind] | None = None,
        kept: dict[int, float] | None = None,
    ) -> Trial:
        """Some of the goals, from the pose.

        Args:
            chosen: their places in the list.
            iterations: so many at most.
            restarts: whether to begin anew from other poses, too.
            kinds: other kinds of goals than their own.
            kept: metres that goals are to keep from their targets, whatever else they ask.
        """
        workspace = self._workspace(chosen, kinds or {}, kept or {})
        return self._run(workspace, self._settings(workspace, iterations, restarts=restarts))

    def _settings(self, workspace: Workspace, iterations: int, *, restarts: bool) -> Settings:
        """Of a trial in a workspace, which is given the seeds that restarts need."""
        if not restarts:
            return Settings(max_iterations=iterations)
        seeds = seeds_for(workspace.system, self.skeleton, self.options.seed)
        # Of those near the pose, and of those farther off.
        half, count = len(seeds) // 2, _RESTARTS * CHOICE // 2
        seeds = np.concatenate([seeds[:count], seeds[half : half + count]])
        workspace.system = workspace.system._replace(seeds=seeds)
        return ONE_SHOT._replace(pull=0.0, restarts=_RESTARTS, max_iterations=iterations)

    def release(
        self, trial: Trial, released: Bools, iterations: int, *, begin: Trial | None = None, restarts: bool = False
    ) -> Trial:
        """Go on from a trial, or another one's pose, without the limits of the freedoms (n,) that are released."""
        before = trial.workspace
        pose = (begin or trial).workspace.state
        system = before.system._replace(
            lower=np.where(released, -np.inf, before.system.lower),
            upper=np.where(released, np.inf, before.system.upper),
            bounded=before.system.bounded & ~released,
        )
        workspace = Workspace(self.skeleton, Assembly(system, before.joints, before.goals))
        copy_state(pose, workspace.state)
        copy_state(before.anchor, workspace.anchor)
        into_limits(workspace.system, workspace.work, workspace.state.q, workspace.state.t, workspace.state.x)
        return self._run(workspace, self._settings(workspace, iterations, restarts=restarts))

    def _workspace(self, chosen: Collection[int], kinds: dict[int, GoalKind], kept: dict[int, float]) -> Workspace:
        """The chosen goals, aimed at their targets, in the pose to start from."""
        goals = [replace(goal, kind=kinds.get(i, goal.kind), enabled=i in chosen) for i, goal in enumerate(self.goals)]
        for i, distance in kept.items():
            goals[i] = replace(goals[i], kind=GoalKind.DISTANCE, target_distance=distance)
        tolerance = (INSIDE * self.options.tolerance_m, INSIDE * math.radians(self.options.tolerance_deg))
        workspace = Workspace(self.skeleton, assemble(self._freedoms, goals, tolerance))
        system = workspace.system
        for k in np.flatnonzero(system.moves).tolist():
            if only_looks(system, k):
                # As for the answer itself: it does not go to where all points are in one direction.
                system.spread[system.first[k] : system.first[k] + 3] = 0.0
        workspace.pose_at(self._pose.rotations, self._pose.translations)
        workspace.aim_at(*self._targets)
        workspace.begin()
        return workspace

    def _run(self, workspace: Workspace, settings: Settings) -> Trial:
        settings = settings._replace(max_iterations=min(settings.max_iterations, max(0, self.left)))
        self._engine.solve_many(*workspace.arrays, workspace.start, settings, workspace.one, True)
        self.left -= int(workspace.one.iterations[0])
        error = float(workspace.state.e @ workspace.state.e)
        # A goal's kind says what it asks; of the rest the misses are 0.
        off = (workspace.work.miss > workspace.system.tolerance).any(axis=1)
        misses = {int(workspace.goals[g]): tuple(workspace.work.miss[g].tolist()) for g in np.flatnonzero(off)}
        missed = {i: misses[i] for i in sorted(misses)}
        return Trial(workspace, error, missed)
