"""The mouse: what is under the pointer, and what a press there begins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from viewer.document.actions import Select
from viewer.gizmo import Part
from viewer.session import Item
from viewer.ui.drag_targets import hits_at, under
from viewer.ui.dragging import Drag
from viewer.ui.events import Mods, Move, Press, Release
from viewer.ui.gestures import THRESHOLD, Box, Gesture, MoveCamera, Pressed, item_of

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

_AXIS_PARTS = (Part.X, Part.Y, Part.Z)


class Pointing:
    """The pointer of one controller."""

    def __init__(self, controller: Controller) -> None:
        """Nowhere yet."""
        self._controller = controller
        self._last = Move(-1.0, -1.0)
        self._clicked: tuple[float, float] | None = None
        self._seen = -1

    @property
    def mods(self) -> Mods:
        """Keys held when the pointer was last heard of."""
        return self._last.mods

    @property
    def place(self) -> tuple[float, float]:
        """Where the pointer is, framebuffer pixels of the window."""
        return self._last.x, self._last.y

    @property
    def cursor(self) -> str:
        """The pointer's shape.

        One of "arrow", "hand", "move", "axis-x", "axis-y", "axis-z", "crosshair", "grabbing", "hidden", "not-allowed".
        """
        gesture, hover = self._controller.gesture, self._controller.hovered
        if gesture is not None and not isinstance(gesture, Pressed):
            return gesture.cursor
        if hover.part is not None:
            return f"axis-{hover.part.value}" if hover.part in _AXIS_PARTS else "move"
        if hover.hit is not None:
            return "hand" if self._controller.drags.can_drag(hover.hit) else "not-allowed"
        return "hand" if hover.axis else "arrow"

    # Events

    def move(self, event: Move) -> None:
        """The pointer moved."""
        self._last = event
        if self._controller.gesture is not None:
            self._controller.gesture.move(event)
        else:
            self._controller.set_hovered(under(self._controller, event.x, event.y))
            self._controller.demos.pointed(event)

    def mods_changed(self, mods: Mods) -> None:
        """A modifier went down or came up: a drag snaps, or no longer does, without the pointer moving."""
        if mods != self._last.mods:
            self._last = replace(self._last, mods=mods)
            if isinstance(self._controller.gesture, Drag):
                self._controller.gesture.move(self._last)

    def tick(self) -> None:
        """What is under a pointer that rests changes with the document."""
        controller, seen = self._controller, self._controller.session.revision
        if controller.gesture is None and not controller.session.playing and seen != self._seen:
            self._seen = seen
            controller.set_hovered(under(self._controller, *self.place))

    def press(self, event: Press) -> None:
        """A button went down."""
        controller, gesture = self._controller, self._controller.gesture
        if isinstance(gesture, Drag):
            if event.button == "right":
                controller.drags.cancel()
            elif event.button == "left" and gesture.grabbing:
                controller.drags.confirm()
        elif gesture is None and controller.viewport.contains(event.x, event.y):
            self._last = Move(event.x, event.y, event.mods)
            controller.set_hovered(under(self._controller, event.x, event.y))
            controller.set_gesture(self._pressed(event))

    def release(self, event: Release) -> None:
        """A button came up."""
        gesture = self._controller.gesture
        if gesture is None or gesture.button != event.button:
            return
        if not isinstance(gesture, Drag):
            self._controller.set_gesture(None)
        gesture.release(event)
        self._last = Move(event.x, event.y, event.mods)
        self._controller.set_hovered(under(self._controller, event.x, event.y))

    # What a press begins

    def _pressed(self, event: Press) -> Pressed:
        camera = self._camera_move(event)
        if event.button == "left" and "alt" not in event.mods:
            return self._left(event)
        click: Callable[[], object] | None = None
        if event.button == "right" and "alt" not in event.mods:
            click = lambda: self._context_menu(event)  # noqa: E731 - a callback
        elif "alt" in event.mods and (event.button == "middle" or event.clicks == 2):
            click = lambda: self._centre(event)  # noqa: E731
        return Pressed(self._controller, event, click, camera)

    def _camera_move(self, event: Press) -> Callable[[], Gesture] | None:
        """How the camera follows a button, with the keys held; by the preset."""
        mods, simple = event.mods, self._controller.preset == "simple"
        ways = {
            "middle": "zoom" if "ctrl" in mods else "pan" if mods & {"shift", "alt"} else "orbit",
            "right": "zoom" if "alt" in mods else "pan" if simple else None,
            "left": "orbit" if "alt" in mods else None,
        }
        how = ways[event.button]
        return None if how is None else lambda: MoveCamera(self._controller, event, how)  # type: ignore[arg-type]

    def _left(self, event: Press) -> Pressed:
        controller, hover = self._controller, self._controller.hovered
        drag: Callable[[], Gesture | None]
        orbit = lambda: MoveCamera(controller, event, "orbit")  # noqa: E731 - a callback
        pan = lambda: MoveCamera(controller, event, "pan")  # noqa: E731
        box = lambda: Box(controller, event)  # noqa: E731
        if hover.axis:
            return Pressed(controller, event, lambda: self._look_along(hover.axis), orbit)
        if hover.part is not None:
            drag = lambda: controller.drags.from_gizmo(hover.part, event)  # noqa: E731
        elif hover.hit is not None and ("ctrl" not in event.mods or hover.hit.kind == "effector"):
            drag = lambda: controller.drags.from_hit(hover.hit, event)  # noqa: E731
        elif "ctrl" in event.mods or controller.preset != "simple":
            drag = box
        else:
            drag = pan if "shift" in event.mods else orbit
        return Pressed(controller, event, lambda: self._click(event), drag)

    # What a click does

    def _click(self, event: Press) -> None:
        """Select what was clicked, with Shift besides, with a double click its children too."""
        if self._controller.demos.clicked(event):
            return
        found = hits_at(self._controller, event.x, event.y)
        items = list(dict.fromkeys(item_of(hit) for hit in found))
        if not items:
            if not event.mods and self._controller.hovered.part is None:
                self._controller.session.dispatch(Select(()))
            return
        if event.clicks == 2:
            active = self._controller.session.document.active
            self._controller.selecting.with_children(active if active in items else items[0])
            return
        item = self._next(items, event)
        self._controller.session.dispatch(Select((item,), "toggle" if event.mods & {"shift", "ctrl"} else "set"))
        self._clicked = (event.x, event.y)

    def _next(self, items: list[Item], event: Press) -> Item:
        """The first of the items; clicking again at the same place goes through them all."""
        active, at = self._controller.session.document.active, self._clicked
        here = at is not None and math.hypot(event.x - at[0], event.y - at[1]) < THRESHOLD * self._controller.scale
        if not here or active not in items or event.mods:
            return items[0]
        return items[(items.index(active) + 1) % len(items)]

    def _look_along(self, axis: str | None) -> None:
        if axis and axis != "disc":
            self._controller.camera_moves.look_along(axis)

    def _centre(self, event: Press) -> None:
        found = hits_at(self._controller, event.x, event.y)
        if found:
            self._controller.camera_moves.centre(found[0].point)

    def _context_menu(self, event: Press) -> None:
        """Select what the menu is for, and ask for it."""
        found = hits_at(self._controller, event.x, event.y)
        item = item_of(found[0]) if found else None
        if item is not None and item not in self._controller.session.document.selection:
            self._controller.session.dispatch(Select((item,)))
        self._controller.request("context-menu", item, event.x, event.y)
