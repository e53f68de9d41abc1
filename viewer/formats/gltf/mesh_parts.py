"""The parts of a glTF file that its meshes are made of, kept as they are and written again; the look of meshes."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.errors import FormatError, quote
from viewer.formats.gltf.container import (
    Accessor,
    BufferView,
    File,
    Index,
    uri_bytes,
    view_bytes,
    with_accessors,
    with_views,
)
from viewer.formats.json_reading import decode_typed
from viewer.skeleton.attached import Alpha, Material, Picture, Wrap

_UNSEEN = ("KHR_mesh_quantization",)
"""Extensions that no part names, although parts may need them."""

_WHITE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
)
"""A PNG file of one white pixel, in the place of pictures whose bytes are not there."""

MOST_PIXELS = 1 << 26
"""Pixels of a picture, 8192 x 8192."""
MOST_SIDE = 16384
"""Pixels along a side of a picture, which graphics cards can hold."""
_MOST = f"{MOST_SIDE:,} pixels along a side and {MOST_PIXELS:,} in all"
_KINDS = ("PNG", "JPEG", "WEBP")
_WRAPS: dict[int, Wrap] = {33071: "clamp", 33648: "mirror", 10497: "repeat"}
_LARGEST_PICTURE = 1 << 28

Part = TypeVar("Part")


class Instance(NamedTuple):
    """A node with a mesh.

    Attributes:
        name: of the node, or of the mesh.
        bindings: the bindings that its vertices use, in the order of the file's skin.
        skinned: it follows joints by weight; if not, its only binding is where it is.
        weights: of morph targets at rest, if the node states them.
    """

    name: str
    mesh: int
    bindings: range
    skinned: bool
    skin: str
    weights: list[float] | None


class Parts(NamedTuple):
    """Meshes and what they wear as in the file's JSON, with indices into the lists here.

    Accessors have indices into ``views``, which have their bytes; ``used`` and ``required`` are names of extensions.
    """

    instances: tuple[Instance, ...]
    meshes: list[Any]
    materials: list[Any]
    textures: list[Any]
    images: list[Any]
    samplers: list[Any]
    accessors: list[Accessor]
    views: list[tuple[BufferView, bytes]]
    used: list[str]
    required: list[str]


def keep(file: File, buffers: list[bytes], instances: Sequence[Instance], image_bytes: Callable[[int], bytes]) -> Parts:
    """The parts that some nodes with a mesh are made of.

    Materials, textures and images are kept whole with their extensions; pictures in files beside are taken in. The
    nodes keep the file's indices here, not in the result.
    """
    try:
        keeper = _Keeper(file, buffers)
        chosen = sorted({each.mesh for each in instances})
        place = {mesh: index for index, mesh in enumerate(chosen)}
        meshes = [keeper.mesh(msgspec.json.decode(file.meshes[mesh])) for mesh in chosen]
        images = [keeper.image(index, image_bytes) for index in range(len(file.images))]
        materials, textures, samplers = (
            [msgspec.json.decode(raw) for raw in raws] for raws in (file.materials, file.textures, file.samplers)
        )
        text = msgspec.json.encode([meshes, materials, textures, images, samplers])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise FormatError(f"expected JSON that is not nested so deeply: {error}") from error
    used = [name for name in file.extensions_used if f'"{name}"'.encode() in text or name in _UNSEEN]
    return Parts(
        instances=tuple(each._replace(mesh=place[each.mesh]) for each in instances),
        meshes=meshes,
        materials=materials,
        textures=textures,
        images=images,
        samplers=samplers,
        accessors=keeper.accessors,
        views=keeper.views,
        used=used,
        required=[name for name in file.extensions_required if name in used],
    )


class _Keeper:
    """Gives accessors and buffer views new indices, in the order in which they are met."""

    def __init__(self, file: File, buffers: list[bytes]) -> None:
        self.accessors: list[Accessor] = []
        self.views: list[tuple[BufferView, bytes]] = []
        self._file, self._buffers = file, buffers
        self._accessors: dict[int, int] = {}
        self._views: dict[int, int] = {}

    def mesh(self, mesh: dict[str, Any]) -> dict[str, Any]:
        """A mesh; extensions of its primitives refer to other parts of the file and are dropped."""
        kept = {key: value for key, value in mesh.items() if key != "extensions"}
        kept["primitives"] = [self._primitive(each) for each in mesh["primitives"]]
        return kept

    def _primitive(self, primitive: dict[str, Any]) -> dict[str, Any]:
        kept = {key: value for key, value in primitive.items() if key != "extensions" and value is not None}
        return with_accessors(kept, self._accessor)

    def _accessor(self, index: int) -> int:
        if index not in self._accessors:
            if index >= len(self._file.accessors):
                raise FormatError(f"expected one of {len(self._file.accessors)} accessors, found {index}")
            copy = with_views(self._file.accessors[index], self._view)
            self._accessors[index] = len(self.accessors)
            self.accessors.append(copy)
        return self._accessors[index]

    def _view(self, index: int) -> int:
        if index not in self._views:
            data = bytes(view_bytes(self._file, self._buffers, index, "accessors"))
            view = self._file.buffer_views[index]
            self._views[index] = len(self.views)
            self.views.append((BufferView(0, len(data), byte_stride=view.byte_stride, target=view.target), data))
        return self._views[index]

    def image(self, index: int, image_bytes: Callable[[int], bytes]) -> dict[str, Any]:
        """An image in its own buffer view; one that cannot be read keeps its uri."""
        stated = msgspec.json.decode(self._file.images[index])
        kept: dict[str, Any] = stated if isinstance(stated, dict) else {"bufferView": None}
        try:
            data = image_bytes(index)
            kind = check_picture(data, f"images[{index}]")
        except FormatError:
            if isinstance(kept.get("uri"), str):
                return kept
            try:
                data, kind = image_bytes(index), str(kept.get("mimeType", "image/png"))
            except FormatError:
                data, kind = _WHITE, "image/png"
        kept.pop("uri", None)
        kept |= {"bufferView": len(self.views), "mimeType": kind}
        self.views.append((BufferView(0, len(data)), data))
        return kept


class TextureInfo(msgspec.Struct, rename="camel"):
    """A material's use of a texture."""

    index: Index
    tex_coord: Index = 0
    extensions: Any = None


class Metallic(msgspec.Struct, rename="camel"):
    """The base colour; linear."""

    base_color_factor: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    base_color_texture: TextureInfo | None = None


class MaterialData(msgspec.Struct, rename="camel"):
    """A material."""

    pbr_metallic_roughness: Metallic = msgspec.field(default_factory=Metallic)
    alpha_mode: Literal["OPAQUE", "MASK", "BLEND"] = "OPAQUE"
    alpha_cutoff: float = 0.5
    double_sided: bool = False


class TextureData(msgspec.Struct, rename="camel"):
    """A texture: an image, and how it repeats beyond its edges."""

    source: Index | None = None
    sampler: Index | None = None
    extensions: Any = None


class ImageData(msgspec.Struct, rename="camel"):
    """A picture in a buffer, inside the JSON or in a file beside it."""

    uri: str | None = None
    buffer_view: Index | None = None
    mime_type: str | None = None


class SamplerData(msgspec.Struct, rename="camel"):
    """How a texture repeats beyond its edges."""

    wrap_s: int = 10497
    wrap_t: int = 10497


def part(kept: list[msgspec.Raw], index: int, kind: type[Part], what: str) -> Part:
    """A part of the file by its index; ``what`` is its key in the file."""
    if index >= len(kept):
        raise FormatError(f"expected one of {len(kept)} {what}, found {index}", path=what)
    try:
        return decode_typed(bytes(kept[index]).decode(), kind)
    except FormatError as error:
        path = f"{what}[{index}]" + (f".{error.path}" if error.path else "")
        raise FormatError(error.problem, path=path) from error


def displayed(linear: NDArray[Any]) -> NDArray[Any]:
    """Linear values in 0 .. 1 as displays show them (sRGB, IEC 61966-2-1)."""
    values = np.clip(np.asarray(linear, dtype=np.float64), 0.0, 1.0)
    return np.where(values <= 0.0031308, 12.92 * values, 1.055 * values ** (1.0 / 2.4) - 0.055)


def linear(shown: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `displayed`."""
    values = np.clip(np.asarray(shown, dtype=np.float64), 0.0, 1.0)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


class Materials:
    """Reads each material and picture once; ``warnings`` have a line for each picture that cannot be shown."""

    def __init__(self, file: File, buffers: list[bytes], path: Path) -> None:
        """``path`` is the file's, beside which pictures may be."""
        self.warnings: list[str] = []
        self._file, self._buffers, self._path = file, buffers, path
        self._known: dict[int, tuple[Material, TextureInfo | None]] = {}
        self._pictures: dict[int, Picture | None] = {}
        self._bytes: dict[int, bytes] = {}

    def material(self, index: int | None) -> tuple[Material, TextureInfo | None]:
        """A material, white for None, and how it uses the picture of its base colour."""
        if index is None:
            return Material(), None
        if index not in self._known:
            self._known[index] = self._read(part(self._file.materials, index, MaterialData, "materials"))
        return self._known[index]

    def _read(self, data: MaterialData) -> tuple[Material, TextureInfo | None]:
        metallic = data.pbr_metallic_roughness
        *rgb, alpha = metallic.base_color_factor
        red, green, blue = displayed(np.array(rgb)).tolist()
        use = metallic.base_color_texture
        picture = None if use is None else self._texture(use.index)
        kind: Alpha = {"OPAQUE": "opaque", "MASK": "mask", "BLEND": "blend"}[data.alpha_mode]  # type: ignore[assignment]
        colour = (red, green, blue, min(max(alpha, 0.0), 1.0))
        return Material(colour, picture, kind, data.alpha_cutoff, data.double_sided), use if picture else None

    def _texture(self, index: int) -> Picture | None:
        """The picture of a texture; None, with a warning, if it cannot be shown."""
        if index not in self._pictures:
            try:
                self._pictures[index] = self._picture(index)
            except FormatError as error:
                error.file = None
                self._pictures[index] = None
                self.warnings.append(f"a texture is not shown: {error}")
        return self._pictures[index]

    def _picture(self, index: int) -> Picture:
        texture = part(self._file.textures, index, TextureData, "textures")
        source = texture.source
        more = texture.extensions if isinstance(texture.extensions, dict) else {}
        webp = more.get("EXT_texture_webp")
        if isinstance(webp, dict) and isinstance(webp.get("source"), int) and webp["source"] >= 0:
            source = webp["source"]
        if source is None:
            needs = f"it needs {next(iter(more))}, which is not supported" if more else "expected an image, found none"
            raise FormatError(needs, path=f"textures[{index}]")
        wrap = SamplerData()
        if texture.sampler is not None:
            wrap = part(self._file.samplers, texture.sampler, SamplerData, "samplers")
        if source not in self._bytes:
            self._bytes[source] = self.image(source)
            check_picture(self._bytes[source], f"images[{source}]")
        sides = (_WRAPS.get(wrap.wrap_s, "repeat"), _WRAPS.get(wrap.wrap_t, "repeat"))
        return Picture(self._bytes[source], sides)

    def image(self, index: int) -> bytes:
        """The bytes of an image."""
        data = part(self._file.images, index, ImageData, "images")
        if data.buffer_view is not None:
            return bytes(view_bytes(self._file, self._buffers, data.buffer_view, f"images[{index}]"))
        if data.uri is None:
            raise FormatError("expected a uri or a buffer view, found neither", path=f"images[{index}]")
        return uri_bytes(data.uri, self._path, f"images[{index}]", _LARGEST_PICTURE)


def check_picture(data: bytes, where: str) -> str:
    """The kind of a picture, by its first bytes, such as "image/png"; damaged and too large ones are refused."""
    from PIL import Image  # noqa: PLC0415 - only files with pictures need it

    try:
        # Pillow warns about pictures so large that they may be an attack; the check below bounds them.
        with warnings.catch_warnings(), Image.open(io.BytesIO(data), formats=_KINDS) as picture:
            warnings.simplefilter("ignore")
            width, height = picture.size
            kind = str(picture.format)
            fits = width * height <= MOST_PIXELS and max(width, height) <= MOST_SIDE
            if fits:
                picture.verify()
    except Image.DecompressionBombError as error:
        raise FormatError(f"expected at most {_MOST}, found more", path=where) from error
    except Exception as error:
        raise FormatError("expected a PNG, JPEG or WebP picture, found something else", path=where) from error
    if not fits:
        raise FormatError(f"expected at most {_MOST}, found {width:,} x {height:,}", path=where)
    return f"image/{kind.lower()}"


def transform_of(use: TextureInfo) -> tuple[int, NDArray[Any]]:
    """The set of texture coordinates that a material uses, and its (2, 3) transform (KHR_texture_transform)."""
    stated = use.extensions.get("KHR_texture_transform") if isinstance(use.extensions, dict) else None
    if not isinstance(stated, dict):
        return use.tex_coord, np.eye(2, 3)
    try:
        (x, y), (wide, high) = stated.get("offset", (0.0, 0.0)), stated.get("scale", (1.0, 1.0))
        turn, which = float(stated.get("rotation", 0.0)), int(stated.get("texCoord", use.tex_coord))
        c, s = np.cos(turn), np.sin(turn)
        matrix = np.array([[c * wide, s * high, x], [-s * wide, c * high, y]], dtype=np.float64)
    except (TypeError, ValueError) as error:
        found = quote(str(stated)[:80])
        raise FormatError(f"expected numbers in KHR_texture_transform, found {found}", path="materials") from error
    if not np.isfinite(matrix).all():
        raise FormatError("expected finite numbers in KHR_texture_transform", path="materials")
    return which, matrix
