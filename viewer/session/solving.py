"""Solving a document: solvers kept for reuse, steps of a drag, and the solve after an action."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, repeat
from math import inf
from operator import attrgetter
from typing import Literal, cast

import numpy as np

from viewer.document.actions.base import Action
from viewer.document.document import Document
from viewer.document.drag_goals import settling_goals
from viewer.document.effector_transform import measured, still_report
from viewer.document.planar_rig import PlanarRig, preferred_pose, rig_of
from viewer.document.report import Report, Trace
from viewer.document.scope import bound_skeleton, inside, violation
from viewer.document.solver_settings import SolverSettings, prefers
from viewer.ik.backends import engine_for
from viewer.ik.backends.warming import warm_up
from viewer.ik.goals import Goal
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Drag, Solver
from viewer.ik.solver_options import Options, SolverOptions
from viewer.session.history import State
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

_STILL, _STILL_TICKS = 1e-6, 3
"""Of a quaternion's component, or metres: a tick that moves less is still; it rests once so many in a row are."""
_BETTER, _PATIENCE = 1e-3, 60
"""The part by which errors must have become less within so many ticks; else it gets no nearer ..."""
_MOST = 600
"""... nor does it after so many ticks in all."""
_MOVED = ("id", "target", "target_rotation", "residuals", "pinned")
_STRUCTURE = attrgetter(*(place.name for place in fields(Goal) if place.name not in _MOVED))
"""What a solver is built from: a solver is kept while this stays. Targets are given with each step."""


@dataclass(slots=True)
class Rest:
    """Counts ticks since the targets were changed.

    Attributes:
        ticks: since then.
    """

    ticks: int = 0
    _still: int = _STILL_TICKS
    _least: float = inf
    _since: int = 0

    def disturb(self) -> None:
        """Targets, or what may move, are others now."""
        self.ticks, self._still, self._least, self._since = 0, 0, inf, 0

    def keep_going(self) -> None:
        """The pose shown is still on its way."""
        self._still = 0

    def note(self, poses: tuple[Pose, Pose] | None, metres: Floats, degrees: Floats) -> None:
        """Note a tick: the poses before and after it, None for the first, and the errors (G,) after it."""
        error = float(np.nansum(metres) + np.nansum(np.radians(degrees)))
        self.count(np.inf if poses is None else _change(*poses), error)

    def count(self, change: float, error: float) -> None:
        """A tick.

        Args:
            change: of the pose, quaternion components or metres.
            error: of all goals together; infinite or NaN says nothing.
        """
        self.ticks += 1
        self._still = self._still + 1 if change < _STILL else 0
        self._since += 1
        if error < (1.0 - _BETTER) * self._least:
            self._least, self._since = error, 0

    @property
    def reached(self) -> bool:
        """Whether nothing moves any more, or nothing is gained by its moving."""
        return self._still >= _STILL_TICKS or self._since >= _PATIENCE or self.ticks >= _MOST


def _change(one: Pose, other: Pose) -> float:
    turned = float(np.abs(one.rotations - other.rotations).max())
    return max(turned, float(np.abs(one.translations - other.translations).max()))


_KEPT = 6
"""Solvers of other skeletons or options that are kept."""
_NOTES = (1, 1, 1, 1, 2, 2, 4)
_CHUNK = 8
"""Steps of a solve after an action from one note of its errors to the next: so many at first, then these."""
_RESTS = 1e-5
"""Metres or radians: errors that change less in so many steps have come to rest."""
UNDER_WAY = (Status.BUDGET, Status.UNREACHABLE)
"""Of a step whose solve may go on: also where a goal is known to be out of reach, its effector is to come near."""
_OUTSIDE = 1e-9
"""Radians or metres: a pose within this of its limits is inside."""


class SteppedDrag(Drag):
    """A drag under the document's own settings: damping and step cap are those that the user set."""

    def __init__(self, solver: Solver, pose: Pose, chosen: SolverSettings, rig: PlanarRig | None = None) -> None:
        """Begin at a pose; one outside the limits is brought inside by the first step.

        Args:
            solver: of the document's skeleton, or of a rig that stands for it.
            pose: of the document's skeleton.
            chosen: the document's settings.
            rig: of a planar document.
        """
        super().__init__(solver, pose if rig is None else rig.lifted(pose))
        self._chosen, self._rig = chosen, rig

    def step(self, places: Floats, turns: Floats, iterations: int) -> Solution:
        """So many iterations at most towards targets (G, 3) and (G, 4); NaN rows are left as they are."""
        solution = self._go_on(places, turns, self._chosen.dragging(iterations))
        return solution if self._rig is None else self._rig.solution(solution)

    def carry(self, start: Pose, pose: Pose) -> bool:
        """Go on from another pose, drawn to another start: both have moved along with a motion beneath the drag.

        Args:
            start: what the drag would have begun at now; joints that take no part stand as in it.
            pose: where it is to go on.

        Returns:
            Whether that can be: not out of the planes that it began in.
        """
        rig, space = self._rig, self._workspace
        if rig is not None and not rig.holds(start):
            return False
        begun, reached = (start, pose) if rig is None else (rig.lifted(start), rig.lifted(pose))
        self.start = begun
        if self.solution is not None:
            space.go_back(begun)
            anchor = [array.copy() for array in space.anchor]
            space.go_back(reached)
            for array, kept in zip(space.anchor, anchor, strict=True):
                np.copyto(array, kept)
            self._homing = None
        return True

    def escape(self) -> Solution | None:
        """See `Drag.escape`."""
        found = super().escape()
        return found if found is None or self._rig is None else self._rig.solution(found)

    def rest(self) -> Solution | None:
        """Where the goals, which the last step met, leave the preferred pose nearest; None without one."""
        last, solver = self.solution, self._solver
        if last is None or last.status is not Status.CONVERGED or solver.options.preferred is None:
            return None
        places, turns = (array.copy() for array in solver.targets.settle(self.start, None, None))
        dragged = self._workspace
        places[dragged.goals], turns[dragged.goals] = dragged.system.goal_target, dragged.system.goal_rotation
        found = solver.solve(last.pose, places, turns)
        if found.status is not Status.CONVERGED:
            return None
        return found if self._rig is None else self._rig.solution(found)


KernelState = Literal["compiling", "ready", "numpy"]


class Kernels:
    """Whether the compiled kernels serve, are being compiled, or numpy serves for good."""

    def __init__(self) -> None:
        """Begin with what this process has."""
        self._compiling = False

    def start(self, then: Callable[[], None]) -> None:
        """Compile in another process; ``then`` is called, in another thread, when that is done or has failed."""
        if self.state != "numpy":
            return
        self._compiling = True

        def done() -> None:
            self._compiling = False
            then()

        warm_up(wait=False, then=done)

    @property
    def state(self) -> KernelState:
        """Which of the three it is."""
        if engine_for("auto")[1] == "numba":
            return "ready"
        return "compiling" if self._compiling else "numpy"


class Solvers:
    """Solvers by what they were made for: between solves usually nothing but the targets changes."""

    def __init__(self) -> None:
        """Begin with none."""
        self._solvers: OrderedDict[tuple[Skeleton, Options], tuple[Solver, object]] = OrderedDict()

    def clear(self) -> None:
        """Keep none: what comes is solved as by a program that was just started."""
        self._solvers.clear()

    def drag(self, document: Document, goals: Sequence[Goal], locked: frozenset[str] = frozenset()) -> SteppedDrag:
        """A drag from the document's pose.

        Args:
            document: gives pose, limits and settings.
            goals: at least one.
            locked: names of the joints that may not move.

        Raises:
            InputError: a goal or setting that no solver takes.
        """
        options, rig = document.solver.options(limits=document.limits_on), rig_of(document)
        options = replace(options, preferred=preferred_pose(document, rig))
        if rig is not None:
            flat = bound_skeleton(rig.skeleton, locked=rig.locked(locked, options.root))
            return SteppedDrag(self._solver(flat, options, goals), document.pose, document.solver, rig)
        skeleton = bound_skeleton(document.skeleton, document.unlimited, locked)
        if any(document.skeleton.names[root] in locked for root in document.skeleton.roots.tolist()):
            options = replace(options, root="locked")
        return SteppedDrag(self._solver(skeleton, options, goals), document.pose, document.solver)

    def _solver(self, skeleton: Skeleton, options: Options, goals: Sequence[Goal]) -> Solver:
        asked = tuple(_STRUCTURE(goal) for goal in goals)
        solver, known = self._solvers.pop((skeleton, options), (None, None))
        if solver is None:
            solver = Solver(skeleton, goals, **_keywords(options))
        elif known != asked:
            solver.goals = goals
        self._solvers[skeleton, options] = solver, asked
        while len(self._solvers) > _KEPT:
            self._solvers.popitem(last=False)
        return solver


def _keywords(options: Options) -> SolverOptions:
    return cast("SolverOptions", {place.name: getattr(options, place.name) for place in fields(options)})


def target_rows(goals: Sequence[Goal]) -> tuple[Floats, Floats]:
    """Targets (G, 3) and (G, 4); NaN for what a goal does not ask."""
    places = np.array([goal.target or (np.nan,) * 3 for goal in goals])
    turns = np.array([goal.target_rotation or (np.nan,) * 4 for goal in goals])
    return places, turns


def settle(document: Document, solvers: Solvers, *, restarts: bool = False, afresh: bool = False) -> State:
    """The document solved from its pose towards its goals: warm, without restarts, by a bounded number of steps.

    With ``restarts``, and where the settings allow them, a solve that misses a goal is begun anew from other poses, and
    one that meets them all goes on to the preferred pose, if any. Else, where every goal is met and the pose is inside
    its limits, nothing moves, to the bit, unless another of the poses that meet them is asked for (``afresh``).
    """
    goals = settling_goals(document)
    if not goals:
        outside = violation(document) > _OUTSIDE
        return State(replace(document, pose=inside(document, document.pose)) if outside else document, None)
    rests = restarts and prefers(document.solver)
    if violation(document) <= _OUTSIDE and not rests and not afresh:
        still = still_report(document)
        if still is not None:
            return State(document, still)
    drag, trace = solvers.drag(document, tuple(goals.values())), Trace()
    drag.glides = False
    trace.steps.append((0, *_errors(document, goals)))
    solution = _run(drag, goals, document.solver, trace)
    stalled = solution.status is Status.BUDGET and _rests(trace)
    if restarts and document.solver.restarts and solution.status is not Status.CONVERGED:
        solution = _gone_on(drag.escape(), trace) or solution
    if rests:
        solution = _gone_on(drag.rest(), trace) or solution
    report = Report(solution, tuple(goals), tolerances(document.solver), trace)
    if stalled and solution.status is Status.BUDGET:
        report.status = Status.STALLED  # it could go on, and gets nowhere
    pose = kept_pose(document, solution)
    if pose is None:
        pose = inside(document, document.pose) if violation(document) > _OUTSIDE else document.pose
    return State(replace(document, pose=pose), report)


def applied(action: Action, state: State, solvers: Solvers) -> State | None:
    """The state after an action, solved anew if it calls for that; None where it changes nothing.

    Raises:
        InputError: what is asked cannot be done.
    """
    before, changed = state.document, action.apply(state.document)
    if changed is before:
        return None
    if action.solves:
        afresh = changed.solver.bend not in {None, before.solver.bend}
        return settle(changed, solvers, restarts=action.restarts, afresh=afresh)
    untouched = changed.goals is before.goals and changed.pose.is_near(before.pose)
    return State(changed, state.report if untouched else still_report(changed))


def tolerances(settings: SolverSettings) -> tuple[float, float]:
    """Metres and degrees within which goals are met."""
    return settings.tolerance_m, settings.tolerance_deg


def kept_pose(document: Document, solution: Solution) -> Pose | None:
    """The solved pose; None where it is not to be shown: not finite, or not exact where that is asked for."""
    pose = solution.pose
    if document.solver.exact and solution.status is not Status.CONVERGED:
        return None
    finite = np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all()
    return pose if finite else None


def _run(drag: SteppedDrag, goals: Mapping[str, Goal], settings: SolverSettings, trace: Trace) -> Solution:
    """Steps until they are used up or it comes to rest."""
    places, turns = target_rows(tuple(goals.values()))
    left = settings.max_iterations
    for most in chain(_NOTES, repeat(_CHUNK)):
        asked = min(left, most)
        solution = drag.step(places, turns, asked)
        trace.add(solution)
        left -= max(1, solution.iterations)
        if left <= 0 or solution.iterations < asked or solution.status not in UNDER_WAY or _rests(trace):
            break
    return solution


def _gone_on(found: Solution | None, trace: Trace) -> Solution | None:
    """What a solve went on to, noted as its last step."""
    if found is not None:
        trace.add(found)
    return found


def _rests(trace: Trace) -> bool:
    """Whether the last steps changed no error by more than `_RESTS`."""
    if len(trace.steps) <= len(_NOTES):
        return False
    before, now = trace.steps[-2], trace.steps[-1]
    change = np.abs(np.concatenate([now[1] - before[1], np.radians(now[2] - before[2])]))
    return not np.nanmax(change, initial=0.0) > _RESTS


def _errors(document: Document, goals: Mapping[str, Goal]) -> tuple[Floats, Floats]:
    """Metres (G,) and degrees (G,) by which goals are missed in a document's pose; NaN for what is not asked."""
    missed = measured(document, goals).values()
    pairs = np.array([(error.metres, error.degrees) for error in missed], dtype=np.float64)  # None is NaN
    return pairs[:, 0], pairs[:, 1]
