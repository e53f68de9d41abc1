"""What a solver prepares before it solves: of its skeleton and options once, of its goals each time they are set."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from viewer.ik.assemble import Assembly, DofTable, assemble, dof_table_of, same_rows, with_goals
from viewer.ik.contact.volumes import Volumes, check_names, make_volumes
from viewer.ik.goals import KINDS, Goal
from viewer.ik.grips import Grips
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import EVERY_METHOD, UserRows, dls_settings
from viewer.ik.mobility import arm_joints, metric, principal, stands
from viewer.ik.reach import Reach
from viewer.ik.solver_options import DEFAULT, DLS, INSIDE, Options, seeds_for, serves_levels, unserved_of
from viewer.ik.start_projection import KindProjection, Preferred, Starts
from viewer.ik.system import Settings
from viewer.ik.workspace import Targets, Workspace
from viewer.skeleton import Skeleton

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
        skeleton: the joints.
        options: the solver's.
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
        skeleton: its joints.
        options: its options.
        grips: the goals given, and those that are solved in their place.
        goals: the goals that are solved.
        assembly: their arrays.
        targets: of all goals.
        starts: the poses that solves begin at.
        workspace: the scratch of one-shot solves; drags have their own.
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

        Args:
            foundation: of the solver.
            given: goals, checked.
            moves: fingers draw the figure along where there are only grips.
            before: of other goals of the same foundation, not to be used any more: where only targets and weights
                differ, its arrays are kept.

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
        self.workspace = Workspace(self.skeleton, assembly)
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
        self.workspace, self.reach, self.starts = before.workspace, before.reach, before.starts
        self.workspace.take_goals(self.assembly)
        if self.workspace.direct is not None:
            self.workspace.direct.take_targets(self.targets)

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

    def opens_loops(self, workspace: Workspace) -> bool:
        """Whether a loop of the skeleton is open in the pose of a workspace's last solve."""
        if not self.grips.loops:
            return False
        first = len(self.goals) - len(self.grips.loops)
        miss, tolerance = workspace.work.miss[workspace.goals >= first], workspace.system.tolerance
        return bool((miss[:, 0] > tolerance[0]).any() or (miss[:, 1] > tolerance[1]).any())

    @cached_property
    def reseeded(self) -> tuple[Assembly, Workspace]:
        """The arrays with other seeds, and a workspace of them."""
        assembly = self.foundation.with_seeds(self.assembly, range(1, 1 + OTHER_SEEDS))
        return assembly, Workspace(self.skeleton, assembly)

    @cached_property
    def without_grips(self) -> Prepared:
        """The same goals with the grips off."""
        return Prepared(self.foundation, self.grips.others)

    @cached_property
    def with_grips_that_move(self) -> Prepared:
        """The same goals, where fingers draw the figure along."""
        return Prepared(self.foundation, self.grips.given, moves=True)
