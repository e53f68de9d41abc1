"""Standard views: of the figure, and against the axes of the world."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.scene import Camera, ViewName

VIEWS: dict[str, ViewName] = {
    "front": "front", "right": "right", "top": "top", "back": "back", "left": "left", "bottom": "bottom",
    "three_quarter": "three-quarter",
}  # fmt: skip
"""Views of the figure, by the words of their commands."""
_AGAINST = {
    "x": (0.5 * math.pi, 0.0), "-x": (-0.5 * math.pi, 0.0), "z": (0.0, 0.0), "-z": (math.pi, 0.0),
    "y": (None, 0.5 * math.pi), "-y": (None, -0.5 * math.pi),
}  # fmt: skip
"""Yaw and pitch that look against an axis; straight up or down the yaw stays."""


def along(camera: Camera, axis: str) -> Camera:
    """A camera turned so that a world axis ("x", "-x", ...) points at whoever looks."""
    yaw, pitch = _AGAINST[axis]
    return replace(camera, yaw=camera.yaw if yaw is None else yaw, pitch=pitch)
