"""Vectors and quaternions as Python tuples: for single ones several times faster than numpy's arrays."""

from __future__ import annotations

import math
from typing import TypeAlias

from viewer.ik.backends.compiled.algebra import exponential, logarithm, product, turned
from viewer.spatial.quaternion import between, perpendicular

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]
"""(x, y, z, w), unit."""

UNTURNED: Quaternion = (0.0, 0.0, 0.0, 1.0)
UNITS: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
_OPPOSITE = 1e-4
"""Below this sine the cross product of opposite directions is too inexact."""


def plus(a: Vector, b: Vector) -> Vector:
    """Sum."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def minus(a: Vector, b: Vector) -> Vector:
    """Difference."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def scaled(a: Vector, by: float) -> Vector:
    """Multiple."""
    return a[0] * by, a[1] * by, a[2] * by


def dot(a: Vector, b: Vector) -> float:
    """Scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def length(a: Vector) -> float:
    """Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def unit(a: Vector) -> Vector:
    """The direction of a vector that is not zero."""
    return scaled(a, 1.0 / length(a))


def across(a: Vector) -> Vector:
    """A unit vector at right angles to a vector that is not zero."""
    return vector(perpendicular(unit(a)).tolist())


def vector(values: list[float]) -> Vector:
    """Three numbers as a tuple."""
    x, y, z = values
    return x, y, z


def quaternion(values: list[float]) -> Quaternion:
    """Four numbers as a tuple."""
    x, y, z, w = values
    return x, y, z, w


def multiply(p: Quaternion, q: Quaternion) -> Quaternion:
    """The rotation q, then p."""
    return product(*p, *q)


def inverse(q: Quaternion) -> Quaternion:
    """The opposite rotation."""
    return -q[0], -q[1], -q[2], q[3]


def rotate(q: Quaternion, v: Vector) -> Vector:
    """A vector turned by q."""
    return turned(*q, *v)


def exp(v: Vector) -> Quaternion:
    """The rotation by a rotation vector."""
    return exponential(*v)


def log(q: Quaternion) -> Vector:
    """The rotation vector of q, the short way."""
    x, y, z, _ = logarithm(*q)
    return x, y, z


def shortest_turn(a: Vector, b: Vector) -> Quaternion:
    """The smallest rotation from direction a to direction b, not zero: about a x b by atan2(|a x b|, a . b).

    For opposite directions, half a turn about some axis at right angles to a.
    """
    normal = cross(a, b)
    sine, cosine = length(normal), dot(a, b)
    if cosine < 0.0 and sine < -_OPPOSITE * cosine:
        return quaternion(between(unit(a), unit(b)).tolist())
    return exp(scaled(normal, math.atan2(sine, cosine) / sine)) if sine > 0.0 else UNTURNED


def axes_of(q: Quaternion) -> tuple[Vector, Vector, Vector]:
    """The three turned coordinate axes: the columns of the rotation's matrix."""
    return rotate(q, UNITS[0]), rotate(q, UNITS[1]), rotate(q, UNITS[2])
