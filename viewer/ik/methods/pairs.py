"""Goals as pairs of vectors from a joint's pivot, for the methods that move one joint at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from viewer.ik import kernels
from viewer.ik.methods.vectors import UNITS, Vector, axes_of, dot, length, minus, plus, rotate, scaled

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.ik.methods.figure import Figure
    from viewer.ik.methods.fit import Pair

PLACES = (kernels.POSITION, kernels.POSE, kernels.DISTANCE)
_SMALL = 1e-9


def pairs_for(figure: Figure, goals: Iterable[int], pivot: Vector) -> list[Pair]:
    """Pairs of all these goals as seen from a pivot.

    place: the effector and its target.
    distance: the effector and the nearest point at the right distance.
    rotation: the three axes as they are and ought to be. Their squared chords are 2 phi^2 for a small angle phi,
        whence half the weight.
    aim: the point of the axis, drawn out as a ray, that is as far from the pivot as the target is: a turn that brings
        it to the target points the ray at it. Seen from the effector a miss of 1 m is 1 / distance radians.
    """
    pairs: list[Pair] = []
    for g in goals:
        kind, turn = figure.kind[g], figure.turn_weight[g] * figure.turn_weight[g]
        if kind in PLACES:
            r = minus(figure.point[g], pivot)
            if length(r) > figure.least_arm:
                pairs.append((r, minus(wanted_point(figure, g), pivot), figure.weight[g] * figure.weight[g]))
        if kind in (kernels.ROTATION, kernels.POSE):
            are, ought = axes_of(figure.turn[figure.goal_joint[g]]), axes_of(figure.rotation[g])
            pairs += [(r, d, 0.5 * turn) for r, d in zip(are, ought, strict=True)]
        if kind == kernels.AIM:
            pairs.append(_ray_pair(figure, g, pivot, turn))
    return pairs


def wanted_point(figure: Figure, g: int) -> Vector:
    """Where a goal wants its effector: its target, or the nearest point at its distance from there."""
    target = figure.target[g]
    if figure.kind[g] != kernels.DISTANCE:
        return target
    away = minus(figure.point[g], target)
    size = length(away)
    direction = scaled(away, 1.0 / size) if size > _SMALL else UNITS[0]
    return plus(target, scaled(direction, figure.distance[g]))


def _ray_pair(figure: Figure, g: int, pivot: Vector, weight: float) -> Pair:
    """The point p + a u of an aim's ray with |p + a u| = |t|, all from the pivot, and the target t.

    Where the target is nearer to the pivot than the ray ever gets, the ray's nearest point is taken.
    """
    p, t = minus(figure.point[g], pivot), minus(figure.target[g], pivot)
    u = rotate(figure.turn[figure.goal_joint[g]], figure.goal_axis[g])
    along = dot(p, u)
    square = along * along - dot(p, p) + dot(t, t)
    a = max(math.sqrt(max(square, 0.0)) - along, 0.0)
    distance = max(length(minus(t, p)), _SMALL)
    return plus(p, scaled(u, a)), t, weight / (distance * distance)
