"""Cameras that have all of a motion in view: as large as fits, in the middle of the picture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.scene.camera import Camera
    from viewer.spatial.checks import Floats

FIT = 1.16
"""How many times larger than what is seen the picture is."""
_LEVEL = 0.05
"""Cosine of the pitch from which on a view counts as one from straight above or below."""


def fitted(camera: Camera, points: Floats, size: tuple[int, int], *, upright: bool = False) -> Camera:
    """A camera moved, not turned, so that points are in view with the same room at opposite edges of the picture.

    A figure that comes near grows: the middle of what it sweeps over in the picture is not that of the places where it
    was, which is what `Camera.frame` takes.

    Args:
        camera: with perspective; its target is among the points.
        points: (N, 3) metres, at least one.
        size: (width, height) of the picture in pixels.
        upright: move the target up and down only, to go round it: points are the same from all sides.
    """
    offsets = points - camera.target
    right, up, near = offsets @ camera.right, offsets @ camera.up, offsets @ camera.back
    across, over = _slopes(camera, size)
    # A point is in view where right + across * near <= across * distance, and so to the left, up and down.
    wide, aside = _room(right, across * near)
    high, above = _room(up, over * near)
    steep = math.cos(camera.pitch)
    if not upright:
        move = aside * camera.right + above * camera.up
    else:
        move = np.array([0.0, above / steep, 0.0]) if steep > _LEVEL else np.zeros(3)
    moved = replace(camera, target=camera.target + move)
    if not upright:
        return replace(moved, distance=max(wide / across, high / over))
    return replace(moved, distance=_distance(moved, points, size))


def _distance(camera: Camera, points: Floats, size: tuple[int, int]) -> float:
    """The least distance from a target that stays where it is."""
    offsets = points - camera.target
    near = offsets @ camera.back
    across, over = _slopes(camera, size)
    sides = np.abs(offsets @ camera.right) / across, np.abs(offsets @ camera.up) / over
    return float((np.maximum(*sides) + near).max())


def _room(aside: Floats, nearer: Floats) -> tuple[float, float]:
    """Half of what has to fit between two opposite edges, and where its middle is."""
    most, least = float((nearer + aside).max()), float((nearer - aside).max())
    return 0.5 * (most + least), 0.5 * (most - least)


def _slopes(camera: Camera, size: tuple[int, int]) -> tuple[float, float]:
    """How far the view reaches to the side and up, less its margin, per metre of distance."""
    over = math.tan(0.5 * camera.fov_y) / FIT
    return over * max(size[0], 1) / max(size[1], 1), over
