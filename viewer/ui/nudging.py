"""Nudging: the arrow keys move the selected targets by a pixel, a tenth of one, or the snap step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from viewer.session.actions import MoveTargets
from viewer.ui.command import Handler, Handlers
from viewer.ui.commands import DIRECTIONS

if TYPE_CHECKING:
    from viewer.session import Item
    from viewer.spatial.checks import Floats
    from viewer.ui.controller import Controller

Size = Literal["", "_fine", "_step"]
_FINE = 0.1
PAUSE = 1.0
"""Seconds without a nudge after which the next one is another step."""


class Nudging:
    """Of one controller. Nudges in a row are one undo step, until a pause, another action or another selection."""

    def __init__(self, controller: Controller) -> None:
        """Nothing is nudged."""
        self._controller = controller
        self._gesture: str | None = None
        self._now, self._last = 0.0, -math.inf

    def nudge(self, way: str, size: Size) -> None:
        """Move the targets of the selected effectors in a direction of the view."""
        controller, items = self._controller, self._effectors()
        direction = self._direction(way)
        if size == "_step":
            length = controller.snap_m
            # Steps go along the world's axes, as snapping does: the one that looks most like the direction.
            axis = int(np.argmax(np.abs(direction)))
            direction = np.sign(direction[axis]) * np.eye(3)[axis]
        else:
            active = controller.picture.grip(items[-1])[0]
            scale = float(controller.projection().pixels_per_metre(active))
            length = (_FINE if size else 1.0) * controller.scale / scale if scale > 0.0 else 0.0
        moved = {item.name: (controller.picture.grip(item)[0] + length * direction, None) for item in items}
        if not self._under_way:
            controller.session.begin(MoveTargets(moved).label.replace("Move", "Nudge"))
            self._gesture = controller.session.gesture
        controller.session.update(MoveTargets(moved))
        self._last = self._now

    @property
    def _under_way(self) -> bool:
        """Whether the step of the last nudge is open: what a panel does ends it without a word to us."""
        return self._gesture is not None and self._controller.session.gesture == self._gesture

    def finish(self) -> None:
        """Something else is done: the nudges so far are one step."""
        if self._under_way:
            self._controller.session.commit()
        self._gesture = None

    def tick(self, now: float) -> bool:
        """End them after a pause; whether that is still to come."""
        self._now = now
        if self._under_way and now - self._last >= PAUSE:
            self.finish()
        return self._under_way

    def _effectors(self) -> list[Item]:
        return [item for item in self._controller.session.document.selection if item.kind == "effector"]

    def _direction(self, way: str) -> Floats:
        """(3,) unit vector in the world of a direction of the view."""
        view = self._controller.projection()
        return {
            "left": -view.right, "right": view.right, "up": view.up, "down": -view.up,
            "nearer": view.back, "farther": -view.back,
        }[way]  # fmt: skip

    def handlers(self) -> Handlers:
        """Of the nudges."""
        sizes: tuple[Size, ...] = ("", "_fine", "_step")
        return {f"nudge.{way}{size}": self._handler(way, size) for way in DIRECTIONS for size in sizes}

    def _handler(self, way: str, size: Size) -> Handler:
        return Handler(lambda: self.nudge(way, size), lambda: bool(self._effectors()))
