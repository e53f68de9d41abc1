"""Dragging: many small solves, each from where the last one ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import InputError
from viewer.ik.settings import DRAGGING
from viewer.ik.solution import Solution, Status
from viewer.ik.workspace import Workspace

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.ik.solver import Solver
    from viewer.skeleton.pose import Pose

DEFAULT_ITERATIONS = 2


class Drag:
    """One drag of any number of effectors, from press to release.

    Warm-started, a bounded number of iterations a step, never a restart (it would pop). What the goals leave free is
    drawn to the pose at the drag's start, so that out and back comes back.

    Attributes:
        start: the pose that the drag began at; pins without a place hold what their joint has in it.
        solution: the last step's, None before the first.
    """

    def __init__(self, solver: Solver, pose: Pose) -> None:
        """Begin; made by `Solver.drag`."""
        self.start = pose
        self.solution: Solution | None = None
        self._solver = solver
        # Its own arrays: the solver may be asked for other solves meanwhile.
        self._workspace = Workspace(solver.skeleton, solver.assembly)

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
        if iterations < 1:
            raise InputError(f"iterations: expected 1 or more, found {iterations}")
        settled = self._solver.targets.settle(self.start, targets, target_rotations)
        settings = DRAGGING._replace(max_iterations=iterations)
        onward = self.solution is not None
        self.solution = self._solver.run(self._workspace, self.start, settled, settings, onward=onward)
        return self.solution

    def escape(self) -> Solution | None:
        """On release: a one-shot solve towards the last targets, if the drag stalled short of them and it gets nearer.

        Restarts are allowed here; whoever shows the pose blends it in (`viewer.skeleton.blend.blend_poses`).
        """
        last = self.solution
        if last is None or last.status is Status.CONVERGED:
            return None
        workspace = self._workspace
        settled = self._solver.targets.settle(self.start, None, None)
        places, turns = (array.copy() for array in settled)
        places[workspace.goals], turns[workspace.goals] = (
            workspace.system.goal_target,
            workspace.system.goal_rotation,
        )
        found = self._solver.run(workspace, last.pose, (places, turns), self._solver.one_shot)
        return found if found.status is Status.CONVERGED else None
