"""What keys and buttons do now: the right end of the status line."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from viewer.gizmo import Tool
from viewer.ui import numbers
from viewer.ui.dragging import Drag
from viewer.ui.gestures import Box, MoveCamera

if TYPE_CHECKING:
    from viewer.ui.controller import Controller


_WORTH = 2
"""Joints of a chain from which on its length can be chosen."""


class Hint(NamedTuple):
    """One of them.

    Attributes:
        keys: engraved on the key or said of the button.
        words: what it does.
        kept: it is shown however little room there is.
    """

    keys: str
    words: str
    kept: bool = False


def hints_of(controller: Controller) -> tuple[Hint, ...]:
    """For what is held, else for what is under the pointer."""
    gesture = controller.gesture
    if isinstance(gesture, Drag):
        return _of_drag(controller, gesture)
    if isinstance(gesture, Box):
        return (Hint("Shift", "add"),)
    return () if isinstance(gesture, MoveCamera) else _of_pointer(controller)


def _of_pointer(controller: Controller) -> tuple[Hint, ...]:
    if controller.session.recording:
        return Hint("Drag", "record"), Hint("Shift R", "stop")
    hover = controller.hovered
    if hover.axis:
        return Hint("Click", "view"), Hint("Drag", "orbit")
    if hover.part is not None or (hover.hit is not None and hover.hit.kind == "effector"):
        turning = hover.part is not None and controller.tool is Tool.ROTATE
        return Hint("Drag", "rotate" if turning else "move"), *_modifiers(controller, turning=turning)
    if hover.hit is not None:
        pull = (Hint("Drag", "pull"),) if controller.drags.can_drag(hover.hit) else ()
        return *pull, Hint("Click", "select"), Hint("Right click", "menu")
    moves = "orbit" if controller.camera_moves.turns else "pan"
    if controller.preset == "simple":
        return Hint("Drag", moves), Hint("Ctrl", "box select"), Hint("F", "frame")
    return Hint("Drag", "box select"), Hint("Middle", moves), Hint("F", "frame")


def _modifiers(controller: Controller, *, turning: bool) -> tuple[Hint, ...]:
    step = f"{controller.snap_deg:g}°" if turning else numbers.step(controller.snap_m)
    word = f"free of {step}" if controller.magnet else f"snap {step}"
    return Hint("Ctrl", word), Hint("Shift", "fine")


def _of_drag(controller: Controller, drag: Drag) -> tuple[Hint, ...]:
    end = (Hint("Click", "confirm"),) if drag.grabbing else ()
    if drag.typing:
        following = () if drag.handle.turning else (Hint("Tab", "next axis"),)
        return *following, Hint("Enter", "confirm"), Hint("Esc", "cancel")
    held = controller.pointing.mods & {"ctrl", "shift"}
    if held:
        words = {"ctrl": "snap", "shift": "fine"}
        return *(Hint(mod.capitalize(), words[mod]) for mod in sorted(held)), *end, Hint("Esc", "cancel")
    usual = Hint("X Y Z", "lock axis"), Hint("0 … 9", "type a number")
    length, most = controller.session.chain
    chain = Hint("PgUp PgDn", f"chain {length}" if length < most else "chain", kept=length < most)
    if most < _WORTH:
        return *usual, *end, Hint("Esc", "cancel")
    # One that was chosen comes first: it is to be seen however little room there is.
    last = (*end, Hint("Esc", "cancel"))
    return (*usual, *last, chain) if length == most else (chain, *usual, *last)
