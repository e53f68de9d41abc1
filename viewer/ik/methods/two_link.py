"""Two links in closed form: in the plane, and what distances a limb in space can span.

Lander, "Oh my god, I inverted Kine!" (Game Developer, September 1998). The equations are the corrected ones: in print,
equation 6 lacks the arctangent and has the wrong lengths, equation 5 gives one of the two branches, and the reach test
leaves out that a target can be too near. Positive angles turn x towards y.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from viewer.errors import InputError
from viewer.ik.checks import check_finite, check_range
from viewer.ik.methods.vectors import Vector, cross, dot

_NO_LEVER = 1e-12
_FAR = 100
"""Power of two: a target farther off than so many lengths counts as infinitely far."""
_LEAST = 5e-324
"""The smallest number above 0: stands for a length that vanishes beside the other."""

Pair: TypeAlias = tuple[float, float]


def two_link_algebraic(x: float, y: float, lengths: tuple[float, float], branch: int = 1) -> tuple[float, float]:
    """Angles of two links from the origin to (x, y), by solving the equations of the end point.

    With x = L1 cos t1 + L2 cos(t1 + t2) and y likewise with sines, x^2 + y^2 gives (Lander equation 5)
    cos t2 = (x^2 + y^2 - L1^2 - L2^2) / (2 L1 L2), and with it (equation 6, corrected)
    t1 = atan2(-(L2 sin t2) x + (L1 + L2 cos t2) y, (L2 sin t2) y + (L1 + L2 cos t2) x).

    Args:
        x: of the target, in any unit.
        y: likewise.
        lengths: L1 and L2, more than 0, in the same unit.
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
    one, other = _wrapped(middle + spread), _wrapped(middle - spread)
    return ((one, other) if abs(one) <= abs(other) else (other, one)), beyond


def _angle(a: float, b: float, opposite: float) -> float:
    """The angle between sides a and b of a triangle."""
    return math.acos(min(max((a * a + b * b - opposite * opposite) / (2.0 * a * b), -1.0), 1.0))


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def _checked(x: float, y: float, lengths: Pair, branch: int) -> tuple[Pair, Pair]:
    """Target and lengths in units of the longer one, whose squares neither overflow nor vanish: by powers of two.

    Of a target that is past all reach only the direction is kept.
    """
    for length in lengths:
        check_range("two links: lengths", length, above=0.0)
    for name, value in (("x", x), ("y", y)):
        check_finite(f"two links: {name}", value)
    if branch not in (1, -1):
        raise InputError(f"two links: branch: expected 1 or -1, found {branch}")
    unit, away = math.frexp(max(lengths))[1], math.frexp(max(abs(x), abs(y)))[1]
    shift = max(unit, away - _FAR)
    first, second = (max(math.ldexp(length, -unit), _LEAST) for length in lengths)
    return (math.ldexp(x, -shift), math.ldexp(y, -shift)), (first, second)
