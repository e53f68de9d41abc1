"""The arrays of an .npz file, in and out: no pickles, no code, no more memory than the file states and we allow.

An .npz file is a zip of .npy files, whose header is a Python literal. numpy's reader evaluates it; this one takes the
one form that numpy writes, for plain numbers and texts, and refuses everything else.
"""

from __future__ import annotations

import math
import os
import re
import struct
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NamedTuple

import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_TEXT_BYTES, room_for_arrays
from viewer.formats.files import opened, write_whole
from viewer.formats.watch import report

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

LARGEST_FILE = 1 << 32
"""Bytes of an .npz file that are accepted: 4 GiB; only the arrays that are asked for are read."""

_PIECE = 1 << 20
_MAGIC = b"\x93NUMPY"
_LONGEST_HEADER = 4096
_HEADER = re.compile(
    r"\{'descr': '(?P<type>[<>|=][iufU]\d{1,9})', 'fortran_order': (?P<fortran>False|True), "
    r"'shape': \((?P<shape>|\d{1,15},|\d{1,15}(?:, \d{1,15}){1,7})\), \}\s*"
)
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, TypeError, KeyError,
           RuntimeError, NotImplementedError, OverflowError, MemoryError)  # fmt: skip
"""What the standard library raises for zips that are damaged, encrypted or odd."""


def read_arrays(path: Path, name: str, wanted: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Those of the wanted arrays that the file has: float64, int64 or texts.

    Args:
        path: the file.
        name: what the user called it, for messages.
        wanted: names of arrays; others are not looked at.

    Raises:
        InputError: the file cannot be opened.
        FormatError: not a zip, damaged, arrays of objects, more than `room_for_arrays` has room for.
    """
    with opened(path, name, LARGEST_FILE) as file:
        try:
            with zipfile.ZipFile(file) as archive:
                members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
                members = {key: members[key] for key in wanted if key in members}
                file_size = os.fstat(file.fileno()).st_size
                _check_sizes(members, file_size)
                heads = {key: _head(archive, info, key) for key, info in members.items()}
                _check_room(sum(_bytes_held(head) for head in heads.values()), file_size)
                return {key: _read(archive, info, heads[key], key) for key, info in members.items()}
        except FormatError as error:
            error.file = name
            raise
        except _BROKEN as error:
            reason = quote(" ".join(str(error).split()))  # the message may hold kilobytes of the file
            problem = f"expected an .npz file (a zip of arrays), found one that cannot be read: {reason}"
            raise FormatError(problem, file=name) from error


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz file, the same bytes for the same arrays.

    Raises:
        OutputError: it cannot be written.
    """

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


def _check_sizes(members: Mapping[str, zipfile.ZipInfo], file_size: int) -> None:
    _check_room(sum(info.file_size for info in members.values()), file_size)
    for key, info in members.items():
        if info.flag_bits & 1:
            raise FormatError("expected arrays that anybody can read, found an encrypted one", path=key)
        if info.compress_type == zipfile.ZIP_STORED and info.file_size > file_size:
            raise FormatError(f"expected {info.file_size:,} bytes, found a file of {file_size:,}", path=key)


def _check_room(total: int, file_size: int) -> None:
    room = room_for_arrays(file_size)
    if total > room:
        found = f"found {total:,} in a file of {file_size:,}"
        raise FormatError(f"expected at most {room:,} bytes of arrays, {found}")


class _Head(NamedTuple):
    """What stands before an array's numbers."""

    kind: np.dtype[Any]
    shape: tuple[int, ...]
    order: Literal["C", "F"]
    length: int


def _bytes_held(head: _Head) -> int:
    """Of the array as it is handed out: numbers take 8 bytes each, whatever they took in the file."""
    return math.prod(head.shape) * (head.kind.itemsize if head.kind.kind == "U" else 8)


def _head(archive: zipfile.ZipFile, info: zipfile.ZipInfo, key: str) -> _Head:
    """The header, whose shape fills just the bytes that are stated; nothing behind it is inflated."""
    with archive.open(info) as member:
        start = member.read(8)
        width = {1: 2, 2: 4, 3: 4}.get(start[6] if len(start) == 8 else 0)
        if start[:6] != _MAGIC or width is None:
            raise FormatError("expected an array (.npy), found something else", path=key)
        length = int.from_bytes(member.read(width), "little")
        header = member.read(min(length, _LONGEST_HEADER)).decode("latin-1")
        match = _HEADER.fullmatch(header)
        if match is None:
            raise FormatError(f"expected an array of numbers or texts, found {quote(header)}", path=key)
        kind = np.dtype(match["type"])
        shape = tuple(int(size) for size in match["shape"].split(",") if size)
        expected, there = math.prod(shape) * kind.itemsize, info.file_size - 8 - width - length
        if expected != there:
            raise FormatError(f"expected {expected:,} bytes for its shape, found {there:,}", path=key)
        if kind.kind == "U" and expected > MOST_TEXT_BYTES:
            raise FormatError(f"expected at most {MOST_TEXT_BYTES:,} bytes of text, found {expected:,}", path=key)
    return _Head(kind, shape, "F" if match["fortran"] == "True" else "C", 8 + width + length)


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, head: _Head, key: str) -> NDArray[Any]:
    data = bytearray(math.prod(head.shape) * head.kind.itemsize)
    with archive.open(info) as member, memoryview(data) as room:
        member.read(head.length)
        done = 0
        while done < len(data):
            # Piece by piece: asked for all at once, the library would hold it twice.
            piece = member.read(min(_PIECE, len(data) - done))
            if not piece:
                raise FormatError(f"expected {len(data):,} bytes, found {done:,}", path=key)
            room[done : done + len(piece)] = piece
            done += len(piece)
        member.read(1)  # the end of the data, where their checksum is compared
    array = np.frombuffer(data, head.kind) if data else np.zeros(0, head.kind)
    array = array.reshape(head.shape, order=head.order)
    common = {"f": np.dtype(np.float64), "U": head.kind.newbyteorder("=")}.get(head.kind.kind, np.dtype(np.int64))
    return np.asarray(array, dtype=common, order="C")


def take(arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...], *, whole: bool = False) -> NDArray[Any]:
    """An array of finite numbers: float64, or int64 if they are to be whole.

    Raises:
        FormatError: missing, not numbers, another shape (-1 is any size), NaN or infinite.
    """
    array = _shaped(arrays, key, shape)
    if array.dtype.kind not in ("i" if whole else "if"):
        expected = "whole numbers" if whole else "numbers"
        raise FormatError(f"expected {expected}, found {array.dtype}", path=key)
    if not np.isfinite(array).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise FormatError(f"expected finite numbers, found {array[index]}", path=f"{key}{list(index)}")
    return array if whole else array.astype(np.float64, copy=False)


def take_texts(arrays: Mapping[str, NDArray[Any]], key: str, shape: tuple[int, ...]) -> list[str]:
    """The texts of an array, in a flat list.

    Raises:
        FormatError: missing, not texts, another shape (-1 is any size).
    """
    array = _shaped(arrays, key, shape)
    if array.dtype.kind != "U":
        raise FormatError(f"expected texts, found {array.dtype}", path=key)
    # numpy makes Python texts of any numbers, and fails inside the interpreter for those that are no characters.
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
