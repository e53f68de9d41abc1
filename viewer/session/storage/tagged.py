"""Arguments of recorded calls as tagged data and back; the kinds of values are a closed list, by name."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from viewer.document import Action, GoalLayer, Grab, Item, Mode, Prop, Scope, Shape, actions
from viewer.document.key_curves import Tangent
from viewer.document.key_editing import Entry
from viewer.document.take import Blend, Key, PlantedContact
from viewer.errors import FormatError, InputError, quote, unknown_name
from viewer.session.figure_stage import Loop
from viewer.session.moving_targets import Chase, FigureEight, Orbit
from viewer.session.storage.characters import CharacterData, character_data, character_of
from viewer.session.storage.serialiser import Packed, pack, unpack
from viewer.skeleton import Character, Pose

KIND, OF = "$", "of"
"""Names of the entries with a value's kind and its contents."""

_ACTIONS = [one for one in vars(actions).values() if isinstance(one, type) and issubclass(one, Action)]
_VALUES = (
    Item, Key, Grab, Pose, actions.CopiedKeys, Entry, Mode, Scope, Blend, Loop, Orbit, FigureEight, Chase,
    Prop, Shape, GoalLayer, PlantedContact, Tangent,
)  # fmt: skip
KINDS: dict[str, Any] = {kind.__name__: kind for kind in (*_ACTIONS, *_VALUES) if kind is not Action}
"""Kinds that can be written, besides numbers, text, lists, arrays and mappings."""


def encoded(value: object) -> object:
    """A value as data that JSON can hold, exact to the last bit.

    Raises:
        InputError: a kind that is not in `KINDS`.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum) or value is None or isinstance(value, (bool, int, float, str)):
        return _plain(value)
    if isinstance(value, (tuple, list, Mapping)):
        return _many(value)
    if hasattr(value, "__array__"):
        return _array(np.asarray(value))
    if isinstance(value, Character):
        return {KIND: "Character", OF: msgspec.to_builtins(character_data(value))}
    name = _known(value)
    return {KIND: name, **{field.name: encoded(getattr(value, field.name)) for field in fields(value)}}  # type: ignore[arg-type]


def _many(values: tuple[object, ...] | list[object] | Mapping[Any, object]) -> object:
    if isinstance(values, Mapping):
        return {KIND: "map", OF: [[encoded(key), encoded(one)] for key, one in values.items()]}
    rows = [encoded(one) for one in values]
    return {KIND: _known(values), OF: rows} if hasattr(values, "_fields") else rows


def _known(value: object) -> str:
    name = type(value).__name__
    if KINDS.get(name) is not type(value):
        raise InputError(f"a {name} cannot be recorded")
    return name


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return {KIND: _known(value), OF: [value.value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {KIND: "float", OF: repr(value)}
    return value


def _array(array: np.ndarray[Any, Any]) -> object:
    if array.dtype.kind not in "fi":
        return encoded(array.tolist())
    kind = "floats" if array.dtype.kind == "f" else "integers"
    return {KIND: kind, "shape": list(array.shape), OF: msgspec.to_builtins(pack(array))}


def decoded(data: object, folder: Path, path: str) -> Any:  # noqa: ANN401 - a value of any kind
    """Make a value from its data; lists become tuples.

    Args:
        data: from `encoded`, or from a file.
        folder: where files are looked for, besides their own paths.
        path: of the data in the file, for messages.

    Raises:
        FormatError: an unknown kind, or invalid data.
    """
    if isinstance(data, list):
        return tuple(decoded(one, folder, f"{path}[{index}]") for index, one in enumerate(data))
    if not isinstance(data, dict):
        return data
    name = data.get(KIND)
    if not isinstance(name, str):
        raise FormatError(f"expected the kind of a value, found {quote(name)}", path=path)
    if name in _READERS:
        return _READERS[name](data, folder, path)
    kind = KINDS.get(name)
    if kind is None:
        raise FormatError(unknown_name("kind of value", name, [*KINDS, *_READERS]), path=path)
    if name == "SetLength" and "to" not in data:  # then it named the joint at the bone's end
        data = {**data, "joint": "", "to": data.get("joint")}
    given = {key: decoded(one, folder, f"{path}.{key}") for key, one in data.items() if key != KIND}
    try:
        return _made(kind, given)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise FormatError(f"expected the attributes of {name}, found others", path=path) from error


def _made(kind: Any, given: dict[str, Any]) -> object:  # noqa: ANN401 - one of `KINDS`
    if OF in given:
        return kind(*given[OF])
    if kind.__dataclass_params__.init:
        return kind(**given)
    changes = given.pop("changes")  # these take their changes as keywords
    return kind(**given, **changes)


def _map(data: dict[str, Any], folder: Path, path: str) -> object:
    try:
        return dict(decoded(data[OF], folder, path))
    except (TypeError, ValueError, KeyError) as error:
        raise FormatError("expected pairs of keys and values", path=path) from error


def _float(data: dict[str, Any], _: Path, path: str) -> object:
    words = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
    word = data.get(OF)
    if not isinstance(word, str) or word not in words:
        raise FormatError(f"expected nan, inf or -inf, found {quote(word)}", path=path)
    return words[word]


def _numbers(data: dict[str, Any], _: Path, path: str) -> object:
    shape, stored = data.get("shape"), data.get(OF)
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        raise FormatError("expected an array's shape", path=path)
    if isinstance(stored, dict):
        stored = _converted(stored, Packed, path)
    if not isinstance(stored, (list, Packed)):
        raise FormatError("expected an array's numbers", path=path)
    return unpack(stored, tuple(shape), path, whole=data[KIND] == "integers")


def _character(data: dict[str, Any], folder: Path, path: str) -> object:
    return character_of(_converted(data.get(OF), CharacterData, path), folder, path)


def _converted(data: object, kind: Any, path: str) -> Any:  # noqa: ANN401 - a struct
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected a {kind.__name__}, found something else", path=path) from error


def _goal_kind(data: dict[str, Any], _: Path, path: str) -> object:
    """The kind of a goal, which was an enumeration when the file was written."""
    of = data.get(OF)
    if not isinstance(of, list) or len(of) != 1 or not isinstance(of[0], str):
        raise FormatError("expected the word of a kind of goal", path=path)
    return of[0]


_READERS = {
    "map": _map,
    "float": _float,
    "floats": _numbers,
    "integers": _numbers,
    "Character": _character,
    "GoalKind": _goal_kind,
}
