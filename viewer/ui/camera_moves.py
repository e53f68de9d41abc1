"""Moving the camera: standard views, keys, wheel, and jumps that glide; never while something is held."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.scene import Camera, ViewName, blend
from viewer.spatial.checks import Floats
from viewer.ui.commands import Handler, Handlers
from viewer.ui.events import Scroll
from viewer.ui.playback import Travel

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

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


JUMP_SECONDS = 0.18
ORBIT_STEP = math.radians(15.0)
_SCROLL_ORBIT = 40.0
"""Pixels of orbit or pan that a notch of two-finger scrolling is worth."""
_LEAST_SPAN = 0.25
"""What is framed is shown as at least this part of the figure's height."""
_MARGIN = 24.0
"""Logical pixels round what is framed: the rings of pins and of what is selected are as large."""
_TALL = 0.55
"""Part of the view's height from which a figure is large enough for its way to be in view when it is opened."""
_RESIZED = 1.5
"""A figure that is so many times as large as before, or as small, is looked at anew."""


class CameraMoves:
    """The camera of one controller."""

    def __init__(self, controller: Controller) -> None:
        """A camera that is not aimed at anything yet: see `frame_all`."""
        self._controller = controller
        self.camera = Camera(target=np.zeros(3))
        self.follow = False
        self._jump: tuple[Camera, Camera] | None = None
        self._since: float | None = None
        self._started: Camera | None = None
        self._height, self._travel = 1.0, Travel()

    def set(self, camera: Camera) -> None:
        """Take a camera at once; a jump under way ends."""
        self._jump = self._since = None
        if not camera.same_as(self.camera):
            self.camera = camera
            self._controller.changed()

    def jump(self, camera: Camera) -> None:
        """Glide to a camera, or take it at once where motion is to be reduced."""
        if self._controller.dragging:
            return
        if self._controller.preferences.reduce_motion:
            self.set(camera)
            return
        self._jump, self._since = (self.camera, camera), None
        self._controller.changed()

    @property
    def gliding(self) -> bool:
        """Whether a jump is under way."""
        return self._jump is not None

    @property
    def heading_for(self) -> Camera:
        """Where the camera will be once it is at rest."""
        return self._jump[1] if self._jump else self.camera

    def tick(self, now: float) -> bool:
        """Go on gliding; whether the camera moved."""
        if not 1.0 / _RESIZED < self._controller.picture.height / self._height < _RESIZED:
            self.start()  # its units were changed, say: it would be a dot, or all that is to be seen
        if self._jump is None:
            return self._face() or self._follow()
        if self._since is None:
            self._since = now
        start, goal = self._jump
        part = (now - self._since) / JUMP_SECONDS
        if part >= 1.0:
            self.set(goal)
        else:
            self.camera = blend(start, goal, part)
            self._controller.changed()
        return True

    def _face(self) -> bool:
        """Turn back to the plane that the body is kept in, whatever brought it there: undo, say."""
        faced = self._controller.planes.facing(self.camera)
        if faced.same_as(self.camera):
            return False
        self.jump(faced)
        return True

    @property
    def turns(self) -> bool:
        """Whether the view can be turned: not that of a plane, in which clicks and drags are meant."""
        return self._controller.document.planar is None

    def _follow(self) -> bool:
        """Keep the selection in the middle, if that is asked for."""
        if not self.follow or self._controller.dragging:
            return False
        points = self._controller.picture.selected_points()
        if not len(points):
            return False
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        if np.abs(middle - self.camera.target).max() < 1e-9:
            return False
        self.set(replace(self.camera, target=middle))
        return True

    def orbit(self, dx: float, dy: float) -> None:
        """Turn with a pointer that moved by (dx, dy) pixels; shift, where the view stays at its plane."""
        if self.turns:
            self.set(self.camera.orbit(dx, dy, self._controller.scale))
        else:
            self.pan(dx, dy)

    def pan(self, dx: float, dy: float) -> None:
        """Shift with a pointer that moved by (dx, dy) pixels."""
        self.set(self.camera.pan(dx, dy, self._controller.viewport.size))

    def zoom(self, steps: float, x: float, y: float) -> None:
        """Nearer by steps of the wheel; what is under the viewport's pixel (x, y) stays there."""
        point = self._controller.projection().under(x, y, self.camera.target)
        self.set(self.camera.zoom(steps, point if np.isfinite(point).all() else None))

    def scroll(self, event: Scroll) -> None:
        """The wheel zooms; if preferred, two fingers orbit, pan with Shift and zoom with Ctrl."""
        x, y = self._controller.local(event.x, event.y)
        by = _SCROLL_ORBIT * self._controller.scale
        if not self._controller.preferences.two_fingers or "ctrl" in event.mods:
            self.zoom(event.dy, x, y)
        elif "shift" in event.mods:
            self.pan(by * event.dx, by * event.dy)
        else:
            self.orbit(by * event.dx, by * event.dy)

    def centre(self, point: Floats) -> None:
        """Orbit about a point (3,) from now on."""
        self.jump(replace(self.heading_for, target=point))

    def frame(self, points: Floats) -> None:
        """Bring points (N, 3) into view."""
        if len(points):
            self.jump(self._framed(self.heading_for, points))

    def _framed(self, camera: Camera, points: Floats) -> Camera:
        """The camera with points (N, 3) in view, and room for the signs that are drawn on them."""
        least, margin = _LEAST_SPAN * self._controller.picture.height, _MARGIN * self._controller.scale
        return camera.frame(points, self._controller.viewport.size, least=least, margin=margin)

    def frame_all(self) -> None:
        """Bring the figure into view, and all of the way that it goes in the frames that are played."""
        self.frame(self._travel.points(self._controller.document))

    def start(self) -> None:
        """The view that a document opens with, at once: three-quarter, the figure, and its way if it is large then."""
        self._jump = None
        camera, picture = self._controller.demos.opening_view(self.camera), self._controller.picture
        room, figure = self._controller.demos.room(), picture.figure_points()
        view = self._framed(camera, np.concatenate([self._travel.points(self._controller.document), room]))
        pixels = view.projection(self._controller.viewport.size).project(figure)
        if not np.ptp(pixels[:, 1]) >= _TALL * self._controller.viewport.h:
            view = self._framed(camera, np.concatenate([figure, room]))
        self.set(view)
        self._started, self._height = self.camera, self._controller.picture.height

    def resized(self) -> None:
        """The viewport has another size: a view that nobody has touched is fitted anew."""
        if self.camera is self._started:
            self.start()

    def frame_selection(self) -> None:
        """Bring what is selected into view, tips of joints included; the figure as it stands where nothing is."""
        picture = self._controller.picture
        points = np.concatenate([picture.selected_points(), picture.selected_tips()])
        self.frame(points if len(points) else picture.figure_points())

    def look(self, view: ViewName) -> None:
        """Turn to a standard view of the figure."""
        self.jump(self.heading_for.looking(view, self._controller.picture.facing()))

    def look_along(self, axis: str) -> None:
        """Turn so that a world axis ("x", "-x", ...) points at whoever looks; from there to the opposite view."""
        now = self.heading_for
        goal = along(now, axis)
        there = abs(math.remainder(goal.yaw - now.yaw, math.tau)) < 1e-9 and abs(goal.pitch - now.pitch) < 1e-9
        self.jump(now.opposite() if there else goal)

    def _step(self, yaw: float, pitch: float) -> Handler:
        return self._turning(lambda: self.jump(self.heading_for.turned(yaw, pitch)))

    def _turning(self, do: Callable[[], None], checked: Callable[[], bool] | None = None) -> Handler:
        return Handler(do, lambda: self.turns, checked)

    def _toggle_follow(self) -> None:
        self.follow = not self.follow
        self._controller.changed()

    def _toggle_perspective(self) -> None:
        self.set(replace(self.heading_for, orthographic=not self.heading_for.orthographic))

    def handlers(self) -> Handlers:
        """Of the commands that move the camera."""
        step = ORBIT_STEP
        return {
            "view.frame_selection": Handler(self.frame_selection),
            "view.frame_all": Handler(self.frame_all),
            "view.follow": Handler(self._toggle_follow, checked=lambda: self.follow),
            "view.opposite": self._turning(lambda: self.jump(self.heading_for.opposite())),
            "view.orthographic": self._turning(self._toggle_perspective, lambda: self.camera.orthographic),
            "view.orbit_left": self._step(-step, 0.0),
            "view.orbit_right": self._step(step, 0.0),
            "view.orbit_up": self._step(0.0, step),
            "view.orbit_down": self._step(0.0, -step),
        } | {f"view.{word}": self._view(view) for word, view in VIEWS.items()}

    def _view(self, view: ViewName) -> Handler:
        return self._turning(lambda: self.look(view))
