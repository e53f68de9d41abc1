"""The words of a BVH header, each with its place, and errors that name the place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from viewer.errors import FormatError, quote
from viewer.formats.files import line_and_column

END = ""
"""What `Words.next` gives at the end of the text."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Every honest way to write a number; not nan, inf, hexadecimal, digits of other scripts or 1_000."""

LARGEST_NUMBER = 1e100
"""Numbers beyond this are refused: their squares have to stay finite, and no file means them."""

WORD = re.compile(r"[^ \t\n\f\v]+")
"""Only these separate words: a no-break space or a line separator may be part of a name."""

_BRACE = re.compile(r"[ \t\f\v]\{")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(slots=True)
class Words:
    """A reader of words from a text with LF line ends.

    Attributes:
        text: the header.
        file: the file's name for messages.
        place: where the next word is looked for.
        start: where the last word began.
    """

    text: str
    file: str
    place: int = 0
    start: int = 0

    def next(self) -> str:
        """The next word, or `END`."""
        match = WORD.search(self.text, self.place)
        if match is None:
            self.start = self.place = len(self.text)
            return END
        self.start, self.place = match.span()
        return match.group()

    def peek(self) -> str:
        """The next word, not taken."""
        match = WORD.search(self.text, self.place)
        return match.group() if match else END

    def name(self, of: str) -> str:
        """The rest of the line, or up to a brace on it, without blanks around: names may hold blanks."""
        word = self.next()
        if word in {"{", END}:
            self.fail(f"expected a name after {of}, found {self.found(word)}")
        end = self.text.find("\n", self.start)
        line = self.text[self.start : end if end >= 0 else len(self.text)]
        brace = _BRACE.search(line)
        name = line[: brace.start() if brace else len(line)].rstrip(" \t\f\v")
        self.place = self.start + len(name)
        return name

    def number(self, of: str) -> float:
        """The next word as a finite number."""
        word = self.next()
        problem = number_problem(word)
        if problem is not None:
            self.fail(f"{of}: expected a number, found {self.found(word)}{problem}")
        return float(word)

    def count(self, of: str) -> int:
        """The next word as a whole number; its size is not trusted for anything."""
        word = self.next()
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
            self.fail(f"{of}: expected a whole number, found {self.found(word)}")
        return int(word)

    def expect(self, wanted: str, inside: str) -> None:
        """Take a word that must be there, in any case."""
        word = self.next()
        if word.casefold() != wanted.casefold():
            self.fail(f"{inside}: expected {wanted}, found {self.found(word)}")

    def found(self, word: str) -> str:
        """A word for a message."""
        return quote(word) if word else "end of file"

    def fail(self, problem: str, place: int | None = None) -> NoReturn:
        """Raise a FormatError at ``place`` (the last word unless given)."""
        line, column = line_and_column(self.text, self.start if place is None else place)
        raise FormatError(problem, file=self.file, line=line, column=column)


def number_problem(word: str) -> str | None:
    """None for a finite number, else a hint to stand behind the word in a message (often empty)."""
    if NUMBER.fullmatch(word):
        return None if abs(float(word)) <= LARGEST_NUMBER else " (out of range)"
    if _COMMA.fullmatch(word):
        return " (a decimal comma; BVH has a point)"
    return ""
