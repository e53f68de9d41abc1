"""Checks of arrays that come from outside, and the freezing of those that go into values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from viewer.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Ints: TypeAlias = "NDArray[np.intp]"
Bools: TypeAlias = "NDArray[np.bool_]"

UNIT_TOLERANCE = 1e-3
"""A quaternion within this distance of unit length is normalised; one farther off is refused."""

_NUMBERS = "iufO"
"""Kinds of numpy types that hold numbers; O for integers too large for the others."""


def frozen(array: ArrayLike, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """A C-contiguous read-only array; ``array`` itself if it is one already, else a copy."""
    if (
        isinstance(array, np.ndarray)
        and array.dtype == dtype
        and array.flags.c_contiguous
        and not array.flags.writeable
    ):
        return array
    result: NDArray[Any] = np.array(array, dtype=dtype, order="C")
    result.flags.writeable = False
    return result


def handed_over(array: NDArray[Any]) -> NDArray[Any]:
    """Make a C-contiguous array read-only in place: for large ones that nobody else holds."""
    result = np.ascontiguousarray(array)
    result.flags.writeable = False
    return result


def finite_floats(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as float64 of the given shape (-1 = any length).

    Raises:
        InputError: not numbers, another shape, NaN or infinite; ``what`` names it.
    """
    problem = f"{what}: expected numbers of shape {_shape_text(shape)}"
    try:
        array = np.asarray(value)
        # Numpy would also read text, and drop imaginary parts with a mere warning.
        if array.dtype.kind in _NUMBERS:
            array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(problem) from error
    if array.dtype != np.float64:
        raise InputError(problem)
    fits = array.ndim == len(shape) and all(want in (-1, got) for want, got in zip(shape, array.shape, strict=True))
    if not fits:
        raise InputError(f"{what}: expected shape {_shape_text(shape)}, found {_shape_text(array.shape)}")
    if not np.isfinite(array).all():
        raise InputError(f"{what}: expected finite numbers, found {array[~np.isfinite(array)].flat[0]}")
    return array


def unit_quaternions(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as unit quaternions (x, y, z, w), normalised if within `UNIT_TOLERANCE` of it.

    Raises:
        InputError: as `finite_floats`, and a length farther than `UNIT_TOLERANCE` from 1.
    """
    array = finite_floats(value, shape, what)
    with np.errstate(over="ignore"):
        length = np.sqrt(np.einsum("...i,...i->...", array, array))
    off = np.abs(length - 1.0) > UNIT_TOLERANCE
    if off.any():
        found = float(np.atleast_1d(length)[np.atleast_1d(off)][0])
        raise InputError(f"{what}: expected a unit quaternion (x, y, z, w), found length {found:.6g}")
    return np.asarray(array / length[..., None])


def _shape_text(shape: tuple[int, ...]) -> str:
    inside = ", ".join("any" if n == -1 else str(n) for n in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"
