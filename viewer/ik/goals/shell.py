"""The shell of a goal: where it lets its effector be.

A shell is what is between two distances from the goal's target, in all directions (a point, a sphere, a ball), or along
one, where it is flat: a plane, a height, a band, one side of a plane. Solves begin near shells, targets are found to be
out of reach by them, and methods without a Jacobian bring effectors to the nearest place in them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from viewer.ik.algebra import SMALL
from viewer.ik.goals.goal import Goal
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Vector


class Shell(NamedTuple):
    """Where a goal lets its effector be; it does not depend on the target.

    Attributes:
        least, most: metres from the target or, of kinds without one, from the world's origin; may be infinite.
        along: a unit vector of the world that they are counted along, with a sign: the shell is flat. 0: they are
            counted in all directions, and 0 and 0 metres are the target itself.
    """

    least: float
    most: float
    along: Vector = (0.0, 0.0, 0.0)


AT_TARGET = Shell(0.0, 0.0)


def at_target(goal: Goal) -> Shell:  # noqa: ARG001 - as of every kind
    """At the place of its target."""
    return AT_TARGET


def along_of(s: System, g: int) -> Vector:
    """The direction of a goal's shell; 0 if it is not flat."""
    return s.goal_along[g, 0], s.goal_along[g, 1], s.goal_along[g, 2]


def is_flat(along: Vector) -> bool:
    """Whether a shell is flat."""
    return along[0] != 0.0 or along[1] != 0.0 or along[2] != 0.0


def outwards(x: float, y: float, z: float, along: Vector, small: float) -> tuple[float, float, float, float]:
    """The way out of a shell at a place x, y, z from its target: a unit vector, and metres out along it.

    Within ``small`` metres of the target of one that is not flat any direction leads out, and x is taken.
    """
    if is_flat(along):
        return along[0], along[1], along[2], along[0] * x + along[1] * y + along[2] * z
    length = math.sqrt(x * x + y * y + z * z)
    if length > small:
        return x / length, y / length, z / length, length
    return 1.0, 0.0, 0.0, length


def nearest_in_shell(place: Vector, target: Vector, along: Vector, least: float, most: float) -> Vector:
    """The place in a shell that is nearest to another."""
    (x, y, z), (tx, ty, tz) = place, target
    ux, uy, uz, out = outwards(x - tx, y - ty, z - tz, along, 0.0)
    kept = min(max(out, least), most)
    if is_flat(along):
        tx, ty, tz = x - out * ux, y - out * uy, z - out * uz
    return tx + kept * ux, ty + kept * uy, tz + kept * uz


def shell_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = how far out the effector is to be - how far out it is."""
    x, y, z = s.goal_target[g, 0], s.goal_target[g, 1], s.goal_target[g, 2]
    x, y, z = w.point[g, 0] - x, w.point[g, 1] - y, w.point[g, 2] - z
    x, y, z, out = outwards(x, y, z, along_of(s, g), SMALL * s.scale[0])
    least, most = s.goal_shell[g, 0], s.goal_shell[g, 1]
    miss = min(max(out, least), most) - out
    if least < out < most:  # it may move on either way
        x, y, z = 0.0, 0.0, 0.0
    w.by_move[g, 0, 0], w.by_move[g, 0, 1], w.by_move[g, 0, 2] = x, y, z
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0]) if s.goal_weight[g] > 0.0 else 0.0
