"""A glTF file's two forms taken apart: JSON with its buffers elsewhere, or both in one binary (GLB)."""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING
from urllib.parse import unquote

from viewer.errors import FormatError, InputError, quote, shown
from viewer.formats.files import decode_utf8, read_bytes
from viewer.formats.gltf.structs import File
from viewer.formats.json_typed import decode_typed

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_FILE = 1 << 31
"""Bytes of a file that are accepted, and of all its buffers together: 2 GiB."""

_MAGIC = b"glTF"
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_KNOWN = {"KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"}
"""Extensions that a file may require, because they do not concern joints or motion."""


def open_gltf(path: Path, name: str) -> tuple[File, list[bytes]]:
    """The file's data and the bytes of all its buffers.

    Raises:
        InputError: the file, or one beside it that it names, cannot be read.
        FormatError: no glTF 2.0, damaged, or of an extension that is needed to understand it.
    """
    data = read_bytes(path, name, LARGEST_FILE)
    if not data:
        raise FormatError("the file is empty; expected glTF", file=name)
    text, chunk = _glb(data, name) if data[:4] == _MAGIC else (data, None)
    file = _parsed(decode_utf8(text, name), name)
    return file, _buffers(file, chunk, path, name)


def _glb(data: bytes, name: str) -> tuple[bytes, bytes | None]:
    """The JSON chunk and the binary one."""
    if len(data) < 20:
        raise FormatError("expected a GLB header, found the end of the file", file=name)
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(f"expected GLB version 2, found {version}", file=name)
    if length > len(data):
        raise FormatError(f"expected {length:,} bytes, found {len(data):,}: the file was cut off", file=name)
    chunks: dict[int, bytes] = {}
    place = 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", data, place)
        if place + 8 + size > length:
            raise FormatError("expected whole chunks, found one that is longer than the file", file=name)
        chunks.setdefault(kind, data[place + 8 : place + 8 + size])
        place += 8 + size
    if _JSON not in chunks:
        raise FormatError("expected a JSON chunk, found none", file=name)
    return chunks[_JSON], chunks.get(_BIN)


def _parsed(text: str, name: str) -> File:
    file = decode_typed(text, File, name)
    if not file.asset.version.startswith("2."):
        raise FormatError(f"expected 2.0, found {quote(file.asset.version)}", file=name, path="asset.version")
    missing = [extension for extension in file.extensions_required if extension not in _KNOWN]
    if missing:
        raise FormatError(f"needs {shown(missing[0])}, which is not supported", file=name, path="extensionsRequired")
    return file


def _buffers(file: File, chunk: bytes | None, path: Path, name: str) -> list[bytes]:
    """The bytes of all buffers; a file that several of them name is read once."""
    by_uri: dict[str | None, bytes] = {}
    buffers: list[bytes] = []
    room = LARGEST_FILE
    for index, buffer in enumerate(file.buffers):
        where = f"buffers[{index}]"
        if buffer.uri is None:
            if index or chunk is None:
                raise FormatError("expected a uri or the binary chunk, found neither", file=name, path=where)
            by_uri[None] = chunk
        elif buffer.uri not in by_uri:
            inline = buffer.uri.startswith("data:")
            data = _inline(buffer.uri, name, where) if inline else _beside(buffer.uri, path, name, where, room)
            by_uri[buffer.uri] = data
            room -= len(data)
        data = by_uri[buffer.uri]
        if len(data) < buffer.byte_length:
            found = f"expected {buffer.byte_length:,} bytes, found {len(data):,}"
            raise FormatError(found, file=name, path=where)
        buffers.append(data)
    return buffers


def _inline(uri: str, name: str, where: str) -> bytes:
    head, _, body = uri.partition(",")
    if not head.endswith(";base64"):
        raise FormatError("expected base64 data", file=name, path=f"{where}.uri")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:  # binascii.Error is one, and what is said of letters beyond ASCII is another
        raise FormatError(f"expected base64 data: {error}", file=name, path=f"{where}.uri") from error


def _beside(uri: str, path: Path, name: str, where: str, largest: int) -> bytes:
    """A file in the same folder or below it: nothing is fetched, and nothing is looked at elsewhere."""
    relative = unquote(uri)
    parts = relative.replace("\\", "/").split("/")
    if ":" in relative or relative.startswith(("/", "\\")) or ".." in parts or "\0" in relative:
        raise FormatError(f"expected a file beside this one, found {quote(uri)}", file=name, path=f"{where}.uri")
    try:
        return read_bytes(path.parent.joinpath(*parts), shown(relative), largest)
    except InputError as error:
        raise FormatError(str(error), file=name, path=f"{where}.uri") from error
