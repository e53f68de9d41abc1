"""Small glTF files made by hand, for what a reader must cope with."""

from __future__ import annotations

import base64
import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

Tree = dict[str, Any]

_COMPONENTS = {"|i1": 5120, "|u1": 5121, "<i2": 5122, "<u2": 5123, "<u4": 5125, "<f4": 5126}
_SHAPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}


class GltfFile:
    """A glTF document that arrays are added to."""

    def __init__(self, nodes: list[Tree]) -> None:
        self.data = b""
        self.tree: Tree = {
            "asset": {"version": "2.0"}, "nodes": nodes, "accessors": [], "bufferViews": [], "animations": [],
        }  # fmt: skip

    def array(self, values: object, kind: str = "<f4", **more: object) -> int:
        """The index of an accessor of (N,) or (N, k) values."""
        array = np.asarray(values, dtype=kind)
        self.tree["bufferViews"].append({"buffer": 0, "byteOffset": len(self.data), "byteLength": array.nbytes})
        self.data += array.tobytes() + b"\0" * (-array.nbytes % 4)
        self.tree["accessors"].append(
            {
                "bufferView": len(self.tree["bufferViews"]) - 1,
                "componentType": _COMPONENTS[np.dtype(kind).str],
                "count": len(array),
                "type": _SHAPES[array.shape[1] if array.ndim > 1 else 1],
                **more,
            }
        )
        return len(self.tree["accessors"]) - 1

    def move(self, node: int, path: str, times: list[float], values: object, interpolation: str = "LINEAR") -> None:
        """Add a channel to the only animation."""
        if not self.tree["animations"]:
            self.tree["animations"].append({"name": "move", "channels": [], "samplers": []})
        animation = self.tree["animations"][0]
        sampler = {"input": self.array(times), "output": self.array(values), "interpolation": interpolation}
        animation["samplers"].append(sampler)
        target = {"node": node, "path": path}
        animation["channels"].append({"sampler": len(animation["samplers"]) - 1, "target": target})

    def text(self) -> str:
        """The document, its buffer inside."""
        tree = dict(self.tree)
        if self.data:
            uri = "data:application/octet-stream;base64," + base64.b64encode(self.data).decode()
            tree["buffers"] = [{"byteLength": len(self.data), "uri": uri}]
        return json.dumps(tree)

    def write(self, path: Path) -> Path:
        """The .gltf file."""
        path.write_text(self.text())
        return path

    def glb(self) -> bytes:
        """The same as a GLB."""
        tree = {**self.tree, "buffers": [{"byteLength": len(self.data)}]}
        text = json.dumps(tree).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        if self.data:
            chunks += struct.pack("<II", len(self.data), 0x004E4942) + self.data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def arm() -> GltfFile:
    """Two joints of a skin below an ancestor that is no joint."""
    file = GltfFile(
        [
            {"name": "armature", "children": [1], "translation": [0, 1, 0]},
            {"name": "upper", "children": [2], "rotation": [0, 0, 0.6, 0.8]},
            {"name": "lower", "translation": [0, 2, 0]},
        ]
    )
    file.tree["skins"] = [{"joints": [1, 2]}]
    return file
