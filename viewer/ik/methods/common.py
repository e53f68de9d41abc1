"""What the methods share: the arrays of a solve, all rows side by side, and when to stop.

Derivatives of the users' goal functions are central differences. Row d of the transposed Jacobian is spread_d * (e(x -
h) - e(x + h)) / 2h, with e = target - current, so that it agrees with the analytic rows (J is the derivative of
"current"). The error is h^2 / 6 times the third derivative, and rounding adds about 1e-16 / h: both are below 1e-10 per
unit of e at the h taken here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError
from viewer.ik.assemble import last_descendants
from viewer.ik.goals import ROW_KINDS, Goal
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, DIVERGED, STALLED
from viewer.ik.numpy_engine import linearise as own_linearise
from viewer.ik.numpy_kinematics import move, residuals as own_residuals
from viewer.ik.system import Settings, State, System, Work, copy_state, joint_of_dof
from viewer.skeleton import Skeleton, World, fk_arrays
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Floats, Ints, as_number
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate

Watch: TypeAlias = Callable[[int, State], None]
"(iterations so far, the pose that the solve would return if it stopped there); it may raise to end the solve."

_JUMP = 0.5
"""A residual that changes by more than this within a step of differences has no derivative there."""


class SolveRows:
    """The residuals and the Jacobian of a solve: m rows by n dofs.

    The methods replace the numpy backend's steps of the same names; its other steps work on any rows.

    Attributes:
        work: scratch with room for all rows.
        groups: (m,) rows of one number belong together: a position, a rotation, or a function.
    """

    def __init__(self, s: System, w: Work, state: State, extra: UserRows | None, *, numeric: bool) -> None:
        """Allocate.

        ``extra``: the function goals; ``numeric``: whether the built-in rows, too, are taken by differences.
        """
        self._own_work, self._extra, self._numeric = w, extra, numeric
        self._own = len(state.e)
        sizes = [] if extra is None else extra.begin(state)
        count, dofs = self._own + sum(sizes), len(s.lower)
        lengths = _parts(s)[0] + sizes
        self.groups = np.repeat(np.arange(len(lengths)), lengths)
        self._count = count
        self.work = w._replace(
            jacobian=np.zeros((dofs, count)),
            gram=np.zeros((count, count)),
            factor=np.zeros((count, count)),
            y=np.zeros(count),
            wanted=np.zeros(count),
            trial=self.widened(w.trial),
            best=self.widened(w.best),
            anchor=self.widened(w.anchor),
        )
        self._evaluated = (state.q, state.t)

    def widened(self, state: State) -> State:
        """A view of the pose with room for the residuals of all rows."""
        return state._replace(e=np.zeros(self._count))

    def residuals(self, s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:  # noqa: ARG002 - a backend's own
        """Fill ``e``; the squared error, and the largest residual in units of its tolerance."""
        own = self._own
        error, worst = own_residuals(s, self._own_work, q, t, e[:own])
        if self._extra is not None:
            e[own:], largest = self._extra.evaluate(q, t)
            error, worst = float(e @ e), max(worst, largest / float(s.tolerance[0]))
        self._evaluated = (q.copy(), t.copy())
        return error, worst

    def linearise(self, s: System, w: Work, x: Floats) -> None:
        """Fill ``w.jacobian`` (n, m) at the pose that `residuals` was last called with, whose coordinates are x."""
        own = self._own
        own_linearise(s, w, x)
        state = State(x, *self._evaluated, np.zeros(own))
        if self._numeric:
            rows = self._by_differences(s, state)
            w.jacobian[:, :own] = np.where(np.isfinite(rows), rows, w.jacobian[:, :own])
        if self._extra is not None:
            w.jacobian[:, own:] = self._extra.differences(s, w, state)

    def _by_differences(self, s: System, state: State) -> Floats:
        """(n, own) the built-in rows; NaN where a residual jumps, as a turn does that passes half a turn."""
        w = self._own_work
        kept = {name: getattr(w, name).copy() for name in ("turn", "place", "point", "miss", "by_turn", "by_move")}
        scratch = w._replace(**kept)

        def residuals(owner: Ints, turns: Floats, moves: Floats) -> Floats:
            rows = np.zeros((len(owner), self._own))
            for d, k in enumerate(owner.tolist()):
                q, t = state.q.copy(), state.t.copy()
                q[k], t[k] = turns[d], moves[d]
                own_residuals(s, scratch, q, t, rows[d])
            return rows

        rows = central_differences(s, scratch, state, residuals)
        lengths, weights = _parts(s)
        most = _JUMP / (2.0 * STEP) * np.repeat(weights, lengths) * np.maximum(s.spread / s.unit, 1.0)[:, None]
        return np.where(np.abs(rows) > most, np.nan, rows)


def _parts(s: System) -> tuple[list[int], list[float]]:
    """How many rows are measured as one vector each, position, rotation or number, and their weights."""
    goals = zip(s.goal_kind.tolist(), s.goal_weight.tolist(), s.goal_rotation_weight.tolist(), strict=True)
    parts = [(rows, turn if rows.radians else place) for code, place, turn in goals for rows in ROW_KINDS[code].rows]
    return [rows.count for rows, _ in parts], [weight for _, weight in parts]


STILL = 1e-7
"""Radians or metres: a smaller step counts as none."""
_WINDOW = 6
_SETTLED_RATIO = 0.999
_QUIET = 5e-4
"""Radians or metres: a solve that gains less than that, and in one iteration moves less than this, is over."""
_FARTHEST = 1e9
"""Times the length of all bones together: a target that far away is only a direction."""
_GROWTH = 1e3
"""A squared error this many times the one at the start is divergence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Parameters of single methods, besides the settings that all share.

    Attributes:
        damping: lambda of "dls", which stands squared in its equation; None: by the error, as in the settings.
        truncation: part of the largest singular value below which "pseudo-inverse" ignores singular vectors; 0: none
            but those that are zero, which shows how the method fails at singular poses.
        most_turn: gamma_max of "sdls": radians or metres that a dof moves in one step at most.
        step: part of its proposed step that a Jacobian method takes.
        guarded: True: steps that make it worse are shortened. False: the bare method: every step is taken, and where
            the iterations run out the last pose is the answer, not the best. None: as the method is usually described,
            and the best pose.
        numeric: whether the Jacobian is taken by central differences.
        bend: of "two-link": 0: the elbow stays on its side if that reaches. 1 or -1: it is bent to the positive or the
            negative side of a hinge's axis, of a ball joint to the present side or the other one.
        elbow: of "two-link": of the bends that reach, 1: the one that leaves the elbow higher (Y), -1: the lower one;
            0: no matter.
        geometric: whether "two-link" takes the geometric derivation for planar limbs, or the algebraic one.
    """

    damping: float | None = None
    truncation: float = 1e-3
    most_turn: float = math.pi / 4.0
    step: float = 1.0
    guarded: bool | None = None
    numeric: bool = False
    bend: int = 0
    elbow: int = 0
    geometric: bool = False

    def __post_init__(self) -> None:
        """Raise InputError for a number out of its range."""
        for name, value in (("damping", self.damping), ("most_turn", self.most_turn), ("step", self.step)):
            if value is not None:
                as_number(value, name, above=0.0)
        as_number(self.truncation, "truncation", least=0.0, below=1.0)
        for name, value in (("bend", self.bend), ("elbow", self.elbow)):
            if value not in {-1, 0, 1}:
                raise InputError(f"{name}: expected -1, 0 or 1, found {value}")

    @property
    def own_rows(self) -> bool:
        """Whether it needs the numpy backend: for other rows, or part of a step."""
        return self.numeric or self.step != 1.0


class Problem(NamedTuple):
    """The arrays of one solve, with the rows of user functions.

    Attributes:
        w: scratch for all rows.
        own: scratch of the built-in goals.
        state: the pose that is moved, with residuals of all rows, as have the poses in ``w``.
        settings: the numbers that all methods share.
        tuning: those of single ones.
        watch: called after every iteration of the methods that judge their progress by `Progress`.
    """

    s: System
    w: Work
    own: Work
    state: State
    settings: Settings
    tuning: Tuning
    rows: SolveRows
    watch: Watch | None = None

    @classmethod
    def made(
        cls, s: System, w: Work, state: State, settings: Settings, extra: UserRows | None, tuning: Tuning
    ) -> Problem:
        """Make the problem of the arrays of a solve; poses are moved in place.

        Extremely distant targets are brought nearer, straight towards the origin, so that numbers stay in range.
        """
        farthest = _FARTHEST * (1.0 + float(np.abs(s.offset).sum() + np.abs(s.goal_offset).sum()))
        most = np.abs(s.goal_target).max(axis=1, initial=farthest, keepdims=True)
        s = s._replace(goal_target=s.goal_target * (farthest / most))
        rows = SolveRows(s, w, state, extra, numeric=tuning.numeric)
        return cls(s, rows.work, w, rows.widened(state), settings, tuning, rows)

    def evaluate(self, pose: State) -> tuple[float, float]:
        """Residuals of a pose: squared error, and the largest one in units of its tolerance."""
        return self.rows.residuals(self.s, self.w, pose.q, pose.t, pose.e)


class Progress:
    """Keeps the best pose of a solve and decides when to stop.

    Attributes:
        error, worst: of the pose at the start: squared, and the largest residual in units of its tolerance.
        begun: the status to stop with before the first step, or None: go on.
        iterations: steps judged so far.
        settled: whether the best pose hardly improves any more.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.iterations, self.settled = 0, False
        self.error, self.worst = problem.evaluate(problem.state)
        self._best = self._mark = self.error
        # Where all goals are met at the start, an error within the tolerances is no divergence.
        self._most = _GROWTH * max(self.error, float(problem.s.tolerance @ problem.s.tolerance))
        copy_state(problem.state, problem.w.best)
        self.begun = CONVERGED if self.met(self.worst) else self.spent()

    def judge(self, error: float, worst: float, moved: float) -> int | None:
        """The status to stop with after a step that moved a dof by ``moved`` at most, or None: go on."""
        self.iterations += 1
        if not error <= self._most:  # NaN does not pass, either
            return DIVERGED
        if error < self._best:
            self._best = error
            copy_state(self._problem.state, self._problem.w.best)
        if self._problem.watch is not None:
            raw = self._problem.tuning.guarded is False
            self._problem.watch(self.iterations, self._problem.state if raw else self._problem.w.best)
        if self.met(worst):
            return CONVERGED
        self.settled = False
        if self.iterations % _WINDOW == 0:
            self.settled = self._best > _SETTLED_RATIO * self._mark
            self._mark = self._best
        # A pose that meets the goals and still settles its posture cannot lower its error.
        if worst > 1.0 and (moved < STILL or (self.settled and moved < _QUIET)):
            return STALLED
        return self.spent()

    def spent(self) -> int | None:
        """`BUDGET` if the iterations have run out, else None."""
        return BUDGET if self.iterations >= self._problem.settings.max_iterations else None

    def met(self, worst: float) -> bool:
        """Whether all goals are met, and the least number of steps is taken."""
        return worst <= 1.0 and self.iterations >= self._problem.settings.least_iterations

    def best(self) -> None:
        """Restore the best pose."""
        copy_state(self._problem.w.best, self._problem.state)


Residuals: TypeAlias = Callable[[Ints, Floats, Floats], Floats]
"(owner (n,), rotations (n, 4), translations (n, 3)) -> e (n, k): the rows with joint owner[d] moved to there."

STEP = 6e-6
"""h, radians or units of length: about the cube root of the machine's precision."""
_FAR = 1e6
"""Replaces a residual that is not finite: large enough that the step is undone."""


def central_differences(s: System, w: Work, state: State, residuals: Residuals) -> Floats:
    """(n, k) rows of the transposed Jacobian, scaled by the dofs' spreads, at the pose of ``state``."""
    plus = residuals(*_perturbed(s, w, state, STEP))
    minus = residuals(*_perturbed(s, w, state, -STEP))
    result = (minus - plus) * (s.spread / (2.0 * STEP * s.unit))[:, None]
    # Where a user's function has no value on one side, it gives no direction.
    result[(np.abs(plus) >= _FAR) | (np.abs(minus) >= _FAR)] = 0.0
    return np.asarray(result)


def _perturbed(s: System, w: Work, state: State, h: float) -> tuple[Ints, Floats, Floats]:
    """For every dof: its joint (n,), and the local rotation (n, 4) and translation (n, 3) with it moved by h."""
    owner = joint_of_dof(s)
    place = np.arange(len(owner)) - s.first[owner]
    turns, moves = state.q[owner], state.t[owner]
    # A difference needs both sides of a limit, too.
    free = s._replace(lower=np.full_like(s.lower, -np.inf), upper=np.full_like(s.upper, np.inf))
    # Joints' own motions do not depend on each other: one move does the first dof of all of them, and so on.
    for i in range(int(place.max(initial=-1)) + 1):
        some = np.flatnonzero(place == i)
        step = np.zeros(len(owner))
        step[some] = h * s.unit[some]
        x, q, t = state.x.copy(), state.q.copy(), state.t.copy()
        move(free, w, step, x, q, t)
        turns[some], moves[some] = q[owner[some]], t[owner[some]]
    return owner, turns, moves


class UserRows:
    """The rows of function goals, for solves in whose system every joint of the skeleton takes part.

    The rows of residuals f are e = -weight * f: target (zero) minus current. It is met when |f| is at most the
    solve's tolerance in metres.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], unit: float = 1.0) -> None:
        """Take the goals that are functions and enabled; ``unit`` that their weights are measured in."""
        self._skeleton = skeleton
        self._goals = [
            (goal.residuals, goal.weight / unit) for goal in goals if goal.enabled and goal.residuals is not None
        ]
        self._joints = np.array(depth_first(skeleton), dtype=np.intp)
        self._sizes: list[int] = []

    def begin(self, state: State) -> list[int]:
        """How many residuals each function gives; they must stay as many during a solve.

        Raises:
            InputError: residuals that are not finite numbers at the pose where the solve begins.
        """
        self._sizes = []
        world = self._world(state.q, state.t)
        values = [_residuals(function(world)) for function, _ in self._goals]
        for value in values:
            if not np.isfinite(value).all():
                raise InputError(
                    f"function goal: expected finite residuals at the start pose, found {value[~np.isfinite(value)][0]}"
                )
        self._sizes = [len(value) for value in values]
        return self._sizes

    def evaluate(self, q: Floats, t: Floats) -> tuple[Floats, float]:
        """Rows e (k,) at a pose of the system, and the largest |f| of a goal."""
        rows = self._rows(self._world(q, t))
        return rows, max(self._lengths(rows), default=0.0)

    def lengths(self, q: Floats, t: Floats) -> list[float]:
        """|f| of every function at a pose of the system."""
        return self._lengths(self._rows(self._world(q, t)))

    def _lengths(self, rows: Floats) -> list[float]:
        parts = np.split(rows, np.cumsum(self._sizes)[:-1])
        return [float(np.linalg.norm(part)) / weight for part, (_, weight) in zip(parts, self._goals, strict=True)]

    def differences(self, s: System, w: Work, state: State) -> Floats:
        """(n, k) as `central_differences`."""
        world, last = self._world(state.q, state.t), last_descendants(s.parent)

        def residuals(owner: Ints, turns: Floats, moves: Floats) -> Floats:
            rows = np.empty((len(owner), sum(self._sizes)))
            for d, moved in enumerate(self._moved(world, s.parent, last, owner, turns, moves)):
                rows[d] = self._rows(moved)
            return rows

        return central_differences(s, w, state, residuals)

    def _world(self, q: Floats, t: Floats) -> World:
        """World motion of a pose (K, 4), (K, 3) of the system, with the joints in the skeleton's order."""
        rotations, translations = np.empty_like(q), np.empty_like(t)
        rotations[self._joints], translations[self._joints] = q, t
        world = fk_arrays(self._skeleton.parents, rotations[None], translations[None])
        return World(world.positions[0], world.rotations[0])

    def _moved(
        self, world: World, parent: Ints, last: Ints, owner: Ints, turns: Floats, moves: Floats
    ) -> Iterator[World]:
        """For each dof the world with joint ``owner`` of the system at another local rotation and translation.

        Joints below it move along as one rigid body, and follow it in the order.
        """
        above = np.where(parent[owner] < 0, -1, self._joints[parent[owner]])
        places = np.where((above < 0)[:, None], 0.0, world.positions[above])
        frames = np.where((above < 0)[:, None], IDENTITY, world.rotations[above])
        here = self._joints[owner]
        to = places + rotate(frames, moves)
        change = multiply(multiply(frames, turns), conjugate(world.rotations[here]))
        for d, k in enumerate(owner.tolist()):
            below = self._joints[k : last[k] + 1]
            positions, rotations = world.positions.copy(), world.rotations.copy()
            positions[below] = to[d] + rotate(change[d], positions[below] - world.positions[here[d]])
            rotations[below] = multiply(change[d], rotations[below])
            yield World(positions, rotations)

    def _rows(self, world: World) -> Floats:
        parts = [np.zeros(0)]
        for size, (function, weight) in zip(self._sizes, self._goals, strict=True):
            value = _residuals(function(world))
            if len(value) != size:
                raise InputError(f"function goal: expected {size} residuals as at the start pose, found {len(value)}")
            parts.append(np.where(np.isfinite(value), -weight * np.where(np.isfinite(value), value, 0.0), _FAR))
        return np.clip(np.concatenate(parts), -_FAR, _FAR)


def _residuals(value: object) -> Floats:
    """The values (k,) of a user's function; an InputError for anything but a list of numbers."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:  # ragged, or no array at all
        raise InputError("function goal: expected residuals of shape (any,), found no array of numbers") from error
    if array.dtype.kind not in "biuf" or array.ndim > 1:
        raise InputError(f"function goal: expected residuals of shape (any,), found {array.dtype} of {array.shape}")
    return np.atleast_1d(array.astype(np.float64))
