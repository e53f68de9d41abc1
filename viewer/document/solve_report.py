"""Reports of the last solve, computed lazily, and the errors of goals in a pose.

Of the two-link method, the closed form with the numbers of a document, which the solver panel shows.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.document_contact import solver_contact
from viewer.document.document_goal import DocumentGoal
from viewer.document.scope import joints_at_limit
from viewer.ik.backends import engine_for
from viewer.ik.findings import Reason
from viewer.ik.goals import KINDS, Goal
from viewer.ik.grips import farthest_finger
from viewer.ik.methods.limb import two_link_algebraic
from viewer.ik.solution import Solution, Status
from viewer.skeleton import Balance, effector_of, find_balance, point_of, world_of
from viewer.skeleton.kinematics import fixed_points
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import angle_between, norm, perpendicular

MOST_STEPS = 400
"""Most steps in the convergence plot."""

_STAYS = 10.0
"""A pinned joint supports the figure while it is within this many tolerances of its pin, as during a solve."""

_NO_POINT, _NO_ROTATION = (math.nan,) * 3, (math.nan,) * 4

_AXES = {"xy": (0, 1), "yz": (1, 2), "zx": (2, 0)}
_SHORT = 1e-9
"""Shortest link, metres."""


class GoalError(NamedTuple):
    """The error of a goal.

    ``metres`` or ``degrees`` are None without such a target; ``reached``: both are within the tolerances.
    """

    metres: float | None
    degrees: float | None
    reached: bool


@dataclass(slots=True)
class Trace:
    """Errors after each step of a stepwise solve; the oldest are dropped.

    ``steps`` are (iterations so far, metres (G,), degrees (G,)), NaN for parts without a target; ``iterations`` and
    ``seconds`` are totals so far.
    """

    steps: deque[tuple[int, Floats, Floats]] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))
    iterations: int = 0
    seconds: float = 0.0

    def add(self, solution: Solution) -> None:
        """Add a step."""
        self.iterations += solution.iterations
        self.seconds += solution.seconds
        self.steps.append((self.iterations, solution.errors_m, solution.errors_deg))


class Report:
    """The last solve.

    Attributes:
        status: why it stopped.
        iterations: steps taken by the last tick of a drag, else by the whole solve.
        seconds: wall-clock time of these iterations.
        backend: "numpy" or "numba".
        method: the solver's name.
        unserved: effectors whose goals the method cannot serve.
        of_drag: whether iterations and seconds are those of a drag from its start.
    """

    of_drag = False

    def __init__(
        self,
        solution: Solution,
        names: Sequence[str],
        tolerances: tuple[float, float],
        trace: Trace,
        *,
        holds: Collection[str] = (),
        whole: bool = True,
    ) -> None:
        """Make a report.

        ``names``: ids of its goals; ``tolerances``: metres and degrees; ``trace``: of all steps; ``holds``: ids of the
        goals that only keep something in place; ``whole``: whether the steps together are one solve; else each is a
        tick of a drag, too short to diagnose missed goals.
        """
        self.status, self.backend, self.method = solution.status, solution.backend, solution.method
        self.iterations = trace.iterations if whole else solution.iterations
        self.seconds = trace.seconds if whole else solution.seconds
        self.unserved = solution.unserved
        self._solution, self._names, self._tolerances, self._trace = solution, tuple(names), tolerances, trace
        self._holds, self._whole = frozenset(holds), whole

    @cached_property
    def errors(self) -> dict[str, GoalError]:
        """Errors by goal id; of a dragged joint, by the joint's name."""
        return goal_errors(self._names, self._solution.errors_m, self._solution.errors_deg, self._tolerances)

    @cached_property
    def yields(self) -> frozenset[str]:
        """Ids of the goals that give way to goals of higher levels."""
        pairs = zip(self._names, self._solution.yields.tolist(), strict=True)
        return frozenset(name for name, gives_way in pairs if gives_way)

    @property
    def yielding_holds(self) -> frozenset[str]:
        """The holds among `yields`, whose giving way is no failure."""
        return self.yields & self._holds

    @cached_property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints at a limit."""
        return self._solution.at_limit

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why goals are missed; nothing during a drag. The first call may take tens of milliseconds."""
        return self._reasons if self._whole else ()

    @cached_property
    def _reasons(self) -> tuple[Reason, ...]:
        return self._solution.reasons

    def named(self, reason: Reason) -> tuple[str, ...]:
        """The ids of the goals that a reason is about."""
        return tuple(self._names[place] for place in reason.goals)

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Iterations done when each of `errors_by_iteration` was noted."""
        return tuple(step[0] for step in self._trace.steps)

    @cached_property
    def errors_by_iteration(self) -> dict[str, tuple[float, ...]]:
        """By goal id, its error after each step: metres, or radians of goals with a target rotation alone."""
        lines: dict[str, tuple[float, ...]] = {}
        for index, name in enumerate(self._names):
            pairs = [(float(step[1][index]), float(step[2][index])) for step in self._trace.steps]
            lines[name] = tuple(math.radians(b) if math.isnan(a) else a for a, b in pairs)
        return lines

    @cached_property
    def whole(self) -> Report:
        """All steps so far as one solve: the report after a drag."""
        if self._whole:
            return self
        whole = Report(self._solution, self._names, self._tolerances, self._trace, holds=self._holds)
        whole.of_drag = True
        return whole


class StillReport(Report):
    """The report if nothing had to be solved, because every goal was met."""

    def __init__(self, errors: dict[str, GoalError], at_limit: tuple[str, ...], method: str, backend: str) -> None:
        self.status, self.backend, self.method = Status.CONVERGED, backend, method
        self.iterations, self.seconds, self.unserved = 0, 0.0, ()
        self.__dict__ |= {
            "errors": errors,
            "yields": frozenset(),
            "at_limit": at_limit,
            "errors_by_iteration": {},
            "steps": (),
            "_reasons": (),
        }
        self._holds, self._whole = frozenset(), True


def goal_errors(
    names: Sequence[str], metres: Floats, degrees: Floats, tolerances: tuple[float, float]
) -> dict[str, GoalError]:
    """Errors by goal id, from arrays in which parts without a target are NaN."""
    found: dict[str, GoalError] = {}
    for name, m, deg in zip(names, metres.tolist(), degrees.tolist(), strict=True):
        far = m > tolerances[0] or deg > tolerances[1]  # NaN compares as false
        found[name] = GoalError(None if math.isnan(m) else m, None if math.isnan(deg) else deg, not far)
    return found


def measured(document: Document, goals: Mapping[str, Goal] | None = None) -> dict[str, GoalError]:
    """Errors by goal id in the document's pose."""
    pairs = _misses(document) if goals is None else {name: _miss(document, goal) for name, goal in goals.items()}
    metres, degrees = np.array([*pairs.values()]).reshape(-1, 2).T
    settings = document.solver
    return goal_errors(tuple(pairs), metres, degrees, (settings.tolerance_m, settings.tolerance_deg))


def _misses(document: Document) -> dict[str, tuple[float, float]]:
    """Errors in metres and degrees of the document's goals, NaN for parts without a target.

    Those that place an effector are measured at once, and no solver's goals are made of them: while a clip plays or a
    bone turns, they follow the body in every frame.
    """
    goals, world = document.goals, world_of(document.skeleton, document.pose)
    fixed = fixed_points(document.skeleton, tuple([(goal.effector, goal.offset) for goal in goals]))
    targets = [goal.position or _NO_POINT if goal.has_position else _NO_POINT for goal in goals]
    turns = [goal.rotation or _NO_ROTATION if goal.has_rotation else _NO_ROTATION for goal in goals]
    away = fixed.at(world) - np.array(targets).reshape(-1, 3)
    metres = norm(away).tolist()
    degrees = np.degrees(angle_between(world.rotations.take(fixed.joints, axis=0), np.array(turns).reshape(-1, 4)))
    found = {}
    for goal, *pair in zip(goals, metres, degrees.tolist(), strict=True):
        if goal.sets_pose:
            found[goal.id] = pair[0], pair[1]
        elif (asked := goal.for_solver()) is not None:
            found[goal.id] = _miss(document, asked)
    return found | {name: _miss(document, goal) for name, goal in document.body_goals().items()}


@lru_cache(maxsize=4)
def current_errors(document: Document) -> Mapping[str, GoalError]:
    """`measured`, kept for the documents in use, which are immutable."""
    return measured(document)


def still_report(document: Document) -> StillReport | None:
    """The report of a document that needs no solve; None if a goal is missed."""
    errors = dict(current_errors(document))
    if not all(error.reached for error in errors.values()):
        return None
    backend = engine_for(document.solver.backend)[1]
    return StillReport(errors, joints_at_limit(document), document.solver.method, backend)


@lru_cache(maxsize=4)
def standing(document: Document) -> Balance:
    """The balance of the figure in the pose shown, supported by the floor and by joints that are at their pins."""
    skeleton, near = document.skeleton, _STAYS * document.solver.tolerance_m
    pinned = [goal for goal in document.solver_goals().values() if goal.pinned and KINDS[goal.kind].sets_position]
    fixed = {effector_of(skeleton, goal.effector).joint for goal in pinned if _miss(document, goal)[0] <= near}
    return find_balance(skeleton, world_of(skeleton, document.pose), document.floor, fixed)


def _miss(document: Document, goal: Goal) -> tuple[float, float]:
    """Error in metres and degrees; NaN for parts without a target."""
    if KINDS[goal.kind].balances:
        found = standing(document).margin
        return math.nan if math.isnan(found) else max(0.0, goal.number("margin") - found), math.nan
    if KINDS[goal.kind].grips:
        contact = solver_contact(document.contact, document.skeleton)
        assert contact is not None  # without a figure there is no such goal
        return farthest_finger(document.skeleton, document.pose, goal, contact, joints_at_limit(document)), math.nan
    return KINDS[goal.kind].missed(goal, document.skeleton, world_of(document.skeleton, document.pose))


class Derivation(NamedTuple):
    """Two links and their target in the plane of the limb, with both solutions.

    Attributes:
        effector: of the goal.
        joints: names of the first link's joint and of the joint between the links.
        lengths: L1 and L2, metres.
        distance: d, metres from the first joint to the target.
        cosine: of theta2, by (d^2 - L1^2 - L2^2) / (2 L1 L2): beyond -1 .. 1 the target is out of reach.
        up: theta1 and theta2, degrees, of the solution with the higher elbow: theta1 is measured from the plane's
            first axis in a planar document, else from the line to the target.
        down: those of the other solution.
        now: the solution nearer to the pose shown, "up" or "down".
    """

    effector: str
    joints: tuple[str, str]
    lengths: tuple[float, float]
    distance: float
    cosine: float
    up: tuple[float, float]
    down: tuple[float, float]
    now: str


def derivation(document: Document) -> Derivation | None:
    """The derivation for the active goal, else the first goal with a position; None if no two links serve one."""
    item = document.active_on_figure
    chosen = [h for h in document.goals if item is not None and item.kind == "effector" and h.id == item.name]
    for goal in (*chosen, *document.goals):
        if goal.sets_pose and KINDS[goal.kind].has_point and goal.position is not None:
            found = _of_limb(document, goal, np.array(goal.position))
            if found is not None:
                return found
    return None


def _of_limb(document: Document, goal: DocumentGoal, target: Floats) -> Derivation | None:
    """The derivation for the two joints above a goal's effector."""
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    joint, point = point_of(skeleton, goal.effector, goal.offset)
    end = world.point(joint, point)
    if KINDS[goal.kind].has_rotation:  # its own joint rotates it, those above
        target, end = target + world.positions[joint] - end, world.positions[joint]
    points: list[Floats] = [end]
    joints: list[int] = []
    while joint >= 0 and len(joints) < 2:
        here = world.positions[joint]
        if skeleton.kinds[joint].turns and np.linalg.norm(points[-1] - here) > _SHORT:
            points.append(here)
            joints.append(joint)
        joint = int(skeleton.parents[joint])
    if len(joints) < 2:
        return None
    first, second = points[1] - points[2], points[0] - points[1]
    x, y = _plane(document, first, second, target - points[2])
    if document.planar is None:
        lengths = float(np.linalg.norm(first)), float(np.linalg.norm(second))
    else:
        lengths = math.hypot(first @ x, first @ y), math.hypot(second @ x, second @ y)
    if min(lengths) < _SHORT:
        return None
    to = float((target - points[2]) @ x), float((target - points[2]) @ y)
    bend = float((first @ x) * (second @ y) - (first @ y) * (second @ x))
    solutions = [tuple(math.degrees(angle) for angle in two_link_algebraic(*to, lengths, side)) for side in (-1, 1)]
    # By the method's own rule: which solution has the higher elbow in the world.
    heights = [math.cos(math.radians(one)) * x[1] + math.sin(math.radians(one)) * y[1] for one, _ in solutions]
    turned = bool(heights[0] < heights[1] - _SHORT)
    up, down = reversed(solutions) if turned else solutions
    distance = math.hypot(*to)
    cosine = (distance**2 - lengths[0] ** 2 - lengths[1] ** 2) / (2.0 * lengths[0] * lengths[1])
    names = skeleton.names[joints[1]], skeleton.names[joints[0]]
    return Derivation(
        goal.effector,
        names,
        lengths,
        distance,
        cosine,
        (up[0], up[1]),
        (down[0], down[1]),
        "up" if (bend < 0.0) != turned else "down",
    )


def _plane(document: Document, first: Floats, second: Floats, to: Floats) -> tuple[Floats, Floats]:
    """(3,) and (3,): axes of the limb's plane; in space x is the line to the target and y points upwards."""
    if document.planar is not None:
        x, y = (np.eye(3)[axis] for axis in _AXES[document.planar])
        return x, y
    x = to / max(float(np.linalg.norm(to)), _SHORT)
    normal = np.cross(first, second)
    if np.linalg.norm(normal) < _SHORT:
        normal = perpendicular(x)
    y = np.cross(normal / np.linalg.norm(normal), x)
    y /= max(float(np.linalg.norm(y)), _SHORT)
    return x, y if y[1] >= 0.0 else -y
