"""Values as the data of a session file and back, by the fields of their dataclasses, which are listed only there.

Arrays are stored as numbers if they are short, else as compressed base64.
"""

from __future__ import annotations

import base64
import binascii
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, at_path, quote
from viewer.formats.bounds import MOST_INFLATION, room_for_arrays
from viewer.skeleton import Clip, Skeleton
from viewer.spatial.checks import UNIT_TOLERANCE, Ints, handed_over, member, unit_quaternions

_LATE = {"Clip": Clip, "Skeleton": Skeleton}
"""Names that modules use only in annotations."""
_PLAIN = (str, int, float, bool)
_ARRAYS = (np.ndarray, NDArray)
"""Origins of an array's annotation: by numpy 2.4 and by 2.5."""

Lengths = dict[str, int]

LONGEST_PLAIN = 1000
"""Largest array, in numbers, that is written as plain numbers."""

_LEVEL = 2
"""Compression level: a higher one takes twice as long and saves less than a hundredth."""
_LEAST_SQUARE, _MOST_SQUARE = (1.0 - UNIT_TOLERANCE) ** 2, (1.0 + UNIT_TOLERANCE) ** 2
_TYPES = {"f8": np.dtype("<f8"), "i8": np.dtype("<i8")}


class ArrayForm(NamedTuple):
    """Requirements of an array.

    In its shape a letter is one length within a value and the values in it; ``unit``: its rows are unit quaternions;
    ``finite``: NaN and infinity are refused.
    """

    shape: tuple[str | int, ...]
    unit: bool = False
    finite: bool = True


class Form(NamedTuple):
    """How values of one type are stored, if not by their fields.

    ``stored`` is the type of the data, which ``write`` makes of a value; ``read`` makes a value from its data and their
    path in the file.
    """

    stored: Any
    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


class Serialiser:
    """Writes and reads values of dataclasses and named tuples."""

    def __init__(
        self,
        rows: Mapping[type, Mapping[str, ArrayForm]],
        forms: Mapping[type, Form],
        checks: Mapping[type, Callable[[Any, str], None]],
    ) -> None:
        """Take what annotations do not state.

        By type: requirements of its arrays (``rows``), another way of storing it (``forms``), and a check of its data
        before anything is made of them.
        """
        self._rows, self._forms, self._checks = rows, forms, checks
        self._structs: dict[tuple[type, str], type[msgspec.Struct]] = {}

    def struct(self, kind: type, name: str = "", **others: object) -> type[msgspec.Struct]:
        """The struct of a type's data.

        A name is needed if some fields are stored differently: ``others`` are the data types of those, and of further
        entries, whose default is None.
        """
        key = kind, name
        if key not in self._structs:
            hints, defaults = _hints(kind), _defaults(kind)
            entries: list[Any] = []
            for entry, usual in defaults.items():
                stored = others.get(entry) or self._stored(hints[entry])
                entries.append((entry, stored) if usual is MISSING else (entry, stored, _as_default(usual)))
            entries += [(entry, stored, None) for entry, stored in others.items() if entry not in defaults]
            made = msgspec.defstruct(name or f"{kind.__name__}Data", entries, omit_defaults=True, kw_only=True)
            self._structs[key] = made
        return self._structs[key]

    def _stored(self, hint: Any) -> Any:  # noqa: ANN401 - an annotation
        """The data type of an annotation."""
        origin, inner = get_origin(hint), get_args(hint)
        if hint in self._forms:
            return self._forms[hint].stored
        if hint in _PLAIN or hint in (NoneType, Any):
            return hint
        if origin is Literal:
            return str
        if origin in (Union, UnionType):
            return Union[tuple(self._stored(one) for one in inner)]  # noqa: UP007 - made of a tuple
        if origin in _ARRAYS:
            return Stored
        if origin is tuple and inner[-1] is not Ellipsis:
            return hint
        if origin in (tuple, frozenset):
            return list[self._stored(inner[0])]  # type: ignore[misc]
        if origin is not None and issubclass(origin, Mapping):
            return dict[str, self._stored(inner[1])]  # type: ignore[misc]
        return str if issubclass(hint, Enum) else self.struct(hint)

    # Writing

    def data(self, value: Any, name: str = "", **given: object) -> Any:  # noqa: ANN401 - a value and its struct
        """The data of a value, for `read`.

        ``given`` are the data of fields that are stored differently, and of further entries.
        """
        made = dict(given)
        for entry, usual in _defaults(cast("Any", type(value))).items():
            if entry not in given:
                one = getattr(value, entry)
                # Omitted if it is exactly the default.
                same = type(one) is type(usual) and not isinstance(one, np.ndarray) and one == usual
                made[entry] = _as_default(usual) if same and not callable(usual) else self._written(one)
        return self.struct(type(value), name)(**made)

    def _written(self, value: Any) -> Any:  # noqa: ANN401 - any value
        form = self._forms.get(type(value))
        if form is not None:
            return form.write(value)
        if isinstance(value, Enum):
            return str(value)
        if value is None or isinstance(value, _PLAIN):
            return value
        if isinstance(value, np.ndarray):
            return pack(value)
        if isinstance(value, Mapping):
            return {key: self._written(one) for key, one in value.items()}
        if isinstance(value, frozenset):
            return sorted(value)
        if is_dataclass(value) or hasattr(value, "_fields"):
            return self.data(value)
        if isinstance(value, Iterable):
            first = next(iter(value), None)  # the others have the same type
            if type(first) is float:
                return tuple(value)
            return list(value) if type(first) in _PLAIN else [self._written(one) for one in value]
        return value  # a number of numpy, which the encoder takes

    # Reading

    def read(self, kind: Any, data: Any, path: str, lengths: Lengths | None = None, **given: object) -> Any:  # noqa: ANN401
        """Make a value from its data.

        ``lengths`` are known ones of the letters in `ArrayForm.shape`, ``given`` fields that are read differently.
        """
        if kind in self._checks:
            self._checks[kind](data, path)
        hints, rows = _hints(kind), self._rows.get(kind, {})
        known = {} if lengths is None else lengths
        made = dict(given)
        for entry in _defaults(kind):
            if entry not in given:
                where = f"{path}.{entry}"
                made[entry] = self._value(hints[entry], getattr(data, entry), where, known, rows.get(entry))
        with at_path(path):
            return kind(**made)

    def _value(self, hint: Any, stored: Any, path: str, lengths: Lengths, rows: ArrayForm | None = None) -> Any:  # noqa: ANN401
        origin, inner = get_origin(hint), get_args(hint)
        if stored is None:
            return None
        if origin in (Union, UnionType):
            (hint,) = (one for one in inner if one is not NoneType)
            return self._value(hint, stored, path, lengths, rows)
        if hint in self._forms:
            return self._forms[hint].read(stored, path)
        if origin in _ARRAYS:
            return _array(stored, rows, lengths, path, whole=hint == Ints)
        if origin is tuple and inner[-1] is Ellipsis:
            if inner[0] in _PLAIN:
                return tuple(stored)
            if isinstance(inner[0], type) and issubclass(inner[0], Enum):
                return members(inner[0], stored, path)
            return tuple(self._value(inner[0], one, f"{path}[{i}]", dict(lengths)) for i, one in enumerate(stored))
        if origin is frozenset:
            return frozenset(stored)
        if origin is not None and origin not in (tuple, Literal) and issubclass(origin, Mapping):
            return {key: self._value(inner[1], one, f"{path}.{key}", dict(lengths)) for key, one in stored.items()}
        if origin is not None or hint in _PLAIN or hint is Any:
            return stored
        if not issubclass(hint, Enum):
            return self.read(hint, stored, path, lengths)
        with at_path():
            return member(hint, stored, path)


def members(kind: Any, words: Iterable[str], path: str) -> tuple[Any, ...]:  # noqa: ANN401 - an enumeration
    """The members of an enumeration that words name."""
    with at_path():
        return tuple(member(kind, word, f"{path}[{index}]") for index, word in enumerate(words))


def _array(stored: Stored, rows: ArrayForm | None, lengths: Lengths, path: str, *, whole: bool) -> Any:  # noqa: ANN401
    if rows is None:
        return unpack(stored, (-1,), path, whole=whole)
    wanted = tuple(one if isinstance(one, int) else lengths.get(one, -1) for one in rows.shape)
    array = unpack(stored, wanted, path, whole=whole)
    lengths |= {one: found for one, found in zip(rows.shape, array.shape, strict=True) if isinstance(one, str)}
    if rows.finite and not np.isfinite(array).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    if rows.unit and array.ndim > 2:
        check_unit(array, path)
    elif rows.unit:
        with at_path(path):
            unit_quaternions(array, (-1, 4), "rotations")
    return array


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, localns=_LATE)


@cache
def _defaults(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a type
    """Names of constructor fields with their defaults; `MISSING` without one."""
    if not is_dataclass(kind):
        return {name: kind._field_defaults.get(name, MISSING) for name in kind._fields}
    return {field.name: _usual(field) for field in fields(kind) if field.init}


def _usual(field: Field[Any]) -> Any:  # noqa: ANN401 - a default
    """A default that a file may omit: an empty collection, or a plain value."""
    if field.default_factory is not MISSING:
        made = field.default_factory()
        return made if isinstance(made, Mapping) and not made else MISSING
    return field.default


def _as_default(usual: Any) -> Any:  # noqa: ANN401 - a default and its data
    if isinstance(usual, Enum):
        return _word(usual)
    if isinstance(usual, (Mapping, frozenset)) or usual == ():
        return {} if isinstance(usual, Mapping) else []
    return usual


@cache
def _word(one: Enum) -> str:
    """Cached: the same object for the same member."""
    return str(one)


class Packed(msgspec.Struct):
    """A long array: its bytes in C order, little-endian, deflated, as base64."""

    shape: list[int]
    zlib: str
    type: str = "f8"


Stored: TypeAlias = list[Any] | Packed


def plain_number(value: object) -> object:
    """A numpy number as a Python number, for the encoder."""
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
    """Refuse rotations (F, J, 4) that differ from unit length by more than 1e-3, without copying them."""
    with np.errstate(over="ignore"):
        squares = np.einsum("...i,...i->...", turns, turns)
    if squares.size and not (squares.min() >= _LEAST_SQUARE and squares.max() <= _MOST_SQUARE):
        raise FormatError("expected unit quaternions", path=path)


def check_packed(data: object, size: int, path: str) -> None:
    """Refuse a file whose packed arrays are too large in total, before any is decompressed.

    ``data`` are structs, lists and dicts, with `Packed` arrays or dicts of their shape; ``size`` is that of the file,
    in bytes or characters.

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

    ``path`` is that of the array in the file, for messages; ``whole``: integers (intp) instead of floats.
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
