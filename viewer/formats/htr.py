"""HTR files of Motion Analysis: segments with a base position each, and their translations and rotations over time.

A segment's frame in its parent's is T(base) T(frame) R(base) R(frame), where R is the product of the turns about the
axes in the header's order: "ZYX" is Rz Ry Rx. A segment without children ends at its bone length along the axis of
bones. Sources: for sections and words "Motion Analysis' HTR", notes to course CS 838, University of Wisconsin (1999);
for the formula the reader of Syzygy (arHTR). Not compared with files of the maker's programs.

Version 2 (HTR2), whose rows are frames, and files of global rotations (GTR) are refused.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from viewer.errors import FormatError, InputError, more_such, of_file, plural, quote
from viewer.formats.bounds import UNMEASURED, check_counts
from viewer.formats.bvh import (
    RecordedMotion,
    RecordedTree,
    channel_angles,
    character_of,
    decimals_of,
    in_source,
    plain_decimal,
)
from viewer.formats.bvh_text import DEFAULT_FRAME_TIME, plain_numbers
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import read_text, write_whole
from viewer.formats.skeleton_json import file_order
from viewer.formats.units import (
    lengths_to_source,
)
from viewer.progress import watched
from viewer.skeleton import Character, JointKind, Skeleton, Source
from viewer.skeleton.names import FreeNames
from viewer.skeleton.tree import CycleError, parents_first
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import conjugate, from_axis_sequence, multiply

T = TypeVar("T")

_LARGEST_FILE = 1 << 31
_HEADER, _HIERARCHY, _BASE, _END, _ROOT = "header", "segmentnames&hierarchy", "baseposition", "endoffile", "global"
_COLUMNS = 7
"""Tx Ty Tz Rx Ry Rz, and the bone length or a factor of it."""
_UNITS = {
    "mm": "mm", "millimeters": "mm", "cm": "cm", "centimeters": "cm", "dm": "0.1", "decimeters": "0.1",
    "m": "m", "meters": "m", "in": "inch", "inches": "inch", "": "auto",
}  # fmt: skip
_WRITTEN = {"mm": "mm", "cm": "cm", "m": "m", "inch": "inches"}
"""What files call units; others are written as millimetres."""
_ORDERS = {order: order for order in ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")}
_UNSAFE_NAME = re.compile(r"[\s\[\]#]|^(?i:global|endoffile)$")


@dataclass(slots=True)
class _Section:
    """The lines under a name in brackets; ``line`` is the number of that of the name."""

    name: str
    line: int
    lines: list[str] = field(default_factory=list)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The number of each line and its words; without comments and empty lines."""
        for number, line in enumerate(self.lines, self.line + 1):
            words = line.partition("#")[0].split()
            if words:
                yield number, words

    def table(self) -> Floats:
        """(R, 7) the numbers of the rows after their first word."""
        numbers = np.array(plain_numbers(" ".join(self.lines).encode()) or ())
        if numbers.size % (1 + _COLUMNS) == 0:
            plain = numbers.reshape(-1, 1 + _COLUMNS)
            if len(plain) and (np.diff(plain[:, 0]) == 1.0).all():  # frames are counted, so each row is one of them
                return plain[:, 1:]
        rows = list(self.rows())
        values = np.empty((len(rows), _COLUMNS))
        for row, (line, words) in enumerate(rows):
            if len(words) != 1 + _COLUMNS:
                raise FormatError(f"expected {1 + _COLUMNS} values, found {len(words)}", line=line)
            for column, word in enumerate(words[1:]):
                values[row, column] = value = _number(word)
                if not math.isfinite(value):
                    raise FormatError(f"expected a finite number, found {quote(word)}", line=line)
        return values


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return math.nan


def _sections(text: str) -> list[_Section]:
    found: list[_Section] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("["):
            section = _Section(line.partition("#")[0].strip()[1:].removesuffix("]").strip(), number)
            if section.name.casefold() == _END:
                break
            found.append(section)
        elif found:
            found[-1].lines.append(line)
        elif words := line.partition("#")[0].strip():
            raise FormatError(f"expected [Header], found {quote(words)}", line=number)
    return found


# --- reading


class _Header:
    def __init__(self, section: _Section) -> None:
        self._line = section.line
        self._given = {words[0].casefold(): (line, " ".join(words[1:])) for line, words in section.rows()}

    def word(self, name: str, known: Mapping[str, T], usual: str) -> T:
        """The meaning of a word, in any case; of ``usual`` if it is not there."""
        line, word = self._given.get(name.casefold(), (self._line, usual))
        if word.casefold() not in known:
            expected = ", ".join(filter(None, known))
            raise FormatError(f"{name}: expected {expected}, found {quote(word)}", line=line)
        return known[word.casefold()]

    def number(self, name: str, usual: float) -> float:
        """A number above 0."""
        line, word = self._given.get(name.casefold(), (self._line, str(usual)))
        value = _number(word)
        if not 1e-6 <= value <= 1e6:
            raise FormatError(f"{name}: expected a number of 1e-6 to 1e6, found {quote(word)}", line=line)
        return value


class _Segments(NamedTuple):
    """The segments of a file, S, parents first; ``order`` has the index of each in the order of the file."""

    names: tuple[str, ...]
    parents: Ints
    order: tuple[int, ...]

    @property
    def roots(self) -> Bools:
        """(S,) those whose parent is the world."""
        return np.asarray(self.parents < 0)


def read_htr(path: Path, name: str, *, units: str | float = "auto", up: str = "auto") -> Character:
    """Read an HTR file; ``units`` and ``up`` are instead of those that it states."""
    with of_file(name):
        sections = _sections(read_text(path, name, _LARGEST_FILE))
        if [section.name.casefold() for section in sections[:3]] != [_HEADER, _HIERARCHY, _BASE]:
            found = ", ".join(f"[{section.name}]" for section in sections[:3]) or "no section"
            raise FormatError(f"expected [Header], [SegmentNames&Hierarchy] and [BasePosition], found {found}", line=1)
        header, segments = _Header(sections[0]), _hierarchy(sections[1])
        for key, only in (("FileType", "htr"), ("DataType", "htrs"), ("FileVersion", "1")):
            header.word(key, {only: only}, only)
        base, (motion, warnings) = _base(sections[2], segments), _motion(sections[3:], segments)
        return _character(name, header, segments, base, motion, warnings, str(units), up)


def _hierarchy(section: _Section) -> _Segments:
    check_counts(len(section.lines))
    above: dict[str, tuple[str, int]] = {}
    for line, words in section.rows():
        if len(words) != 2:
            raise FormatError(f"expected a segment and its parent, found {plural(len(words), 'word')}", line=line)
        if words[0] in above:
            raise FormatError(f"expected each segment once, found {quote(words[0])} again", line=line)
        above[words[0]] = words[1], line
    if not above:
        raise FormatError("expected a segment and its parent in each line, found none", line=section.line)
    names = list(above)
    places = {name: place for place, name in enumerate(names)}
    for parent, line in above.values():
        if parent not in places and parent.casefold() != _ROOT:
            raise FormatError(f"expected GLOBAL or the name of a segment, found {quote(parent)}", line=line)
    parents = [places.get(parent, -1) for parent, _ in above.values()]
    try:
        order = parents_first(parents)
    except CycleError as error:
        raise FormatError("expected a tree of segments, found one that is below itself", line=section.line) from error
    index = np.empty(len(names) + 1, dtype=np.intp)
    index[order], index[-1] = range(len(names)), -1
    return _Segments(tuple(names[old] for old in order), index[np.array(parents)[order]], tuple(index[:-1].tolist()))


def _base(section: _Section, segments: _Segments) -> Floats:
    """(S, 7) the base position of each segment."""
    table, rows = section.table(), dict[str, int]()
    for line, words in section.rows():
        if words[0] in rows:
            raise FormatError(f"expected each base position once, found {quote(words[0])} again", line=line)
        rows[words[0]] = len(rows)
    missing = next((name for name in segments.names if name not in rows), None)
    if missing is not None:
        expected = f"expected a base position of each segment, found none of {quote(missing)}"
        raise FormatError(expected, line=section.line)
    return table[[rows[name] for name in segments.names]]


def _motion(sections: list[_Section], segments: _Segments) -> tuple[Floats, list[str]]:
    """(F, S, 7) the motion, and warnings about segments without any, and about values that are missing."""
    places = {name: place for place, name in enumerate(segments.names)}
    found, gaps = dict[str, Floats](), dict[str, int]()
    for section in sections:
        if section.name not in places or section.name in found:
            what = f"{quote(section.name)}{' again' if section.name in found else ''}"
            raise FormatError(f"expected each segment by its name, and once, found {what}", line=section.line)
        table = section.table()
        count = len(next(iter(found.values()), table))
        if len(table) != count:
            problem = f"expected {count} frames, as of {quote(sections[0].name)}, found {len(table)}"
            raise FormatError(problem, line=section.line)
        found[section.name], lost = _filled(table)
        if lost:
            gaps[section.name] = lost
    values = np.zeros((len(next(iter(found.values()), ())), len(places), _COLUMNS))
    values[..., -1] = 1.0
    for name, table in found.items():
        values[:, places[name]] = table
    still = [name for name in segments.names if name not in found] if found else []
    warnings = [f"segment {quote(name)} has no motion: it stays in its base position" for name in still]
    if gaps:
        name, frames = next(iter(gaps.items()))
        gap = f"segment {quote(name)} has no values in {plural(frames, 'frame')}{more_such(len(gaps))}"
        warnings.append(f"{gap}: it stays as it was")
    if (values[..., -1] != 1.0).any():
        warnings.append("bones that change their length keep that of the base position")
    return values, warnings


def _filled(table: Floats) -> tuple[Floats, int]:
    """Rows (F, 7) with a missing value are as the last one without, those at the start as the first; how many."""
    known = (table < UNMEASURED).all(axis=1)
    if not known.any():
        return np.eye(1, _COLUMNS, _COLUMNS - 1).repeat(len(table), axis=0), len(table)
    nearest = np.maximum.accumulate(np.where(known, np.arange(len(table)), known.argmax()))
    return table[nearest], int((~known).sum())


def _character(
    name: str,
    header: _Header,
    segments: _Segments,
    base: Floats,
    motion: Floats,
    warnings: list[str],
    units: str,
    up: str,
) -> Character:
    if units == "auto":
        units = header.word("CalibrationUnits", _UNITS, "")
    if up == "auto":
        up = header.word("GlobalAxisofGravity", {"y": "y", "z": "z"}, "y")
    order = header.word("EulerRotationOrder", _ORDERS, "zyx")
    angle = header.word("RotationUnits", {"degrees": math.radians(1.0), "radians": 1.0}, "degrees")
    scale, columns = header.number("ScaleFactor", 1.0), [3 + "xyz".index(axis) for axis in order]
    rest = from_axis_sequence(angle * base[:, columns], order)
    rotations = multiply(rest, from_axis_sequence(angle * motion[..., columns], order))
    offsets, translations = scale * base[:, :3], scale * (base[:, :3] + motion[..., :3])
    inner = np.isin(np.arange(len(base)), segments.parents)
    ends = np.flatnonzero(~inner & (base[:, 6] != 0.0))
    tips = np.zeros((len(ends), 3))
    tips[:, header.word("BoneLengthAxis", {"x": 0, "y": 1, "z": 2}, "y")] = scale * base[ends, 6]
    tree = RecordedTree(
        segments.names, segments.parents, offsets, rest, tuple(_kinds(segments.roots)), np.zeros((len(base), 2, 3)),
        tip_parents=ends, tip_offsets=tips,
    )  # fmt: skip
    moved = np.flatnonzero((translations != offsets).any(axis=(0, 2)) | segments.roots)
    step = 1.0 / header.number("DataFrameRate", 1.0 / DEFAULT_FRAME_TIME)
    recorded = RecordedMotion(step, rotations, moved, translations[:, moved])
    source = Source(path=name, format="htr", joint_order=segments.order)
    return character_of(tree, recorded, source, (units, up), warnings)


def _kinds(roots: Bools) -> list[JointKind]:
    return [JointKind.FREE if root else JointKind.BALL for root in roots.tolist()]


# --- writing


def write_htr(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write the first clip of a character, or its rest pose alone if it has none.

    Units and axes are those of its ``source``. An end site off the axis of bones, or of a joint with children, becomes
    a segment.
    """
    if character.source.units not in _WRITTEN:
        character = replace(character, source=replace(character.source, units="mm", metres_per_unit=0.001))
    lines, warnings = _lines(character, options.precision)
    write_whole(path, lambda file: file.writelines(f"{line}\n".encode() for line in lines))
    if not options.pose:
        from viewer.formats.save import left_out  # noqa: PLC0415 - reading needs no writers

        warnings += left_out(character, "HTR", _kinds(character.skeleton.parents < 0))
    return warnings


def _lines(character: Character, precision: int | None) -> tuple[Iterator[str], list[str]]:
    skeleton, clip, source = character.skeleton, character.clip, character.source
    rotations, translations, offsets = in_source(skeleton, clip, source)
    rest, tips = in_source(skeleton, None, source)[0], lengths_to_source(skeleton.tip_offsets, source)
    if not (np.isfinite(translations).all() and np.isfinite(tips).all()):
        raise InputError("cannot be written as HTR: expected lengths within float range in its units")
    decimals = decimals_of(skeleton, clip, source) if precision is None else (precision, precision)
    length, angle = (f"{{:z.{count}f}}" for count in decimals)
    row = "\t".join([*[length] * 3, *[angle] * 3])
    names, warnings = _names(skeleton)
    axis, bones, apart = _bones(skeleton, tips)
    free = FreeNames(names)
    ends = [(free.take(f"{names[joint]}_end"), names[joint], row.format(*tip, 0.0, 0.0, 0.0)) for joint, tip in apart]
    if ends:
        warnings.append(f"{len(ends)} of {len(tips)} end sites are not along the axis of bones: written as segments")
    order = file_order(character).tolist()
    turned = np.degrees(channel_angles(multiply(conjugate(rest[0]), rotations), "zyx"))[..., ::-1]
    moved, base = translations - offsets, np.degrees(channel_angles(rest, "zyx"))[0, :, ::-1]
    frames = 0 if clip is None else len(clip)
    rate = 1.0 / (DEFAULT_FRAME_TIME if clip is None else clip.frame_time)

    def lines() -> Iterator[str]:
        yield from (
            "[Header]", "FileType htr", "DataType HTRS", "FileVersion 1", f"NumSegments {len(names) + len(ends)}",
            f"NumFrames {frames}", f"DataFrameRate {plain_decimal(rate)}", "EulerRotationOrder ZYX",
            f"CalibrationUnits {_WRITTEN[source.units]}", "RotationUnits Degrees",
            f"GlobalAxisofGravity {source.up.upper()}", f"BoneLengthAxis {axis}", "ScaleFactor 1",
            "[SegmentNames&Hierarchy]",
        )  # fmt: skip
        parents = skeleton.parents.tolist()
        yield from (f"{names[j]}\t{names[parents[j]] if parents[j] >= 0 else 'GLOBAL'}" for j in order)
        yield from (f"{name}\t{parent}" for name, parent, _ in ends)
        yield "[BasePosition]"
        for j in order:
            yield f"{names[j]}\t{row.format(*offsets[j].tolist(), *base[j].tolist())}\t{length.format(bones[j])}"
        yield from (f"{name}\t{place}\t0" for name, _, place in ends)
        for j in watched("writing", order if frames else [], len(order)):
            yield f"[{names[j]}]"
            for frame, (place, turn) in enumerate(zip(moved[:, j].tolist(), turned[:, j].tolist(), strict=True), 1):
                yield f"{frame}\t{row.format(*place, *turn)}\t1"
        for name, _, _ in ends if frames else ():
            yield f"[{name}]"
            yield from (f"{frame}\t0\t0\t0\t0\t0\t0\t1" for frame in range(1, frames + 1))
        yield "[EndOfFile]"

    return lines(), warnings


def _bones(skeleton: Skeleton, tips: Floats) -> tuple[str, list[float], list[tuple[int, list[float]]]]:
    """The axis of bones, the bone length of each joint, and (joint, offset) of end sites that these do not say."""
    parents = skeleton.tip_parents
    alone = ~np.isin(parents, skeleton.parents) & (np.bincount(parents, minlength=len(skeleton))[parents] == 1)
    along = alone[:, None] & ((tips != 0.0).sum(axis=1, keepdims=True) == 1) & (tips != 0.0)
    axis = max((1, 0, 2), key=along.sum(axis=0).__getitem__)
    lengths = np.zeros(len(skeleton))
    lengths[parents[along[:, axis]]] = tips[along[:, axis], axis]
    apart = [(joint, tip) for joint, tip, said in zip(parents.tolist(), tips.tolist(), along[:, axis], strict=True)
             if not said]  # fmt: skip
    return "XYZ"[axis], lengths.tolist(), apart


def _names(skeleton: Skeleton) -> tuple[list[str], list[str]]:
    """Names without blanks, brackets, hash marks and words of the format, and a warning for each that is another."""
    free, names, warnings = FreeNames(skeleton.names), list(skeleton.names), []
    for joint, name in enumerate(skeleton.names):
        safe = _UNSAFE_NAME.sub("_", name)
        if safe != name:
            names[joint] = free.take(safe)
            warnings.append(f"joint {quote(name)} is written as {quote(names[joint])}: HTR cannot hold its name")
    return names, warnings
