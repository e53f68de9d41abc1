"""Which of the coordinates that mean one rotation are meant: those least outside the ranges. Compiled, as `kernels` is.

The scalar twin of `viewer.skeleton.coordinates`, for one ball joint: its three ranges and coordinates in the order of
its freedoms (Euler angles as they follow each other; swing, swing, twist).
"""

from __future__ import annotations

import math

from viewer.spatial.checks import Floats

LOCKED = 1e-8
ROUNDING = 1e-9
CLEAR = 1e-6
HALVINGS = 60


def excess(value: float, lower: float, upper: float) -> float:
    """How far a coordinate is outside its range; 0 inside."""
    return max(lower - value, value - upper, 0.0)


def counted(angle: float, lower: float, upper: float) -> float:
    """An angle counted from the middle of its range, if that has two ends."""
    if lower == -math.inf or upper == math.inf:
        return angle
    return angle - 2.0 * math.pi * round((angle - 0.5 * (lower + upper)) / (2.0 * math.pi))


def euler_excess(lower: Floats, upper: Floats, a: float, b: float, c: float) -> float:
    """How far Euler angles are outside their ranges (3,)."""
    return max(excess(a, lower[0], upper[0]), excess(b, lower[1], upper[1]), excess(c, lower[2], upper[2]))


def nearer_euler(
    lower: Floats, upper: Floats, parity: float, a: float, b: float, c: float
) -> tuple[float, float, float]:
    """Euler angles in the one or the other half, at gimbal lock split in any way.

    The parity is 1 for xyz, yzx and zxy, else -1.
    """
    best_a, best_b, best_c = a, b, c
    # Another reading must be better past rounding.
    least = euler_excess(lower, upper, a, b, c) - ROUNDING
    locked = abs(b) > 0.5 * math.pi - LOCKED
    sign = parity if b > 0.0 else -parity
    total = a + sign * c
    for way in range(6 if locked else 1):
        first, second, third = a + math.pi, math.pi - b, c + math.pi
        if way > 0:
            # The splits that are inside form ranges, which end where one of the two angles is at an end of its own.
            if way == 1:
                third = min(max(0.0, lower[2]), upper[2])
            elif way == 2:
                third = lower[2]
            elif way == 3:
                third = upper[2]
            elif way == 4:
                third = sign * (total - lower[0])
            else:
                third = sign * (total - upper[0])
            if abs(third) == math.inf:
                third = c
            first, second = total - sign * third, b
        first, third = counted(first, lower[0], upper[0]), counted(third, lower[2], upper[2])
        cost = euler_excess(lower, upper, first, second, third)
        if cost < least:
            least, best_a, best_b, best_c = cost, first, second, third
    return best_a, best_b, best_c


def swing_excess(lower: Floats, upper: Floats, a: float, b: float) -> float:
    """How far a swing (a, b) is outside its ranges, or longer than half a turn."""
    beyond = math.sqrt(a * a + b * b) - math.pi
    result = max(excess(a, lower[0], upper[0]), excess(b, lower[1], upper[1]))
    return max(result, beyond) if beyond > ROUNDING else result


def nearer_swing(lower: Floats, upper: Floats, a: float, b: float) -> tuple[float, float]:
    """A swing, the short or the long way round."""
    length = math.sqrt(a * a + b * b)
    if length > 0.0:
        part = 1.0 - 2.0 * math.pi / length
        if swing_excess(lower, upper, part * a, part * b) < swing_excess(lower, upper, a, b) - ROUNDING:
            return part * a, part * b
    return a, b


def short_swing(lower: Floats, upper: Floats, a: float, b: float, old_a: float, old_b: float) -> tuple[float, float]:
    """A swing of more than half a turn the short way round; where its ranges forbid that, the old one."""
    length = math.sqrt(a * a + b * b)
    if length <= math.pi:
        return a, b
    part = 1.0 - 2.0 * math.pi / length
    if swing_excess(lower, upper, part * a, part * b) > 0.0:
        return old_a, old_b
    return part * a, part * b


def swing_inside(lower: Floats, upper: Floats, a: float, b: float) -> tuple[float, float]:
    """The swing nearest to (a, b) that is inside its ranges and no longer than half a turn."""
    x, y = min(max(a, lower[0]), upper[0]), min(max(b, lower[1]), upper[1])
    if math.sqrt(x * x + y * y) <= math.pi - CLEAR:
        return x, y
    least, most = 0.0, 1.0
    for _ in range(HALVINGS):
        scale = 0.5 * (least + most)
        x, y = min(max(scale * a, lower[0]), upper[0]), min(max(scale * b, lower[1]), upper[1])
        if math.sqrt(x * x + y * y) <= math.pi - CLEAR:
            least = scale
        else:
            most = scale
    return min(max(least * a, lower[0]), upper[0]), min(max(least * b, lower[1]), upper[1])
