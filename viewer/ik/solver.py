"""The solver: all goals of a skeleton in one solve, in a drag, or in many solves at once on all cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.errors import InputError, plural
from viewer.ik.assemble import Assembly
from viewer.ik.backends import Engine, engine_for
from viewer.ik.buffers import Buffers, Targets, checked_start, numbers
from viewer.ik.diagnosis import Nearest
from viewer.ik.drag import Drag
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian, jacobian_of
from viewer.ik.levenberg_marquardt import CONVERGED
from viewer.ik.prepared import Foundation, Prepared
from viewer.ik.reach import Reach
from viewer.ik.runs import OneShot, Runs, judged, longer, sought_again
from viewer.ik.solution import STATUS_OF_CODE, Solution, Status, spread_misses
from viewer.ik.solver_options import (
    DEFAULT,
    Options,
    SolverOptions,
    checked_goals,
    keywords_of,
    not_to_be_set,
    options_of,
    signature_of,
)
from viewer.ik.system import Many, Settings, State, make_many
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.character import check_skeleton, wrong_kind
from viewer.spatial.checks import Bools, Floats, Ints, Reduced, frozen, whole


class Solver:
    """Poses a skeleton so that all goals are met at once, inside the joint limits.

    Only its goals can be set; other options need another solver. Threads may share one: their solves take turns.
    `solve_batch` solves many problems at a time.

    Args:
        skeleton: the joints.
        goals: any number of `Goal`; disabled ones are ignored.
        options: the attributes of `viewer.ik.solver_options.Options`, as keywords.

    Raises:
        InputError: an unknown name, a number out of range, no goals at all.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], **options: Unpack[SolverOptions]) -> None:
        check_skeleton(skeleton)
        self._foundation = Foundation.of(skeleton, options_of(options))
        self._prepared: Prepared | None = None
        self.goals = goals

    @property
    def skeleton(self) -> Skeleton:
        """The joints."""
        return self._foundation.skeleton

    @property
    def options(self) -> Options:
        """The options."""
        return self._foundation.options

    @property
    def prepared(self) -> Prepared:
        """The goals as arrays: for code of this package, which may change from version to version."""
        assert self._prepared is not None
        return self._prepared

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals; setting them keeps everything that depends on the skeleton alone."""
        return self.prepared.grips.given

    @goals.setter
    def goals(self, goals: Sequence[Goal]) -> None:
        given = checked_goals(goals)
        with self._foundation.alone:
            self._prepared = Prepared(self._foundation, given, before=self._prepared)
            self._one_shot = OneShot(Runs(self._prepared), exact=self.options.exact)
            self._batches = _Batches(self._one_shot)

    def with_goals(self, goals: Sequence[Goal]) -> Solver:
        """Make a solver of the same skeleton and options with other goals, in a quarter of the usual time.

        Raises:
            InputError: no goals at all, or a goal for what the skeleton does not have.
        """
        other = object.__new__(type(self))
        other.__dict__.update(_foundation=self._foundation, _prepared=None)
        other.goals = goals
        return other

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse every attribute but the goals: setting it would have no effect."""
        if name != "goals" and not name.startswith("_"):
            raise AttributeError(not_to_be_set(name))
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        enabled = sum(goal.enabled for goal in self.goals)
        off = f" ({len(self.goals) - enabled} more off)" if enabled < len(self.goals) else ""
        goals = f"{plural(enabled, 'goal')}{off}"
        return f"<Solver: {self.options.method}, {goals}, {len(self.skeleton)} joints>"

    def __reduce__(self) -> Reduced:
        """Pickle and copy the solver by its arguments."""
        return _again, (type(self), self.skeleton, self.goals, self.options)

    def solve(
        self, pose: Pose, targets: ArrayLike | None = None, target_rotations: ArrayLike | None = None
    ) -> Solution:
        """One solve, from ``pose``.

        Args:
            pose: where to start; pins without a place hold what their joint has in it.
            targets: (G, 3) other targets for this call, one row per goal in order: where to be, the distance's
                ``from_``, the aim's point, or where ``to`` is in the effector's frame. NaN rows, and rows of goals
                without that part, are left as they are.
            target_rotations: (G, 4) other rotations for this call; NaN rows are left as they are, too.

        Raises:
            InputError: a pose of another skeleton, targets of another shape, infinite numbers, rotations that are none.
        """
        alone = self._foundation.alone
        alone.acquire()  # `with` takes as much longer as a step of an easy solve
        try:
            return self._one_shot.solve(pose, targets, target_rotations)
        finally:
            alone.release()

    def jacobian(
        self, pose: Pose, targets: ArrayLike | None = None, target_rotations: ArrayLike | None = None
    ) -> Jacobian:
        """How the goals' residuals change with the coordinates at a pose: (R, D) in metres and radians, with names.

        The pose is brought inside its limits first if these bind. Arguments and errors are those of `solve`.
        """
        prepared, options = self.prepared, self.options
        with self._foundation.alone:
            start, _ = prepared.starts.start(pose)
            settled = prepared.targets.settle(start, *prepared.grips.spread(targets, target_rotations))
            return jacobian_of(self.skeleton, prepared.goals, start, settled, limits=options.limits, root=options.root)

    def trace(
        self,
        pose: Pose,
        targets: ArrayLike | None = None,
        target_rotations: ArrayLike | None = None,
        *,
        between: Callable[[], None] = lambda: None,
    ) -> tuple[Solution, ...]:
        """A solve step by step: what it would return if it stopped after 0, 1, 2, ... iterations.

        The last one is what `solve` returns (without ``exact``). Methods that pass through these poses, such as "ccd"
        or "sdls", are solved once. The default method, "dls", "two-link" and "single-bone" take as many solves as
        there are iterations. Arguments and errors are those of `solve`.

        Args:
            pose: where to start.
            targets: (G, 3), as in `solve`.
            target_rotations: (G, 4), as in `solve`.
            between: called between iterations or solves; it may raise to end the work.
        """
        with self._foundation.alone:
            return _traced(self.prepared, pose, targets, target_rotations, between)

    def drag(self, pose: Pose) -> Drag:
        """A drag that begins at ``pose``: warm-started steps, anchored to it; see `Drag`."""
        with self._foundation.alone:
            return Drag(self.prepared, pose)

    def solve_batch(
        self,
        poses: Sequence[Pose] | Pose,
        targets: ArrayLike | None = None,
        target_rotations: ArrayLike | None = None,
        *,
        threads: int | None = None,
    ) -> BatchSolution:
        """N solves on all cores; each result is that of `solve`, whatever the number of threads.

        Args:
            poses: N start poses, or one for all.
            targets: (N, G, 3), as in `solve`.
            target_rotations: (N, G, 4), as in `solve`.
            threads: at most; None: one per core.

        Raises:
            InputError: as `solve`; methods other than "default" and "dls", function goals, numeric rows.
        """
        return self._batches.solve(poses, targets, target_rotations, threads)


setattr(Solver, "__signature__", signature_of(Solver.__init__))  # noqa: B010 - types know nothing of it; `inspect` looks there


def _again(kind: type[Solver], skeleton: Skeleton, goals: tuple[Goal, ...], options: Options) -> Solver:
    """A copy with arrays of its own, for pickle."""
    return kind(skeleton, goals, **keywords_of(options))


def _traced(
    prepared: Prepared,
    pose: Pose,
    targets: ArrayLike | None,
    target_rotations: ArrayLike | None,
    between: Callable[[], None],
) -> tuple[Solution, ...]:
    """As `Solver.trace`."""
    nearest = Nearest(prepared.skeleton, prepared.goals, prepared.options)
    passed: list[tuple[State, float]] = []
    began = time.perf_counter()

    def watch(_: int, state: State) -> None:
        passed.append((State(state.x.copy(), state.q.copy(), state.t.copy(), state.e), time.perf_counter() - began))
        between()

    def stopped_after(iterations: int) -> Solution:
        runs = Runs(prepared, prepared.settings._replace(max_iterations=iterations), nearest=nearest)
        return OneShot(runs, exact=False).solve(pose, targets, target_rotations)

    runs = Runs(prepared, watch=watch, nearest=nearest)
    last = OneShot(runs, exact=False).solve(pose, targets, target_rotations)
    steps = [stopped_after(0)] if last.iterations else []
    if len(passed) >= last.iterations > 0 and not prepared.grips.found:
        start, _ = prepared.starts.start(pose)
        settled = prepared.targets.settle(start, *prepared.grips.spread(targets, target_rotations))
        for n, (state, seconds) in enumerate(passed[: last.iterations - 1], 1):
            between()
            report = last.report._replace(iterations=n, seconds=seconds)
            steps.append(runs.stopped_at(prepared.buffers, state, start, settled, report))
    else:
        for n in range(1, last.iterations):
            between()
            steps.append(stopped_after(n))
    return (*steps, last)


@dataclass(frozen=True, slots=True, eq=False)
class BatchSolution:
    """The results of N solves; see `Solution`.

    Attributes:
        rotations: (N, J, 4) local.
        translations: (N, J, 3) local, metres.
        status: (N,) `Status` of each, as objects: ``status == "converged"`` is an array, too.
        errors_m: (N, G) NaN where a goal has no length.
        errors_deg: (N, G) NaN where it has no angle.
        iterations: (N,).
    """

    rotations: Floats
    translations: Floats
    status: NDArray[np.object_]
    errors_m: Floats
    errors_deg: Floats
    iterations: Ints

    def __repr__(self) -> str:
        """Its size and how many are met: the arrays would fill pages."""
        met = int(np.count_nonzero(self.status == Status.CONVERGED))
        return f"<BatchSolution: {met} of {len(self.status)} converged>"

    def pose(self, index: int) -> Pose:
        """The pose of one problem."""
        return Pose.trusted(frozen(self.rotations[index]), frozen(self.translations[index]))


_CHUNK = 100
"""Problems that a thread takes at a time, at least."""
_SHARES = 16
"""Chunks that each thread takes of a large batch."""
_ALONE = 4096
"""Problems of a chunk where there is only one thread: more would only take more memory."""
_STATUSES = np.array(STATUS_OF_CODE, dtype=np.object_)


class _Batches:
    """The batches of prepared goals, solved one at a time by ``one_shot``."""

    def __init__(self, one_shot: OneShot) -> None:
        self._one_shot, self._prepared = one_shot, one_shot.prepared
        self._runs: dict[Settings, _BatchRun] = {}

    def solve(
        self,
        poses: Sequence[Pose] | Pose,
        targets: ArrayLike | None,
        target_rotations: ArrayLike | None,
        threads: int | None,
    ) -> BatchSolution:
        """As `viewer.ik.solver.Solver.solve_batch`."""
        prepared = self._prepared
        options, settings = prepared.options, prepared.settings
        if prepared.needs_numpy:
            raise InputError('solve_batch: expected the method "default" or "dls", built-in goals and analytic rows')
        if threads is not None:
            whole(threads, "threads", least=1)
        starts = _checked_starts(prepared.skeleton, poses)
        if prepared.grips.adds:
            return self._one_by_one(starts, targets, target_rotations)
        places, turns = _settled(prepared.targets, starts, targets, target_rotations)
        begun, (rotations, translations) = prepared.starts.stacked(*_stacked(starts))
        run = self._run(prepared.assembly, settings, exact=options.exact)
        solved, missed = run.solve(rotations, translations, places, turns, threads=threads)
        for i in np.flatnonzero(solved.status == Status.UNREACHABLE).tolist() if options.method != DEFAULT else ():
            stopped = Status.BUDGET if solved.iterations[i] >= settings.max_iterations else Status.STALLED
            solved.status[i] = judged(prepared, Status.UNREACHABLE, stopped, (places[i], turns[i]), solved.pose(i))
        again = sought_again(prepared, settings)
        left = np.flatnonzero(missed & np.isin(solved.status, again))
        if len(left):
            search = self._run(prepared.reseeded[0], longer(settings), exact=False)
            turned, moved = (part if len(part) == 1 else part[left] for part in (rotations, translations))
            _take_met(solved, left, search.solve(turned, moved, places[left], turns[left], threads=threads)[0])
        if options.exact:
            idle = prepared.starts.idle_of(np.asarray(solved.status != Status.CONVERGED))
            for answer, start in zip((solved.rotations, solved.translations), begun, strict=True):
                answer[idle] = np.broadcast_to(start, answer.shape)[idle]
        return solved

    def _run(self, assembly: Assembly, settings: Settings, *, exact: bool) -> _BatchRun:
        """What solves batches of these arrays: kept, as the next batch uses its scratch again."""
        engine, _ = engine_for(self._prepared.options.backend)
        run = self._runs.get(settings)
        if run is None or run.engine is not engine:
            prepared = self._prepared
            run = _BatchRun(prepared.skeleton, assembly, engine, settings, prepared.reach, exact=exact)
            self._runs[settings] = run
        return run

    def _one_by_one(
        self, starts: Sequence[Pose] | Pose, targets: ArrayLike | None, turns: ArrayLike | None
    ) -> BatchSolution:
        """A batch of goals some of which are grips: whether fingers are on an object is measured in numpy."""
        own = Targets(self._prepared.skeleton, self._prepared.grips.given)
        places, rotations = _settled(own, starts, targets, turns)
        poses = [starts] * len(places) if isinstance(starts, Pose) else starts
        with self._prepared.foundation.alone:
            found = [self._one_shot.solve(*one) for one in zip(poses, places, rotations, strict=True)]
        return BatchSolution(
            *_stacked([one.pose for one in found]),
            np.array([one.status for one in found], dtype=np.object_),
            np.array([one.errors_m for one in found]),
            np.array([one.errors_deg for one in found]),
            np.array([one.iterations for one in found]),
        )


def _checked_starts(skeleton: Skeleton, poses: Sequence[Pose] | Pose) -> Sequence[Pose] | Pose:
    """The poses of a batch; an InputError without any, or for one that is not a pose of the skeleton."""
    if isinstance(poses, Pose):
        return checked_start(skeleton, poses)
    found: object = poses
    if not isinstance(found, Iterable):
        raise wrong_kind(found, "a pose or a list of poses", "solve_batch: ")
    starts = [checked_start(skeleton, pose) for pose in poses]
    if not starts:
        raise InputError("solve_batch: expected at least one pose, found none")
    return starts


def _stacked(poses: Sequence[Pose] | Pose) -> tuple[Floats, Floats]:
    """Start poses as (N, J, 4) and (N, J, 3), or (1, ...) if there is one for all."""
    if isinstance(poses, Pose):
        return poses.rotations[None], poses.translations[None]
    return np.stack([pose.rotations for pose in poses]), np.stack([pose.translations for pose in poses])


def _settled(
    targets: Targets, poses: Sequence[Pose] | Pose, given: ArrayLike | None, turns: ArrayLike | None
) -> tuple[Floats, Floats]:
    """Settled targets (N, G, 3) and (N, G, 4) of all problems; see `Targets.settle` for one.

    Raises:
        InputError: as there; other numbers of problems in the arguments.
    """
    goals = len(targets.goals)
    places = None if given is None else numbers(given, (-1, goals, 3), "solve_batch: targets")
    rotations = None if turns is None else numbers(turns, (-1, goals, 4), "solve_batch: target rotations")
    sizes = {len(array) for array in (places, rotations) if array is not None}
    if not isinstance(poses, Pose):
        sizes.add(len(poses))
    if len(sizes) > 1 or sizes == {0}:
        found = " and ".join(str(size) for size in sorted(sizes))
        raise InputError(f"solve_batch: expected as many poses (or one) as rows of targets, and some; found {found}")
    count = sizes.pop() if sizes else 1
    if not targets.opened:
        return targets.settle_rows(count, places, rotations)
    starts = [poses] * count if isinstance(poses, Pose) else poses
    settled = [
        targets.settle(start, None if places is None else places[i], None if rotations is None else rotations[i])
        for i, start in enumerate(starts)
    ]
    return np.stack([place for place, _ in settled]), np.stack([turn for _, turn in settled])


def _take_met(solved: BatchSolution, places: Ints, other: BatchSolution) -> None:
    """Take the results that are met of another batch, whose problems are those at ``places``; add iterations."""
    met = np.asarray(other.status == Status.CONVERGED)
    for mine, theirs in (
        (solved.rotations, other.rotations), (solved.translations, other.translations), (solved.status, other.status),
        (solved.errors_m, other.errors_m), (solved.errors_deg, other.errors_deg),
    ):  # fmt: skip
        mine[places[met]] = theirs[met]
    solved.iterations[places] += other.iterations


class _BatchRun:
    """Solves batches: threads take chunks of problems, each with arrays of its own, which the next one takes again."""

    def __init__(
        self, skeleton: Skeleton, assembly: Assembly, engine: Engine, settings: Settings, reach: Reach, *, exact: bool
    ) -> None:
        self.skeleton, self.assembly, self.engine = skeleton, assembly, engine
        self.settings, self.reach, self.exact = settings, reach, exact
        self._buffers: dict[int, list[Buffers]] = {}

    def solve(
        self, rotations: Floats, translations: Floats, places: Floats, turns: Floats, *, threads: int | None = None
    ) -> tuple[BatchSolution, Bools]:
        """Solve all.

        ``rotations`` (N, J, 4) and ``translations`` (N, J, 3), metres: where to start, of length 1 where all start
        there; ``places`` and ``turns``: settled; ``threads``: at most.

        Returns:
            The answers, and (N,) whether restarts have missed a problem's goals that geometry does not exclude.
        """
        count, goals = len(places), self.assembly.goals
        many = make_many(self.assembly.system, count)
        answer = np.empty((count, *rotations.shape[1:])), np.empty((count, *translations.shape[1:]))
        starts = (np.broadcast_to(rotations, answer[0].shape), np.broadcast_to(translations, answer[1].shape))
        many.again[1:] = len(rotations) == 1
        workers = min(threads or os.cpu_count() or 1, -(-count // _CHUNK))
        # Large enough that the cost of a chunk is small, small enough that all threads end together.
        size = max(_CHUNK, -(-count // (_SHARES * workers))) if workers > 1 else min(count, _ALONE)
        chunks = [slice(first, first + size) for first in range(0, count, size)]
        solve_chunk = partial(self._chunk, many, starts, (places, turns), answer)
        if workers == 1:
            for chunk in chunks:
                solve_chunk(chunk)
        else:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(solve_chunk, chunks))
        lengths = {len(range(count)[chunk]) for chunk in chunks}
        self._buffers = {length: kept[:workers] for length, kept in self._buffers.items() if length in lengths}
        status = _STATUSES[many.code]
        failed = np.flatnonzero(many.code != CONVERGED).tolist()
        missed = np.zeros(count, dtype=np.bool_)
        for i in failed:
            status[i], missed[i] = self._status(many, i)
        if self.exact:
            self._go_back(many, starts, answer, failed)
        errors_m, errors_deg = spread_misses(self.assembly.system, goals, places.shape[1], many.miss)
        return BatchSolution(*answer, status, errors_m, errors_deg, many.iterations), missed

    def _chunk(
        self,
        many: Many,
        starts: tuple[Floats, Floats],
        targets: tuple[Floats, Floats],
        answer: tuple[Floats, Floats],
        chunk: slice,
    ) -> None:
        """Solve some of the problems; each thread also prepares and finishes the arrays of its chunk."""
        count = len(many.code[chunk])
        kept = self._buffers.setdefault(count, [])
        try:
            buffers = kept.pop()
        except IndexError:  # one for each thread
            buffers = Buffers(self.skeleton, self.assembly, count)
        part = buffers.one
        np.copyto(part.again, many.again[chunk])
        part.again[0] = False
        for start, begin in zip(starts, (part.q, part.t), strict=True):
            # A problem with the start of the one before it does not read its own.
            some = ~part.again
            begin[some] = start[chunk][some][:, self.assembly.joints]
        for given, taken in zip(targets, (part.target, part.rotation), strict=True):
            np.take(given[chunk], self.assembly.goals, axis=1, out=taken, mode="clip")
        self.engine.solve_batch(buffers, self.settings, onward=False)
        for all_of_them, some_of_them in zip(many, buffers.one, strict=True):
            all_of_them[chunk] = some_of_them
        for start, end, found in zip(starts, (buffers.one.q, buffers.one.t), answer, strict=True):
            found[chunk] = start[chunk]
            found[chunk, self.assembly.joints] = end
        kept.append(buffers)

    def _status(self, many: Many, i: int) -> tuple[Status, bool]:
        """The status of one `Solver.solve`: unreachable where geometry or restarts show it; whether restarts miss."""
        status = STATUS_OF_CODE[int(many.code[i])]
        if status is not Status.CONVERGED:
            if self.assembly.spared.any() and not self.assembly.fails(many.miss[i], float(many.overlap[i])):
                return Status.CONVERGED, False
            system = self.assembly.system._replace(goal_target=many.target[i], goal_rotation=many.rotation[i])
            if self.reach.out_of_reach(system, many.q[i], many.t[i]):
                return Status.UNREACHABLE, False
        return status, status in (Status.UNREACHABLE, Status.STALLED)

    def _go_back(
        self, many: Many, starts: tuple[Floats, Floats], answer: tuple[Floats, Floats], failed: list[int]
    ) -> None:
        """Exact or nothing: the answers of problems that failed become their start poses."""
        buffers, joints = Buffers(self.skeleton, self.assembly), self.assembly.joints
        for i in failed:
            buffers.one.target[0], buffers.one.rotation[0] = many.target[i], many.rotation[i]
            outside = buffers.go_back(Pose.trusted(starts[0][i], starts[1][i]))
            answer[0][i], answer[1][i] = starts[0][i], starts[1][i]
            if outside:
                answer[0][i, joints], answer[1][i, joints] = buffers.state.q, buffers.state.t
            many.miss[i] = buffers.work.miss
