"""The binary part of a glTF file: arrays one after the other, each with its accessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.formats.gltf.structs import Accessor, BufferView

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SHAPES = {(): "SCALAR", (3,): "VEC3", (4,): "VEC4", (4, 4): "MAT4"}
_TYPES = {"|u1": 5121, "<u2": 5123, "<f4": 5126}
_VERTICES = 34962
"""`BufferView.target` of attributes of vertices, by its name in OpenGL: ARRAY_BUFFER."""


class BufferWriter:
    """Collects arrays and hands out the indices of their accessors."""

    def __init__(self) -> None:
        """Empty."""
        self.views: list[BufferView] = []
        self.accessors: list[Accessor] = []
        self._parts: list[bytes] = []
        self._length = 0

    @property
    def data(self) -> bytes:
        """All arrays."""
        return b"".join(self._parts)

    def add(self, array: NDArray[Any], *, vertices: bool = False, bounds: bool = False, whole: bool = False) -> int:
        """Put an array in.

        Args:
            array: (N,), (N, 3), (N, 4) or (N, 4, 4) in memory order; float32, uint8 or uint16.
            vertices: it is an attribute of vertices.
            bounds: its least and largest values are stated, as glTF wants of places and times.
            whole: its integers stand for 0 to 1.

        Returns:
            The index of its accessor.
        """
        values = np.ascontiguousarray(array)
        data = values.tobytes()
        self.views.append(
            BufferView(
                buffer=0,
                byte_offset=self._length,
                byte_length=len(data),
                target=_VERTICES if vertices else None,
            )
        )
        padded = data + b"\0" * (-len(data) % 4)
        self._parts.append(padded)
        self._length += len(padded)
        accessor = Accessor(
            buffer_view=len(self.views) - 1,
            component_type=_TYPES[values.dtype.newbyteorder("<").str],
            count=len(values),
            type=_SHAPES[values.shape[1:]],
            normalized=whole,
        )
        if bounds:
            accessor.min = np.atleast_1d(values.min(axis=0)).tolist()
            accessor.max = np.atleast_1d(values.max(axis=0)).tolist()
        self.accessors.append(accessor)
        return len(self.accessors) - 1
