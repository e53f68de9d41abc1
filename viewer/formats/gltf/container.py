"""A glTF file: JSON and buffers in both forms (text, binary), its parts as data types, and its accessors' arrays."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Generic, TypeAlias, TypeVar
from urllib.parse import unquote

import msgspec
import numpy as np
from msgspec import Meta, field
from numpy.typing import NDArray

from viewer.errors import FormatError, at_path, of_file, plural, quote, shown
from viewer.formats.bounds import FREE_NUMBERS
from viewer.formats.files import decode_utf8, read_bytes
from viewer.formats.json_reading import decode_typed
from viewer.spatial.checks import Floats, handed_over

P = TypeVar("P")

Index = Annotated[int, Meta(ge=0, le=1 << 53)]
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Matrix = Annotated[list[float], Meta(min_length=16, max_length=16)]

MARK = "ikviewer"
"""The key in a node's extras that says, in files that ikviewer wrote, what an ambiguous node is."""

LARGEST_FILE = 1 << 31
"""Most bytes of a file, and of all its buffers together: 2 GiB."""

MAGIC = b"glTF"
"""First bytes of a GLB file."""
JSON_CHUNK, BIN_CHUNK = 0x4E4F534A, 0x004E4942
"""Kinds of the chunks of a GLB file."""
_LIGHTS = "KHR_lights_punctual"
DRACO = "KHR_draco_mesh_compression"
MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")
_KNOWN = {"KHR_mesh_quantization", "KHR_lights_punctual", DRACO, *MESHOPT}
_KNOWN_KINDS = ("KHR_texture_", "EXT_texture_", "KHR_materials_")
"""Extensions that a file may require, by name or its beginning: without them the joints can be read all the same."""

_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_COMPONENTS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class _Part(msgspec.Struct, rename="camel", omit_defaults=True):
    """Keys are those of glTF; fields with their default value are not written."""


class Asset(_Part):
    """Version of the format, and the program that wrote the file."""

    version: str
    generator: Any = None


class Buffer(_Part):
    """Bytes: inside the JSON, in a file beside it, or in the GLB's binary chunk."""

    byte_length: Index
    uri: str | None = None
    extensions: Any = None


class BufferView(_Part):
    """A range of a buffer."""

    buffer: Index
    byte_length: Index
    byte_offset: Index = 0
    byte_stride: Annotated[int, Meta(ge=4, le=252)] | None = None
    target: Any = None
    extensions: Any = None


class SparseIndices(_Part):
    """Indices of the elements that a sparse accessor replaces."""

    buffer_view: Index
    component_type: Index
    byte_offset: Index = 0


class SparseValues(_Part):
    """The values that replace them."""

    buffer_view: Index
    byte_offset: Index = 0


class Sparse(_Part):
    """Elements of an accessor that are replaced."""

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
    """A node of the scene's tree, with its transform."""

    name: str = ""
    children: list[Index] = []
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)
    scale: Vector = (1.0, 1.0, 1.0)
    matrix: Matrix | None = None
    mesh: Index | None = None
    skin: Index | None = None
    camera: Index | None = None
    weights: list[float] | None = None
    extensions: Any = None
    extras: Any = None

    @property
    def is_light(self) -> bool:
        """Whether there is a lamp in it."""
        return isinstance(self.extensions, dict) and _LIGHTS in self.extensions

    @property
    def mark(self) -> str | None:
        """What this node is according to ikviewer, which wrote the file; else None."""
        return self.extras.get(MARK) if isinstance(self.extras, dict) else None


class Skin(_Part):
    """The joints of a mesh."""

    joints: list[Index]
    name: str = ""
    skeleton: Any = None
    inverse_bind_matrices: Any = None


class Target(_Part):
    """The property of a node that a channel moves."""

    path: str
    node: Index | None = None


class Channel(_Part):
    """A sampler and the property that it moves."""

    sampler: Index
    target: Target


class Sampler(_Part):
    """Values at times, and how to interpolate them."""

    input: Index
    output: Index
    interpolation: str = "LINEAR"


class Animation(_Part):
    """A clip: channels and their samplers."""

    channels: list[Channel]
    samplers: list[Sampler]
    name: str = ""


class Scene(_Part):
    """The top nodes of a scene."""

    nodes: list[Index] = []


class _Versioned(msgspec.Struct):
    asset: dict[str, Any]


class Document(_Part, Generic[P]):
    """A glTF file: what is about meshes is read on demand (`File`), or written as it is (`Written`)."""

    asset: Asset
    scene: Index | None = None
    scenes: list[Scene] = []
    nodes: list[Node] = []
    skins: list[Skin] = []
    meshes: list[P] = []
    materials: list[P] = []
    textures: list[P] = []
    images: list[P] = []
    samplers: list[P] = []
    extensions_used: list[str] = []
    extensions_required: list[str] = []
    animations: list[Animation] = []
    accessors: list[Accessor] = []
    buffer_views: list[BufferView] = field(default_factory=list)
    buffers: list[Buffer] = []
    cameras: list[P] = []

    def counts(self) -> dict[str, int]:
        """How many parts there are that a skeleton cannot hold, by the word for one of them."""
        words = ("mesh", "skin", "material", "texture", "image")
        parts: tuple[Sequence[object], ...] = self.meshes, self.skins, self.materials, self.textures, self.images
        return dict(zip(words, map(len, parts), strict=True))


File: TypeAlias = Document[msgspec.Raw]
Written: TypeAlias = Document[Any]


def counted(counts: Mapping[str, int]) -> tuple[str, ...]:
    """Counts in words, such as "2 meshes"; counts of 0 are left out."""
    return tuple(plural(count, word) for word, count in counts.items() if count)


def with_views(accessor: Accessor, view: Callable[[int], int]) -> Accessor:
    """An accessor with other indices of its buffer views."""
    replace = msgspec.structs.replace
    made = replace(accessor)
    if made.buffer_view is not None:
        made.buffer_view = view(made.buffer_view)
    if made.sparse is not None:
        indices, values = made.sparse.indices, made.sparse.values
        indices = replace(indices, buffer_view=view(indices.buffer_view))
        made.sparse = replace(
            made.sparse, indices=indices, values=replace(values, buffer_view=view(values.buffer_view))
        )
    return made


def with_accessors(primitive: Mapping[str, Any], accessor: Callable[[int], int]) -> dict[str, Any]:
    """A primitive with other indices of its accessors."""
    made = dict(primitive)
    made["attributes"] = {name: accessor(index) for name, index in primitive["attributes"].items()}
    if "indices" in made:
        made["indices"] = accessor(made["indices"])
    if "targets" in made:
        made["targets"] = [{name: accessor(index) for name, index in target.items()} for target in made["targets"]]
    return made


class CompressedError(FormatError):
    """An array is compressed in a way that cannot be read."""


def open_gltf(path: Path, name: str) -> tuple[File, list[bytes]]:
    """The data of a glTF 2.0 file that requires no unknown extension, and the bytes of all its buffers."""
    data = read_bytes(path, name, LARGEST_FILE)
    with of_file(name):
        if not data:
            raise FormatError("the file is empty; expected glTF")
        text, chunk = _glb(data) if data[:4] == MAGIC else (data, None)
        file = _parsed(decode_utf8(text, name))
        return file, _buffers(file, chunk, path)


def _glb(data: bytes) -> tuple[bytes, bytes | None]:
    """The JSON chunk and the binary one."""
    if len(data) < 20:
        raise FormatError("expected a GLB header, found the end of the file")
    version, length = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise FormatError(f"expected GLB version 2, found {version}")
    if length > len(data):
        raise FormatError(f"expected {length:,} bytes, found {len(data):,}: the file was cut off")
    chunks: dict[int, bytes] = {}
    place = 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", data, place)
        if place + 8 + size > length:
            raise FormatError("expected whole chunks, found one that is longer than the file")
        chunks.setdefault(kind, data[place + 8 : place + 8 + size])
        place += 8 + size
    if JSON_CHUNK not in chunks:
        raise FormatError("expected a JSON chunk, found none")
    return chunks[JSON_CHUNK], chunks.get(BIN_CHUNK)


def _parsed(text: str) -> File:
    try:
        file = decode_typed(text, File)
    except FormatError:
        _check_version(_version_of(text))  # everything in glTF 1.0 is different: report its version
        raise
    _check_version(file.asset.version)
    wanted = file.extensions_required
    missing = [each for each in wanted if each not in _KNOWN and not each.startswith(_KNOWN_KINDS)]
    if missing:
        raise FormatError(f"needs {shown(missing[0])}, which is not supported", path="extensionsRequired")
    return file


def _version_of(text: str) -> str:
    """The version that a file with errors states; 2.0 if it states none."""
    try:
        return str(msgspec.json.decode(text, type=_Versioned).asset.get("version", "2.0"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return "2.0"


def _check_version(version: str) -> None:
    if not version.startswith("2."):
        raise FormatError(f"expected 2.0, found {quote(version)}", path="asset.version")


def _buffers(file: File, chunk: bytes | None, path: Path) -> list[bytes]:
    """The bytes of all buffers; a file that several of them refer to is read once."""
    by_uri: dict[str | None, bytes] = {}
    buffers: list[bytes] = []
    room = LARGEST_FILE
    for index, buffer in enumerate(file.buffers):
        where = f"buffers[{index}]"
        if buffer.uri is None and _is_compressed(buffer):
            buffers.append(b"")  # a buffer that only a decoder would fill
            continue
        if buffer.uri is None:
            if index or chunk is None:
                raise FormatError("expected a uri or the binary chunk, found neither", path=where)
            by_uri[None] = chunk
        elif buffer.uri not in by_uri:
            by_uri[buffer.uri] = uri_bytes(buffer.uri, path, where, room)
            room -= len(by_uri[buffer.uri])
        data = by_uri[buffer.uri]
        if len(data) < buffer.byte_length:
            raise FormatError(f"expected {buffer.byte_length:,} bytes, found {len(data):,}", path=where)
        buffers.append(data)
    return buffers


def _is_compressed(part: Buffer | BufferView) -> bool:
    return isinstance(part.extensions, dict) and any(name in part.extensions for name in MESHOPT)


def _inline(uri: str, where: str) -> bytes:
    head, _, body = uri.partition(",")
    if not head.endswith(";base64"):
        raise FormatError("expected base64 data", path=f"{where}.uri")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:  # binascii.Error, or the error for characters beyond ASCII
        raise FormatError(f"expected base64 data: {error}", path=f"{where}.uri") from error


def _beside(uri: str, path: Path, where: str, largest: int) -> bytes:
    """The bytes of a file in the same folder or below it; nothing outside is opened, and nothing is downloaded."""
    relative = unquote(uri)
    parts = relative.replace("\\", "/").split("/")
    if ":" in relative or relative.startswith(("/", "\\")) or ".." in parts or "\0" in relative:
        raise FormatError(f"expected a file beside this one, found {quote(uri)}", path=f"{where}.uri")
    with at_path(f"{where}.uri"):
        return read_bytes(path.parent.joinpath(*parts), shown(relative), largest)


def uri_bytes(uri: str, path: Path, where: str, largest: int) -> bytes:
    """The bytes of base64 data, or of a file beside ``path`` or below it; ``where`` is the path in messages."""
    return _inline(uri, where) if uri.startswith("data:") else _beside(uri, path, where, largest)


def view_bytes(file: File, buffers: list[bytes], index: int, where: str) -> memoryview:
    """The bytes of a buffer view; ``where`` is the path of its index in messages."""
    if index >= len(file.buffer_views):
        raise FormatError(f"expected one of {len(file.buffer_views)} buffer views, found {index}", path=where)
    view, path = file.buffer_views[index], f"bufferViews[{index}]"
    if view.buffer >= len(buffers):
        raise FormatError(f"expected one of {len(buffers)} buffers, found {view.buffer}", path=path)
    data = memoryview(buffers[view.buffer])
    if not data and _is_compressed(view):
        raise CompressedError(f"it needs {MESHOPT[0]}, which is not supported", path=where)
    if view.byte_offset + view.byte_length > len(data):
        raise FormatError("expected bytes within its buffer, found them beyond", path=path)
    return data[view.byte_offset : view.byte_offset + view.byte_length]


class Accessors:
    """Reads each array once and checks every index against the file.

    Arrays that share bytes, or have none, could be stated without limit. Together they may have one number for each
    byte of the buffers, which arrays of their own bytes never reach, or `FREE_NUMBERS`.

    Attributes:
        made: arrays that callers have computed from an accessor, by purpose and index, so that each is computed once.
    """

    def __init__(self, file: File, buffers: list[bytes]) -> None:
        """The parts and the buffers of a file, as `open_gltf` returns them."""
        self._file, self._buffers = file, buffers
        self._room = max(FREE_NUMBERS, sum(len(data) for data in {id(data): data for data in buffers}.values()))
        self._read: dict[int, Floats] = {}
        self.made: dict[tuple[str, int], Floats] = {}

    def floats(self, index: int, components: int, where: str) -> Floats:
        """(N, components) float64, read-only; normalised integers become numbers from -1 or 0 to 1.

        NaN, infinity and more numbers than all accessors may have are refused; ``where`` is the path of the index in
        messages.
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
        if accessor.count * components > self._room:
            found = f"expected fewer numbers than the file has bytes, found {accessor.count * components:,} more"
            raise FormatError(found, path=f"{path}.count")
        self._room -= accessor.count * components
        shape, kind = (accessor.count, components), np.dtype(_TYPES[accessor.component_type])
        view, offset = accessor.buffer_view, accessor.byte_offset
        values = np.zeros(shape, kind) if view is None else self._view(view, offset, shape, kind, path)
        if accessor.sparse is not None:
            values = self._replaced(values, accessor, components, path)
        result = np.array(values, dtype=np.float64)
        if accessor.normalized and values.dtype.kind in "iu":
            result = np.maximum(result / np.iinfo(values.dtype).max, -1.0)
        if not bool(np.isfinite(result).all()):
            raise FormatError("expected finite numbers, found NaN or infinity", path=path)
        self._read[index] = handed_over(result)
        return result

    def _view(self, index: int, offset: int, shape: tuple[int, int], kind: np.dtype[Any], path: str) -> NDArray[Any]:
        """An array (count, components) that begins ``offset`` bytes into a buffer view."""
        data = view_bytes(self._file, self._buffers, index, path)
        row = shape[1] * kind.itemsize
        stride = self._file.buffer_views[index].byte_stride or row
        if stride < row or offset + (stride * (shape[0] - 1) + row if shape[0] else 0) > len(data):
            raise FormatError("expected its numbers within its buffer view, found them beyond", path=path)
        return np.ndarray(shape, kind, data, offset, (stride, kind.itemsize))

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
