"""Motion trails: the way of a point before and after the frame shown, with a dot at every key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.scene.palette import PALETTE, rgba
from viewer.scene.primitives import SPHERE

if TYPE_CHECKING:
    from viewer.scene.primitives import Lines, Records
    from viewer.scene.scene import Scene, Trail
    from viewer.spatial.checks import Floats

_WIDTH, _DOT = 2.0, 3.0
"""Width of the line and radius of the dots, pixels of the design."""
_NEAR, _FAR = 0.95, 0.25
"""Alpha at the frame shown and at the ends."""


def draw_trails(scene: Scene, scale: float, lines: Lines) -> Records:
    """Add the lines, and return the dots at keys as SPHERE records.

    What has been is a whole line; what is to come is broken, with one piece for every second frame.
    """
    dots = []
    for trail in scene.trails:
        name = "accent" if trail.selected else "ghost"
        _way(trail, name, lines)
        places = [place for place in trail.keys if place != trail.now]
        if places:
            dots.append(_dots(trail.points[places], scale))
    return np.concatenate(dots) if dots else np.empty(0, SPHERE)


def _way(trail: Trail, name: str, lines: Lines) -> None:
    count = len(trail.points)
    coming = np.arange(count - 1) - trail.now
    farthest = np.where(coming >= 0, max(count - 1 - trail.now, 1), max(trail.now, 1))
    shown = np.flatnonzero((coming < 0) | (coming % 2 == 0))
    colours = np.tile(rgba(name), (len(shown), 1))
    colours[:, 3] = _NEAR + (np.abs(coming) / farthest)[shown] * (_FAR - _NEAR)
    lines.shaded(trail.points[shown], trail.points[shown + 1], colours, _WIDTH)


def _dots(places: Floats, scale: float) -> Records:
    records = np.zeros(len(places), SPHERE)
    records["centre"], records["least_px"] = places, _DOT * scale
    records["colour"] = (*PALETTE["text"], 1.0)
    return records
