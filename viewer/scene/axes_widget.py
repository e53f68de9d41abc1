"""The view axes at the top right: they show the camera's direction; a click on one selects a standard view."""

from __future__ import annotations

import numpy as np

from viewer.gizmo.drawing import Fill, Letter, Shape, Stroke
from viewer.scene.flat import circle
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

RADIUS = 44.0
_MARGIN, _REACH, _DOT, _HOLLOW = 8.0, 33.0, 9.5, 5.5
_DISC, _DISC_HOVERED = 0.35, 0.6
_FAINTEST = 0.55
"""Opacity of an axis that points away from the viewer."""
_AXES = ("x", "y", "z", "-x", "-y", "-z")
_DIRECTIONS = np.concatenate([np.eye(3), -np.eye(3)])


def centre_of(projection: Projection, scale: float = 1.0) -> Floats:
    """(2,) pixels of the disc's centre."""
    inset = (RADIUS + _MARGIN) * scale
    return np.array([projection.size[0] - inset, inset])


def shapes(projection: Projection, scale: float = 1.0, hovered: str | None = None) -> list[Shape]:
    """The disc: filled dots with letters at the positive ends of the axes, hollow dots at the others, back to front.

    ``hovered``: the result of `pick_axis` at the pointer.
    """
    middle = centre_of(projection, scale)
    ends, depths = _ends(projection, middle, scale)
    result: list[Shape] = [Fill(circle(middle, RADIUS * scale), "line_hi", _DISC_HOVERED if hovered else _DISC)]
    for end in np.argsort(depths, kind="stable").tolist():
        name, place = _AXES[end], ends[end]
        colour = "hovered" if name == hovered else name[-1]
        alpha = 1.0 if name == hovered else _FAINTEST + (1.0 - _FAINTEST) * 0.5 * (1.0 + float(depths[end]))
        if end < 3:
            result.append(Stroke(np.stack([middle, place]), 2.0 * scale, colour, alpha))
            result.append(Fill(circle(place, _DOT * scale), colour, alpha))
            result.append(Letter(name.upper(), place, "on_accent", 1.0))
        else:
            result.append(Fill(circle(place, _HOLLOW * scale), colour, 0.12))
            result.append(Stroke(circle(place, _HOLLOW * scale), 1.4 * scale, colour, alpha, closed=True))
    return result


def pick_axis(projection: Projection, x: float, y: float, scale: float = 1.0) -> str:
    """The part of the disc at a pixel: "x", "-x", ..., "disc" between the axes, "" outside."""
    middle = centre_of(projection, scale)
    if not np.hypot(x - middle[0], y - middle[1]) <= RADIUS * scale:
        return ""
    ends, depths = _ends(projection, middle, scale)
    away = np.hypot(ends[:, 0] - x, ends[:, 1] - y)
    near = [end for end in range(len(_AXES)) if away[end] <= (_DOT + 1.0) * scale]
    return _AXES[max(near, key=lambda end: float(depths[end]))] if near else "disc"


def _ends(projection: Projection, middle: Floats, scale: float) -> tuple[Floats, Floats]:
    """Pixels (6, 2) of the axes' ends, and the cosine (6,) of each to the direction of the viewer."""
    across = _DIRECTIONS @ np.stack([projection.right, -projection.up], axis=1)
    return middle + _REACH * scale * across, _DIRECTIONS @ projection.back
