"""The moving picture of what a window shows: its camera, still or going round, and the reel's scenes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.opengl.framing import fitted
from viewer.opengl.moving import Movie, disc_under
from viewer.opengl.picture import LEAST, seen_points
from viewer.opengl.sweep import middle, swept_points, turned_round
from viewer.ui.film_scenes import as_in_view

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.scene import Camera
    from viewer.spatial.checks import Floats
    from viewer.ui.film_scenes import Reel

_UPRIGHT = {"xy", "yz"}
"""Planes whose grid stands upright, behind the figure: it has no part of the floor."""


def film_of(reel: Reel, camera: Camera, view: tuple[int, int], *, follow: bool = False) -> Movie:
    """The film of a reel.

    Args:
        reel: what there is to see.
        camera: of the window.
        view: (width, height) of the window's view, pixels.
        follow: the camera keeps what is selected in its middle, unless all of the motion is to be in view.
    """
    plan, first = reel.plan, reel.scene(0)
    swept = None if reel.clip is None else swept_points(first.skeleton, reel.clip)
    points = seen_points(first, swept)
    points = turned_round(points, middle(points)) if plan.turntable else points
    if plan.whole:
        camera = all_in_view(camera, points, plan.size, first.height, upright=plan.turntable)
    else:
        camera = as_in_view(camera, view, plan.size)
    return Movie(
        count=reel.count,
        fps=plan.fps,
        size=plan.size,
        scene=reel.scene,
        camera=_moved(reel, camera, follow=follow and not plan.whole),
        disc=None if first.plane in _UPRIGHT else disc_under(points, first.height),
    )


def all_in_view(camera: Camera, points: Floats, size: tuple[int, int], height: float, *, upright: bool) -> Camera:
    """The camera moved, not turned, so that all points (N, 3) are in view."""
    framed = camera.frame(points, size, least=LEAST * height)
    if camera.orthographic or np.linalg.norm(np.ptp(points, axis=0)) <= LEAST * height:
        return framed
    return fitted(framed, points, size, upright=upright)


def _moved(reel: Reel, camera: Camera, *, follow: bool) -> Callable[[int], Camera]:
    """The camera picture by picture."""
    step = 2.0 * math.pi / reel.count if reel.plan.turntable else 0.0

    def at(number: int) -> Camera:
        target = reel.selected(number) if follow else None
        moved = camera if target is None else replace(camera, target=target)
        return moved.turned(number * step, 0.0) if step else moved

    return at
