"""One or two links in closed form: a joint that points its effector, two links in the plane, and a limb anywhere.

In the plane: Lander, "Oh my god, I inverted Kine!" (Game Developer, September 1998). The equations are the corrected
ones: in print, equation 6 lacks the arctangent and has the wrong lengths, equation 5 gives one of the two branches, and
the reach test leaves out that a target can be too near. Positive angles turn x towards y.

The elbow is bent until the end is as far from the shoulder as the target is, then the shoulder is turned until it
points there; with two parallel hinges both angles are those of the plane. Of the possible bends, the one that turns the
elbow least and reaches inside the limits is taken, so that the limb stays in its plane. Only a
stiffness of 1 has an effect: a closed form cannot move a joint by a part of its turn.

With one joint per goal, the last one that can turn the effector points it at its target. The turn from the direction r
to the direction d is about r x d, by atan2(|r x d|, r . d): the common acos(r . d) loses its digits near 0 and near 180
degrees. At 180 degrees r x d is 0, and any axis at right angles to r will do (a fixed one, such as Z, would fail for an
r along it).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

from viewer.errors import InputError
from viewer.ik import algebra
from viewer.ik.goals import ROW_KINDS, Measure
from viewer.ik.levenberg_marquardt import BUDGET, CONVERGED, STALLED, UNREACHABLE
from viewer.ik.methods.common import Problem, Tuning
from viewer.ik.methods.mechanism import (
    Mechanism,
    Pair,
    across,
    axes_of,
    axis_pairs,
    cross,
    dot,
    exp,
    fit_axis,
    fit_ball,
    fits,
    freed,
    inverse,
    length,
    log,
    minus,
    multiply,
    pairs_for,
    rotate,
    scaled,
    turn_axis,
    turn_ball,
    unit,
    wrapped,
)
from viewer.spatial.checks import Vector, as_number

EXACT = 1e-9
"""Part of a limb's length below which a miss is rounding."""
_PASSES = 20
"""A joint with several axes is turned about one after the other, at most this many times."""


class Limb(NamedTuple):
    """Two joints that bring an effector to its target, and a third that then rotates it.

    Attributes:
        shoulder: the upper joint.
        elbow: the lower one.
        wrist: the joint that a pose goal rotates; -1: none, the goal then only positions the effector.
    """

    goal: int
    shoulder: int
    elbow: int
    wrist: int

    def end(self, mechanism: Mechanism) -> Vector:
        """The position of the limb's end, world frame."""
        return mechanism.point[self.goal] if self.wrist < 0 else mechanism.place[self.wrist]

    def wanted(self, mechanism: Mechanism) -> Vector:
        """The target of the limb's end, world frame."""
        target = mechanism.target[self.goal]
        if self.wrist < 0:
            return target
        return minus(target, rotate(mechanism.rotation[self.goal], mechanism.goal_offset[self.goal]))

    def links(self, mechanism: Mechanism) -> tuple[Vector, Vector, float]:
        """Vectors from the elbow to the shoulder and to the end, and the target's distance from the shoulder."""
        shoulder, elbow = mechanism.place[self.shoulder], mechanism.place[self.elbow]
        distance = length(minus(self.wanted(mechanism), shoulder))
        return minus(shoulder, elbow), minus(self.end(mechanism), elbow), distance


def in_reach(mechanism: Mechanism, limb: Limb) -> bool:
    """Whether some bend of the elbow gives the target's distance from the shoulder, in the plane of a planar limb."""
    upper, lower, distance = limb.links(mechanism)
    axes = _bend_axes(mechanism, limb)
    if _in_plane(mechanism, limb):
        beside = dot(mechanism.angle_axis(limb.elbow, 0), minus(limb.wanted(mechanism), limb.end(mechanism)))
        if abs(beside) > mechanism.tolerance:
            return False
    return any(abs(elbow_angles(upper, lower, distance, axis)[1]) <= mechanism.tolerance for _, axis in axes)


def ways(mechanism: Mechanism, limb: Limb, tuning: Tuning) -> Iterator[Callable[[], None]]:
    """Ways to solve a limb from the current pose, the ones that bend the elbow least first."""
    if _in_plane(mechanism, limb):
        yield from _ways_in_plane(mechanism, limb, tuning)
        return
    if mechanism.ball[limb.elbow] and not mechanism.ball[limb.shoulder]:
        yield from _ways_by_shoulder(mechanism, limb)
    upper, lower, distance = limb.links(mechanism)
    # A straight or folded limb counts as bent to both sides, because rounding would decide otherwise.
    least = -EXACT * length(upper) * length(lower)
    bends = []
    for i, axis in _bend_axes(mechanism, limb):
        angles, _ = elbow_angles(upper, lower, distance, axis)
        for rank, angle in enumerate(angles):
            side = dot(axis, cross(scaled(upper, -1.0), rotate(exp(scaled(axis, angle)), lower)))
            if tuning.bend * side >= least:
                bends.append((rank, i, axis, angle))
    # All smaller turns before all larger ones; sorting keeps the order of the axes.
    for _, i, axis, angle in sorted(bends, key=lambda bend: bend[0]):

        def bend(i: int = i, axis: Vector = axis, angle: float = angle) -> None:
            if i < 0:
                turn_ball(mechanism, limb.elbow, exp(scaled(axis, angle)))
            else:
                turn_axis(mechanism, limb.elbow, i, angle)
            _point(mechanism, limb, limb.shoulder)

        yield bend


def _ways_by_shoulder(mechanism: Mechanism, limb: Limb) -> Iterator[Callable[[], None]]:
    """Ways for a shoulder that turns about axes only: bring the elbow to the lower link's length from the target.

    The ball joint at the elbow then points the link there.
    """
    upper, lower, _ = limb.links(mechanism)
    to_target = minus(limb.wanted(mechanism), mechanism.place[limb.shoulder])
    for i in mechanism.angles[limb.shoulder]:
        axis = mechanism.angle_axis(limb.shoulder, i)
        angles, _ = elbow_angles(to_target, scaled(upper, -1.0), length(lower), axis)
        for angle in angles:

            def turn(i: int = i, angle: float = angle) -> None:
                turn_axis(mechanism, limb.shoulder, i, angle)
                _point(mechanism, limb, limb.elbow)

            yield turn


def _point(mechanism: Mechanism, limb: Limb, k: int) -> None:
    """Rotate joint k so that the limb's end comes as near to its target as possible."""

    def pairs() -> list[Pair]:
        mechanism.refresh()
        pivot = mechanism.place[k]
        return [(minus(limb.end(mechanism), pivot), minus(limb.wanted(mechanism), pivot), 1.0)]

    fit(mechanism, k, pairs)


def _bend_axes(mechanism: Mechanism, limb: Limb) -> list[tuple[int, Vector]]:
    """World axes about which the elbow can bend, that of its present bend first, each with its angle (-1: freely)."""
    k = limb.elbow
    upper, lower, _ = limb.links(mechanism)
    normal = cross(lower, upper)
    angles = [(i, mechanism.angle_axis(k, i)) for i in mechanism.angles[k]]
    axes = [(i, axis) for i, axis in angles if length(cross(axis, lower)) > EXACT * length(lower)]
    axes.sort(key=lambda pair: -abs(dot(pair[1], normal)))
    if mechanism.form[k] not in (algebra.TURNS, algebra.SWING_TWIST) or not mechanism.ball[k]:
        return axes
    if length(normal) > EXACT * length(upper) * length(lower):
        return [(-1, unit(normal)), *axes]
    # Straight or folded: any axis across it serves; one of the joint's axes may fit its limits better.
    own = [minus(axis, scaled(lower, dot(axis, lower) / dot(lower, lower))) for axis in axes_of(mechanism.turn[k])]
    own.sort(key=length, reverse=True)
    return [(-1, unit(axis)) for axis in own[:2]] + axes


def _in_plane(mechanism: Mechanism, limb: Limb) -> bool:
    """Whether shoulder and elbow are hinges with parallel axes."""
    if any(mechanism.form[k] != algebra.HINGE for k in (limb.shoulder, limb.elbow)):
        return False
    return length(cross(mechanism.angle_axis(limb.shoulder, 0), mechanism.angle_axis(limb.elbow, 0))) < EXACT


def _ways_in_plane(mechanism: Mechanism, limb: Limb, tuning: Tuning) -> Iterator[Callable[[], None]]:
    """Both branches of the planar closed form, the one with the elbow's present side first."""
    axis = mechanism.angle_axis(limb.shoulder, 0)
    x = across(axis)
    y = cross(axis, x)
    upper, lower, _ = limb.links(mechanism)
    to_target = minus(limb.wanted(mechanism), mechanism.place[limb.shoulder])
    (a, b), (c, d), target = ((dot(v, x), dot(v, y)) for v in (scaled(upper, -1.0), lower, to_target))
    now, bend = math.atan2(b, a), math.atan2(a * d - b * c, a * c + b * d)
    derive = two_link_geometric if tuning.geometric else two_link_algebraic
    sense = 1.0 if dot(mechanism.angle_axis(limb.elbow, 0), axis) > 0.0 else -1.0
    first = 1 if bend >= 0.0 else -1
    for branch in (tuning.bend,) if tuning.bend else (first, -first):
        one, two = derive(*target, (math.hypot(a, b), math.hypot(c, d)), branch)

        def turn(one: float = one, two: float = two) -> None:
            turn_axis(mechanism, limb.shoulder, 0, math.remainder(one - now, 2.0 * math.pi))
            turn_axis(mechanism, limb.elbow, 0, sense * math.remainder(two - bend, 2.0 * math.pi))

        yield turn


def fit(mechanism: Mechanism, k: int, pairs: Callable[[], list[Pair]]) -> None:
    """Turn joint k so that the cost of the pairs is least; they are computed again after every turn."""
    if mechanism.ball[k]:
        fit_ball(mechanism, k, pairs())
    angles = mechanism.angles[k]
    for _ in range(_PASSES):
        made = [fit_axis(mechanism, k, i, pairs()) for i in angles]
        if len(angles) < 2 or all(max(map(abs, turn[:3])) < EXACT for turn in made):
            break
    mechanism.refresh()


def solve(problem: Problem) -> tuple[int, int]:
    """Solve every limb with a position goal once, from the base outwards.

    Limbs may share joints: they are solved one after the other, again and again, as long as their total cost falls.
    """
    _, worst = problem.evaluate(problem.state)
    # A limb that meets its goal may still bend to the wrong side.
    asked = problem.tuning.bend != 0 or problem.tuning.elbow != 0
    if worst <= 1.0 and problem.settings.least_iterations == 0 and not asked:
        return CONVERGED, 0
    mechanism, iterations, spanned = Mechanism(freed(problem)), 0, True
    limbs = [limb for g in range(len(mechanism.kind)) if (limb := find_limb(mechanism, g)) is not None]
    while iterations < problem.settings.max_iterations:
        iterations += 1
        before = _cost(mechanism, limbs)
        reached = [solve_limb(mechanism, limb, problem.tuning) for limb in limbs]
        spanned = all(reached)
        if not (asked and iterations == 1) and not _cost(mechanism, limbs) < (1.0 - EXACT) * before:
            break
        mechanism.store(problem.state)
        _, worst = problem.evaluate(problem.state)
        if worst <= 1.0:
            return CONVERGED, iterations
    else:
        return BUDGET, iterations
    return (STALLED if spanned else UNREACHABLE), iterations


def find_limb(mechanism: Mechanism, g: int) -> Limb | None:
    """The limb that serves a goal; None if the goal has no position, or fewer than two joints can move the effector."""
    joint = mechanism.goal_joint[g]
    if not mechanism.goal_places[g]:
        return None
    if mechanism.goal_turns[g] and (mechanism.ball[joint] or mechanism.angles[joint]):
        pair = _two_above(mechanism, mechanism.parent[joint], mechanism.place[joint])
        if pair is not None:
            return Limb(g, *pair, joint)
    pair = _two_above(mechanism, joint, mechanism.point[g])
    return None if pair is None else Limb(g, *pair, -1)


def joints_of(mechanism: Mechanism, g: int) -> tuple[int, ...]:
    """The two joints that place the effector of a goal; none where there is no limb."""
    limb = find_limb(mechanism, g)
    return () if limb is None else (limb.shoulder, limb.elbow)


def solve_limb(mechanism: Mechanism, limb: Limb, tuning: Tuning) -> bool:
    """Move a limb's end to its target and turn its wrist; False where no bend reaches and no other joint moves it."""
    start = mechanism.x[:], mechanism.q[:], mechanism.t[:]
    chosen, least, height, side = start, math.inf, -math.inf, tuning.elbow
    upper, lower, _ = limb.links(mechanism)
    exact = EXACT * (length(upper) + length(lower))
    spanned = in_reach(mechanism, limb)
    for bend in ways(mechanism, limb, tuning):
        bend()
        mechanism.refresh()
        miss = length(minus(limb.wanted(mechanism), limb.end(mechanism)))
        own_height = side * mechanism.place[limb.elbow][1]
        nearer, higher = miss < least and least > exact, miss <= exact and own_height > height + exact
        if nearer or (side and higher):
            least, height, chosen = miss, own_height, (mechanism.x[:], mechanism.q[:], mechanism.t[:])
        mechanism.x, mechanism.q, mechanism.t = start[0][:], start[1][:], start[2][:]
        mechanism.refresh()
        if least <= exact and not side:
            break
    mechanism.x, mechanism.q, mechanism.t = chosen
    mechanism.refresh()
    if limb.wrist >= 0:
        wrist, wanted = limb.wrist, mechanism.rotation[limb.goal]
        fit(mechanism, wrist, lambda: axis_pairs(mechanism.turn[wrist], wanted, 1.0))
    own = [k for k in limb[1:] if k >= 0]
    return least <= exact or spanned or mechanism.moved_by_others(limb.goal, own)


def _cost(mechanism: Mechanism, limbs: list[Limb]) -> float:
    """Weighted squared misses of the limbs' ends, and turns of their wrists."""
    total = 0.0
    for limb in limbs:
        miss = mechanism.weight[limb.goal] * length(minus(limb.wanted(mechanism), limb.end(mechanism)))
        total += miss * miss
        if limb.wrist >= 0:
            turn = multiply(mechanism.rotation[limb.goal], inverse(mechanism.turn[limb.wrist]))
            off = mechanism.turn_weight[limb.goal] * length(log(turn))
            total += off * off
    return total


def _two_above(mechanism: Mechanism, k: int, end: Vector) -> tuple[int, int] | None:
    """The next joint at or above k that can move a point, and the next one that can move that joint."""
    found: list[int] = []
    while k >= 0 and len(found) < 2:
        if moves_point(mechanism, k, end):
            found.append(k)
            end = mechanism.place[k]
        k = mechanism.parent[k]
    return (found[1], found[0]) if len(found) == 2 else None


def moves_point(mechanism: Mechanism, k: int, point: Vector) -> bool:
    """Whether turning joint k moves a point: joints that roll about the line to it, or are at it, do not."""
    arm = minus(point, mechanism.place[k])
    if mechanism.ball[k]:
        return length(arm) > mechanism.least_arm
    return any(length(cross(mechanism.angle_axis(k, i), arm)) > mechanism.least_arm for i in mechanism.angles[k])


_NO_LEVER = 1e-12
_FAR = 100
"""Power of two: a target more lengths away than this counts as infinitely far."""
_LEAST = 5e-324
"""The smallest number above 0: replaces a length that vanishes beside the other."""

Two: TypeAlias = tuple[float, float]


def two_link_algebraic(x: float, y: float, lengths: tuple[float, float], branch: int = 1) -> tuple[float, float]:
    """Angles of two links from the origin to (x, y), by solving the equations of the end point.

    With x = L1 cos t1 + L2 cos(t1 + t2) and y the same with sines, x^2 + y^2 gives (Lander equation 5)
    cos t2 = (x^2 + y^2 - L1^2 - L2^2) / (2 L1 L2), and with it (equation 6, corrected)
    t1 = atan2(-(L2 sin t2) x + (L1 + L2 cos t2) y, (L2 sin t2) y + (L1 + L2 cos t2) x).

    Args:
        x: of the target, in any unit.
        y: of the target, in the same unit.
        lengths: L1 and L2, more than 0, in that unit.
        branch: 1: the second link turns on to the positive side (t2 >= 0), -1: to the other.

    Returns:
        t1, from the x axis, and t2, from the first link, radians in -pi .. pi. Out of reach: straight or folded, the
        end point as near to the target as it gets.

    Raises:
        InputError: NaN, infinite, a length that is not more than 0, another branch.
    """
    (x, y), (first, second) = _checked(x, y, lengths, branch)
    cosine = (x * x + y * y - first * first - second * second) / (2.0 * first * second)
    bend = branch * math.acos(min(max(cosine, -1.0), 1.0))
    across, along = second * math.sin(bend), first + second * math.cos(bend)
    return math.atan2(along * y - across * x, across * y + along * x), bend


def two_link_geometric(x: float, y: float, lengths: tuple[float, float], branch: int = 1) -> tuple[float, float]:
    """Angles of two links by the triangle of both and the line to the target; arguments: `two_link_algebraic`.

    By the law of cosines the angle at the base is acos((d^2 + L1^2 - L2^2) / (2 d L1)) and the one at the elbow
    acos((L1^2 + L2^2 - d^2) / (2 L1 L2)); t1 is the target's direction less or plus the one, t2 is pi less the other.

    Raises:
        InputError: as there.
    """
    (x, y), (first, second) = _checked(x, y, lengths, branch)
    distance = min(max(math.hypot(x, y), abs(first - second)), first + second)
    elbow = _angle(first, second, distance)
    # At distance 0 the triangle is a line, and every direction is right.
    base = _angle(first, distance, second) if distance > 0.0 else 0.0
    turn = math.atan2(y, x) - branch * base
    return math.atan2(math.sin(turn), math.cos(turn)), branch * (math.pi - elbow)


def elbow_angles(upper: Vector, lower: Vector, distance: float, axis: Vector) -> tuple[tuple[float, float], float]:
    """Angles of the second link about any axis through the elbow that put its end at a distance from the base.

    With u from the elbow to the base and v to the end, |u - R v|^2 = d^2 becomes
    u'.v' cos a + u'.(axis x v') sin a = (|u|^2 + |v|^2 - d^2) / 2 - (u.axis)(v.axis), u' and v' across the axis:
    one sinusoid, with two angles of equal value. For an axis across both links this is the law of cosines.

    Args:
        upper: u.
        lower: v.
        distance: d.
        axis: unit.

    Returns:
        Both angles, radians in -pi .. pi, the smaller turn first, and by how much the distance is out of reach: more
        than 0: too far, less: too near, both angles then being the best one.
    """
    along = dot(upper, axis) * dot(lower, axis)
    cosine, sine = dot(upper, lower) - along, dot(upper, cross(axis, lower))
    swing, square = math.hypot(cosine, sine), dot(upper, upper) + dot(lower, lower)
    nearest = math.sqrt(max(square - 2.0 * (along + swing), 0.0))
    farthest = math.sqrt(max(square - 2.0 * (along - swing), 0.0))
    beyond = distance - min(max(distance, nearest), farthest)
    if swing <= _NO_LEVER * square:
        return (0.0, 0.0), beyond
    wanted = 0.5 * (square - distance * distance) - along
    spread, middle = math.acos(min(max(wanted / swing, -1.0), 1.0)), math.atan2(sine, cosine)
    one, other = wrapped(middle + spread), wrapped(middle - spread)
    return ((one, other) if abs(one) <= abs(other) else (other, one)), beyond


def _angle(a: float, b: float, opposite: float) -> float:
    """The angle between sides a and b of a triangle."""
    return math.acos(min(max((a * a + b * b - opposite * opposite) / (2.0 * a * b), -1.0), 1.0))


def _checked(x: float, y: float, lengths: Two, branch: int) -> tuple[Two, Two]:
    """Target and lengths in units of the longer one, whose squares neither overflow nor vanish: by powers of two.

    Of a target that is past all reach only the direction is kept.
    """
    for link in lengths:
        as_number(link, "two links: lengths", above=0.0)
    for name, value in (("x", x), ("y", y)):
        as_number(value, f"two links: {name}")
    if branch not in (1, -1):
        raise InputError(f"two links: branch: expected 1 or -1, found {branch}")
    unit, away = math.frexp(max(lengths))[1], math.frexp(max(abs(x), abs(y)))[1]
    shift = max(unit, away - _FAR)
    first, second = (max(math.ldexp(link, -unit), _LEAST) for link in lengths)
    return (math.ldexp(x, -shift), math.ldexp(y, -shift)), (first, second)


_POINTED = ({Measure.POINT}, {Measure.ROTATION}, {Measure.DIRECTION})
SERVED = tuple(code for code, kind in enumerate(ROW_KINDS) if kind.measures in _POINTED)
"""Codes of the goals that one joint can point: those with one measure."""
_STILL = 1e-12


def solve_single_bone(problem: Problem) -> tuple[int, int]:
    """Rotate every goal's joint until nothing moves; an aim needs a few passes, a position one."""
    _, worst = problem.evaluate(problem.state)
    mechanism, iterations, moved = Mechanism(freed(problem)), 0, 1.0
    while worst > 1.0 or iterations < problem.settings.least_iterations:
        if moved < _STILL:
            return (STALLED if _in_reach(mechanism) else UNREACHABLE), iterations
        if iterations >= problem.settings.max_iterations:
            return BUDGET, iterations
        iterations += 1
        moved = _turn_all(mechanism)
        mechanism.store(problem.state)
        _, worst = problem.evaluate(problem.state)
    return CONVERGED, iterations


def pointing_joint(mechanism: Mechanism, g: int) -> int:
    """The last joint above goal g that can rotate its effector; -1: none."""
    k = mechanism.goal_joint[g] if mechanism.kind[g] in SERVED else -1
    while k >= 0:
        turns = mechanism.ball[k] or bool(mechanism.angles[k])
        if turns and (not mechanism.goal_places[g] or moves_point(mechanism, k, mechanism.point[g])):
            return k
        k = mechanism.parent[k]
    return -1


def pointed_joints(mechanism: Mechanism, g: int) -> tuple[int, ...]:
    """The joint that points for a goal, or none if no joint can rotate."""
    k = pointing_joint(mechanism, g)
    return (k,) if k >= 0 else ()


def _pairs_of(mechanism: Mechanism, goals: list[int], k: int) -> list[Pair]:
    return pairs_for(mechanism, goals, mechanism.place[k])


def _turn_all(mechanism: Mechanism) -> float:
    """Rotate every pointing joint once; returns the sine of half the largest angle."""
    pointing: dict[int, list[int]] = {}
    for g in range(len(mechanism.kind)):
        k = pointing_joint(mechanism, g)
        if k >= 0:
            pointing.setdefault(k, []).append(g)
    largest = 0.0
    for k, goals in sorted(pointing.items()):
        for made in fits(mechanism, k, partial(_pairs_of, mechanism, goals, k)):
            mechanism.refresh()
            largest = max(largest, length(made[:3]))
    return largest


def _in_reach(mechanism: Mechanism) -> bool:
    """Whether each position target is as far from the pointing joint as the effector, or other joints change that."""
    for g in range(len(mechanism.kind)):
        k = pointing_joint(mechanism, g)
        if mechanism.goal_places[g] and k >= 0 and not mechanism.moved_by_others(g, [k]):
            pivot = mechanism.place[k]
            apart = length(minus(mechanism.point[g], pivot)) - length(minus(mechanism.target[g], pivot))
            if abs(apart) > mechanism.tolerance:
                return False
    return True
