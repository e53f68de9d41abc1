"""Edits of values: one gesture on a widget is one undo step, and Esc cancels it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.widgets.pen import Area
from viewer.document import Action
from viewer.ui.view import one_step

THRESHOLD = 3.0
"""Logical pixels that the pointer moves before a press becomes a scrub."""

_FINE = 0.1


class Phase(StrEnum):
    """The part of a gesture that an edit belongs to."""

    BEGIN = "begin"
    MOVE = "move"
    COMMIT = "commit"
    CANCEL = "cancel"
    SET = "set"
    """A value that was typed or reset: a complete gesture."""


class Edit(NamedTuple):
    """A new value from a widget, with the phase of the gesture."""

    phase: Phase
    value: float


@dataclass(slots=True)
class _Scrub:
    """The widget that is being scrubbed; imgui holds one item at a time.

    Attributes:
        item: its imgui id.
        start: the value at the press.
        travel: pixels moved since; with Shift they count a tenth.
        moving: the pointer has passed the threshold.
    """

    item: int
    start: float
    travel: float = 0.0
    moving: bool = False


_scrubs: list[_Scrub] = []


def scrub(it: Area, value: float, per_pixel: float, *, snap: float, scale: float) -> Edit | None:
    """Change a value by dragging the last item sideways: Shift is fine, Ctrl rounds, Esc or the right button cancels.

    ``per_pixel`` is the change per framebuffer pixel, ``snap`` the step while Ctrl is held, ``scale`` framebuffer
    pixels per logical pixel.
    """
    here = imgui.get_item_id()
    running = _scrubs[-1] if _scrubs and _scrubs[-1].item == here else None
    if imgui.is_item_activated():
        _scrubs[:] = [_Scrub(here, value)]
        return None
    if running is None:
        return None
    # imgui releases an item by itself when Esc is pressed: that does not commit.
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
    """Commit a gesture whose widget is no longer drawn, since its panel was hidden. Call it last in a frame."""
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
    """Call ``do``; a `ViewerError` becomes a message. Returns whether it succeeded."""
    return ui.controller.view.attempt(do, f"panel {ui.panel.id}" if ui.panel else "")


def carry_out(ui: PanelContext, edit: Edit | None, label: str, make: Callable[[float], Action]) -> None:
    """Apply an edit, if there is one, to the document; a gesture from begin to commit is one undo step, ``label``.

    ``make`` returns the action that sets a value.
    """
    if edit is None:
        return
    if edit.phase is Phase.SET:
        attempt(ui, lambda: ui.session.dispatch(make(edit.value)))
    else:
        carry_out_all(ui, edit, label, lambda value: [make(value)])


def carry_out_all(ui: PanelContext, edit: Edit, label: str, make: Callable[[float], Iterable[Action]]) -> None:
    """Apply an edit of several things; arguments as of `carry_out`, but ``make`` returns an action for each."""
    if edit.phase is Phase.SET:
        act_all(ui, label, make(edit.value))
        return

    def update() -> None:
        for action in make(edit.value):
            ui.session.gestures.update(action)

    carry_gesture(ui, edit, lambda: ui.session.begin(label), update)


def carry_gesture(ui: PanelContext, edit: Edit, begin: Callable[[], object], update: Callable[[], object]) -> None:
    """Apply an edit by a gesture of the session, which ``begin`` begins and ``update`` changes."""
    if edit.phase in {Phase.BEGIN, Phase.SET}:
        begin()
    if edit.phase in {Phase.BEGIN, Phase.MOVE, Phase.SET}:
        attempt(ui, update)
    if edit.phase in {Phase.COMMIT, Phase.SET}:
        ui.session.commit()
    elif edit.phase is Phase.CANCEL:
        ui.session.cancel()


def act_all(ui: PanelContext, label: str, each: Iterable[Action]) -> bool:
    """Do several actions as one undo step, or none of them if one fails, with a message."""

    def do_all() -> None:
        with one_step(ui.session, label) as do:
            for action in each:
                do(action)

    return attempt(ui, do_all)


def act(ui: PanelContext, action: Action) -> bool:
    """Dispatch an action as one undo step; a `ViewerError` becomes a message. Returns whether it succeeded."""
    return attempt(ui, lambda: ui.session.dispatch(action))
