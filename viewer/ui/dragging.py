"""Drags and grabs while they run: pointer, axis locks and typed numbers become changes of the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from viewer.gizmo import Gizmo, GizmoDrag, Part, Shape, Tool
from viewer.scene import Hit
from viewer.session import Document, Item, Mode
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import drag_targets
from viewer.ui.commands import Handler, Handlers
from viewer.ui.drag_targets import Hover, Mover, can_move
from viewer.ui.events import Button, Mods, Move, Press, Release
from viewer.ui.gestures import item_of

if TYPE_CHECKING:
    from viewer.ui.controller import Controller


class Drag:
    """Something is held; the camera does not move while it is."""

    def __init__(self, controller: Controller, handle: GizmoDrag, mover: Mover, button: Button | None) -> None:
        """Hold it, by a button or (None) by a key until a click."""
        self._controller, self.handle, self.mover = controller, handle, mover
        self.button = button

    @property
    def grabbing(self) -> bool:
        """Whether no button holds it: a click or Enter confirms."""
        return self.button is None

    @property
    def cursor(self) -> str:
        """Hidden, unless there is no button that says what goes on."""
        return "crosshair" if self.grabbing else "hidden"

    @property
    def readout(self) -> str:
        """How far: ``ΔZ 0.124 m``."""
        return self.handle.readout

    @property
    def typing(self) -> bool:
        """Whether any number is typed, in this field or another: then the pointer has no say."""
        return self.handle.typing

    @property
    def typed(self) -> str:
        """The number that is being typed; empty if none is."""
        return self.handle.typed

    def snaps(self, mods: Mods) -> bool:
        """Whether it snaps with these keys held."""
        return ("ctrl" in mods) != self._controller.magnet

    def move(self, event: Move) -> None:
        """The pointer moved, or Ctrl or Shift did."""
        x, y = self._controller.local(event.x, event.y)
        projection = self._controller.projection()
        self.handle.move(x, y, projection, snap=self.snaps(event.mods), fine="shift" in event.mods)
        self._apply()

    def release(self, event: Release) -> None:  # noqa: ARG002 - the last move counts
        """Keep it."""
        self._controller.drags.confirm()

    def lock(self, axis: Literal["x", "y", "z"], *, plane: bool) -> None:
        """Along one axis only, or (plane) not along it; again: another space's; again: free."""
        self.handle.lock(axis, plane=plane)
        self._apply()

    def type(self, text: str) -> None:
        """A digit, a point or a sign: the number counts instead of the pointer."""
        self.handle.type(text)
        self._apply()

    def backspace(self) -> None:
        """Take back what was typed last."""
        self.handle.backspace()
        self._apply()

    def next_field(self) -> None:
        """Go on to the number of the next axis."""
        self.handle.next_field()
        self._apply()

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        """What is drawn over the figure while it runs."""
        return self.handle.shapes(projection, scale)

    def _apply(self) -> None:
        if self._controller.session.gesture is None:
            # Something else, such as a panel, has changed the document and so ended the session's gesture.
            self._controller.set_gesture(None)
            return
        self.mover.apply(self._controller.session, self.handle.motion)
        self._controller.changed()


__all__ = ["Drag", "Dragging"]

_Axis = Literal["x", "y", "z"]
_AXES: tuple[_Axis, ...] = get_args(_Axis)


class Dragging:
    """Begins and ends the drags of one controller."""

    def __init__(self, controller: Controller) -> None:
        """None runs."""
        self._controller = controller

    @property
    def _document(self) -> Document:
        return self._controller.session.document

    # Beginning

    def can_drag(self, hit: Hit) -> bool:
        """Whether dragging there would move anything."""
        return drag_targets.can_take(self._document, hit)

    def from_hit(self, hit: Hit | None, event: Press) -> Drag | None:
        """Drag what is under the pointer, in the view plane; None where it cannot be moved."""
        if hit is None:
            return None
        item = item_of(hit)
        mover, place = drag_targets.mover_for(self._document, item, hit)
        if mover is None:
            return None
        gizmo = self._gizmo(item, Tool.MOVE, place)
        return self._begun(self._hold(gizmo, Part.SCREEN, self._local(event)), mover, event)

    def from_gizmo(self, part: Part | None, event: Press) -> Drag | None:
        """Drag a handle of the gizmo at the active item."""
        item, gizmo = self._document.active, self._controller.picture.gizmo()
        if item is None or gizmo is None or part is None:
            return None
        drag = self._hold(gizmo, part, self._local(event))
        return self._begun(drag, drag_targets.mover_of_handles(self._document, item, gizmo.tool), event)

    def grab(self, tool: Tool) -> None:
        """The active item follows the pointer at once, until a click or Enter; Esc takes it back."""
        item = self._document.active
        if item is None:
            return
        controller = self._controller
        fk = self._document.mode is Mode.FK and not (tool is Tool.MOVE and controller.picture.is_root(item))
        gizmo = controller.picture.gizmo_at(item, Tool.ROTATE if fk else tool)
        part = Part.SCREEN if gizmo.tool is Tool.MOVE else Part.VIEW_RING
        drag = self._hold(gizmo, part, controller.local(*controller.pointing.place))
        controller.set_gesture(self._begun(drag, drag_targets.mover_of_handles(self._document, item, gizmo.tool), None))

    def _begun(self, handle: GizmoDrag, mover: Mover, event: Press | None) -> Drag:
        controller = self._controller
        mover.begin(controller.session)
        controller.set_hovered(Hover())
        return Drag(controller, handle, mover, None if event is None else event.button)

    def _local(self, event: Press) -> tuple[float, float]:
        return self._controller.local(event.x, event.y)

    def _hold(self, gizmo: Gizmo, part: Part, at: tuple[float, float]) -> GizmoDrag:
        """Take hold of a handle at a pixel of the viewport."""
        controller = self._controller
        steps = {"snap_m": controller.snap_m, "snap_deg": controller.snap_deg}
        return GizmoDrag(gizmo, controller.projection(), part, *at, **steps)

    def _gizmo(self, item: Item, tool: Tool, place: Floats) -> Gizmo:
        return replace(self._controller.picture.gizmo_at(item, tool), position=place)

    # While it runs, and ending

    def _lengthen(self, by: int) -> None:
        """Let more or fewer joints above what is dragged take part."""
        session = self._controller.session
        length, most = session.chain
        if most:
            session.set_chain(min(max(length + by, 1), most))

    @property
    def _drag(self) -> Drag | None:
        gesture = self._controller.gesture
        return gesture if isinstance(gesture, Drag) else None

    def confirm(self) -> None:
        """Keep what was dragged: one step to undo."""
        if self._drag is None:
            return
        self._controller.set_gesture(None)
        self._controller.session.commit()

    def cancel(self) -> None:
        """Take everything back: the very document that the drag began with."""
        if self._drag is not None:
            self._controller.set_gesture(None)
            self._controller.session.cancel()

    def let_go(self) -> None:
        """Hold nothing any more, where the session has ended what was under way."""
        if self._drag is not None and self._controller.session.gesture is None:
            self._controller.set_gesture(None)

    # Commands

    def handlers(self) -> Handlers:
        """Of what acts while something is dragged, and of grabs."""
        session = self._controller.session
        handlers = {
            "grab.move": Handler(lambda: self.grab(Tool.MOVE), self._can_move),
            "grab.rotate": Handler(lambda: self.grab(Tool.ROTATE), self._can_grab),
            "solver.escape": Handler(lambda: session.accept_escape(), lambda: session.escape_offered),  # noqa: PLW0108
            "drag.chain_longer": Handler(lambda: self._lengthen(1)),
            "drag.chain_shorter": Handler(lambda: self._lengthen(-1)),
            "drag.confirm": Handler(self.confirm),
            "drag.cancel": Handler(self.cancel),
            "drag.backspace": self._while_dragging(Drag.backspace),
            "drag.next_field": self._while_dragging(Drag.next_field),
            "drag.type_point": self._typing("."),
            "drag.type_minus": self._typing("-"),
        }
        handlers |= {f"drag.type_{digit}": self._typing(str(digit)) for digit in range(10)}
        for axis in _AXES:
            handlers[f"drag.lock_{axis}"] = self._locking(axis, plane=False)
            handlers[f"drag.plane_{axis}"] = self._locking(axis, plane=True)
        return handlers

    def _can_grab(self) -> bool:
        item = self._document.active
        return item is not None and self._controller.gesture is None

    def _can_move(self) -> bool:
        item = self._document.active
        if item is None or not self._can_grab():
            return False
        return self._document.mode is Mode.FK or can_move(self._document, item)

    def _while_dragging(self, do: Callable[[Drag], None]) -> Handler:
        def run() -> None:
            if self._drag is not None:
                do(self._drag)

        return Handler(run)

    def _typing(self, text: str) -> Handler:
        return self._while_dragging(lambda drag: drag.type(text))

    def _locking(self, axis: _Axis, *, plane: bool) -> Handler:
        return self._while_dragging(lambda drag: drag.lock(axis, plane=plane))
