"""The laboratory: several methods solve one problem from one pose, and every iteration of each is recorded."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, Unpack

import numpy as np

from viewer.choices import METHOD_NAMES, MethodName
from viewer.errors import InputError, listed, plural, quote, unknown_name
from viewer.ik.findings import labels
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian
from viewer.ik.prepared import UNSERVED_LEVELS
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.notebook import comparison_png
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.character import check_skeleton
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import angle_between

MOST_METHODS = 8
DEFAULT_METHODS: tuple[MethodName, ...] = ("default", "dls", "sdls", "ccd", "fabrik", "transpose")
ITERATIONS = 60
"""Iterations of each method by default."""
_LONG_S = 1.0
"""Seconds after which traces are not timed again."""
_FLAT = 1e-6
"""Metres per radian below which no joint moves the effectors towards their targets."""

Between: TypeAlias = Callable[[], None]
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The iterations of one method, from the start to where it stopped.

    Attributes:
        solver: with the method as its option.
        start: the pose that it began with.
        solutions: (k + 1,) what it would return after 0 .. k iterations; the last is the answer.
        seconds: (k + 1,) until then.
    """

    solver: Solver
    start: Pose
    solutions: tuple[Solution, ...]
    seconds: tuple[float, ...]

    @property
    def method(self) -> MethodName:
        """Its name."""
        return self.solver.options.method

    @property
    def last(self) -> Solution:
        """The last solution."""
        return self.solutions[-1]

    def at(self, iteration: int) -> Solution:
        """The solution after a number of iterations; the answer from where the method stopped."""
        return self.solutions[min(max(iteration, 0), len(self.solutions) - 1)]

    def error(self, iteration: int) -> float:
        """The largest miss, metres; degrees where no goal has a length.

        Goals that are not served count, too, those that may give way (`Goal.hold`) only if all may.
        """
        solution = self.at(iteration)
        for errors in (solution.errors_m[self._counted], solution.errors_deg[self._counted]):
            if np.isfinite(errors).any():
                return float(np.nanmax(errors))
        return 0.0

    @property
    def _counted(self) -> Bools:
        """(G,) the goals whose misses count as errors."""
        firm = np.array([not goal.hold for goal in self.solver.goals])
        return firm if firm.any() else ~firm

    @property
    def in_metres(self) -> bool:
        """Whether `error` is in metres; else in degrees."""
        return bool(np.isfinite(self.last.errors_m).any())

    def turns(self, iteration: int) -> Floats:
        """(J,) radians that each joint has turned since the start."""
        return np.asarray(angle_between(self.start.rotations, self.at(iteration).pose.rotations))

    def jacobian(self, iteration: int) -> Jacobian:
        """The goals' Jacobian after a number of iterations, in plain units."""
        return self.solver.jacobian(self.at(iteration).pose)

    @property
    def ended(self) -> int:
        """The iteration from which on it met its goals, though holds that give way came nearer later; else the last."""
        missed = (number for number, one in enumerate(self.solutions) if one.status is not Status.CONVERGED)
        return min(max(missed, default=-1) + 1, self.last.iterations)

    @property
    def how(self) -> str:
        """How it ended, in a few words."""
        last = self.last
        if last.status is Status.CONVERGED:
            return f"met after {self.ended}" if self.ended else "met at the start"
        if set(labels(self.solver.goals)) <= set(last.unserved):
            return "serves none of these goals"
        ways = {
            Status.UNREACHABLE: "out of reach after",
            Status.STALLED: "stuck after",
            Status.DIVERGED: "diverged after",
            Status.BUDGET: "not there after",
        }
        return f"{ways[last.status]} {last.iterations}"

    def __repr__(self) -> str:
        return f"<Trace: {self.method}, {len(self.solutions) - 1} iterations, {self.last.status}>"

    @property
    def why(self) -> str:
        """Why it did not meet the goals, in one sentence; "" where it met them."""
        last = self.last
        if last.status is Status.CONVERGED:
            return ""
        goals = [name for name in last.unserved if name != UNSERVED_LEVELS]
        if goals:
            return f"{self.method} does not serve {listed(goals, 3)}."
        alike = " All goals count alike: it does not distinguish levels." if last.unserved else ""
        return f"{self.method}: {self._reason()}{alike}"

    def _reason(self) -> str:
        last = self.last
        blocked = (
            f"{plural(len(last.at_limit), 'joint')} at limits ({listed(last.at_limit, 3)})" if last.at_limit else ""
        )
        if last.status is Status.DIVERGED:
            return "the error grew without bound; the best pose is shown."
        if last.status is Status.UNREACHABLE:
            return last.diagnosis[0] + "." if last.diagnosis else "no pose meets the goals."
        slope = self.slope
        if slope < _FLAT:
            flat = "no joint moves the effectors towards their targets: the error is at a minimum or the pose singular"
            return f"{flat}; {blocked}." if blocked else f"{flat}."
        if last.status is Status.STALLED:
            steepest = f"the joints that may still move gain {_slope_words(slope)} at most"
            return f"{blocked}; {steepest}." if blocked else f"steps have become too small; {steepest}."
        gained = self.error(last.iterations - 1) - self.error(last.iterations)
        unit = f"{1000.0 * gained:.2g} mm" if self.in_metres else f"{gained:.2g}°"
        slow = f"the last iteration gained {unit}" if gained > 0.0 else "the last iteration gained nothing"
        return f"{slow}; {blocked}." if blocked else f"{slow}."

    @property
    def slope(self) -> float:
        """How fast the length of the residuals falls along the steepest direction at the end: |J^T e| / |e|.

        Metres per radian where all goals are positions. Degrees of freedom at limits do not count.
        """
        jacobian = self.jacobian(self.last.iterations)
        size = float(np.linalg.norm(jacobian.residuals))
        if size == 0.0:
            return 0.0
        free = [name.split(".")[0] not in self.last.at_limit for name in jacobian.dofs]
        return float(np.linalg.norm((jacobian.matrix.T @ jacobian.residuals)[free])) / size


def farthest_goal(trace: Trace) -> Goal:
    """The goal that is missed most at the start."""
    return trace.solver.goals[int(np.argmax(np.nan_to_num(trace.at(0).errors_m)))]


@dataclass(frozen=True, slots=True, eq=False)
class Traces:
    """The iterations of several methods on one problem: M methods, K - 1 iterations at most, G goals.

    Of a method that stopped earlier, the last solution is repeated.

    Attributes:
        skeleton: the joints.
        goals: (G,).
        start: the pose that all began with.
        each: (M,) one trace a method.
    """

    skeleton: Skeleton
    goals: tuple[Goal, ...]
    start: Pose
    each: tuple[Trace, ...]

    def __repr__(self) -> str:
        return f"<Traces: {', '.join(self.methods)}, {self.iterations} iterations>"

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: what each method came to, and how."""
        return comparison_png(self.skeleton, self)

    @property
    def methods(self) -> tuple[MethodName, ...]:
        """(M,) names."""
        return tuple(trace.method for trace in self.each)

    @property
    def labels(self) -> tuple[str, ...]:
        """(G,) names of the goals."""
        return tuple(labels(self.goals))

    @property
    def iterations(self) -> int:
        """K - 1: iterations of the method that took most."""
        return max(len(trace.solutions) for trace in self.each) - 1

    @property
    def errors(self) -> Floats:
        """(M, K, G) metres by which each goal is missed; NaN where it has no length."""
        return np.array(self._each(lambda trace, k: trace.at(k).errors_m))

    @property
    def errors_deg(self) -> Floats:
        """(M, K, G) degrees by which each goal is missed; NaN where it has no angle."""
        return np.array(self._each(lambda trace, k: trace.at(k).errors_deg))

    @property
    def poses(self) -> tuple[tuple[Pose, ...], ...]:
        """(M) (K,) poses."""
        return tuple(map(tuple, self._each(lambda trace, k: trace.at(k).pose)))

    @property
    def seconds(self) -> Floats:
        """(M, K) wall-clock time until each iteration, on this machine."""
        return np.array(self._each(lambda trace, k: trace.seconds[min(k, len(trace.seconds) - 1)]))

    def _each(self, of: Callable[[Trace, int], _Part]) -> list[list[_Part]]:
        """Something of every method after every iteration."""
        return [[of(trace, k) for k in range(self.iterations + 1)] for trace in self.each]

    def jacobian(self, iteration: int, method: MethodName | None = None) -> Jacobian:
        """The Jacobian of a method, by default the first, after a number of iterations.

        Raises:
            InputError: a method that did not take part.
        """
        return self.of(self.methods[0] if method is None else method).jacobian(iteration)

    def of(self, method: MethodName) -> Trace:
        """The trace of a method.

        Raises:
            InputError: a method that did not take part.
        """
        for trace in self.each:
            if trace.method == method:
                return trace
        raise InputError(f"method: expected one of {', '.join(self.methods)}, found {quote(method)}")


def lab(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    methods: Sequence[MethodName] = DEFAULT_METHODS,
    *,
    pose: Pose | None = None,
    iterations: int = ITERATIONS,
    repeats: int = 1,
    **options: Unpack[SolverOptions],
) -> Traces:
    """Solve one problem by several methods, iteration by iteration.

    Args:
        skeleton: the joints.
        goals: as for `Solver`.
        methods: one to eight names; one gives its convergence alone.
        pose: where all start; the relaxed pose unless given.
        iterations: of each method at most.
        repeats: traces of a method that are timed at most; the least time of each iteration counts. None begins after
            a second.
        options: the same for all methods, as for `Solver`; "method" and "max_iterations" do not count.

    Raises:
        InputError: an unknown method, one that is named twice, too many; and all that `Solver` and its `solve` raise.
    """
    check_skeleton(skeleton)
    names = checked_methods(methods)
    start = skeleton.relaxed_pose() if pose is None else pose
    traces = tuple(
        trace_of(skeleton, goals, name, start, iterations=iterations, repeats=repeats, **options) for name in names
    )
    return Traces(skeleton, tuple(goals), start, traces)


def trace_of(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    name: MethodName,
    start: Pose,
    *,
    iterations: int = ITERATIONS,
    repeats: int = 1,
    between: Between = lambda: None,
    like: Solver | None = None,
    **options: Unpack[SolverOptions],
) -> Trace:
    """One method's trace.

    Arguments as those of `lab`; ``between`` as in `Solver.trace`. ``like`` is a solver of the same skeleton and options
    with other goals, which saves the time of making one.
    """
    own: SolverOptions = {**options, "method": name, "max_iterations": iterations}
    solver = Solver(skeleton, goals, **own) if like is None else like.with_goals(goals)
    began = time.perf_counter()
    runs = [solver.trace(start, between=between)]
    while len(runs) < repeats and time.perf_counter() - began < _LONG_S:
        runs.append(solver.trace(start, between=between))
    seconds = np.min([[solution.seconds for solution in run] for run in runs], axis=0)
    # A solve that stops earlier takes no longer: a longer time comes from other work on the machine.
    return Trace(solver, start, runs[0], tuple(np.minimum.accumulate(seconds[::-1])[::-1].tolist()))


def checked_methods(methods: Sequence[str]) -> tuple[MethodName, ...]:
    """The methods; an InputError unless all are known, none comes twice, and they are one to eight."""
    if isinstance(methods, str):
        raise InputError(f"methods: expected a list of names, found the text {quote(methods)}")
    known: dict[str, MethodName] = {name: name for name in METHOD_NAMES}
    for name in methods:
        if name not in known:
            raise InputError(unknown_name("method", str(name), METHOD_NAMES))
    if not 1 <= len(methods) <= MOST_METHODS:
        raise InputError(f"methods: expected 1 to {MOST_METHODS}, found {len(methods)}")
    twice = [name for name in methods if list(methods).count(name) > 1]
    if twice:
        raise InputError(f"methods: {quote(twice[0])} is named twice")
    return tuple(known[name] for name in methods)


def _slope_words(slope: float) -> str:
    return f"{1000.0 * math.radians(slope):.2g} mm per degree"
