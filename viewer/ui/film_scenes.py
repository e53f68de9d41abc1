"""The scenes of a film, picture by picture: the take as it is played, with what the view shows of it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.scene import Display, Scene, figure_height, figure_points, floor_of
from viewer.session.measuring import joints_at_limit
from viewer.session.standing import carried, world_of
from viewer.session.take import baked_character
from viewer.session.take.changing import take_of
from viewer.session.values import Item
from viewer.ui import grips
from viewer.ui.echoes import MOST_TRAILS, ghosts_of, trails_of
from viewer.ui.film import count, resampled
from viewer.ui.scenes import goal_marks, stretched

if TYPE_CHECKING:
    from viewer.scene import Camera, Ghost, Trail
    from viewer.session import Document
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.pose import Pose
    from viewer.spatial.checks import Floats
    from viewer.ui.echoes import Shown
    from viewer.ui.film import FilmPlan

_GLANCES = 64
"""Frames that are looked at to see whether a motion stays in view, at most."""


class Reel:
    """What there is to see in the pictures of a film.

    The document is the one of the moment at which it was made: documents never change, so that a window may go on
    with others meanwhile. For one thread.

    Attributes:
        document: what is filmed.
        plan: how.
        clip: what is played, at the film's rate; None: the pose is shown.
        count: how many pictures there are.
    """

    def __init__(self, document: Document, plan: FilmPlan, asked: Shown, *, shadow: bool = True) -> None:
        """Work out all frames of the take.

        Args:
            document: what is filmed.
            plan: how.
            asked: how many ghosts, how long trails.
            shadow: show the shadow on the ground.

        Raises:
            InputError: the document has no such frames.
        """
        self.document, self.plan = document, plan
        self.clip = _clip(document, plan)
        self.count = count(document, plan) if self.clip is None else len(self.clip)
        self._asked = asked
        self._height, self._floor = figure_height(document.skeleton), floor_of(document.character)
        self._display = _display(plan.parts, shadow=shadow)
        self._moments = not plan.parts.isdisjoint({"goals", "limits", "ghosts", "trails"})
        self._kept: tuple[int, Document] | None = None

    def pose(self, number: int) -> Pose:
        """The pose in a picture, counted from 0."""
        return self.document.pose if self.clip is None else self.clip.pose(number)

    def moment(self, number: int) -> Document:
        """The document at a picture's time, its handles moved along as they are when it is played."""
        if self.clip is None or self.plan.frames is None:
            return self.document
        if self._kept is None or self._kept[0] != number:
            first, last = self.plan.frames
            frame = min(first + round(number / (self.plan.fps * self.document.frame_time)), last)
            self._kept = number, carried(self.document, self.clip.pose(number), pins=False, frame=frame)
        return self._kept[1]

    def scene(self, number: int) -> Scene:
        """What there is to see in a picture; nothing is selected."""
        skeleton = self.document.skeleton
        plain = Scene(
            skeleton=skeleton,
            world=world_of(skeleton, self.pose(number)),
            stretched=stretched(self.document),
            limits_on=self.document.limits_on,
            unlimited=self.document.unlimited,
            plane=self.document.planar,
            display=self._display,
            height=self._height,
            floor=self._floor,
        )
        return self._annotated(plain, self.moment(number)) if self._moments else plain

    def _annotated(self, scene: Scene, document: Document) -> Scene:
        """With goals, limits, ghosts, trails: what of them is asked for."""
        parts = self.plan.parts
        ghosts: tuple[Ghost, ...] = ()
        trails: tuple[Trail, ...] = ()
        if self.clip is not None and "ghosts" in parts:
            ghosts = ghosts_of(document, self._asked)
        if self.clip is not None and "trails" in parts:
            trails = trails_of(document, _trailed(document), self._asked)
        stuck = joints_at_limit(document) if "limits" in parts else ()
        return replace(
            scene,
            marks=goal_marks(document) if "goals" in parts else (),
            at_limit=frozenset(document.skeleton.index(name) for name in stuck),
            ghosts=ghosts,
            trails=trails,
        )

    def selected(self, number: int) -> Floats | None:
        """(3,) the middle of what is selected in the window, at a picture's time; None where nothing is."""
        document = self.moment(number)
        points = [point for item in document.selection for point in grips.places(document, item)]
        if not points:
            return None
        return np.asarray(0.5 * (np.min(points, axis=0) + np.max(points, axis=0)))


def as_in_view(camera: Camera, view: tuple[int, int], size: tuple[int, int]) -> Camera:
    """The camera with all that a window's view shows, whatever the shape of the picture."""
    wide, wanted = view[0] / max(view[1], 1), size[0] / max(size[1], 1)
    if wanted >= wide:
        return camera
    return replace(camera, fov_y=2.0 * math.atan(math.tan(0.5 * camera.fov_y) * wide / wanted))


def walks_out(document: Document, frames: tuple[int, int], camera: Camera, size: tuple[int, int]) -> bool:
    """Whether a figure that is in view now goes out of it in the course of some frames.

    Args:
        document: as it is shown.
        frames: the first and the last of them.
        camera: of the film.
        size: (width, height) of its pictures.
    """
    if not _seen(document, document.pose, camera, size):
        return False  # it is looked at from near: that is meant
    first, last = frames
    step = -(-(last - first + 1) // _GLANCES)
    return not all(_seen(document, document.frame_pose(f), camera, size) for f in range(first, last + 1, step))


def _seen(document: Document, pose: Pose, camera: Camera, size: tuple[int, int]) -> bool:
    """Whether all of the figure is in view."""
    points = figure_points(document.skeleton, world_of(document.skeleton, pose))
    at = camera.projection(size).project(points)[..., :2] / size
    return bool(((at >= 0.0) & (at <= 1.0)).all())


def _clip(document: Document, plan: FilmPlan) -> Clip | None:
    """The frames of the plan's range with all that was keyed on them, at the film's rate."""
    if plan.frames is None:
        return None
    first, last = plan.frames
    if document.played != plan.frames:
        document = replace(document, take=replace(take_of(document), first=first, last=last))
    clip = baked_character(document).clip
    assert clip is not None
    return clip.resampled(plan.fps) if resampled(document, plan) else clip


def _display(parts: frozenset[str], *, shadow: bool) -> Display:
    return Display(
        limits="all" if "limits" in parts else "none",
        names="names" in parts,
        grid="grid" in parts,
        shadow=shadow,
        goals="goals" in parts,
        ghosts="ghosts" in parts,
        trails="trails" in parts,
    )


def _trailed(document: Document) -> tuple[Item, ...]:
    """Whose ways are shown: as in the view, of what is selected, else of all effectors."""
    chosen = document.selection or tuple(Item("effector", h.effector) for h in document.handles if h.on)
    return chosen[-MOST_TRAILS:]
