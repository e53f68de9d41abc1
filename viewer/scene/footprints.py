"""Footprints: a sole on the floor for each stance of planted feet; dashed and empty where a foot slides."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from viewer.scene.look import figure_height, rgba
from viewer.scene.primitives import VERTEX, Lines, Records, Text
from viewer.scene.scene import Footprint, Scene
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

_FILL, _FILL_NOW, _EDGE, _EDGE_NOW = 0.20, 0.34, 0.55, 0.9
_EDGE_PX, _DASH = 1.4, (6.0, 4.0)
_BEHIND, _AHEAD, _WIDE = 0.42, 0.55, 0.32
"""Of the way from ankle to ball: how far the sole reaches behind the one and ahead of the other, and half its width."""
_POINT = 0.02
"""Half the size of the print of a foot without a ball, in the figure's height."""
_LIFT = 0.0015
_SIZE = 12
_CORNERS = 20


def draw_footprints(scene: Scene, projection: Projection, scale: float, lines: Lines) -> tuple[Records, list[Text]]:
    """Add the soles' edges; return their VERTEX triangles and the words beside those that slide."""
    height = scene.height or figure_height(scene.skeleton)
    filled, words = [], []
    for one in scene.footprints:
        corners = _outline(one, scene.floor, height)
        tone = one.side if one.planted else "warn"
        edge = rgba(tone, _EDGE_NOW if one.now else _EDGE)
        lines.segments(corners, np.roll(corners, -1, axis=0), edge, _EDGE_PX, (0.0, 0.0) if one.planted else _DASH)
        if one.planted:
            filled.append(_fan(corners, rgba(tone, _FILL_NOW if one.now else _FILL)))
        elif one.now:
            words += _words(one, corners, projection, scale)
    return (np.concatenate(filled) if filled else np.empty(0, VERTEX)), words


def _outline(one: Footprint, floor: float, height: float) -> Floats:
    """Corners (N, 3) of a sole: a rounded one along the foot, or a disc."""
    length = float(np.linalg.norm(one.way))
    at = np.array([one.heel[0], floor + one.rise + _LIFT * height, one.heel[2]])
    if length < 1e-6:
        return np.asarray(at + _POINT * height * _circle() @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    along = one.way / length
    across = np.array([along[2], 0.0, -along[0]])
    round_ = _circle() * _WIDE * length
    reach = np.where(round_[:, 0] > 0.0, (1.0 + _AHEAD - _WIDE) * length, -(_BEHIND - _WIDE) * length)
    # The ball is wider than the heel.
    wide = np.where(round_[:, 0] > 0.0, 1.0, 0.78)
    return np.asarray(at + (reach + round_[:, 0])[:, None] * along + (wide * round_[:, 1])[:, None] * across)


@lru_cache(maxsize=1)
def _circle() -> Floats:
    angles = np.linspace(0.0, 2.0 * math.pi, _CORNERS, endpoint=False) + math.pi / _CORNERS
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _fan(corners: Floats, colour: tuple[float, float, float, float]) -> Records:
    """A convex polygon as triangles from its first corner."""
    count = len(corners) - 2
    records = np.empty((count, 3), VERTEX)
    for i, points in enumerate((corners[:1].repeat(count, axis=0), corners[1:-1], corners[2:])):
        records["position"][:, i] = points
    records["colour"] = colour
    return records.reshape(-1)


def _words(one: Footprint, corners: Floats, projection: Projection, scale: float) -> list[Text]:
    place = corners.mean(axis=0)
    if projection.depth(place) <= 0.0 or one.slides_cm < 0.05:
        return []
    x, y = projection.project(place).tolist()
    return [Text(f"slides {one.slides_cm:.1f} cm", x + 16.0 * scale, y, rgba("warn"), _SIZE)]
