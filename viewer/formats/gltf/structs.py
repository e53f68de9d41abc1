"""The parts of a glTF 2.0 file that skeletons and motion need, as data types; everything else in it is skipped.

`File` is what is read. `Written` is what is written: the same parts, with a mesh that shows the bones.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, field

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
