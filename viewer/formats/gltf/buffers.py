"""Arrays of a glTF file that is written, in one buffer with their accessors; triangles and their look."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from viewer.formats.gltf import container
from viewer.spatial.checks import Floats

_SHAPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_TYPES = {"|u1": 5121, "<u2": 5123, "<f4": 5126}
_VERTICES = 34962
"""`BufferView.target` of attributes of vertices, by its name in OpenGL: ARRAY_BUFFER."""


class BufferWriter:
    """Collects arrays and hands out the indices of their accessors."""

    def __init__(self) -> None:
        """Begin without arrays."""
        self.views: list[container.BufferView] = []
        self.accessors: list[container.Accessor] = []
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def data(self) -> bytes:
        """All arrays."""
        return b"".join(self._parts)

    def add(self, array: NDArray[Any], *, vertices: bool = False, bounds: bool = False) -> int:
        """Append an array.

        Args:
            array: (N,), (N, 3), (N, 4) or (N, 4, 4) in memory order; float32, uint8 or uint16.
            vertices: it is an attribute of vertices.
            bounds: state its smallest and largest values, which glTF requires of positions and times.

        Returns:
            The index of its accessor.
        """
        values = np.ascontiguousarray(array)
        data = values.tobytes()
        self.views.append(
            container.BufferView(
                buffer=0,
                byte_offset=self._length,
                byte_length=len(data),
                target=_VERTICES if vertices else None,
            )
        )
        padded = data + b"\0" * (-len(data) % 4)
        self._parts.append(padded)
        self._length += len(padded)
        accessor = container.Accessor(
            buffer_view=len(self.views) - 1,
            component_type=_TYPES[values.dtype.newbyteorder("<").str],
            count=len(values),
            type=_SHAPES[values.shape[1:]],
        )
        if bounds:
            accessor.min = np.atleast_1d(values.min(axis=0)).tolist()
            accessor.max = np.atleast_1d(values.max(axis=0)).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def add_view(self, view: container.BufferView, data: bytes) -> int:
        """Append bytes as a buffer view like ``view``; its index."""
        made = msgspec.structs.replace(view, buffer=0, byte_offset=self._length, byte_length=len(data))
        self.views.append(made)
        padded = data + b"\0" * (-len(data) % 4)
        self._parts.append(padded)
        self._length += len(padded)
        return len(self.views) - 1


def primitive(
    buffer: BufferWriter,
    corners: Floats,
    normals: Floats,
    influences: tuple[NDArray[Any], NDArray[Any]] | None,
    material: int,
) -> container.Primitive:
    """Triangles, three corners (V, 3) and normals each, without an index.

    Args:
        buffer: takes the arrays.
        corners: metres.
        normals: of any length but 0.
        influences: (V, 4) indices of a skin's joints, and their weights; None: the triangles are rigid.
        material: its index.
    """
    attributes = container.Attributes(
        position=buffer.add(corners.astype("<f4"), vertices=True, bounds=True),
        normal=buffer.add(_unit32(normals), vertices=True),
    )
    if influences is not None:
        attributes.joints_0, attributes.weights_0 = (buffer.add(each, vertices=True) for each in influences)
    return container.Primitive(attributes=attributes, material=material)


def _unit32(vectors: Floats) -> Floats:
    """Vectors as 32-bit numbers of unit length."""
    short = vectors.astype("<f4")
    return np.asarray(short / np.linalg.norm(short, axis=-1, keepdims=True), dtype="<f4")


def material(name: str, colour: list[float]) -> container.Material:
    """A rough surface of a linear colour."""
    rough = container.Roughness(base_color_factor=colour, metallic_factor=0.0, roughness_factor=0.8)
    return container.Material(name=name, pbr_metallic_roughness=rough)
