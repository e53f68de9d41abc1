"""The text of a BVH file: HIERARCHY, the joints with offsets, channels and end sites, and MOTION, the rows of numbers.

Words may be in any case and on any lines; anything else is refused with line and column. Nested joints are kept on a
list instead of recursion, because chains may be thousands of joints deep.

A plain line of MOTION, with one blank or tab between its numbers, is turned into a JSON list and read by msgspec, whose
number parser rounds correctly and is several times faster than Python's. Any other line is read number by number, which
accepts every notation that programs write and gives errors their column. Reading line by line bounds memory.
"""

from __future__ import annotations

import io
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

import msgspec
import numpy as np

from viewer.errors import FormatError, of_file, quote
from viewer.formats.bounds import MOST_JOINTS
from viewer.formats.files import line_and_column
from viewer.progress import report
from viewer.spatial.checks import Floats, Vector

_END = ""
"""Returned by `_Words.next` at the end of the text."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Decimal numbers; not nan, inf, hexadecimal, digits of other scripts or 1_000, which Python would accept."""

_LARGEST_NUMBER = 1e100
"""Larger numbers are refused: their squares have to stay finite, and no real file has them."""

_WORD = re.compile(r"[^ \t\n\f\v]+")
"""Only these characters separate words: a no-break space or a line separator may be part of a name."""

_BRACE = re.compile(r"[ \t\f\v]\{")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")

_CHANNELS = {f"{axis}{kind}".casefold(): f"{axis.upper()}{kind}" for kind in ("position", "rotation") for axis in "xyz"}

_TURNED = "OFFSET with six numbers: the last three, a rotation at rest, are left out; channels hold the whole rotation"
"""In files for SOMA; their own reader also takes three."""

DEFAULT_FRAME_TIME = 1.0 / 30.0
_SLOWEST = 10.0
"""Seconds from frame to frame from which on a Frame Time is rather a rate."""
_BLANKS = b" \t\f\v"
_NUMBERS = msgspec.json.Decoder(list[float])
_BLANKS_TO_COMMAS = bytes.maketrans(b" \t", b",,")
_COMMAS = re.compile(rb",,+")
_REPORT_LINES = 256
_FRAMES = re.compile(rb"(?i)(?:^|[\s}])Frames[ \t]*:\s*\S*")
_FRAMES_AND_TIME = re.compile(_FRAMES.pattern + rb"\s+Frame[ \t]+Time[ \t]*:\s*\S*")
_GLUED = "has no blank between its numbers: read as several"


@dataclass(slots=True)
class BvhJoint:
    """One ROOT or JOINT as in the file; its offset and channels are None until they are read.

    The channels are "Xposition" .. "Zrotation" in file order; ``parent`` is -1 for a root.
    """

    name: str
    parent: int
    offset: Vector | None = None
    channels: tuple[str, ...] | None = None
    tips: list[Vector] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class BvhFile:
    """The contents of a BVH file in its own units and axes; ``values`` (F, C) of the channels as written."""

    joints: list[BvhJoint]
    frame_time: float
    values: Floats
    warnings: list[str]

    @property
    def channels(self) -> tuple[tuple[str, ...], ...]:
        """The channels of each joint, in file order."""
        return tuple(joint.channels or () for joint in self.joints)


def parse_bvh(data: bytes, file: str) -> BvhFile:
    """The joints and the channel values of a file's bytes; ``file`` begins messages."""
    with of_file(file):
        return _parsed(data)


def _parsed(data: bytes) -> BvhFile:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("expected a BVH file with HIERARCHY in UTF-8, found UTF-16", line=1, column=1)
    data = data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\0\x1a")  # old programs end a file with these
    match = _FRAMES_AND_TIME.search(data) or _FRAMES.search(data)
    split = match.end() if match else len(data)
    warnings: list[str] = []
    words = _Words(_header(data[:split], warnings))
    if not words.peek():
        raise FormatError("expected HIERARCHY, found an empty file", line=1, column=1)
    joints = _read_hierarchy(words, warnings)
    width = sum(len(joint.channels or ()) for joint in joints)
    if not words.text[words.start : words.place]:
        warnings.append("no MOTION: a skeleton without frames")
        return BvhFile(joints, 0.0, np.zeros((0, width)), warnings)
    said, frame_time = _read_motion_header(words, warnings)
    rest = words.text[words.place :]
    line, column = line_and_column(words.text, words.place)
    whole, start = (rest.encode() + data[split:], 0) if rest else (data, split)
    values = _MotionRows(whole, start, line, column, width).read(warnings)
    if len(values) != said:
        warnings.append(f"Frames: says {said}, found {len(values)}")
    return BvhFile(joints, frame_time, values, warnings)


def _header(header: bytes, warnings: list[str]) -> str:
    """The text of the header, with LF line ends."""
    header = header.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return header.decode()
    except UnicodeDecodeError:
        warnings.append("the file is not UTF-8: its names are read as Latin-1")
        return header.decode("latin-1")


@dataclass(slots=True)
class _Words:
    """A reader of words from a text with LF line ends.

    The next word is searched from ``place`` on; ``start`` is where the last one began.
    """

    text: str
    place: int = 0
    start: int = 0

    def next(self) -> str:
        """The next word, or `_END`."""
        match = _WORD.search(self.text, self.place)
        if match is None:
            self.start = self.place = len(self.text)
            return _END
        self.start, self.place = match.span()
        return match.group()

    def peek(self) -> str:
        match = _WORD.search(self.text, self.place)
        return match.group() if match else _END

    def name(self, of: str) -> str:
        """The rest of the line up to a brace, stripped: names may contain blanks."""
        word = self.next()
        if word in {"{", _END}:
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
        problem = _number_problem(word)
        if problem is not None:
            self.fail(f"{of}: expected a number, found {self.found(word)}{problem}")
        return float(word)

    def count(self, of: str) -> int:
        """The next word as a whole number."""
        word = self.next()
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
            self.fail(f"{of}: expected a whole number, found {self.found(word)}")
        return int(word)

    def expect(self, wanted: str, inside: str) -> None:
        """Read the given word, in upper or lower case, or fail."""
        word = self.next()
        if word.casefold() != wanted.casefold():
            self.fail(f"{inside}: expected {wanted}, found {self.found(word)}")

    def found(self, word: str) -> str:
        """A word for a message."""
        return quote(word) if word else "end of file"

    def fail(self, problem: str, place: int | None = None) -> NoReturn:
        """Raise a FormatError at ``place`` (the last word unless given)."""
        line, column = line_and_column(self.text, self.start if place is None else place)
        raise FormatError(problem, line=line, column=column)


def _number_problem(word: str) -> str | None:
    """None for a finite number, else a hint (often empty) that follows the word in a message."""
    if _NUMBER.fullmatch(word):
        return None if abs(float(word)) <= _LARGEST_NUMBER else " (out of range)"
    if _COMMA.fullmatch(word):
        return " (a decimal comma; BVH has a point)"
    return ""


# --- HIERARCHY


def _read_hierarchy(words: _Words, warnings: list[str]) -> list[BvhJoint]:
    """All joints, parents first; reads up to and including the word MOTION, or to the end."""
    word = words.next()
    if word.casefold() != "hierarchy":
        words.fail(f"expected a BVH file, which begins with HIERARCHY, found {words.found(word)}")
    joints: list[BvhJoint] = []
    open_joints: list[int] = []
    while True:
        word = words.next()
        kind = word.casefold()
        if open_joints:
            _inside(words, word, joints, open_joints, warnings)
        elif kind == "root":
            open_joints.append(_begin(words, joints, -1))
        elif joints and kind in {"motion", _END}:
            return joints
        else:
            wanted = "ROOT or MOTION" if joints else "ROOT"
            words.fail(f"expected {wanted}, found {words.found(word)}")


def _begin(words: _Words, joints: list[BvhJoint], parent: int) -> int:
    if len(joints) == MOST_JOINTS:
        words.fail(f"expected at most {MOST_JOINTS:,} joints, found more")
    joint = BvhJoint(words.name("ROOT" if parent < 0 else "JOINT"), parent)
    words.expect("{", f"joint {quote(joint.name)}")
    joints.append(joint)
    return len(joints) - 1


def _inside(words: _Words, word: str, joints: list[BvhJoint], open_joints: list[int], warnings: list[str]) -> None:
    """Read one statement of the innermost open joint."""
    index = open_joints[-1]
    joint = joints[index]
    match word.casefold():
        case "offset":
            joint.offset = _offset(words, joint, warnings)
        case "channels":
            joint.channels = _channels(words, joint, late=index != len(joints) - 1)
        case "joint":
            open_joints.append(_begin(words, joints, index))
        case "end":
            _end_site(words, joints, index, warnings)
        case "}":
            _close(words, joint, warnings)
            open_joints.pop()
        case _:
            missing = [] if joint.offset else ["OFFSET"]
            missing += [] if joint.channels is not None else ["CHANNELS"]
            wanted = ", ".join([*missing, "JOINT", "End Site"])
            words.fail(f"in joint {quote(joint.name)}: expected {wanted} or }}, found {words.found(word)}")


def _offset(words: _Words, joint: BvhJoint, warnings: list[str]) -> Vector:
    what = f"OFFSET of {quote(joint.name)}"
    if joint.offset is not None:
        words.fail(f"{what}: expected once, found a second one")
    offset = words.number(what), words.number(what), words.number(what)
    if _number_problem(words.peek()) is None:
        for _ in offset:
            words.number(what)
        if _TURNED not in warnings:
            warnings.append(_TURNED)
    return offset


def _channels(words: _Words, joint: BvhJoint, *, late: bool) -> tuple[str, ...]:
    what = f"CHANNELS of {quote(joint.name)}"
    place = words.start
    if joint.channels is not None:
        words.fail(f"{what}: expected once, found a second time")
    if late:
        words.fail(f"{what}: expected before the joint's children, found after one")
    said = words.count(what)
    if not 0 <= said <= len(_CHANNELS):
        words.fail(f"{what}: expected 0 to {len(_CHANNELS)} channels, found {said}")
    listed: list[str] = []
    while words.peek().casefold() in _CHANNELS:
        listed.append(_CHANNELS[words.next().casefold()])
    following = words.peek()
    if len(listed) < said and following.casefold() not in {"joint", "end", "}", "{", "offset", "motion", _END}:
        words.next()
        words.fail(f"{what}: expected Xposition to Zrotation, found {words.found(following)}")
    if len(listed) != said:
        words.fail(f"{what}: expected {said} names, found {len(listed)}", place)
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice:
        words.fail(f"{what}: expected each channel once, found {twice} twice", place)
    return tuple(listed)


def _end_site(words: _Words, joints: list[BvhJoint], parent: int, warnings: list[str]) -> None:
    """Read an end site: a tip of its joint, or a joint of its own if it states channels, which some programs write."""
    joint = joints[parent]
    what = f"End Site of {quote(joint.name)}"
    words.expect("Site", f"in joint {quote(joint.name)}, after End")
    name = f"{joint.name}_end"
    if words.peek() != "{":
        name = words.name("End Site")  # nothing refers to it
    words.expect("{", what)
    words.expect("OFFSET", what)
    offset = words.number(what), words.number(what), words.number(what)
    end = BvhJoint(name, parent, offset)
    if words.peek().casefold() == "channels":
        words.next()
        end.channels = _channels(words, end, late=False)
    if end.channels:
        warnings.append(f"{what} has channels: read as a joint, {quote(name)}")
        joints.append(end)
    else:
        joint.tips.append(offset)
    word = words.next()
    if word != "}":
        place = words.start
        more = f" {quote(words.name('JOINT'))}" if word.casefold() == "joint" else ""
        words.fail(f"{what}: expected }}, found {words.found(word)}{more}", place)


def _close(words: _Words, joint: BvhJoint, warnings: list[str]) -> None:
    if joint.offset is None:
        words.fail(f"joint {quote(joint.name)}: expected OFFSET before }}, found none")
    if joint.channels is None:
        warnings.append(f"joint {quote(joint.name)} has no CHANNELS: taken as fixed")
        joint.channels = ()


# --- MOTION


def _read_motion_header(words: _Words, warnings: list[str]) -> tuple[int, float]:
    """The stated frame count, which may be wrong, and the frame time in seconds."""
    if not _label(words, "Frames"):
        words.fail(f"expected Frames:, found {words.found(words.next())}")
    said = words.count("Frames")
    if said < 0:
        words.fail(f"Frames: expected 0 or more, found {said}")
    if not _label(words, "Frame Time"):
        warnings.append("no Frame Time: taken as 1/30 s")
        return said, DEFAULT_FRAME_TIME
    frame_time = words.number("Frame Time")
    if frame_time < 0:
        words.fail(f"Frame Time: expected more than 0 seconds, found {frame_time:g}")
    if frame_time < sys.float_info.min:  # of smaller ones the rate is infinite
        warnings.append(f"Frame Time is {frame_time:g}: taken as 1/30 s")
        return said, DEFAULT_FRAME_TIME
    if frame_time >= _SLOWEST:
        cure = f"perhaps a rate, which --frame-time {1.0 / frame_time:.6g} corrects"
        warnings.append(f"Frame Time is {frame_time:g} seconds from frame to frame: {cure}")
    return said, frame_time


def _label(words: _Words, label: str) -> bool:
    """Read ``label`` and its colon with any blanks around them; whether they were there."""
    pattern = r"[ \t\n\f\v]*" + r"[ \t]+".join(label.split()) + r"[ \t]*:"
    match = re.compile(pattern, re.IGNORECASE).match(words.text, words.place)
    if match:
        words.start = words.place = match.end()
    return match is not None


@dataclass(slots=True)
class _MotionRows:
    """The rows after the header: they begin at index ``start`` of the bytes, on that line and column from 1.

    ``width`` numbers are a frame: the channels of all joints.
    """

    data: bytes
    start: int
    line: int
    column: int
    width: int

    def read(self, warnings: list[str]) -> Floats:
        """(F, width) numbers as in the file."""
        values = self._values(warnings, plainly=True)
        if values.size and max(values.max(), -values.min()) > _LARGEST_NUMBER:
            values = self._values(warnings, plainly=False)  # finds the number and raises
        return values.reshape(-1, self.width) if self.width else np.zeros((0, 0))

    def _values(self, warnings: list[str], *, plainly: bool) -> Floats:
        """All numbers in one array; a row may take several lines."""
        values = bytearray()
        pack = struct.Struct(f"{self.width}d").pack
        row: list[float] = []
        begun = (0, 0, b"")  # of the line on which the row began: its number, count of numbers and text
        for line, text in enumerate(self._lines(), self.line):
            numbers = plain_numbers(text) if plainly else None
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
        for match in _WORD.finditer(text.decode("utf-8", "replace")):
            word = match.group()
            problem = _number_problem(word)
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
        raise FormatError(problem, line=line, column=first + before)


def plain_numbers(text: bytes) -> list[float] | None:
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
    if len(parts) < 2 or not all(_NUMBER.fullmatch(part) and _number_problem(part) is None for part in parts):
        return None
    return [float(part) for part in parts]
