"""Small questions: save first, go to a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.widgets.arithmetic import evaluate
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog, escape_pressed
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.fields import FOCUS, take_keyboard, text_line
from viewer.app.widgets.items import gap
from viewer.app.widgets.rows import label
from viewer.errors import visible
from viewer.ui import numbers
from viewer.ui.frames import last_frame

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

SAVE, FRAME = "##ask save", "##go to frame"

_WIDTH = 440.0
_RANGE = 96.0
"""Room for the frames that there are, logical pixels."""


def draw(ui: PanelContext) -> None:
    """Ask what is to be asked."""
    _ask_save(ui)
    _go_to_frame(ui)


def _question(ui: PanelContext, words: str) -> None:
    with ui.fonts.base():
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(visible(words, icons=True))
        imgui.pop_text_wrap_pos()
    gap(ui.px(8))


def _ask_save(ui: PanelContext) -> None:
    request = ui.take("ask-save")
    if request is not None:
        ui.memory["file"] = request.value
        imgui.open_popup(SAVE)
    if not begin_dialog(ui, SAVE, width=_WIDTH):
        return
    _question(ui, f"Save changes to {ui.memory['file']}?")
    pressed = choices(ui, Choice("Save", primary=True), Choice("Discard"), Choice("Cancel"))
    if not pressed and escape_pressed():
        pressed = "Cancel"
    if pressed:
        imgui.close_current_popup()
        ui.controller.files.answer_save(pressed.lower())  # type: ignore[arg-type]  # the words of the buttons
        ui.wake()
    end_dialog()


def _go_to_frame(ui: PanelContext) -> None:
    memory = ui.memory
    if ui.take("go-to-frame") is not None:
        memory["frame"], memory["fresh"] = str(ui.session.document.frame), FOCUS
        imgui.open_popup(FRAME)
    if not begin_dialog(ui, FRAME, width=320.0):
        return
    closed = dialog_title(ui, "Go to frame")
    last = last_frame(ui.session.document)
    label(ui, "Frame")
    memory["fresh"] = take_keyboard(ui, memory["fresh"])
    room = max(imgui.get_content_region_avail().x - ui.px(_RANGE), ui.px(60))
    memory["frame"], entered = text_line(ui, "frame", memory["frame"], width=room, chosen=True)
    imgui.same_line()
    label(ui, f"0 to {last}", width=_RANGE)
    imgui.new_line()
    gap(ui.px(6))
    pressed = choices(ui, Choice("Cancel"), Choice("Go", primary=True))
    if entered or pressed == "Go":
        closed = attempt(ui, lambda: _go(ui, evaluate(memory["frame"]), last))
    if closed or pressed == "Cancel":
        imgui.close_current_popup()
        ui.wake()
    end_dialog()


def _go(ui: PanelContext, wanted: float, last: int) -> None:
    """Show a frame; the nearest that there is, and say so, where there is no such frame."""
    asked = round(wanted)
    frame = min(max(asked, 0), last)
    ui.controller.playback.go(frame)
    if frame != asked:
        there = "first" if frame == 0 else "last"
        ui.controller.note(f"Frame: there is no {numbers.fixed(asked, 0)}, {frame} is the {there}")
