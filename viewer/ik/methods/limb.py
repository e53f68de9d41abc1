"""The closed form of two links for a limb anywhere in a rig: the two joints above an effector that can turn it.

The elbow is bent until the end is as far from the shoulder as the target is, then the shoulder is turned until it
points there; with two parallel hinges both angles are those of the plane. Of the ways to bend, the one that turns the
elbow least and reaches inside the limits is taken, so that the limb stays in the plane it is bent in. Stiffness counts
only where it is whole: a closed form has no half ways.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.driver import BUDGET, CONVERGED, STALLED, UNREACHABLE
from viewer.ik.methods.figure import Figure
from viewer.ik.methods.limb_ways import EXACT, Limb, fit, in_reach, ways
from viewer.ik.methods.vectors import Vector, axes_of, cross, inverse, length, log, minus, multiply

if TYPE_CHECKING:
    from viewer.ik.methods.common import Problem, Tuning
    from viewer.ik.methods.fit import Pair


def freed(problem: Problem) -> Problem:
    """The problem without step cap and partial stiffness."""
    spread = np.where(problem.s.spread > 0.0, problem.s.unit, 0.0)
    settings = problem.settings._replace(step_cap=math.inf)
    return problem._replace(s=problem.s._replace(spread=spread), settings=settings)


def solve(problem: Problem) -> tuple[int, int]:
    """Every limb with a place to reach, once, from the base outwards.

    Limbs that share joints take them from each other: they are solved in turn for as long as all together gain.
    """
    _, worst = problem.evaluate(problem.state)
    # A limb that is there may still be on the other side than the one asked for.
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
    """The limb that serves a goal, or None: it asks for no place, or fewer than two joints can move it."""
    kind, joint = figure.kind[g], figure.goal_joint[g]
    if kind not in (kernels.POSITION, kernels.POSE):
        return None
    if kind == kernels.POSE and (figure.ball[joint] or figure.angles[joint]):
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
    """Place a limb's end (and turn its wrist); False where no bend reaches and nothing else moves it."""
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
    """Turn the wrist to where the goal wants the effector, as far as its kind and limits let it."""

    def pairs() -> list[Pair]:
        are, ought = axes_of(figure.turn[limb.wrist]), axes_of(figure.rotation[limb.goal])
        return [(r, d, 1.0) for r, d in zip(are, ought, strict=True)]

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
    """Whether turning joint k moves a point: joints that roll about the line to it, or stand at it, do not."""
    arm = minus(point, figure.place[k])
    if figure.ball[k]:
        return length(arm) > figure.least_arm
    return any(length(cross(figure.angle_axis(k, i), arm)) > figure.least_arm for i in figure.angles[k])
