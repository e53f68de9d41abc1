"""The careful way through a decoded JSON document: what is wrong with it, where, in words.

msgspec reads good files fast, but its messages name keys of objects as ``[...]`` and it stops at unknown keys. This
walk goes over the same types, says the place as ``joints[1] "b".offset[0]`` and collects the keys that nobody reads.
"""

from __future__ import annotations

import functools
import math
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from viewer.errors import FormatError, quote
from viewer.formats.json_words import Json, found, path_text

if TYPE_CHECKING:
    from collections.abc import Callable

Kind: TypeAlias = Any
"""A type as written in `json_structs`."""

_OR_FLAGS = {("position", "rotation", "position+rotation")}
"""Words that stand for true and false; others stand beside a number."""


class Checker:
    """Checks one document against one type.

    Attributes:
        unknown: keys that the type does not know, to the paths of the objects that have them.
    """

    def __init__(self) -> None:
        """Nothing seen yet."""
        self.unknown: dict[str, list[str]] = {}
        self._place: list[tuple[str | int, Json]] = []

    @property
    def path(self) -> str:
        """The place that is being looked at, "" for the whole document."""
        return path_text(self._place)

    def check(self, value: Json, kind: Kind) -> Json:
        """The value as the type wants it, without its unknown keys.

        Raises:
            FormatError: it is not what the type wants.
        """
        origin: Kind = get_origin(kind)
        if origin is not Annotated:
            return self._plain(value, kind)
        inner, *constraints = get_args(kind)
        clean = self.check(value, inner)
        for constraint in constraints:
            self._constrain(clean, constraint)
        return clean

    def _plain(self, value: Json, kind: Kind) -> Json:
        origin: Kind = get_origin(kind)
        containers: dict[Kind, Callable[[Json, tuple[Kind, ...]], Json]] = {
            Union: self._union, UnionType: self._union, Literal: self._word,
            tuple: self._tuple, list: self._list, dict: self._dict,
        }  # fmt: skip
        if origin is not None:
            return containers[origin](value, get_args(kind))
        if issubclass(kind, msgspec.Struct):
            return self._struct(value, kind)
        return self._scalar(value, kind)

    def _scalar(self, value: Json, kind: type) -> Json:
        if kind is str:
            self._whole_characters(self._expect(value, str, "text"))
        elif kind is bool:
            self._expect(value, bool, "true or false")
        elif isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise self._fail("a number", value)
        elif kind is int:
            if value != int(value):
                raise self._fail("a whole number", value)
            return int(value)
        return value

    def _union(self, value: Json, kinds: tuple[Kind, ...]) -> Json:
        if value is None and NoneType in kinds:
            return None
        kinds = tuple(kind for kind in kinds if kind is not NoneType)
        # A union is of words and one other type at most, or of a plain one and lists: texts can only be meant as one of
        # the words, lists as lists.
        words = next((kind for kind in kinds if _is_words(kind)), None)
        others = [kind for kind in kinds if kind is not words]
        if words is not None and (isinstance(value, str) or not others):
            return self._word(value, get_args(words), bool(others))
        lists = [kind for kind in others if isinstance(value, list) and _is_list(kind)]
        return self.check(value, (lists or others)[0])

    def _word(self, value: Json, words: tuple[str, ...], other: bool = False) -> Json:
        if not isinstance(value, str) or value not in words:
            listed = ", ".join(quote(word) for word in words)
            or_else = ", true or false" if words in _OR_FLAGS else " or a number"
            raise self._fail(f"{'one of ' * (len(words) > 1)}{listed}{or_else * other}", value)
        return value

    def _tuple(self, value: Json, kinds: tuple[Kind, ...]) -> Json:
        noun = f"a list of {len(kinds)} {'numbers' if kinds[0] is float else 'lists'}"
        self._expect(value, list, noun)
        if len(value) != len(kinds):
            raise self._problem(f"expected {noun}, found {len(value)}")
        # Nearly everything in a long motion is lists of good numbers: they take the short way.
        if kinds[0] is float and {*map(type, value)} <= {int, float} and all(map(math.isfinite, value)):
            return value
        return self._items(value, kinds[0])

    def _list(self, value: Json, kinds: tuple[Kind, ...]) -> list[Json]:
        return self._items(self._expect(value, list, "a list"), kinds[0])

    def _items(self, value: list[Json], kind: Kind) -> list[Json]:
        clean = []
        for index, item in enumerate(value):
            self._place.append((index, item))
            clean.append(self.check(item, kind))
            self._place.pop()
        return clean

    def _dict(self, value: Json, kinds: tuple[Kind, ...]) -> dict[str, Json]:
        clean = {}
        for key, item in self._expect(value, dict, "an object").items():
            self._whole_characters(key)
            self._place.append((quote(key), None))
            clean[key] = self.check(item, kinds[1])
            self._place.pop()
        return clean

    def _struct(self, value: Json, kind: type[msgspec.Struct]) -> dict[str, Json]:
        fields, clean = fields_of(kind), {}
        for key, item in self._expect(value, dict, "an object").items():
            if key not in fields:
                self.unknown.setdefault(key, []).append(self.path)
                continue
            self._place.append((f".{key}", None))
            clean[key] = self.check(item, fields[key][0])
            self._place.pop()
        for key, (_, required) in fields.items():
            if required and key not in value:
                raise self._problem(f'expected "{key}", found none')
        return clean

    def _constrain(self, value: Json, limit: msgspec.Meta) -> None:
        if limit.ge is not None and value < limit.ge:
            raise self._fail(f"{limit.ge:g} or more", value)
        if limit.gt is not None and value <= limit.gt:
            raise self._fail(f"more than {limit.gt:g}", value)
        if limit.le is not None and value > limit.le:
            raise self._fail(f"{limit.le:g} or less", value)
        if limit.min_length is not None and len(value) < limit.min_length:
            raise self._fail(f"{'text' if isinstance(value, str) else 'a list'} that is not empty", value)

    def _whole_characters(self, value: str) -> None:
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise self._problem(f"expected whole characters, found half of a surrogate pair: {quote(value)}")

    def _expect(self, value: Json, kind: type, noun: str) -> Json:
        if not isinstance(value, kind):
            raise self._fail(noun, value)
        return value

    def _fail(self, expected: str, value: Json) -> FormatError:
        return self._problem(f"expected {expected}, found {found(value)}")

    def _problem(self, problem: str) -> FormatError:
        return FormatError(problem, path=self.path or None)


def _is_words(kind: Kind) -> bool:
    origin: Kind = get_origin(kind)
    return origin is Literal


def _is_list(kind: Kind) -> bool:
    origin: Kind = get_origin(kind)
    if origin is Annotated:
        return _is_list(get_args(kind)[0])
    return origin in {tuple, list}


@functools.cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, tuple[Kind, bool]]:
    """The keys of an object: their type, and whether they must be there."""
    hints = get_type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    return {field.encode_name: (hints[field.name], field.required) for field in fields}
