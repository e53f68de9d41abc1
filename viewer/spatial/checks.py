"""Checks of input: arrays, texts, words, flags and numbers; read-only and empty arrays, rounding; fields of values.

What a check refuses raises an `InputError`, which ``what`` or ``name`` begins.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, replace
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias, TypeGuard, TypeVar, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from viewer.errors import InputError, quote, unknown_name

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Integers: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]

UNIT_TOLERANCE = 1e-3
"""A quaternion within this distance of unit length is normalised; one farther off is refused."""
UNIT_ENOUGH = 1e-12
"""Quaternions and axes this near to unit length are not changed: reading and writing again keeps their bits."""
_MOST_WHOLE = 2**53
"""Largest whole number up to which floats represent all whole numbers."""

LEAST_WEIGHT = 1e-300
"""Below it, near the end of the range of floats, weights have too few digits to be compared."""
FARTHEST = 1e7
"""Metres from the origin at most; farther away floats do not resolve a millimetre well enough for a solver."""

NO_DECIMALS = 1e15
"""From here on floats are written without decimals."""

_NUMBERS = "iufO"
"""Kinds of numpy types that hold numbers; O for integers too large for the others."""

_LEAST_SQUARE, _MOST_SQUARE = (1.0 - UNIT_ENOUGH) ** 2, (1.0 + UNIT_ENOUGH) ** 2

Reduced: TypeAlias = tuple[Any, tuple[Any, ...]]
"""Result of `object.__reduce__`: a function and its arguments."""

E = TypeVar("E", bound=StrEnum)
T = TypeVar("T")
Arrays = TypeVar("Arrays", bound=tuple[Any, ...])
"""A named tuple of arrays."""


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


def rounded(values: Floats, decimals: int | None) -> Floats:
    """Values rounded to ``decimals``; unchanged for None."""
    # Rounding larger ones would overflow.
    return values if decimals is None else np.where(np.abs(values) < NO_DECIMALS, np.round(values, decimals), values)


def put(value: object, **fields: object) -> None:
    """Set fields of a frozen dataclass while it is made."""
    for name, content in fields.items():
        object.__setattr__(value, name, content)


def swapped(value: T, **changes: object) -> T:
    """`dataclasses.replace` by values that are checked already: nothing is checked again, which takes most of its time.

    For frozen dataclasses with slots.
    """
    made: T = object.__new__(type(value))
    for name in type(value).__slots__:  # type: ignore[attr-defined]
        object.__setattr__(made, name, changes[name] if name in changes else getattr(value, name))
    return made


def reduced(value: Any) -> Reduced:  # noqa: ANN401 - of any dataclass
    """The ``__reduce__`` of a value, by its fields; read-only maps, which cannot be pickled, are converted."""
    given = {field.name: getattr(value, field.name) for field in fields(value)}
    maps = {name for name, content in given.items() if isinstance(content, MappingProxyType)}
    return _made, (type(value), given | {name: dict(given[name]) for name in maps}, maps)


def _made(kind: type[Any], given: dict[str, Any], maps: set[str]) -> object:
    return kind(**given | {name: MappingProxyType(given[name]) for name in maps})


def zeros_for(kind: type[Arrays], sizes: Mapping[str, int]) -> Arrays:
    """A named tuple of arrays of zeros, of the shapes that its annotations say.

    `Annotated[Floats, "K", 4]` is (K, 4) of floats; ``sizes`` has K. Fields that are such tuples are made like it.
    """
    return kind(*[
        zeros_for(of, sizes) if shape is None else np.zeros([sizes.get(size, size) for size in shape], of)
        for of, shape in _fields(kind)
    ])  # fmt: skip


@cache
def _fields(kind: type[Any]) -> list[tuple[Any, tuple[Any, ...] | None]]:
    """By field its type of number and its shape; its own type and None where it is a tuple of arrays."""
    hints = [(hint, getattr(hint, "__metadata__", None)) for hint in get_type_hints(kind, include_extras=True).values()]
    return [(hint if shape is None else _NUMBER_OF[hint.__origin__], shape) for hint, shape in hints]


_NUMBER_OF = {Floats: np.float64, Integers: np.int64, Bools: np.bool_}
"""The type of number of an array, by its annotation: what that is made of differs between numpy 2.4 and 2.5."""


def finite_floats(
    value: ArrayLike, shape: tuple[int, ...], what: str, part: Callable[[tuple[int, ...]], str] | None = None
) -> Floats:
    """``value`` as finite float64 of the given shape (-1 = any length).

    ``part`` names the element with an index in messages, such as `` of "LeftHand"``.
    """
    array = as_floats(value, shape, what)
    if not np.isfinite(array).all():
        index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        where = what if part is None else what + part(index)
        raise InputError(f"{where}: expected finite numbers, found {array[index]}")
    return array


def triple(value: ArrayLike, what: str) -> Vector:
    """Three finite numbers; an InputError names ``what``."""
    x, y, z = finite_floats(value, (3,), what).tolist()
    return x, y, z


def unit_axis(vector: Vector) -> Vector:
    """A direction at unit length; unchanged if it has that."""
    largest = max(map(abs, vector))
    if largest == 0.0:
        raise InputError("expected a direction, found the zero vector")
    # Dividing by the largest first keeps the squares inside the range of floats.
    x, y, z = (component / largest for component in vector)
    length = math.sqrt(x * x + y * y + z * z)
    if abs(length * largest - 1.0) <= UNIT_ENOUGH:
        return vector
    return x / length, y / length, z / length


def plain_floats(value: object, count: int) -> Sequence[float] | None:
    """``count`` numbers as Python's own, of a float64 array (count,) or a tuple of floats; None of anything else.

    To check a few numbers takes numpy ten times as long as Python.
    """
    if isinstance(value, np.ndarray):
        return value.tolist() if value.dtype == np.float64 and value.shape == (count,) else None
    return value if type(value) is tuple and len(value) == count and {*map(type, value)} == {float} else None


def as_floats(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as float64 of the given shape (-1 = any length)."""
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
    """``value`` as whole numbers of the given shape (-1 = any length); floats only if they are whole."""
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

    ``refused`` makes the error, from the row, its numbers and its length, for a length that differs from 1 by more than
    `UNIT_TOLERANCE` or is NaN.

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


def not_unit(where: str, quaternion: Floats, length: float) -> InputError:
    """The error for a quaternion that is not finite or not of unit length; ``where`` begins the message."""
    bad = quaternion[~np.isfinite(quaternion)]
    if bad.size:
        return InputError(f"{where}: expected finite numbers, found {bad[0]}")
    return InputError(f"{where}: expected a unit quaternion (x, y, z, w), found length {length:.6g}")


def unit_quaternions(value: ArrayLike, shape: tuple[int, ...], what: str) -> Floats:
    """``value`` as unit quaternions (x, y, z, w), normalised if within `UNIT_TOLERANCE` of it."""
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


# --- texts, words, flags and single numbers


def check_type(value: object, kind: type, what: str) -> None:
    """Raise InputError unless a value is of a type; ``what`` says where and what is expected."""
    if not isinstance(value, kind):
        raise InputError(f"{what}, found {quote(value)}")


def text(value: object, what: str, *, empty: bool = True) -> str:
    """A text that every file can hold, ``empty`` or not."""
    if not isinstance(value, str):
        raise InputError(f"{what}: expected text, found {quote(value)}")
    if not value and not empty:
        raise InputError(f"{what}: expected text that is not empty")
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise InputError(f"{what}: expected whole characters, found half of a surrogate pair: {quote(value)}")
    return value if type(value) is str else str(value)


def member(kind: type[E], value: object, what: str) -> E:
    """The member of an enumeration that it is or that its word names."""
    if type(value) is kind:
        return value
    try:
        return kind(value)  # type: ignore[arg-type]  # what is no word of it is refused
    except ValueError:
        listed = ", ".join(quote(str(one)) for one in kind)
        raise InputError(f"{what}: expected one of {listed}, found {quote(value)}") from None


def whole(value: object, what: str, *, least: float = 0, most: float = math.inf) -> int:
    """A whole number within bounds."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and least <= value <= most:
        return int(value)
    words = "" if least == -math.inf else f", {least} or more" if most == math.inf else f", {least} to {most}"
    raise InputError(f"{what}: expected a whole number{words}, found {_found(value)}")


def seconds(value: object, what: str, *, unit: str = "seconds") -> float:
    """A time step, or a rate: a finite number above 0."""
    if not _is_number(value):
        raise InputError(f"{what}: expected a number of {unit}, found {_found(value)}")
    if not sys.float_info.min <= value < math.inf:  # of smaller ones the inverse is infinite
        raise InputError(f"{what}: expected more than 0 {unit}, found {value}")
    return float(value)


def _found(value: object) -> str:
    return str(value) if isinstance(value, (bool, np.bool_)) or _is_number(value) else quote(value)


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def as_float(value: object, what: str) -> float:
    """A number, which may be infinite or NaN."""
    if not _is_number(value):
        raise InputError(f"{what}: expected a number, found {_found(value)}")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def as_number(
    value: object,
    what: str,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
) -> float:
    """A finite number within bounds."""
    number = as_float(value, what)
    if math.isfinite(number) and least <= number <= most and above < number < below:
        return number
    words = "" if above == -math.inf else f" above {above:g}"
    if least > -math.inf:
        words = f", {least:g} or more" if most == math.inf else f", {least:g} to {most:g}"
    elif number > most:
        words += f"{' and' if words else ','} at most {most:g}"
    words += "" if below == math.inf else f" and less than {below:g}"
    raise InputError(f"{what}: expected a finite number{words}, found {number:g}")


def as_positive(value: object, what: str) -> float:
    """A finite number of at least `LEAST_WEIGHT`."""
    number = as_number(value, what, above=0.0)
    return number if number >= LEAST_WEIGHT else as_number(number, what, least=LEAST_WEIGHT)


def as_vector(value: ArrayLike, what: str) -> Vector:
    """Three finite numbers, none larger than `FARTHEST`."""
    plain = plain_floats(value, 3)
    x, y, z = finite_floats(value, (3,), what).tolist() if plain is None else plain
    farthest = max(abs(x), abs(y), abs(z))
    if not (farthest <= FARTHEST and y == y and z == z):  # noqa: PLR0124 - NaN is not
        finite_floats(value, (3,), what)
        raise InputError(f"{what}: expected metres within {FARTHEST:g} of the origin, found {farthest:g}")
    return x, y, z


def as_name(value: object, what: str, most: int = 200) -> str:
    """A name of one line, without blanks at its ends, of at most so many characters."""
    name = value.strip() if isinstance(value, str) else ""
    if not name:
        raise InputError(f"{what}: expected a name, found {'none' if isinstance(value, str) else quote(value)}")
    if len(name) > most:
        raise InputError(f"{what}: expected a name of at most {most} characters, found {len(name)}")
    if not name.isprintable():
        raise InputError(f"{what}: expected a name of one line, found {quote(name)}")
    return name


def as_flag(value: object, what: str) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{what}: expected True or False, found {_found(value)}")
    return bool(value)


def with_changes(value: T, changes: Mapping[str, Any], what: str, but: Collection[str] = ()) -> T:
    """A dataclass with other values of some fields, as actions state them.

    ``what`` is such a field in messages: "solver setting"; those in ``but`` cannot be changed.
    """
    given: Any = value  # typeshed's protocol of dataclasses cannot be imported
    known = [field.name for field in fields(given) if field.name not in but]
    for name in changes:
        if name not in known:
            raise InputError(unknown_name(what, name, known))
    made: T = replace(given, **changes)
    return made
