"""The MOTION of a BVH file: frame time and rows of numbers.

Rows are read in blocks of whole lines, so that memory stays in proportion to the numbers. A block written plainly, one
row a line and one blank or tab between numbers, is turned into brackets and commas and read as JSON lists: msgspec's
number parser rounds correctly and is several times faster than Python's. Any other block is read number by number,
which takes every form that a recorder may write and knows the place of every fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bvh.words import END, NUMBER, number_problem

if TYPE_CHECKING:
    from viewer.formats.bvh.words import Words
    from viewer.spatial.checks import Floats

DEFAULT_FRAME_TIME = 1.0 / 30.0
_BLOCK_BYTES = 1 << 18
_ROWS = msgspec.json.Decoder(list[list[float]])


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
        width: numbers in a frame: the channels of all joints.
        file: its name for messages.
    """

    data: bytes
    start: int
    line: int
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
        return np.concatenate(blocks) if blocks else np.zeros((0, self.width))

    def _plain(self, text: bytes) -> Floats | None:
        """The rows of a block, None unless it is written plainly."""
        text = text.replace(b"\t", b" ")
        if b"  " in text:
            text = re.sub(rb"  +", b" ", text)
        text = text.replace(b" \n", b"\n").replace(b"\n ", b"\n").strip()
        if not text:
            return np.zeros((0, self.width))
        try:
            rows = _ROWS.decode(b"[[" + text.replace(b" ", b",").replace(b"\n", b"],[") + b"]]")
        except msgspec.DecodeError:
            return None
        if any(len(row) != self.width for row in rows):
            return None
        block = np.array(rows)
        return block if np.abs(block).max(initial=0.0) < _PLAIN_LARGEST else None

    def _careful(self, place: int, line: int, warnings: list[str]) -> Floats:
        """The rest of the rows, number by number."""
        values: list[Floats] = []
        row: list[float] = []
        begun = line  # the line that the unfinished row began on, and its numbers there
        first = 0
        for text in self.data[place:].split(b"\n"):
            found = self._numbers(text, line, warnings)
            if found and not row:
                begun, first = line, len(found)
            row += found
            if len(row) > self.width:
                self._wrong_width(begun, first)
            if len(row) == self.width and row:
                values.append(np.array(row))
                row = []
            line += 1
        if row:
            self._wrong_width(begun, first)
        return np.stack(values) if values else np.zeros((0, self.width))

    def _numbers(self, text: bytes, line: int, warnings: list[str]) -> list[float]:
        numbers: list[float] = []
        for match in re.finditer(r"\S+", text.decode("utf-8", "replace")):
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
                    column=match.start() + 1,
                )
            if not any(warning.endswith(_GLUED) for warning in warnings):
                warnings.append(f"line {line}: {quote(word)} {_GLUED}")
            numbers += glued
        return numbers

    def _wrong_width(self, line: int, found: int) -> None:
        raise FormatError(
            f"expected {self.width} numbers in a frame (the channels of all joints), found {found}",
            file=self.file,
            line=line,
        )


_PLAIN_LARGEST = 1e300
_GLUED = "has no blank between its numbers: read as several"


def _unglued(word: str) -> list[float] | None:
    """Numbers written without a blank between, as in ``0.0-7.509``; None if it is anything else."""
    parts = re.split(r"(?<=[0-9.])(?=[+-])", word)
    if len(parts) < 2 or not all(NUMBER.fullmatch(part) and number_problem(part) is None for part in parts):
        return None
    return [float(part) for part in parts]
