"""Arrays in a session file: short ones as numbers, long ones as compressed base64."""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
import numpy as np

from viewer.errors import FormatError
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_PLAIN = 1000
"""Numbers that an array may have and still be written as numbers."""
MOST_NUMBERS = 1 << 28
"""Numbers that an array may state to have: 2 GiB of them."""

_LEVEL = 2
"""Of deflating: more takes twice as long and makes less than a hundredth of it."""
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
    return Packed(list(array.shape), base64.b64encode(zlib.compress(data, _LEVEL)).decode("ascii"), code)


def unpack(stored: Stored, shape: tuple[int, ...], path: str, *, whole: bool = False) -> NDArray[Any]:
    """A read-only array of the shape wanted (-1 = any length).

    Args:
        stored: what `pack` made, or somebody's file says.
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
        return np.array(array, dtype=np.float64)
    numbers = np.array(array, dtype=np.intp)
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
    if any(length < 0 for length in stored.shape) or math.prod(stored.shape) > MOST_NUMBERS:
        raise FormatError(f"expected at most {MOST_NUMBERS:,} numbers, found shape {stored.shape}", path=path)
    size = math.prod(stored.shape) * kind.itemsize
    try:
        deflated = base64.b64decode(stored.zlib, validate=True)
        # It is never given room for more than the shape says, whatever is packed into it.
        data = zlib.decompressobj().decompress(deflated, size + 1)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise FormatError(f"expected deflated numbers, found damaged data ({error})", path=path) from error
    if len(data) != size:
        raise FormatError(f"expected {size:,} bytes of numbers, found {len(data):,}", path=path)
    return np.frombuffer(data, kind).reshape(stored.shape)
