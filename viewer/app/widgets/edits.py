"""Values changed by hand: one gesture on a widget is one step of the history, and Esc takes all of it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.widgets.pen import Area
from viewer.document.document import Action
from viewer.errors import ViewerError

THRESHOLD = 3.0
"""Logical pixels that the pointer goes before a press becomes a scrub."""

_FINE = 0.1


class Phase(StrEnum):
    """Where in a gesture an edit is."""

    BEGIN = "begin"
    MOVE = "move"
    COMMIT = "commit"
    CANCEL = "cancel"
    SET = "set"
    """Typed or reset: the whole gesture at once."""


class Edit(NamedTuple):
    """What a widget asks for.

    Attributes:
        phase: of the gesture.
        value: wanted now.
    """

    phase: Phase
    value: float


@dataclass(slots=True)
class _Scrub:
    """The one widget that is being scrubbed: imgui holds one item at a time.

    Attributes:
        item: its imgui id.
        start: the value at the press.
        travel: pixels since, fine ones counting a tenth.
        moving: the threshold was passed.
    """

    item: int
    start: float
    travel: float = 0.0
    moving: bool = False


_scrubs: list[_Scrub] = []


def scrub(it: Area, value: float, per_pixel: float, *, snap: float, scale: float) -> Edit | None:
    """What dragging the last item sideways does to a value.

    The value is always the one at the press and the whole way since: Shift makes the way a tenth, Ctrl rounds the value
    to whole steps. Esc and the right button take it back.

    Args:
        it: the last item.
        value: as it is in the document.
        per_pixel: change per framebuffer pixel.
        snap: step while Ctrl is held.
        scale: framebuffer pixels per logical pixel.
    """
    here = imgui.get_item_id()
    running = _scrubs[-1] if _scrubs and _scrubs[-1].item == here else None
    if imgui.is_item_activated():
        _scrubs[:] = [_Scrub(here, value)]
        return None
    if running is None:
        return None
    # imgui lets go of an item by itself when Esc is pressed: that is not a release.
    if imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
        if it.held:
            imgui.internal.clear_active_id()
        _scrubs.clear()
        return Edit(Phase.CANCEL, running.start) if running.moving else None
    if not it.held:
        _scrubs.clear()
        return Edit(Phase.COMMIT, value) if running.moving else None
    imgui.set_next_frame_want_capture_keyboard(True)
    io = imgui.get_io()
    return _moved(running, per_pixel, snap if io.key_ctrl else 0.0, scale)


def settle(ui: PanelContext) -> None:
    """Finish a gesture whose widget is no longer drawn: its panel was put away. Call it last in a frame."""
    if not _scrubs or imgui.internal.get_active_id() == _scrubs[-1].item:
        return
    if _scrubs.pop().moving:
        ui.session.commit()


def _moved(running: _Scrub, per_pixel: float, snap: float, scale: float) -> Edit | None:
    io = imgui.get_io()
    begin = False
    if not running.moving:
        if not imgui.is_mouse_dragging(imgui.MouseButton_.left, THRESHOLD * scale):
            return None
        running.moving = begin = True
        running.travel = imgui.get_mouse_drag_delta(imgui.MouseButton_.left, 0.0).x * (_FINE if io.key_shift else 1.0)
    elif io.mouse_delta.x:
        running.travel += io.mouse_delta.x * (_FINE if io.key_shift else 1.0)
    wanted = running.start + running.travel * per_pixel
    if snap > 0.0:
        wanted = round(wanted / snap) * snap
    return Edit(Phase.BEGIN if begin else Phase.MOVE, wanted)


def attempt(ui: PanelContext, do: Callable[[], object]) -> bool:
    """Do something; what is wrong with the input becomes a message. Whether it was done."""
    about = f"panel {ui.panel.id}" if ui.panel else ""
    try:
        do()
    except ViewerError as error:
        ui.controller.view.fail(error, about)
        return False
    ui.controller.view.bar.done(about)
    return True


def carry_out(ui: PanelContext, edit: Edit | None, label: str, make: Callable[[float], Action]) -> None:
    """Bring an edit into the document: the steps between begin and commit are one step of the history.

    Args:
        ui: what panels draw from.
        edit: from a widget; None: nothing happened.
        label: of the gesture, for the history.
        make: the action that sets a value.
    """
    if edit is None:
        return
    session = ui.session
    match edit.phase:
        case Phase.SET:
            attempt(ui, lambda: session.dispatch(make(edit.value)))
        case Phase.BEGIN:
            session.begin(label)
            attempt(ui, lambda: session.gestures.update(make(edit.value)))
        case Phase.MOVE:
            attempt(ui, lambda: session.gestures.update(make(edit.value)))
        case Phase.COMMIT:
            session.commit()
        case Phase.CANCEL:
            session.cancel()


def act(ui: PanelContext, action: Action) -> bool:
    """Do an action as one step of the history; what is wrong with it becomes a message. Whether it was done."""
    return attempt(ui, lambda: ui.session.dispatch(action))
