"""Rotations and small loops that the kernels are made of, and the codes of joint kinds.

`viewer.ik.compiled.numba_engine` compiles these functions, those of `viewer.ik.kernels` and those of the loop;
`viewer.ik.numpy_engine` does in numpy what a solve calls in every step, and runs the rest as it is. In all of them
``s`` is a `System` (constant during a solve) and ``w`` a `Work` (scratch), of K joints in depth-first order, n dofs, G
goals and m rows. Quaternions and vectors are passed as numbers, which stay in registers; arrays would go through
memory.

Degrees of freedom, dofs: a hinge's, universal's or slide's coordinate; a limited ball's three coordinates (swing and
twist, or Euler angles); an unlimited ball's or root's three rotations about its own axes; a root's three translations
before those.
"""

from __future__ import annotations

import math

from viewer.spatial.checks import Bools, Floats, Quaternion, Vector

# How a joint moves; numba takes module constants as constants.
FIXED, TURNS, SWING_TWIST, EULER, HINGE, UNIVERSAL, SLIDE = range(7)

SMALL = 1e-9
"""Sines and lengths below this, of figures about a metre tall, are 0 but for rounding."""
NO_DIGITS = 1e-3
"""Below this angle a difference that should be a^2 / 12 is mostly rounding."""


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


def short_way(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> Quaternion:
    """The shortest turn of a unit vector to another; of opposite ones about any axis across."""
    # 1 + a.b, to the last digits of nearly opposite ones, too.
    r = 0.5 * ((ax + bx) * (ax + bx) + (ay + by) * (ay + by) + (az + bz) * (az + bz))
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    if r < 1e-28:
        x, y, z, r = -ay, ax, 0.0, 0.0
        if abs(az) > 0.5:
            x, y, z = 0.0, -az, ay
    length = math.sqrt(x * x + y * y + z * z + r * r)
    return x / length, y / length, z / length, r / length


def half_turn(square: float) -> tuple[float, float]:
    """Return sin(h) / h and cos(h) for a square h^2."""
    if square > LONG:
        half = math.sqrt(square)
        return math.sin(half) / half, math.cos(half)
    return half_turn_series(square)


def half_turn_series(square: float) -> tuple[float, float]:
    """`half_turn` for a square up to `LONG`, to the last digit.

    It has no calls, roots or branches, so a loop computes it for eight angles at a time.
    """
    z = -square
    sine, cosine = z * S10 + S9, z * C10 + C9
    sine, cosine = z * sine + S8, z * cosine + C8
    sine, cosine = z * sine + S7, z * cosine + C7
    sine, cosine = z * sine + S6, z * cosine + C6
    sine, cosine = z * sine + S5, z * cosine + C5
    sine, cosine = z * sine + S4, z * cosine + C4
    sine, cosine = z * sine + S3, z * cosine + C3
    sine, cosine = z * sine + S2, z * cosine + C2
    sine, cosine = z * sine + S1, z * cosine + C1
    return z * sine + 1.0, z * cosine + 1.0


LONGEST = 3.16
"""An angle of a little more than half a turn."""
LONG = 0.25 * LONGEST * LONGEST
# 1 / (2 k + 1)! and 1 / (2 k)!
S1, S2, S3, S4, S5, S6, S7, S8, S9, S10 = (1.0 / math.factorial(2 * k + 1) for k in range(1, 11))
C1, C2, C3, C4, C5, C6, C7, C8, C9, C10 = (1.0 / math.factorial(2 * k) for k in range(1, 11))


def exponential(x: float, y: float, z: float) -> Quaternion:
    """The rotation by a rotation vector."""
    sine, cosine = half_turn(0.25 * (x * x + y * y + z * z))
    scale = 0.5 * sine
    return x * scale, y * scale, z * scale, cosine


def logarithm(x: float, y: float, z: float, v: float) -> tuple[float, float, float, float]:
    """The rotation vector of a quaternion, the short way, and its length."""
    sine = math.sqrt(x * x + y * y + z * z)
    angle = 2.0 * math.atan2(sine, abs(v))
    scale = angle / sine if sine > SMALL else 2.0
    if v < 0.0:
        scale = -scale
    return x * scale, y * scale, z * scale, angle


def logarithm_and_slope(x: float, y: float, z: float, v: float) -> tuple[float, ...]:
    """The rotation vector e of a quaternion, its length a, and J_r^-1(e), row by row: 13 numbers.

    e of target * current^-1 falls by J_r^-1(e) w for a small turn w of the current rotation, and J_r^-1(e) =
    I + [e]x / 2 + (1 / a^2 - (1 + cos a) / (2 a sin a)) [e]x^2: Chirikjian, "Stochastic Models, Information Theory, and
    Lie Groups" vol. 2 (2012), eq. 10.86. At a = pi it stays finite.
    """
    ex, ey, ez, angle = logarithm(x, y, z, v)
    second = 1.0 / 12.0
    if not angle < NO_DIGITS:
        # (1 + cos) / sin = cot(a / 2), finite up to pi: of the half angle's sine and cosine in the quaternion.
        second = (1.0 - 0.5 * angle * abs(v) / math.sqrt(x * x + y * y + z * z)) / (angle * angle)
    a, b, c, rest = second * ex, second * ey, second * ez, 1.0 - second * angle * angle
    return (
        ex, ey, ez, angle,
        a * ex + rest, a * ey - 0.5 * ez, a * ez + 0.5 * ey,
        b * ex + 0.5 * ez, b * ey + rest, b * ez - 0.5 * ex,
        c * ex - 0.5 * ey, c * ey + 0.5 * ex, c * ez + rest,
    )  # fmt: skip


def sine_cosine(angle: float) -> tuple[float, float]:
    """Sine and cosine of an angle, from those of its half."""
    half = 0.5 * angle
    sine, cosine = half_turn(half * half)
    sine *= half
    return 2.0 * sine * cosine, 1.0 - 2.0 * sine * sine


def three_angles(i: int, j: int, k: int, x: float, y: float, z: float) -> Quaternion:
    """The rotation about coordinate axis i by x, after that about j by y, after that about k by z: all different."""
    x, y, z = 0.5 * x, 0.5 * y, 0.5 * z
    sx, cx = half_turn(x * x)
    sy, cy = half_turn(y * y)
    sz, cz = half_turn(z * z)
    return three_halves(i, j, k, x * sx, cx, y * sy, cy, z * sz, cz)


def three_halves(
    i: int, j: int, k: int, sx: float, cx: float, sy: float, cy: float, sz: float, cz: float
) -> Quaternion:
    """`three_angles` of the half angles' sines and cosines; the cross terms' sign is that of the axes' cyclic order."""
    parity = 1.0 if j - i == 1 or i - j == 2 else -1.0
    sine = parity * sy * sz
    u, v, t = sx * cy * cz + cx * sine, cx * sy * cz - parity * sx * cy * sz, cx * cy * sz + parity * sx * sy * cz
    return (
        u * unit(i, 0) + v * unit(j, 0) + t * unit(k, 0),
        u * unit(i, 1) + v * unit(j, 1) + t * unit(k, 1),
        u * unit(i, 2) + v * unit(j, 2) + t * unit(k, 2),
        cx * cy * cz - sx * sine,
    )


def about(axis: int, angle: float) -> Quaternion:
    """The rotation about a coordinate axis."""
    half = 0.5 * angle
    sine, cosine = half_turn(half * half)
    sine *= half
    return sine * unit(axis, 0), sine * unit(axis, 1), sine * unit(axis, 2), cosine


def put_row(source: Floats, target: Floats) -> None:
    """Copy a row. Compiled code moves its bytes in one piece, as it does in the next two."""
    for i in range(len(source)):
        target[i] = source[i]


def put_table(source: Floats, target: Floats) -> None:
    """Copy a table."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


def put_flat(source: Floats, target: Floats) -> None:
    """Copy a table into a row."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i * source.shape[1] + j] = source[i, j]


def scale_row(values: Floats, factor: float) -> None:
    """Multiply by a number, in place."""
    for i in range(len(values)):
        values[i] *= factor


def fill_row(values: Floats | Bools, value: float) -> None:
    """Set all of a row to one value."""
    for i in range(len(values)):
        values[i] = value
