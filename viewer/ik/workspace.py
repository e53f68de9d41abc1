"""The arrays of one solve at a time: what a thread needs of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.ik.driver import copy
from viewer.ik.system import make_state, make_work
from viewer.ik.targets import write_targets
from viewer.skeleton.pose import Pose

if TYPE_CHECKING:
    from viewer.ik.assemble import Assembly
    from viewer.ik.backends import Engine
    from viewer.ik.system import State, System, Work
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats, Ints

_AT_LIMIT = 1e-6


class Workspace:
    """A system with its scratch and the pose that is being solved."""

    def __init__(self, skeleton: Skeleton, assembly: Assembly) -> None:
        """Allocate; goals' targets are this workspace's own."""
        self.skeleton = skeleton
        self.joints, self.goals = assembly.joints, assembly.goals
        system = assembly.system
        self.system = system._replace(goal_target=system.goal_target.copy(), goal_rotation=system.goal_rotation.copy())
        self.work = make_work(system)
        self.state, self.trial, self.best, self.anchor = (make_state(system) for _ in range(4))

    def take(self, rotations: Floats, translations: Floats) -> None:
        """Take a pose, (J, 4) and (J, 3), to start from."""
        np.take(rotations, self.joints, axis=0, out=self.state.q)
        np.take(translations, self.joints, axis=0, out=self.state.t)

    def begin(self, engine: Engine) -> bool:
        """Bring the pose taken inside its limits and anchor there; whether it was outside."""
        state = self.state
        outside = engine.into_limits(self.system, self.work, state.q, state.t, state.x)
        copy(state, self.anchor)
        return bool(outside)

    @property
    def arrays(self) -> tuple[System, Work, State, State, State, State]:
        """What a solve works on, in the order that `viewer.ik.driver.solve` takes it."""
        return self.system, self.work, self.state, self.trial, self.best, self.anchor

    def aim_at(self, places: Floats, turns: Floats) -> None:
        """Take the targets (G, 3) and (G, 4) of all goals in the order given to the solver."""
        write_targets(self.system.goal_target, self.system.goal_rotation, places, turns, self.goals)

    def pose(self, base: Pose) -> Pose:
        """The solved pose; joints that took no part as in ``base``."""
        rotations, translations = base.rotations.copy(), base.translations.copy()
        rotations[self.joints], translations[self.joints] = self.state.q, self.state.t
        rotations.flags.writeable = translations.flags.writeable = False
        return Pose(rotations, translations)

    def findings(self, count: int) -> Findings:
        """What the last solve found, kept apart from the scratch, for ``count`` goals given to the solver."""
        return Findings(self, count, self.work.miss.copy(), self.state.x.copy())


class Findings:
    """Misses and limits of one answer, worked out when asked for."""

    def __init__(self, space: Workspace, count: int, miss: Floats, x: Floats) -> None:
        """Keep (G, 2) misses and (n,) coordinates."""
        self._system, self._joints, self._goals = space.system, space.joints, space.goals
        self._names = space.skeleton.names
        self._count, self._miss, self._x = count, miss, x

    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals; NaN for what a goal does not ask."""
        return spread_misses(self._system, self._goals, self._count, self._miss)

    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate at one of its limits."""
        system = self._system
        near: Bools = (self._x - system.lower < _AT_LIMIT) | (system.upper - self._x < _AT_LIMIT)
        counts = np.diff(system.first)
        owners = np.repeat(np.arange(len(counts)), counts)[near]
        return tuple(self._names[self._joints[k]] for k in dict.fromkeys(owners.tolist()))


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
