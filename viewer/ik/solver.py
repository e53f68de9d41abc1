"""The solver: all goals of a skeleton in one solve; and compiling its kernels without blocking the program."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Unpack

from numpy.typing import ArrayLike

from viewer.errors import ViewerError, plural
from viewer.ik import backends
from viewer.ik.backends import compile_elsewhere
from viewer.ik.batch import Batches, BatchSolution
from viewer.ik.diagnosis import Nearest
from viewer.ik.drag import Drag
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian, jacobian_of
from viewer.ik.prepared import Foundation, Prepared
from viewer.ik.runs import OneShot, Runs
from viewer.ik.solution import Solution
from viewer.ik.solver_options import (
    Options,
    SolverOptions,
    checked_goals,
    keywords_of,
    not_to_be_set,
    options_of,
    signature_of,
)
from viewer.ik.system import State
from viewer.locks import lock, remove_if_free
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.character import check_skeleton
from viewer.skeleton.pose import Reduced


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
        """Prepare what depends on the skeleton and the goals."""
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
            self._batches = Batches(self._one_shot)

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
        """Its method, goals and joints."""
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
            steps.append(runs.stopped_at(prepared.workspace, state, start, settled, report))
    else:
        for n in range(1, last.iterations):
            between()
            steps.append(stopped_after(n))
    return (*steps, last)


_LONGEST_WAIT_S = 600.0
"""After this time a compiler counts as stuck, and another one starts."""


def load() -> None:
    """Compile the kernels, or load them from the cache on disk, and let "auto" solvers of this process use them."""
    from viewer.ik.goals import Goal
    from viewer.skeleton.tree import chain

    skeleton = chain(2)
    solver = Solver(skeleton, [Goal.position("tip", (0.5, 0.5, 0.0))], backend="numba")
    pose = skeleton.relaxed_pose()
    solver.solve(pose)
    solver.solve_batch([pose], threads=1)
    backends.compiled_is_ready()


def compile_all(*, quietly: bool = False) -> None:
    """Compile the kernels in this process, for the cache on disk; wait first for another process that does so.

    Args:
        quietly: at low priority, which only others of low priority wait for.
    """
    if quietly and hasattr(os, "nice"):
        os.nice(10)
    backends.compile_here()
    from viewer.ik.compiled import numba_engine

    with nullcontext() if numba_engine.in_cache() else _alone_in(numba_engine.cache_folder(), quietly=quietly):
        load()  # from the cache, if another process has compiled meanwhile


@contextmanager
def _alone_in(folder: Path | None, *, quietly: bool) -> Iterator[None]:
    """Let one process at a time run the block; none waits for a killed one, nor for one of lower priority."""
    if folder is None:
        yield
        return
    if quietly:
        with _alone_in(folder, quietly=False):  # waits for one of normal priority
            pass
    path = folder / ("ikviewer-kernels-quiet.lock" if quietly else "ikviewer-kernels.lock")
    held = None
    with suppress(OSError):
        held = lock(path, wait_s=_LONGEST_WAIT_S)
    try:
        yield
    finally:
        if held is not None:
            held.close()
            remove_if_free(path)


def warm_up(*, wait: bool = True, then: Callable[[], None] | None = None) -> threading.Thread:
    """Compile the kernels in another process, at low priority, and load them from the cache on disk.

    "auto" solvers use numpy until then: about 20 seconds the first time on a machine, one second later.

    Args:
        wait: whether to return when it is done, or at once.
        then: called when it is done, in the thread that did it.

    Returns:
        The thread that waits for the other process. If that fails, "auto" stays with numpy.
    """

    def work() -> None:
        # If either process fails, without numba or a writable disk, solvers keep numpy.
        with suppress(ViewerError):
            if compile_elsewhere(quietly=True):
                load()
        if then is not None:
            then()

    thread = threading.Thread(target=work, name="ikviewer-warm-up", daemon=True)
    thread.start()
    if wait:
        thread.join()
    return thread
