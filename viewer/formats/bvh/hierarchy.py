"""The HIERARCHY of a BVH file: its words with their positions, and the joints with offsets, channels and end sites.

Words may be in any case and on any lines; anything else is refused with line and column. Nested joints are kept on a
list instead of recursion, because chains may be thousands of joints deep.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NoReturn

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_JOINTS
from viewer.formats.files import line_and_column

END = ""
"""Returned by `Words.next` at the end of the text."""

NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
"""Decimal numbers; not nan, inf, hexadecimal, digits of other scripts or 1_000, which Python would accept."""

LARGEST_NUMBER = 1e100
"""Larger numbers are refused: their squares have to stay finite, and no real file has them."""

WORD = re.compile(r"[^ \t\n\f\v]+")
"""Only these characters separate words: a no-break space or a line separator may be part of a name."""

_BRACE = re.compile(r"[ \t\f\v]\{")
_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")


@dataclass(slots=True)
class Words:
    """A reader of words from a text with LF line ends.

    Attributes:
        text: the header.
        file: the file's name for messages.
        place: index in the text at which the next word is searched.
        start: index at which the last word began.
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
        """The next word, without moving on."""
        match = WORD.search(self.text, self.place)
        return match.group() if match else END

    def name(self, of: str) -> str:
        """The rest of the line up to a brace, stripped: names may contain blanks."""
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
        """The next word as a whole number."""
        word = self.next()
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
            self.fail(f"{of}: expected a whole number, found {self.found(word)}")
        return int(word)

    def expect(self, wanted: str, inside: str) -> None:
        """Read the word ``wanted``, in any case, or fail."""
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
    """None for a finite number, else a hint that follows the word in a message (often empty)."""
    if NUMBER.fullmatch(word):
        return None if abs(float(word)) <= LARGEST_NUMBER else " (out of range)"
    if _COMMA.fullmatch(word):
        return " (a decimal comma; BVH has a point)"
    return ""


Triple = tuple[float, float, float]

CHANNELS = {f"{axis}{kind}".casefold(): f"{axis.upper()}{kind}" for kind in ("position", "rotation") for axis in "xyz"}
"""The six channel names by their lower-case form."""


@dataclass(slots=True)
class BvhJoint:
    """One ROOT or JOINT as in the file.

    Attributes:
        name: as written, blanks inside included.
        parent: index of the enclosing joint, -1 for a root.
        offset: in the file's units; None until its OFFSET is read.
        channels: "Xposition" .. "Zrotation" in file order; None until its CHANNELS is read.
        tips: offsets of its end sites.
    """

    name: str
    parent: int
    offset: Triple | None = None
    channels: tuple[str, ...] | None = None
    tips: list[Triple] = field(default_factory=list)


def read_hierarchy(words: Words) -> tuple[list[BvhJoint], list[str]]:
    """All joints, parents first, and warnings; reads up to and including the word MOTION, or to the end."""
    _expect_hierarchy(words)
    joints: list[BvhJoint] = []
    warnings: list[str] = []
    open_joints: list[int] = []
    while True:
        word = words.next()
        kind = word.casefold()
        if open_joints:
            _inside(words, word, joints, open_joints, warnings)
        elif kind == "root":
            open_joints.append(_begin(words, joints, -1))
        elif joints and kind in {"motion", END}:
            return joints, warnings
        else:
            wanted = "ROOT or MOTION" if joints else "ROOT"
            words.fail(f"expected {wanted}, found {words.found(word)}")


def _expect_hierarchy(words: Words) -> None:
    word = words.next()
    if word.casefold() != "hierarchy":
        words.fail(f"expected a BVH file, which begins with HIERARCHY, found {words.found(word)}")


def _begin(words: Words, joints: list[BvhJoint], parent: int) -> int:
    if len(joints) == MOST_JOINTS:
        words.fail(f"expected at most {MOST_JOINTS:,} joints, found more")
    joint = BvhJoint(words.name("ROOT" if parent < 0 else "JOINT"), parent)
    words.expect("{", f"joint {quote(joint.name)}")
    joints.append(joint)
    return len(joints) - 1


def _inside(words: Words, word: str, joints: list[BvhJoint], open_joints: list[int], warnings: list[str]) -> None:
    """Read one statement of the innermost open joint."""
    index = open_joints[-1]
    joint = joints[index]
    match word.casefold():
        case "offset":
            joint.offset = _offset(words, joint, twice=joint.offset is not None)
        case "channels":
            joint.channels = _channels(words, joint, late=index != len(joints) - 1)
        case "joint":
            open_joints.append(_begin(words, joints, index))
        case "end":
            joint.tips.append(_end_site(words, joint))
        case "}":
            _close(words, joint, warnings)
            open_joints.pop()
        case _:
            missing = [] if joint.offset else ["OFFSET"]
            missing += [] if joint.channels is not None else ["CHANNELS"]
            wanted = ", ".join([*missing, "JOINT", "End Site"])
            words.fail(f"in joint {quote(joint.name)}: expected {wanted} or }}, found {words.found(word)}")


def _offset(words: Words, joint: BvhJoint, *, twice: bool) -> Triple:
    what = f"OFFSET of {quote(joint.name)}"
    if twice:
        words.fail(f"{what}: expected once, found a second one")
    return words.number(what), words.number(what), words.number(what)


def _channels(words: Words, joint: BvhJoint, *, late: bool) -> tuple[str, ...]:
    what = f"CHANNELS of {quote(joint.name)}"
    place = words.start
    if joint.channels is not None:
        words.fail(f"{what}: expected once, found a second time")
    if late:
        words.fail(f"{what}: expected before the joint's children, found after one")
    said = words.count(what)
    if not 0 <= said <= len(CHANNELS):
        words.fail(f"{what}: expected 0 to {len(CHANNELS)} channels, found {said}")
    listed: list[str] = []
    while words.peek().casefold() in CHANNELS:
        listed.append(CHANNELS[words.next().casefold()])
    following = words.peek()
    if len(listed) < said and following.casefold() not in {"joint", "end", "}", "{", "offset", "motion", END}:
        words.next()
        words.fail(f"{what}: expected Xposition to Zrotation, found {words.found(following)}")
    if len(listed) != said:
        words.fail(f"{what}: expected {said} names, found {len(listed)}", place)
    twice = next((name for name in listed if listed.count(name) > 1), None)
    if twice:
        words.fail(f"{what}: expected each channel once, found {twice} twice", place)
    return tuple(listed)


def _end_site(words: Words, joint: BvhJoint) -> Triple:
    what = f"End Site of {quote(joint.name)}"
    words.expect("Site", f"in joint {quote(joint.name)}, after End")
    if words.peek() != "{":
        words.name("End Site")  # some programs write a name, which nothing refers to
    words.expect("{", what)
    words.expect("OFFSET", what)
    offset = words.number(what), words.number(what), words.number(what)
    word = words.next()
    if word != "}":
        place = words.start
        more = f" {quote(words.name('JOINT'))}" if word.casefold() == "joint" else ""
        words.fail(f"{what}: expected }}, found {words.found(word)}{more}", place)
    return offset


def _close(words: Words, joint: BvhJoint, warnings: list[str]) -> None:
    if joint.offset is None:
        words.fail(f"joint {quote(joint.name)}: expected OFFSET before }}, found none")
    if joint.channels is None:
        warnings.append(f"joint {quote(joint.name)} has no CHANNELS: taken as fixed")
        joint.channels = ()
