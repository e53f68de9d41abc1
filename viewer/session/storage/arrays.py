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
"""Largest array, in numbers, that is written as plain numbers."""

_LEVEL = 2
"""Compression level: a higher one takes twice as long and saves less than a hundredth."""
_LEAST_SQUARE, _MOST_SQUARE = (1.0 - UNIT_TOLERANCE) ** 2, (1.0 + UNIT_TOLERANCE) ** 2
_TYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


class Packed(msgspec.Struct):
    """A long array: its bytes in C order, little-endian, deflated, as base64."""

    shape: list[int]
    zlib: str
    type: str = "f8"


Stored: TypeAlias = list[Any] | Packed


def plain_number(value: object) -> object:
    """A numpy number as a Python number, for the encoder.

    Raises:
        TypeError: anything else.
    """
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} cannot be written")


def pack(array: NDArray[Any]) -> Stored:
    """An array of floats or integers of any shape as data, from which `unpack` restores every bit."""
    code = "f8" if array.dtype.kind == "f" else "i8"
    if array.size <= LONGEST_PLAIN and (code == "i8" or bool(np.isfinite(array).all())):
        numbers: list[Any] = array.tolist()
        return numbers
    data = np.ascontiguousarray(array, dtype=_TYPES[code]).tobytes()
    return Packed(list(array.shape), base64.b64encode(_deflated(data)).decode("ascii"), code)


def _deflated(data: bytes) -> bytes:
    """Compress no more than `check_packed` accepts: nearly constant motion would shrink further."""
    deflated = zlib.compress(data, _LEVEL)
    if len(data) <= MOST_INFLATION * len(deflated):
        return deflated
    # Huffman codes have at least one bit per byte, so that at least an eighth is left.
    plain = zlib.compressobj(_LEVEL, strategy=zlib.Z_HUFFMAN_ONLY)
    return plain.compress(data) + plain.flush()


def check_unit(turns: NDArray[Any], path: str) -> None:
    """Refuse rotations (F, J, 4) that differ from unit length by more than 1e-3, without copying them.

    Raises:
        FormatError: some do.
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("...i,...i->...", turns, turns)
    if squares.size and not (squares.min() >= _LEAST_SQUARE and squares.max() <= _MOST_SQUARE):
        raise FormatError("expected unit quaternions", path=path)


def check_packed(data: object, size: int, path: str) -> None:
    """Refuse a file whose packed arrays are too large in total, before any is decompressed.

    Args:
        data: structs, lists and dicts of the file, with `Packed` arrays or dicts of their shape.
        size: of the file, in bytes or characters.
        path: of the data in the file, for messages.

    Raises:
        FormatError: more than `room_for_arrays` allows, or lengths below 0.
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
    """The shapes of all packed arrays in data, without recursion: files may be nested deeply."""
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
    """A read-only array of a shape (-1 = any length).

    Args:
        stored: from `pack`, or from a file.
        shape: the expected shape.
        path: of the array in the file, for messages.
        whole: integers (intp) instead of floats.

    Raises:
        FormatError: another shape, not numbers, damaged data.
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
    """The numbers of nested lists; an empty list fits any shape with a length of 0."""
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
        # Decompression is limited to the size that the shape states.
        data = zlib.decompressobj().decompress(deflated, size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise FormatError(f"expected deflated numbers, found damaged data ({error})", path=path) from error
    if len(data) != size:
        raise FormatError(f"expected {size:,} bytes of numbers, found {len(data):,}", path=path)
    return np.frombuffer(data, kind).reshape(stored.shape)
