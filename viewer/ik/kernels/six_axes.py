"""Six-axis arms in closed form: all poses that put the tool at a given pose, and the one nearest to a start.

Two families of arms, which most industrial robots belong to: the second and third axes parallel with a wrist of three
axes that meet (Puma, KUKA, ABB, Fanuc), and the second to fourth parallel with the last two meeting (UR). Each angle
follows from one of Paden's and Kahan's subproblems, in the order of Elias and Wen, "IK-Geo: Unified robot inverse
kinematics using subproblem decomposition", Mechanism and Machine Theory 209 (2025).

With all coordinates at 0, axis d is h_d through the point o_d, in the frame of the arm's base, and R_d is the turn
about it. D is the motion that takes the tool from there to its target, c the point where the last axes meet.
"""

from __future__ import annotations

import math

from viewer.ik.algebra import product, put_row, turned
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Quaternion, Vector
from viewer.spatial.closest import along, cross, dot, minus, turn

NO_FAMILY, WRIST, PARALLEL_AXES = range(3)
"""Families: none of these, or not six axes; three axes that meet at the end; three parallel axes."""
WAYS = 8
"""Poses at most."""
_ALIKE = 1e-3
"""Radians, or parts of the arm's length, within which axes count as parallel or as meeting: as of a calibrated robot.
What remains is left to a step of Newton's method.
"""
_BESIDE = 1e-6
"""How far beyond its reach, in parts of it, an angle still exists: rounding of an arm that is straight."""
_SINGULAR = 1e-7
"""Sine of the angle between two axes below which only the sum of their turns matters; parts of the arm's length within
which a point counts as on an axis, which then cannot move it.
"""
_NEARLY = 1e-5
"""The same sine where turning one axis against the other moves the tool by no more than Newton's method corrects."""
_ROUNDING = 1e-9
"""Radians by which an angle may be outside its limits."""


def put_six_axes(w: Work) -> None:
    """Fill ``w.axes6`` from ``w.bones``: h_d, o_d, the tool where all coordinates are 0, and c; ``w.family[0]``.

    Rows 0 to 5 are h_d, 6 to 11 o_d, 12 is c; row 13 holds the tool's rotation (x, y, z, w), 14 its place.
    """
    w.family[0] = NO_FAMILY
    if len(w.bones) != 7:
        return
    table = w.axes6
    qx, qy, qz, qw, px, py, pz, size = 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    for d in range(7):
        bone = w.bones[d]
        tx, ty, tz = turned(qx, qy, qz, qw, bone[4], bone[5], bone[6])
        px, py, pz = px + tx, py + ty, pz + tz
        qx, qy, qz, qw = product(qx, qy, qz, qw, bone[0], bone[1], bone[2], bone[3])
        if d > 0:
            size += math.sqrt(tx * tx + ty * ty + tz * tz)
        if d < 6:
            if bone[7] == 0.0:
                return
            put_vector(table, d, turned(qx, qy, qz, qw, 0.0, 0.0, 1.0))
            put_vector(table, 6 + d, (px, py, pz))
    table[13, 0], table[13, 1], table[13, 2], table[13, 3] = qx, qy, qz, qw
    put_vector(table, 14, (px, py, pz))
    near = _ALIKE * size
    across = angle_sine(table, 0, 1) > _ALIKE and angle_sine(table, 4, 5) > _ALIKE
    if not across or angle_sine(table, 1, 2) > _ALIKE or not put_meeting(table, near):
        return
    if angle_sine(table, 1, 3) < _ALIKE and angle_sine(table, 1, 4) > _ALIKE:
        w.family[0] = PARALLEL_AXES
    elif angle_sine(table, 3, 4) > _ALIKE and distance_to(table, 3, vector(table, 12)) < near:
        w.family[0] = WRIST


def has_closed_form(s: System, w: Work) -> bool:
    """Whether an arm is of a family, and its goal asks for place and rotation."""
    asks = s.goal_lengths[0] == 3 and s.goal_angles[0] == 3
    return bool(w.family[0] != NO_FAMILY and asks and s.goal_weight[0] > 0.0 and s.goal_rotation_weight[0] > 0.0)


def put_vector(table: Floats, row: int, v: Vector) -> None:
    """Set the first three numbers of a row."""
    table[row, 0], table[row, 1], table[row, 2] = v


def vector(table: Floats, row: int) -> Vector:
    """The first three numbers of a row."""
    return table[row, 0], table[row, 1], table[row, 2]


def square_across(axis: Vector, v: Vector) -> float:
    """The square of the part of a vector across a unit axis."""
    side = cross(axis, v)
    return float(dot(side, side))


def spun(axis: Vector, sine: float, cosine: float, v: Vector) -> Vector:
    """A vector turned about a unit axis (Rodrigues)."""
    side, lengthwise = cross(axis, v), (1.0 - cosine) * dot(axis, v)
    return (
        cosine * v[0] + sine * side[0] + lengthwise * axis[0],
        cosine * v[1] + sine * side[1] + lengthwise * axis[1],
        cosine * v[2] + sine * side[2] + lengthwise * axis[2],
    )


def angle_sine(table: Floats, a: int, b: int) -> float:
    """The sine of the angle between two axes."""
    side = cross(vector(table, a), vector(table, b))
    return math.sqrt(dot(side, side))


def distance_to(table: Floats, d: int, point: Vector) -> float:
    """From axis d to a point."""
    side = cross(vector(table, d), minus(point, vector(table, 6 + d)))
    return math.sqrt(dot(side, side))


def put_meeting(table: Floats, near: float) -> bool:
    """Set c, half-way between the last two axes where these are nearest, and say whether they meet there."""
    a, b, between = vector(table, 4), vector(table, 5), minus(vector(table, 11), vector(table, 10))
    normal = cross(a, b)
    square = dot(normal, normal)
    lengthwise = dot(cross(between, b), normal) / square
    back = dot(cross(between, a), normal) / square
    c = (
        0.5 * (table[10, 0] + lengthwise * a[0] + table[11, 0] + back * b[0]),
        0.5 * (table[10, 1] + lengthwise * a[1] + table[11, 1] + back * b[1]),
        0.5 * (table[10, 2] + lengthwise * a[2] + table[11, 2] + back * b[2]),
    )
    put_vector(table, 12, c)
    return distance_to(table, 4, c) < near and distance_to(table, 5, c) < near


def turn_between(axis: Vector, a: Vector, b: Vector) -> float:
    """The angle about an axis that turns a vector towards another (subproblem 1)."""
    return math.atan2(dot(axis, cross(a, b)), dot(a, b) - dot(axis, a) * dot(axis, b))


def turns_to_height(axis: Vector, v: Vector, h: Vector, height: float) -> tuple[float, float]:
    """The middle angle and the half difference of the two turns about an axis after which h.v is given (subproblem 4).

    The half difference is negative where there is none.
    """
    lengthwise, across = dot(h, axis) * dot(axis, v), dot(h, cross(axis, v))
    level = dot(h, v) - lengthwise
    most, wanted = math.sqrt(level * level + across * across), height - lengthwise
    if abs(wanted) > most * (1.0 + _BESIDE):
        return 0.0, -1.0
    cosine = wanted / most if most > 0.0 else 0.0
    return math.atan2(across, level), math.acos(min(max(cosine, -1.0), 1.0))


def put_ways(s: System, w: Work, x: Floats) -> int:
    """Fill ``w.ways`` (8, 6) with all coordinates that meet the goal, each angle within half a turn of 0.

    Args:
        s: the system: an arm of one of the families, with one goal for place and rotation.
        w: with `put_six_axes`; scratch.
        x: (6,) coordinates of the start, which turns that the goal leaves free keep.

    Returns:
        How many.
    """
    table = w.axes6
    gx, gy, gz, gw = s.goal_rotation[0, 0], s.goal_rotation[0, 1], s.goal_rotation[0, 2], s.goal_rotation[0, 3]
    toward = product(gx, gy, gz, gw, -table[13, 0], -table[13, 1], -table[13, 2], table[13, 3])
    h1, h2, o1, c = vector(table, 0), vector(table, 1), vector(table, 6), vector(table, 12)
    target = s.goal_target[0, 0], s.goal_target[0, 1], s.goal_target[0, 2]
    # Where c has to be, from the first axis.
    place = minus(along(turn(toward, minus(c, vector(table, 14)), 1.0), target, 1.0), o1)
    height, beside = dot(h2, minus(c, o1)), _SINGULAR * math.sqrt(dot(place, place))
    middle, half = turns_to_height(h1, place, h2, height)
    if square_across(h1, place) <= beside * beside and abs(dot(h2, place) - height) <= beside:
        middle, half = -x[0], 0.0  # above the first joint every turn of it is right
    if half < 0.0:
        return 0
    count = 0
    for sign in range(-1, 3 if half > 0.0 else 1, 2):
        first = -(middle + sign * half)
        sine, cosine = math.sin(first), math.cos(first)
        # What the first joint turns is seen from before its turn.
        spot = along(spun(h1, -sine, cosine, place), o1, 1.0)
        if w.family[0] == WRIST:
            count = put_elbows(w, x, count, first, spot, sine, cosine, toward)
        else:
            count = put_wrists(w, x, count, first, spot, sine, cosine, toward)
    return count


def put_elbows(
    w: Work, x: Floats, count: int, first: float, spot: Vector, sine: float, cosine: float, toward: Quaternion
) -> int:
    """Add the ways of a wrist whose axes meet: the second and third joint bring c to a spot, the others turn the tool.

    ``count``: ways found before; ``first``: the first coordinate, and its ``sine`` and ``cosine``; ``spot``: where c
    is, before the turn of the first joint; ``toward``: D's rotation.

    Returns:
        How many ways there are now.
    """
    table = w.axes6
    h1, h2, h3, h4, h5, h6 = (vector(table, 0), vector(table, 1), vector(table, 2), vector(table, 3), vector(table, 4),
                              vector(table, 5))  # fmt: skip
    o2, upper = vector(table, 7), minus(vector(table, 8), vector(table, 7))
    lower, wanted = minus(vector(table, 12), vector(table, 8)), minus(spot, o2)
    middle, half = turns_to_height(
        h3, lower, upper, 0.5 * (dot(wanted, wanted) - dot(upper, upper) - dot(lower, lower))
    )
    if half < 0.0:
        return count
    tool = spun(h1, -sine, cosine, turn(toward, h6, 1.0))
    for side in range(-1, 3 if half > 0.0 else 1, 2):
        third = middle + side * half
        sine3, cosine3 = math.sin(third), math.cos(third)
        second = turn_between(h2, along(upper, spun(h3, sine3, cosine3, lower), 1.0), wanted)
        sine2, cosine2 = math.sin(second), math.cos(second)
        v = spun(h3, -sine3, cosine3, spun(h2, -sine2, cosine2, tool))
        u = turn(toward, spun(h1, sine, cosine, spun(h2, sine2, cosine2, spun(h3, sine3, cosine3, h4))), -1.0)
        level, bent = turns_to_height(h5, h6, h4, dot(h4, v))
        if bent < 0.0:
            continue
        straight = square_across(h4, v) < _SINGULAR * _SINGULAR
        for flip in range(-1, 1 if straight or bent == 0.0 else 3, 2):
            fifth = level + flip * bent
            sine5, cosine5 = math.sin(fifth), math.cos(fifth)
            fourth = turn_between(h4, spun(h5, sine5, cosine5, h6), v)
            sixth = turn_between(h6, u, spun(h5, -sine5, cosine5, h4))
            if straight:
                # Only the sum of the fourth and the sixth turn matters: the fourth stays, and h5 is turned to where it
                # belongs.
                fourth = x[3]
                sine4, cosine4 = math.sin(fourth), math.cos(fourth)
                a = spun(h4, sine4, cosine4, h5)
                a = turn(toward, spun(h1, sine, cosine, spun(h2, sine2, cosine2, spun(h3, sine3, cosine3, a))), -1.0)
                sixth = turn_between(h6, a, h5)
            count = put_way(w.ways, count, first, second, third, fourth, fifth, sixth)
    return count


def put_wrists(
    w: Work, x: Floats, count: int, first: float, spot: Vector, sine: float, cosine: float, toward: Quaternion
) -> int:
    """Add the ways of three parallel axes: the last two joints turn the tool into their plane, these bring it there.

    Takes and returns what `put_elbows` does.
    """
    table = w.axes6
    h1, h2, h3, h5, h6 = vector(table, 0), vector(table, 1), vector(table, 2), vector(table, 4), vector(table, 5)
    o2, o3, o4 = vector(table, 7), vector(table, 8), vector(table, 9)
    upper, lower, hand = minus(o3, o2), minus(o4, o3), minus(vector(table, 12), o4)
    u = turn(toward, spun(h1, sine, cosine, h2), -1.0)
    level, bent = turns_to_height(h5, h6, h2, dot(h6, u))
    if bent < 0.0:
        return count
    same3, same4 = math.copysign(1.0, dot(h2, h3)), math.copysign(1.0, dot(h2, vector(table, 3)))
    straight = square_across(h6, u) < _SINGULAR * _SINGULAR
    for flip in range(-1, 1 if straight or bent == 0.0 else 3, 2):
        fifth = level + flip * bent
        # With the tool's axis along the parallel ones the last turn can be made by these.
        sixth = x[5] if straight else turn_between(h6, u, spun(h5, -math.sin(fifth), math.cos(fifth), h2))
        a = spun(h1, -sine, cosine, turn(toward, spun(h6, -math.sin(sixth), math.cos(sixth), h5), 1.0))
        whole = turn_between(h2, h5, a)
        wanted = minus(minus(spot, spun(h2, math.sin(whole), math.cos(whole), hand)), o2)
        middle, half = bend_to_reach(h3, lower, upper, wanted)
        if half < 0.0 and square_across(h6, u) < _NEARLY * _NEARLY:
            more = turn_into_reach(w, minus(spot, o2), whole)
            sixth -= math.copysign(1.0, dot(h6, u)) * more
            whole += more
            wanted = minus(minus(spot, spun(h2, math.sin(whole), math.cos(whole), hand)), o2)
            middle, half = bend_to_reach(h3, lower, upper, wanted)
        if half < 0.0:
            continue
        for side in range(-1, 3 if half > 0.0 else 1, 2):
            third = middle + side * half
            second = turn_between(h2, along(upper, spun(h3, math.sin(third), math.cos(third), lower), 1.0), wanted)
            fourth = same4 * (whole - second - same3 * third)
            count = put_way(w.ways, count, first, second, third, fourth, fifth, sixth)
    return count


def bend_to_reach(axis: Vector, lower: Vector, upper: Vector, wanted: Vector) -> tuple[float, float]:
    """`turns_to_height` of an elbow's axis after which two bones are together as long as a vector (subproblem 3)."""
    reach = 0.5 * (dot(wanted, wanted) - dot(upper, upper) - dot(lower, lower))
    return turns_to_height(axis, lower, upper, reach)


def turn_into_reach(w: Work, spot: Vector, whole: float) -> float:
    """The smallest turn of the hand about three parallel axes that brings a spot within reach of the first two bones.

    ``spot``: where c is, from the second axis; ``whole``: the turn of the hand so far.

    Returns:
        The further turn, 0 where none brings it there.
    """
    table = w.axes6
    h2, h3, o3, o4 = vector(table, 1), vector(table, 2), vector(table, 8), vector(table, 9)
    upper, lower, hand = minus(o3, vector(table, 7)), minus(o4, o3), minus(vector(table, 12), o4)
    lengthwise = dot(upper, h3) * dot(h3, lower)
    most = math.sqrt(square_across(h3, upper) * square_across(h3, lower))
    turned_by, least = 0.0, math.inf
    for side in range(-1, 3, 2):  # as the arm is folded, or straight
        height = 0.5 * (dot(spot, spot) + dot(hand, hand) - dot(upper, upper) - dot(lower, lower))
        middle, half = turns_to_height(h2, hand, spot, height - lengthwise - side * most)
        if half < 0.0:
            continue
        for flip in range(-1, 3, 2):
            turn_to = middle + flip * half - whole
            turn_to -= 2.0 * math.pi * math.floor(turn_to / (2.0 * math.pi) + 0.5)
            if abs(turn_to) < least:
                turned_by, least = turn_to, abs(turn_to)
    return turned_by


def put_way(
    ways: Floats, count: int, first: float, second: float, third: float, fourth: float, fifth: float, sixth: float
) -> int:
    """Add a row; angles within half a turn of 0."""
    way = ways[count]
    way[0], way[1], way[2], way[3], way[4], way[5] = first, second, third, fourth, fifth, sixth
    for d in range(6):
        way[d] -= 2.0 * math.pi * math.floor(way[d] / (2.0 * math.pi) + 0.5)
    return count + 1


def nearest_turns(s: System, start: Floats, way: Floats) -> float:
    """Turn angles (6,) by whole turns to inside their limits and as near to a start's as possible.

    Returns:
        The square of how far they are from the start's, stiff joints farther; infinite where limits, or a joint that
        may not move, forbid it.
    """
    moved, whole = 0.0, 2.0 * math.pi
    for d in range(6):
        lower, upper = s.lower[d], s.upper[d]
        angle = way[d] + whole * math.floor((start[d] - way[d]) / whole + 0.5)
        # The nearest may be outside the limits, and the one a turn beside it inside.
        if angle > upper + _ROUNDING:
            angle -= whole
        elif angle < lower - _ROUNDING:
            angle += whole
        if angle > upper + _ROUNDING or angle < lower - _ROUNDING or s.spread[d] == 0.0:
            return math.inf
        moved += ((angle - start[d]) / s.spread[d]) ** 2
        way[d] = min(max(angle, lower), upper)
    return moved


def take_nearest(s: System, w: Work, start: Floats, x: Floats) -> bool:
    """Set the coordinates x (6,) that meet the goal inside the limits and are the nearest to those of the start.

    Returns:
        False, and x as it was, where there are none.
    """
    least = math.inf
    for i in range(put_ways(s, w, start)):
        moved = nearest_turns(s, start, w.ways[i])
        if moved < least:
            least = moved
            put_row(w.ways[i], x)
    return least < math.inf
