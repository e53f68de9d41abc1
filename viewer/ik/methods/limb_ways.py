"""Ways to bend a limb so that its end comes to where it is wanted: closed forms for every pair of joints."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from viewer.ik import kernels
from viewer.ik.methods.fit import Pair, fit_axis, fit_ball, turn_axis, turn_ball
from viewer.ik.methods.two_link import elbow_angles, two_link_algebraic, two_link_geometric
from viewer.ik.methods.vectors import Vector, across, axes_of, cross, dot, exp, length, minus, rotate, scaled, unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from viewer.ik.methods.common import Tuning
    from viewer.ik.methods.figure import Figure

EXACT = 1e-9
"""Part of a limb's length below which a miss is rounding."""
_LEVEL = 1e-6
"""Sine below which a direction is level."""
_PASSES = 20
"""A joint with several axes is turned about each in turn, this often at most."""


class Limb(NamedTuple):
    """Two joints that bring an effector to its goal, and a third that then turns it.

    Attributes:
        goal: the goal.
        shoulder: the upper joint.
        elbow: the lower one.
        wrist: the joint that turns to where a pose goal wants it; -1: none, the effector is then only placed.
    """

    goal: int
    shoulder: int
    elbow: int
    wrist: int

    def end(self, figure: Figure) -> Vector:
        """The world place of the limb's end."""
        return figure.point[self.goal] if self.wrist < 0 else figure.place[self.wrist]

    def wanted(self, figure: Figure) -> Vector:
        """The world place where the limb's end is wanted."""
        target = figure.target[self.goal]
        if self.wrist < 0:
            return target
        return minus(target, rotate(figure.rotation[self.goal], figure.goal_offset[self.goal]))

    def links(self, figure: Figure) -> tuple[Vector, Vector, float]:
        """From the elbow to the shoulder, from the elbow to the end, and the target's distance from the shoulder."""
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
    # Straight or folded it is on both sides, whatever rounding says.
    least = -EXACT * length(upper) * length(lower)
    bends = []
    for i, axis in _bend_axes(figure, limb):
        angles, _ = elbow_angles(upper, lower, distance, axis)
        for rank, angle in enumerate(angles):
            if i < 0 and tuning.bend:  # a side that is missed by pointing there is found by the next solve
                high = _height(figure, limb, axis, angle)
                bends.append((int(tuning.bend * high > 0.0) if high else rank, i, axis, angle))
                continue
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


def _height(figure: Figure, limb: Limb, axis: Vector, angle: float) -> float:
    """How high a ball joint stands above the line to the target once it is bent and the shoulder points there.

    It has no sides of its own, and those of its present bend change with every bend; height does not. 0: it is level.
    """
    upper, lower, _ = limb.links(figure)
    arm, turned = scaled(upper, -1.0), rotate(exp(scaled(axis, angle)), lower)
    end, towards = minus(turned, upper), minus(limb.wanted(figure), figure.place[limb.shoulder])
    if min(length(end), length(towards)) <= EXACT * length(upper):
        return 0.0
    start, goal = unit(end), unit(towards)
    aside = minus(arm, scaled(start, dot(arm, start)))
    # The least turn from the one direction to the other, of a vector across the first.
    open_by = 1.0 + dot(start, goal)
    if open_by <= _LEVEL:
        return 0.0
    high = aside[1] - dot(aside, goal) / open_by * (start[1] + goal[1])
    return high if abs(high) > _LEVEL * length(upper) else 0.0


def _ways_by_shoulder(figure: Figure, limb: Limb) -> Iterator[Callable[[], None]]:
    """Ways for a shoulder that turns about axes only: bring the elbow as far from the target as the lower link is long.

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
    """Turn joint k so that the limb's end comes as near to where it is wanted as that can bring it."""

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
    if figure.form[k] not in (kernels.TURNS, kernels.SWING_TWIST) or not figure.ball[k]:
        return axes
    if length(normal) > EXACT * length(upper) * length(lower):
        return [(-1, unit(normal)), *axes]
    # Straight or folded: any axis across it will do; limits may like one of the joint's own.
    own = [minus(axis, scaled(lower, dot(axis, lower) / dot(lower, lower))) for axis in axes_of(figure.turn[k])]
    own.sort(key=length, reverse=True)
    return [(-1, unit(axis)) for axis in own[:2]] + axes


def _in_plane(figure: Figure, limb: Limb) -> bool:
    """Whether shoulder and elbow are hinges with parallel axes."""
    if any(figure.form[k] != kernels.HINGE for k in (limb.shoulder, limb.elbow)):
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
    """Turn joint k so that the pairs cost least; they are asked for anew after every turn."""
    if figure.ball[k]:
        fit_ball(figure, k, pairs())
    angles = figure.angles[k]
    for _ in range(_PASSES):
        made = [fit_axis(figure, k, i, pairs()) for i in angles]
        if len(angles) < 2 or all(max(map(abs, turn[:3])) < EXACT for turn in made):
            break
    figure.refresh()
