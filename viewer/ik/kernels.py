"""Arithmetic that numba compiles: what the kernels are made of. The kernels are loops over plain arrays.

`viewer.ik.compiled` compiles the functions of all modules ``kernels*`` and of the driver; ``vectorised*`` do the same
in numpy. In all of them ``s`` is a `System` (constant during a solve) and ``w`` a `Work` (scratch), of K joints in
depth-first order, n freedoms, G goals and m rows. Quaternions and vectors are passed as numbers, which stay in
registers; arrays would go through memory.

Freedoms: a hinge's, universal's or slide's coordinate; a limited ball's three coordinates (swing and twist, or Euler
angles); an unlimited ball's or root's three rotations about its own axes; a root's three translations before those.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from viewer.spatial.checks import Floats

    Quaternion: TypeAlias = tuple[float, float, float, float]
    Vector: TypeAlias = tuple[float, float, float]

# How a joint moves; numba takes module constants as constants.
FIXED, TURNS, SWING_TWIST, EULER, HINGE, UNIVERSAL, SLIDE = range(7)
# What a goal asks.
POSITION, ROTATION, POSE, DISTANCE, AIM = range(5)

SMALL = 1e-9


def unit(i: int, j: int) -> float:
    """1 where the indices are equal, else 0."""
    return 1.0 if i == j else 0.0


def product(ax: float, ay: float, az: float, aw: float, bx: float, by: float, bz: float, bw: float) -> Quaternion:
    """The quaternion product a * b."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def turned(qx: float, qy: float, qz: float, qw: float, x: float, y: float, z: float) -> Vector:
    """The vector (x, y, z) turned by a quaternion."""
    tx, ty, tz = 2.0 * (qy * z - qz * y), 2.0 * (qz * x - qx * z), 2.0 * (qx * y - qy * x)
    return x + qw * tx + qy * tz - qz * ty, y + qw * ty + qz * tx - qx * tz, z + qw * tz + qx * ty - qy * tx


def exponential(x: float, y: float, z: float) -> Quaternion:
    """The rotation by a rotation vector."""
    angle = math.sqrt(x * x + y * y + z * z)
    scale = math.sin(0.5 * angle) / angle if angle > SMALL else 0.5
    return x * scale, y * scale, z * scale, math.cos(0.5 * angle)


def logarithm(x: float, y: float, z: float, v: float) -> tuple[float, float, float, float]:
    """The rotation vector of a quaternion, the short way, and its length."""
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, abs(v))
    scale = angle / sine if sine > SMALL else 2.0
    if v < 0.0:
        scale = -scale
    return x * scale, y * scale, z * scale, angle


def about(axis: int, angle: float) -> Quaternion:
    """The rotation about a coordinate axis."""
    sine = math.sin(0.5 * angle)
    return sine * unit(axis, 0), sine * unit(axis, 1), sine * unit(axis, 2), math.cos(0.5 * angle)


def put_row(source: Floats, target: Floats) -> None:
    """Target = source, of one dimension; a loop, because numba's own check of shapes takes seconds to compile."""
    for i in range(len(source)):
        target[i] = source[i]


def put_table(source: Floats, target: Floats) -> None:
    """Target = source, of two dimensions."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


def scale_row(values: Floats, factor: float) -> None:
    """Multiply by a number, in place."""
    for i in range(len(values)):
        values[i] *= factor
