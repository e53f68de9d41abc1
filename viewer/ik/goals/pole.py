"""Goals for a pole: an elbow or a knee points towards a point, as far as the ends of its limb allow.

A limb whose two ends stand still can only turn about the line between them. The pole sets the direction: the middle
joint lies in the half plane from that line to the point. The error is the angle between the two about the line, and the
row is that angle times the distance of the middle joint from the line, so that a straight limb, which has no direction,
is not changed; a lower bound of that distance keeps the goal from straightening the limb.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from viewer.ik.algebra import turned
from viewer.ik.goals.bend import STRAIGHT, bending_axis, bones_at
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import Before, Constants, FileKey, First, GoalDrawing, Kind, Measure, Rows
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World, effector_of
from viewer.spatial.checks import Floats, Vector
from viewer.spatial.quaternion import rotate

_FLOOR = 0.1
"""Part of the limb's length: a limb that bulges less is weighted as if it bulged this much."""
_HALF = 0.5
"""A limb of two equal bones bulges by half its length at most: there the row is the angle itself."""


def pole_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = -(bulge / most) * angle, and how it answers to moves of the limb's end, middle and upper joint.

    With S, E, W the three joints and P the pole, n along W - S, u = E - S, v = P - S; a, b the unit vectors of their
    parts across n, h, k the lengths of these, and t_a = n x a, t_b = n x b:

        angle = atan2(n . (b x a), b . a)
        d angle = t_a . dE / h + q . dW + (t_b / k - t_a / h - q) . dS,  q = ((v.n) t_b / k - (u.n) t_a / h) / |W - S|
        dh = a . dE - p . dW - (a - p) . dS,  p = (u.n) a / |W - S|
    """
    wx, wy, wz = w.point[g, 0], w.point[g, 1], w.point[g, 2]
    mid, top = s.goal_middle[g], s.goal_upper[g]
    sx, sy, sz = w.place[top, 0], w.place[top, 1], w.place[top, 2]
    nx, ny, nz = wx - sx, wy - sy, wz - sz
    ux, uy, uz = w.place[mid, 0] - sx, w.place[mid, 1] - sy, w.place[mid, 2] - sz
    vx, vy, vz = s.goal_target[g, 0] - sx, s.goal_target[g, 1] - sy, s.goal_target[g, 2] - sz
    length = s.goal_numbers[g, 0]
    span = math.sqrt(nx * nx + ny * ny + nz * nz)
    for i in range(3):
        for j in range(3):
            w.by_move[g, i, j] = 0.0
        w.by_turn[g, 0, i] = 0.0
    e[row], w.miss[g, 1] = 0.0, 0.0
    if span <= STRAIGHT * length:
        return 0.0  # folded: no line to turn about
    nx, ny, nz = nx / span, ny / span, nz / span
    un, vn = ux * nx + uy * ny + uz * nz, vx * nx + vy * ny + vz * nz
    ax, ay, az = ux - un * nx, uy - un * ny, uz - un * nz
    bx, by, bz = vx - vn * nx, vy - vn * ny, vz - vn * nz
    h, k = math.sqrt(ax * ax + ay * ay + az * az), math.sqrt(bx * bx + by * by + bz * bz)
    if k <= STRAIGHT * length:
        return 0.0  # the pole is on the line: any direction is right
    bx, by, bz = bx / k, by / k, bz / k
    straight = h <= STRAIGHT * length
    if straight:
        # The side that the joint bends to from straight.
        cx, cy, cz = turned(
            w.turn[mid, 0], w.turn[mid, 1], w.turn[mid, 2], w.turn[mid, 3],
            s.goal_numbers[g, 1], s.goal_numbers[g, 2], s.goal_numbers[g, 3],
        )  # fmt: skip
        ax, ay, az = ny * cz - nz * cy, nz * cx - nx * cz, nx * cy - ny * cx
        h = math.sqrt(ax * ax + ay * ay + az * az)
        if h <= STRAIGHT:
            return 0.0
    ax, ay, az = ax / h, ay / h, az / h
    sine = nx * (by * az - bz * ay) + ny * (bz * ax - bx * az) + nz * (bx * ay - by * ax)
    angle = math.atan2(sine, bx * ax + by * ay + bz * az)
    most, floor = _HALF * length, _FLOOR * length
    bulge = floor if straight else max(h, floor)
    part = bulge / most
    if straight:
        w.by_turn[g, 0, 0], w.by_turn[g, 0, 1], w.by_turn[g, 0, 2] = part * nx, part * ny, part * nz
    else:
        grows = angle / most if h > floor else 0.0
        a, b, n = (ax, ay, az), (bx, by, bz), (nx, ny, nz)
        for i in range(3):
            j, l = (i + 1) % 3, (i + 2) % 3
            ta, tb = (n[j] * a[l] - n[l] * a[j]) / h, (n[j] * b[l] - n[l] * b[j]) / k
            q = (vn * tb - un * ta) / span
            p = un * a[i] / span
            w.by_move[g, 1, i] = part * ta + grows * a[i]
            w.by_move[g, 0, i] = part * q - grows * p
            w.by_move[g, 2, i] = part * (tb - ta - q) - grows * (a[i] - p)
    e[row] = -s.goal_rotation_weight[g] * part * angle
    w.miss[g, 1] = abs(angle)
    return float(w.miss[g, 1] / s.tolerance[1]) if s.goal_rotation_weight[g] > 0.0 else 0.0


def pole_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The end of the limb, its middle and upper joints, its length, and the axis that it bends about from straight.

    The limb is the arm or leg of a recognised figure whose elbow or knee this is; else the two bones at the joint.

    Raises:
        InputError: no joint between two bones.
    """
    bones = bones_at(goal, skeleton)
    length, axis = bones.length(skeleton), bending_axis(skeleton, bones)
    return Constants(bones.end_joint, bones.end_offset, (length, *axis), middle=bones.middle, upper=bones.upper)


class LimbLine(NamedTuple):
    """The line between the ends of a limb in a pose.

    Attributes:
        start: (3,) the place of the upper joint, metres, world frame.
        direction: (3,) from there to the end, of length 1; 0 where the limb is folded.
        span: metres between them.
        middle: (3,) the place of the middle joint.
        across: (3,) from the line to the middle joint, at right angles.
    """

    start: Floats
    direction: Floats
    span: float
    middle: Floats
    across: Floats

    def off(self, point: Floats) -> Floats:
        """(3,) from the line to a point (3,) of the world, at right angles."""
        way = point - self.start
        return np.asarray(way - (way @ self.direction) * self.direction)


def limb_line(fixed: Constants, world: World) -> LimbLine:
    """The line of a limb whose joints a goal's constants name."""
    start, middle = world.positions[[fixed.upper, fixed.middle]]
    line = world.point(fixed.joint, fixed.offset) - start
    span = float(np.linalg.norm(line))
    made = LimbLine(start, line / (span or 1.0), span, middle, np.zeros(3))
    return made._replace(across=made.off(middle))


def pole_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show the middle joint and the pole."""
    middle = effector_of(skeleton, goal.effector).joint
    return GoalDrawing(middle, world.positions[middle], np.array(goal.target))


def pole_before(skeleton: Skeleton, world: World, joint: str) -> Vector:
    """A pole that a pose meets: half a limb's length before the middle joint, on the side that it bends to.

    Raises:
        InputError: no joint between two bones.
    """
    fixed = pole_constants(Goal.pole(joint, (0.0, 0.0, 0.0)), skeleton)
    line = limb_line(fixed, world)
    away = line.across
    if np.linalg.norm(away) <= STRAIGHT * fixed.numbers[0]:
        away = np.cross(line.direction, rotate(world.rotations[fixed.middle], np.array(fixed.numbers[1:])))
    away = away / (np.linalg.norm(away) or 1.0)
    x, y, z = (line.middle + _HALF * fixed.numbers[0] * away).tolist()
    return x, y, z


def pole_first(before: Before, skeleton: Skeleton, world: World) -> First:
    """At the pole that the limb points towards."""
    return First({}, np.array(pole_before(skeleton, world, before.effector)))


def swivel_circle(skeleton: Skeleton, world: World, joint: str) -> Floats:
    """Where the middle joint can be while the ends of its limb stay: points (49, 3) about the line between them.

    Raises:
        InputError: no joint between two bones.
    """
    line = limb_line(pole_constants(Goal.pole(joint, (0.0, 0.0, 0.0)), skeleton), world)
    turn, one = np.linspace(0.0, 2.0 * math.pi, 49)[:, None], line.across
    return np.asarray(line.middle - one + np.cos(turn) * one + np.sin(turn) * np.cross(line.direction, one))


KIND = Kind(
    word="pole",
    title="Pole",
    hint="Point the elbow or knee towards a point",
    point_title="Toward",
    rows=(Rows(Measure.LIMB_ANGLE, pole_residual),),
    keys={"toward": FileKey("target", "Point that the middle joint of `pole` is to point towards.")},
    named_by="pole",
    since=2,
    constants=pole_constants,
    first=pole_first,
    drawing=pole_drawing,
    swivel=swivel_circle,
)
KINDS = (KIND,)
