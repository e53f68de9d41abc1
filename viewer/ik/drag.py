"""A drag: warm-started steps from press to release, anchored to the pose at the press, and back to it."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import plural
from viewer.ik.buffers import Buffers
from viewer.ik.numpy_engine import follow
from viewer.ik.numpy_kinematics import difference, move, residuals
from viewer.ik.prepared import Prepared
from viewer.ik.runs import OneShot, Runs
from viewer.ik.solution import Solution, Status
from viewer.ik.solver_options import DRAGGING
from viewer.ik.system import Settings, State, System, Work, copy_state, joint_of_dof, make_state, make_work
from viewer.skeleton import Pose
from viewer.skeleton.tree import at_or_above
from viewer.spatial.checks import Floats, whole

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
        self._buffers = Buffers(prepared.skeleton, prepared.assembly)
        self._settings = self._asked = DRAGGING
        self._effective = prepared.foundation.effective(DRAGGING)
        self._returning: ReturnToStart | None = None
        self.glides = prepared.built_in

    def __repr__(self) -> str:
        now = "not moved yet" if self.solution is None else self.solution.status
        goals = plural(len(self._prepared.grips.given), "goal")
        return f"<Drag: {goals}, {len(self._prepared.skeleton)} joints, {now}>"

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
        whole(iterations, "iterations", least=1)
        if iterations != self._settings.max_iterations:
            self._settings = DRAGGING._replace(max_iterations=iterations)
        return self.step(targets, target_rotations, self._settings)

    def step(self, targets: ArrayLike | None, target_rotations: ArrayLike | None, settings: Settings) -> Solution:
        """`move`, by other settings than those of drags."""
        buffers, prepared, onward, returning = self._buffers, self._prepared, self.solution is not None, self._returning
        if returning is not None:
            returning.before()
        if settings is not self._asked:
            self._asked, self._effective = settings, prepared.foundation.effective(settings)
        settings = self._effective
        if self._adds:
            targets, target_rotations = prepared.grips.spread(targets, target_rotations)
        buffers.work.room[0] = GLIDE if self.glides and onward else np.inf
        self.solution = self._runs.towards(buffers, self.start, targets, target_rotations, settings, onward=onward)
        for _ in range(_CLOSING if self._has_loops and prepared.opens_loops(buffers) else 0):
            # No pose may show an open loop, however far the targets jumped.
            buffers.work.room[0] = np.inf
            self.solution = self._runs.towards(buffers, self.start, targets, target_rotations, settings, onward=True)
            if not prepared.opens_loops(buffers):
                break
        self.solution.start_outside |= self._outside
        if returning is not None:
            returning.after(self.solution.status)
        elif prepared.built_in:
            self._returning = ReturnToStart(buffers)
        return self.solution

    def carry(self, start: Pose, pose: Pose) -> None:
        """Continue from another pose with another start. Joints that take no part have the values of ``start``."""
        self.start, buffers = start, self._buffers
        if self.solution is None:
            return
        buffers.go_back(start)
        anchor = [array.copy() for array in buffers.work.anchor]
        buffers.go_back(pose)
        for array, kept in zip(buffers.work.anchor, anchor, strict=True):
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
        # A new buffers: the drag may continue from where it is.
        buffers = Buffers(self._prepared.skeleton, self._prepared.assembly)
        found = runs.run(buffers, last.pose, self._last_targets(), runs.settings)
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
        goals, system = self._buffers.goals, self._buffers.system
        places[goals], turns[goals] = system.goal_target, system.goal_rotation
        return places, turns


def _miss(solution: Solution) -> float:
    """Metres and radians by which all goals together are missed."""
    return float(np.nansum(solution.errors_m) + np.nansum(np.radians(solution.errors_deg)))


_WIDE = math.radians(20.0)
"""A joint with a range above this about one of its axes, and about no other, folds."""
_BEND = math.radians(15.0)
_OF_RANGE = 0.25
"""How far from its limit, and at most which part of its range, such a joint is bent."""
_INSIDE = 1e-6


def prebent(system: System, x: Floats) -> Floats:
    """Coordinates (n,) with the joints that fold, and are nearly at a limit of it, bent away from that.

    A joint at its very limit cannot fold beyond it and stays there. So does one that moves no goal, such as a jaw: it
    is among the dofs only because its body may touch something.
    """
    width = np.where(system.bounded & system.turning, system.upper - system.lower, 0.0)
    owner = joint_of_dof(system)
    folds = np.bincount(owner, weights=width > _WIDE, minlength=len(system.parent))[owner] == 1
    moving = at_or_above(system.parent, [*system.goal_joint.tolist(), *system.goal_other.tolist()])[owner]
    bend = np.where(folds & (width > _WIDE) & moving, np.minimum(_BEND, _OF_RANGE * width), 0.0)
    up = (x - system.lower > _INSIDE) & (x - system.lower < bend)
    down = (system.upper - x > _INSIDE) & (system.upper - x < bend)
    return np.where(up, system.lower + bend, np.where(down, system.upper - bend, x))


_A_FRAME = math.radians(5.0)
"""The most radians (or units of length) that a dof moves in a frame, before the goals correct it."""
_KEPT, _LATE = 0.8, 20
"""Part of the last frame's sideways step, to where the goals are met, that the next frame begins with; and the frames
in which what is left of it at the end of the path may fade.
"""
_HOME = 2e-3
"""Radians or units of length: nearer than this the pull alone leads back."""
_HALTED = (Status.CONVERGED, Status.STALLED)
_ASTRAY = 0.2
"""Units of length, or radians, by which met goals may be missed on the way."""
_SOLVED = DRAGGING._replace(max_iterations=2)
"""The settings by which the goals are met again in each frame, to check this."""
GLIDE = 0.1
"""Radians, or units of length, that a joint may move in a frame while no target moves: it glides to a far target."""


class ReturnToStart:
    """Draws a drag back: to a slightly bent start pose during the motion, to the exact one at rest at its start."""

    def __init__(self, buffers: Buffers) -> None:
        self._buffers, self._home = buffers, make_state(buffers.system)
        copy_state(buffers.work.anchor, self._home)
        self._bent = prebent(buffers.system, self._home.x)
        self._aims, self._looked = _aims(buffers), False
        self._way: ReturnPath | None = None

    def before(self) -> None:
        """Prepare a step."""
        if self._way is not None:
            self._way.go_on(self._buffers.work, self._buffers.state)

    def after(self, status: Status) -> None:
        """Finish a step; a drag at rest, at its goals or short of them, is led back to its start."""
        buffers, aims = self._buffers, _aims(self._buffers)
        if aims != self._aims:
            self._aims, self._way, self._looked = aims, None, False
            np.copyto(buffers.work.anchor.x, self._bent)
        elif self._way is not None:
            self._way = None if self._way.over else self._way
        elif status in _HALTED and not self._looked:
            self._looked = True
            # Holds that give way are missed although the status is no failure.
            met = status is Status.CONVERGED and not (buffers.work.miss > buffers.system.tolerance).any()
            if self._is_back():
                copy_state(self._home, buffers.work.anchor)
                way = ReturnPath(buffers.arrays, self._home)
                # A pose that misses goals that can be met cannot get worse.
                self._way = way if way.far > _HOME and not (met and way.leaves_goals()) else None

    def _is_back(self) -> bool:
        """Whether the drag's start pose meets all goals; overwrites the scratch."""
        home = self._home
        with np.errstate(all="ignore"):  # of places very far away
            _, worst = residuals(self._buffers.system, self._buffers.work, home.q, home.t, home.e)
        return bool(worst <= 1.0)


def _aims(buffers: Buffers) -> bytes:
    """All targets, to be compared quickly."""
    return buffers.system.goal_target.tobytes() + buffers.system.goal_rotation.tobytes()


class ReturnPath:
    """A straight path, in joint coordinates, from a solution to the start of its drag.

    Args:
        arrays: of buffers whose pose it begins at.
        home: the pose that it leads to.

    Attributes:
        far: how far the farthest dof goes, in its unit.
        over: whether the last frame has been gone.
    """

    def __init__(self, arrays: tuple[System, Work, State], home: State) -> None:
        self._system, work, here = arrays
        self._from, self._line, self._home = make_state(self._system), make_state(self._system), home
        copy_state(here, self._from)
        copy_state(here, self._line)
        self._step = _way(self._system, work, here, home)
        self.far = float(np.abs(self._step / self._system.unit).max(initial=0.0))
        self._frames = math.ceil(self.far / _A_FRAME)
        self._frame, self.over = 0, False

    def leaves_goals(self) -> bool:
        """Whether goals would be missed by much somewhere on the path; moves nothing."""
        system, work, state = tried = self._system, make_work(self._system), make_state(self._system)
        copy_state(self._from, state)
        copy_state(self._home, work.anchor)
        way, worst = ReturnPath(tried, self._home), 0.0
        while worst <= _ASTRAY and not way.over:
            way.go_on(work, state)
            work.room[0] = GLIDE
            follow(system, work, state, _SOLVED)
            worst = max(worst, work.miss[:, 0].max() / system.scale[0], work.miss[:, 1].max())
        return bool(worst > _ASTRAY)

    def go_on(self, work: Work, state: State) -> None:
        """Move ``state`` one frame along the way; the goals may be missed until the frame is solved."""
        system, line = self._system, self._line
        aside = _KEPT * _way(system, work, line, state)
        self._frame += 1
        part = min(1.0, self._frame / self._frames)
        copy_state(self._from, line)
        move(system, work, part * self._step, line.x, line.q, line.t)
        near = float(np.abs(aside / system.unit).max(initial=0.0)) < _A_FRAME
        self.over = part == 1.0 and (near or self._frame >= self._frames + _LATE)
        copy_state(self._home if self.over else line, state)
        if not self.over:
            move(system, work, aside, state.x, state.q, state.t)


def _way(system: System, work: Work, here: State, there: State) -> Floats:
    """(n,) the step from one pose to another."""
    step = np.zeros(len(here.x))
    difference(system, work, here.x, here.q, here.t, there.x, there.q, there.t, step)
    return step
