"""What a held mouse button does: a press that may become a drag, moving the camera, a box selection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from viewer.document.actions import Select
from viewer.scene import Hit, box
from viewer.session import Item
from viewer.spatial.checks import Floats
from viewer.ui.events import Button, Move, Press, Release

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

THRESHOLD = 3.0
"""Logical pixels from which a press is a drag."""
_ZOOM_PIXELS = 25.0
"""Logical pixels of a zooming drag that are worth a notch of the wheel."""


class Gesture(Protocol):
    """Something that goes on from a press, or a key, to a release."""

    button: Button | None
    """Which holds it; None: it goes on without."""

    @property
    def cursor(self) -> str:
        """The pointer's shape."""

    def move(self, event: Move) -> None:
        """The pointer moved."""

    def release(self, event: Release) -> None:
        """The button came up; the gesture is over."""


class Pressed:
    """A button is down and has not moved far enough to drag anything."""

    cursor = "arrow"

    def __init__(
        self,
        controller: Controller,
        event: Press,
        click: Callable[[], object] | None,
        drag: Callable[[], Gesture | None] | None,
    ) -> None:
        """Do ``click`` when the button comes up where it went down; go on with ``drag`` when it moves away."""
        self._controller, self._click, self._drag = controller, click, drag
        self.button: Button | None = event.button
        self.x, self.y = event.x, event.y

    def move(self, event: Move) -> None:
        """Become a drag once it is one."""
        if math.hypot(event.x - self.x, event.y - self.y) < THRESHOLD * self._controller.scale:
            return
        drag, self._drag, self._click = self._drag, None, None
        gesture = drag() if drag is not None else None
        if gesture is not None:
            self._controller.set_gesture(gesture)
            gesture.move(event)

    def release(self, event: Release) -> None:  # noqa: ARG002 - where it went down is what counts
        """It was a click, unless the pointer went away from it."""
        if self._click is not None:
            self._click()


class MoveCamera:
    """The camera follows the pointer."""

    def __init__(self, controller: Controller, event: Press, how: Literal["orbit", "pan", "zoom"]) -> None:
        """Start where the button went down."""
        if how == "orbit" and not controller.camera_moves.turns:
            how = "pan"
        self._controller, self._how = controller, how
        self.button: Button | None = event.button
        self.cursor = "grabbing" if how == "pan" else "arrow"
        self._start = self._last = (event.x, event.y)

    def move(self, event: Move) -> None:
        """Orbit, pan or zoom by what the pointer moved since."""
        dx, dy = event.x - self._last[0], event.y - self._last[1]
        self._last = (event.x, event.y)
        camera = self._controller.camera_moves
        if self._how == "orbit":
            camera.orbit(dx, dy)
        elif self._how == "pan":
            camera.pan(dx, dy)
        else:
            steps = (dx - dy) / (_ZOOM_PIXELS * self._controller.scale)
            camera.zoom(steps, *self._controller.local(*self._start))

    def release(self, event: Release) -> None:
        """Nothing is left to do."""


class Box:
    """A rectangle that selects what is inside it."""

    cursor = "crosshair"

    def __init__(self, controller: Controller, event: Press) -> None:
        """One corner is where the button went down."""
        self._controller = controller
        self.button: Button | None = event.button
        self._start = self._end = controller.local(event.x, event.y)

    def move(self, event: Move) -> None:
        """The other corner follows the pointer."""
        self._end = self._controller.local(event.x, event.y)
        self._controller.changed()

    def corners(self) -> Floats:
        """(4, 2) pixels of the viewport, in turn."""
        (x0, y0), (x1, y1) = self._start, self._end
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    def release(self, event: Release) -> None:
        """Select; with Shift add to what is selected."""
        self._end = self._controller.local(event.x, event.y)
        found = box(self._controller.scene(), self._controller.projection(), *self._start, *self._end)
        self._controller.changed()
        self._controller.session.dispatch(Select(_chosen(found), "add" if "shift" in event.mods else "set"))


def item_of(hit: Hit) -> Item:
    """What a hit selects: a bone is the joint that turns it, the root's handle its joint."""
    if hit.kind == "effector" and not (hit.mark is not None and hit.mark.root):
        return Item("effector", hit.name)
    return Item("joint", hit.name)


def _chosen(found: list[Hit]) -> tuple[Item, ...]:
    """Effectors that hold something; joints where there are none: the two overlap nearly everywhere."""
    effectors = [item_of(hit) for hit in found if hit.mark is not None and hit.mark.on and not hit.mark.root]
    return tuple(effectors or dict.fromkeys(item_of(hit) for hit in found if hit.kind == "joint"))
