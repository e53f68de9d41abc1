"""The closed form of two links for a limb anywhere in a rig, for every pair of joints.

The elbow is bent until the end is as far from the shoulder as the target is, then the shoulder is turned until it
points there; with two parallel hinges both angles are those of the plane. Of the possible bends, the one that turns the
elbow least and reaches inside the limits is taken, so that the limb stays in its plane. Stiffness counts
only where it is 1: a closed form cannot move a joint by a part of its turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from viewer.ik.backends.compiled import algebra
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, STALLED, UNREACHABLE
from viewer.ik.methods.common import Problem, Tuning
from viewer.ik.methods.figure import (
    Figure,
    Vector,
    across,
    axes_of,
    cross,
    dot,
    exp,
    inverse,
    length,
    log,
    minus,
    multiply,
    rotate,
    scaled,
    unit,
)
from viewer.ik.methods.fit import Pair, fit_axis, fit_ball, turn_axis, turn_ball
from viewer.ik.methods.two_link import elbow_angles, two_link_algebraic, two_link_geometric

EXACT = 1e-9
"""Part of a limb's length below which a miss is rounding."""
_PASSES = 20
"""A joint with several axes is turned about each in turn, this often at most."""


class Limb(NamedTuple):
    """Two joints that bring an effector to its target, and a third that then rotates it.

    Attributes:
        goal: the goal.
        shoulder: the upper joint.
        elbow: the lower one.
        wrist: the joint that a pose goal rotates; -1: none, the goal then only positions the effector.
    """

    goal: int
    shoulder: int
    elbow: int
    wrist: int

    def end(self, figure: Figure) -> Vector:
        """The position of the limb's end, world frame."""
        return figure.point[self.goal] if self.wrist < 0 else figure.place[self.wrist]

    def wanted(self, figure: Figure) -> Vector:
        """The target of the limb's end, world frame."""
        target = figure.target[self.goal]
        if self.wrist < 0:
            return target
        return minus(target, rotate(figure.rotation[self.goal], figure.goal_offset[self.goal]))

    def links(self, figure: Figure) -> tuple[Vector, Vector, float]:
        """Vectors from the elbow to the shoulder and to the end, and the target's distance from the shoulder."""
        shoulder, elbow = figure.place[self.shoulder], figure.place[self.elbow]
        distance = length(minus(self.wanted(figure), shoulder))
        return minus(shoulder, elbow), minus(self.end(figure), elbow), distance


def in_reach(figure: Figure, limb: Limb) -> bool:
    """Whether some bend of the elbow gives the target's distance from the shoulder, in the plane of a planar limb."""
    upper, lower, distance = limb.links(figure)
    axes = _bend_axes(figure, limb)
    if _in_plane(figure, limb):
        beside = dot(figure.angle_axis(limb.elbow, 0), minus(limb.wanted(figure), limb.end(figure)))
        if abs(beside) > figure.tolerance:
            return False
    return any(abs(elbow_angles(upper, lower, distance, axis)[1]) <= figure.tolerance for _, axis in axes)


def ways(figure: Figure, limb: Limb, tuning: Tuning) -> Iterator[Callable[[], None]]:
    """Ways to solve a limb from the current pose, the ones that bend the elbow least first."""
    if _in_plane(figure, limb):
        yield from _ways_in_plane(figure, limb, tuning)
        return
    if figure.ball[limb.elbow] and not figure.ball[limb.shoulder]:
        yield from _ways_by_shoulder(figure, limb)
    upper, lower, distance = limb.links(figure)
    # A straight or folded limb counts as bent to both sides, whatever rounding gives.
    least = -EXACT * length(upper) * length(lower)
    bends = []
    for i, axis in _bend_axes(figure, limb):
        angles, _ = elbow_angles(upper, lower, distance, axis)
        for rank, angle in enumerate(angles):
            side = dot(axis, cross(scaled(upper, -1.0), rotate(exp(scaled(axis, angle)), lower)))
            if tuning.bend * side >= least:
                bends.append((rank, i, axis, angle))
    # All smaller turns before all larger ones; sorting keeps the order of the axes.
    for _, i, axis, angle in sorted(bends, key=lambda bend: bend[0]):

        def bend(i: int = i, axis: Vector = axis, angle: float = angle) -> None:
            if i < 0:
                turn_ball(figure, limb.elbow, exp(scaled(axis, angle)))
            else:
                turn_axis(figure, limb.elbow, i, angle)
            _point(figure, limb, limb.shoulder)

        yield bend


def _ways_by_shoulder(figure: Figure, limb: Limb) -> Iterator[Callable[[], None]]:
    """Ways for a shoulder that turns about axes only: bring the elbow to the lower link's length from the target.

    The ball joint at the elbow then points the link there.
    """
    upper, lower, _ = limb.links(figure)
    to_target = minus(limb.wanted(figure), figure.place[limb.shoulder])
    for i in figure.angles[limb.shoulder]:
        axis = figure.angle_axis(limb.shoulder, i)
        angles, _ = elbow_angles(to_target, scaled(upper, -1.0), length(lower), axis)
        for angle in angles:

            def turn(i: int = i, angle: float = angle) -> None:
                turn_axis(figure, limb.shoulder, i, angle)
                _point(figure, limb, limb.elbow)

            yield turn


def _point(figure: Figure, limb: Limb, k: int) -> None:
    """Rotate joint k so that the limb's end comes as near to its target as possible."""

    def pairs() -> list[Pair]:
        figure.refresh()
        pivot = figure.place[k]
        return [(minus(limb.end(figure), pivot), minus(limb.wanted(figure), pivot), 1.0)]

    fit(figure, k, pairs)


def _bend_axes(figure: Figure, limb: Limb) -> list[tuple[int, Vector]]:
    """World axes about which the elbow can bend, that of its present bend first, each with its angle (-1: freely)."""
    k = limb.elbow
    upper, lower, _ = limb.links(figure)
    normal = cross(lower, upper)
    angles = [(i, figure.angle_axis(k, i)) for i in figure.angles[k]]
    axes = [(i, axis) for i, axis in angles if length(cross(axis, lower)) > EXACT * length(lower)]
    axes.sort(key=lambda pair: -abs(dot(pair[1], normal)))
    if figure.form[k] not in (algebra.TURNS, algebra.SWING_TWIST) or not figure.ball[k]:
        return axes
    if length(normal) > EXACT * length(upper) * length(lower):
        return [(-1, unit(normal)), *axes]
    # Straight or folded: any axis across it serves; one of the joint's axes may fit its limits better.
    own = [minus(axis, scaled(lower, dot(axis, lower) / dot(lower, lower))) for axis in axes_of(figure.turn[k])]
    own.sort(key=length, reverse=True)
    return [(-1, unit(axis)) for axis in own[:2]] + axes


def _in_plane(figure: Figure, limb: Limb) -> bool:
    """Whether shoulder and elbow are hinges with parallel axes."""
    if any(figure.form[k] != algebra.HINGE for k in (limb.shoulder, limb.elbow)):
        return False
    return length(cross(figure.angle_axis(limb.shoulder, 0), figure.angle_axis(limb.elbow, 0))) < EXACT


def _ways_in_plane(figure: Figure, limb: Limb, tuning: Tuning) -> Iterator[Callable[[], None]]:
    """Both branches of the planar closed form, the one with the elbow's present side first."""
    axis = figure.angle_axis(limb.shoulder, 0)
    x = across(axis)
    y = cross(axis, x)
    upper, lower, _ = limb.links(figure)
    to_target = minus(limb.wanted(figure), figure.place[limb.shoulder])
    (a, b), (c, d), target = ((dot(v, x), dot(v, y)) for v in (scaled(upper, -1.0), lower, to_target))
    now, bend = math.atan2(b, a), math.atan2(a * d - b * c, a * c + b * d)
    derive = two_link_geometric if tuning.geometric else two_link_algebraic
    sense = 1.0 if dot(figure.angle_axis(limb.elbow, 0), axis) > 0.0 else -1.0
    first = 1 if bend >= 0.0 else -1
    for branch in (tuning.bend,) if tuning.bend else (first, -first):
        one, two = derive(*target, (math.hypot(a, b), math.hypot(c, d)), branch)

        def turn(one: float = one, two: float = two) -> None:
            turn_axis(figure, limb.shoulder, 0, math.remainder(one - now, 2.0 * math.pi))
            turn_axis(figure, limb.elbow, 0, sense * math.remainder(two - bend, 2.0 * math.pi))

        yield turn


def fit(figure: Figure, k: int, pairs: Callable[[], list[Pair]]) -> None:
    """Turn joint k so that the cost of the pairs is least; they are computed again after every turn."""
    if figure.ball[k]:
        fit_ball(figure, k, pairs())
    angles = figure.angles[k]
    for _ in range(_PASSES):
        made = [fit_axis(figure, k, i, pairs()) for i in angles]
        if len(angles) < 2 or all(max(map(abs, turn[:3])) < EXACT for turn in made):
            break
    figure.refresh()


def freed(problem: Problem) -> Problem:
    """The problem without step cap and partial stiffness."""
    spread = np.where(problem.s.spread > 0.0, problem.s.unit, 0.0)
    settings = problem.settings._replace(step_cap=math.inf)
    return problem._replace(s=problem.s._replace(spread=spread), settings=settings)


def solve(problem: Problem) -> tuple[int, int]:
    """Solve every limb with a position goal once, from the base outwards.

    Limbs may share joints: they are solved in turn as long as their total cost falls.
    """
    _, worst = problem.evaluate(problem.state)
    # A limb that meets its goal may still bend to the wrong side.
    asked = problem.tuning.bend != 0 or problem.tuning.elbow != 0
    if worst <= 1.0 and problem.settings.least_iterations == 0 and not asked:
        return CONVERGED, 0
    figure, iterations, spanned = Figure(freed(problem)), 0, True
    limbs = [limb for g in range(len(figure.kind)) if (limb := find_limb(figure, g)) is not None]
    while iterations < problem.settings.max_iterations:
        iterations += 1
        before = _cost(figure, limbs)
        reached = [solve_limb(figure, limb, problem.tuning) for limb in limbs]
        spanned = all(reached)
        if not (asked and iterations == 1) and not _cost(figure, limbs) < (1.0 - EXACT) * before:
            break
        figure.store(problem.state)
        _, worst = problem.evaluate(problem.state)
        if worst <= 1.0:
            return CONVERGED, iterations
    else:
        return BUDGET, iterations
    return (STALLED if spanned else UNREACHABLE), iterations


def find_limb(figure: Figure, g: int) -> Limb | None:
    """The limb that serves a goal; None if the goal has no position, or fewer than two joints can move the effector."""
    joint = figure.goal_joint[g]
    if figure.goal_lengths[g] != 3:
        return None
    if figure.goal_turns[g] and (figure.ball[joint] or figure.angles[joint]):
        pair = _two_above(figure, figure.parent[joint], figure.place[joint])
        if pair is not None:
            return Limb(g, *pair, joint)
    pair = _two_above(figure, joint, figure.point[g])
    return None if pair is None else Limb(g, *pair, -1)


def joints_of(figure: Figure, g: int) -> tuple[int, ...]:
    """The two joints that place the effector of a goal; none where there is no limb."""
    limb = find_limb(figure, g)
    return () if limb is None else (limb.shoulder, limb.elbow)


def solve_limb(figure: Figure, limb: Limb, tuning: Tuning) -> bool:
    """Move a limb's end to its target and turn its wrist; False where no bend reaches and no other joint moves it."""
    start = figure.x[:], figure.q[:], figure.t[:]
    chosen, least, height, side = start, math.inf, -math.inf, tuning.elbow
    upper, lower, _ = limb.links(figure)
    exact = EXACT * (length(upper) + length(lower))
    spanned = in_reach(figure, limb)
    for bend in ways(figure, limb, tuning):
        bend()
        figure.refresh()
        miss = length(minus(limb.wanted(figure), limb.end(figure)))
        own_height = side * figure.place[limb.elbow][1]
        nearer, higher = miss < least and least > exact, miss <= exact and own_height > height + exact
        if nearer or (side and higher):
            least, height, chosen = miss, own_height, (figure.x[:], figure.q[:], figure.t[:])
        figure.x, figure.q, figure.t = start[0][:], start[1][:], start[2][:]
        figure.refresh()
        if least <= exact and not side:
            break
    figure.x, figure.q, figure.t = chosen
    figure.refresh()
    if limb.wrist >= 0:
        turn_wrist(figure, limb)
    own = [k for k in limb[1:] if k >= 0]
    return least <= exact or spanned or figure.moved_by_others(limb.goal, own)


def _cost(figure: Figure, limbs: list[Limb]) -> float:
    """Weighted squared misses of the limbs' ends, and turns of their wrists."""
    total = 0.0
    for limb in limbs:
        miss = figure.weight[limb.goal] * length(minus(limb.wanted(figure), limb.end(figure)))
        total += miss * miss
        if limb.wrist >= 0:
            turn = multiply(figure.rotation[limb.goal], inverse(figure.turn[limb.wrist]))
            off = figure.turn_weight[limb.goal] * length(log(turn))
            total += off * off
    return total


def turn_wrist(figure: Figure, limb: Limb) -> None:
    """Turn the wrist to the goal's rotation, as far as its kind and limits allow."""

    def pairs() -> list[Pair]:
        found, expected = axes_of(figure.turn[limb.wrist]), axes_of(figure.rotation[limb.goal])
        return [(r, d, 1.0) for r, d in zip(found, expected, strict=True)]

    fit(figure, limb.wrist, pairs)


def _two_above(figure: Figure, k: int, end: Vector) -> tuple[int, int] | None:
    """The next joint at or above k that can move a point, and the next one that can move that joint."""
    found: list[int] = []
    while k >= 0 and len(found) < 2:
        if moves_point(figure, k, end):
            found.append(k)
            end = figure.place[k]
        k = figure.parent[k]
    return (found[1], found[0]) if len(found) == 2 else None


def moves_point(figure: Figure, k: int, point: Vector) -> bool:
    """Whether turning joint k moves a point: joints that roll about the line to it, or are at it, do not."""
    arm = minus(point, figure.place[k])
    if figure.ball[k]:
        return length(arm) > figure.least_arm
    return any(length(cross(figure.angle_axis(k, i), arm)) > figure.least_arm for i in figure.angles[k])
