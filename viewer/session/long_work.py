"""Work that takes seconds, in threads while the window stays responsive: of any kind, jobs, long layers, the lab."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from viewer.choices import MethodName
from viewer.document import Document, Take
from viewer.document.document_contact import solver_contact
from viewer.document.planar import PlanarRig
from viewer.document.posed_goals import Priority
from viewer.document.scope import rig_of, solved_skeleton
from viewer.document.solved_frames import LayerWork, unsolved, with_stretch
from viewer.document.take import Stretch
from viewer.errors import ViewerError
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian
from viewer.ik.lab import ITERATIONS, Trace, trace_of
from viewer.ik.solution import Solution
from viewer.ik.solver import Solver
from viewer.ik.solver_options import Options, keywords_of
from viewer.progress import watched_by
from viewer.session.figures import Stage, State
from viewer.skeleton import Pose, Skeleton

T = TypeVar("T")

LONG = 5_000
"""Frames of a motion from which on work on all of them takes more than about half a second."""
_SWITCH_S = 5e-4
"""Seconds: the interpreter's switch interval while the thread works; with Python's default the window would stutter."""
_ESTIMATE_AFTER = 1.0
"""Seconds after which the remaining time is estimated."""
_BLOCKS_KEPT = 400
"""Blocks that are kept, so that undo and redo find theirs solved."""

_BUSY_S, _QUIET, _IDLE_S = 6e-3, 0.7, 50e-3
"""A drag has priority: an iteration begins once the window has worked for `_BUSY_S` seconds after a tick, and before
the fraction `_QUIET` of the time between two ticks is over; or if no tick has come for `_IDLE_S` seconds."""
_COMPILED: tuple[MethodName, ...] = ("default", "dls")
"""Methods that are traced first, and solved repeatedly while the others work."""

JobName = Literal["planting", "retargeting"]


class _CancelledError(Exception):
    """The work is not wanted any more."""


@contextmanager
def _beside_the_window() -> Iterator[None]:
    """Let the window's thread go on often while another works in the block."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class LongWork(Generic[T]):
    """Makes something in a thread of its own; the session does not change until the result is taken over.

    ``part`` is done so far, 0 to 1; ``result`` is None while it works, and if it failed; ``error`` says why.
    """

    def __init__(self, make: Callable[[], T], shares: Mapping[str, float]) -> None:
        """Begin.

        ``shares`` has, by the name of each reported part of the work, in order, its share of the time; the rest follows
        them.
        """
        self._make, self._shares, self._began = make, dict(shares), time.perf_counter()
        self.part, self._cancelled = 0.0, False
        self.result: T | None = None
        self.error: ViewerError | None = None
        self._thread = threading.Thread(target=self._work, name="long work", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    @property
    def left(self) -> float | None:
        """Estimated seconds left; None: unknown."""
        spent = time.perf_counter() - self._began
        return None if spent < _ESTIMATE_AFTER or not self.part else spent / self.part * (1.0 - self.part)

    def cancel(self) -> None:
        """Stop it soon; the result is not wanted."""
        self._cancelled = True

    def wait(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _work(self) -> None:
        try:
            with _beside_the_window(), watched_by(self._watch):
                self.result = self._make()
        except _CancelledError:
            pass
        except ViewerError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - an exception would silently end the thread
            self.error = ViewerError(f"a fault of the program, {type(error).__name__}: {error}")

    def _watch(self, what: str, done: int, total: int) -> None:
        """Note the progress; the only places where it can be stopped."""
        if self._cancelled:
            raise _CancelledError
        if what in self._shares:
            earlier = list(self._shares).index(what)
            start = sum(list(self._shares.values())[:earlier])
            self.part = max(self.part, start + self._shares[what] * done / total)


class LayerWorker:
    """Solves the blocks of long layers that are not known yet, the nearest to the frame shown first.

    One block at a time is solved, in a thread of its own; `tick` takes it over. Until then its frames are the clip's.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._take: Take | None = None
        self._works: list[LayerWork] = []
        self._known: dict[str, Stretch] = {}
        self._solving: tuple[LayerWork, int, LongWork[Stretch]] | None = None

    @property
    def part(self) -> float:
        """The part of the blocks of long layers that is solved, 0 to 1."""
        total = sum(len(work.digests) for work in self._works)
        return 1.0 - self.missing / total if total else 1.0

    @property
    def missing(self) -> int:
        """Number of blocks that are still to be solved."""
        return sum(len(work.missing) for work in self._works)

    def tick(self) -> State | None:
        """The state with what was solved since, or None; begins another block if there is one."""
        document = self._stage.document
        if document.take is not self._take:
            self._take, self._works = document.take, unsolved(document)
        if self._solving is not None and not self._solving[2].busy:
            self._note(*self._solving)
            self._solving = None
        missing = [work.digests[block] for work in self._works for block in work.missing]
        ready = [self._known[digest] for digest in missing if digest in self._known]
        if ready:
            for work in self._works:
                work.missing = [block for block in work.missing if work.digests[block] not in self._known]
            for stretch in ready:
                document = with_stretch(document, stretch)
            self._take = document.take
        self._works = [work for work in self._works if work.missing]
        if self._works and self._solving is None:
            work = self._works[0]
            block = work.nearest(document.frame)
            self._solving = work, block, LongWork(partial(work.stretch, block), {})
        return self._stage.replayed(document) if ready else None

    def _note(self, work: LayerWork, block: int, solved: LongWork[Stretch]) -> None:
        if solved.result is None:  # its frames stay the clip's; exporting reports the error
            work.missing = [other for other in work.missing if other != block]
            return
        self._known[solved.result.digest] = solved.result
        while len(self._known) > _BLOCKS_KEPT:
            del self._known[next(iter(self._known))]


@dataclass(frozen=True, slots=True, eq=False)
class LabProblem:
    """What all methods solve.

    The skeleton has the limits that bind; in a planar document it is that of its ``rig``. There is at least one goal;
    the method and the iterations of the options do not count.
    """

    skeleton: Skeleton
    goals: tuple[Goal, ...]
    start: Pose
    options: Options
    rig: PlanarRig | None = None

    def same_as(self, other: LabProblem | None) -> bool:
        """Whether the answers would be the same."""
        return other is not None and (
            (self.skeleton is other.skeleton and self.goals == other.goals and self.options == other.options)
            and (self.start is other.start or self.start.same_as(other.start))
        )

    def in_plane(self, jacobian: Jacobian) -> Jacobian:
        """The rows that a planar document can change, without those across its plane, which are always zero."""
        if self.rig is None:
            return jacobian
        across = int(np.abs(np.cross(*self.rig.across)).argmax())
        left_out = {part for i, part in enumerate("xyz") if i == across}
        left_out |= {f"r{part}" for i, part in enumerate("xyz") if i != across}
        keep = [i for i, name in enumerate(jacobian.rows) if name.rpartition(".")[2] not in left_out]
        rows = tuple(jacobian.rows[i] for i in keep)
        return replace(jacobian, matrix=jacobian.matrix[keep], residuals=jacobian.residuals[keep], rows=rows)

    def shown(self, pose: Pose) -> Pose:
        """The document's pose for one of the problem's."""
        return pose if self.rig is None else self.rig.lowered(pose)


def lab_problem(document: Document, start: Pose, priority: Priority | None = None) -> LabProblem | None:
    """The problem of a document's goals from a pose of its skeleton; None without goals.

    ``priority`` is that of a drag's goals; a goal alone keeps its weight.
    """
    asked = {name: goal for name, goal in document.solver_goals().items() if goal.enabled}
    goals = tuple((priority.among(asked) if priority is not None and len(asked) > 1 else asked).values())
    if not goals:
        return None
    options = document.solver.options(limits=document.limits_on)
    contact = solver_contact(document.contact, document.skeleton)
    options = replace(options, preferred=None, contact=contact, ground=document.floor, exact=False)
    rig = rig_of(document)
    skeleton = solved_skeleton(document, rig, frozenset(), options.root)
    return LabProblem(skeleton, goals, start if rig is None else rig.lifted(start), options, rig)


class _StaleError(Exception):
    """The problem has changed."""


class _Outcome(NamedTuple):
    """What a method made of a problem: its trace, or ``why`` it refuses it; ``number`` counts the problems asked."""

    number: int
    problem: LabProblem
    trace: Trace | None
    why: str


class LabWorker:
    """Solves the newest problem by all methods, one after the other, in a thread of its own.

    During a drag, goals move while the methods that run on numpy work. Each finishes the problem that it began, so that
    all have results; between their iterations, the compiled methods solve the newest problem.

    The traces are of ``problem``, None before the first; ``iterations`` of each method at most; ``revision`` increases
    with every trace.
    """

    def __init__(self) -> None:
        self.problem: LabProblem | None = None
        self.iterations, self.revision = ITERATIONS, 0
        self._outcomes: dict[MethodName, _Outcome] = {}
        self._answers: dict[MethodName, tuple[int, LabProblem, Solver, Solution]] = {}
        self._wanted: tuple[int, LabProblem, tuple[MethodName, ...], int] | None = None
        self._asked = 0
        self._patient, self._ticked, self._apart = False, 0.0, _IDLE_S
        self._working = False
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def traces(self) -> Mapping[MethodName, Trace]:
        """By method; during a drag some may be those of the problem before."""
        return {name: one.trace for name, one in self._outcomes.items() if one.trace is not None}

    @property
    def traced(self) -> Mapping[MethodName, LabProblem]:
        """The problem of each method's trace, or that it refused."""
        return {name: one.problem for name, one in self._outcomes.items()}

    def answer(self, method: MethodName) -> tuple[LabProblem, Solution] | None:
        """A compiled method's solution of a newer problem than its trace's; None if the trace is the newest."""
        found, outcome = self._answers.get(method), self._outcomes.get(method)
        newer = found is not None and (outcome is None or found[0] > outcome.number)
        return (found[1], found[3]) if found is not None and newer else None

    @property
    def failed(self) -> Mapping[MethodName, str]:
        """Why methods refuse the problem, by method."""
        return {name: one.why for name, one in self._outcomes.items() if one.why and one.problem is self.problem}

    @property
    def busy(self) -> bool:
        """Whether it works, or is about to."""
        return self._working or self._wanted is not None

    def solve(self, problem: LabProblem, methods: tuple[MethodName, ...], *, patient: bool = False) -> None:
        """Solve a problem by these methods.

        Methods that the present problem has been solved by are not run again; ``patient``: goals are being dragged.
        """
        with self._changed:
            self._asked += 1
            self._wanted, self._patient = (self._asked, problem, methods, self.iterations), patient
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="laboratory", daemon=True)
                self._thread.start()
            self._changed.notify()

    def ticked(self) -> None:
        """Note that a frame of a drag begins."""
        now = time.perf_counter()
        self._ticked, self._apart = now, min(now - self._ticked, _IDLE_S)

    def wait(self, seconds: float) -> bool:
        """Wait until all is solved, at most ``seconds``; whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self.busy, seconds)

    def _between(self) -> None:
        if self._wanted is not None and not self._patient:
            raise _StaleError
        while self._patient:
            passed = time.perf_counter() - self._ticked
            if _BUSY_S < passed < _QUIET * self._apart or passed > _IDLE_S:
                if self._wanted is None or not self._answer(*self._wanted):
                    return
            else:  # one sleep a frame: each wake-up takes the interpreter from the window
                time.sleep(_BUSY_S - passed if passed <= _BUSY_S else max(self._apart - passed, 0.0) + _BUSY_S)

    def _answer(self, number: int, problem: LabProblem, methods: tuple[MethodName, ...], iterations: int) -> bool:
        """One solve by each compiled method that has not answered this problem; whether there was one."""
        asked = False
        for name in _COMPILED:
            before = self._answers.get(name)
            if name not in methods or name in self.failed or (before is not None and before[0] == number):
                continue
            options = replace(problem.options, method=name, max_iterations=iterations)
            solver = None if before is None else before[2]
            if solver is None or solver.skeleton is not problem.skeleton or solver.options != options:
                solver = Solver(problem.skeleton, problem.goals, **keywords_of(options))
            else:
                solver.goals = problem.goals
            with suppress(ViewerError):  # the trace reports it
                self._answers[name] = number, problem, solver, solver.solve(problem.start)
                self.revision += 1
                asked = True
        return asked

    def _work(self) -> None:
        while True:
            with self._changed:
                self._working = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._wanted is not None)
                assert self._wanted is not None
                (number, problem, methods, iterations), self._wanted = self._wanted, None
                self._working = True
            with _beside_the_window(), suppress(_StaleError):
                self._solve(number, problem, methods, iterations)

    def _solve(self, number: int, problem: LabProblem, methods: tuple[MethodName, ...], iterations: int) -> None:
        self.problem = problem
        for name in sorted(methods, key=lambda name: (name not in _COMPILED, methods.index(name))):
            done = self._outcomes.get(name)
            trace = None if done is None or not problem.same_as(done.problem) else done.trace
            if done is not None and trace is not None and trace.solver.options.max_iterations == iterations:
                self._outcomes = {**self._outcomes, name: done._replace(number=number)}
                continue
            trace, why = None, ""
            try:
                trace = self._trace(problem, name, iterations)
            except ViewerError as error:
                why = str(error)
            except _StaleError:
                raise
            except Exception as error:  # noqa: BLE001 - a fault in one method must not end the thread
                why = f"a fault of the program, {type(error).__name__}: {error}"
            # Another thread reads the outcomes, so they are replaced, not changed.
            self._outcomes = {**self._outcomes, name: _Outcome(number, problem, trace, why)}
            self.revision += 1

    def _solver_like(self, problem: LabProblem, name: MethodName, iterations: int) -> Solver | None:
        """The solver of the previous problem, if only the goals differ, as during a whole drag."""
        before = self._outcomes.get(name)
        if before is None or before.trace is None or before.trace.solver.skeleton is not problem.skeleton:
            return None
        options = replace(problem.options, method=name, max_iterations=iterations)
        solver = before.trace.solver
        return solver if solver.options == options else None

    def _trace(self, problem: LabProblem, name: MethodName, iterations: int) -> Trace:
        # The first run of compiled code may load it; during a drag, times do not matter.
        repeats = 2 if name in _COMPILED and not self._patient else 1
        # Numbers that overflow end a method as "diverged", without a warning on the console.
        with np.errstate(all="ignore"):
            return trace_of(
                problem.skeleton,
                problem.goals,
                name,
                problem.start,
                iterations=iterations,
                repeats=repeats,
                between=self._between,
                like=self._solver_like(problem, name, iterations),
                **keywords_of(problem.options),
            )


@dataclass(frozen=True, slots=True, eq=False)
class Job(Generic[T]):
    """Work in a thread, and the functions that handle its result.

    Attributes:
        work: makes the result.
        title: of its card.
        hint: the effect of its button *Cancel*.
        is_current: whether its input is still unchanged.
        take_over: shows the result.
        outdated: called instead if it is no longer current.
        failed: called with the error.
        cancelled: called when the user cancels it.
    """

    work: LongWork[T]
    title: str
    hint: str
    is_current: Callable[[], bool]
    take_over: Callable[[T], None]
    outdated: Callable[[], None]
    failed: Callable[[ViewerError], None]
    cancelled: Callable[[], None]


class Background:
    """The jobs under way, at most one of each name."""

    def __init__(self, waits: Callable[[], bool]) -> None:
        """Start without jobs; finished results are not taken over while it ``waits``."""
        self._waits = waits
        self.jobs: dict[JobName, Job[Any]] = {}

    def is_under_way(self, name: JobName) -> bool:
        """Whether there is such a job."""
        return name in self.jobs

    def start(self, name: JobName, job: Job[Any]) -> None:
        """Start a job, in place of the one with this name."""
        self.drop(name)
        self.jobs[name] = job

    def drop(self, name: JobName) -> None:
        """Stop a job, if there is one, and drop its result."""
        job = self.jobs.pop(name, None)
        if job is not None:
            job.work.cancel()

    def cancel(self, name: JobName) -> None:
        """Stop a job as the user asked."""
        job = self.jobs[name]
        self.drop(name)
        job.cancelled()

    def cancel_all(self) -> None:
        """Stop all jobs as the user asked."""
        for name in tuple(self.jobs):
            self.cancel(name)

    def close(self) -> None:
        """Stop all jobs, as the window closes."""
        for name in tuple(self.jobs):
            self.drop(name)

    def tick(self) -> None:
        """Take over finished results."""
        if self._waits():
            return
        for name, job in tuple(self.jobs.items()):
            if not job.is_current():
                self.drop(name)
                job.outdated()
            elif not job.work.busy:
                self.drop(name)
                if job.work.error is not None:
                    job.failed(job.work.error)
                else:
                    job.take_over(job.work.result)
