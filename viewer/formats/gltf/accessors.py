"""The arrays of a glTF file, by the index of their accessor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bounds import FREE_NUMBERS
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from viewer.formats.gltf.structs import Accessor, File
    from viewer.spatial.checks import Floats

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
                accessors may have; ``where`` names who asks.
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
