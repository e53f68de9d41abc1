"""The numpy backend: residuals of goals that ask for a rotation or a direction, one by one, in plain numbers.

A figure has few of them, and an array of four numbers costs as much as one of four hundred.
`viewer.ik.kernels_forward` says whence the formulas are.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypeAlias

from viewer.ik.kernels import Quaternion, Vector, logarithm, product

Matrix: TypeAlias = tuple[float, ...]
"Nine entries, row by row."

_NO_DIGITS = 1e-3
"""Below this angle a difference that should be a^2 / 12 is mostly rounding."""
_NO_SLOPE = 1e-4
_ALIGNED = 1e-7
"""Below this sine two directions are taken as the same, or opposite."""
_NOTHING = (0.0,) * 9


class Turn(NamedTuple):
    """What turns an effector to where it is to be.

    Attributes:
        vector: the rotation vector.
        by_turn, by_move: how it answers to a turn or move of the effector, sign changed.
        angle: its length.
    """

    vector: Vector
    by_turn: Matrix
    by_move: Matrix
    angle: float


def turn_to(target: Quaternion, turn: Quaternion) -> Turn:
    """From a rotation to its target: log(target * turn^-1)."""
    x, y, z, w = turn
    x, y, z, angle = logarithm(*product(*target, -x, -y, -z, w))
    second = 1.0 / 12.0
    if not angle < _NO_DIGITS:
        second = 1.0 / (angle * angle) - 0.5 / (angle * math.tan(0.5 * angle))
    a, b, c, rest = second * x, second * y, second * z, 1.0 - second * angle * angle
    by_turn = (
        a * x + rest, a * y - 0.5 * z, a * z + 0.5 * y,
        b * x + 0.5 * z, b * y + rest, b * z - 0.5 * x,
        c * x - 0.5 * y, c * y + 0.5 * x, c * z + rest,
    )  # fmt: skip
    return Turn((x, y, z), by_turn, _NOTHING, angle)


def turn_towards(axis: Vector, way: Vector, nearest: float) -> Turn:
    """From a unit axis to the direction of a way; one no longer than ``nearest`` leads anywhere."""
    (ux, uy, uz), (x, y, z) = axis, way
    length = math.sqrt(x * x + y * y + z * z)
    if length <= nearest:
        return Turn((0.0, 0.0, 0.0), _NOTHING, _NOTHING, 0.0)
    x, y, z = x / length, y / length, z / length
    nx, ny, nz = normal = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
    sine, cosine = math.sqrt(nx * nx + ny * ny + nz * nz), ux * x + uy * y + uz * z
    angle = math.atan2(sine, cosine)
    if sine <= _ALIGNED and cosine < 0.0:
        return _turn_round(axis, angle)
    h = angle / sine if sine > _ALIGNED else 1.0
    # The slope of h by the cosine: the quotient has no digits where the axis leads there.
    curved = sine > _NO_SLOPE or (cosine < 0.0 and sine > _ALIGNED)
    slope = (cosine * h - 1.0) / (sine * sine) if curved else -1.0 / 3.0
    skewed = ((0.0, -uz, uy), (uz, 0.0, -ux), (-uy, ux, 0.0))
    by_turn = tuple(
        h * (cosine * (i == j) - axis[i] * v) - slope * normal[i] * normal[j]
        for i in range(3)
        for j, v in enumerate((x, y, z))
    )
    by_move = tuple(
        (slope * normal[i] * (axis[j] - cosine * v) + h * (skewed[i][j] - normal[i] * v)) / length
        for i in range(3)
        for j, v in enumerate((x, y, z))
    )
    return Turn((h * nx, h * ny, h * nz), by_turn, by_move, angle)


def _turn_round(u: Vector, angle: float) -> Turn:
    """From a unit axis to the opposite direction: about any axis at right angles to it; moves do not count."""
    least = min(range(3), key=lambda i: abs(u[i]))
    length = math.sqrt(1.0 - u[least] * u[least])
    x, y, z = (math.pi * ((i == least) - u[least] * u[i]) / length for i in range(3))
    by_turn = tuple((i == j) - u[i] * u[j] for i in range(3) for j in range(3))
    return Turn((x, y, z), by_turn, _NOTHING, angle)
