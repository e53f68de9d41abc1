"""A glTF file: JSON and buffers in both forms (text, binary), its parts as data types, and its accessors' arrays."""

from __future__ import annotations

import base64
import struct
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import unquote

import msgspec
import numpy as np
from msgspec import Meta, field
from numpy.typing import NDArray

from viewer.errors import FormatError, InputError, quote, shown
from viewer.formats.bounds import FREE_NUMBERS
from viewer.formats.files import decode_utf8, read_bytes
from viewer.formats.json_typed import decode_typed
from viewer.spatial.checks import Floats, handed_over

Index = Annotated[int, Meta(ge=0, le=1 << 53)]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = Annotated[list[float], Meta(min_length=16, max_length=16)]

MARK = "ikviewer"
"""The key in a node's extras under which a writer of ours says what the node is, where it could be mistaken."""


class _Part(msgspec.Struct, rename="camel", omit_defaults=True):
    """Names as glTF has them. What is written leaves out what is as if it were not there."""


class Asset(_Part):
    """What the file says of itself."""

    version: str
    generator: Any = None


class Buffer(_Part):
    """Bytes: in the file, beside it, or the GLB's own chunk."""

    byte_length: Index
    uri: str | None = None


class BufferView(_Part):
    """A stretch of a buffer."""

    buffer: Index
    byte_length: Index
    byte_offset: Index = 0
    byte_stride: Annotated[int, Meta(ge=4, le=252)] | None = None
    target: Any = None


class SparseIndices(_Part):
    """Which elements a sparse accessor replaces."""

    buffer_view: Index
    component_type: Index
    byte_offset: Index = 0


class SparseValues(_Part):
    """What it replaces them by."""

    buffer_view: Index
    byte_offset: Index = 0


class Sparse(_Part):
    """Elements that differ from the rest."""

    count: Index
    indices: SparseIndices
    values: SparseValues


class Accessor(_Part):
    """A typed array in a buffer view."""

    component_type: Index
    count: Index
    type: str
    buffer_view: Index | None = None
    byte_offset: Index = 0
    normalized: bool = False
    sparse: Sparse | None = None
    min: Any = None
    max: Any = None


class Node(_Part):
    """A place in the scene's tree."""

    name: str = ""
    children: list[Index] = []
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    scale: Vector = (1.0, 1.0, 1.0)
    matrix: Matrix | None = None
    mesh: Index | None = None
    skin: Index | None = None
    camera: Index | None = None
    extras: Any = None

    @property
    def mark(self) -> str | None:
        """What a writer of ours says that it is."""
        return self.extras.get(MARK) if isinstance(self.extras, dict) else None


class Skin(_Part):
    """The joints of a mesh."""

    joints: list[Index]
    name: str = ""
    skeleton: Any = None
    inverse_bind_matrices: Any = None


class Target(_Part):
    """What a channel moves."""

    path: str
    node: Index | None = None


class Channel(_Part):
    """A sampler at work."""

    sampler: Index
    target: Target


class Sampler(_Part):
    """Values at times."""

    input: Index
    output: Index
    interpolation: str = "LINEAR"


class Animation(_Part):
    """A clip."""

    channels: list[Channel]
    samplers: list[Sampler]
    name: str = ""


class File(_Part):
    """A glTF file."""

    asset: Asset
    extensions_required: list[str] = []
    nodes: list[Node] = []
    skins: list[Skin] = []
    animations: list[Animation] = []
    accessors: list[Accessor] = []
    buffer_views: list[BufferView] = field(default_factory=list)
    buffers: list[Buffer] = []
    meshes: list[msgspec.Raw] = []
    materials: list[msgspec.Raw] = []
    textures: list[msgspec.Raw] = []
    images: list[msgspec.Raw] = []
    cameras: list[msgspec.Raw] = []

    def unread(self) -> tuple[str, ...]:
        """What it holds besides joints and motion, counted; nothing of a file of ours, whose mesh is the bones."""
        if self.asset.generator == MARK:
            return ()
        counts = {
            "mesh": len(self.meshes),
            "skin": len(self.skins),
            "material": len(self.materials),
            "texture": len(self.textures),
            "image": len(self.images),
            "camera": len(self.cameras),
        }
        plurals = {"mesh": "meshes"}
        return tuple(
            f"{count} {word if count == 1 else plurals.get(word, word + 's')}"
            for word, count in counts.items()
            if count
        )


class WrittenAsset(_Part):
    """What a file of ours says of itself."""

    version: str
    generator: str


class Attributes(_Part, rename="upper"):
    """Accessors of what the corners of triangles have."""

    position: Index
    normal: Index
    joints_0: Index
    weights_0: Index


class Primitive(_Part):
    """Triangles of one material."""

    attributes: Attributes
    material: Index


class Mesh(_Part):
    """A shape."""

    name: str
    primitives: list[Primitive]


class Roughness(_Part):
    """How a surface reflects light; colours are linear."""

    base_color_factor: list[float]
    metallic_factor: float
    roughness_factor: float


class Material(_Part):
    """A surface."""

    name: str
    pbr_metallic_roughness: Roughness


class Scene(_Part):
    """Which nodes have no parent."""

    nodes: list[Index]


class Written(_Part):
    """A glTF file as it is written."""

    asset: WrittenAsset
    scene: Index | None = None
    scenes: list[Scene] = []
    nodes: list[Node] = []
    skins: list[Skin] = []
    meshes: list[Mesh] = []
    materials: list[Material] = []
    animations: list[Animation] = []
    accessors: list[Accessor] = []
    buffer_views: list[BufferView] = []
    buffers: list[Buffer] = []


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


_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Accessors:
    """Reads arrays, each once; each index is checked against the file.

    Arrays that share their bytes, or have none, could be stated without end: together they may have a number to each
    byte of the buffers, which is more than arrays have that share nothing, or `FREE_NUMBERS`.
    """

    def __init__(self, file: File, buffers: list[bytes]) -> None:
        """Take a file that was opened."""
        self._file, self._buffers = file, buffers
        self._room = max(FREE_NUMBERS, sum(len(data) for data in {id(data): data for data in buffers}.values()))
        self._read: dict[int, Floats] = {}
        self.made: dict[tuple[str, int], Floats] = {}
        """What readers have made of an array, by what it is and the accessor: made once, too."""

    def floats(self, index: int, components: int, where: str) -> Floats:
        """(N, components) float64, read-only; integers that stand for -1 to 1 or 0 to 1 as those.

        Raises:
            FormatError: no such accessor, another type, outside its buffer, NaN or infinite, more numbers than all
                accessors may have; ``where`` names the caller.
        """
        known = self._read.get(index)
        if known is not None and known.shape[1] == components:
            return known
        if index >= len(self._file.accessors):
            raise FormatError(f"expected one of {len(self._file.accessors)} accessors, found {index}", path=where)
        accessor = self._file.accessors[index]
        path = f"accessors[{index}]"
        if _COMPONENTS.get(accessor.type) != components or accessor.component_type not in _TYPES:
            found = f"{quote(accessor.type)} of {accessor.component_type}"
            raise FormatError(f"expected {components} components each, found {found}", path=path)
        self._room -= accessor.count * components
        if self._room < 0:
            found = f"expected fewer numbers than the file has bytes, found {accessor.count * components:,} more"
            raise FormatError(found, path=f"{path}.count")
        values = self._plain(accessor, components, path)
        if accessor.sparse is not None:
            values = self._replaced(values, accessor, components, path)
        result = np.array(values, dtype=np.float64)
        if accessor.normalized and values.dtype.kind in "iu":
            result = np.maximum(result / np.iinfo(values.dtype).max, -1.0)
        if not bool(np.isfinite(result).all()):
            raise FormatError("expected finite numbers, found NaN or infinity", path=path)
        self._read[index] = handed_over(result)
        return result

    def _plain(self, accessor: Accessor, components: int, path: str) -> NDArray[Any]:
        kind = np.dtype(_TYPES[accessor.component_type])
        if accessor.buffer_view is None:
            return np.zeros((accessor.count, components), dtype=kind)
        return self._view(accessor.buffer_view, accessor.byte_offset, (accessor.count, components), kind, path)

    def _view(self, index: int, offset: int, shape: tuple[int, int], kind: np.dtype[Any], path: str) -> NDArray[Any]:
        """An array (count, components) that begins so many bytes into a buffer view."""
        if index >= len(self._file.buffer_views):
            raise FormatError(f"expected one of {len(self._file.buffer_views)} buffer views, found {index}", path=path)
        view = self._file.buffer_views[index]
        if view.buffer >= len(self._buffers):
            found = f"expected one of {len(self._buffers)} buffers, found {view.buffer}"
            raise FormatError(found, path=f"bufferViews[{index}]")
        row = shape[1] * kind.itemsize
        stride = view.byte_stride or row
        end = offset + (stride * (shape[0] - 1) + row if shape[0] else 0)
        data = self._buffers[view.buffer]
        if stride < row or end > view.byte_length or view.byte_offset + view.byte_length > len(data):
            raise FormatError("expected its numbers within its buffer, found them beyond", path=path)
        start = view.byte_offset + offset
        return np.ndarray(shape, kind, data, start, (stride, kind.itemsize))

    def _replaced(self, values: NDArray[Any], accessor: Accessor, components: int, path: str) -> NDArray[Any]:
        sparse = accessor.sparse
        assert sparse is not None
        if sparse.indices.component_type not in (5121, 5123, 5125):
            raise FormatError("expected whole numbers as indices", path=f"{path}.sparse.indices")
        kind = np.dtype(_TYPES[sparse.indices.component_type])
        where = f"{path}.sparse"
        rows = self._view(sparse.indices.buffer_view, sparse.indices.byte_offset, (sparse.count, 1), kind, where)[:, 0]
        if rows.size and int(rows.max()) >= len(values):
            raise FormatError(f"expected indices below {len(values)}, found {rows.max()}", path=where)
        new = self._view(
            sparse.values.buffer_view, sparse.values.byte_offset, (sparse.count, components), values.dtype, where
        )
        result = values.copy()
        result[rows] = new
        return result
