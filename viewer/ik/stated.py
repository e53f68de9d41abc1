"""The spreads that a skeleton's file states: what they say of each freedom, and of joints that turn freely."""

from __future__ import annotations

import math

import numpy as np

from viewer.skeleton.limits import JointKind
from viewer.skeleton.mobility import are_diagonal
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import from_matrix

_COORDINATES = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}


def stated_spreads(skeleton: Skeleton) -> Floats:
    """(J, 3) radians (metres of slides) of each freedom; NaN where none. Columns: `viewer.ik.mobility_priors.spreads`.

    Of a matrix S a coordinate about, or along, a unit axis u takes |S u|: of a diagonal one its numbers, to the bit.
    """
    result = np.full((len(skeleton), 3), np.nan) if skeleton.mobility is None else skeleton.mobility.copy()
    if skeleton.mobility_matrices is None:
        return result
    for joint in np.flatnonzero(skeleton.has_mobility_matrix).tolist():
        matrix, count = skeleton.mobility_matrices[joint], _COORDINATES.get(skeleton.kinds[joint], 3)
        axes = skeleton.axes[joint, :count] if count < 3 else np.eye(3)
        result[joint, :count] = spread_about(matrix, axes)
        result[joint, count:] = 0.0
    return result


def spread_about(matrix: Floats, axes: Floats) -> Floats:
    """|S u| of a matrix S (3, 3) for unit directions u (..., 3)."""
    size, unit = _scaled(matrix)
    with np.errstate(over="ignore"):
        return np.asarray(size * np.linalg.norm(axes @ unit, axis=-1))


def stated_axes(skeleton: Skeleton) -> dict[int, tuple[Floats, Floats]]:
    """By joint, of those whose matrix has other principal axes than its own: these, and the spreads about them.

    Returns:
        (4,) rotations that turn x, y, z into the principal axes, and (3,) radians.
    """
    found: dict[int, tuple[Floats, Floats]] = {}
    if skeleton.mobility_matrices is None:
        return found
    for joint in np.flatnonzero(skeleton.has_mobility_matrix).tolist():
        matrix = skeleton.mobility_matrices[joint]
        if skeleton.kinds[joint] in _COORDINATES or bool(are_diagonal(matrix)):
            continue
        size, unit = _scaled(matrix)
        widths, axes = np.linalg.eigh(unit)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] = -axes[:, 0]
        found[joint] = from_matrix(axes), size * np.maximum(widths, 0.0)
    return found


def _scaled(matrix: Floats) -> tuple[float, Floats]:
    """A power of two, and the matrix in its units: squares of its numbers, however large, are numbers."""
    size = math.ldexp(1.0, math.frexp(float(np.abs(matrix).max()))[1] - 1) if matrix.any() else 1.0
    return size, matrix / size
