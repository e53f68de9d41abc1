"""The MOTION of a BVH file: frame time and rows of numbers.

A plain line, with one blank or tab between its numbers, is turned into a JSON list and read by msgspec, whose number
parser rounds correctly and is several times faster than Python's. Any other line is read number by number, which
accepts every notation that programs write and gives errors their column. Reading line by line bounds memory.
"""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import msgspec
import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bvh.hierarchy import END, LARGEST_NUMBER, NUMBER, WORD, Words, number_problem
from viewer.formats.progress import report
from viewer.spatial.checks import Floats

DEFAULT_FRAME_TIME = 1.0 / 30.0
_BLANKS = b" \t\f\v"
_NUMBERS = msgspec.json.Decoder(list[float])
_BLANKS_TO_COMMAS = bytes.maketrans(b" \t", b",,")
_COMMAS = re.compile(rb",,+")
_REPORT_LINES = 256
_GLUED = "has no blank between its numbers: read as several"


def read_motion_header(words: Words, warnings: list[str]) -> tuple[int, float]:
    """The stated frame count, which may be wrong, and the frame time in seconds."""
    _label(words, "Frames", required=True)
    said = words.count("Frames")
    if said < 0:
        words.fail(f"Frames: expected 0 or more, found {said}")
    if not _label(words, "Frame Time", required=False):
        warnings.append("no Frame Time: taken as 1/30 s")
        return said, DEFAULT_FRAME_TIME
    frame_time = words.number("Frame Time")
    if frame_time < 0:
        words.fail(f"Frame Time: expected more than 0 seconds, found {frame_time:g}")
    if frame_time == 0:
        warnings.append("Frame Time is 0: taken as 1/30 s")
        return said, DEFAULT_FRAME_TIME
    return said, frame_time


def _label(words: Words, label: str, *, required: bool) -> bool:
    """Read ``label`` and its colon with any blanks around them; whether they were there."""
    pattern = r"[ \t\n\f\v]*" + r"[ \t]+".join(label.split()) + r"[ \t]*:"
    match = re.compile(pattern, re.IGNORECASE).match(words.text, words.place)
    if match:
        words.start = words.place = match.end()
        return True
    if required:
        words.fail(f"expected {label}:, found {words.found(words.next() or END)}", words.start)
    return False


@dataclass(slots=True)
class Rows:
    """The rows after the header.

    Attributes:
        data: bytes of the file.
        start: index in ``data`` at which the rows begin.
        line: line of ``start`` in the file, from 1.
        column: column of ``start``, from 1.
        width: numbers per frame: the channels of all joints.
        file: its name for messages.
    """

    data: bytes
    start: int
    line: int
    column: int
    width: int
    file: str

    def read(self, warnings: list[str]) -> Floats:
        """(F, width) numbers as in the file.

        Raises:
            FormatError: rows of another width, words that are not finite numbers; with line and column.
        """
        values = self._values(warnings, plainly=True)
        if values.size and max(values.max(), -values.min()) > LARGEST_NUMBER:
            values = self._values(warnings, plainly=False)  # finds the number and raises
        return values.reshape(-1, self.width) if self.width else np.zeros((0, 0))

    def _values(self, warnings: list[str], *, plainly: bool) -> Floats:
        """All numbers in one array; a row may take several lines."""
        values = bytearray()
        pack = struct.Struct(f"{self.width}d").pack
        row: list[float] = []
        begun = (0, 0, b"")  # of the line on which the row began: its number, count of numbers and text
        for line, text in enumerate(self._lines(), self.line):
            numbers = _plain(text) if plainly else None
            if numbers is None:
                numbers = self._careful(text, line, warnings)
            if not row:
                begun, row = (line, len(numbers), text), numbers
            else:
                row += numbers
            if len(row) > self.width:
                self._wrong_width(*begun)
            if len(row) == self.width:
                values += pack(*row)
                row = []
        if row:
            self._wrong_width(*begun)
        return np.frombuffer(values) if values else np.zeros(0)

    def _lines(self) -> Iterator[bytes]:
        """Lines without their ends, LF, CR LF or CR."""
        with io.BytesIO(self.data) as stream:
            stream.seek(self.start)
            for count, text in enumerate(stream):
                if count % _REPORT_LINES == 0:
                    report("reading", stream.tell(), len(self.data))
                line = text.rstrip(b"\r\n")
                if b"\r" in line:
                    yield from line.split(b"\r")
                else:
                    yield line
        report("reading", len(self.data), len(self.data))

    def _careful(self, text: bytes, line: int, warnings: list[str]) -> list[float]:
        """The numbers of one line, one by one."""
        numbers: list[float] = []
        for match in WORD.finditer(text.decode("utf-8", "replace")):
            word = match.group()
            problem = number_problem(word)
            if problem is None:
                numbers.append(float(word))
                continue
            glued = _unglued(word)
            if glued is None:
                problem = f"in a frame: expected a finite number, found {quote(word)}{problem}"
                self._fail(problem, line, match.start())
            if not any(warning.endswith(_GLUED) for warning in warnings):
                warnings.append(f"line {line}: {quote(word)} {_GLUED}")
            numbers += glued
        return numbers

    def _wrong_width(self, line: int, found: int, text: bytes) -> NoReturn:
        problem = f"expected {self.width} numbers in a frame (the channels of all joints), found {found}"
        self._fail(problem, line, len(text) - len(text.lstrip(_BLANKS)))

    def _fail(self, problem: str, line: int, before: int) -> NoReturn:
        """Raise a FormatError for what follows ``before`` characters of a line."""
        first = self.column if line == self.line else 1
        raise FormatError(problem, file=self.file, line=line, column=first + before)


def _plain(text: bytes) -> list[float] | None:
    """The numbers of a plain line, None for any other."""
    text = text.strip(_BLANKS)
    if b"," in text:
        return None  # a decimal comma would turn one number into two
    text = text.translate(_BLANKS_TO_COMMAS)
    try:
        return _NUMBERS.decode(b"[" + text + b"]")
    except msgspec.DecodeError:
        pass
    if b",," not in text:
        return None
    try:
        return _NUMBERS.decode(b"[" + _COMMAS.sub(b",", text) + b"]")
    except msgspec.DecodeError:
        return None


def _unglued(word: str) -> list[float] | None:
    """The numbers of a word without blanks between them, such as ``0.0-7.509``; None for other words."""
    parts = re.split(r"(?<=[0-9.])(?=[+-])", word)
    if len(parts) < 2 or not all(NUMBER.fullmatch(part) and number_problem(part) is None for part in parts):
        return None
    return [float(part) for part in parts]
