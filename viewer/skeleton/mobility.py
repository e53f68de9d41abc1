"""Mobility of joints: how far each commonly rotates, about its own axes or, with a matrix, about any direction.

With S symmetric and positive semi-definite, the mobility about a unit direction u is |S u|, the root of the variance
u S S u. About the principal axes it is an eigenvalue, and S = diag(a, b, c) is equivalent to the numbers a, b, c.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.errors import InputError, shown
from viewer.spatial.checks import Bools, Floats, frozen

_EVEN = 1e-6
"""Largest asymmetry relative to the largest number, which rounding explains."""
_BELOW = 1e-3
"""Largest negative eigenvalue relative to the largest number, for matrices typed with few digits."""
_NOTHING = 1e-12
"""Numbers off the diagonal count as 0 up to this fraction of the largest number."""


def checked_mobility(mobility: Floats) -> Floats:
    """Mobility (J, 3), read-only.

    Raises:
        InputError: one below 0, or infinite.
    """
    bad = np.isinf(mobility) | (mobility < 0.0)
    if bad.any():
        raise InputError(f"skeleton mobility: expected finite numbers of 0 or more, found {mobility[bad][0]:g}")
    return frozen(mobility)


def checked_matrices(matrices: Floats, names: Sequence[str]) -> Floats:
    """Mobility matrices (J, 3, 3) of the named joints, read-only and exactly symmetric; NaN for joints without one.

    Raises:
        InputError: an invalid matrix.
    """
    given = np.asarray(~np.isnan(matrices).all(axis=(-2, -1)))
    if _are_good(matrices[given]):
        return frozen(np.where(given[:, None, None], _even(matrices), np.nan))
    for joint in np.flatnonzero(given).tolist():
        try:
            checked_matrix(matrices[joint])
        except InputError as error:
            raise InputError(f"skeleton mobility_matrices of {shown(names[joint])}: {error}") from None
    raise AssertionError


def checked_matrix(matrix: Floats) -> Floats:
    """A mobility matrix (3, 3), made exactly symmetric.

    Raises:
        InputError: NaN or infinite, not symmetric, an eigenvalue below 0.
    """
    if not np.isfinite(matrix).all():
        raise InputError("expected finite numbers, found NaN or infinity")
    largest = float(np.abs(matrix).max())
    uneven = np.argwhere(np.abs(matrix - matrix.T) > _EVEN * largest)
    if len(uneven):
        row, column = uneven[0].tolist()
        here, there = matrix[row, column], matrix[column, row]
        raise InputError(
            f"expected a symmetric matrix, found {here:g} in row {row + 1}, column {column + 1} and {there:g} across"
        )
    lowest = _lowest(matrix)
    if lowest < -_BELOW:
        raise InputError(f"expected a spread of 0 or more about every direction, found {lowest * largest:g}")
    return _even(matrix)


def _are_good(matrices: Floats) -> bool:
    """Whether `checked_matrix` takes all of them: skeletons are made often, and the answer is nearly always yes."""
    if not np.isfinite(matrices).all():
        return False
    largest = np.abs(matrices).max(axis=(-2, -1), initial=0.0)[:, None, None]
    even = np.abs(matrices - matrices.swapaxes(-2, -1)) <= _EVEN * largest
    return bool(even.all()) and bool((_lowest(matrices) >= -_BELOW).all())


def _even(matrices: Floats) -> Floats:
    # Halved first, because the sum of two large numbers might overflow.
    return 0.5 * matrices + 0.5 * matrices.swapaxes(-2, -1)


def _lowest(matrices: Floats) -> Floats:
    """(...) the lowest eigenvalues relative to the largest number."""
    largest = np.abs(matrices).max(axis=(-2, -1), keepdims=True)
    return np.asarray(np.linalg.eigvalsh(_even(matrices / np.where(largest > 0.0, largest, 1.0)))[..., 0])


def are_diagonal(matrices: Floats) -> Bools:
    """(...) whether matrices (..., 3, 3) are diagonal."""
    off = np.abs(matrices) * (1.0 - np.eye(3))
    return np.asarray(off.max(axis=(-2, -1)) <= _NOTHING * np.abs(matrices).max(axis=(-2, -1)))
