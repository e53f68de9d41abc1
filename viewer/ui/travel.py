"""Where a figure gets to in the frames that are played."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.scene import figure_points
from viewer.session.default_goals import world_of
from viewer.skeleton.kinematics import fk

if TYPE_CHECKING:
    from viewer.session import Document
    from viewer.skeleton.pose import Pose
    from viewer.spatial.checks import Floats

_FRAMES, _PLACES = 48, 30_000
"""Frames that are looked at, at most: so many, and no more than make so many places."""


class Travel:
    """Of one document at a time; it is kept until what is played changes."""

    def __init__(self) -> None:
        """Nothing is worked out yet."""
        self._kept: tuple[tuple[object, ...], Floats] | None = None

    def points(self, document: Document) -> Floats:
        """(N, 3) the figure as it stands, and where it gets to."""
        now = figure_points(document.skeleton, world_of(document.skeleton, document.pose))
        key = (document.take, document.clip_data, document.skeleton)
        if self._kept is None or any(one is not other for one, other in zip(self._kept[0], key, strict=True)):
            self._kept = key, way_of(document)
        return np.concatenate([now, self._kept[1]])


def way_of(document: Document) -> Floats:
    """(N, 3) joints and tips at some of the frames that are played, the first and the last among them."""
    first, last = document.played
    if not document.frames or last <= first:
        return np.empty((0, 3))
    most = max(2, min(_FRAMES, _PLACES // len(document.skeleton), last - first + 1))
    frames = np.unique(np.linspace(first, last, most).round().astype(int)).tolist()
    poses = (_pose(document, frame) for frame in frames)
    return np.concatenate([figure_points(document.skeleton, fk(document.skeleton, pose)) for pose in poses])


def _pose(document: Document, frame: int) -> Pose:
    clip, take = document.clip_data, document.take
    plain = clip is not None and (take is None or take.is_empty) and frame < len(clip)
    return clip.pose(frame) if plain and clip is not None else document.frame_pose(frame)
