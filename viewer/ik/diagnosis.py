"""Why goals are missed: too far, too near, blocked by limits, or in conflict with each other.

What geometry excludes comes first (`viewer.ik.reach`). For the rest, parts of the problem are solved again: without
the limits that hold the pose back, or without some of the goals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice

import numpy as np

from viewer.ik import limit_relaxation
from viewer.ik.contact.touching import contacts
from viewer.ik.contact.volumes import TOUCHES
from viewer.ik.findings import Cause, Reason, blocked_by, degrees, gap_reason, labels, metres, off, other, together
from viewer.ik.goals import KINDS, Goal, pose_kind
from viewer.ik.goals.shell import AT_TARGET, is_flat
from viewer.ik.limit_relaxation import Trial, Trials, without_limits
from viewer.ik.methods import METHODS
from viewer.ik.reach import Gap, Miss, Reach
from viewer.ik.solver_options import Options
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import Floats

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

    Args:
        skeleton: the joints.
        goals: G goals; those that are disabled are left out.
        targets: (G, 3) and (G, 4), settled: see `viewer.ik.workspace.Targets.settle`.
        pose: the one that the solve ended in.
        options: those of the solve.
    """
    with np.errstate(all="ignore"):
        return tuple(dict.fromkeys(_Diagnosis(Trials(skeleton, goals, targets, pose, options)).reasons()))


class Nearest:
    """Whether poses are about the nearest ones to goals that are out of reach.

    Nearer poses are searched for once, from the first pose that is asked about. Later ones are compared with what was
    found: all must be of the same problem.

    Args:
        skeleton: the joints.
        goals: as for `diagnose`.
        options: those of the solve.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], options: Options) -> None:
        """Nothing is searched for yet."""
        self._problem = skeleton, goals, options
        self._known: Sequence[Trial] = ()

    def __call__(self, targets: tuple[Floats, Floats], pose: Pose) -> bool:
        """Ask about a pose; targets as for `diagnose`."""
        skeleton, goals, options = self._problem
        with np.errstate(all="ignore"):
            trials = Trials(skeleton, goals, targets, pose, options)
            seen = trials.look()
            gaps = limit_relaxation.clear_gaps(trials, seen, main_gaps(seen))
            self._known = self._known or limit_relaxation.nearer(trials, seen, gaps)
            return not any(limit_relaxation.beats(known, seen, gaps) for known in self._known)


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
        """All reasons."""
        seen = self.trials.look()
        blocked = list(blocked_by_contact(self.trials, seen))
        if blocked:
            yield from blocked
            return
        places = seen.workspace.goals.tolist()
        self.group = dict(zip(places, seen.workspace.system.goal_group.tolist(), strict=True))
        if not seen.missed and self.functions:
            yield other("the function goals are not met")
        gaps = main_gaps(seen) if seen.missed else []
        for gap in gaps:
            yield gap_reason(gap, [self.names[i] for i in gap.goals], [self._kept(i, gap) for i in gap.goals])
        explained = {i for gap in gaps for i in gap.goals}
        if any(i not in explained and i in self.trials.served for i in seen.missed):
            yield from self._rest(seen, [gap.goals[0] for gap in gaps], explained)
        elif not gaps:
            yield from self._unserved(seen)
        if gaps:
            yield from limit_relaxation.beyond(self.trials, seen, gaps, self.names)
        if self.trials.levelled:
            yield from self._yielding(seen)

    def _yielding(self, seen: Trial) -> Iterator[Reason]:
        """The goals that give way: those of a level below one whose goals are all met."""
        levels = {i: self.trials.goals[i].level for i in self.trials.asked}
        missed, tolerance = seen.missed, seen.workspace.system.tolerance
        lost = min((levels[i] for i in missed), default=0)
        above = [i for i in levels if levels[i] < lost]
        if above:
            named = [f"{self.names[i]} ({off(missed[i], tolerance)})" for i in missed]
            give = "give" if len(named) > 1 else "gives"
            text = f"{together(named)} {give} way to level {max(levels[i] for i in above)}"
            yield Reason(Cause.LEVEL, text, tuple(missed))

    def _kept(self, i: int, gap: Gap) -> float:
        """Metres that a goal is to keep from its target: the least where it cannot get that far, else the most."""
        goal = self.trials.goals[i]
        shell = KINDS[goal.kind].shell(goal) or AT_TARGET
        return 0.0 if is_flat(shell.along) else shell.least if gap.miss is Miss.WIDE else shell.most

    def _unserved(self, seen: Trial) -> Iterator[Reason]:
        """Goals that are missed only because the method does not serve them."""
        method, tolerance = self.trials.options.method, seen.workspace.system.tolerance
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
        freed, limits = without_limits(self.trials, stuck) if self.trials.options.limits else (stuck, [])
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
                miss = off(stuck.missed[i], stuck.workspace.system.tolerance)
                lost = stuck.missed[i][0] > _LOST
                why = "too far for numbers to tell which pose is nearer" if lost else "no pose nearer to it was found"
                yield Reason(Cause.OTHER if lost else Cause.FAR, f"{self.names[i]} is {miss} off: {why}", (i,))

    def _met(self, seen: Trial, out: list[int], explained: set[int]) -> Iterator[Reason]:
        """Lines for when a further solve meets all goals in reach: something else drew the pose away."""
        tolerance = seen.workspace.system.tolerance
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
        met = short <= trial.workspace.system.tolerance[0]
        text = f"{name} can meet its position goal or its rotation goal, not both"
        brief = f"Position or rotation, not both: {name}"
        if met:
            text += f": at its position it is {degrees(turn)} off"
            brief += f", {degrees(turn)} off at its position"
        return Reason(Cause.EITHER, text, (i,), brief)


def blocked_by_contact(trials: Trials, seen: Trial) -> Iterator[Reason]:
    """Goals that could be met if bodies went through each other, or what overlaps where none is missed.

    Args:
        trials: where to solve; they go through everything.
        seen: the pose as it is.
    """
    contact = trials.options.contact
    if not contact or trials.options.method in METHODS:
        return
    touching = contacts(trials.skeleton, seen.workspace.pose(trials.pose), contact)
    overlapping = [one for one in touching if one.depth_m > TOUCHES]
    if not seen.missed:
        yield from (other(f"{one.body} overlaps {one.other} by {metres(one.depth_m)}") for one in overlapping)
        return
    through = trials.solve(trials.asked, _POLISH)
    if not touching or through.error > _TRAPPED * seen.error:
        return
    there = contacts(trials.skeleton, through.workspace.pose(trials.pose), contact)
    deep = {(one.body, one.other) for one in there if one.depth_m > TOUCHES}
    # Bodies that are touched and would be penetrated are in the way; feet on a floor usually are not.
    named = [one for one in touching if (one.body, one.other) in deep] or touching
    yield blocked_by(Cause.CONTACT, [f"{one.body} touches {one.other}" for one in named])


def main_gaps(trial: Trial) -> list[Gap]:
    """Gaps that geometry excludes, each goal once, the main one first; goals by index."""
    workspace = trial.workspace
    system, state = workspace.system, workspace.state
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
    places = workspace.goals.tolist()
    return [gap._replace(goals=tuple(places[goal] for goal in gap.goals)) for gap in found.values()]
