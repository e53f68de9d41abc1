"""The bytes of a BVH file -> its joints and channel values, in its own units and axes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import FormatError
from viewer.formats.bvh.channels import first_columns
from viewer.formats.bvh.hierarchy import read_hierarchy
from viewer.formats.bvh.motion import Rows, read_motion_header
from viewer.formats.bvh.words import Words
from viewer.formats.files import line_and_column

if TYPE_CHECKING:
    from viewer.formats.bvh.hierarchy import BvhJoint
    from viewer.spatial.checks import Floats

_FRAMES = re.compile(rb"(?i)(?:^|[\s}])Frames[ \t]*:\s*\S*")
_FRAMES_AND_TIME = re.compile(_FRAMES.pattern + rb"\s+Frame[ \t]+Time[ \t]*:\s*\S*")


@dataclass(frozen=True, slots=True, eq=False)
class BvhFile:
    """What a BVH file holds, in its own units and axes.

    Attributes:
        joints: in file order, parents first.
        frame_time: seconds.
        values: (F, C) channel values as written.
        warnings: a line each.
    """

    joints: list[BvhJoint]
    frame_time: float
    values: Floats
    warnings: list[str]

    @property
    def channels(self) -> tuple[tuple[str, ...], ...]:
        """Per joint, its channels in file order."""
        return tuple(joint.channels or () for joint in self.joints)


def parse_bvh(data: bytes, file: str) -> BvhFile:
    """The joints and the channel values of a file's bytes.

    Raises:
        FormatError: with line and column.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FormatError("expected a BVH file with HIERARCHY in UTF-8, found UTF-16", file=file, line=1, column=1)
    data = data.removeprefix(b"\xef\xbb\xbf")
    split = _header_end(data)
    warnings: list[str] = []
    words = Words(_header(data[:split], warnings), file)
    if not words.peek():
        raise FormatError("expected HIERARCHY, found an empty file", file=file, line=1, column=1)
    joints, more = read_hierarchy(words)
    warnings += more
    width = first_columns(tuple(joint.channels or () for joint in joints))[-1]
    if not words.text[words.start : words.place]:
        warnings.append("no MOTION: a skeleton without frames")
        return BvhFile(joints, 0.0, np.zeros((0, width)), warnings)
    said, frame_time = read_motion_header(words, warnings)
    rest = words.text[words.place :]
    line, column = line_and_column(words.text, words.place)
    whole, start = (rest.encode() + data[split:], 0) if rest else (data, split)
    values = Rows(whole, start, line, column, width, file).read(warnings)
    if len(values) != said:
        warnings.append(f"Frames: says {said}, found {len(values)}")
    return BvhFile(joints, frame_time, values, warnings)


def _header_end(data: bytes) -> int:
    """Where the rows may begin: after the frame time, or after the frame count if there is none."""
    match = _FRAMES_AND_TIME.search(data) or _FRAMES.search(data)
    return match.end() if match else len(data)


def _header(header: bytes, warnings: list[str]) -> str:
    """Its text, with LF line ends."""
    header = header.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return header.decode()
    except UnicodeDecodeError:
        warnings.append("the file is not UTF-8: its names are read as Latin-1")
        return header.decode("latin-1")
