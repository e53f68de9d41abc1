"""Arrays in a session file: short ones as numbers, long ones as compressed base64."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_INFLATION, room_for_arrays
from viewer.spatial.checks import UNIT_TOLERANCE, handed_over

LONGEST_PLAIN = 1000
"""Numbers that an array may have and still be written as numbers."""

_LEVEL = 2
"""Of deflating: more takes twice as long and makes less than a hundredth of it."""
_LEAST_SQUARE, _MOST_SQUARE = (1.0 - UNIT_TOLERANCE) ** 2, (1.0 + UNIT_TOLERANCE) ** 2
_TYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


class Packed(msgspec.Struct):
    """A long array: its bytes in C order, little-endian, deflated, as base64."""

    shape: list[int]
    zlib: str
    type: str = "f8"


Stored: TypeAlias = list[Any] | Packed


def plain_number(value: object) -> object:
    """A number of numpy as one of Python's, for an encoder: settings take either.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written")


def pack(array: NDArray[Any]) -> Stored:
    """An array of floats or integers of any shape as data that `unpack` makes equal to the last bit."""
    code = "f8" if array.dtype.kind == "f" else "i8"
    if array.size <= LONGEST_PLAIN and (code == "i8" or bool(np.isfinite(array).all())):
        numbers: list[Any] = array.tolist()
        return numbers
    data = np.ascontiguousarray(array, dtype=_TYPES[code]).tobytes()
    return Packed(list(array.shape), base64.b64encode(_deflated(data)).decode("ascii"), code)


def _deflated(data: bytes) -> bytes:
    """As small as `check_packed` lets it be read again: what hardly moves would pack to less."""
    deflated = zlib.compress(data, _LEVEL)
    if len(data) <= MOST_INFLATION * len(deflated):
        return deflated
    # Codes of a bit or more to the byte: an eighth at least is left.
    plain = zlib.compressobj(_LEVEL, strategy=zlib.Z_HUFFMAN_ONLY)
    return plain.compress(data) + plain.flush()


def check_unit(turns: NDArray[Any], path: str) -> None:
    """Refuse rotations (F, J, 4) farther than 1e-3 from unit length, without a copy of them.

    Raises:
        FormatError: some are.
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("...i,...i->...", turns, turns)
    if squares.size and not (squares.min() >= _LEAST_SQUARE and squares.max() <= _MOST_SQUARE):
        raise FormatError("expected unit quaternions", path=path)


def check_packed(data: object, size: int, path: str) -> None:
    """Refuse a file whose packed arrays have too many numbers together, before any is inflated.

    Args:
        data: structs, lists and dicts of the file, with `Packed` arrays or what will become some among them.
        size: of the file, bytes or characters.
        path: where the data stand in the file, for messages.

    Raises:
        FormatError: they have more than `room_for_arrays` has room for, or lengths below 0.
    """
    room = room_for_arrays(size)
    total = 8 * sum(_stated(packed, path) for packed in _packed(data))
    if total > room:
        found = f"found {total:,} in a file of {size:,}"
        raise FormatError(f"expected at most {room:,} bytes of packed arrays, {found}", path=path)


def _stated(shape: list[Any], path: str) -> int:
    if not all(type(length) is int and length >= 0 for length in shape):
        raise FormatError(f"expected an array's shape, found {quote(shape)}", path=path)
    return math.prod(shape)


def _packed(data: object) -> Iterator[list[Any]]:
    """The shapes of all packed arrays in data, without recursion: actions may be nested by anybody."""
    waiting = [data]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Packed):
            yield one.shape
        elif isinstance(one, msgspec.Struct):
            waiting += msgspec.structs.astuple(one)
        elif isinstance(one, dict):
            if "zlib" in one and isinstance(one.get("shape"), list):
                yield one["shape"]
            waiting += one.values()
        elif isinstance(one, (list, tuple)):
            waiting += [part for part in one if not isinstance(part, (int, float, str))]


def unpack(stored: Stored, shape: tuple[int, ...], path: str, *, whole: bool = False) -> NDArray[Any]:
    """A read-only array of the shape wanted (-1 = any length).

    Args:
        stored: what `pack` made, or a file says.
        shape: the shape it must have.
        path: where it stands in the file, for messages.
        whole: integers (intp) instead of floats.

    Raises:
        FormatError: another shape, no numbers, damaged data.
    """
    array = _inflated(stored, path) if isinstance(stored, Packed) else _listed(stored, shape, path)
    if array.size == 0 and 0 in array.shape and 0 in (0 if want == -1 else want for want in shape):
        array = array.reshape([0 if want == -1 else want for want in shape])
    if array.ndim != len(shape) or any(want not in (-1, got) for want, got in zip(shape, array.shape, strict=True)):
        raise FormatError(f"expected an array of shape {shape}, found {array.shape}", path=path)
    return handed_over(_typed(array, path, whole=whole))


def _typed(array: NDArray[Any], path: str, *, whole: bool) -> NDArray[Any]:
    if not whole:
        return np.asarray(array, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        numbers = np.asarray(array).astype(np.intp, copy=False)
    if not np.array_equal(numbers, array):
        raise FormatError("expected whole numbers", path=path)
    return numbers


def _listed(stored: list[Any], shape: tuple[int, ...], path: str) -> NDArray[Any]:
    """The numbers of nested lists; an empty one fits any shape that has a length of 0."""
    try:
        array = np.array(stored)
    except (ValueError, OverflowError) as error:
        raise FormatError(f"expected an array of shape {shape}, found rows of different lengths", path=path) from error
    if array.size and array.dtype.kind not in "if":
        raise FormatError("expected numbers, found something else", path=path)
    return array


def _inflated(stored: Packed, path: str) -> NDArray[Any]:
    kind = _TYPES.get(stored.type)
    if kind is None:
        raise FormatError(f"expected type f8 or i8, found {stored.type}", path=path)
    size, room = _stated(stored.shape, path) * kind.itemsize, room_for_arrays(len(stored.zlib))
    if size > room:
        raise FormatError(f"expected at most {room // 8:,} numbers, found shape {stored.shape}", path=path)
    try:
        deflated = base64.b64decode(stored.zlib, validate=True)
        # It is never given room for more than the shape says, whatever is packed into it.
        data = zlib.decompressobj().decompress(deflated, size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise FormatError(f"expected deflated numbers, found damaged data ({error})", path=path) from error
    if len(data) != size:
        raise FormatError(f"expected {size:,} bytes of numbers, found {len(data):,}", path=path)
    return np.frombuffer(data, kind).reshape(stored.shape)
