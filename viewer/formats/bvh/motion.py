"""The MOTION of a BVH file: frame time and rows of numbers.

Rows are read in blocks of whole lines, so that memory stays in proportion to the numbers. A block written plainly, one
row a line and one blank or tab between numbers, is turned into brackets and commas and read as JSON lists: msgspec's
number parser rounds correctly and is several times faster than Python's. Any other block is read number by number,
which takes every form that a recorder may write and knows the place of every fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import msgspec
import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bvh.words import END, LARGEST_NUMBER, NUMBER, WORD, number_problem
from viewer.formats.watch import report, watched

if TYPE_CHECKING:
    from viewer.formats.bvh.words import Words
    from viewer.spatial.checks import Floats

DEFAULT_FRAME_TIME = 1.0 / 30.0
_BLOCK_BYTES = 1 << 18
_ROWS = msgspec.json.Decoder(list[list[float]])
_JSON_MARKS = (b",", b"[", b"]")
_BLANKS_TO_COMMAS = bytes.maketrans(b" \t", b",,")
_GLUED = "has no blank between its numbers: read as several"


def read_motion_header(words: Words, warnings: list[str]) -> tuple[int, float]:
    """The frame count that is said (believed by nobody) and the frame time in seconds."""
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
    """Take ``label`` and its colon, however blanks stand around them."""
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
        data: bytes with LF line ends.
        start: where in ``data`` the rows begin.
        line: the line of the file, from 1, that ``start`` is on.
        column: the column in that line, from 1, that ``start`` is at.
        width: numbers in a frame: the channels of all joints.
        file: its name for messages.
    """

    data: bytes
    start: int
    line: int
    column: int
    width: int
    file: str

    def read(self, warnings: list[str]) -> Floats:
        """(F, width) numbers as they stand in the file.

        Raises:
            FormatError: rows of another width, words that are no finite numbers; with line and column.
        """
        blocks: list[Floats] = []
        place, line = self.start, self.line
        while place < len(self.data):
            end = self.data.find(b"\n", place + _BLOCK_BYTES)
            end = len(self.data) if end < 0 else end + 1
            block = self._plain(self.data[place:end])
            if block is None:
                blocks.append(self._careful(place, line, warnings))
                break
            blocks.append(block)
            line += self.data.count(b"\n", place, end)
            place = end
            report("reading", place, len(self.data))
        return np.concatenate(blocks) if blocks else np.zeros((0, self.width))

    def _plain(self, text: bytes) -> Floats | None:
        """The rows of a block, None unless it is written plainly."""
        if any(mark in text for mark in _JSON_MARKS):
            return None
        lines = [line.strip(b" \t") for line in text.split(b"\n")]
        text = b"],[".join(line for line in lines if line).translate(_BLANKS_TO_COMMAS)
        if not text:
            return np.zeros((0, self.width))
        rows = _decoded_rows(text)
        if rows is None and b",," in text:
            rows = _decoded_rows(re.sub(rb",,+", b",", text))
        if rows is None or any(len(row) != self.width for row in rows):
            return None
        block = np.array(rows)
        return block if np.abs(block).max(initial=0.0) <= LARGEST_NUMBER else None

    def _careful(self, place: int, line: int, warnings: list[str]) -> Floats:
        """The rest of the rows, number by number."""
        values: list[Floats] = []
        row: list[float] = []
        begun = (line, 1, 0)  # line and column where the unfinished row began, and its numbers on that line
        column = self.column if place == self.start else 1
        lines = self.data[place:].split(b"\n")
        for text in watched("reading", lines, len(lines)):
            found = self._numbers(text, line, column, warnings)
            if found and not row:
                begun = (line, column + len(text) - len(text.lstrip(b" \t\f\v")), len(found))
            row += found
            if len(row) > self.width:
                self._wrong_width(*begun)
            if len(row) == self.width and row:
                values.append(np.array(row))
                row = []
            line, column = line + 1, 1
        if row:
            self._wrong_width(*begun)
        return np.stack(values) if values else np.zeros((0, self.width))

    def _numbers(self, text: bytes, line: int, column: int, warnings: list[str]) -> list[float]:
        """The numbers of one line, whose text begins at a column of it."""
        numbers: list[float] = []
        for match in WORD.finditer(text.decode("utf-8", "replace")):
            word = match.group()
            problem = number_problem(word)
            if problem is None:
                numbers.append(float(word))
                continue
            glued = _unglued(word)
            if glued is None:
                raise FormatError(
                    f"in a frame: expected a finite number, found {quote(word)}{problem}",
                    file=self.file,
                    line=line,
                    column=match.start() + column,
                )
            if not any(warning.endswith(_GLUED) for warning in warnings):
                warnings.append(f"line {line}: {quote(word)} {_GLUED}")
            numbers += glued
        return numbers

    def _wrong_width(self, line: int, column: int, found: int) -> NoReturn:
        raise FormatError(
            f"expected {self.width} numbers in a frame (the channels of all joints), found {found}",
            file=self.file,
            line=line,
            column=column,
        )


def _decoded_rows(text: bytes) -> list[list[float]] | None:
    """Rows of numbers between commas, the rows between ``],[``; None if it is anything else."""
    try:
        return _ROWS.decode(b"[[" + text + b"]]")
    except msgspec.DecodeError:
        return None


def _unglued(word: str) -> list[float] | None:
    """Numbers written without a blank between, as in ``0.0-7.509``; None if it is anything else."""
    parts = re.split(r"(?<=[0-9.])(?=[+-])", word)
    if len(parts) < 2 or not all(NUMBER.fullmatch(part) and number_problem(part) is None for part in parts):
        return None
    return [float(part) for part in parts]
