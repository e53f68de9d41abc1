"""JSON that programs write for programs, as data types: unknown keys are skipped, errors say where in our words."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from viewer.errors import FormatError
from viewer.formats.json_reading import parse

T = TypeVar("T")

_AT = re.compile(r"^(?P<what>.*) - at `\$\.?(?P<path>.*)`$", re.DOTALL)
"""How msgspec ends its messages."""


def decode_typed(text: str, kind: type[T], file: str) -> T:
    """A JSON document as data of one type.

    Args:
        text: the document.
        kind: a `msgspec.Struct`.
        file: what the user called it, for messages.

    Raises:
        FormatError: not JSON, with line and column; a value of the wrong type, with its path.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise _in_words(text, error, file) from error


def _in_words(text: str, error: Exception, file: str) -> FormatError:
    try:
        parse(text)
    except FormatError as problem:
        problem.file = file
        return problem
    match = _AT.match(str(error))
    what = (match["what"] if match else str(error)).replace("`", "").replace(", got ", ", found ")
    return FormatError(what[:1].lower() + what[1:], file=file, path=match["path"] if match else None)
