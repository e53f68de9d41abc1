"""What a solver prepares before it solves: of its skeleton and options once, of its goals each time, of a start pose.

A start pose is projected onto what the joints' kinds allow, and idle joints, which no goal moves, into their limits.
These are drawn to the preferred pose, too, if there is one; so are joints that the goals leave free.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from viewer.errors import InputError
from viewer.ik.assemble import Assembly, DofTable, assemble, dof_table_of, same_rows, with_goals
from viewer.ik.buffers import Buffers, Targets, checked_start
from viewer.ik.contact.volumes import Volumes, check_names, make_volumes
from viewer.ik.goals import KINDS, Goal
from viewer.ik.grips import Grips
from viewer.ik.kernels.joints import into_limits
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import EVERY_METHOD, UserRows, dls_settings
from viewer.ik.mobility import arm_joints, metric, principal, stands
from viewer.ik.reach import Reach
from viewer.ik.solver_options import DEFAULT, DLS, INSIDE, Options, seeds_for, serves_levels, unserved_of
from viewer.ik.system import Settings, StartTables, System, make_state, make_work
from viewer.skeleton import JointKind, Pose, Skeleton, joint_space
from viewer.spatial.checks import Bools, Floats, Ints, handed_over
from viewer.spatial.quaternion import multiply, perpendicular, rotate, slerp

UNSERVED_PREFERENCE = "preferred pose"
"""The word of `Solution.unserved` for a preferred pose that the method does not support."""
UNSERVED_CONTACT = "contact"
"""The word for a contact that the method does not support."""
UNSERVED_MIMICS = "joints that follow others"
"""The word for joints that the method does not move because others follow them, or they follow others."""
UNSERVED_LEVELS = "levels"
"""The word for levels that the method does not distinguish."""
_CLOSED = 1e-4
"""Metres within which loops are closed; the tolerance of all goals of a skeleton with loops."""
OTHER_SEEDS = 3
"""Sets of seeds that are tried, too, before a goal that geometry does not exclude counts as missed."""


@dataclass(frozen=True, slots=True, eq=False)
class Foundation:
    """What depends on the skeleton and the options alone.

    Attributes:
        dofs: how each degree of freedom moves, how readily, and its limits.
        projection: of start poses onto what the joints' kinds allow.
        preferred: the pose that free joints are drawn to; None: where a solve begins.
        volumes: the bodies that must not overlap; None without contact.
        stands: whether the figure is moved to where its goals are before a solve.
        unserved: words of `Solution.unserved` for options that the method does not support.
        alone: solves share scratch, so they take turns; a function goal that calls its own solver must not deadlock.
    """

    skeleton: Skeleton
    options: Options
    dofs: DofTable
    projection: KindProjection
    preferred: Preferred | None
    volumes: Volumes | None
    stands: bool
    unserved: tuple[str, ...]
    alone: threading.RLock = field(default_factory=threading.RLock)

    @classmethod
    def of(cls, skeleton: Skeleton, options: Options) -> Foundation:
        """Prepare them.

        Raises:
            InputError: a preferred pose of another skeleton, a contact that names joints which are not there.
        """
        natural, contact = options.natural, options.contact
        dofs = dof_table_of(
            skeleton,
            metric(skeleton) if natural else np.ones((len(skeleton), 3)),
            limits=options.limits,
            root=options.root,
            arms=arm_joints(skeleton) if natural else frozenset(),
            principal=principal(skeleton) if natural else None,
        )
        preferred = Preferred.of(skeleton, options.preferred, options.preferred_weight)
        if contact is not None:
            check_names(skeleton, contact)
        served = options.method == DEFAULT
        asked = {UNSERVED_PREFERENCE: preferred is not None, UNSERVED_CONTACT: bool(contact)}
        index = np.argsort(dofs.depth_first)
        return cls(
            skeleton=skeleton,
            options=options,
            dofs=dofs,
            projection=KindProjection(skeleton),
            preferred=preferred if served else None,
            volumes=make_volumes(skeleton, contact, index) if contact and served else None,
            stands=natural and options.root == "free" and stands(skeleton),
            unserved=() if served else tuple(word for word, is_asked in asked.items() if is_asked),
        )

    def assembled(self, goals: Sequence[Goal]) -> Assembly:
        """The arrays for goals, without grips among them."""
        options = self.options
        metres = min(options.tolerance_m, _CLOSED) if self.skeleton.loops else options.tolerance_m
        assembly = assemble(
            self.dofs,
            goals,
            (INSIDE * metres, INSIDE * math.radians(options.tolerance_deg)),
            levels=serves_levels(goals, options),
            contact=self.volumes,
            floor=options.floor,
        )
        if options.restarts:
            assembly = self.with_seeds(assembly, range(1))
        return assembly if self.preferred is None else self.preferred.with_pose(assembly)

    def with_seeds(self, assembly: Assembly, sets: range) -> Assembly:
        """The arrays with sets of seeds, each numbered from that of the options."""
        system, seed = assembly.system, self.options.seed
        seeds = [seeds_for(system, self.skeleton, seed + number) for number in sets]
        return replace(assembly, system=system._replace(seeds=np.concatenate(seeds)))

    def effective(self, settings: Settings) -> Settings:
        """The numbers of a solve as the method has them."""
        return dls_settings(settings, self.options.tuning) if self.options.method == DLS else settings


class Prepared:
    """Goals, as arrays with scratch: what depends on them and the foundation, whatever pose a solve begins at.

    Attributes:
        foundation: what depends on the skeleton and the options alone.
        grips: the goals given, and those that are solved in their place.
        goals: the goals that are solved.
        assembly: their arrays.
        starts: the poses that solves begin at.
        buffers: the scratch of one-shot solves; drags have their own.
        reach: finds goals that geometry excludes.
        functions: the residuals of function goals, if there are any.
        unserved: words of `Solution.unserved`, whatever the pose.
        needs_numpy: whether the compiled kernels do not serve the method or the goals.
        settings: of a one-shot solve.
    """

    def __init__(
        self, foundation: Foundation, given: Sequence[Goal], *, moves: bool = False, before: Prepared | None = None
    ) -> None:
        """Prepare goals.

        ``moves``: fingers draw the figure along where there are only grips. ``before``: of other goals of the same
        foundation, not to be used any more: where only targets and weights differ, its arrays are kept.

        Raises:
            InputError: a goal for what the skeleton or the contact does not have.
        """
        options = foundation.options
        self.foundation, self.skeleton, self.options = foundation, foundation.skeleton, options
        self.grips = Grips(self.skeleton, given, options.contact, served=options.method == DEFAULT, moves=moves)
        self.goals = goals = self.grips.goals
        if before is not None and same_rows(goals, before.goals):
            self._keep(before)
        else:
            self._make()
        system = self.assembly.system
        functions = [goal for goal in goals if goal.enabled and not KINDS[goal.kind].built_in]
        self.functions = UserRows(self.skeleton, functions, float(system.scale[1])) if functions else None
        self.needs_numpy = options.method not in {DEFAULT, DLS} or self.functions is not None or options.tuning.own_rows
        self.unserved = self._find_unserved()
        self.settings = self._one_shot()

    def _make(self) -> None:
        foundation = self.foundation
        self.assembly = assembly = foundation.assembled(self.goals)
        self.targets = Targets(self.skeleton, self.goals)
        self.buffers = Buffers(self.skeleton, assembly)
        self.reach = Reach(assembly.system)
        self.starts = Starts(
            foundation.projection,
            self.skeleton,
            assembly.joints,
            foundation.preferred,
            limits=self.options.limits,
        )

    def _keep(self, before: Prepared) -> None:
        self.assembly = with_goals(before.assembly, self.goals, before.goals)
        self.targets = Targets(self.skeleton, self.goals)
        self.buffers, self.reach, self.starts = before.buffers, before.reach, before.starts
        self.buffers.take_goals(self.assembly)
        if self.buffers.direct is not None:
            self.buffers.direct.take_targets(self.targets)

    def _find_unserved(self) -> tuple[str, ...]:
        method = self.options.method
        several = len({goal.level for goal in self.goals if goal.enabled}) > 1
        asked = {
            UNSERVED_LEVELS: several and not serves_levels(self.goals, self.options),
            UNSERVED_MIMICS: self.assembly.system.leader.size > 0 and not EVERY_METHOD[method].has_jacobian,
        }
        words = (word for word, is_asked in asked.items() if is_asked)
        return *unserved_of(self.grips.given, method), *self.foundation.unserved, *words

    def _one_shot(self) -> Settings:
        options, settings = self.options, self.options.settings
        seeded = options.restarts and not self.grips.grips
        settings = settings._replace(
            max_iterations=options.max_iterations,
            restarts=min(settings.restarts, len(self.assembly.system.seeds) // CHOICE) if seeded else 0,
            stand=settings.stand or self.foundation.stands,
            settle=self.foundation.preferred is not None,
        )
        return self.foundation.effective(settings)

    @property
    def built_in(self) -> bool:
        """Whether it is the default method with built-in goals alone: the compiled kernels serve these."""
        return not self.needs_numpy and self.options.method == DEFAULT

    def opens_loops(self, buffers: Buffers) -> bool:
        """Whether a loop of the skeleton is open in the pose of the buffers' last solve."""
        if not self.grips.loops:
            return False
        first = len(self.goals) - len(self.grips.loops)
        miss, tolerance = buffers.work.miss[buffers.goals >= first], buffers.system.tolerance
        return bool((miss[:, 0] > tolerance[0]).any() or (miss[:, 1] > tolerance[1]).any())

    @cached_property
    def reseeded(self) -> tuple[Assembly, Buffers]:
        """The arrays with other seeds, and buffers of them."""
        assembly = self.foundation.with_seeds(self.assembly, range(1, 1 + OTHER_SEEDS))
        return assembly, Buffers(self.skeleton, assembly)

    @cached_property
    def without_grips(self) -> Prepared:
        """The same goals with the grips off."""
        return Prepared(self.foundation, self.grips.others)

    @cached_property
    def with_grips_that_move(self) -> Prepared:
        """The same goals, where fingers draw the figure along."""
        return Prepared(self.foundation, self.grips.given, moves=True)


_OUTSIDE = 1e-9
"""Radians or metres: less than this is rounding."""
_OFF = 1e-6
"""Quaternion components, or parts of the offsets' lengths: less is rounding, that of single-precision files, too."""


class KindProjection:
    """Finds joints of one skeleton whose rotation or translation their kind does not allow.

    A rotation of few dofs is linear in its quaternion but for universals: the parts of rest^-1 q along the
    directions that a hinge does not turn about are 0, and so are all three of fixed joints and slides.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        """Note the directions that the kinds leave out."""
        self._skeleton, self._space = skeleton, joint_space(skeleton)
        space, axes = self._space, skeleton.axes
        still = np.concatenate([space.fixed, space.slides])
        joints, directions = [np.repeat(still, 3)], [np.tile(np.eye(3), (len(still), 1))]
        for joint in space.hinges.tolist():
            joints.append(np.array([joint, joint]))
            across = perpendicular(axes[joint, 0])
            directions.append(np.stack([across, np.cross(axes[joint, 0], across)]))
        self._joints = np.concatenate(joints)
        self._rows = _rows_of(skeleton, self._joints, np.concatenate(directions))
        universals, pair = space.universals, axes[space.universals]
        along = (pair[:, 0], pair[:, 1], np.cross(pair[:, 0], pair[:, 1]))
        self._parts = [*(_rows_of(skeleton, universals, direction) for direction in along)]
        self._parts.append(skeleton.rest_rotations[universals])
        self._longest = max(float(np.abs(skeleton.offsets).max()), 1e-12)
        self._slid = rotate(skeleton.rest_rotations[space.slides], axes[space.slides, 0])
        kinds = set(skeleton.kinds)
        self._any = bool(kinds & {JointKind.FIXED, JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE})

    def held(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats, Bools | None]:
        """Local rotations (..., J, 4) and translations (..., J, 3), each projected to what its joint's kind allows.

        Returns:
            Both, the given arrays where nothing changed, and (..., J) which joints were not held; None: all were.
        """
        if not self._any:
            return rotations, translations, None
        off = np.abs(np.einsum("...ij,ij->...i", rotations.take(self._joints, -2), self._rows))
        parts = [(self._joints, off)]
        if self._space.universals.size:
            parts.append((self._space.universals, self._universals_off(rotations)))
        if self._space.slides.size:
            parts.append((self._space.slides, self._slides_off(translations)))
        if not any(part.max(initial=0.0) > _OFF for _, part in parts):
            return rotations, translations, None
        unheld = np.zeros(rotations.shape[:-1], dtype=np.bool_)
        for joints, part in parts:
            for column, joint in enumerate(joints.tolist()):
                unheld[..., joint] |= part[..., column] > _OFF
        turns, moves = self._space.rebuild(self._space.measure(rotations, translations), rotations, translations)
        chosen = unheld[..., None]
        return np.where(chosen, turns, rotations), np.where(chosen, moves, translations), unheld

    def _universals_off(self, rotations: Floats) -> Floats:
        """(..., U) w n - x y of rest^-1 q with parts x, y, n along both axes and across, and w: 0 of R(a) R(b)."""
        q = rotations.take(self._space.universals, -2)
        a, b, n, w = (np.einsum("...ij,ij->...i", q, rows) for rows in self._parts)
        return np.asarray(np.abs(w * n - a * b))

    def _slides_off(self, translations: Floats) -> Floats:
        """(..., S) how far slides are beside their axes, in parts of the offsets' lengths."""
        slides = self._space.slides
        offsets = self._skeleton.offsets
        moved = translations.take(slides, -2) - offsets[slides]
        along = np.einsum("...ij,ij->...i", moved, self._slid)
        beside = np.linalg.norm(moved - along[..., None] * self._slid, axis=-1)
        return np.asarray(beside / self._longest)

    def tables(self, dofs: DofTable, idle: Ints) -> StartTables:
        """The tables of `held` for compiled code; ``idle`` are the limited joints that take no part."""
        space, skeleton = self._space, self._skeleton
        return StartTables(
            row_joint=self._joints.astype(np.int64),
            rows=self._rows,
            universal=space.universals.astype(np.int64),
            parts=np.stack(self._parts, axis=1),
            slide=space.slides.astype(np.int64),
            along=self._slid,
            offset=skeleton.offsets[space.slides],
            idle=idle.astype(np.int64),
            form=dofs.form[idle],
            order=dofs.order[idle],
            rest=skeleton.rest_rotations[idle],
            axes=skeleton.axes[idle],
            home=skeleton.offsets[idle],
            lower=dofs.lower[idle, :3],
            upper=dofs.upper[idle, :3],
            turning=dofs.turning[idle, :3] > 0.0,
            tolerances=np.array([_OFF, _OFF * self._longest, _OUTSIDE]),
        )


def _rows_of(skeleton: Skeleton, joints: Ints, directions: Floats) -> Floats:
    """(R, 4) whose dot product with a joint's q is the part of rest^-1 q along a direction: rest d, as quaternions."""
    pure = np.concatenate([directions, np.zeros((len(directions), 1))], axis=1)
    return np.asarray(multiply(skeleton.rest_rotations[joints], pure))


class Starts:
    """The start poses of one solver, the last of them remembered.

    ``taking_part``: indices of the joints that the solver itself moves and keeps inside their limits; ``preferred``:
    what the other joints are drawn to, if anything.
    """

    def __init__(
        self,
        projection: KindProjection,
        skeleton: Skeleton,
        taking_part: Ints,
        preferred: Preferred | None,
        *,
        limits: bool,
    ) -> None:
        self._skeleton, self._taking_part, self._preferred = skeleton, taking_part, preferred
        self._projection = projection
        self._space = joint_space(skeleton)
        limited: Bools = np.any(np.isfinite(self._space.lower) | np.isfinite(self._space.upper), axis=-1)
        limited[taking_part] = False
        self._idle = np.flatnonzero(limited) if limits else np.empty(0, dtype=np.intp)
        self._start: tuple[Pose, Pose, bool] | None = None
        self._drawn: tuple[Pose, Pose] | None = None

    def start(self, pose: Pose) -> tuple[Pose, bool]:
        """The pose given, each joint projected to its kind, and idle joints inside their limits.

        Returns:
            The pose, and whether it was changed. The solver applies the limits of joints that take part.

        Raises:
            InputError: no pose, or one of another skeleton.
        """
        if self._start is None or pose is not self._start[0]:  # poses are immutable: one that was checked stays valid
            checked = checked_start(self._skeleton, pose)
            turns, moves, unheld = self._projection.held(checked.rotations, checked.translations)
            turns, moves, outside = self._inside(turns, moves)
            changed = unheld is not None or bool(outside.any())
            begun = Pose.trusted(handed_over(turns), handed_over(moves)) if changed else checked
            self._start = (pose, begun, changed)
        return self._start[1:]

    def _inside(self, rotations: Floats, translations: Floats) -> tuple[Floats, Floats, Bools]:
        """Local rotations (..., J, 4) and translations (..., J, 3) with idle joints brought inside their limits.

        Returns:
            Both, the given arrays where nothing changed, and (..., J) which joints were outside.
        """
        outside = np.zeros(rotations.shape[:-1], dtype=np.bool_)
        if self._idle.size:
            measured = self._space.measure(rotations, translations)
            outside[..., self._idle] = self._space.excess(measured)[..., self._idle] > _OUTSIDE
        if not outside.any():
            return rotations, translations, outside
        turns, moves = self._space.rebuild(self._space.nearest_inside(measured), rotations, translations)
        chosen = outside[..., None]
        return np.where(chosen, turns, rotations), np.where(chosen, moves, translations), outside

    def is_news(self, pose: Pose) -> bool:
        """Whether this pose differs from the last one and compiled code may check it instead of `start`."""
        found: object = pose
        if self._preferred is not None or (self._start is not None and found is self._start[0]):
            return False
        return isinstance(found, Pose)

    def accept(self, pose: Pose) -> None:
        """Remember a pose as one that `start` does not change."""
        self._start = (pose, pose, False)

    def tables(self, dofs: DofTable) -> StartTables:
        """For compiled code."""
        return self._projection.tables(dofs, self._idle)

    def drawn(self, start: Pose) -> Pose:
        """A pose that `start` gave, its joints that take no part drawn to the preferred pose, inside their limits."""
        if self._preferred is None:
            return start
        if self._drawn is None or self._drawn[0] is not start:
            self._drawn = (
                start,
                Pose.trusted(*map(handed_over, self._draw(self._preferred, start.rotations, start.translations))),
            )
        return self._drawn[1]

    def stacked(self, rotations: Floats, translations: Floats) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """`start` and `drawn` of N poses: local rotations (N, J, 4) and translations (N, J, 3)."""
        begun = self._inside(*self._projection.held(rotations, translations)[:2])[:2]
        return begun, begun if self._preferred is None else self._draw(self._preferred, *begun)

    def idle_of(self, chosen: Bools) -> Bools:
        """(N, J) the joints that take no part in the problems (N,) that are chosen."""
        idle = np.repeat(chosen[:, None], len(self._skeleton), axis=1)
        idle[:, self._taking_part] = False
        return idle

    def _draw(self, preferred: Preferred, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        return self._inside(*preferred.drawn(rotations, translations, self._taking_part))[:2]


@dataclass(frozen=True, slots=True, eq=False)
class Preferred:
    """A preferred pose and its weight.

    Free roots stay where the start has them: only joints have a preference.

    Attributes:
        weight: part of the way from the start to the pose, above 0 and up to 1.
    """

    skeleton: Skeleton
    pose: Pose
    weight: float

    @classmethod
    def of(cls, skeleton: Skeleton, pose: Pose | None, weight: float) -> Preferred | None:
        """The preferred pose that the options ask for; None without one.

        Raises:
            InputError: a pose of another skeleton, infinite numbers, rotations that are none.
        """
        if pose is None:
            return None
        try:
            checked = checked_start(skeleton, pose)
        except InputError as error:
            raise InputError(f"preferred {error}") from None
        return cls(skeleton, checked, weight) if weight > 0.0 else None

    def with_pose(self, assembly: Assembly) -> Assembly:
        """The assembly with the pose, inside its limits, in its system."""
        system, state = assembly.system, make_state(assembly.system)
        state.q[:], state.t[:] = self.pose.rotations[assembly.joints], self.pose.translations[assembly.joints]
        into_limits(system, make_work(system), state.q, state.t, state.x)
        draws = np.where(system.spread > 0.0, self.weight, 0.0)
        draws[_of_free_roots(system)] = 0.0
        system = system._replace(preferred=state.x, preferred_turn=state.q, preference=draws)
        return replace(assembly, system=system)

    def drawn(self, rotations: Floats, translations: Floats, taking_part: Ints) -> tuple[Floats, Floats]:
        """Local rotations (..., J, 4) and translations (..., J, 3), with joints that no goal moves drawn to the pose.

        These may end outside their limits: between two poses that are inside.

        ``taking_part``: indices of the joints that the solver itself moves.
        """
        stays = self.skeleton.of_kind(JointKind.FREE, JointKind.FIXED)
        stays |= self.skeleton.stiffness >= 1.0
        stays[taking_part] = True
        turn = np.flatnonzero(~stays)
        if not turn.size:
            return rotations, translations
        slide = [joint for joint in turn.tolist() if self.skeleton.kinds[joint] is JointKind.SLIDE]
        rotations, translations = rotations.copy(), translations.copy()
        rotations[..., turn, :] = slerp(rotations[..., turn, :], self.pose.rotations[turn], self.weight)
        translations[..., slide, :] += self.weight * (self.pose.translations[slide] - translations[..., slide, :])
        return rotations, translations


def _of_free_roots(system: System) -> Ints:
    """The dofs of roots that move."""
    roots = np.flatnonzero((system.parent < 0) & (system.moves > 0))
    ends = [np.arange(system.first[k], system.first[k + 1]) for k in roots.tolist()]
    return np.concatenate([np.empty(0, dtype=np.int64), *ends])
