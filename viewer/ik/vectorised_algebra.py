"""Products of many quaternions and vectors at once, in few numpy calls that run along the joints.

For the few dozen joints of a character a call costs more than its arithmetic; for thousands, short inner loops do. So
arrays here stand components first, (4, N) and (3, N), and each product, being bilinear, is the outer product of its
operands times a constant table. `viewer.spatial.quaternion` has the general forms, for any shape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial import quaternion

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

_UNITS = np.eye(4)

_PRODUCT = quaternion.multiply(_UNITS[:, None], _UNITS).reshape(16, 4).T.copy()
"""Entry (c, 4 a + b): component c of the product of unit quaternions a and b."""

_TURNED = quaternion.multiply(
    quaternion.multiply(_UNITS[:, None, None], _UNITS[:3]), quaternion.conjugate(_UNITS)[:, None]
)[..., :3]
"""Entry (a, b, j, i): component i of a e_j b*, for unit quaternions a and b."""
_MATRIX = _TURNED.reshape(16, 3, 3).transpose(2, 1, 0).reshape(9, 16).copy()
"""Entry (3 i + j, 4 a + b): the same. Column j of a rotation matrix is q e_j q*."""

_CROSS = np.cross(np.eye(3)[:, None], np.eye(3)).reshape(9, 3).T.copy()
"""Entry (c, 3 a + b): component c of e_a x e_b."""
_SKEW = _CROSS.reshape(3, 3, 3).swapaxes(0, 1).reshape(3, 9)
"""Entry (a, 3 c + b): the same."""


def multiply(p: Floats, q: Floats) -> Floats:
    """Quaternion products p * q, (4, N)."""
    return _bilinear(p, q, _PRODUCT)


def cross(a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """Vector products a x b, (3, N), into ``out`` if that is given."""
    return _bilinear(a, b, _CROSS, out)


def matrices(q: Floats) -> Floats:
    """Rotation matrices (3, 3, N) of unit quaternions (4, N)."""
    return _bilinear(q, q, _MATRIX).reshape(3, 3, -1)


def apply(matrix: Floats, v: Floats) -> Floats:
    """Vectors (3, N) turned by matrices (3, 3, N)."""
    return np.asarray(np.einsum("ijn,jn->in", matrix, v))


def skew(v: Floats) -> Floats:
    """(N, 3, 3) with ``skew(v) @ u == v x u`` for vectors v (N, 3)."""
    return np.dot(v, _SKEW).reshape(-1, 3, 3)


def _bilinear(a: Floats, b: Floats, table: Floats, out: Floats | None = None) -> Floats:
    products = a[:, None] * b
    # For a few columns `dot` takes half as long as `@`.
    return np.dot(table, products.reshape(table.shape[1], -1), out)  # type: ignore[no-any-return]
