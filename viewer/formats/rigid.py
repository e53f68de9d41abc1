"""Shapes that are rigid on joints, as a skin: the meshes, boxes and balls of robots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.skeleton import Skeleton, Skin
from viewer.skeleton.skin import Material, Mesh
from viewer.spatial.checks import Floats

_MOST_TRIANGLES = 400_000
"""Beyond, vertices are merged on a grid until so many are left."""

Colour = tuple[float, float, float, float]


class Shape(NamedTuple):
    """Triangles of one colour on a link.

    Attributes:
        link: its name.
        positions: (V, 3) in the link's frame, metres.
        triangles: (T, 3).
        colour: red, green, blue, alpha.
    """

    link: str
    positions: Floats
    triangles: np.ndarray[tuple[int, int], np.dtype[np.int64]]
    colour: Colour


def primitive(word: str, sizes: Sequence[float]) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices (V, 3) and triangles (T, 3) of a shape about the origin, along z; trimesh has to be installed.

    Args:
        word: "box", "sphere", "ellipsoid", "cylinder" or "capsule".
        sizes: three sides; a radius; three radii; radius and length, of a capsule without its ends.
    """
    import trimesh  # noqa: PLC0415 - it is large

    if word == "box":
        made = trimesh.creation.box(sizes)
    elif word in ("sphere", "ellipsoid"):
        made = trimesh.creation.icosphere(3)
        made.apply_scale(sizes if word == "ellipsoid" else sizes[0])
    elif word == "cylinder":
        made = trimesh.creation.cylinder(radius=sizes[0], height=sizes[1])
    else:
        made = trimesh.creation.capsule(radius=sizes[0], height=sizes[1], count=[16, 16])
        made.apply_translation(-made.bounds.mean(axis=0))  # some versions put it above the origin
    return np.asarray(made.vertices), np.asarray(made.faces, dtype=np.int64)


def rigid_skin(shapes: Sequence[Shape], skeleton: Skeleton, warnings: list[str]) -> Skin | None:
    """The shapes as a skin, None without any; too many triangles are fewer, with a warning."""
    shapes = _lighter(list(shapes), warnings)
    if not shapes:
        return None
    joints = np.array([skeleton.index(shape.link) for shape in shapes], dtype=np.intp)
    meshes = tuple(
        Mesh(
            name=shape.link,
            positions=shape.positions.astype(np.float32),
            triangles=shape.triangles.astype(np.uint32),
            bindings=np.full((len(shape.positions), 1), number, dtype=np.uint16),
            weights=np.ones((len(shape.positions), 1), dtype=np.float32),
            material=Material(shape.colour, double_sided=True),
        )
        for number, shape in enumerate(shapes)
    )
    transforms = np.tile(np.eye(3, 4), (len(shapes), 1, 1))
    count = len(meshes)
    contents = (f"{count} mesh{'' if count == 1 else 'es'}",)
    return Skin(meshes, joints, transforms, len(skeleton), contents=contents)


def _lighter(shapes: list[Shape], warnings: list[str]) -> list[Shape]:
    """The shapes with vertices merged on ever coarser grids until there are few enough triangles."""
    total = sum(len(shape.triangles) for shape in shapes)
    if total <= _MOST_TRIANGLES:
        return shapes
    size = max(float(np.ptp(shape.positions, axis=0).max()) for shape in shapes)
    cells, fewer = 400.0, shapes
    while cells > 4.0 and sum(len(shape.triangles) for shape in fewer) > _MOST_TRIANGLES:
        fewer = [_merged(shape, size / cells) for shape in shapes]
        cells *= 0.7
    warnings.append(f"{total:,} triangles are drawn as {sum(len(shape.triangles) for shape in fewer):,}")
    return fewer


def _merged(shape: Shape, cell: float) -> Shape:
    keys, index = np.unique(np.round(shape.positions / cell), axis=0, return_inverse=True)
    index = index.reshape(-1)
    count = np.bincount(index, minlength=len(keys))[:, None]
    middle = np.stack([np.bincount(index, shape.positions[:, k], len(keys)) for k in range(3)], axis=1) / count
    faces = index[shape.triangles]
    a, b, c = faces.T
    return shape._replace(positions=middle, triangles=faces[(a != b) & (b != c) & (c != a)])
