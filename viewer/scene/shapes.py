"""The gizmo's shapes as triangles and letters."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.gizmo.drawing import Letter, Shape, Stroke
from viewer.scene.flat import Path, tessellate
from viewer.scene.look import rgba
from viewer.scene.primitives import Records, Text

_LETTER = 13
_NEAR = 90.0
"""Pixels from its middle within which all of a gizmo is."""


def shape_records(shapes: Iterable[Shape]) -> tuple[Records, list[Text]]:
    """FLAT triangles of strokes and fills, in their order, and the letters."""
    paths: list[Path] = []
    texts: list[Text] = []
    for shape in shapes:
        colour = rgba(shape.colour, shape.alpha)
        if isinstance(shape, Letter):
            x, y = shape.at.tolist()
            on_dot = shape.colour == "on_accent"  # dark on a bright dot: a dark rim would blur it
            texts.append(Text(shape.text, x, y, colour, _LETTER, "centre", halo=not on_dot, bold=True))
        elif isinstance(shape, Stroke):
            paths.append(Path(shape.points, colour, shape.width, shape.closed))
        else:
            paths.append(Path(shape.points, colour))
    return tessellate(paths), texts


def is_about(shapes: Iterable[Shape], pixel: tuple[float, float], scale: float) -> bool:
    """Whether lines are drawn round a pixel: it has a gizmo, which shows by itself what is selected."""
    reach = _NEAR * scale
    x, y = pixel
    for shape in shapes:
        if isinstance(shape, Stroke) and shape.closed:
            low, high = shape.points.min(axis=0).tolist(), shape.points.max(axis=0).tolist()
            if low[0] <= x <= high[0] and low[1] <= y <= high[1] and high[0] - low[0] <= 2.0 * reach:
                return True
    return False
