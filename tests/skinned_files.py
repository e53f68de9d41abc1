"""Small glTF files with skins made by hand."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from gltf_files import GltfFile
from PIL import Image

Tree = dict[str, Any]

CORNERS = np.array([(x, y, 0.0) for y in (0.0, 1.0, 2.0) for x in (-0.5, 0.5)])
"""Of a strip two units high, whose lower edge is at joint "low" and whose middle is at joint "high"."""
FACES = [0, 1, 2, 2, 1, 3, 2, 3, 4, 4, 3, 5]
JOINTS = [[0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
WEIGHTS = [[1, 0, 0, 0], [1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]


def strip(**parts: object) -> GltfFile:
    """Two joints, and a strip that follows them; ``parts`` replace the arrays, or leave them out as None."""
    file = GltfFile(
        [
            {"name": "low", "children": [1]},
            {"name": "high", "translation": [0, 1, 0]},
            {"name": "strip", "mesh": 0, "skin": 0},
        ]
    )
    inverse = np.tile(np.eye(4), (2, 1, 1))
    inverse[1, 3, 1] = -1.0  # column by column
    arrays: dict[str, Any] = {
        "POSITION": CORNERS, "JOINTS_0": JOINTS, "WEIGHTS_0": WEIGHTS, "indices": FACES,
        "inverse": inverse.reshape(2, 16),
    }  # fmt: skip
    arrays |= parts
    kinds = {"JOINTS_0": "|u1", "JOINTS_1": "|u1", "indices": "<u2"}
    place = {name: file.array(rows, kinds.get(name, "<f4")) for name, rows in arrays.items() if rows is not None}
    skin: Tree = {"joints": [0, 1]}
    if "inverse" in place:
        skin["inverseBindMatrices"] = place.pop("inverse")
    primitive: Tree = {}
    if "indices" in place:
        primitive["indices"] = place.pop("indices")
    file.tree |= {"skins": [skin], "meshes": [{"primitives": [{**primitive, "attributes": place}]}]}
    return file


def painted(file: GltfFile, image: Tree, **material: object) -> GltfFile:
    """The strip in a picture; the strip has to have TEXCOORD_0."""
    file.tree |= {
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}, **material}],
        "textures": [{"source": 0}],
        "images": [image],
    }
    file.tree["meshes"][0]["primitives"][0]["material"] = 0
    return file


def png(width: int, height: int, colour: tuple[int, int, int] = (255, 0, 0)) -> Tree:
    """An image of one colour, inside the JSON."""
    held = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(held, "PNG")
    return {"uri": "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()}
