"""The solver: all goals of a skeleton in one solve."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, plural
from viewer.ik.arm_search import is_arm
from viewer.ik.assemble import Assembly, assemble, same_rows, with_goals
from viewer.ik.backends import engine_for
from viewer.ik.batch import BatchRun, BatchSolution, batch_targets, checked_starts, stacked
from viewer.ik.compiled.direct import Direct
from viewer.ik.contact.volumes import check_names, make_volumes
from viewer.ik.dof_table import dof_table_of
from viewer.ik.goals import KINDS, Goal
from viewer.ik.grips import Grips
from viewer.ik.jacobian import Jacobian, jacobian_of
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import EVERY_METHOD, UserRows, dls_settings
from viewer.ik.reach import Reach
from viewer.ik.return_to_start import GLIDE, ReturnToStart
from viewer.ik.runs import Runs
from viewer.ik.scaling import arm_joints, metric, principal, stands
from viewer.ik.solution import Solution, Status
from viewer.ik.solver_options import (
    DEFAULT,
    DLS,
    DRAGGING,
    INSIDE,
    Options,
    SolverOptions,
    checked_goals,
    keywords_of,
    not_to_be_set,
    options_of,
    seeds_for,
    serves_levels,
    signature_of,
    unserved_of,
)
from viewer.ik.start_projection import KindProjection, Preferred, Starts
from viewer.ik.system import Settings, State
from viewer.ik.targets import Targets
from viewer.ik.workspace import Workspace
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.arguments import check_skeleton
from viewer.skeleton.pose import Reduced
from viewer.spatial.checks import check_count

UNSERVED_PREFERENCE = "preferred pose"
"""The word of `Solution.unserved` for a preferred pose that the method does not support."""
UNSERVED_CONTACT = "contact"
"""The word for a contact that the method does not support."""
_CLOSED = 1e-4
"""Metres within which loops are closed; the tolerance of all goals of a skeleton with loops."""
UNSERVED_MIMICS = "joints that follow others"
"""The word for joints that the method does not move because others follow them, or they follow others."""
_OTHER_SEEDS = 3
"""Sets of seeds that are tried, too, before a goal that geometry does not exclude counts as missed."""
_MISSED = (Status.UNREACHABLE, Status.STALLED)
"""How solves end whose restarts have all missed a goal."""
_POSE_ROWS = 6
"""Residuals of a goal for a place and a rotation."""
UNSERVED_LEVELS = "levels"
"""The word for levels that the method does not distinguish."""


class Solver(Runs):
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
        self.__dict__.update(skeleton=skeleton, options=options_of(options))
        # Solves share scratch. A function goal that calls its own solver must not deadlock.
        self._alone = threading.RLock()
        self._watch = None
        natural = self.options.natural
        self._dofs = dof_table_of(
            skeleton,
            metric(skeleton) if natural else np.ones((len(skeleton), 3)),
            limits=self.options.limits,
            root=self.options.root,
            arms=arm_joints(skeleton) if natural else frozenset(),
            principal=principal(skeleton) if natural else None,
        )
        self._projection = KindProjection(skeleton)
        # Only the default method has a pull; of the others it is listed in `unserved`.
        preferred = Preferred.of(skeleton, self.options.preferred, self.options.preferred_weight)
        served = self.options.method == DEFAULT
        self._preferred = preferred if served else None
        self._unserved_preference = () if served or preferred is None else (UNSERVED_PREFERENCE,)
        contact = self.options.contact
        if contact is not None:
            check_names(skeleton, contact)
        index = np.argsort(self._dofs.depth_first)
        self._volumes = make_volumes(skeleton, contact, index) if contact and served else None
        self._unserved_contact = () if served or not contact else (UNSERVED_CONTACT,)
        self._stands = natural and self.options.root == "free" and stands(skeleton)
        self.goals = goals

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals; setting them keeps everything that depends on the skeleton alone."""
        return self._grips.given

    @goals.setter
    def goals(self, goals: Sequence[Goal]) -> None:
        given = checked_goals(goals)
        served = self.options.method == DEFAULT
        grips = Grips(self.skeleton, given, self.options.contact, served=served)
        with self._alone:
            if "assembly" in self.__dict__ and same_rows(grips.goals, self._goals):
                # Only targets and weights differ: everything else is kept.
                self._put(grips, with_goals(self.assembly, grips.goals, self._goals), kept=True)
            else:
                self._put(grips, self._assembled(grips.goals), kept=False)

    def _assembled(self, given: tuple[Goal, ...]) -> Assembly:
        """The arrays for goals."""
        metres = min(self.options.tolerance_m, _CLOSED) if self.skeleton.loops else self.options.tolerance_m
        tolerance = (INSIDE * metres, INSIDE * math.radians(self.options.tolerance_deg))
        assembly = assemble(
            self._dofs,
            given,
            tolerance,
            levels=serves_levels(given, self.options),
            contact=self._volumes,
            floor=self.options.floor,
        )
        if self.options.restarts:
            seeds = seeds_for(assembly.system, self.skeleton, self.options.seed)
            assembly = replace(assembly, system=assembly.system._replace(seeds=seeds))
        return assembly if self._preferred is None else self._preferred.with_pose(assembly)

    def _put(self, grips: Grips, assembly: Assembly, *, kept: bool) -> None:
        """Set goals; with ``kept`` the workspace is kept, too, with their targets and weights in it."""
        given = grips.goals
        targets = Targets(self.skeleton, given)
        self._goals, self._grips = given, grips
        self.__dict__.update(assembly=assembly, targets=targets)
        if kept:
            self._workspace.take_goals(assembly)
            if isinstance(self._workspace.direct, Direct):
                self._workspace.direct.take_targets(targets)
        else:
            self._workspace = Workspace(self.skeleton, assembly)
            self._reach = Reach(assembly.system)
            self._starts = Starts(
                self._projection, self.skeleton, assembly.joints, self._preferred, limits=self.options.limits
            )
        several = len({goal.level for goal in given if goal.enabled}) > 1 and not serves_levels(given, self.options)
        left_out = (UNSERVED_LEVELS,) if several else ()
        if assembly.system.leader.size and not EVERY_METHOD[self.options.method].has_jacobian:
            left_out = (*left_out, UNSERVED_MIMICS)
        self._unserved = (
            *unserved_of(grips.given, self.options.method),
            *self._unserved_preference,
            *self._unserved_contact,
            *left_out,
        )
        functions = [goal for goal in self._goals if goal.enabled and not KINDS[goal.kind].built_in]
        self._before_grips: Solver | None = None  # made by the first one-shot solve: drags do not need it
        self._reseeded: tuple[Assembly, Workspace] | None = None  # with other seeds, made when these are needed
        self._batches: dict[Settings, BatchRun] = {}  # likewise
        self._excluded = False
        self._extra = UserRows(self.skeleton, functions, float(assembly.system.scale[1])) if functions else None
        self._one_shot = self._settings()
        # The compiled kernels serve `default` and `dls` with the built-in goals; all else runs on numpy.
        self._needs_numpy = (
            self.options.method not in {DEFAULT, DLS} or self._extra is not None or self.options.tuning.own_rows
        )

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

    def __copy__(self) -> Solver:
        """Share the arrays: for a `Drag`, which has a workspace of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def __reduce__(self) -> Reduced:
        """Pickle and copy the solver by its arguments."""
        return _again, (type(self), self.skeleton, self.goals, self.options)

    @property
    def one_shot(self) -> Settings:
        """The settings of a one-shot solve under this solver's options."""
        return self._one_shot

    def _settings(self) -> Settings:
        settings = self.options.settings
        restarts = (
            min(settings.restarts, len(self.assembly.system.seeds) // CHOICE)
            if self.options.restarts and not self._grips.grips
            else 0
        )
        settings = settings._replace(
            max_iterations=self.options.max_iterations,
            restarts=restarts,
            stand=settings.stand or self._stands,
            settle=self._preferred is not None,
        )
        return self.recipe(settings)

    def recipe(self, settings: Settings) -> Settings:
        """The numbers of a solve as this solver's method has them."""
        return dls_settings(settings, self.options.tuning) if self.options.method == DLS else settings

    def spread(
        self, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Targets of a call, a row per goal that is solved: those of grips are their fingers'."""
        grips = self._grips
        if not grips.adds:
            return targets, target_rotations
        return grips.spread(targets, 3, "targets"), grips.spread(target_rotations, 4, "target rotations")

    def opens_loops(self, workspace: Workspace) -> bool:
        """Whether a loop of the skeleton is open in the pose of a workspace's last solve."""
        if not self._grips.loops:
            return False
        first = len(self._goals) - len(self._grips.loops)
        miss, tolerance = workspace.work.miss[workspace.goals >= first], workspace.system.tolerance
        return bool((miss[:, 0] > tolerance[0]).any() or (miss[:, 1] > tolerance[1]).any())

    def begin(self, pose: Pose) -> tuple[Pose, bool]:
        """A pose to start from: joints that take no part are inside their limits; whether one of them was not.

        Raises:
            InputError: a pose of another skeleton, infinite numbers, rotations that are none.
        """
        with self._alone:
            return self._starts.start(pose)

    def solve(
        self, pose: Pose, targets: ArrayLike | None = None, target_rotations: ArrayLike | None = None
    ) -> Solution:
        """One solve, from ``pose``.

        Args:
            pose: where to start; pins without a place hold what their joint has in it.
            targets: (G, 3) other targets for this call, one row per goal in order: where to be, the distance's
            ``from_``, the aim's point, or where ``to`` is in the effector's frame. NaN rows, and rows of goals without
                that part, are left as they are.
            target_rotations: (G, 4) other rotations for this call; NaN rows are left as they are, too.

        Raises:
            InputError: a pose of another skeleton, targets of another shape, infinite numbers, rotations that are none.
        """
        with self._alone:
            quick = None if self._grips.adds else self.from_known(pose, targets, target_rotations)
            if quick is not None and quick.status is Status.CONVERGED:
                return quick
            if quick is None:
                targets, target_rotations = self.spread(targets, target_rotations)
                quick = None if self._grips.found else self.from_unseen(pose, targets, target_rotations)
            start, outside = self.begin(pose)
            solution = (
                quick
                or self._gripping(start, targets, target_rotations)
                or self.towards(self._workspace, self._starts.drawn(start), targets, target_rotations, self._one_shot)
            )
            if solution.status in _MISSED:
                solution = self._sought_again(solution, start, targets, target_rotations)
            if self.options.exact and solution.status is not Status.CONVERGED:
                settled = self.targets.settle(start, targets, target_rotations)
                stayed = self._workspace.pose(start) if self._workspace.go_back(start) else start
                solution = self._solution(self._workspace, stayed, settled, solution.report)
            solution.start_outside |= outside
            return solution

    @property
    def _seeks_again(self) -> bool:
        """Whether goals that restarts miss are searched for from other seeds, too.

        They are where goals leave no degree of freedom, as with a six-axis arm, or where the pose of an arm's tool is
        given: limits often leave few poses that reach it, and restarts may miss them all. Otherwise whole families of
        poses meet the goals, and a search four times as long gains nothing.
        """
        if self.options.method != DEFAULT or self._grips.grips or self._one_shot.restarts == 0:
            return False
        system = self._workspace.system
        rows = int(np.sum(system.goal_lengths + system.goal_angles))
        return bool(rows >= np.count_nonzero(system.spread)) or (rows == _POSE_ROWS and is_arm(system))

    def _other_seeds(self) -> tuple[Assembly, Settings]:
        """The arrays with other seeds, and the settings of a longer search from these."""
        once = self._one_shot
        restarts, iterations = _OTHER_SEEDS * once.restarts, _OTHER_SEEDS * once.max_iterations
        return self._other_space()[0], once._replace(restarts=restarts, max_iterations=iterations)

    def _other_space(self) -> tuple[Assembly, Workspace]:
        """These arrays, and a workspace of them."""
        if self._reseeded is None:
            system, seed = self.assembly.system, self.options.seed
            sets = [seeds_for(system, self.skeleton, seed + number) for number in range(1, 1 + _OTHER_SEEDS)]
            assembly = replace(self.assembly, system=system._replace(seeds=np.concatenate(sets)))
            self._reseeded = assembly, Workspace(self.skeleton, assembly)
        return self._reseeded

    def _sought_again(
        self, solution: Solution, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> Solution:
        """Solve again, from other seeds, where restarts find no pose and geometry does not exclude one.

        Few of a robot's branches may lead to a goal, and all restarts may miss them. The iterations are those of both
        solves.
        """
        if not self._seeks_again or self._excluded:
            return solution
        _, settings = self._other_seeds()
        space = self._other_space()[1]
        found = self.towards(space, self._starts.drawn(start), targets, target_rotations, settings)
        both = found if found.status is Status.CONVERGED else solution
        both.iterations, both.seconds = solution.iterations + found.iterations, solution.seconds + found.seconds
        return both

    def _gripping(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution | None:
        """Solve with grips; None without grips.

        Other goals are met first, by a solve with restarts; from there the fingers close, unless they hold already.
        """
        if not self._grips.found:
            return None
        if not any(goal.enabled for goal in self._grips.others):
            return self._gripping_alone(start, targets, target_rotations) if self._grips.stays else None
        settled = self.targets.settle(start, targets, target_rotations)
        if self._before_grips is None:
            options = keywords_of(self.options)
            self._before_grips = Solver(self.skeleton, self._grips.others, **options)
        first = self._before_grips.solve(start, *settled)
        solution = self.run(self._workspace, first.pose, settled, self._one_shot._replace(max_iterations=0))
        if solution.status is Status.CONVERGED:
            solution = solution.with_pose(first.pose)  # without the last bits of limits and coordinates
        else:
            solution = self.run(self._workspace, first.pose, settled, self._one_shot)
        solution.iterations += first.iterations
        solution.seconds += first.seconds
        return solution

    def _gripping_alone(self, start: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None) -> Solution:
        """Solve with nothing but grips: hands close where they are or, where that is too far, move to the objects."""
        solution = self.run(
            self._workspace, start, self.targets.settle(start, targets, target_rotations), self._one_shot
        )
        if solution.status is Status.CONVERGED:
            return solution
        going, count = copy(self), len(self.goals)
        grips = Grips(self.skeleton, self.goals, self.options.contact, served=True, moves=True)
        going._put(grips, going._assembled(grips.goals), kept=False)  # noqa: SLF001 - of a copy
        rows = [None if some is None else np.asarray(some)[:count] for some in (targets, target_rotations)]
        gone = going.solve(start, *rows)
        gone.iterations += solution.iterations
        gone.seconds += solution.seconds
        return gone if gone.status is Status.CONVERGED else solution

    def jacobian(
        self, pose: Pose, targets: ArrayLike | None = None, target_rotations: ArrayLike | None = None
    ) -> Jacobian:
        """How the goals' residuals change with the coordinates at a pose: (R, D) in metres and radians, with names.

        The pose is brought inside its limits first if these bind. Arguments and errors are those of `solve`.
        """
        with self._alone:
            targets, target_rotations = self.spread(targets, target_rotations)
            start, _ = self.begin(pose)
            settled = self.targets.settle(start, targets, target_rotations)
            options = self.options
            return jacobian_of(self.skeleton, self._goals, start, settled, limits=options.limits, root=options.root)

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
        with self._alone:
            solver = copy(self)
            solver.__dict__["options"] = replace(self.options, exact=False)
            passed: list[tuple[State, float]] = []
            began = time.perf_counter()

            def watch(_: int, state: State) -> None:
                passed.append(
                    (State(state.x.copy(), state.q.copy(), state.t.copy(), state.e), time.perf_counter() - began)
                )
                between()

            solver._watch = watch  # noqa: SLF001 - of a copy
            last = solver.solve(pose, targets, target_rotations)
            solver._watch = None  # noqa: SLF001 - of a copy
            stopped_after = solver._stopped_after  # noqa: SLF001 - of a copy
            steps = [stopped_after(0, pose, targets, target_rotations)] if last.iterations else []
            if len(passed) >= last.iterations > 0 and not self._grips.found:
                start, _ = self.begin(pose)
                settled = self.targets.settle(start, *self.spread(targets, target_rotations))
                for n, (state, seconds) in enumerate(passed[: last.iterations - 1], 1):
                    between()
                    report = last.report._replace(iterations=n, seconds=seconds)
                    steps.append(self.stopped_at(self._workspace, state, start, settled, report))
            else:
                for n in range(1, last.iterations):
                    between()
                    steps.append(stopped_after(n, pose, targets, target_rotations))
            return (*steps, last)

    def _stopped_after(
        self, iterations: int, pose: Pose, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> Solution:
        """`solve` with another limit of iterations; for a copy that is used for nothing else."""
        self._one_shot = self._one_shot._replace(max_iterations=iterations)
        return self.solve(pose, targets, target_rotations)

    def drag(self, pose: Pose) -> Drag:
        """A drag that begins at ``pose``: warm-started steps, anchored to it; see `Drag`."""
        return Drag(self, pose)

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
        if self._needs_numpy:
            raise InputError('solve_batch: expected the method "default" or "dls", built-in goals and analytic rows')
        if threads is not None:
            check_count("threads", threads, least=1)
        starts = checked_starts(self.skeleton, poses)
        if self._grips.adds:
            return self._one_by_one(starts, targets, target_rotations)
        places, turns = batch_targets(self.targets, starts, targets, target_rotations)
        begun, (rotations, translations) = self._starts.stacked(*stacked(starts))
        run = self._batch_run(self.assembly, self.one_shot, exact=self.options.exact)
        solved, missed = run.solve(rotations, translations, places, turns, threads=threads)
        for i in np.flatnonzero(solved.status == Status.UNREACHABLE).tolist() if self.options.method == DLS else ():
            spent = solved.iterations[i] >= self.one_shot.max_iterations
            stopped = Status.BUDGET if spent else Status.STALLED
            solved.status[i] = self.judged(Status.UNREACHABLE, stopped, (places[i], turns[i]), solved.pose(i))
        left = np.flatnonzero(missed)
        if len(left) and self._seeks_again:
            again = self._batch_run(*self._other_seeds(), exact=False)
            turned, moved = (part if len(part) == 1 else part[left] for part in (rotations, translations))
            solved.take_met(left, again.solve(turned, moved, places[left], turns[left], threads=threads)[0])
        if self.options.exact:
            idle = self._starts.idle_of(np.asarray(solved.status != Status.CONVERGED))
            for answer, start in zip((solved.rotations, solved.translations), begun, strict=True):
                answer[idle] = np.broadcast_to(start, answer.shape)[idle]
        return solved

    def _batch_run(self, assembly: Assembly, settings: Settings, *, exact: bool) -> BatchRun:
        """What solves batches of these arrays; the last ones are kept, with theirs."""
        engine, _ = engine_for(self.options.backend)
        runs = self._batches
        run = runs.get(settings)
        if run is None or run.engine is not engine:
            run = runs[settings] = BatchRun(self.skeleton, assembly, engine, settings, self._reach, exact=exact)
        return run

    def _one_by_one(
        self, starts: Sequence[Pose] | Pose, targets: ArrayLike | None, turns: ArrayLike | None
    ) -> BatchSolution:
        """A batch of goals some of which are grips: whether fingers are on an object is measured in numpy."""
        places, rotations = batch_targets(Targets(self.skeleton, self.goals), starts, targets, turns)
        poses = [starts] * len(places) if isinstance(starts, Pose) else starts
        found = [self.solve(*one) for one in zip(poses, places, rotations, strict=True)]
        return BatchSolution(
            *stacked([one.pose for one in found]),
            np.array([one.status for one in found], dtype=np.object_),
            np.array([one.errors_m for one in found]),
            np.array([one.errors_deg for one in found]),
            np.array([one.iterations for one in found]),
        )


setattr(Solver, "__signature__", signature_of(Solver.__init__))  # noqa: B010 - types know nothing of it; `inspect` looks there


def _again(kind: type[Solver], skeleton: Skeleton, goals: tuple[Goal, ...], options: Options) -> Solver:
    """A copy with arrays of its own, for pickle."""
    return kind(skeleton, goals, **keywords_of(options))


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

    def __init__(self, solver: Solver, pose: Pose) -> None:
        """Begin; made by `Solver.drag`."""
        self.start, self._outside = solver.begin(pose)
        self.solution: Solution | None = None
        # Meanwhile the solver may get other goals and run other solves.
        self._solver = copy(solver)
        self._workspace = Workspace(solver.skeleton, solver.assembly)
        self._settings = DRAGGING
        self._returning: ReturnToStart | None = None
        self.glides = solver.built_in

    def move(
        self,
        targets: ArrayLike | None = None,
        *,
        target_rotations: ArrayLike | None = None,
        iterations: int = DEFAULT_ITERATIONS,
    ) -> Solution:
        """One step towards targets, as in `Solver.solve`, with a limit of iterations.

        Raises:
            InputError: invalid targets, fewer than 1 iteration.
        """
        check_count("iterations", iterations, least=1)
        if iterations != self._settings.max_iterations:
            self._settings = DRAGGING._replace(max_iterations=iterations)
        return self._go_on(targets, target_rotations, self._settings)

    def _go_on(self, targets: ArrayLike | None, target_rotations: ArrayLike | None, settings: Settings) -> Solution:
        """One step under these settings."""
        space, onward, returning = self._workspace, self.solution is not None, self._returning
        if returning is not None:
            returning.before()
        settings = self._solver.recipe(settings)
        targets, target_rotations = self._solver.spread(targets, target_rotations)
        space.work.room[0] = GLIDE if self.glides and onward else np.inf
        self.solution = self._solver.towards(space, self.start, targets, target_rotations, settings, onward=onward)
        for _ in range(_CLOSING if self._solver.opens_loops(space) else 0):
            # No pose may show an open loop, however far the targets jumped.
            space.work.room[0] = np.inf
            self.solution = self._solver.towards(space, self.start, targets, target_rotations, settings, onward=True)
            if not self._solver.opens_loops(space):
                break
        self.solution.start_outside |= self._outside
        if returning is not None:
            returning.after(self.solution.status)
        elif self._solver.built_in:
            self._returning = ReturnToStart(space)
        return self.solution

    def escape(self) -> Solution | None:
        """On release: a one-shot solve towards the last targets, if the drag stopped short of them.

        Restarts are allowed here, so a caller that shows the pose blends it in (`viewer.skeleton.relaxed.blend_poses`).

        Returns:
            A solution that meets all goals, or misses them by half as much in all or less; None where the drag met them
            itself, or no such pose is found.
        """
        last = self.solution
        if last is None or last.status is Status.CONVERGED:
            return None
        solver, dragged = self._solver, self._workspace
        places, turns = (array.copy() for array in solver.targets.settle(self.start, None, None))
        places[dragged.goals], turns[dragged.goals] = dragged.system.goal_target, dragged.system.goal_rotation
        # Copies: the drag may continue from where it is.
        found = solver.run(Workspace(solver.skeleton, solver.assembly), last.pose, (places, turns), solver.one_shot)
        nearer = found.status is Status.CONVERGED or _miss(found) <= _MUCH_NEARER * _miss(last)
        return found if nearer else None


def _miss(solution: Solution) -> float:
    """Metres and radians by which all goals together are missed."""
    return float(np.nansum(solution.errors_m) + np.nansum(np.radians(solution.errors_deg)))
