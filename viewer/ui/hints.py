"""Hints about keys and mouse buttons at the right end of the status line."""

from __future__ import annotations

from typing import NamedTuple

from viewer.gizmo import Tool
from viewer.session import Session
from viewer.ui import numbers
from viewer.ui.building import Building, JointDrag
from viewer.ui.dragging import Drag, Dragging
from viewer.ui.pointing import Box, MoveCamera
from viewer.ui.range_handles import RangeDrag
from viewer.ui.trails import TrailMover
from viewer.ui.tweening import Slide
from viewer.ui.view import View, Workspace

_WORTH = 2
"""Shortest chain, in joints, whose length can be changed."""


class Hint(NamedTuple):
    """A key or button and its effect.

    Attributes:
        keys: label of the key or button.
        words: its effect.
        kept: shown even if there is little room.
    """

    keys: str
    words: str
    kept: bool = False


def hints_of(session: Session, view: View, drags: Dragging, building: Building) -> tuple[Hint, ...]:
    """Hints for the gesture under way, else for what is under the pointer."""
    gesture = view.gesture
    if isinstance(gesture, Drag):
        return _of_drag(session, view, gesture)
    if isinstance(gesture, Slide):
        return Hint("Ctrl", "steps of 10 %"), Hint("Click", "confirm"), Hint("Esc", "cancel")
    if isinstance(gesture, RangeDrag):
        step = "no snap" if view.magnet else "snap 5°"
        return Hint("Ctrl", step), Hint("Shift", "fine"), Hint("Alt", "both ends"), Hint("Esc", "cancel")
    if isinstance(gesture, Box):
        return (Hint("Shift", "add"),)
    if building.on and not isinstance(gesture, MoveCamera):
        return _of_building(view, building)
    return () if isinstance(gesture, MoveCamera) else _of_pointer(session, view, drags)


def _of_building(view: View, building: Building) -> tuple[Hint, ...]:
    plane = Hint("Q", "plane")
    if isinstance(view.gesture, JointDrag):
        return Hint("Ctrl", "free" if view.magnet else f"snap {numbers.step(view.snap_m)}"), Hint("Esc", "cancel")
    if building.empty:
        return Hint("Click", "first joint"), plane
    found = building.hit(*view.pointer_at)
    if found is not None:
        click = "branch from it" if found.kind == "joint" else "split it" if building.adding else "select"
        drag = (Hint("Drag", "move"),) if found.kind == "joint" else ()
        return Hint("Click", click), *drag, Hint("Right click", "menu")
    if not building.adding or not building.active:
        return Hint("Click", "joint to go on from"), Hint("Ctrl Enter", "pose")
    return Hint("0 … 9", "type a length"), Hint("Tab", "angle"), plane, Hint("Esc", "end chain")


def _of_pointer(session: Session, view: View, drags: Dragging) -> tuple[Hint, ...]:
    if session.recorder.recording:
        return Hint("Drag", "record"), Hint("Shift R", "stop")
    if view.workspace is Workspace.RETARGET and session.stage.several:
        return Hint("Drag", "a string's end"), Hint("Right click", "no partner"), Hint("Ctrl Enter", "apply")
    hover = view.hovered
    if view.workspace is Workspace.PHYSICS and (hover.hit is None or hover.hit.kind in {"bone", "joint"}):
        return Hint("Drag", "pull a bone"), Hint("Shift K", "throw a ball"), Hint("Space", "pause"), Hint("K", "stop")
    if hover.axis:
        return Hint("Click", "view"), Hint("Drag", "orbit")
    if hover.part is not None or (hover.hit is not None and hover.hit.kind in {"effector", "prop", "layer", "radius"}):
        turning = hover.part is not None and view.tool is Tool.ROTATE
        return Hint("Drag", "rotate" if turning else "move"), *_modifiers(view, turning=turning)
    if hover.hit is not None and hover.hit.kind == "limit":
        return Hint("Drag", "both sides" if view.mirror else "change the range"), Hint("Alt", "orbit")
    if hover.hit is not None and hover.hit.kind == "trail":
        frame = hover.hit.place
        return Hint("Drag", f"move at frame {frame}"), Hint("Click", f"go to frame {frame}")
    if hover.figure:
        return Hint("Click", "work on it"), Hint("Drag", "orbit" if view.turns else "pan")
    if hover.hit is not None:
        pull = (Hint("Drag", "pull"),) if drags.can_drag(hover.hit) else ()
        return *pull, Hint("Click", "select"), Hint("Right click", "menu")
    moves = "orbit" if view.turns else "pan"
    if view.preset == "simple":
        return Hint("Drag", moves), Hint("Ctrl", "box select"), Hint("F", "frame")
    return Hint("Drag", "box select"), Hint("Middle", moves), Hint("F", "frame")


def _modifiers(view: View, *, turning: bool) -> tuple[Hint, ...]:
    step = f"{view.snap_deg:g}°" if turning else numbers.step(view.snap_m)
    word = "no snap" if view.magnet else f"snap {step}"
    return Hint("Ctrl", word), Hint("Shift", "fine")


def _of_drag(session: Session, view: View, drag: Drag) -> tuple[Hint, ...]:
    end = (Hint("Click", "confirm"),) if drag.grabbing else ()
    if drag.typing:
        following = () if drag.handle.turning else (Hint("Tab", "next axis"),)
        return *following, Hint("Enter", "confirm"), Hint("Esc", "cancel")
    held = view.pointer.mods & {"ctrl", "shift"}
    if held:
        words = {"ctrl": "snap", "shift": "fine"}
        return *(Hint(mod.capitalize(), words[mod]) for mod in sorted(held)), *end, Hint("Esc", "cancel")
    if isinstance(drag.mover, TrailMover):
        return Hint("Wheel", f"reach {drag.mover.reach}", kept=True), Hint("X Y Z", "lock axis"), Hint("Esc", "cancel")
    usual = Hint("X Y Z", "lock axis"), Hint("0 … 9", "type a number")
    length, most = session.gestures.chain
    chain = Hint("PgUp PgDn", f"chain {length}" if length < most else "chain", kept=length < most)
    if most < _WORTH:
        return *usual, *end, Hint("Esc", "cancel")
    # A chain whose length was changed comes first, so that it is visible in little room.
    last = (*end, Hint("Esc", "cancel"))
    return (*usual, *last, chain) if length == most else (chain, *usual, *last)
