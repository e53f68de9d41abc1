"""Grips: goals for the fingers of a hand instead of one for the hand, and the result of these.

Each fingertip is drawn to the middle of the object, and contact stops it at the surface. These pulls are never met;
whether the grip is met is measured in the resulting pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.buffers import numbers
from viewer.ik.contact import Contact, Mesh
from viewer.ik.contact.values import Object
from viewer.ik.contact.volumes import measured, object_gaps, volumes_of
from viewer.ik.findings import Cause, Reason, labels, metres, other
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.goal import LAST_LEVEL
from viewer.ik.goals.grip import Finger, fingers_of
from viewer.ik.solution import Diagnose, Findings, Solution, Status, solution_of
from viewer.skeleton import JointKind, Pose, Skeleton, at_or_below, effector_of, rest_world
from viewer.spatial.checks import Bools, Floats, Ints, Vector
from viewer.spatial.quaternion import conjugate, multiply, rotate

_WEIGHT = 0.2
"""Weight of a fingertip's goal, in weights of the grip."""
_ON = 4.0
"""How near to the surface a finger is on it, in what counts as touching: 2 mm for figures of human size."""


class _Grip(NamedTuple):
    """A grip goal of the given list.

    Attributes:
        place: its index in the list.
        tests: by finger, (N, 2) its capsules and the object, as in `viewer.ik.contact.volumes.Volumes`.
    """

    place: int
    goal: Goal
    fingers: list[Finger]
    tests: list[Ints]


def loop_goals(skeleton: Skeleton) -> tuple[Goal, ...]:
    """The goals, of the first level, that keep a skeleton's loops closed."""
    found = []
    for number, loop in enumerate(skeleton.loops):
        turn: Floats | bool = False
        if loop.rigid:
            rest = rest_world(skeleton).rotations
            a, b = (effector_of(skeleton, name).joint for name in (loop.a, loop.b))
            turn = multiply(conjugate(rest[a]), rest[b])
        found.append(Goal.relative(loop.a, loop.b, np.zeros(3), turn, level=0, id=f"loop {number + 1}"))
    return tuple(found)


class Grips:
    """The grips among the goals of a solver, and the loops of its skeleton, which become goals by themselves.

    Attributes:
        goals: the goals to solve: the given ones, in order, and at the end the pulls in place of grips.
        adds: whether there are goals besides those given: of grips, enabled or not, or of loops.
        loops: goals of the skeleton's loops, after those.
        grips: whether there are grips, enabled or not.
        found: the grips that are enabled.
        stays: whether hands are held, because there are only grips.
    """

    def __init__(
        self, skeleton: Skeleton, given: Sequence[Goal], contact: Contact | None, *, served: bool, moves: bool = False
    ) -> None:
        """Replace each grip by pulls of fingertips.

        ``served``: whether the method supports contact; else nothing replaces grips. ``moves``: fingers draw the figure
        along where there are only grips.

        Raises:
            InputError: an object that the contact does not have, a hand without fingers.
        """
        self.skeleton, self.given, self.contact = skeleton, tuple(given), contact
        self.found: list[_Grip] = []
        self.stays = False
        self.loops = loop_goals(skeleton) if given else ()
        self.grips = any(KINDS[goal.kind].grips for goal in given)
        self.goals = (*self.given, *self.loops)
        self.adds = bool(self.loops)
        if not self.grips:
            return
        alone = not any(goal.enabled and not KINDS[goal.kind].grips for goal in given)
        self.stays = served and alone and not moves and any(goal.enabled for goal in given)
        goals, pulls = list(given), []
        for place, (goal, label) in enumerate(zip(given, labels(given), strict=True)):
            if not KINDS[goal.kind].grips:
                continue
            one, fingers = _object_of(goal, contact), fingers_of(skeleton, goal.effector)
            middle, level = middle_of(one), min(goal.level + (self.stays or not alone), LAST_LEVEL)
            made = [_pull(goal, label, finger, skeleton, middle, level) for finger in fingers]
            if goal.enabled and served:
                tests = self._tests(goal, one, fingers)
                self.found.append(_Grip(place, goal, fingers, tests))
            else:
                made = [replace(pull, enabled=False) for pull in made]
            # Indices of goals do not change: the first pull is at the index of the grip.
            goals[place], more = made[0], made[1:]
            pulls += more
            if self.stays and goal.enabled:
                pulls.append(Goal.pin(goal.effector, level=goal.level, id=f"{label}: stays"))
        self.goals = (*goals, *pulls, *self.loops)
        self.adds = len(self.goals) > len(self.given)

    def _tests(self, goal: Goal, one: Object, fingers: Sequence[Finger]) -> list[Ints]:
        assert self.contact is not None
        volumes = volumes_of(self.skeleton, self.contact)
        place = list(self.contact.objects).index(one)
        joints, about = volumes.joint[volumes.tests[:, 0]], volumes.tests[:, 1] == place
        tests = [volumes.tests[about & np.isin(joints, finger.joints)] for finger in fingers]
        for finger, some in zip(fingers, tests, strict=True):
            if not len(some):
                what = f"grip goal for {quote(goal.effector)}"
                raise InputError(f"{what}: the {finger.name} has no body that may touch {quote(goal.to)}")
        return tests

    @property
    def others(self) -> tuple[Goal, ...]:
        """`goals` with the pulls off."""
        kept = {id(goal) for goal in (*self.given, *self.loops)}
        return tuple(goal if id(goal) in kept else replace(goal, enabled=False) for goal in self.goals)

    def spread(
        self, targets: ArrayLike | None, target_rotations: ArrayLike | None
    ) -> tuple[ArrayLike | None, ArrayLike | None]:
        """Targets (G, 3) and (G, 4) of one call, a row per goal given, as rows of `goals`; None as it is.

        Raises:
            InputError: another shape.
        """
        if not self.adds:
            return targets, target_rotations
        return self._spread(targets, 3, "targets"), self._spread(target_rotations, 4, "target rotations")

    def _spread(self, rows: ArrayLike | None, width: int, what: str) -> ArrayLike | None:
        if rows is None:
            return None
        table = np.full((len(self.goals), width), np.nan)
        table[: len(self.given)] = numbers(rows, (len(self.given), width), what)
        for place, goal in enumerate(self.given):
            if KINDS[goal.kind].grips:
                table[place] = np.nan
        return table

    @property
    def near(self) -> float:
        """Metres from the surface within which a finger is on it."""
        assert self.contact is not None
        return _ON * float(volumes_of(self.skeleton, self.contact).slack[0])

    def gaps(self, pose: Pose) -> list[Floats]:
        """By grip, (F,) metres between each finger and the object, negative where they overlap."""
        if not self.found or self.contact is None:
            return []
        every = np.concatenate([some for grip in self.found for some in grip.tests])
        flat = object_gaps(*measured(self.skeleton, self.contact, pose), every)
        ends = np.cumsum([len(some) for grip in self.found for some in grip.tests])
        least = iter([float(part.min()) for part in np.split(flat, ends[:-1])])
        return [np.array([next(least) for _ in grip.fingers]) for grip in self.found]

    def far(self, pose: Pose, at_limit: Iterable[str]) -> list[Floats]:
        """By grip, (F,) metres of each finger from the object; 0 where it is on it or its joints are at a limit."""
        limits, found = set(at_limit), []
        for grip, gaps in zip(self.found, self.gaps(pose), strict=True):
            stopped = np.array([self._cannot_close(finger, limits) for finger in grip.fingers])
            found.append(np.where((gaps <= self.near) | stopped, 0.0, gaps))
        return found

    def _cannot_close(self, finger: Finger, limits: set[str]) -> bool:
        """Whether the joints of a finger after its first are at a limit."""
        moving = [j for j in finger.joints if self.skeleton.kinds[j] is not JointKind.FIXED]
        names = {self.skeleton.names[j] for j in moving[1:] or moving}
        return bool(names) and limits >= names

    def folded(
        self, solution: Solution, solved: Findings, spared: set[int], *, overlaps: bool, others: Diagnose
    ) -> Solution:
        """The solution of `goals` as a solution of the given goals.

        ``spared``: places of holds of a level below another, which may be missed; ``overlaps``: whether the pose goes
        through something; ``others`` says why goals other than grips are missed.
        """
        far = cache(lambda: self.far(solution.pose, solved.at_limit))
        levels = np.array([goal.level if goal.enabled else -1 for goal in self.given])
        found = Findings(
            self.skeleton,
            solved.tolerance,
            levels > levels[levels >= 0].min(initial=LAST_LEVEL),
            partial(self._errors, solved, far),
            lambda: solved.at_limit,
            solved.contacts,
        )
        report, loops = solution.report, self._open_loops(solved)
        missed = set(np.flatnonzero(found.missed).tolist()) - spared
        if report.status is not Status.DIVERGED and not overlaps and not missed and not loops:
            report = report._replace(status=Status.CONVERGED)
        return solution_of(report, solution.pose, found, partial(self._diagnosis, found, far, loops, others))

    def _errors(self, solved: Findings, far: Callable[[], list[Floats]]) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of the goals given: of grips that of the finger farthest off, in place of pulls."""
        lengths, angles = (part[: len(self.given)].copy() for part in solved.errors)
        lengths[[KINDS[goal.kind].grips for goal in self.given]] = np.nan
        for grip, fingers in zip(self.found, far(), strict=True):
            lengths[grip.place] = float(fingers.max())
        return lengths, angles

    def _open_loops(self, solved: Findings) -> list[tuple[str, str, float]]:
        """The names of loops that are not closed, with metres between their ends."""
        first = len(self.goals) - len(self.loops)
        ends = zip(self.loops, solved.errors[0][first:].tolist(), solved.missed[first:].tolist(), strict=True)
        return [(loop.effector, loop.to, gap) for loop, gap, missed in ends if missed]

    def _diagnosis(
        self,
        found: Findings,
        far: Callable[[], list[Floats]],
        open_loops: Sequence[tuple[str, str, float]],
        others: Diagnose,
    ) -> tuple[Reason, ...]:
        missed = found.missed
        reasons = [other(f"the loop of {a} and {b} stays {metres(gap)} open") for a, b, gap in open_loops]
        for grip, gaps in zip(self.found, far(), strict=True):
            if (gaps > 0.0).any() and (own := self._held_by(grip, missed)):
                why = f"{own}'s own goal keeps it from the {grip.goal.to}"
                reasons.append(Reason(Cause.CONFLICT, why, (grip.place,), why))
            for finger, gap in zip(grip.fingers, gaps.tolist(), strict=True):
                if gap > 0.0:
                    who = f"the {finger.name} of {grip.goal.effector}"
                    line = f"{who} does not reach the {grip.goal.to}: {metres(gap)} off"
                    reasons.append(Reason(Cause.FAR, line, (grip.place,)))
        missed[[grip.place for grip in self.found]] = False
        if missed.any() or not reasons:
            given = range(len(self.given))  # not pulls or loops, which come after them
            reasons += [one._replace(goals=tuple(i for i in one.goals if i in given)) for one in others()]
        return tuple(reasons)

    def _held_by(self, grip: _Grip, missed: Bools) -> str:
        """The effector on a hand, or on its fingers, with a goal that is met: it comes before the grip; else ""."""
        hand = at_or_below(self.skeleton, self.skeleton.index(grip.goal.effector))
        placed = ((i, goal) for i, goal in enumerate(self.given) if goal.enabled and KINDS[goal.kind].sets_position)
        own = (
            goal.effector
            for i, goal in placed
            if not missed[i] and hand[effector_of(self.skeleton, goal.effector).joint]
        )
        return next(own, "")


@lru_cache(maxsize=16)
def _alone(skeleton: Skeleton, goal: Goal, contact: Contact) -> Grips:
    return Grips(skeleton, (goal,), contact, served=True)


def farthest_finger(skeleton: Skeleton, pose: Pose, goal: Goal, contact: Contact, at_limit: Iterable[str]) -> float:
    """Metres of the farthest finger of an enabled grip from its object in a pose; 0 where it holds.

    Raises:
        InputError: as of `Grips`.
    """
    (far,) = _alone(skeleton, goal, contact).far(pose, at_limit)
    return float(far.max())


def middle_of(one: Object) -> Vector:
    """The middle of an object, metres, world frame: of a mesh that of the box around its vertices."""
    if not isinstance(one, Mesh):
        return one.center
    assert one.vertices is not None
    low, high = one.vertices.min(axis=0), one.vertices.max(axis=0)
    x, y, z = (rotate(np.array(one.rotation), one.scale * 0.5 * (low + high)) + one.center).tolist()
    return x, y, z


def _object_of(goal: Goal, contact: Contact | None) -> Object:
    what = f"grip goal for {quote(goal.effector)}"
    if contact is None or not contact.objects:
        raise InputError(f"{what}: expected a contact with the object {quote(goal.to)}, found no objects")
    found = next((one for one in contact.objects if one.name == goal.to), None)
    if found is None:
        raise InputError(f"{what}: {unknown_name('object', goal.to, [one.name for one in contact.objects])}")
    return found


def _pull(goal: Goal, label: str, finger: Finger, skeleton: Skeleton, middle: Vector, level: int) -> Goal:
    """A fingertip's goal: about its last joint, or an effector of that name, which may be beside it."""
    name = skeleton.names[finger.joints[-1]]
    beside = effector_of(skeleton, name).offset
    return Goal.position(
        name,
        middle,
        offset=np.subtract(finger.tip, beside),
        weight=_WEIGHT * goal.weight,
        enabled=goal.enabled,
        level=level,
        id=f"{label}: {finger.name}",
    )
