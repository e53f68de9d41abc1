"""Small questions: save first, a file that somebody else has written, a motion that is gone, go to a frame."""

from __future__ import annotations

from pathlib import Path

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.widgets.buttons import label
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog, escape_pressed
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.fields import FOCUS, evaluate, take_keyboard, text_line
from viewer.app.widgets.pen import gap
from viewer.errors import visible
from viewer.session.backup import backup_of
from viewer.ui import numbers
from viewer.ui.opening import Question
from viewer.ui.timeline import last_frame

SAVE, CHANGED, MOTION, FRAME = "##ask save", "##ask changed", "##ask motion", "##go to frame"

_WIDTH, _WIDER = 440.0, 600.0
_RANGE = 96.0
"""Room for the frames that there are, logical pixels."""


def draw(ui: PanelContext) -> None:
    """Ask what is to be asked."""
    _ask_save(ui)
    _ask_changed(ui)
    _ask_motion(ui)
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


def _ask_changed(ui: PanelContext) -> None:
    """The session file on disk is not the one that was opened or saved here."""
    request = ui.take("ask-changed")
    if request is not None:
        ui.memory["changed"] = request.value
        imgui.open_popup(CHANGED)
    if not begin_dialog(ui, CHANGED, width=_WIDER):
        return
    name = str(ui.memory["changed"])
    closed = dialog_title(ui, f"{name} has changed on disk")
    _question(ui, "Another window or program has written it since it was opened or saved here.")
    kept = backup_of(Path(name))
    _quiet(ui, "Replace writes over that version" + ("." if kept is None else f", which is kept as {kept.name}."))
    _quiet(ui, "Reload opens that version; the changes made here are given up.")
    gap(ui.px(8))
    answers = {"Save as…": "save as", "Replace": "replace", "Reload": "reload", "Cancel": "cancel"}
    pressed = choices(ui, *(Choice(words, primary=words == "Save as…") for words in answers))
    if pressed or closed:
        imgui.close_current_popup()
        ui.controller.files.answer_changed(answers[pressed or "Cancel"])  # type: ignore[arg-type]  # one of them
        ui.wake()
    end_dialog()


def _ask_motion(ui: PanelContext) -> None:
    """The session that is to be opened has no motion of its own, and its motion file is gone or has changed."""
    request = ui.take("ask-motion")
    if request is not None:
        ui.memory["motion"] = request.value
        imgui.open_popup(MOTION)
    if not begin_dialog(ui, MOTION, width=_WIDER):
        return
    asked: Question = ui.memory["motion"]
    found = asked.found
    closed = dialog_title(ui, f"The motion of {asked.session.name}")
    if found.place is None:
        _question(ui, f"The motion file {found.name} is missing.")
        _quiet(ui, f"It was {found.named.path}")
    else:
        _question(ui, f"The motion file {found.name} {found.problem}.")
        _quiet(ui, f"It is {found.place}")
    _quiet(ui, "Without the motion the figure stands still; pose, goals and keys are there.")
    gap(ui.px(8))
    answers = {"Locate…": "locate", "Use the changed file": "use", "Open without motion": "without", "Cancel": "cancel"}
    offered = [words for words, answer in answers.items() if answer != "use" or found.place is not None]
    pressed = choices(ui, *(Choice(words, primary=words == "Locate…") for words in offered))
    if pressed or closed:
        imgui.close_current_popup()
        ui.controller.opening.answer_motion(asked, answers[pressed or "Cancel"])  # type: ignore[arg-type]  # one of them
        ui.wake()
    end_dialog()


def _quiet(ui: PanelContext, words: str) -> None:
    """Small print, on as many lines as it takes."""
    with ui.fonts.small():
        imgui.push_text_wrap_pos(0.0)
        imgui.text_colored(ui.colour("text2"), words)
        imgui.pop_text_wrap_pos()


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
        ui.controller.view.note(f"Frame: there is no {numbers.fixed(asked, 0)}, {frame} is the {there}")
