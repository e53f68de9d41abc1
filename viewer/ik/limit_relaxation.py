"""Solves parts of a problem again with limits released, to find out which limits keep goals from being met.

In constrained optimisation these are the limits with significant multipliers. They are found by continuing
the solve without the limits that the pose is at, and then restoring every one that the result does not depend on.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from viewer.ik.assemble import Assembly, assemble, dof_table_of
from viewer.ik.backends import engine_for
from viewer.ik.findings import Cause, Reason, limit_name, listed, metres
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.distance import kept_at
from viewer.ik.goals.shell import AT_TARGET, Shell, is_flat
from viewer.ik.kernels.joints import into_limits
from viewer.ik.levels import only_aims
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import METHODS
from viewer.ik.mobility import metric, principal
from viewer.ik.reach import END, Gap, Miss
from viewer.ik.solver_options import INSIDE, ONE_SHOT, Options, seeds_for, serves_levels
from viewer.ik.system import Settings, copy_state, near_limits
from viewer.ik.workspace import Workspace
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import Bools, Floats, Ints

_ITERATIONS, _LEAP = 25, 120
_ROUNDS = 3
"""Rounds of releasing: a released dof may bring others to their limits."""
_LEFT_BEHIND = 1e-3
"""Radians or units of length that count as beyond a limit."""
_MATTERS = 0.5
"""If releasing limits leaves more than this part of the squared error, something else is the cause."""
_AS_GOOD = 1.1
_FEW, _MOST_TRIES = 6, 8


def without_limits(trials: Trials, stuck: Trial) -> tuple[Trial, list[str]]:
    """The trial without the limits that block it, and their names; the trial itself if none does.

    Args:
        trials: where to solve.
        stuck: at rest, with goals missed.
    """
    system = stuck.workspace.system
    freed, released = stuck, np.zeros(len(system.lower), dtype=np.bool_)
    for _ in range(_ROUNDS):
        more = near_limits(system, freed.workspace.state.x) & ~released & (system.spread > 0.0)
        if not (more.any() and freed.missed and trials.left):
            break
        released |= more
        freed = trials.release(freed, released, _ITERATIONS)
    if freed.missed and trials.left:
        # It may need restarts to get past them.
        anywhere = np.isfinite(system.lower) | np.isfinite(system.upper)
        loose = trials.release(stuck, anywhere, _LEAP, restarts=True)
        if not loose.missed:
            freed, released = loose, anywhere
    if freed.missed and freed.error > _MATTERS * stuck.error:
        return stuck, []
    freed, needed = _needed(trials, stuck, freed, released)
    joints = [trials.skeleton.names[joint] for joint in stuck.workspace.joints]
    x = freed.workspace.state.x
    ends = np.where(x > system.upper, system.upper, system.lower)
    return freed, [limit_name(system, joints, d, float(ends[d])) for d in needed.tolist()]


def _needed(trials: Trials, stuck: Trial, freed: Trial, released: Bools) -> tuple[Trial, Ints]:
    """Indices of the released dofs that the result depends on, farthest beyond their limits first."""
    order = _beyond(stuck, freed, released)
    # Half of them at a time while the result is as good; then one by one, the least beyond its limit first.
    while len(order) > _FEW and (tried := _as_good(trials, stuck, freed, order[: len(order) // 2])):
        freed, order = tried, _beyond(stuck, tried, released)
    for d in order[::-1][:_MOST_TRIES].tolist():
        rest = order[order != d]
        if len(rest) and (tried := _as_good(trials, stuck, freed, rest)):
            freed, order = tried, rest
    return freed, order[_excess(stuck, freed)[order] > _LEFT_BEHIND]


def _as_good(trials: Trials, stuck: Trial, freed: Trial, released: Ints) -> Trial | None:
    """A trial without the limits of these dofs (places) alone, if it gets as near as ``freed``."""
    mask = np.zeros(len(stuck.workspace.system.lower), dtype=np.bool_)
    mask[released] = True
    for begin in (stuck, freed):
        tried = trials.release(stuck, mask, _ITERATIONS, begin=begin)
        if not tried.missed or (freed.missed and tried.error <= _AS_GOOD * freed.error):
            return tried
    return None


def _beyond(stuck: Trial, freed: Trial, released: Bools) -> Ints:
    """Places of the released dofs that are beyond their limits, the farthest first."""
    excess = _excess(stuck, freed)
    places = np.flatnonzero(released & (excess > _LEFT_BEHIND))
    return places[np.argsort(-excess[places], kind="stable")]


def _excess(stuck: Trial, freed: Trial) -> Floats:
    """(n,) radians or units of length by which dofs are beyond the limits that they had."""
    system, x = stuck.workspace.system, freed.workspace.state.x
    return np.asarray(np.maximum(system.lower - x, x - system.upper) / system.unit)


_EFFORT, _LEAST, _MOST = 40_000, 60, 400
"""Iterations of all trials of a problem: the first number divided by its dofs and rows, within the other two."""
_RESTARTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The result of solving some of the goals.

    Attributes:
        workspace: holds the pose found, and the goals' system.
        error: squared, weighted.
        missed: metres and radians by which goals are off, by their places in the list; goals that are met are not here.
    """

    workspace: Workspace
    error: float
    missed: dict[int, tuple[float, float]]


class Trials:
    """Solves some of a problem's goals, from the pose that its solve ended in, while iterations are left.

    Args:
        skeleton: the joints.
        goals: all goals.
        targets: (G, 3) and (G, 4), settled.
        pose: where trials start.
        options: those of the solve.

    Attributes:
        asked: the goals that can be tried: enabled, and no functions.
        served: those of them that the method serves.
        pose: where trials start.
        levelled: whether levels are distinguished. Trials with restarts ignore them.
        left: iterations that are left.
    """

    def __init__(
        self, skeleton: Skeleton, goals: Sequence[Goal], targets: tuple[Floats, Floats], pose: Pose, options: Options
    ) -> None:
        self.skeleton, self.goals, self.options = skeleton, tuple(goals), options
        method = METHODS.get(options.method)
        self.asked = [i for i, goal in enumerate(goals) if goal.enabled and KINDS[goal.kind].built_in]
        self.served = [i for i in self.asked if method is None or KINDS[goals[i].kind] in method.serves]
        self._targets, self.pose = targets, pose
        self.levelled = serves_levels(self.goals, options)
        spreads = metric(skeleton) if options.natural else np.ones((len(skeleton), 3))
        axes = principal(skeleton) if options.natural else None
        self._dofs = dof_table_of(skeleton, spreads, limits=options.limits, root=options.root, principal=axes)
        self._engine, _ = engine_for(options.backend)
        self.left = _MOST

    def look(self) -> Trial:
        """All goals in the current pose; also sets how many iterations a problem of this size may take."""
        workspace = self._workspace(self.asked, {}, {})
        effort = _EFFORT // (1 + len(workspace.work.step) + len(workspace.work.y))
        self.left = min(max(effort, _LEAST), _MOST)
        return self._run(workspace, Settings(max_iterations=0))

    def solve(
        self,
        chosen: Collection[int],
        iterations: int,
        *,
        restarts: bool = False,
        instead: Mapping[int, Goal] | None = None,
        kept: dict[int, float] | None = None,
    ) -> Trial:
        """Solve some of the goals, from the pose.

        Args:
            chosen: their places in the list.
            iterations: at most.
            restarts: whether to restart from other poses, too.
            instead: goals in place of those of the list.
            kept: metres that goals keep from their targets, instead of what they are for.
        """
        workspace = self._workspace(chosen, instead or {}, kept or {}, levels=self.levelled and not restarts)
        return self._run(workspace, self._settings(workspace, iterations, restarts=restarts))

    def _settings(self, workspace: Workspace, iterations: int, *, restarts: bool) -> Settings:
        """The settings of a trial; also draws the workspace's seeds for restarts."""
        if not restarts:
            return Settings(max_iterations=iterations)
        seeds = seeds_for(workspace.system, self.skeleton, self.options.seed)
        # Of those near the pose, and of those farther off.
        half, count = len(seeds) // 2, _RESTARTS * CHOICE // 2
        seeds = np.concatenate([seeds[:count], seeds[half : half + count]])
        workspace.system = workspace.system._replace(seeds=seeds)
        return ONE_SHOT._replace(pull=0.0, restarts=_RESTARTS, max_iterations=iterations)

    def release(
        self, trial: Trial, released: Bools, iterations: int, *, begin: Trial | None = None, restarts: bool = False
    ) -> Trial:
        """Continue from a trial, or another one's pose, without the limits of the dofs (n,) that are released."""
        before = trial.workspace
        pose = (begin or trial).workspace.state
        system = before.system._replace(
            lower=np.where(released, -np.inf, before.system.lower),
            upper=np.where(released, np.inf, before.system.upper),
            bounded=before.system.bounded & ~released,
        )
        none = np.zeros(len(before.goals), dtype=np.bool_)
        workspace = Workspace(self.skeleton, Assembly(system, before.joints, before.goals, none))
        copy_state(pose, workspace.state)
        copy_state(before.work.anchor, workspace.work.anchor)
        into_limits(workspace.system, workspace.work, workspace.state.q, workspace.state.t, workspace.state.x)
        return self._run(workspace, self._settings(workspace, iterations, restarts=restarts))

    def _workspace(
        self, chosen: Collection[int], instead: Mapping[int, Goal], kept: dict[int, float], *, levels: bool = False
    ) -> Workspace:
        """The chosen goals, aimed at their targets, in the pose to start from."""
        goals = [replace(instead.get(i, goal), enabled=i in chosen) for i, goal in enumerate(self.goals)]
        for i, distance in kept.items():
            goals[i] = kept_at(goals[i], distance)
        tolerance = (INSIDE * self.options.tolerance_m, INSIDE * math.radians(self.options.tolerance_deg))
        workspace = Workspace(
            self.skeleton, assemble(self._dofs, goals, tolerance, levels=levels, floor=self.options.floor)
        )
        system = workspace.system
        for k in np.flatnonzero(system.moves).tolist():
            if only_aims(system, k):
                # As in the solve itself: the root does not go to where all points are in one direction.
                system.spread[system.first[k] : system.first[k] + 3] = 0.0
        workspace.pose_at(self.pose.rotations, self.pose.translations)
        workspace.aim_at(*self._targets)
        workspace.begin()
        return workspace

    def _run(self, workspace: Workspace, settings: Settings) -> Trial:
        settings = settings._replace(max_iterations=min(settings.max_iterations, max(0, self.left)))
        self._engine.solve_batch(workspace, settings, onward=True)
        self.left -= int(workspace.one.iterations[0])
        error = float(workspace.state.e @ workspace.state.e)
        # Misses that are not of a goal's kind are 0.
        off = (workspace.work.miss > workspace.system.tolerance).any(axis=1)
        misses = {int(workspace.goals[g]): tuple(workspace.work.miss[g].tolist()) for g in np.flatnonzero(off)}
        missed = {i: misses[i] for i in sorted(misses)}
        return Trial(workspace, error, missed)


_ONWARD = 80
"""Iterations at most, from the pose."""
_CLEARLY, _TOLERANCES = 0.1, 10.0
"""An excess is clear above this part of what geometry explains, and above this number of tolerances."""
_HALF = 0.5
"""Limits that cost less than this part of the rest are not reported."""
_AT_REST = 0.9
"""A pose is not at rest if a trial brings goals below this part of their miss."""


class _Excess(NamedTuple):
    """How far goals are missed beyond what geometry explains: the worst goal, metres of its miss, and of the gap."""

    goal: int
    gap: Gap
    metres: float


def beyond(trials: Trials, seen: Trial, gaps: Sequence[Gap], names: Sequence[str]) -> Iterator[Reason]:
    """Further reasons of goals that are out of reach: iterations that ran out, limits that clearly add to the miss.

    Args:
        trials: where to solve.
        seen: the pose as it is.
        gaps: what is out of reach, by places in the list of goals.
        names: of all goals.
    """
    gaps = _of_places(gaps)
    rest, stuck = _nearer(trials, seen, gaps) if gaps else (seen, False)
    for i in dict.fromkeys(_worst(seen, gap) for gap in gaps):
        now, then = _miss(seen, i), _miss(rest, i)
        if rest.error < seen.error and then < _AT_REST * now and not trials.options.exact:
            by_default = trials.options.method in METHODS
            text = _stopped(trials, seen, names[i], now, then) if stuck else _unrest(names[i], now, then, by_default)
            yield Reason(Cause.OTHER, text, (i,))
    excesses = [_excess_beyond(rest, gap) for gap in gaps]
    clear = [one for one in excesses if _is_clear(trials, one)]
    if clear and trials.options.limits:
        yield from _limits(trials, clear)


def clear_gaps(trials: Trials, seen: Trial, gaps: Sequence[Gap]) -> list[Gap]:
    """The gaps whose goals a pose misses clearly more than geometry explains.

    Args:
        trials: where to solve.
        seen: the pose as it is.
        gaps: what is out of reach, by places in the list of goals.
    """
    gaps = [gap for gap in _of_places(gaps) if set(gap.goals) <= set(trials.served)]
    return [gap for gap in gaps if _is_clear(trials, _excess_beyond(seen, gap))]


def nearer(trials: Trials, seen: Trial, gaps: Sequence[Gap]) -> tuple[Trial, ...]:
    """The pose as it is and, where there are clear gaps, the one that the default method reaches from it."""
    return (seen, _nearer(trials, seen, gaps)[0]) if gaps else (seen,)


def beats(known: Trial, seen: Trial, gaps: Sequence[Gap]) -> bool:
    """Whether a known trial brings a goal of a gap, the one missed most, clearly nearer than the pose as it is."""
    return any(_miss(known, i) < _AT_REST * _miss(seen, i) for i in {_worst(seen, gap) for gap in gaps})


def _of_places(gaps: Sequence[Gap]) -> list[Gap]:
    return [gap for gap in gaps if gap.miss is not Miss.TURN and gap.short < END]


def _nearer(trials: Trials, seen: Trial, gaps: Sequence[Gap]) -> tuple[Trial, bool]:
    """Where a further solve from the pose ends, and whether it needed restarts because no step from here helped."""
    rest = trials.solve(trials.asked, _ONWARD)
    if trials.options.method not in METHODS or not any(_is_clear(trials, _excess_beyond(rest, gap)) for gap in gaps):
        return rest, False
    escaped = trials.solve(trials.asked, _ONWARD, restarts=True)
    if not escaped.error < _AT_REST * rest.error:
        return rest, False
    return escaped, rest.error > _AT_REST * seen.error


def _is_clear(trials: Trials, excess: _Excess) -> bool:
    return excess.metres > _TOLERANCES * trials.options.tolerance_m + _CLEARLY * excess.gap.short


def _stopped(trials: Trials, seen: Trial, name: str, now: float, then: float) -> str:
    """The line for a pose from which no step leads nearer although nearer poses exist."""
    limited = near_limits(seen.workspace.system, seen.workspace.state.x).any()
    where = "against its limits" if limited else "in a singular pose"
    by_default = f"the default method brings it to {metres(then)}"
    return f"{name} is {metres(now)} off: {trials.options.method} stopped {where}, {by_default}"


def _unrest(name: str, now: float, then: float, by_default: bool) -> str:
    how = "the default method brings" if by_default else "more iterations bring"
    return f"{name} is {metres(now)} off yet: {how} it to {metres(then)}"


def _limits(trials: Trials, clear: Sequence[_Excess]) -> Iterator[Reason]:
    """The limits without which goals come about as near as geometry allows."""
    if any(is_flat(_shell_of(trials, one.goal).along) for one in clear):  # no goal is for a wider one
        return
    kept: dict[int, float] = {}
    for goal, gap, more in clear:
        kept[goal] = max(_allowed(trials, goal, gap, _HALF * more), 0.0)
    stuck = trials.solve(trials.asked, _ONWARD, kept=kept)
    if stuck.missed:
        escaped = trials.solve(trials.asked, _ONWARD, kept=kept, restarts=True)
        stuck = escaped if escaped.error < stuck.error else stuck
    if not stuck.missed:
        return
    freed, limits = without_limits(trials, stuck)
    if limits and not freed.missed.keys() & kept.keys():
        yield Reason(Cause.LIMITS, f"also blocked by limits: {listed(limits)}")


def _shell_of(trials: Trials, i: int) -> Shell:
    goal = trials.goals[i]
    return KINDS[goal.kind].shell(goal) or AT_TARGET


def _allowed(trials: Trials, i: int, gap: Gap, more: float) -> float:
    """Metres from its target at which geometry, and some more, lets a goal be."""
    shell = _shell_of(trials, i)
    wide = gap.miss is Miss.WIDE and shell.least > 0.0
    return shell.least - gap.short - more if wide else shell.most + gap.short + more


def _excess_beyond(trial: Trial, gap: Gap) -> _Excess:
    return _Excess(_worst(trial, gap), gap, sum(_miss(trial, i) for i in gap.goals) - gap.short)


def _worst(trial: Trial, gap: Gap) -> int:
    """The goal of a gap that is missed most."""
    return max(gap.goals, key=lambda i: _miss(trial, i))


def _miss(trial: Trial, i: int) -> float:
    """Metres by which a goal is missed."""
    return trial.missed.get(i, (0.0, 0.0))[0]
