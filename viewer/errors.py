"""The one family of exceptions that this package raises for what a user can mend.

Every message is one line: where, what was expected, what was found. The command prints it behind
``error: `` and exits with the class's ``exit_code``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_QUOTE = 40


class ViewerError(Exception):
    """Base of all errors of this package: input or output that cannot be used."""

    exit_code: ClassVar[int] = 1


class FormatError(ViewerError):
    """A file whose contents cannot be used.

    Attributes:
        file: the file as the user named it, or None where it is not known yet.
        line: line in the file, counted from 1, or None.
        column: column in the line, counted from 1 in characters, or None.
        path: place inside a JSON document, such as ``joints[1] "b".offset``, or None.
        problem: what was expected and what was found.
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        path: str | None = None,
    ) -> None:
        """Keep the place and the problem apart, so that a window can show them apart."""
        self.problem = problem
        self.file = file
        self.line = line
        self.column = column
        self.path = path
        super().__init__(problem)

    def __str__(self) -> str:
        """``FILE, line L, column C: problem`` or ``FILE: JSON PATH: problem``."""
        place = self.file or ""
        if self.line is not None:
            place += f"{', ' if place else ''}line {self.line}"
        if self.column is not None:
            place += f", column {self.column}"
        parts = [place, self.path or "", self.problem]
        return ": ".join(part for part in parts if part)


class InputError(ViewerError):
    """An argument, name or value that cannot be used (library and command alike)."""


class OutputError(ViewerError):
    """A file that could not be written; whatever stood there before still does."""


class MachineError(ViewerError):
    """The machine lacks something: a display, OpenGL, ffmpeg. The message names the cure."""

    exit_code: ClassVar[int] = 3


def quote(found: object) -> str:
    """What was found, short, printable and on one line, for use in a message."""
    text = found if isinstance(found, str) else repr(found)
    if len(text) > _LONGEST_QUOTE:
        text = text[: _LONGEST_QUOTE - 1] + "…"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f'"{text}"'


_MOST_LISTED, _FEW = 10, 8
"""Of more names than the first number only so many are listed, and the others counted."""


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Message for a name that is not there, with the nearest ones that are.

    Example: ``no joint "LeftHnad"; did you mean "LeftHand"?``
    """
    known = list(known)
    near = _near(name, known)
    message = f"no {kind} {quote(name)}"
    if near:
        return f"{message}; did you mean {' or '.join(quote(n) for n in near)}?"
    shown = len(known) if len(known) <= _MOST_LISTED else _FEW
    listed = ", ".join(quote(n) for n in known[:shown])
    more = f" and {len(known) - shown} more" if len(known) > shown else ""
    return f"{message}; there is {listed}{more}" if known else f"{message}: there is none"


def _near(name: str, known: list[str]) -> list[str]:
    """The known names that are most like it, three at most; where some differ only in how a side is written, these."""
    sided = _with_side(name)
    by_side = {_with_side(n) or n.casefold(): n for n in reversed(known)} if sided else {}
    if sided in by_side and by_side[sided] != name:
        return [by_side[sided]]
    import difflib  # noqa: PLC0415 - only a mistyped name waits for it

    near: dict[str, None] = {}
    for spelled, names in ((sided, by_side), (name.casefold(), {n.casefold(): n for n in reversed(known)})):
        matches = difflib.get_close_matches(spelled, names, n=_MOST_NEAR, cutoff=0.6)
        near |= dict.fromkeys(names[match] for match in matches)
    return list(near)[:_MOST_NEAR]


def _with_side(name: str) -> str:
    """The words of a name in small letters, its side first and in full: "lefthand" of hand_l, Hand.L, LHand and others.

    What a program puts before all names (``mixamorig:``) is left out. "" where no side is named.
    """
    words = [word.casefold() for word in _WORD.findall(name.rpartition(":")[2])]
    sides = [_SIDES[word] for word in words if word in _SIDES]
    return "".join([*sides, *(word for word in words if word not in _SIDES)]) if len(sides) == 1 else ""


_MOST_NEAR = 3
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_SIDES = {"l": "left", "left": "left", "r": "right", "right": "right"}
