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
_ROUNDS = 6
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
    if upright:
        return _round_axis(camera, points, size)
    offsets = points - camera.target
    right, up, near = offsets @ camera.right, offsets @ camera.up, offsets @ camera.back
    across, over = _slopes(camera, size)
    # A point is in view where right + across * near <= across * distance, and so to the left, up and down.
    wide, high = _room(right, across * near)[0] / across, _room(up, over * near)[0] / over
    distance = max(wide, high)
    depths = distance - near
    aside = _middle(right, depths, _room(right, across * near)[1])
    above = _middle(up, depths, _room(up, over * near)[1])
    return replace(camera, target=camera.target + aside * camera.right + above * camera.up, distance=distance)


def _round_axis(camera: Camera, points: Floats, size: tuple[int, int]) -> Camera:
    """Moved up or down, and as near as all points allow."""
    offsets = points - camera.target
    _, over = _slopes(camera, size)
    above = _room(offsets @ camera.up, over * (offsets @ camera.back))[1]
    steep = math.cos(camera.pitch)
    rise = above / steep if steep > _LEVEL else 0.0
    moved = replace(camera, target=camera.target + np.array([0.0, rise, 0.0]))
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


def _middle(places: Floats, depths: Floats, start: float) -> float:
    """Where to look so that there is as much room on both sides of what is (N,) aside and (N,) deep in the view."""
    middle = start
    for _ in range(_ROUNDS):
        slopes = (places - middle) / depths
        most, least = int(np.argmax(slopes)), int(np.argmin(slopes))
        middle += float((slopes[most] + slopes[least]) / (1.0 / depths[most] + 1.0 / depths[least]))
    return middle


def _slopes(camera: Camera, size: tuple[int, int]) -> tuple[float, float]:
    """How far the view reaches to the side and up, less its margin, per metre of distance."""
    over = math.tan(0.5 * camera.fov_y) / FIT
    return over * max(size[0], 1) / max(size[1], 1), over
