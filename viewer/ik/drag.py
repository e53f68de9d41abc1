"""A drag: warm-started steps from press to release, anchored to the pose at the press."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from viewer.ik.one_shot import OneShot
from viewer.ik.prepared import Prepared
from viewer.ik.return_to_start import GLIDE, ReturnToStart
from viewer.ik.runs import Runs
from viewer.ik.solution import Solution, Status
from viewer.ik.solver_options import DRAGGING
from viewer.ik.system import Settings
from viewer.ik.workspace import Workspace
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats, check_count

DEFAULT_ITERATIONS = 2
_MUCH_NEARER = 0.5
_CLOSING = 30
"""Most repetitions of a drag's step while a loop is open."""


class Drag:
    """One drag of any number of effectors, from press to release.

    Each step is warm-started, has a bounded number of iterations and never restarts, which would pop. Joints that the
    goals leave free are drawn to the pose at the drag's start, so that a drag out and back returns to it.

    The goals are those that the solver has when the drag begins.

    Attributes:
        start: the pose that the drag began at; pins without a place hold what their joint has in it. Joints that take
            no part are inside their limits.
        solution: the last step's, None before the first.
        glides: whether the turn of joints in a step is limited by the motion of the targets; else it may leap.
    """

    def __init__(self, prepared: Prepared, pose: Pose) -> None:
        """Begin; made by `viewer.ik.solver.Solver.drag`."""
        self.start, self._outside = prepared.starts.start(pose)
        self.solution: Solution | None = None
        self._prepared, self._runs = prepared, Runs(prepared)
        self._adds, self._has_loops = prepared.grips.adds, bool(prepared.grips.loops)
        # The solver may run other solves meanwhile.
        self._workspace = Workspace(prepared.skeleton, prepared.assembly)
        self._settings = self._asked = DRAGGING
        self._recipe = prepared.foundation.recipe(DRAGGING)
        self._returning: ReturnToStart | None = None
        self.glides = prepared.built_in

    def move(
        self,
        targets: ArrayLike | None = None,
        *,
        target_rotations: ArrayLike | None = None,
        iterations: int = DEFAULT_ITERATIONS,
    ) -> Solution:
        """One step towards targets, as in `viewer.ik.solver.Solver.solve`, with a limit of iterations.

        Raises:
            InputError: invalid targets, fewer than 1 iteration.
        """
        check_count("iterations", iterations, least=1)
        if iterations != self._settings.max_iterations:
            self._settings = DRAGGING._replace(max_iterations=iterations)
        return self.step(targets, target_rotations, self._settings)

    def step(self, targets: ArrayLike | None, target_rotations: ArrayLike | None, settings: Settings) -> Solution:
        """`move`, by other settings than those of drags."""
        space, prepared, onward, returning = self._workspace, self._prepared, self.solution is not None, self._returning
        if returning is not None:
            returning.before()
        if settings is not self._asked:
            self._asked, self._recipe = settings, prepared.foundation.recipe(settings)
        settings = self._recipe
        if self._adds:
            targets, target_rotations = prepared.grips.spread(targets, target_rotations)
        space.work.room[0] = GLIDE if self.glides and onward else np.inf
        self.solution = self._runs.towards(space, self.start, targets, target_rotations, settings, onward=onward)
        for _ in range(_CLOSING if self._has_loops and prepared.opens_loops(space) else 0):
            # No pose may show an open loop, however far the targets jumped.
            space.work.room[0] = np.inf
            self.solution = self._runs.towards(space, self.start, targets, target_rotations, settings, onward=True)
            if not prepared.opens_loops(space):
                break
        self.solution.start_outside |= self._outside
        if returning is not None:
            returning.after(self.solution.status)
        elif prepared.built_in:
            self._returning = ReturnToStart(space)
        return self.solution

    def carry(self, start: Pose, pose: Pose) -> None:
        """Continue from another pose with another start.

        Args:
            start: the new start; joints that take no part have its values.
            pose: the pose to continue from.
        """
        self.start, space = start, self._workspace
        if self.solution is None:
            return
        space.go_back(start)
        anchor = [array.copy() for array in space.work.anchor]
        space.go_back(pose)
        for array, kept in zip(space.work.anchor, anchor, strict=True):
            np.copyto(array, kept)
        self._returning = None

    def escape(self) -> Solution | None:
        """On release: a one-shot solve towards the last targets, if the drag stopped short of them.

        Restarts are allowed here, so a caller that shows the pose blends it in (`viewer.skeleton.relaxed.blend_poses`).

        Returns:
            A solution that meets all goals, or misses them by half as much in all or less; None where the drag met them
            itself, or no such pose is found.
        """
        last, runs = self.solution, self._runs
        if last is None or last.status is Status.CONVERGED:
            return None
        # A new workspace: the drag may continue from where it is.
        workspace = Workspace(self._prepared.skeleton, self._prepared.assembly)
        found = runs.run(workspace, last.pose, self._last_targets(), runs.settings)
        nearer = found.status is Status.CONVERGED or _miss(found) <= _MUCH_NEARER * _miss(last)
        return found if nearer else None

    def rest(self) -> Solution | None:
        """After the goals are met, the solution nearest the preferred pose; None without one."""
        last, options = self.solution, self._prepared.options
        if last is None or last.status is not Status.CONVERGED or options.preferred is None:
            return None
        # The solver may have got other goals since, in the same arrays.
        own = Prepared(self._prepared.foundation, self._prepared.grips.given)
        found = OneShot(Runs(own), exact=options.exact).solve(last.pose, *self._last_targets())
        return found if found.status is Status.CONVERGED else None

    def _last_targets(self) -> tuple[Floats, Floats]:
        """(G, 3) and (G, 4) the targets of the last step."""
        places, turns = (array.copy() for array in self._prepared.targets.settle(self.start, None, None))
        goals, system = self._workspace.goals, self._workspace.system
        places[goals], turns[goals] = system.goal_target, system.goal_rotation
        return places, turns


def _miss(solution: Solution) -> float:
    """Metres and radians by which all goals together are missed."""
    return float(np.nansum(solution.errors_m) + np.nansum(np.radians(solution.errors_deg)))
