"""Products of many quaternions and vectors at once, in few numpy calls that run along the joints.

For the few dozen joints of a character a call costs more than its arithmetic; for thousands, short inner loops do. So
arrays here are components first, (4, N) and (3, N), and each product, being bilinear, is a constant table times the
products of its operands' components. `viewer.spatial.quaternion` has the general forms, for any shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.spatial import quaternion
from viewer.spatial.checks import Floats, Ints

_SMALL = 1e-12
"""Below this angle or sine the limit of a quotient is used: its next term is below rounding."""

_UNITS = np.eye(4)

# Column j of a rotation matrix is q e_j q*; (a, b, i, j) is component i of a e_j b*, for unit quaternions a and b.
_TURNED = quaternion.multiply(
    quaternion.multiply(_UNITS[:, None, None], _UNITS[:3]), quaternion.conjugate(_UNITS)[:, None]
)[..., :3].swapaxes(2, 3)
_TWICE = _TURNED.reshape(4, 4, 9)


class Form(NamedTuple):
    """A bilinear product: component c of a and b's is the sum over i of table[c, i] a[first[i]] b[second[i]]."""

    table: Floats
    first: Ints
    second: Ints


def _form(terms: Floats) -> Form:
    """The form of a table (A, B, C) of the components of products of unit vectors, most of them 0."""
    first, second = np.nonzero(np.any(terms, axis=2))
    return Form(terms[first, second].T.copy(), first, second)


_PRODUCT = _form(quaternion.multiply(_UNITS[:, None], _UNITS))
_SINCE = _form(quaternion.multiply(quaternion.conjugate(_UNITS)[:, None], _UNITS))
_CROSS = _form(np.cross(np.eye(3)[:, None], np.eye(3)))

# Of one and the same quaternion, a b is b a.
_MATRIX = _form(np.triu(np.ones((4, 4)))[:, :, None] * (_TWICE + _TWICE.swapaxes(0, 1)) / (1.0 + _UNITS)[:, :, None])


def multiply(p: Floats, q: Floats) -> Floats:
    """Quaternion products p * q, (4, N)."""
    return _bilinear(p, q, _PRODUCT)


def since(p: Floats, q: Floats) -> Floats:
    """The rotations p* q (4, N) from unit quaternions p to q, in p's own frame."""
    return _bilinear(p, q, _SINCE)


def exponential(v: Floats) -> Floats:
    """The rotations (4, N) by rotation vectors (3, N); of vectors in a plane, (2, N), what is in it and w: (3, N)."""
    angle = np.sqrt(np.add.reduce(v * v))
    result = np.empty((len(v) + 1, len(angle)))
    turns, half = angle > _SMALL, 0.5 * angle
    scale = np.divide(np.sin(half), angle, out=np.full_like(angle, 0.5), where=turns)
    np.multiply(v, scale, out=result[:-1])
    np.cos(half, out=result[-1])
    return result


def logarithm(q: Floats) -> tuple[Floats, Floats]:
    """The rotation vectors (3, N) of unit quaternions (4, N), the short way round, and their lengths (N,)."""
    v, w = q[:3], q[3]
    sine = np.sqrt(np.add.reduce(v * v))
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    scale = np.divide(angle, sine, out=np.full_like(angle, 2.0), where=sine > _SMALL)
    return v * np.copysign(scale, w), angle


def cross(a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """Vector products a x b, (3, N), into ``out`` if that is given."""
    return _bilinear(a, b, _CROSS, out)


def matrices(q: Floats) -> Floats:
    """Rotation matrices (3, 3, N) of unit quaternions (4, N)."""
    return _bilinear(q, q, _MATRIX).reshape(3, 3, -1)


def apply(matrix: Floats, v: Floats) -> Floats:
    """Vectors (3, N) turned by matrices (3, 3, N)."""
    return np.asarray(np.einsum("ijn,jn->in", matrix, v))


def _bilinear(a: Floats, b: Floats, form: Form, out: Floats | None = None) -> Floats:
    # For a few columns the method `dot` takes a third as long as `@`, and `take` half as long as brackets.
    return form.table.dot(a.take(form.first, axis=0) * b.take(form.second, axis=0), out)
