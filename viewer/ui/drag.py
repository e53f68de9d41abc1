"""A drag or grab that runs: the pointer, axis locks and typed numbers make a motion, and a mover applies it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from viewer.gizmo import GizmoDrag, Shape
    from viewer.spatial.projection import Projection
    from viewer.ui.controller import Controller
    from viewer.ui.events import Button, Mods, Move, Release
    from viewer.ui.movers import Mover


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
