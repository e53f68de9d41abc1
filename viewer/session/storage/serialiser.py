"""Values as the data of a session file and back, by the fields of their dataclasses, which no other place lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

import msgspec
import numpy as np

from viewer.errors import FormatError, InputError
from viewer.session.storage.arrays import Stored, check_unit, pack, unpack
from viewer.skeleton import Clip, Skeleton
from viewer.spatial.checks import Ints, unit_quaternions

_LATE = {"Clip": Clip, "Skeleton": Skeleton}
"""Names that modules use only in annotations."""
_PLAIN = (str, int, float, bool)


class Rows(NamedTuple):
    """Requirements of an array.

    Attributes:
        shape: a letter stands for one length within a value and the values in it.
        unit: whether its rows are unit quaternions.
        finite: whether NaN and infinity are refused.
    """

    shape: tuple[str | int, ...]
    unit: bool = False
    finite: bool = True


class Form(NamedTuple):
    """How values of one type are stored, if not by their fields.

    Attributes:
        stored: the type of the data.
        write: makes the data of a value.
        read: makes a value from its data and their path in the file.
    """

    stored: Any
    write: Callable[[Any], Any]
    read: Callable[[Any, str], Any]


Lengths = dict[str, int]


class Serialiser:
    """Writes and reads values of dataclasses and named tuples."""

    def __init__(
        self,
        rows: Mapping[type, Mapping[str, Rows]],
        forms: Mapping[type, Form],
        checks: Mapping[type, Callable[[Any, str], None]],
    ) -> None:
        """Take what annotations do not state.

        Args:
            rows: by type, requirements of its arrays.
            forms: by type, other ways of storing it.
            checks: by type, checks of its data before anything is made of them.
        """
        self._rows, self._forms, self._checks = rows, forms, checks
        self._structs: dict[tuple[type, str], type[msgspec.Struct]] = {}

    def struct(self, kind: type, name: str = "", **others: object) -> type[msgspec.Struct]:
        """The struct of a type's data.

        Args:
            kind: a dataclass or named tuple.
            name: of the struct; needed if some fields are stored differently.
            others: data types of those fields, and of further entries, whose default is None.
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
        if origin is np.ndarray:
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

        Args:
            value: a dataclass or named tuple.
            name: of its struct.
            given: the data of fields that are stored differently, and of further entries.
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

        Args:
            kind: type of the value.
            data: its struct.
            path: of the data in the file, for messages.
            lengths: known lengths of the letters in `Rows.shape`.
            given: fields that are read differently.

        Raises:
            FormatError: invalid data; with the path of the error.
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
        try:
            return kind(**made)
        except InputError as error:
            raise FormatError(str(error), path=path) from error

    def _value(self, hint: Any, stored: Any, path: str, lengths: Lengths, rows: Rows | None = None) -> Any:  # noqa: ANN401
        origin, inner = get_origin(hint), get_args(hint)
        if stored is None:
            return None
        if origin in (Union, UnionType):
            (hint,) = (one for one in inner if one is not NoneType)
            return self._value(hint, stored, path, lengths, rows)
        if hint in self._forms:
            return self._forms[hint].read(stored, path)
        if origin is np.ndarray:
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
        return member(hint, stored, path) if issubclass(hint, Enum) else self.read(hint, stored, path, lengths)


def member(kind: Any, word: str, path: str) -> Any:  # noqa: ANN401 - an enumeration and its member
    """The member of an enumeration that a word names.

    Raises:
        FormatError: no such member.
    """
    try:
        return kind(word)
    except ValueError:
        listed = ", ".join(str(one) for one in kind)
        raise FormatError(f"expected one of {listed}, found {word!r}", path=path) from None


def members(kind: Any, words: Iterable[str], path: str) -> tuple[Any, ...]:  # noqa: ANN401 - an enumeration
    """The members of an enumeration that words name; raises as `member` does."""
    try:
        return tuple(map(kind, words))
    except ValueError:
        return tuple(member(kind, word, f"{path}[{index}]") for index, word in enumerate(words))


def _array(stored: Stored, rows: Rows | None, lengths: Lengths, path: str, *, whole: bool) -> Any:  # noqa: ANN401
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
        try:
            unit_quaternions(array, (-1, 4), "rotations")
        except InputError as error:
            raise FormatError(str(error), path=path) from error
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


__all__ = ["Form", "Lengths", "Rows", "Serialiser", "member", "members"]
