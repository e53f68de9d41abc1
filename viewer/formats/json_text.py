"""JSON text to checked data: the fast way through msgspec, and the careful way that says what is wrong where.

The fast way takes files without a fault or an unknown key. All others are read again by the standard library, whose
errors have a line and a column, and walked by `json_check`, whose errors have a path and whose findings are warnings.
"""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, TypeVar

import msgspec

from viewer.errors import FormatError, quote
from viewer.formats.files import line_and_column
from viewer.formats.json_check import Checker
from viewer.formats.json_structs import VERSION
from viewer.formats.json_words import Json, found

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=msgspec.Struct)

KINDS = ("skeleton", "pose", "goals", "session")
_MARKS = {"goals": "goals", "rotations": "pose", "document": "session"}
"""Without a "type" the first of these keys tells what a file is; "joints" overrules "rotations"."""

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
"""How the standard library's messages begin, and what they say was expected."""

_LOOKS = {"HIERARCHY": "a BVH file", "<": "HTML or XML", "\x89PNG": "a PNG image", "glTF": "a GLB file"}
"""How other files begin that are called .json by mistake."""


_MOST_PATHS = 6
"""Places that one warning lists."""


def decode(text: str, kind: type[T], word: str, file: str) -> tuple[T, list[str]]:
    """A JSON document as data of one type.

    Args:
        text: the document.
        kind: the type.
        word: what the file is to be: one of `KINDS`.
        file: what the user called it, for messages.

    Returns:
        The data, and the warnings: a line for each unknown key.

    Raises:
        FormatError: not JSON, not of this kind, from a later version, not what the type wants.
    """
    try:
        return _decoder(kind).decode(text), []
    # Whatever it is that the fast way cannot take, the careful way takes it or says what it is.
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    try:
        return _careful(text, kind, word)
    except FormatError as error:
        error.file = file
        raise


@functools.cache
def _decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    return msgspec.json.Decoder(kind)


def _careful(text: str, kind: type[T], word: str) -> tuple[T, list[str]]:
    tree = parse(text)
    if not isinstance(tree, dict):
        raise FormatError(f"expected a JSON object, found {found(tree)}")
    _check_version(tree)
    if (is_a := kind_of(tree)) != word:
        hint = " (the names of sessions end in .ikv.json)" if is_a == "session" else ""
        raise FormatError(f"this is a {is_a} file; expected a {word} file{hint}")
    checker = Checker()
    clean = checker.check(tree, kind)
    unknown = {f"unknown key {quote(key)}, ignored": paths for key, paths in checker.unknown.items()}
    warnings = gathered(unknown)
    return msgspec.convert(clean, kind), warnings


def parse(text: str) -> Json:
    """Any JSON document; NaN, infinities and numbers past float range stay in it as floats.

    Raises:
        FormatError: not JSON, with line and column; nested too deeply; empty.
    """
    if not text.strip():
        raise FormatError("the file is empty; expected a JSON object")
    try:
        return json.loads(text, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        line, column = line_and_column(text, error.pos)
        raise FormatError(_syntax(text, error), line=line, column=column) from error
    except RecursionError as error:
        raise FormatError("nested too deeply: expected JSON with fewer brackets inside each other") from error


def kind_of(tree: dict[str, Json]) -> str:
    """What a document is, by its "type" or else by its keys."""
    word = tree.get("type")
    if word is not None:
        if word not in KINDS:
            listed = ", ".join(quote(kind) for kind in KINDS)
            raise FormatError(f"expected one of {listed}, found {found(word)}", path="type")
        return str(word)
    marks = _MARKS if "joints" not in tree else {"goals": "goals"}
    return next((kind for key, kind in marks.items() if key in tree), "skeleton")


def gathered(findings: Mapping[str, list[str]]) -> list[str]:
    """One line for each finding, with the paths where it was made; of many paths the first ones."""
    lines = []
    for finding, paths in findings.items():
        more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
        places = ", ".join(path for path in paths[:_MOST_PATHS] if path) + more
        lines.append(f"{places}: {finding}" if places else finding)
    return lines


def _check_version(tree: dict[str, Json]) -> None:
    version = tree.get("version")
    if isinstance(version, (int, float)) and version > VERSION:
        raise FormatError(
            f"expected {VERSION}, found {found(version)}: the file is from a later program", path="version"
        )


def _whole_number(digits: str) -> int | float:
    """Python refuses to make integers of thousands of digits; as floats they are too large, and said to be."""
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
