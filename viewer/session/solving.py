"""Solving documents: cached solvers, steps of a drag, the solve after an action."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, repeat
from math import inf, isnan, radians
from operator import attrgetter

import numpy as np

from viewer.document import Action, Document, Report, SolverSettings, Take, measured, still_report
from viewer.document.document import prefers
from viewer.document.document_contact import solver_contact, touches_of
from viewer.document.key_editing import with_resolved
from viewer.document.planar import PlanarRig
from viewer.document.posed_goals import settling_goals
from viewer.document.scope import inside, preferred_pose, rig_of, solved_skeleton, violation
from viewer.document.solve_report import Trace
from viewer.ik.backends import engine_for, warm_up
from viewer.ik.contact.volumes import TOUCHES
from viewer.ik.goals import Goal
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver
from viewer.ik.solver_options import Options, keywords_of
from viewer.session.figures import Stage, State
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import Floats

_STILL, _STILL_TICKS = 1e-6, 3
"""A tick that changes the pose less than this, quaternion components or metres, is still; this many in a row: rest."""
_BETTER, _PATIENCE = 1e-3, 60
"""The error must shrink by this fraction within this many ticks ..."""
_MOST = 600
"""... and the drag rests after this many ticks in all."""
_MOVED = ("id", "target", "target_rotation", "residuals", "pinned")
_STRUCTURE = attrgetter(*(field.name for field in fields(Goal) if field.name not in _MOVED))
"""The fields of goals that a solver is built from; targets are passed with each step."""

_KEPT = 6
"""Most solvers that are cached."""
_NOTES = (1, 1, 1, 1, 2, 2, 4)
_CHUNK = 8
"""Iterations between entries of the error plot of a solve after an action: first these, then this many."""
_RESTS = 1e-5
"""Errors that change less than this, metres or radians, have come to rest."""
_UNDER_WAY = (Status.BUDGET, Status.UNREACHABLE)
"""Statuses after which a solve continues: the effector of an unreachable goal still approaches it."""
_OUTSIDE = 1e-9
"""Distance from limits, radians or metres, within which a pose is inside."""


@dataclass(slots=True)
class SettleDetector:
    """Detects when a drag has come to rest. ``ticks`` are those since the targets changed."""

    ticks: int = 0
    _still: int = _STILL_TICKS
    _least: float = inf
    _since: int = 0

    def disturb(self) -> None:
        """Start again, because targets or locked joints have changed."""
        self.ticks, self._still, self._least, self._since = 0, 0, inf, 0

    def keep_going(self) -> None:
        """Count as moving, because the pose shown is still blended."""
        self._still = 0

    def note(self, poses: tuple[Pose, Pose] | None, metres: Floats, degrees: Floats) -> None:
        """Note a tick by the poses before and after it, None for the first, and the errors (G,) after it."""
        # A handful of numbers, in which NaN means none.
        length, angle = (sum([one for one in many.tolist() if not isnan(one)]) for many in (metres, degrees))
        self.count(inf if poses is None else _change(*poses), length + radians(angle))

    def count(self, change: float, error: float) -> None:
        """Note a tick.

        ``change`` is that of the pose, in quaternion components or metres; ``error`` of all goals together, infinite or
        NaN: unknown.
        """
        self.ticks += 1
        self._still = self._still + 1 if change < _STILL else 0
        self._since += 1
        if error < (1.0 - _BETTER) * self._least:
            self._least, self._since = error, 0

    @property
    def reached(self) -> bool:
        """Whether nothing moves, or moving no longer reduces the error."""
        return self._still >= _STILL_TICKS or self._since >= _PATIENCE or self.ticks >= _MOST


def _change(one: Pose, other: Pose) -> float:
    turned = float(np.abs(one.rotations - other.rotations).max())
    return max(turned, float(np.abs(one.translations - other.translations).max()))


class SteppedDrag:
    """A drag with the document's own damping and step cap, in the planes of a planar document.

    ``drag`` is of the document's skeleton, or of its planar rig.
    """

    def __init__(self, solver: Solver, pose: Pose, chosen: SolverSettings, rig: PlanarRig | None = None) -> None:
        """Start at a pose; the first step brings it inside the limits.

        The solver is of the document's skeleton, or of its planar ``rig``; the pose is of the document's skeleton.
        """
        self.drag = solver.drag(pose if rig is None else rig.lifted(pose))
        self._chosen, self._rig = chosen, rig
        self._dragging = chosen.dragging(chosen.tick_iterations)

    def step(self, positions: Floats, rotations: Floats, iterations: int) -> Solution:
        """Make at most ``iterations`` iterations towards targets (G, 3) and (G, 4); NaN rows keep their targets."""
        if iterations != self._dragging.max_iterations:
            self._dragging = self._chosen.dragging(iterations)
        solution = self.drag.step(positions, rotations, self._dragging)
        return solution if self._rig is None else self._rig.solution(solution)

    def carry(self, start: Pose, pose: Pose) -> bool:
        """Continue from another pose with another start, because the motion below the drag has advanced.

        Joints that take no part have the values of the new start. False if the start is out of the drag's planes.
        """
        rig = self._rig
        if rig is not None and not rig.holds(start):
            return False
        self.drag.carry(*((start, pose) if rig is None else (rig.lifted(start), rig.lifted(pose))))
        return True

    def escape(self) -> Solution | None:
        """See `Drag.escape`."""
        return self._of_document(self.drag.escape())

    def rest(self) -> Solution | None:
        """See `Drag.rest`."""
        return self._of_document(self.drag.rest())

    def _of_document(self, found: Solution | None) -> Solution | None:
        return found if found is None or self._rig is None else self._rig.solution(found)


class Kernels:
    """Tells whether the compiled kernels are ready, being compiled, or replaced by numpy."""

    def __init__(self, stage: Stage) -> None:
        self._stage, self._compiling = stage, False
        self._waiting: Callable[[], None] | None = None
        self._seen = self.state

    def start(self, then: Callable[[], None] = lambda: None) -> None:
        """Compile in another process, once the document asks for another backend than "numpy".

        Solvers with the backend "auto" use the kernels once they are ready. ``then`` is called, in another thread, when
        that is done or has failed.
        """
        if self.state == "numpy":
            self._waiting = then
            self.tick()

    def _compile(self, then: Callable[[], None]) -> None:
        self._waiting, self._compiling = None, True

        def done() -> None:
            self._compiling = False
            then()

        warm_up(wait=False, then=done)

    def tick(self) -> None:
        """Count a visible change if the state has changed."""
        if self._seen == "ready":  # and stays so
            return
        if self._waiting is not None and self._is_asked_for:
            self._compile(self._waiting)
        if self.state != self._seen:
            self._seen = self.state
            self._stage.changed()

    @property
    def compiling(self) -> bool:
        """Whether they are being compiled, and numpy solves meanwhile where the document would take them."""
        return self._compiling and self._is_asked_for and self.state == "compiling"

    @property
    def _is_asked_for(self) -> bool:
        return self._stage.state.document.solver.backend != "numpy"

    @property
    def state(self) -> str:
        """Whether kernels are "compiling" (numpy solves meanwhile), "ready", or not compiled: "numpy"."""
        if engine_for("auto")[1] == "numba":
            return "ready"
        return "compiling" if self._compiling else "numpy"


class Solvers:
    """Cached solvers: between solves usually only the targets change."""

    def __init__(self) -> None:
        self._solvers: OrderedDict[tuple[Skeleton, Options], tuple[Solver, object]] = OrderedDict()

    def clear(self) -> None:
        """Drop all, as in a program that was just started."""
        self._solvers.clear()

    def drag(self, document: Document, goals: Sequence[Goal], locked: frozenset[str] = frozenset()) -> SteppedDrag:
        """Begin a drag from the document's pose. ``locked`` are names of joints that may not move."""
        options, rig = document.solver.options(limits=document.limits_on), rig_of(document)
        contact = solver_contact(document.contact, document.skeleton)
        options = replace(options, preferred=preferred_pose(document, rig), contact=contact, ground=document.floor)
        skeleton = solved_skeleton(document, rig, locked, options.root)
        own = document.skeleton
        if rig is None and any(own.names[root] in locked for root in own.roots.tolist()):
            options = replace(options, root="locked")
        return SteppedDrag(self._solver(skeleton, options, goals), document.pose, document.solver, rig)

    def _solver(self, skeleton: Skeleton, options: Options, goals: Sequence[Goal]) -> Solver:
        asked = tuple(_STRUCTURE(goal) for goal in goals)
        solver, known = self._solvers.pop((skeleton, options), (None, None))
        if solver is None:
            solver = Solver(skeleton, goals, **keywords_of(options))
        elif known != asked:
            solver.goals = goals
        self._solvers[skeleton, options] = solver, asked
        while len(self._solvers) > _KEPT:
            self._solvers.popitem(last=False)
        return solver


def target_rows(goals: Sequence[Goal]) -> tuple[Floats, Floats]:
    """Targets (G, 3) and (G, 4); NaN for parts without a target."""
    positions = np.array([goal.target or (np.nan,) * 3 for goal in goals])
    rotations = np.array([goal.target_rotation or (np.nan,) * 4 for goal in goals])
    return positions, rotations


def settle(
    document: Document,
    solvers: Solvers,
    *,
    restarts: bool = False,
    again: bool = False,
    edited: Collection[str] = (),
) -> State:
    """Solve a document from its pose, without restarts, by a bounded number of steps.

    With ``restarts``, if the settings allow them, a solve that misses a goal starts again from other poses, and one
    that meets all goals continues to the preferred pose, if any. Otherwise, if every goal is met and the pose is inside
    its limits, the pose stays to the bit, unless ``again`` asks for another solution. ``edited``
    are ids of goals that an edit has changed.
    """
    goals = settling_goals(document, edited)
    if not goals:
        outside = violation(document) > _OUTSIDE
        return State(replace(document, pose=inside(document, document.pose)) if outside else document, None)
    rests = restarts and prefers(document.solver)
    if violation(document) <= _OUTSIDE and not rests and not again and not overlaps(document):
        still = still_report(document)
        if still is not None:
            return State(document, still)
    drag, trace = solvers.drag(document, tuple(goals.values())), Trace()
    drag.drag.glides = False
    trace.steps.append((0, *_errors(document, goals)))
    solution = _run(drag, goals, document.solver, trace)
    stalled = solution.status is Status.BUDGET and _rests(trace)
    if restarts and document.solver.restarts and solution.status is not Status.CONVERGED:
        solution = _traced(drag.escape(), trace) or solution
    if rests:
        solution = _traced(drag.rest(), trace) or solution
    holds = [name for name, goal in goals.items() if goal.hold]
    report = Report(solution, tuple(goals), tolerances(document.solver), trace, holds=holds)
    if stalled and solution.status is Status.BUDGET:
        report.status = Status.STALLED  # more iterations would not help
    pose = kept_pose(document, solution)
    if pose is None:
        pose = inside(document, document.pose) if violation(document) > _OUTSIDE else document.pose
    return State(replace(document, pose=pose), report)


def overlaps(document: Document) -> bool:
    """Whether the figure goes through something in the pose shown."""
    return any(touch.depth_m > TOUCHES for touch in touches_of(document.contact, document.skeleton, document.pose))


def applied(action: Action, state: State, solvers: Solvers, take: Take | None = None) -> State | None:
    """The state after an action, solved if `Action.solves`; None if nothing changes.

    ``take`` is that of the document after the action, where it is made already and is all that the action changes.
    """
    before = state.document
    changed = action.apply(before) if take is None else with_resolved(before, take)
    if changed is before:
        return None
    changed = changed.with_what_is_left_selected()
    if action.solves:
        again = changed.solver.bend not in {None, before.solver.bend}
        edited = {goal.id for goal in changed.goals if goal not in before.goals}
        return settle(changed, solvers, restarts=action.restarts, again=again, edited=edited)
    untouched = changed.goals is before.goals and changed.pose.is_near(before.pose)
    return State(changed, state.report if untouched else still_report(changed))


def tolerances(settings: SolverSettings) -> tuple[float, float]:
    """Tolerances of goals, metres and degrees."""
    return settings.tolerance_m, settings.tolerance_deg


def kept_pose(document: Document, solution: Solution) -> Pose | None:
    """The solved pose; None if it must not be shown: not finite, or not exact though that is required."""
    pose = solution.pose
    if document.solver.exact and solution.status is not Status.CONVERGED:
        return None
    finite = np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all()
    return pose if finite else None


def under_way(solution: Solution) -> bool:
    """Whether more iterations may bring goals nearer, also holds that give way while all others are met."""
    return solution.status in _UNDER_WAY or (solution.status is Status.CONVERGED and bool(solution.yields.any()))


def _run(drag: SteppedDrag, goals: Mapping[str, Goal], settings: SolverSettings, trace: Trace) -> Solution:
    """Iterate until the limit or until the errors rest."""
    positions, rotations = target_rows(tuple(goals.values()))
    left = settings.max_iterations
    for most in chain(_NOTES, repeat(_CHUNK)):
        asked = min(left, most)
        solution = drag.step(positions, rotations, asked)
        trace.add(solution)
        left -= max(1, solution.iterations)
        if left <= 0 or solution.iterations < asked or not under_way(solution) or _rests(trace):
            break
    return solution


def _traced(found: Solution | None, trace: Trace) -> Solution | None:
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
    """Errors, metres (G,) and degrees (G,), in a document's pose; NaN for parts without a target."""
    missed = measured(document, goals).values()
    pairs = np.array([(error.metres, error.degrees) for error in missed], dtype=np.float64)  # None is NaN
    return pairs[:, 0], pairs[:, 1]
