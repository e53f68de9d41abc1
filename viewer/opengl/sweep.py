"""The room that a figure takes in all of a motion: what a camera that stands still has to have in view."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import fk_clip

if TYPE_CHECKING:
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

_BLOCK = 1 << 14
"""Places looked at together, so that long clips take no more memory than short ones."""
_AROUND = 100
"""Directions besides the axes in which, both ways, the outermost places are looked for. What lies between them sticks
out by less than 3 % of the box round all, and a view has more room than that round it."""
_TURNS = 24
"""A multiple of 4, so that the middle of what was turned all the way round is on the axis."""


def swept_points(skeleton: Skeleton, clip: Clip) -> Floats:
    """(N, 3) metres: the outermost joints and end sites of all frames, few however many frames there are.

    Args:
        skeleton: whose clip it is.
        clip: at least one frame.
    """
    step = max(1, _BLOCK // max(1, len(skeleton) + len(skeleton.tip_parents)))
    kept = np.empty((0, 3))
    for first in range(0, len(clip), step):
        world = fk_clip(skeleton, clip, slice(first, first + step))
        places = np.concatenate([world.positions, tip_positions(skeleton, world)], axis=1).reshape(-1, 3)
        points = np.concatenate([kept, places])
        kept = outermost(points[np.isfinite(points).all(axis=1)])
    return kept


def outermost(points: Floats) -> Floats:
    """(M, 3) of points (N, 3) those that are farthest in one of many directions; the axes are among these."""
    if not len(points):
        return points
    # As if they filled a cube: of someone who walks far the left and right count as much as the ends of the way.
    sides = np.ptp(points, axis=0)
    along = points / np.where(sides > 0.0, sides, 1.0) @ _directions().T
    farthest = np.concatenate([np.argmax(along, axis=0), np.argmin(along, axis=0)])
    return np.asarray(points[np.unique(farthest)])


def turned_round(points: Floats, axis: Floats) -> Floats:
    """(N, 3) points turned all the way about the upright line through ``axis`` (3,), a step at a time."""
    steps = [2.0 * math.pi * number / _TURNS for number in range(_TURNS)]
    x, y, z = (points - axis).T
    turned = [np.stack([math.cos(t) * x + math.sin(t) * z, y, math.cos(t) * z - math.sin(t) * x], 1) for t in steps]
    return np.asarray(np.concatenate(turned) + axis)


def middle(points: Floats) -> Floats:
    """(3,) the middle of the box round points (N, 3)."""
    return np.asarray(0.5 * (points.min(axis=0) + points.max(axis=0)))


def _directions() -> Floats:
    """(D, 3) unit vectors: along the axes, and a spiral from the pole to the equator, evenly spread."""
    number = np.arange(_AROUND)
    height = 1.0 - (number + 0.5) / _AROUND
    turn = number * math.pi * (3.0 - math.sqrt(5.0))
    level = np.sqrt(1.0 - height * height)
    spiral = np.stack([level * np.cos(turn), height, level * np.sin(turn)], axis=1)
    return np.concatenate([np.eye(3), spiral])
