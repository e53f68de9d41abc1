"""Arrays and tables of motion: NPZ, which is read and written, and CSV, which `viewer.formats.positions` reads.

docs/files.md lists the arrays and the columns. NPZ: metres, Y up, seconds, quaternions (x, y, z, w); the skeleton is
that of `skeleton_json`, or without it of `names`, `parents`, `offsets` and so on. CSV: RFC 4180, UTF-8; angles are
intrinsic, in degrees, and listed in the joint's own order.

A spreadsheet would take a name that begins with =, +, -, @, a tab or a line end for a formula. Such a name gets an
apostrophe in front, and so does one that begins with an apostrophe: removing one gives every name back.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import os
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, BinaryIO, Literal, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, InputError, of_file, quote
from viewer.formats import files
from viewer.formats.bounds import MOST_TEXT_BYTES, check_counts, room_for_arrays
from viewer.formats.bvh import rotation_axes, usual_order
from viewer.formats.file_formats import WriteOptions
from viewer.formats.files import opened, write_whole
from viewer.formats.json_reading import unit_rotations
from viewer.formats.skeleton_json import file_order, skeleton_from_text, skeleton_to_json
from viewer.formats.units import unconverted
from viewer.progress import report, watched
from viewer.skeleton import Character, Clip, Skeleton, fk_arrays, fk_clip
from viewer.skeleton.clip_limits import too_fast
from viewer.skeleton.dofs import coordinates
from viewer.spatial.checks import Floats, Ints, handed_over, rounded
from viewer.spatial.quaternion import EULER_ORDERS, to_euler

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
DEFAULTS = WriteOptions()

LARGEST_FILE = 1 << 32
"""Most bytes of an .npz file: 4 GiB; only the arrays that are needed are read."""

_ZIP = "an .npz file (a zip of arrays)"
_PIECE = 1 << 20
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 4096
_HEADER = re.compile(
    r"\{'descr': '(?P<type>[<>|=][iufU]\d{1,9})', 'fortran_order': (?P<fortran>False|True), "
    r"'shape': \((?P<shape>|\d{1,15},|\d{1,15}(?:, \d{1,15}){1,7})\), \}\s*"
)
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, TypeError, KeyError,
           RuntimeError, NotImplementedError, OverflowError, MemoryError)  # fmt: skip
"""Exceptions of the standard library for zips that are damaged, encrypted or unusual."""

_READ = (
    "skeleton_json", "names", "parents", "offsets", "rest_rotations", "tip_parents", "tip_offsets", "frame_time",
    "rotations", "translated", "translations", "keys", "clip_name",
)  # fmt: skip
_BLOCK = 1 << 16
"""Joints times frames that are reordered together."""

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "'")
"""Characters with which a formula may begin in a spreadsheet, and the apostrophe that prevents it."""


def read_arrays(path: Path, name: str, wanted: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """The wanted arrays that an .npz file has, by name: float64, int64 or texts; others are not read.

    Raises:
        InputError: the file cannot be opened.
        FormatError: not a zip, damaged, arrays of objects, more bytes than `room_for_arrays` allows.
    """
    with _readable(path, name, LARGEST_FILE, _ZIP) as file, zipfile.ZipFile(file) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        members = {key: members[key] for key in wanted if key in members}
        file_size = os.fstat(file.fileno()).st_size
        _check_room(sum(info.file_size for info in members.values()), file_size)
        for key, info in members.items():
            if info.flag_bits & 1:
                raise FormatError("expected arrays that anybody can read, found an encrypted one", path=key)
            if info.compress_type == zipfile.ZIP_STORED and info.file_size > file_size:
                raise FormatError(f"expected {info.file_size:,} bytes, found a file of {file_size:,}", path=key)
        heads = {key: _head(archive, info, key) for key, info in members.items()}
        # In memory numbers take 8 bytes each, independently of their type in the file.
        widths = {key: head.kind.itemsize if head.kind.kind == "U" else 8 for key, head in heads.items()}
        _check_room(sum(math.prod(head.shape) * widths[key] for key, head in heads.items()), file_size)
        return {key: _read(archive, info, heads[key], key) for key, info in members.items()}


@contextlib.contextmanager
def _readable(path: Path, name: str, largest: int, expected: str) -> Iterator[BinaryIO]:
    """An open file; what the standard library raises while it is read becomes a FormatError of that name."""
    with opened(path, name, largest) as file:
        if not os.fstat(file.fileno()).st_size:
            raise FormatError(f"the file is empty; expected {expected}", file=name)
        try:
            yield file
        except FormatError as error:
            error.file = name
            raise
        except _BROKEN as error:
            reason = quote(" ".join(str(error).split()))  # the message may contain kilobytes of the file
            raise FormatError(f"expected {expected}, found one that cannot be read: {reason}", file=name) from error


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz file; equal arrays give equal bytes."""

    def fill(file: BinaryIO) -> None:
        total, done = sum(np.asarray(array).nbytes for array in arrays.values()), 0
        with zipfile.ZipFile(file, "w", allowZip64=True) as archive:
            for name, array in arrays.items():
                report("writing", done, total)
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)
                done += np.asarray(array).nbytes
        report("writing", total, total)

    write_whole(path, fill)


def _check_room(total: int, file_size: int) -> None:
    room = room_for_arrays(file_size)
    if total > room:
        found = f"found {total:,} in a file of {file_size:,}"
        raise FormatError(f"expected at most {room:,} bytes of arrays, {found}")


class _Head(NamedTuple):
    """The header of an array: type, shape, memory order and its own length in bytes."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    length: int


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str) -> _Head:
    """The header of an array, after a check that its shape fits the stated bytes; data are not decompressed."""
    with archive.open(info) as member:
        return _head_of(member, info.file_size, key)


def _head_of(member: IO[bytes], size: int, key: str) -> _Head:
    """The header at the start of an array file of ``size`` bytes."""
    start = member.read(8)
    width = {1: 2, 2: 4, 3: 4}.get(start[6] if len(start) == 8 else 0)
    if start[:6] != _MAGIC or width is None:
        raise FormatError("expected an array (.npy), found something else", path=key)
    length = int.from_bytes(member.read(width), "little")
    header = member.read(min(length, _LONGEST_HEADER)).decode("latin-1")
    match = _HEADER.fullmatch(header)
    if match is None and "'|O'" in header:
        problem = "expected an array of numbers or texts, found Python objects (a pickle), which are not opened"
        raise FormatError(problem, path=key)
    if match is None:
        raise FormatError(f"expected an array of numbers or texts, found {quote(header)}", path=key)
    kind = np.dtype(match["type"])
    shape = tuple(int(size) for size in match["shape"].split(",") if size)
    expected, there = math.prod(shape) * kind.itemsize, size - 8 - width - length
    if expected != there:
        raise FormatError(f"expected {expected:,} bytes for its shape, found {there:,}", path=key)
    if kind.kind == "U" and expected > MOST_TEXT_BYTES:
        raise FormatError(f"expected at most {MOST_TEXT_BYTES:,} bytes of text, found {expected:,}", path=key)
    return _Head(kind, shape, "F" if match["fortran"] == "True" else "C", 8 + width + length)


def read_array(path: Path, name: str) -> NDArray[Any]:
    """The array of an .npy file: float64, int64 or texts."""
    with _readable(path, name, files.LARGEST_FILE, "an array (.npy)") as file:
        size = os.fstat(file.fileno()).st_size
        head = _head_of(file, size, "")
        file.seek(head.length)
        return _array_of(bytearray(file.read(size - head.length)), head)


def keys_of(path: Path, name: str) -> tuple[str, ...]:
    """The names of the arrays in an .npz file; errors are those of `read_arrays`."""
    with _readable(path, name, LARGEST_FILE, _ZIP) as file, zipfile.ZipFile(file) as archive:
        return tuple(each.removesuffix(".npy") for each in archive.namelist())


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, head: _Head, key: str) -> NDArray[Any]:
    data = bytearray(math.prod(head.shape) * head.kind.itemsize)
    with archive.open(info) as member, memoryview(data) as room:
        member.read(head.length)
        done = 0
        while done < len(data):
            # In pieces: a single read would hold the data twice.
            piece = member.read(min(_PIECE, len(data) - done))
            if not piece:
                raise FormatError(f"expected {len(data):,} bytes, found {done:,}", path=key)
            room[done : done + len(piece)] = piece
            done += len(piece)
        member.read(1)  # at the end of the data the checksum is compared
    return _array_of(data, head)


def _array_of(data: bytearray, head: _Head) -> NDArray[Any]:
    array = np.frombuffer(data, head.kind) if data else np.zeros(0, head.kind)
    array = array.reshape(head.shape, order=head.order)
    common = {"f": np.dtype(np.float64), "U": head.kind.newbyteorder("=")}.get(head.kind.kind, np.dtype(np.int64))
    return np.asarray(array, dtype=common, order="C")


def take(arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...], *, whole: bool = False) -> NDArray[Any]:
    """An array of finite numbers and of some shape (-1 is any size): float64, or int64 with ``whole``."""
    array = _shaped(arrays, key, shape)
    if array.dtype.kind not in ("i" if whole else "if"):
        expected = "whole numbers" if whole else "numbers"
        raise FormatError(f"expected {expected}, found {array.dtype}", path=key)
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise FormatError(f"expected finite numbers, found {array[index]}", path=f"{key}{list(index)}")
    return array if whole else array.astype(np.float64, copy=False)


def take_texts(arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...]) -> list[str]:
    """The texts of an array of some shape (-1 is any size), in a flat list."""
    array = _shaped(arrays, key, shape)
    if array.dtype.kind != "U":
        raise FormatError(f"expected texts, found {array.dtype}", path=key)
    # numpy converts any numbers to Python texts and crashes for numbers that are not characters.
    if (np.frombuffer(array.tobytes(), np.uint32) > sys.maxunicode).any():
        raise FormatError("expected texts of Unicode characters, found numbers that are none", path=key)
    return [str(text) for text in array.ravel().tolist()]


def _shaped(arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...]) -> NDArray[Any]:
    if key not in arrays:
        raise FormatError(f'expected an array "{key}", found none')
    array = arrays[key]
    fits = array.ndim == len(shape) and all(size in (-1, found) for size, found in zip(shape, array.shape, strict=True))
    if not fits:
        expected = ", ".join("any" if size == -1 else str(size) for size in shape)
        found = ", ".join(map(str, array.shape))
        raise FormatError(f"expected the shape ({expected}), found ({found})", path=key)
    return array


def read_npz(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read an .npz file that has a skeleton and perhaps motion."""
    arrays = read_arrays(path, name, _READ)
    with of_file(name):
        character = _character(arrays, name)
    return replace(character, warnings=(*character.warnings, *unconverted("NPZ", units, up)))


def write_npz(character: Character, path: Path, _: WriteOptions = DEFAULTS) -> list[str]:
    """Write the skeleton and the first clip as an .npz file, which holds everything: there are no warnings."""
    skeleton = character.skeleton
    bare = replace(character, clips=MappingProxyType({}), source=replace(character.source, joint_order=()))
    arrays = {
        "names": np.array(skeleton.names, dtype=np.str_),
        "parents": skeleton.parents.astype(np.int64),
        "offsets": skeleton.offsets,
        "rest_rotations": skeleton.rest_rotations,
        "tip_parents": skeleton.tip_parents.astype(np.int64),
        "tip_offsets": skeleton.tip_offsets,
    }
    if character.clip is not None:
        arrays |= _motion(character, character.clip)
    arrays["skeleton_json"] = np.array(skeleton_to_json(bare, units="m", up="y"))
    write_arrays(path, arrays)
    return []


def write_fk_npz(path: Path, names: Sequence[str], positions: Floats, rotations: Floats) -> None:
    """Write world motion: ``names`` (J,), ``positions`` (F, J, 3) metres, ``rotations`` (F, J, 4)."""
    texts = np.array(names, dtype=np.str_)
    write_arrays(path, {"names": texts, "positions": positions, "rotations": rotations})


def _character(arrays: Arrays, name: str) -> Character:
    names = take_texts(arrays, "names", (-1,))
    check_counts(len(names))
    text = take_texts(arrays, "skeleton_json", ())[0] if "skeleton_json" in arrays else _document(arrays, names)
    character = skeleton_from_text(text, name)
    order = np.array(character.source.joint_order, dtype=np.intp)
    # numpy's texts end before their first trailing NUL.
    if [character.skeleton.names[joint].rstrip("\0") for joint in order] != names:
        raise FormatError("expected the joints of skeleton_json, in its order", path="names")
    clips = {}
    if "rotations" in arrays and not arrays["rotations"].size:
        character = replace(character, warnings=(*character.warnings, "rotations: no frames, ignored"))
    elif "rotations" in arrays:
        clip = _clip(arrays, character.skeleton, order)
        clips[clip.name] = clip
    return replace(character, clips=MappingProxyType(clips), source=replace(character.source, format="npz"))


def _motion(character: Character, clip: Clip) -> dict[str, NDArray[Any]]:
    # Numbers near the end of the range of floats may overflow: their world positions are then infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        world = fk_clip(character.skeleton, clip)
    return {
        "frame_time": np.array(clip.frame_time),
        "rotations": clip.rotations,
        "translated": clip.translated.astype(np.int64),
        "translations": clip.translations,
        "positions": world.positions,
        "world_rotations": world.rotations,
        "keys": np.array(clip.keys, dtype=np.int64),
        "clip_name": np.array(clip.name),
    }


def _document(arrays: Arrays, names: list[str]) -> str:
    """The text of a skeleton file made from the arrays, for files without skeleton_json."""
    count = len(names)
    parents = take(arrays, "parents", (count,), whole=True)
    _check_indices(parents, -1, count, "parents")
    columns = {"offset": take(arrays, "offsets", (count, 3))}
    if "rest_rotations" in arrays:
        columns["rotation"] = take(arrays, "rest_rotations", (count, 4))
    joints: list[dict[str, object]] = [
        {"name": name, "parent": names[parent] if parent >= 0 else None}
        for name, parent in zip(names, parents.tolist(), strict=True)
    ]
    for key, values in columns.items():
        for joint, value in zip(joints, values.tolist(), strict=True):
            joint[key] = value
    if "tip_parents" in arrays:
        tip_parents = take(arrays, "tip_parents", (-1,), whole=True)
        _check_indices(tip_parents, 0, count, "tip_parents")
        tips = take(arrays, "tip_offsets", (len(tip_parents), 3)).tolist()
        tips_of: list[list[object]] = [[] for _ in names]
        for parent, tip in zip(tip_parents.tolist(), tips, strict=True):
            tips_of[parent].append(tip)
        joints = [{**joint, "tips": own} for joint, own in zip(joints, tips_of, strict=True)]
    return json.dumps({"joints": joints})


def _clip(arrays: Arrays, skeleton: Skeleton, order: Ints) -> Clip:
    """The motion; ``order`` (J,) has per joint of the file its index in the skeleton."""
    joints = len(skeleton)
    rotations = take(arrays, "rotations", (-1, joints, 4))
    count = len(rotations)
    rotations = unit_rotations(rotations.reshape(-1, 4), lambda i: f"rotations[{i // joints}, {i % joints}]").reshape(
        rotations.shape
    )
    translated = take(arrays, "translated", (-1,), whole=True) if "translated" in arrays else np.zeros(0, np.intp)
    _check_indices(translated, 0, joints, "translated")
    moved = order[translated]
    if len(set(moved.tolist())) != len(moved):
        raise FormatError("expected each joint once", path="translated")
    translations = take(arrays, "translations", (count, len(moved), 3)) if len(moved) else np.zeros((count, 0, 3))
    frame_time = float(take(arrays, "frame_time", ()))
    if not frame_time > 0:
        raise FormatError(f"expected more than 0 seconds, found {frame_time:g}", path="frame_time")
    keys = take(arrays, "keys", (-1,), whole=True) if "keys" in arrays else np.zeros(0, np.intp)
    _check_indices(keys, 0, count, "keys")
    if not np.array_equal(order, np.arange(joints)):
        for start in range(0, count, step := max(1, _BLOCK // joints)):  # in place: there may be no room for both
            block = rotations[start : start + step]
            block[:, order] = block.copy()
    ascending = np.argsort(moved)
    return Clip(
        name=take_texts(arrays, "clip_name", ())[0] if "clip_name" in arrays else skeleton.name,
        frame_time=frame_time,
        rotations=handed_over(rotations),
        translated=moved[ascending],
        translations=handed_over(translations[:, ascending]),
        offsets=skeleton.offsets,
        keys=tuple(sorted(set(keys.tolist()))),
    )


def _check_indices(indices: NDArray[Any], first: int, end: int, path: str) -> None:
    wrong = indices[(indices < first) | (indices >= end)]
    if wrong.size:
        raise FormatError(f"expected numbers from {first} to {end - 1}, found {wrong[0]}", path=path)


def write_csv(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write the first clip as a table, or the rest pose if there is none.

    The precision is that of all numbers except the time; None: every digit. A motion of joint values that is faster
    than the motors of its joints is written with a warning.
    """
    skeleton, clip = character.skeleton, character.clip
    if options.joints:
        names = [_guarded(character.source.name_of(name)) for name in skeleton.dof_names]
        numbers = np.atleast_2d(coordinates(skeleton, skeleton.rest_pose() if clip is None else clip))
    else:
        names, numbers = _places(character)
    header, table = ["frame", "time", *names], rounded(numbers, options.precision)
    if not np.isfinite(table).all():
        raise InputError("cannot be written as a table: expected finite numbers, found NaN or infinity")
    step = clip.frame_time if clip is not None else 0.0

    def fill(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        csv.writer(text).writerow(header)
        text.detach()
        rows = enumerate(watched("writing", table, len(table)))
        file.writelines(_line([frame, frame * step, *row.tolist()]) for frame, row in rows)

    write_whole(path, fill)
    fast = too_fast(skeleton, clip) if options.joints and clip is not None else ()
    return ["CSV holds positions and angles only: no skeleton, limits or effectors", *fast]


def _line(cells: list[float]) -> bytes:
    """A row of a table: the shortest numbers that read back as the same, as Python writes them."""
    text = msgspec.json.encode(cells)[1:-1]  # in a tenth of the time of Python's; small numbers in other forms
    return (",".join(map(repr, cells)).encode() if b"e" in text or b"0.0000" in text else text) + b"\r\n"


def euler_orders(character: Character) -> list[str]:
    """The order in which the angles of each joint of the file are listed, such as "zxy"."""
    layout, skeleton = character.source.layout, character.skeleton
    orders: list[str] = []
    for number, joint in enumerate(file_order(character).tolist()):
        listed = rotation_axes(layout.channels[number] if layout is not None else ())
        orders.append(listed if listed in EULER_ORDERS else usual_order(skeleton.limits[joint]))
    return orders


def _guarded(name: str) -> str:
    """A name as a cell that no spreadsheet evaluates (CWE-1236)."""
    return f"'{name}" if name.startswith(_FORMULAS) else name


def _places(character: Character) -> tuple[list[str], Floats]:
    """Names of positions and angles, and (F, 6 J) their values."""
    order, eulers = file_order(character), euler_orders(character)
    header: list[str] = []
    for joint, euler in zip(order.tolist(), eulers, strict=True):
        name = _guarded(character.skeleton.names[joint])
        header += [f"{name}.{axis}" for axis in "xyz"] + [f"{name}.r{axis}" for axis in euler]
    return header, _table(character, order, eulers)


def _table(character: Character, order: Ints, eulers: list[str]) -> Floats:
    """(F, 6 J) positions and angles."""
    skeleton, clip = character.skeleton, character.clip
    with np.errstate(over="ignore", invalid="ignore"):
        if clip is None:
            rotations = skeleton.rest_rotations[None]
            world = fk_arrays(skeleton.parents, rotations, skeleton.offsets[None])
        else:
            rotations, world = clip.rotations, fk_clip(skeleton, clip)
    angles = np.empty((len(rotations), len(order), 3))
    for euler in set(eulers):
        columns = [column for column, own in enumerate(eulers) if own == euler]
        angles[:, columns] = np.degrees(to_euler(rotations[:, order[columns]], euler))
    angles = np.unwrap(angles, period=360.0, axis=0)
    return np.concatenate([world.positions[:, order], angles], axis=-1).reshape(len(rotations), -1)
