"""FABRIK: points are laid along the bones from the goals to the root; from there the joints are turned to them.

Aristidou and Lasenby, "FABRIK: A fast, iterative solver for the inverse kinematics problem" (Graphical Models 73,
2011), for any number of effectors on a tree: a joint with several branches goes to the mean of the places that
these give it. Points have no rotations. So on the way back joints are turned to their points, parents first:
a joint with one bone by the shortest turn, one with several by the best rotation for all, a hinge about its axis.

Limits hold by projection: each joint is clamped as it is turned. The points ignore this, which is why FABRIK may not
converge under limits.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from viewer.ik.methods.ccd import Pair, axis_pairs, fits, repeat, wanted_point
from viewer.ik.methods.common import Problem
from viewer.ik.methods.limb import freed
from viewer.ik.methods.mechanism import Mechanism, cross, dot, length, log, minus, plus, rotate, scaled
from viewer.spatial.checks import Vector

_STRAIGHT = 1e-3
"""Sine of the bend of two bones below which they are in no plane."""


def solve(problem: Problem) -> tuple[int, int]:
    """Both passes until nothing moves. Only a stiffness of 1 has an effect: points do not move by parts."""
    return repeat(freed(problem), _iterate)


class _Points(NamedTuple):
    """The tree of points: (K,) the joints right below each joint that have goals at or below them; wanted positions."""

    branches: list[list[int]]
    wanted: list[Vector]


def _iterate(mechanism: Mechanism) -> float:
    """One pass to the root and one back; the largest turn (radians) or move (metres) of a joint."""
    mechanism.cap = math.inf  # points jump to where the goals are, and joints follow at once
    mechanism.refresh()
    points = _to_root(mechanism)
    return max((_follow(mechanism, k, points) for k in range(len(points.wanted)) if mechanism.below[k]), default=0.0)


def _own_goals(mechanism: Mechanism, k: int) -> list[int]:
    """The goals of joint k itself that have shells."""
    return [g for g in mechanism.below[k] if mechanism.goal_joint[g] == k and mechanism.goal_has_shell[g]]


def _to_root(mechanism: Mechanism) -> _Points:
    """Where each joint has to be for the goals below it: each bone is laid back from its end."""
    branches: list[list[int]] = [[] for _ in mechanism.parent]
    wanted = list(mechanism.place)
    for k in range(len(wanted) - 1, -1, -1):
        here = mechanism.place[k]
        asked = [_beside(wanted[c], here, length(minus(mechanism.place[c], here))) for c in branches[k]]
        for g in _own_goals(mechanism, k):
            if mechanism.goal_turns[g]:
                asked.append(minus(wanted_point(mechanism, g), rotate(mechanism.rotation[g], mechanism.goal_offset[g])))
            else:
                asked.append(_beside(wanted_point(mechanism, g), here, length(mechanism.goal_offset[g])))
        if asked:
            total = asked[0]
            for other in asked[1:]:
                total = plus(total, other)
            wanted[k] = scaled(total, 1.0 / len(asked))
            if mechanism.parent[k] >= 0:
                branches[mechanism.parent[k]].append(k)
    return _Points(branches, wanted)


def _beside(start: Vector, towards: Vector, distance: float) -> Vector:
    """The point at a distance from ``start`` in the direction of another point; ``start`` where the two coincide."""
    away = minus(towards, start)
    size = length(away)
    return plus(start, scaled(away, distance / size)) if size > 0.0 else start


def _follow(mechanism: Mechanism, k: int, points: _Points) -> float:
    """The pass from the root at joint k: lay the bones below it towards their points; radians or metres it moved."""
    largest = 0.0
    if mechanism.moves[k]:
        first = mechanism.first[k]
        a, b, c = mechanism.ready[first : first + 3]
        x, y, z = minus(points.wanted[k], mechanism.place[k])
        shift = (a * x, b * y, c * z)
        mechanism.t[k] = plus(mechanism.t[k], shift)
        largest = length(shift)
    mechanism.follow(k)
    return max([largest, *(length(log(made)) for made in fits(mechanism, k, lambda: _pairs(mechanism, k, points)))])


def _pairs(mechanism: Mechanism, k: int, points: _Points) -> list[Pair]:
    """The bones that start at joint k, and its goals, as they are and as they should be, from its centre."""
    here, turn = mechanism.place[k], mechanism.turn[k]
    pairs = []
    for c in points.branches[k]:
        pairs.append((rotate(turn, mechanism.t[c]), minus(points.wanted[c], here), 1.0))
        if not mechanism.ball[c] and len(mechanism.angles[c]) == 1:
            pairs += _hinge_pair(mechanism, k, c, points)
    for g in _own_goals(mechanism, k):
        if mechanism.goal_turns[g]:
            pairs += axis_pairs(turn, mechanism.rotation[g], 1.0)
        else:
            pairs.append((rotate(turn, mechanism.goal_offset[g]), minus(wanted_point(mechanism, g), here), 1.0))
    return [pair for pair in pairs if length(pair[0]) > mechanism.least_arm]


def _hinge_pair(mechanism: Mechanism, k: int, c: int, points: _Points) -> list[Pair]:
    """The axis of a hinge c below joint k, and the normal of the plane that its bone has to swing in; or nothing.

    Joint k turns about its own bone so that the hinge can bring its end to its point.
    """
    ends = [points.wanted[n] for n in points.branches[c]] or [
        wanted_point(mechanism, g) for g in _own_goals(mechanism, c)
    ]
    if len(ends) != 1:
        return []
    upper, lower = minus(points.wanted[c], mechanism.place[k]), minus(ends[0], points.wanted[c])
    normal = cross(upper, lower)
    size = length(normal)
    if size <= _STRAIGHT * length(upper) * length(lower):
        return []
    mechanism.follow(c)
    axis = mechanism.angle_axis(c, 0)
    side = math.copysign(1.0, dot(axis, normal))
    part = length(upper)  # as much as the bone counts
    return [(scaled(axis, part), scaled(normal, side * part / size), 1.0)]
