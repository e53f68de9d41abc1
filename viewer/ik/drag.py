"""Dragging: many small solves, each from where the last one ended."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.checks import check_count
from viewer.ik.homing import GLIDE, Homing
from viewer.ik.settings import DRAGGING
from viewer.ik.solution import Solution, Status
from viewer.ik.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.ik.solver import Solver
    from viewer.ik.system import Settings
    from viewer.skeleton.pose import Pose

DEFAULT_ITERATIONS = 2
_MUCH_NEARER = 0.5


class Drag:
    """One drag of any number of effectors, from press to release.

    Warm-started, a bounded number of iterations a step, never a restart (it would pop). What the goals leave free is
    drawn to the pose at the drag's start, so that out and back comes back.

    The goals are those that the solver has when the drag begins, its own and not those set later.

    Attributes:
        start: the pose that the drag began at; pins without a place hold what their joint has in it. Joints that take
            no part are inside their limits.
        solution: the last step's, None before the first.
        glides: whether a step turns joints only by what fits how far the targets went; without, it may leap.
    """

    def __init__(self, solver: Solver, pose: Pose) -> None:
        """Begin; made by `Solver.drag`."""
        self.start, self._outside = solver.begin(pose)
        self.solution: Solution | None = None
        # The solver may be given other goals, and be asked for other solves, meanwhile.
        self._solver = copy(solver)
        self._workspace = Workspace(solver.skeleton, solver.assembly)
        self._settings = DRAGGING
        self._homing: Homing | None = None
        self.glides = solver.built_in

    def move(
        self,
        targets: ArrayLike | None = None,
        *,
        target_rotations: ArrayLike | None = None,
        iterations: int = DEFAULT_ITERATIONS,
    ) -> Solution:
        """One step towards targets, as in `Solver.solve`, by so many iterations at most.

        Raises:
            InputError: targets that are none, fewer than 1 iteration.
        """
        check_count("iterations", iterations, least=1)
        if iterations != self._settings.max_iterations:
            self._settings = DRAGGING._replace(max_iterations=iterations)
        return self._go_on(targets, target_rotations, self._settings)

    def _go_on(self, targets: ArrayLike | None, target_rotations: ArrayLike | None, settings: Settings) -> Solution:
        """One step under these settings."""
        space, onward, homing = self._workspace, self.solution is not None, self._homing
        if homing is not None:
            homing.before()
        settings = self._solver.recipe(settings)
        space.work.room[0] = GLIDE if self.glides and onward else np.inf
        self.solution = self._solver.towards(space, self.start, targets, target_rotations, settings, onward=onward)
        self.solution.start_outside |= self._outside
        if homing is not None:
            homing.after(self.solution.status)
        elif self._solver.built_in:
            self._homing = Homing(space)
        return self.solution

    def escape(self) -> Solution | None:
        """On release: a one-shot solve towards the last targets, if the drag stopped short of them.

        Restarts are allowed here; whoever shows the pose blends it in (`viewer.skeleton.blend.blend_poses`).

        Returns:
            A solution that meets all goals, or misses them by half as much in all or less; None where the drag met them
            itself, or no such pose is found.
        """
        last = self.solution
        if last is None or last.status is Status.CONVERGED:
            return None
        solver, dragged = self._solver, self._workspace
        places, turns = (array.copy() for array in solver.targets.settle(self.start, None, None))
        places[dragged.goals], turns[dragged.goals] = dragged.system.goal_target, dragged.system.goal_rotation
        # In arrays of its own: the drag may yet go on from where it is.
        found = solver.run(Workspace(solver.skeleton, solver.assembly), last.pose, (places, turns), solver.one_shot)
        nearer = found.status is Status.CONVERGED or _miss(found) <= _MUCH_NEARER * _miss(last)
        return found if nearer else None


def _miss(solution: Solution) -> float:
    """Metres and radians by which all goals together are missed."""
    return float(np.nansum(solution.errors_m) + np.nansum(np.radians(solution.errors_deg)))
