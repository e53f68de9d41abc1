"""Why goals are missed: too far, too near, blocked by limits, or in conflict with each other.

What geometry excludes comes first (`viewer.ik.reach`). For the rest, parts of the problem are solved again: without
the limits that hold the pose back, or without some of the goals.

The limits that keep goals from being met are those that constrained optimisation gives significant multipliers. They
are found by continuing the solve without the limits that the pose is at, and then restoring every one that the result
does not depend on.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import NamedTuple

import numpy as np

from viewer.ik.assemble import Assembly, assemble, dof_table_of
from viewer.ik.backends import engine_for
from viewer.ik.buffers import Buffers
from viewer.ik.contact.volumes import TOUCHES, contacts
from viewer.ik.findings import (
    Cause,
    Reason,
    blocked_by,
    degrees,
    gap_reason,
    labels,
    limit_name,
    listed,
    metres,
    off,
    other,
    together,
)
from viewer.ik.goals import KINDS, Goal, pose_kind
from viewer.ik.goals.distance import kept_at
from viewer.ik.goals.kind import AT_TARGET, Shell, is_flat
from viewer.ik.kernels.joints import into_limits
from viewer.ik.levels import only_aims
from viewer.ik.levenberg_marquardt import CHOICE
from viewer.ik.methods import METHODS
from viewer.ik.mobility import metric, principal
from viewer.ik.reach import END, Gap, Miss, Reach
from viewer.ik.solver_options import INSIDE, ONE_SHOT, Options, seeds_for, serves_levels
from viewer.ik.system import Settings, copy_state, near_limits
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import Bools, Floats, Ints

_POLISH, _ESCAPE, _PART = 40, 80, 40
"""Iterations of a trial at most: of all goals onward from the pose, with restarts, of a part of the problem."""
_PAIRS = 10
"""Pairs of goals that are tried at most."""
_LOST = 1e15
"""Metres; from a target this far all poses are equally near, but for rounding."""
_LITTLE = 1e-2
"""Part of its weight that a rotation has where the position comes first."""
_TRAPPED = 0.5
"""A pose is a trap if there is another with less than this part of its squared error."""


def diagnose(
    skeleton: Skeleton, goals: Sequence[Goal], targets: tuple[Floats, Floats], pose: Pose, options: Options
) -> tuple[Reason, ...]:
    """Why goals are missed; empty if all are met.

    Goals that are disabled are left out. ``targets`` (G, 3) and (G, 4) are settled: see
    `viewer.ik.buffers.Targets.settle`. ``pose`` is the one that the solve ended in.
    """
    with np.errstate(all="ignore"):
        return tuple(dict.fromkeys(_Diagnosis(Trials(skeleton, goals, targets, pose, options)).reasons()))


class Nearest:
    """Whether poses are about the nearest ones to goals that are out of reach.

    Nearer poses are searched for once, from the first pose that is asked about. Later ones are compared with what was
    found: all must be of the same problem.

    ``goals`` are as for `diagnose`.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], options: Options) -> None:
        self._problem = skeleton, goals, options
        self._known: Sequence[Trial] = ()

    def __call__(self, targets: tuple[Floats, Floats], pose: Pose) -> bool:
        """Ask about a pose; targets as for `diagnose`."""
        skeleton, goals, options = self._problem
        with np.errstate(all="ignore"):
            trials = Trials(skeleton, goals, targets, pose, options)
            seen = trials.look()
            gaps = [gap for gap in _of_places(_main_gaps(seen)) if set(gap.goals) <= set(trials.served)]
            # Only those that the pose misses clearly more than geometry explains.
            gaps = [gap for gap in gaps if _is_clear(trials, _excess_beyond(seen, gap))]
            if not self._known:
                self._known = (seen, _nearer(trials, seen, gaps)[0]) if gaps else (seen,)
            worst = {_worst(seen, gap) for gap in gaps}
            return not any(_miss(known, i) < _AT_REST * _miss(seen, i) for known in self._known for i in worst)


class _Diagnosis:
    """One diagnosis."""

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self.names = labels(trials.goals)
        self.group: dict[int, int] = {}
        method = METHODS.get(trials.options.method)
        served = method is None or method.has_jacobian
        asked = any(goal.enabled and not KINDS[goal.kind].built_in for goal in trials.goals)
        self.functions, self.unserved_functions = asked and served, asked and not served

    def reasons(self) -> Iterator[Reason]:
        seen = self.trials.look()
        blocked = list(_blocked_by_contact(self.trials, seen))
        if blocked:
            yield from blocked
            return
        places = seen.buffers.goals.tolist()
        self.group = dict(zip(places, seen.buffers.system.goal_group.tolist(), strict=True))
        if not seen.missed and self.functions:
            yield other("the function goals are not met")
        gaps = _main_gaps(seen) if seen.missed else []
        for gap in gaps:
            yield gap_reason(gap, [self.names[i] for i in gap.goals], [self._kept(i, gap) for i in gap.goals])
        explained = {i for gap in gaps for i in gap.goals}
        if any(i not in explained and i in self.trials.served for i in seen.missed):
            yield from self._rest(seen, [gap.goals[0] for gap in gaps], explained)
        elif not gaps:
            yield from self._unserved(seen)
        if gaps:
            yield from _beyond_geometry(self.trials, seen, gaps, self.names)
        if self.trials.levelled:
            yield from self._yielding(seen)

    def _yielding(self, seen: Trial) -> Iterator[Reason]:
        """The goals that give way: those of a level below one whose goals are all met."""
        levels = {i: self.trials.goals[i].level for i in self.trials.asked}
        missed, tolerance = seen.missed, seen.buffers.system.tolerance
        lost = min((levels[i] for i in missed), default=0)
        above = [i for i in levels if levels[i] < lost]
        if above:
            named = [f"{self.names[i]} ({off(missed[i], tolerance)})" for i in missed]
            give = "give" if len(named) > 1 else "gives"
            text = f"{together(named)} {give} way to level {max(levels[i] for i in above)}"
            yield Reason(Cause.LEVEL, text, tuple(missed))

    def _kept(self, i: int, gap: Gap) -> float:
        """Metres that a goal is to keep from its target: the least where it cannot get that far, else the most."""
        shell = self.trials.shell(i)
        return 0.0 if is_flat(shell.along) else shell.least if gap.miss is Miss.WIDE else shell.most

    def _unserved(self, seen: Trial) -> Iterator[Reason]:
        """Goals that are missed only because the method does not serve them."""
        method, tolerance = self.trials.options.method, seen.buffers.system.tolerance
        for i, miss in seen.missed.items():
            yield Reason(Cause.OTHER, f"{self.names[i]} is {off(miss, tolerance)} off: {method} cannot serve it", (i,))
        if self.unserved_functions:
            yield other(f"the function goals are not met: {method} cannot serve them")

    def _rest(self, seen: Trial, out: list[int], explained: set[int]) -> Iterator[Reason]:
        """Why goals are missed that are not out of reach; ``out``: those that are."""
        rest = [i for i in self.trials.asked if i not in out]
        stuck = self.trials.solve(rest, _POLISH)
        if not stuck.missed:
            yield from self._met(seen, out, explained)
            return
        escaped = self.trials.solve(rest, _ESCAPE, restarts=True)
        if not escaped.missed:
            yield other(f"in reach: restarts find a pose that meets every {'other ' if out else ''}goal")
            return
        if escaped.error < _TRAPPED * stuck.error:
            stuck = escaped
        freed, limits = _without_limits(self.trials, stuck) if self.trials.options.limits else (stuck, [])
        blocked = blocked_by(Cause.LIMITS, limits) if limits else None
        if blocked is not None and not freed.missed.keys() - explained:
            yield blocked
        else:
            yield from self._parts(stuck, [i for i in stuck.missed if i not in explained], rest, blocked)

    def _parts(self, stuck: Trial, missed: list[int], rest: list[int], blocked: Reason | None) -> Iterator[Reason]:
        """Find which of the missed goals can be met alone, and why the others cannot."""
        alone = [i for i in missed if self._can(i)]
        found = self._conflicts(alone, rest)
        for group in found:
            yield self._conflict(group)
        left = [i for i in missed if not any(i in group for group in found)]
        twofold = [i for i in left if i not in alone and self._either(i)]
        for i in twofold:
            yield self._one_of_two(i)
        left = [i for i in left if i not in twofold]
        if left and blocked is not None:
            yield blocked
        elif left:
            for i in left:
                miss = off(stuck.missed[i], stuck.buffers.system.tolerance)
                lost = stuck.missed[i][0] > _LOST
                why = "too far for numbers to tell which pose is nearer" if lost else "no pose nearer to it was found"
                yield Reason(Cause.OTHER if lost else Cause.FAR, f"{self.names[i]} is {miss} off: {why}", (i,))

    def _met(self, seen: Trial, out: list[int], explained: set[int]) -> Iterator[Reason]:
        """Lines for when a further solve meets all goals in reach: something else drew the pose away."""
        tolerance = seen.buffers.system.tolerance
        served = [i for i in seen.missed if i not in explained and i in self.trials.served]
        rest = {i: off(seen.missed[i], tolerance) for i in served}
        missed = {self.names[i]: miss for i, miss in rest.items()}
        groups = {self.group[i] for i in rest}
        # Only a goal that moves some of the same joints can have drawn them away.
        drawn = [i for i in out if self.group[i] in groups]
        without = f"without {together([self.names[i] for i in drawn])} " if drawn else ""
        if self.trials.options.method in METHODS and (drawn or not self.functions):
            every = f"every {'other ' if out else ''}goal{' but functions' if self.unserved_functions else ''}"
            yield other(f"in reach: {without}the default method meets {every}")
        elif drawn:
            give = "give" if len(missed) > 1 else "gives"
            who = together([f"{name} ({miss})" for name, miss in missed.items()])
            yield Reason(Cause.LEVEL, f"{who} {give} way to {together([self.names[i] for i in drawn])}", tuple(rest))
        elif self.functions:
            names = together([*missed, "the function goals"])
            text, brief = f"goals conflict: {names} cannot all be met", f"Goals conflict: {names}"
            yield Reason(Cause.CONFLICT, text, tuple(rest), brief)
        else:
            yield other("in reach: more iterations meet every goal")

    def _conflicts(self, alone: list[int], rest: list[int]) -> list[tuple[int, ...]]:
        """Goals that can be met alone but not together: pairs if there are any."""
        others = [i for i in rest if i not in alone]
        pairs = combinations(alone, 2) if len(alone) > 1 else ((i, other) for i in alone for other in others)
        # Goals that share no joint cannot conflict.
        near = (pair for pair in pairs if self.group[pair[0]] == self.group[pair[1]])
        found: list[tuple[int, ...]] = [pair for pair in islice(near, _PAIRS) if not self._can(*pair)]
        if alone and not found and self.trials.left and len({self.group[i] for i in alone}) == 1:
            found = [tuple(alone)]
        return found

    def _can(self, *chosen: int) -> bool:
        """Whether some goals can be met without the others; assumed to be true once iterations have run out."""
        return not self.trials.solve(chosen, _PART, restarts=True).missed or not self.trials.left

    def _either(self, i: int) -> bool:
        """Whether a goal for a position and a rotation can have one of them, but not both."""
        goal = self.trials.goals[i]
        kinds = (pose_kind(point=True, rotation=False), pose_kind(point=False, rotation=True))
        if not KINDS[goal.kind].sets_pose or goal.kind in kinds:
            return False
        parts = [{i: replace(goal, kind=kind)} for kind in kinds]
        return not any(self.trials.solve([i], _PART, restarts=True, instead=part).missed for part in parts)

    def _conflict(self, group: tuple[int, ...]) -> Reason:
        """That goals can be met alone but not together, or one not beside the others."""
        names = together([self.names[i] for i in group])
        how = (
            "be met beside the others (alone it can)",
            "both be met (each alone can)",
            "all be met (each alone can)",
        )[min(len(group), 3) - 1]
        brief = f"Goals conflict: {names}{' and the others' if len(group) == 1 else ''}"
        return Reason(Cause.CONFLICT, f"goals conflict: {names} cannot {how}", group, brief)

    def _one_of_two(self, i: int) -> Reason:
        """That a goal can have its position or its rotation, and how far the rotation is off at the position."""
        goal, name = self.trials.goals[i], self.names[i]
        placed = {i: replace(goal, rotation_weight=_LITTLE * goal.rotation_weight)}
        trial = self.trials.solve([i], _PART, restarts=True, instead=placed)
        short, turn = trial.missed.get(i, (math.inf, 0.0))
        met = short <= trial.buffers.system.tolerance[0]
        text = f"{name} can meet its position goal or its rotation goal, not both"
        brief = f"Position or rotation, not both: {name}"
        if met:
            text += f": at its position it is {degrees(turn)} off"
            brief += f", {degrees(turn)} off at its position"
        return Reason(Cause.EITHER, text, (i,), brief)


def _blocked_by_contact(trials: Trials, seen: Trial) -> Iterator[Reason]:
    """Goals that could be met if bodies went through each other, or what overlaps where none is missed.

    ``trials`` go through everything; ``seen``: the pose as it is.
    """
    contact = trials.options.contact
    if not contact or trials.options.method in METHODS:
        return
    touching = contacts(trials.skeleton, seen.buffers.pose(trials.pose), contact)
    overlapping = [one for one in touching if one.depth_m > TOUCHES]
    if not seen.missed:
        yield from (other(f"{one.body} overlaps {one.other} by {metres(one.depth_m)}") for one in overlapping)
        return
    through = trials.solve(trials.asked, _POLISH)
    if not touching or through.error > _TRAPPED * seen.error:
        return
    there = contacts(trials.skeleton, through.buffers.pose(trials.pose), contact)
    deep = {(one.body, one.other) for one in there if one.depth_m > TOUCHES}
    # Bodies that are touched and would be penetrated are in the way; feet on a floor usually are not.
    named = [one for one in touching if (one.body, one.other) in deep] or touching
    yield blocked_by(Cause.CONTACT, [f"{one.body} touches {one.other}" for one in named])


def _main_gaps(trial: Trial) -> list[Gap]:
    """Gaps that geometry excludes, each goal once, the main one first; goals by index."""
    buffers = trial.buffers
    system, state = buffers.system, buffers.state
    gaps = sorted(Reach(system).gaps(system, state.q, state.t), key=lambda gap: -gap.short)
    found: dict[int, Gap] = {}
    for gap in gaps:
        if len(gap.goals) == 1:
            found.setdefault(gap.goals[0], gap)
    pairs = [gap for gap in gaps if len(gap.goals) > 1 and not found.keys() & set(gap.goals)]
    while pairs:
        # Of two goals, the one in conflict with more others is reported.
        blamed, _ = Counter(goal for gap in pairs for goal in gap.goals).most_common(1)[0]
        worst = next(gap for gap in pairs if blamed in gap.goals)
        found[blamed] = worst._replace(goals=tuple(sorted(worst.goals, key=lambda goal: goal != blamed)))
        pairs = [gap for gap in pairs if blamed not in gap.goals]
    places = buffers.goals.tolist()
    return [gap._replace(goals=tuple(places[goal] for goal in gap.goals)) for gap in found.values()]


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


def _beyond_geometry(trials: Trials, seen: Trial, gaps: Sequence[Gap], names: Sequence[str]) -> Iterator[Reason]:
    """Further reasons of goals that are out of reach: iterations that ran out, limits that clearly add to the miss.

    ``seen``: the pose as it is; ``gaps``: what is out of reach, by places in the list of goals.
    """
    gaps = _of_places(gaps)
    rest, stuck = _nearer(trials, seen, gaps) if gaps else (seen, False)
    for i in dict.fromkeys(_worst(seen, gap) for gap in gaps):
        now, then = _miss(seen, i), _miss(rest, i)
        if rest.error < seen.error and then < _AT_REST * now and not trials.options.exact:
            yield Reason(Cause.OTHER, _unrest(trials, seen, stuck, names[i], now, then), (i,))
    excesses = [_excess_beyond(rest, gap) for gap in gaps]
    clear = [one for one in excesses if _is_clear(trials, one)]
    if clear and trials.options.limits:
        yield from _limits(trials, clear)


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


def _unrest(trials: Trials, seen: Trial, stuck: bool, name: str, now: float, then: float) -> str:
    """The line for a pose that is not at rest; ``stuck``: no step from it leads nearer although nearer poses exist."""
    method, there = trials.options.method, metres(then)
    if stuck:
        limited = near_limits(seen.buffers.system, seen.buffers.state.x).any()
        where = "against its limits" if limited else "in a singular pose"
        return f"{name} is {metres(now)} off: {method} stopped {where}, the default method brings it to {there}"
    how = "the default method brings" if method in METHODS else "more iterations bring"
    return f"{name} is {metres(now)} off yet: {how} it to {there}"


def _limits(trials: Trials, clear: Sequence[_Excess]) -> Iterator[Reason]:
    """The limits without which goals come about as near as geometry allows."""
    if any(is_flat(trials.shell(one.goal).along) for one in clear):  # no goal is for a wider one
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
    freed, limits = _without_limits(trials, stuck)
    if limits and not freed.missed.keys() & kept.keys():
        yield Reason(Cause.LIMITS, f"also blocked by limits: {listed(limits)}")


def _allowed(trials: Trials, i: int, gap: Gap, more: float) -> float:
    """Metres from its target at which geometry, and some more, lets a goal be."""
    shell = trials.shell(i)
    wide = gap.miss is Miss.WIDE and shell.least > 0.0
    return shell.least - gap.short - more if wide else shell.most + gap.short + more


def _excess_beyond(trial: Trial, gap: Gap) -> _Excess:
    return _Excess(_worst(trial, gap), gap, sum(_miss(trial, i) for i in gap.goals) - gap.short)


def _worst(trial: Trial, gap: Gap) -> int:
    return max(gap.goals, key=lambda i: _miss(trial, i))


def _miss(trial: Trial, i: int) -> float:
    """Metres by which a goal is missed."""
    return trial.missed.get(i, (0.0, 0.0))[0]


_ITERATIONS, _LEAP = 25, 120
_ROUNDS = 3
"""Rounds of releasing: a released dof may bring others to their limits."""
_LEFT_BEHIND = 1e-3
"""Radians or units of length that count as beyond a limit."""
_MATTERS = 0.5
"""If releasing limits leaves more than this part of the squared error, something else is the cause."""
_AS_GOOD = 1.1
_FEW, _MOST_TRIES = 6, 8


def _without_limits(trials: Trials, stuck: Trial) -> tuple[Trial, list[str]]:
    """The trial without the limits that block it, and their names; the trial itself if none does.

    ``stuck``: at rest, with goals missed.
    """
    system = stuck.buffers.system
    freed, released = stuck, np.zeros(len(system.lower), dtype=np.bool_)
    for _ in range(_ROUNDS):
        more = near_limits(system, freed.buffers.state.x) & ~released & (system.spread > 0.0)
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
    joints = [trials.skeleton.names[joint] for joint in stuck.buffers.joints]
    x = freed.buffers.state.x
    ends = np.where(x > system.upper, system.upper, system.lower)
    return freed, [limit_name(system, joints, d, float(ends[d])) for d in needed.tolist()]


def _needed(trials: Trials, stuck: Trial, freed: Trial, released: Bools) -> tuple[Trial, Ints]:
    """Indices of the released dofs that the result depends on, farthest beyond their limits first."""
    order = _past_limits(stuck, freed, released)
    # Half of them at a time while the result is as good; then one by one, the least beyond its limit first.
    while len(order) > _FEW and (tried := _as_good(trials, stuck, freed, order[: len(order) // 2])):
        freed, order = tried, _past_limits(stuck, tried, released)
    for d in order[::-1][:_MOST_TRIES].tolist():
        rest = order[order != d]
        if len(rest) and (tried := _as_good(trials, stuck, freed, rest)):
            freed, order = tried, rest
    return freed, order[_excess_of_dofs(stuck, freed)[order] > _LEFT_BEHIND]


def _as_good(trials: Trials, stuck: Trial, freed: Trial, released: Ints) -> Trial | None:
    """A trial without the limits of these dofs (places) alone, if it gets as near as ``freed``."""
    mask = np.zeros(len(stuck.buffers.system.lower), dtype=np.bool_)
    mask[released] = True
    for begin in (stuck, freed):
        tried = trials.release(stuck, mask, _ITERATIONS, begin=begin)
        if not tried.missed or (freed.missed and tried.error <= _AS_GOOD * freed.error):
            return tried
    return None


def _past_limits(stuck: Trial, freed: Trial, released: Bools) -> Ints:
    """Places of the released dofs that are beyond their limits, the farthest first."""
    excess = _excess_of_dofs(stuck, freed)
    places = np.flatnonzero(released & (excess > _LEFT_BEHIND))
    return places[np.argsort(-excess[places], kind="stable")]


def _excess_of_dofs(stuck: Trial, freed: Trial) -> Floats:
    """(n,) radians or units of length by which dofs are beyond the limits that they had."""
    system, x = stuck.buffers.system, freed.buffers.state.x
    return np.asarray(np.maximum(system.lower - x, x - system.upper) / system.unit)


_EFFORT, _LEAST, _MOST = 40_000, 60, 400
"""Iterations of all trials of a problem: the first number divided by its dofs and rows, within the other two."""
_RESTARTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The result of solving some of the goals.

    Attributes:
        buffers: holds the pose found, and the goals' system.
        error: squared, weighted.
        missed: metres and radians by which goals are off, by their places in the list; goals that are met are not here.
    """

    buffers: Buffers
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

    def shell(self, i: int) -> Shell:
        """Where a goal lets its effector be."""
        return KINDS[self.goals[i].kind].shell(self.goals[i]) or AT_TARGET

    def look(self) -> Trial:
        """All goals in the current pose; also sets how many iterations a problem of this size may take."""
        buffers = self._buffers(self.asked, {}, {})
        effort = _EFFORT // (1 + len(buffers.work.step) + len(buffers.work.y))
        self.left = min(max(effort, _LEAST), _MOST)
        return self._run(buffers, Settings(max_iterations=0))

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

        ``chosen``: their places in the list; ``restarts``: whether to restart from other poses, too; ``instead``: goals
        in place of those of the list; ``kept``: metres that goals keep from their targets, instead of what they are
        for.
        """
        buffers = self._buffers(chosen, instead or {}, kept or {}, levels=self.levelled and not restarts)
        return self._run(buffers, self._settings(buffers, iterations, restarts=restarts))

    def _settings(self, buffers: Buffers, iterations: int, *, restarts: bool) -> Settings:
        """The settings of a trial; also draws the buffers' seeds for restarts."""
        if not restarts:
            return Settings(max_iterations=iterations)
        seeds = seeds_for(buffers.system, self.skeleton, self.options.seed)
        # Of those near the pose, and of those farther off.
        half, count = len(seeds) // 2, _RESTARTS * CHOICE // 2
        seeds = np.concatenate([seeds[:count], seeds[half : half + count]])
        buffers.system = buffers.system._replace(seeds=seeds)
        return ONE_SHOT._replace(pull=0.0, restarts=_RESTARTS, max_iterations=iterations)

    def release(
        self, trial: Trial, released: Bools, iterations: int, *, begin: Trial | None = None, restarts: bool = False
    ) -> Trial:
        """Continue from a trial, or another one's pose, without the limits of the dofs (n,) that are released."""
        before = trial.buffers
        pose = (begin or trial).buffers.state
        system = before.system._replace(
            lower=np.where(released, -np.inf, before.system.lower),
            upper=np.where(released, np.inf, before.system.upper),
            bounded=before.system.bounded & ~released,
        )
        none = np.zeros(len(before.goals), dtype=np.bool_)
        buffers = Buffers(self.skeleton, Assembly(system, before.joints, before.goals, none))
        copy_state(pose, buffers.state)
        copy_state(before.work.anchor, buffers.work.anchor)
        into_limits(buffers.system, buffers.work, buffers.state.q, buffers.state.t, buffers.state.x)
        return self._run(buffers, self._settings(buffers, iterations, restarts=restarts))

    def _buffers(
        self, chosen: Collection[int], instead: Mapping[int, Goal], kept: dict[int, float], *, levels: bool = False
    ) -> Buffers:
        """The chosen goals, aimed at their targets, in the pose to start from."""
        goals = [replace(instead.get(i, goal), enabled=i in chosen) for i, goal in enumerate(self.goals)]
        for i, distance in kept.items():
            goals[i] = kept_at(goals[i], distance)
        tolerance = (INSIDE * self.options.tolerance_m, INSIDE * math.radians(self.options.tolerance_deg))
        buffers = Buffers(
            self.skeleton, assemble(self._dofs, goals, tolerance, levels=levels, floor=self.options.floor)
        )
        system = buffers.system
        for k in np.flatnonzero(system.moves).tolist():
            if only_aims(system, k):
                # As in the solve itself: the root does not go to where all points are in one direction.
                system.spread[system.first[k] : system.first[k] + 3] = 0.0
        buffers.pose_at(self.pose.rotations, self.pose.translations)
        buffers.aim_at(*self._targets)
        buffers.begin()
        return buffers

    def _run(self, buffers: Buffers, settings: Settings) -> Trial:
        settings = settings._replace(max_iterations=min(settings.max_iterations, max(0, self.left)))
        self._engine.solve_batch(buffers, settings, onward=True)
        self.left -= int(buffers.one.iterations[0])
        error = float(buffers.state.e @ buffers.state.e)
        # Misses that are not of a goal's kind are 0.
        off = (buffers.work.miss > buffers.system.tolerance).any(axis=1)
        misses = {int(buffers.goals[g]): tuple(buffers.work.miss[g].tolist()) for g in np.flatnonzero(off)}
        missed = {i: misses[i] for i in sorted(misses)}
        return Trial(buffers, error, missed)
