"""The parts of a glTF file that its meshes are made of, kept as they are, and written again."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from viewer.errors import FormatError
from viewer.formats.gltf.container import Accessor, BufferView, File, view_bytes
from viewer.formats.gltf.materials import check_picture

_UNSEEN = ("KHR_mesh_quantization",)
"""Extensions that no part names, although parts may need them."""


_WHITE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTj2FAAAAABJRU5ErkJggg=="
)
"""A PNG file of one white pixel, in the place of pictures whose bytes are not there."""


class Instance(NamedTuple):
    """A node with a mesh.

    Attributes:
        name: of the node, or of the mesh.
        mesh: its index.
        bindings: the bindings that its vertices use, in the order of the file's skin.
        skinned: it follows joints by weight; if not, its only binding is where it is.
        skin: name of the skin.
        weights: of morph targets at rest, if the node states them.
    """

    name: str
    mesh: int
    bindings: range
    skinned: bool
    skin: str
    weights: list[float] | None


class Parts(NamedTuple):
    """Meshes and what they wear, with indices into the lists here.

    Attributes:
        instances: the nodes with a mesh.
        meshes, materials, textures, images, samplers: as in the file's JSON.
        accessors: with indices into ``views``.
        views: with their bytes.
        used, required: names of extensions.
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

    Materials, textures and images are kept whole with their extensions; pictures in files beside are taken in.

    Args:
        file: the file's parts.
        buffers: the bytes of its buffers.
        instances: the nodes; they keep the file's indices here, not in the result.
        image_bytes: the bytes of an image by index, which raises FormatError.

    Raises:
        FormatError: an index out of range.
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
        kept["attributes"] = {name: self._accessor(index) for name, index in primitive["attributes"].items()}
        if "indices" in kept:
            kept["indices"] = self._accessor(kept["indices"])
        if "targets" in kept:
            kept["targets"] = [{name: self._accessor(i) for name, i in target.items()} for target in kept["targets"]]
        return kept

    def _accessor(self, index: int) -> int:
        if index not in self._accessors:
            if index >= len(self._file.accessors):
                raise FormatError(f"expected one of {len(self._file.accessors)} accessors, found {index}")
            copy = msgspec.structs.replace(self._file.accessors[index])
            if copy.buffer_view is not None:
                copy.buffer_view = self._view(copy.buffer_view)
            if copy.sparse is not None:
                copy.sparse = msgspec.structs.replace(
                    copy.sparse,
                    indices=msgspec.structs.replace(
                        copy.sparse.indices, buffer_view=self._view(copy.sparse.indices.buffer_view)
                    ),
                    values=msgspec.structs.replace(
                        copy.sparse.values, buffer_view=self._view(copy.sparse.values.buffer_view)
                    ),
                )
            self._accessors[index] = len(self.accessors)
            self.accessors.append(copy)
        return self._accessors[index]

    def _view(self, index: int) -> int:
        if index not in self._views:
            data = view_bytes(self._file, self._buffers, index, "accessors")
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
