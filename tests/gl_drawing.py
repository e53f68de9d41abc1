"""Draw lists made by hand, and the pictures of them."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.opengl import Renderer, RenderTarget, create_context, read_picture

from viewer.errors import MachineError
from viewer.scene import BONE, FLAT, LINE, SPHERE, VERTEX, Camera, DrawList, Ground

if TYPE_CHECKING:
    import moderngl
    from inside.spatial import Projection
    from numpy.typing import ArrayLike, NDArray

    Picture = NDArray[np.int_]

SIZE = (320, 240)
BARE = Ground(0.0, 0.1, 1.0, (0.0, 0.0, 0.0), grid=False, shadow=False)
NOTHING = DrawList(
    bones=np.empty(0, BONE),
    spheres=np.empty(0, SPHERE),
    lines=np.empty(0, LINE),
    triangles=np.empty(0, VERTEX),
    flat=np.empty(0, FLAT),
    texts=(),
    ground=BARE,
    ghosts=np.empty(0, BONE),
)
RED, GREEN, BLUE, WHITE = (1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0)


@lru_cache(maxsize=1)
def context() -> moderngl.Context:
    """The tests' own context; where a machine cannot draw they are skipped, except in CI."""
    try:
        return create_context()
    except MachineError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


@lru_cache(maxsize=1)
def renderer() -> Renderer:
    """The renderer; ask for it while the context is current."""
    return Renderer(context())


def listed(**parts: Any) -> DrawList:  # noqa: ANN401 - fields of a draw list
    return replace(NOTHING, **parts)


def drawn(projection: Projection, samples: int = 0, **parts: Any) -> Picture:  # noqa: ANN401 - fields of any type
    """The picture (H, W, 3) of a draw list with these parts, as whole numbers that can be subtracted."""
    with context():
        target = RenderTarget(context()).sized(projection.size)
        renderer().draw(listed(**parts), projection, target, samples=samples)
        picture = read_picture(target).astype(int)
        assert context().error == "GL_NO_ERROR"
    return picture


def camera(orthographic: bool = False, distance: float = 3.0, **more: Any) -> Camera:  # noqa: ANN401 - fields of any type
    """A camera on the +Z axis that looks at the origin."""
    return Camera(np.zeros(3), distance=distance, orthographic=orthographic, **more)


def bones(*rows: tuple[ArrayLike, ArrayLike, float, tuple[float, ...]]) -> NDArray[Any]:
    """BONE records of (head, tail, radius, colour)."""
    records = np.zeros(len(rows), BONE)
    for record, (head, tail, radius, colour) in zip(records, rows, strict=True):
        along = np.subtract(tail, head).astype(float)
        side = np.cross(along, (0.3, 0.5, 0.8))
        side /= np.linalg.norm(side)
        other = np.cross(side, along / np.linalg.norm(along))
        record["frame"] = np.stack([side * radius, along, other * radius, np.asarray(head, dtype=float)], axis=1)
        record["colour"] = colour
    return records


def spheres(*rows: tuple[ArrayLike, float, tuple[float, ...]]) -> NDArray[Any]:
    """SPHERE records of (centre, radius, colour)."""
    records = np.zeros(len(rows), SPHERE)
    for record, (centre, radius, colour) in zip(records, rows, strict=True):
        record["centre"], record["radius"], record["colour"] = centre, radius, colour
    return records


def lines(*rows: tuple[ArrayLike, ArrayLike, float, tuple[float, ...]]) -> NDArray[Any]:
    """LINE records of (start, end, width, colour)."""
    records = np.zeros(len(rows), LINE)
    for record, (start, end, width, colour) in zip(records, rows, strict=True):
        record["start"], record["end"], record["width_px"], record["colour"] = start, end, width, colour
    return records


def quad(corners: ArrayLike, colour: tuple[float, ...], dtype: np.dtype[Any] = VERTEX) -> NDArray[Any]:
    """Two triangles between four corners, given in order: VERTEX records, or FLAT ones for corners (4, 2)."""
    records = np.zeros(6, dtype)
    records["position"] = np.asarray(corners, dtype=float)[[0, 1, 2, 0, 2, 3]]
    records["colour"] = colour
    return records


def at(picture: Picture, projection: Projection, point: ArrayLike) -> tuple[int, int, int]:
    """Colour of the pixel that a point of the world is seen at."""
    x, y = np.floor(projection.project(point)).astype(int).tolist()
    red, green, blue = picture[y, x].tolist()
    return red, green, blue


def hue(colour: tuple[int, int, int]) -> str:
    """Which of the pure colours a shaded one was."""
    weak, middle, strong = sorted(colour)
    return "rgb"[colour.index(strong)] if strong - middle > 15 and middle - weak < 40 else "-"


def changed(picture: Picture, projection: Projection) -> NDArray[np.bool_]:
    """(H, W) whether a pixel differs from the empty background."""
    result: NDArray[np.bool_] = np.abs(picture - drawn(projection)).max(axis=-1) > 2
    return result
