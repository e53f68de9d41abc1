"""The triangles and colours of a COLLADA file, as it is placed in its scene: what robots' ``.dae`` meshes are shown by.

Read with pycollada alone: trimesh, which reads the other formats of meshes, is slow to import and merges vertices that
flat triangles need not share.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.spatial.checks import Floats

Colour = tuple[float, float, float, float]
_WHITE = (1.0, 1.0, 1.0, 1.0)
_DEEPEST = 200
"""Nodes in each other; deeper ones are not shown."""


class Part(NamedTuple):
    """Triangles of one colour.

    Attributes:
        positions: (V, 3) in the file's units.
        triangles: (T, 3).
        colour: red, green, blue, alpha from 0 to 1; None: the file states none.
    """

    positions: Floats
    triangles: NDArray[np.int64]
    colour: Colour | None


def read_collada(data: bytes) -> list[Part]:
    """The parts of the scene of a COLLADA file; what is broken in it is left out.

    Units and the upward axis are left as they are: robots state the scale of their meshes themselves.

    Raises:
        Exception: whatever pycollada raises where there is no scene to read.
    """
    import collada  # noqa: PLC0415 - an extra

    found = collada.Collada(BytesIO(data), ignore=[collada.common.DaeError])
    scene = found.scene
    return [] if scene is None else [part for node in scene.nodes for part in _of_node(collada, node, np.eye(4), 0)]


def _of_node(collada: Any, node: Any, place: Floats, depth: int) -> Iterator[Part]:  # noqa: ANN401
    """The parts of a node and those below it; ``place`` (4, 4) is file_from_node."""
    if isinstance(node, collada.scene.GeometryNode):
        colours = {bound.symbol: _colour(collada, bound.target.effect) for bound in node.materials if bound.target}
        for primitive in node.geometry.primitives:
            part = _of_primitive(collada, primitive, place, colours)
            if part is not None:
                yield part
    elif isinstance(node, collada.scene.Node) and depth < _DEEPEST:
        for child in node.children or ():
            yield from _of_node(collada, child, place @ node.matrix, depth + 1)


def _of_primitive(
    collada: Any,  # noqa: ANN401
    primitive: Any,  # noqa: ANN401
    place: Floats,
    colours: dict[str, Colour],
) -> Part | None:
    """Its triangles; None of lines, and where there are no triangles."""
    if isinstance(primitive, collada.polylist.Polylist):
        primitive = primitive.triangleset()
    if not isinstance(primitive, collada.triangleset.TriangleSet) or primitive.vertex is None:
        return None
    corners = np.asarray(primitive.vertex_index, dtype=np.int64)
    if not corners.size:
        return None
    used = np.zeros(len(primitive.vertex), dtype=np.bool_)
    used[corners] = True
    positions = np.asarray(primitive.vertex, dtype=np.float64)[used] @ place[:3, :3].T + place[:3, 3]
    if np.linalg.det(place[:3, :3]) < 0.0:  # mirrored: the other way round is outside
        corners = corners[:, ::-1]
    colour = colours[primitive.material] if primitive.material in colours else _of_corners(primitive)
    return Part(positions, (np.cumsum(used) - 1)[corners], colour)


def _colour(collada: Any, effect: Any) -> Colour:  # noqa: ANN401
    """The diffuse colour of a material, white where it is a picture or not stated; alpha is its own."""
    stated = effect.diffuse
    if stated is None or isinstance(stated, collada.material.Map):
        stated = _WHITE
    r, g, b, a = (*map(float, stated), 1.0)[:4]
    clear = effect.transparent
    if clear is not None and not isinstance(clear, collada.material.Map):
        a = float(clear[3])
    r, g, b, a = (min(max(value, 0.0), 1.0) for value in (r, g, b, a))
    return r, g, b, a or 1.0


def _of_corners(primitive: Any) -> Colour | None:  # noqa: ANN401
    """The colour that most corners have, of triangles without a material; None if they have none."""
    sources = primitive.sources.get("COLOR")
    if not sources:
        return None
    stated = np.asarray(sources[0][4].data, dtype=np.float64)
    if stated.ndim != 2 or stated.shape[1] < 3:
        return None
    rows, counts = np.unique(
        stated[np.asarray(primitive.index)[:, :, sources[0][0]].ravel()], axis=0, return_counts=True
    )
    r, g, b, a = (*rows[counts.argmax()].tolist(), 1.0)[:4]
    return r, g, b, a or 1.0
