"""The arrays of one solve at a time: what a thread needs of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.errors import InputError
from viewer.ik.assemble import Assembly
from viewer.ik.backends.block import in_block
from viewer.ik.backends.vectorised.engine import begin, into_limits, residuals
from viewer.ik.settings import INSIDE
from viewer.ik.system import (
    Call,
    Integers,
    StartTables,
    State,
    System,
    Work,
    copy_state,
    make_many,
    make_state,
    make_work,
)
from viewer.skeleton.arguments import wrong_kind
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Bools, Floats, Ints

if TYPE_CHECKING:
    from viewer.ik.backends.compiled.engine import Prepared
    from viewer.ik.direct import Direct

_AT_LIMIT = 1e-6
_CHANGED = ("goal_target", "goal_rotation", "goal_weight", "goal_rotation_weight", "spread")
"""What a solve changes of its system."""


class Workspace:
    """A system with its scratch and the pose that is being solved."""

    def __init__(self, skeleton: Skeleton, assembly: Assembly, problems: int = 1) -> None:
        """Allocate, with room for so many problems; goals' targets are this workspace's own."""
        self.skeleton = skeleton
        self.joints, self.goals = assembly.joints, assembly.goals
        system = assembly.system
        self.system = system._replace(**{name: getattr(system, name).copy() for name in _CHANGED})
        self.work = make_work(system)
        self.state, self.trial, self.best, self.anchor, self.start = (make_state(system) for _ in range(5))
        self.one = make_many(system, problems)
        np.copyto(self.one.target[0], system.goal_target)
        np.copyto(self.one.rotation[0], system.goal_rotation)
        self._begun: tuple[Pose, str] | None = None
        self.direct: Direct | None = None
        self.prepared: Prepared | None = None

    def into_block(self, call: Call, tables: StartTables) -> tuple[Integers, Call]:
        """Move all arrays, and those of a call, into a block for compiled code; what never changes is copied there."""
        block, moved = in_block(self._groups(call, tables))
        system, self.work, self.state, self.trial, self.best, self.anchor, self.start, self.one, call, _ = moved
        self.system = self.system._replace(**{name: getattr(system, name) for name in _CHANGED})
        return block, call

    def ndims(self, call: Call, tables: StartTables) -> list[int]:
        """How many axes each of these arrays has."""
        return [array.ndim for group in self._groups(call, tables) for array in group]

    def _groups(self, call: Call, tables: StartTables) -> tuple[Any, ...]:
        return *self.arrays, self.start, self.one, call, tables

    def go_back(self, pose: Pose) -> bool:
        """Stand at a pose, inside its limits; the scratch holds how far off the goals are; whether it was outside."""
        self.pose_at(pose.rotations, pose.translations)
        outside = self.begin()
        residuals(self.system, self.work, self.state.q, self.state.t, self.state.e)
        return outside

    @property
    def arrays(self) -> tuple[System, Work, State, State, State, State]:
        """What a solve works on, in the order that `viewer.ik.levenberg_marquardt.minimise` takes it."""
        return self.system, self.work, self.state, self.trial, self.best, self.anchor

    def pose_at(self, rotations: Floats, translations: Floats) -> None:
        """Take a pose, (J, 4) and (J, 3), to start from."""
        self.one.again[0], self._begun = False, None
        rotations.take(self.joints, 0, self.one.q[0], "clip")
        translations.take(self.joints, 0, self.one.t[0], "clip")

    def begins_again(self, pose: Pose, backend: str = "numba") -> bool:
        """Whether ``start`` is this pose, inside its limits: that is where `begun_at` was last; noted in ``one``."""
        again = self._begun is not None and pose is self._begun[0] and backend == self._begun[1]  # poses do not change
        if again:
            self.one.again[0] = True
        return again

    def begin_at(self, pose: Pose, backend: str = "numba") -> None:
        """Take a pose to start from, not to be brought inside its limits again if `begins_again`."""
        if not self.begins_again(pose, backend):
            self.pose_at(pose.rotations, pose.translations)

    def forget(self) -> None:
        """Remember no pose as that of ``start``."""
        self._begun = None

    def begun_at(self, pose: Pose, backend: str = "numba") -> None:
        """Remember that ``start`` is this pose, inside its limits; backends differ in its last bits."""
        self._begun = pose, backend

    def aim_at(self, places: Floats, turns: Floats) -> None:
        """Take the targets (G, 3) and (G, 4) of all goals in the order given to the solver.

        Goals without a place or turn keep NaN there: no kernel reads them.
        """
        # Clipped indices are not looked at twice; these are all in range.
        places.take(self.goals, 0, self.one.target[0], "clip")
        turns.take(self.goals, 0, self.one.rotation[0], "clip")

    def begin(self, *, settle: bool = False) -> bool:
        """What `viewer.ik.problems.solve_batch` does before a solve, for methods of their own; whether it was out."""
        state, one = self.state, self.one
        self.aim_now()
        np.copyto(state.q, one.q[0])
        np.copyto(state.t, one.t[0])
        outside = into_limits(self.system, self.work, state.q, state.t, state.x)
        begin(self.system, self.work, state, self.anchor)
        if settle:
            copy_state(self.anchor, state)
        self.work.since[0] = 0
        return bool(outside)

    def aim_now(self) -> None:
        """Write the targets into the system."""
        np.copyto(self.system.goal_target, self.one.target[0])
        np.copyto(self.system.goal_rotation, self.one.rotation[0])

    def pose(self, base: Pose) -> Pose:
        """The solved pose; joints that took no part as in ``base``."""
        rotations, translations = base.rotations.copy(), base.translations.copy()
        rotations[self.joints], translations[self.joints] = self.state.q, self.state.t
        rotations.flags.writeable = translations.flags.writeable = False
        return Pose.trusted(rotations, translations)

    def findings(self, count: int) -> Findings:
        """What the last solve found, kept apart from the scratch, for ``count`` goals given to the solver."""
        found = self.work.miss.copy(), self.state.x.copy()
        return Findings(self, count, lambda: found)


def checked_start(skeleton: Skeleton, pose: Pose) -> Pose:
    """A pose to start from.

    Raises:
        InputError: none, or one of another skeleton.
    """
    found: object = pose
    if not isinstance(found, Pose):
        raise wrong_kind(found, "a pose to start from")
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints as the skeleton has, found {len(pose.rotations)}")
    return pose


class Findings:
    """Misses and limits of one answer, worked out when asked for.

    Attributes:
        skeleton: the joints.
        functions: |f| of the function goals, by their places in the list of goals.
    """

    def __init__(self, space: Workspace, count: int, found: Callable[[], tuple[Floats, Floats]]) -> None:
        """Keep what gives (G, 2) misses and (n,) coordinates when they are asked for."""
        self._system, self._joints, self._goals = space.system, space.joints, space.goals
        self.skeleton = space.skeleton
        self._count, self._found = count, found
        self.functions: dict[int, float] = {}

    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals; NaN for what a goal does not ask."""
        metres, degrees = spread_misses(self._system, self._goals, self._count, self._found()[0])
        metres[list(self.functions)] = list(self.functions.values())
        return metres, degrees

    def met(self) -> tuple[int, int]:
        """How many goals are within their tolerances, and of how many that ask for anything."""
        metres, degrees = self.errors()
        near = self._system.tolerance / INSIDE
        asked = ~(np.isnan(metres) & np.isnan(degrees))
        missed = (metres > near[0]) | (degrees > np.degrees(near[1]))
        return int(np.count_nonzero(asked & ~missed)), int(np.count_nonzero(asked))

    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate at one of its limits."""
        system = self._system
        reach, x = _AT_LIMIT * system.unit, self._found()[1]
        near: Bools = (x - system.lower < reach) | (system.upper - x < reach)
        counts = np.diff(system.first)
        owners = np.repeat(np.arange(len(counts)), counts)[near]
        return tuple(self.skeleton.names[self._joints[k]] for k in dict.fromkeys(owners.tolist()))


def spread_misses(system: System, goals: Ints, count: int, miss: Floats) -> tuple[Floats, Floats]:
    """Misses (..., G, 2) of a system's goals as metres and degrees (..., count) in the order given; NaN: not asked."""
    metres, degrees = np.full((*miss.shape[:-2], count), np.nan), np.full((*miss.shape[:-2], count), np.nan)
    asks_place, asks_turn = _ASKS_PLACE[system.goal_kind], _ASKS_TURN[system.goal_kind]
    metres[..., goals[asks_place]] = miss[..., asks_place, 0]
    degrees[..., goals[asks_turn]] = np.degrees(miss[..., asks_turn, 1])
    return metres, degrees


# By kind: POSITION, ROTATION, POSE, DISTANCE, AIM.
_ASKS_PLACE = np.array([True, False, True, True, False])
_ASKS_TURN = np.array([False, True, True, False, True])
