"""Small questions: save first, go to a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.widgets.arithmetic import evaluate
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog, escape_pressed
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.fields import text_line
from viewer.app.widgets.items import gap
from viewer.app.widgets.rows import label
from viewer.ui.frames import last_frame

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

SAVE, FRAME = "##ask save", "##go to frame"

_WIDTH = 440.0


def draw(ui: PanelContext) -> None:
    """Ask what is to be asked."""
    _ask_save(ui)
    _go_to_frame(ui)


def _question(ui: PanelContext, words: str) -> None:
    with ui.fonts.base():
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(words)
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
    if ui.take("go-to-frame") is not None:
        ui.memory["frame"] = str(ui.session.document.frame)
        imgui.open_popup(FRAME)
    if not begin_dialog(ui, FRAME, width=320.0):
        return
    closed = dialog_title(ui, "Go to frame")
    label(ui, "Frame")
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    room = imgui.get_content_region_avail().x
    ui.memory["frame"], entered = text_line(ui, "frame", ui.memory["frame"], width=room)
    last = last_frame(ui.session.document)
    gap(ui.px(6))
    pressed = choices(ui, Choice("Cancel"), Choice("Go", primary=True))
    if entered or pressed == "Go":
        closed = attempt(ui, lambda: ui.controller.playback.go(round(min(max(evaluate(ui.memory["frame"]), 0), last))))
    if closed or pressed == "Cancel":
        imgui.close_current_popup()
        ui.wake()
    end_dialog()
