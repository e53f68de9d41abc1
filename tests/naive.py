"""The mathematics of viewer.spatial and viewer.skeleton in the slowest and simplest form, for tests to compare with.

Nothing here is imported from the code under test: matrices by hand, one joint and one frame at a time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

# What the units i, j, k, 1 (0, 1, 2, 3 as in x, y, z, w) make in pairs: (which unit, with which sign).
_TABLE = {
    (0, 0): (3, -1), (0, 1): (2, 1), (0, 2): (1, -1), (0, 3): (0, 1),
    (1, 0): (2, -1), (1, 1): (3, -1), (1, 2): (0, 1), (1, 3): (1, 1),
    (2, 0): (1, 1), (2, 1): (0, -1), (2, 2): (3, -1), (2, 3): (2, 1),
    (3, 0): (0, 1), (3, 1): (1, 1), (3, 2): (2, 1), (3, 3): (3, 1),
}  # fmt: skip


def hamilton(p: ArrayLike, q: ArrayLike) -> Array:
    """The product of two quaternions (x, y, z, w), term by term."""
    p, q = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    result = np.zeros(4)
    for (one, other), (unit, sign) in _TABLE.items():
        result[unit] += sign * p[one] * q[other]
    return result


def matrix_of(q: ArrayLike) -> Array:
    """The rotation matrix of a unit quaternion: its columns are q e q* for the three axes e."""
    x, y, z, w = np.asarray(q, dtype=np.float64)
    columns = [hamilton(hamilton(q, [*axis, 0.0]), [-x, -y, -z, w])[:3] for axis in np.eye(3)]
    return np.stack(columns, axis=1)


def matrix_about(axis: str, angle: float) -> Array:
    """The matrix of a right-handed turn by an angle in radians about x, y or z, for column vectors."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array(
        {
            "x": [[1, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        }[axis]
    )


def rodrigues(vector: ArrayLike) -> Array:
    """The matrix of a rotation vector: I + sin(a) K + (1 - cos(a)) K^2, K the cross product with its unit vector."""
    v = np.asarray(vector, dtype=np.float64)
    angle = math.sqrt(float(v @ v))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = v / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    # 1 - cos(a) = 2 sin(a/2)^2 keeps its digits for small angles.
    return np.asarray(np.eye(3) + math.sin(angle) * cross + 2.0 * math.sin(0.5 * angle) ** 2 * (cross @ cross))


def angle_of(matrix: Array) -> float:
    """The angle of a rotation matrix, precise near 0 and near pi."""
    skew = np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
    return math.atan2(0.5 * math.sqrt(float(skew @ skew)), 0.5 * (float(np.trace(matrix)) - 1.0))


def world_matrices(parents: list[int], rotations: Array, translations: Array) -> list[Array]:
    """The 4x4 matrices of all joints, each the product of those on its way up to the root."""
    local = []
    for q, t in zip(rotations, translations, strict=True):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = matrix_of(q), t
        local.append(matrix)
    world = []
    for joint in range(len(parents)):
        total, above = local[joint], parents[joint]
        while above >= 0:
            total, above = local[above] @ total, parents[above]
        world.append(total)
    return world


def two_link_end(angles: tuple[float, float], lengths: tuple[float, float]) -> tuple[float, float]:
    """The end of two links in the plane, the second angle counted from the first link."""
    (one, two), (first, second) = angles, lengths
    return (
        first * math.cos(one) + second * math.cos(one + two),
        first * math.sin(one) + second * math.sin(one + two),
    )
