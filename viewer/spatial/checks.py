"""Checks of input arrays, and read-only arrays for immutable values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from viewer.errors import InputError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]

UNIT_TOLERANCE = 1e-3
"""A quaternion within this distance of unit length is normalised; one farther off is refused."""
UNIT_ENOUGH = 1e-12
"""Quaternions this near to unit length are not changed, so that repeated reading and writing keeps their bits."""
_MOST_WHOLE = 2**53
"""Largest whole number up to which floats represent all whole numbers."""

_NUMBERS = "iufO"
"""Kinds of numpy types that hold numbers; O for integers too large for the others."""


def frozen(array: ArrayLike, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """A C-contiguous read-only array: ``array`` itself if it is one, else a copy."""
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
    """Make a C-contiguous array read-only in place, for large arrays without other references."""
    result = np.ascontiguousarray(array)
    result.flags.writeable = False
    return result


def finite_floats(
    value: ArrayLike, shape: tuple[int, ...], what: str, part: Callable[[tuple[int, ...]], str] | None = None
) -> Floats:
    """``value`` as float64 of the given shape (-1 = any length).

    Args:
        value: the input.
        shape: the expected shape.
        what: its name in messages.
        part: names the element with an index in messages, such as `` of "LeftHand"``.

    Raises:
        InputError: not numbers, another shape, NaN or infinite.
    """
    array = as_floats(value, shape, what)
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        where = what if part is None else what + part(index)
        raise InputError(f"{where}: expected finite numbers, found {array[index]}")
    return array


def plain_floats(value: object, count: int) -> Sequence[float] | None:
    """``count`` numbers as Python's own, of a float64 array (count,) or a tuple of floats; None of anything else.

    To check a few numbers takes numpy ten times as long as Python.
    """
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == np.float64 and value.shape == (count,) else None
    return value if type(value) is tuple and len(value) == count and {*map(type, value)} == {float} else None


def as_floats(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as float64 of the given shape (-1 = any length).

    Raises:
        InputError: not numbers, another shape; ``what`` names it.
    """
    try:
        array = np.asarray(value)
        # Numpy would also convert text, and drop imaginary parts with only a warning.
        if array.dtype.kind in _NUMBERS:
            array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{what}: expected numbers of shape {_shape_text(shape)}") from error
    if array.dtype != np.float64:
        raise InputError(f"{what}: expected numbers of shape {_shape_text(shape)}")
    if not array.size and array.ndim == 1 and shape[:1] == (0,):
        array = array.reshape(shape)  # an empty list does not show the length of its rows
    if not _fits(array.shape, shape):
        raise InputError(f"{what}: expected shape {_shape_text(shape)}, found {_shape_text(array.shape)}")
    return array


def _fits(found: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return found == shape or (
        len(found) == len(shape) and all(want in (-1, got) for want, got in zip(shape, found, strict=True))
    )


def whole_numbers(value: ArrayLike, shape: tuple[int, ...], what: str) -> Ints:
    """``value`` as whole numbers of the given shape (-1 = any length); floats only if they are whole.

    Raises:
        InputError: other numbers, no numbers, another shape; ``what`` names it.
    """
    if isinstance(value, np.ndarray) and value.dtype == np.intp:
        array = value
    else:
        floats = as_floats(value, shape, what)
        odd = ~(np.abs(floats) <= _MOST_WHOLE) | (floats != np.rint(floats))
        if odd.any():
            raise InputError(f"{what}: expected whole numbers, found {floats[odd].flat[0]:g}")
        array = floats.astype(np.intp)
    if not _fits(array.shape, shape):
        raise InputError(f"{what}: expected shape {_shape_text(shape)}, found {_shape_text(array.shape)}")
    return array


def nearly_unit(quaternions: Floats, refused: Callable[[int, Floats, float], Exception]) -> Floats:
    """Quaternions (..., 4), normalised if their length differs from 1 by more than `UNIT_ENOUGH`.

    Args:
        quaternions: finite or not; not changed.
        refused: makes the error, from the row, its numbers and its length, for a length that differs from 1 by more
            than `UNIT_TOLERANCE` or is NaN.

    Returns:
        The same array if nothing was changed.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.einsum("...i,...i->...", quaternions, quaternions)
    # NaN compares as false.
    if not squares.size or (squares.min() >= _LEAST_SQUARE and squares.max() <= _MOST_SQUARE):
        return quaternions
    lengths = np.sqrt(squares)
    off = ~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE)
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise refused(row, quaternions.reshape(-1, 4)[row], float(lengths.flat[row]))
    result = quaternions.copy()
    off = np.abs(lengths - 1.0) > UNIT_ENOUGH
    result[off] /= lengths[off, None]
    return result


_LEAST_SQUARE, _MOST_SQUARE = (1.0 - UNIT_ENOUGH) ** 2, (1.0 + UNIT_ENOUGH) ** 2


def not_unit(where: str, quaternion: Floats, length: float) -> InputError:
    """The error for a quaternion that is not finite or not of unit length; ``where`` begins the message."""
    bad = quaternion[~np.isfinite(quaternion)]
    if bad.size:
        return InputError(f"{where}: expected finite numbers, found {bad[0]}")
    return InputError(f"{where}: expected a unit quaternion (x, y, z, w), found length {length:.6g}")


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
