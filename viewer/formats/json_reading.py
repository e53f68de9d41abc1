"""JSON text to checked data: fast with msgspec, or carefully, with exact messages.

Files without errors or unknown keys are decoded by msgspec. Any other file is parsed again by the standard library,
whose errors have line and column, and checked by `Checker`, whose errors have a path; unknown keys become warnings.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import chain, repeat
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import FormatError, InputError, and_more, of_file, quote, unknown_name
from viewer.formats.files import line_and_column
from viewer.formats.json_structs import GOALS_VERSION, VERSION
from viewer.spatial.checks import NO_DECIMALS, Floats, nearly_unit, rounded

FEWEST_ROTATION_DECIMALS = 4
"""Fewest decimals of rotations: with fewer, readers would refuse the quaternions because of their length."""

_DEGREE_DECIMALS = 10

Json: TypeAlias = Any
"""A decoded JSON value."""

Kind: TypeAlias = Any
"""A type annotation of `json_structs`."""

_OR_FLAGS = {("position", "rotation", "position+rotation")}
"""Words that may be replaced by true or false; other words may be replaced by a number."""

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")

KINDS = ("skeleton", "pose", "goals", "layers", "contacts", "map", "session")
_MARKS = {
    "goals": "goals", "layers": "layers", "feet": "contacts", "pairs": "map", "rotations": "pose",
    "document": "session",
}  # fmt: skip
"""If "type" is missing, the first of these keys decides; but a file with "joints" is not a pose."""

_EXPECTED = (
    ("Expecting value", "a value"),
    ("Expecting property name", "a key in double quotes"),
    ("Expecting ':'", "a colon"),
    ("Expecting ','", "a comma or a closing bracket"),
    ("Illegal trailing comma", "no comma before a closing bracket"),
    ("Invalid control character", "text without raw control characters"),
    ("Invalid \\", "a valid escape"),
    ("Extra data", "nothing after the end of the JSON document"),
)
"""Beginnings of the standard library's messages, and what was expected instead."""

_LOOKS = {"HIERARCHY": "a BVH file", "<": "HTML or XML", "\x89PNG": "a PNG image", "glTF": "a GLB file"}
"""Beginnings of files in other formats that are named .json by mistake."""

_MOST_PATHS = 6
"""Paths that one warning lists at most."""

_AT = re.compile(r"^(?P<what>.*) - at `\$\.?(?P<path>.*)`$", re.DOTALL)
"""The end of msgspec's messages: a path."""


def number(value: float) -> float | int:
    """The number as an int if it is whole, so that it is written without a decimal point."""
    return int(value) if value.is_integer() and abs(value) < NO_DECIMALS else value


def numbers(values: ArrayLike, decimals: int | None = None) -> list[float | int]:
    """A list of numbers, rounded to ``decimals`` unless that is None."""
    return [number(value) for value in finite(rounded(np.asarray(values, dtype=np.float64), decimals)).tolist()]


def degrees_of(radians: float, unlimited: float = 0.0) -> float | int:
    """Degrees that convert back to exactly these radians, preferably a short decimal number.

    Infinite angles become ``unlimited``.
    """
    if not math.isfinite(radians):
        return number(unlimited)
    degrees = math.degrees(radians)
    near = (
        round(degrees, _DEGREE_DECIMALS), degrees, math.nextafter(degrees, math.inf), math.nextafter(degrees, -math.inf)
    )  # fmt: skip
    return number(next((some for some in near if math.radians(some) == radians), degrees))


def rotation_decimals(decimals: int | None) -> int | None:
    """Decimals for rotations, at least `FEWEST_ROTATION_DECIMALS`."""
    return None if decimals is None else max(decimals, FEWEST_ROTATION_DECIMALS)


def finite(values: Floats) -> Floats:
    """The values, after a check that JSON can express them."""
    if not np.isfinite(values).all():
        raise InputError("cannot be written as JSON: expected finite numbers, found NaN or infinity")
    return values


def compact(value: object) -> str:
    """JSON text of a value on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def block_list(items: Iterable[str], indent: str) -> str:
    """JSON text of a list, one item per line; ``items`` are JSON texts."""
    lines = [f"{indent} {item}" for item in items]
    return "[\n" + ",\n".join(lines) + f"\n{indent}]" if lines else "[]"


def block_object(items: Mapping[str, str], indent: str = "") -> str:
    """JSON text of an object, one key per line; the values of ``items`` are JSON texts."""
    lines = [f"{indent} {compact(key)}: {value}" for key, value in items.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def path_text(place: list[tuple[str | int, Json]]) -> str:
    """A path for messages: items of a list by index and name, keys of a map in quotes."""
    parts = []
    for key, item in place:
        if isinstance(key, int):
            name = item.get("name") if isinstance(item, dict) else None
            parts.append(f"[{key}] {quote(name)}" if isinstance(name, str) else f"[{key}]")
        else:
            parts.append(key if key.startswith(".") else f" {key}")
    return "".join(parts).removeprefix(".")


def found(value: Json) -> str:
    """A description of a JSON value in a few words, for messages."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        if math.isinf(value):
            return f"a number past {'-' * (value < 0)}1.8e308"
        return "NaN" if math.isnan(value) else f"{value}"
    if isinstance(value, str):
        return f"the text {quote(value)}" if value else "an empty text"
    if isinstance(value, list):
        return "a list" if value else "an empty list"
    return "an object"


class Checker:
    """Checks one document against one type; ``unknown`` keys get the paths of the objects that have them."""

    def __init__(self) -> None:
        self.unknown: dict[str, list[str]] = {}
        self._place: list[tuple[str | int, Json]] = []

    @property
    def path(self) -> str:
        """The path of the value being checked, "" for the whole document."""
        return path_text(self._place)

    def check(self, value: Json, kind: Kind) -> Json:
        """The value without unknown keys, if it is of the type."""
        if _origin(kind) is not Annotated:
            return self._plain(value, kind)
        inner, *constraints = get_args(kind)
        clean = self.check(value, inner)
        for constraint in constraints:
            self._constrain(clean, constraint)
        return clean

    def _plain(self, value: Json, kind: Kind) -> Json:
        containers: dict[Kind, Callable[[Json, tuple[Kind, ...]], Json]] = {
            Union: self._union, UnionType: self._union, Literal: self._word,
            tuple: self._tuple, list: self._list, dict: self._dict,
        }  # fmt: skip
        if (origin := _origin(kind)) is not None:
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
        if kinds == (str, float):
            return self._scalar(value, str if isinstance(value, str) else float)
        # A union has words and at most one other type, or a plain type and lists. So a text is checked against the
        # words, a list against the list type.
        words = next((kind for kind in kinds if _origin(kind) is Literal), None)
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
        mixed = any(kind != kinds[0] for kind in kinds)
        plain: Kind = get_args(kinds[0])[0] if _origin(kinds[0]) is Annotated else kinds[0]
        items = "values" if mixed else {float: "numbers", str: "texts"}.get(plain, "lists")
        noun = f"a list of {len(kinds)} {items}"
        self._expect(value, list, noun)
        if len(value) != len(kinds):
            raise self._problem(f"expected {noun}, found {len(value)}")
        # Long motion consists almost entirely of lists of valid numbers: a shortcut for these.
        if not mixed and kinds[0] is float and {*map(type, value)} <= {int, float} and all(map(math.isfinite, value)):
            return value
        return self._items(value, kinds)

    def _list(self, value: Json, kinds: tuple[Kind, ...]) -> list[Json]:
        return self._items(self._expect(value, list, "a list"), repeat(kinds[0]))

    def _items(self, value: list[Json], kinds: Iterable[Kind]) -> list[Json]:
        clean = []
        for index, (item, kind) in enumerate(zip(value, kinds, strict=False)):
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


def _origin(kind: Kind) -> Kind:
    return get_origin(kind)


def _is_list(kind: Kind) -> bool:
    return _is_list(get_args(kind)[0]) if _origin(kind) is Annotated else _origin(kind) in {tuple, list}


@functools.cache
def fields_of(kind: type[msgspec.Struct]) -> dict[str, tuple[Kind, bool]]:
    """The keys of an object, with their type and whether they are required."""
    hints = get_type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    return {field.encode_name: (hints[field.name], field.required) for field in fields}


def decode(text: str, kind: type[T], word: str, file: str, warnings: list[str] | None = None) -> T:
    """A JSON document as data of one type, of a file that is one of `KINDS`: ``word``.

    ``warnings`` receives a line for each unknown key.
    """
    try:
        data: T = _decoder(kind).decode(text)
    # If the decoder refuses a document, the careful way accepts or explains it.
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        with of_file(file):
            data, unknown = _careful(text, kind, word)
        if warnings is not None:
            warnings += unknown
    return data


@functools.cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)


def _careful(text: str, kind: type[T], word: str) -> tuple[T, list[str]]:
    tree = parse(text)
    if not isinstance(tree, dict):
        raise FormatError(f"expected a JSON object, found {found(tree)}")
    if tree.get("type") not in (None, *KINDS):  # perhaps of a later version
        _check_version(tree, GOALS_VERSION if word == "goals" else VERSION)
    if (is_a := kind_of(tree)) != word:
        hint = " (the window and commands read sessions, by names that end in .ikv.json)" if is_a == "session" else ""
        raise FormatError(f"this is a {is_a} file; expected a {word} file{hint}")
    _check_version(tree, GOALS_VERSION if word == "goals" else VERSION)
    checker = Checker()
    clean = checker.check(tree, kind)
    unknown = {f"unknown key {quote(key)}, ignored": paths for key, paths in checker.unknown.items()}
    return msgspec.convert(clean, kind), gathered(unknown)


def parse(text: str) -> Json:
    """Any JSON document that is not nested too deeply; NaN, infinities and numbers beyond the range become floats."""
    if not text.strip():
        raise FormatError("the file is empty; expected a JSON object")
    try:
        return json.loads(text, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        line, column = line_and_column(text, error.pos)
        raise FormatError(_syntax(text, error), line=line, column=column) from error
    except RecursionError as error:
        raise FormatError("nested too deeply: expected JSON with fewer brackets inside each other") from error


def kind_of(tree: Json) -> str:
    """The kind of a document, by its "type" or else by its keys; "" for what is no object."""
    if not isinstance(tree, dict):
        return ""
    word = tree.get("type")
    if word is not None:
        if word not in KINDS:
            listed = ", ".join(quote(kind) for kind in KINDS)
            raise FormatError(f"expected one of {listed}, found {found(word)}", path="type")
        return str(word)
    marks = _MARKS if "joints" not in tree else {"goals": "goals"}
    return next((kind for key, kind in marks.items() if key in tree), "skeleton")


def gathered(findings: Mapping[str, list[str]]) -> list[str]:
    """One line for each finding with the paths that it concerns, at most `_MOST_PATHS` of them."""
    lines = []
    for finding, paths in findings.items():
        places = ", ".join(path for path in paths[:_MOST_PATHS] if path) + and_more(len(paths), _MOST_PATHS)
        lines.append(f"{places}: {finding}" if places else finding)
    return lines


def _check_version(tree: dict[str, Json], newest: int) -> None:
    version = tree.get("version")
    if isinstance(version, (int, float)) and version > newest:
        raise FormatError(
            f"expected {newest}, found {found(version)}: the file is from a later program", path="version"
        )


def _whole_number(digits: str) -> int | float:
    """An int, or a float for many digits: Python refuses to convert thousands of digits to an int."""
    return int(digits) if len(digits) < 19 else float(digits)


def _syntax(text: str, error: json.JSONDecodeError) -> str:
    start = text.lstrip()
    for beginning, what in _LOOKS.items():
        if start.startswith(beginning):
            return f"expected JSON, found {quote(beginning)}: this looks like {what}"
    if error.msg.startswith("Unterminated string"):
        return "expected JSON, found a text without its closing quotation mark"
    expected = next((words for begin, words in _EXPECTED if error.msg.startswith(begin)), "JSON")
    word = re.match(r"[\w.+-]+|.", text[error.pos : error.pos + 60], re.DOTALL)
    at = quote(word[0]) if word else "the end of the file"
    return f"expected {expected}, found {at} (not valid JSON)"


def decode_typed(text: str, kind: type[V]) -> V:
    """A JSON document that programs write for programs, such as glTF: unknown keys are skipped without a warning.

    ``kind`` is a `msgspec.Struct`.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        parse(text)  # which says what is wrong with a text that is no JSON
        match = _AT.match(str(error))
        what = (match["what"] if match else str(error)).replace("`", "").replace(", got ", ", found ")
        raise FormatError(what[:1].lower() + what[1:], path=match["path"] if match else None) from error


def rows(values: Iterable[tuple[float, ...]], width: int) -> Floats:
    """An array (N, width) of tuples of numbers."""
    return np.fromiter(chain.from_iterable(values), dtype=np.float64).reshape(-1, width)


def unit_rotations(values: Floats, place: Callable[[int], str]) -> Floats:
    """(N, 4) rotations of a file, normalised; ``place`` gives the path of the one with an index, for the message."""

    def refused(row: int, _: Floats, length: float) -> FormatError:
        return FormatError(f"expected a unit quaternion x, y, z, w, found one of length {length:.6g}", path=place(row))

    return nearly_unit(values, refused)


def of_joint(name: str, every: Mapping[str, V], path: str) -> V:
    """The value of a joint that a file names at a path."""
    if name not in every:
        raise FormatError(unknown_name("joint", name, every), path=path)
    return every[name]
