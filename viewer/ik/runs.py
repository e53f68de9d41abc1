"""A solve from a given pose, and each run in it, compiled if possible, else in numpy.

A solve tries the quickest way first, then a search with restarts, then more seeds where these all miss.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from viewer.ik import numpy_engine
from viewer.ik.arm_steps import is_arm
from viewer.ik.backends import engine_for, takes_compiled
from viewer.ik.buffers import Buffers
from viewer.ik.compiled.entry import CODES, OUTSIDE, STEPS, Direct, Row
from viewer.ik.diagnosis import Nearest, diagnose
from viewer.ik.findings import Reason, labels
from viewer.ik.goals import KINDS
from viewer.ik.levenberg_marquardt import CONVERGED
from viewer.ik.methods import DEFAULT_METHOD, METHODS, Watch
from viewer.ik.numpy_kinematics import residuals
from viewer.ik.prepared import OTHER_SEEDS, Prepared
from viewer.ik.solution import STATUS_OF_CODE, Diagnose, Findings, Report, Solution, Status, findings_of, solution_of
from viewer.ik.solver_options import DEFAULT
from viewer.ik.system import Settings, State, copy_state
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats

UNSERVED_BALANCE = "balance (nothing to stand on)"
"""The words of `Solution.unserved` for a balance goal of a figure without support."""


class Runs:
    """Runs of prepared goals by some settings.

    Attributes:
        settings: of a one-shot solve.
        excluded: whether geometry excludes the goals of the last run that missed some.
    """

    def __init__(
        self,
        prepared: Prepared,
        settings: Settings | None = None,
        watch: Watch | None = None,
        nearest: Nearest | None = None,
    ) -> None:
        """Run by the goals' own settings, or by others.

        ``settings``: instead of theirs; ``watch``: called after each iteration in numpy; ``nearest``: where all runs
        are of one problem: remembers the nearest pose that is known.
        """
        self.prepared, self.options, self.targets = prepared, prepared.options, prepared.targets
        self.settings = prepared.settings if settings is None else settings
        self.excluded, self._balances = False, len(prepared.assembly.system.mass) > 0
        self._grips, self._compiled = prepared.grips.adds, self.options.backend == "numba"
        self._watch, self._nearest = watch, nearest

    def towards(
        self,
        buffers: Buffers,
        pose: Pose,
        targets: ArrayLike | None,
        target_rotations: ArrayLike | None,
        settings: Settings,
        *,
        onward: bool = False,
    ) -> Solution:
        """`run`, for targets as `solve` takes them."""
        started = perf_counter()
        direct = self._direct(buffers, onward=onward)
        if direct is not None:
            start = direct.start(pose, onward)
            row = direct.solve(start, targets, target_rotations, settings, False, onward, False)
            if row is not None:
                return self._answer(direct, pose, row, started, settings)
        settled = self.targets.settle(pose, targets, target_rotations)
        return self.run(buffers, pose, settled, settings, onward=onward)

    def at_once(self, pose: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution | None:
        """One solve by compiled code alone; None, without effect, where numpy has to look at the pose or the targets.

        Compiled code looks at poses that differ from the last one, too.
        """
        started = perf_counter()
        buffers = self.prepared.buffers
        direct = buffers.direct if self._compiled else None
        if direct is None:
            direct = self._direct(buffers)
            if direct is None:
                return None
        if pose is buffers.begun:
            row = direct.solve(None, targets, target_rotations, self.settings, False, False, False)
        elif self.prepared.starts.is_news(pose):
            row = direct.solve(pose, targets, target_rotations, self.settings, True, False, False)
            if row is not None:
                self.prepared.starts.accept(pose)
        else:
            return None
        return None if row is None else self._answer(direct, pose, row, started, self.settings)

    def run(
        self,
        buffers: Buffers,
        pose: Pose,
        targets: tuple[Floats, Floats],
        settings: Settings,
        *,
        onward: bool = False,
    ) -> Solution:
        """Solve in buffers.

        ``pose``: joints that take no part stay as in it; ``targets`` (G, 3) and (G, 4): settled; ``onward``: go on from
        where the buffers' last solve ended, anchored where that began.
        """
        started = perf_counter()
        direct = self._direct(buffers, onward=onward)
        if direct is not None:
            row = direct.settled(pose, targets, settings, onward=onward)
            return self._answer(direct, pose, row, started, settings)
        buffers.aim_at(*targets)
        unserved = self.prepared.unserved
        if self.prepared.needs_numpy:
            if not onward:
                buffers.pose_at(pose.rotations, pose.translations)
            outside = not onward and buffers.begin(settle=settings.settle)
            buffers.aim_now()
            unserved = self._unserved_now(buffers, settings)
            code, iterations, _ = self._method(*buffers.arrays, settings)
        else:
            if not onward:
                buffers.begin_at(pose)
            one = buffers.one
            numpy_engine.solve_batch(buffers, settings, onward=onward)
            if not onward:
                buffers.begun_at(None, numpy=pose)
            code, iterations, outside = int(one.code[0]), int(one.iterations[0]), bool(one.outside[0])
        report = self._report(buffers, code, iterations, perf_counter() - started, "numpy", outside)
        every = tuple(dict.fromkeys((*unserved, *report.unserved)))
        return self._ended(buffers, pose, targets, code, report._replace(unserved=every), settings)

    def _ended(
        self,
        buffers: Buffers,
        pose: Pose,
        targets: tuple[Floats, Floats],
        code: int,
        report: Report,
        settings: Settings,
    ) -> Solution:
        """The solution of a run in numpy that stopped with a code."""
        found = buffers.pose(pose)
        if settings is self.settings:
            report = report._replace(status=self._judged(report.status, code, targets, found))
        return self._solution(buffers, found, targets, report)

    def stopped_at(
        self, buffers: Buffers, state: State, pose: Pose, targets: tuple[Floats, Floats], last: Report
    ) -> Solution:
        """The solution of a run in numpy if its iterations had run out in a state that it passed through.

        ``state`` is what it would have returned, without residuals; ``last``: the report of the whole run, with the
        iterations and seconds until that state.
        """
        residuals(buffers.system, buffers.work, state.q, state.t, buffers.state.e)
        copy_state(state._replace(e=buffers.state.e), buffers.state)
        code = STATUS_OF_CODE.index(Status.BUDGET)
        report = self._report(buffers, code, last.iterations, last.seconds, last.backend, last.start_outside)
        return self._ended(buffers, pose, targets, code, report._replace(unserved=last.unserved), self.settings)

    def _direct(self, buffers: Buffers, *, onward: bool = False) -> Direct | None:
        """Calls of the compiled kernels on buffers; None where numpy is to do it.

        A drag that compiled code has begun continues in compiled code.
        """
        direct: Direct | None = buffers.direct
        if direct is not None and (onward or takes_compiled(self.options.backend)):
            return direct
        if self.prepared.needs_numpy:
            return None
        engine, _ = engine_for(self.options.backend)
        prepare = getattr(engine, "prepare", None)
        if prepare is None:
            return None
        if direct is None:
            tables = self.prepared.starts.tables(self.prepared.foundation.dofs)
            direct = buffers.direct = Direct(prepare, buffers, self.targets, tables)
        return direct

    def _answer(self, direct: Direct, base: Pose, row: Row, started: float, settings: Settings) -> Solution:
        """The solution of an answer row that a compiled call has filled; joints that take no part are as in a pose."""
        (ended, numbers), seconds = row, perf_counter() - started
        iterations, (code, outside) = ended // STEPS, _ENDS[ended % STEPS]
        buffers = direct.buffers
        if code == CONVERGED and not self._grips:
            unserved = self._unserved_in(buffers) if self._balances else self.prepared.unserved
            met = _CONVERGED, iterations, seconds, "numba", self.options.method, unserved, outside
            return Solution(met, self, (direct, base, numbers))
        report = self._report(buffers, code, iterations, seconds, "numba", outside)
        pose = direct.pose(base, numbers)
        findings, diagnosis = self.explained(pose, direct, base, numbers)
        if self.options.method != DEFAULT and settings is self.settings:
            report = report._replace(status=self._judged(report.status, code, direct.targets(numbers), pose))
        solution = solution_of(report, pose, findings, diagnosis)
        return solution if not self._grips else self._folded(buffers, solution, findings, direct.targets(numbers))

    def pose(self, direct: Direct, base: Pose, numbers: Floats) -> Pose:
        """The pose of an answer: made when it is asked for, as is the next."""
        return direct.pose(base, numbers)

    def explained(self, pose: Pose, direct: Direct, _: Pose, numbers: Floats) -> tuple[Findings, Diagnose]:
        """The findings and the diagnosis of an answer."""
        found, count, buffers = partial(direct.found, numbers), len(self.prepared.goals), direct.buffers
        of = buffers.system, buffers.joints, buffers.goals, buffers.skeleton
        findings = findings_of(*of, count, found, self.options.contact)
        return findings, partial(self._diagnosis_of, direct, numbers, pose)

    def _unserved_in(self, buffers: Buffers) -> tuple[str, ...]:
        """The goals that are not served, some of which depend on the start pose."""
        system = buffers.system
        if self._balances and system.corners[0] == 0:
            return (*self.prepared.unserved, UNSERVED_BALANCE)
        return self.prepared.unserved

    def _report(
        self, buffers: Buffers, code: int, iterations: int, seconds: float, backend: str, outside: bool
    ) -> Report:
        status = STATUS_OF_CODE[code]
        failed = status is not Status.CONVERGED
        if (
            failed
            and self.prepared.assembly.spared.any()
            and not self.prepared.assembly.fails(buffers.work.miss, float(buffers.work.contact.overlap[1]))
        ):
            status = Status.CONVERGED
        elif failed:
            self.excluded = self.prepared.reach.out_of_reach(buffers.system, buffers.state.q, buffers.state.t)
            status = Status.UNREACHABLE if self.excluded else status
        unserved = self._unserved_in(buffers)
        return Report(status, iterations, seconds, backend, self.options.method, unserved, outside)

    def _judged(self, status: Status, code: int, targets: tuple[Floats, Floats], pose: Pose) -> Status:
        return judged(self.prepared, status, STATUS_OF_CODE[code], targets, pose, self._nearest)

    def _unserved_now(self, buffers: Buffers, settings: Settings) -> tuple[str, ...]:
        """Goals that the method cannot serve from the start pose, as where there is no limb for one."""
        if self.options.method == DEFAULT:
            return self.prepared.unserved
        left_out = METHODS[self.options.method].left_out(*buffers.arrays, settings)
        missing = {int(buffers.goals[g]) for g in left_out}
        return (*self.prepared.unserved, *(name for i, name in enumerate(labels(self.prepared.goals)) if i in missing))

    def _diagnosis_of(self, direct: Direct, numbers: Floats, pose: Pose) -> tuple[Reason, ...]:
        return diagnose(self.prepared.skeleton, self.prepared.goals, direct.targets(numbers), pose, self.options)

    def gone_back(self, solution: Solution, start: Pose, targets: tuple[Floats, Floats]) -> Solution:
        """The solution of a run on the goals' own buffers with its start, inside the limits, as the answer."""
        buffers = self.prepared.buffers
        stayed = buffers.pose(start) if buffers.go_back(start) else start
        return self._solution(buffers, stayed, targets, solution.report)

    @property
    def _method(self) -> Callable[..., tuple[int, int, float]]:
        """The method that solves where no engine does: called as `viewer.ik.levenberg_marquardt.minimise` is."""
        if self.options.method == DEFAULT:
            return partial(DEFAULT_METHOD.run, extra=self.prepared.functions, tuning=self.options.tuning)
        method = METHODS[self.options.method]
        return partial(method.run, extra=self.prepared.functions, tuning=self.options.tuning, watch=self._watch)

    def _solution(self, buffers: Buffers, pose: Pose, targets: tuple[Floats, Floats], report: Report) -> Solution:
        diagnosis = partial(diagnose, self.prepared.skeleton, self.prepared.goals, targets, pose, self.options)
        functions: dict[int, float] = {}
        if self.prepared.functions is not None:
            state = buffers.state
            places = [i for i, goal in enumerate(self.prepared.goals) if goal.enabled and not KINDS[goal.kind].built_in]
            functions = dict(zip(places, self.prepared.functions.lengths(state.q, state.t), strict=True))
        findings = buffers.findings(len(self.prepared.goals), self.options.contact, functions)
        solution = solution_of(report, pose, findings, diagnosis)
        return solution if not self._grips else self._folded(buffers, solution, findings, targets)

    def _folded(
        self, buffers: Buffers, solution: Solution, findings: Findings, targets: tuple[Floats, Floats]
    ) -> Solution:
        """The solution with grips instead of the pulls of fingers."""
        others = self.prepared.grips.others
        diagnosis = partial(diagnose, self.prepared.skeleton, others, targets, solution.pose, self.options)
        overlaps = bool(buffers.work.contact.overlap[1] > 1.0)
        spared = {int(buffers.goals[g]) for g in np.flatnonzero(self.prepared.assembly.spared)}
        return self.prepared.grips.folded(solution, findings, spared, overlaps=overlaps, others=diagnosis)


def judged(
    prepared: Prepared,
    status: Status,
    stopped: Status,
    targets: tuple[Floats, Floats],
    pose: Pose,
    nearest: Nearest | None = None,
) -> Status:
    """The status of a solve by a method of the catalogue.

    Goals that geometry excludes make it `unreachable` only in the nearest pose: a method that stopped in another
    one, such as a straight chain whose target is right behind it, gives its own status.
    """
    if prepared.options.method == DEFAULT or status is not Status.UNREACHABLE:
        return status
    nearest = nearest or Nearest(prepared.skeleton, prepared.goals, prepared.options)
    return status if nearest(targets, pose) else stopped


_ENDS = [(how % CODES, how >= OUTSIDE) for how in range(STEPS)]
"""How calls end, see `STEPS`: their codes, and whether the start was outside its limits."""
_CONVERGED = Status.CONVERGED
"""Looked up once: that takes as long as a call."""
_POSE_ROWS = 6
"""Residuals of a goal for a place and a rotation."""


class OneShot:
    """One-shot solves of prepared goals.

    ``exact``: whether a solve that does not converge gives the start pose back.
    """

    def __init__(self, runs: Runs, *, exact: bool) -> None:
        self._runs, self._exact = runs, exact
        self.prepared = runs.prepared

    def solve(self, pose: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution:
        """As `viewer.ik.solver.Solver.solve`."""
        runs, prepared = self._runs, self.prepared
        grips = prepared.grips
        if grips.adds:
            targets, target_rotations = grips.spread(targets, target_rotations)
        quick = None if grips.found else runs.at_once(pose, targets, target_rotations)
        if quick is not None and quick.status is _CONVERGED:
            return quick
        start, outside = prepared.starts.start(pose)
        solution = quick or self._gripping(start, targets, target_rotations)
        if solution is None:
            drawn = prepared.starts.drawn(start)
            solution = runs.towards(prepared.buffers, drawn, targets, target_rotations, runs.settings)
        missed = solution.status is not _CONVERGED and not runs.excluded
        if missed and solution.status in sought_again(prepared, runs.settings):
            solution = self._sought_again(solution, start, targets, target_rotations)
        if self._exact and solution.status is not Status.CONVERGED:
            solution = runs.gone_back(solution, start, prepared.targets.settle(start, targets, target_rotations))
        solution.start_outside |= outside
        return solution

    def _sought_again(
        self, solution: Solution, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> Solution:
        """Solve again, from other seeds; the iterations are those of both solves.

        Few of a robot's branches may lead to a goal, and all restarts may miss them.
        """
        runs, prepared = self._runs, self.prepared
        drawn, buffers = prepared.starts.drawn(start), prepared.reseeded[1]
        found = runs.towards(buffers, drawn, targets, target_rotations, longer(runs.settings))
        both = found if found.status is Status.CONVERGED else solution
        both.iterations, both.seconds = solution.iterations + found.iterations, solution.seconds + found.seconds
        return both

    def _gripping(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution | None:
        """Solve with grips; None without grips.

        Other goals are met first, by a solve with restarts; from there the fingers close, unless they hold already.
        """
        runs, prepared = self._runs, self.prepared
        grips = prepared.grips
        if not grips.found:
            return None
        if not any(goal.enabled for goal in grips.others):
            return self._gripping_alone(start, targets, target_rotations) if grips.stays else None
        settled = prepared.targets.settle(start, targets, target_rotations)
        first = OneShot(Runs(prepared.without_grips), exact=self._exact).solve(start, *settled)
        solution = runs.run(prepared.buffers, first.pose, settled, runs.settings._replace(max_iterations=0))
        if solution.status is Status.CONVERGED:
            solution = solution.with_pose(first.pose)  # without the last bits of limits and coordinates
        else:
            solution = runs.run(prepared.buffers, first.pose, settled, runs.settings)
        solution.iterations += first.iterations
        solution.seconds += first.seconds
        return solution

    def _gripping_alone(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution:
        """Solve with nothing but grips: hands close where they are or, where that is too far, move to the objects."""
        runs, prepared = self._runs, self.prepared
        settled = prepared.targets.settle(start, targets, target_rotations)
        solution = runs.run(prepared.buffers, start, settled, runs.settings)
        if solution.status is Status.CONVERGED:
            return solution
        count = len(prepared.grips.given)
        rows = [None if some is None else np.asarray(some)[:count] for some in (targets, target_rotations)]
        gone = OneShot(Runs(prepared.with_grips_that_move), exact=self._exact).solve(start, *rows)
        gone.iterations += solution.iterations
        gone.seconds += solution.seconds
        return gone if gone.status is Status.CONVERGED else solution


def sought_again(prepared: Prepared, settings: Settings) -> Sequence[Status]:
    """How solves end whose goals are searched for from other seeds, too.

    Where restarts stall, at places that are not equally near, there may be another. Where they agree, whole families of
    poses meet goals in reach, and a search four times as long gains nothing; unless goals leave no degree of freedom,
    as with a six-axis arm, or the pose of an arm's tool is given: limits often leave few poses that reach it.
    """
    if prepared.options.method != DEFAULT or prepared.grips.grips or settings.restarts == 0:
        return ()
    system = prepared.buffers.system
    rows = int(np.sum(system.goal_lengths + system.goal_angles))
    few = rows >= np.count_nonzero(system.spread) or (rows == _POSE_ROWS and is_arm(system))
    return (Status.STALLED, Status.UNREACHABLE) if few else (Status.STALLED,)


def longer(settings: Settings) -> Settings:
    """The settings of a search from the other seeds."""
    return settings._replace(
        restarts=OTHER_SEEDS * settings.restarts, max_iterations=OTHER_SEEDS * settings.max_iterations
    )
