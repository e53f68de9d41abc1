"""Export film: where to, how large, what of the take, from where, what is shown; and how long it will be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.panels import file_dialog
from viewer.app.panels.film_rows import LABEL, camera_rows, motion_rows, picture_rows
from viewer.app.panels.film_state import FilmState, opened, plan_of, remember
from viewer.app.widgets.buttons import SEGMENT, segments, text_button
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog
from viewer.app.widgets.fields import FOCUS, take_keyboard, text_line
from viewer.app.widgets.items import gap, tip
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import label, separator
from viewer.errors import ViewerError
from viewer.formats.files import check_output
from viewer.ui.film import FORMATS, FilmOrder, count, length_words
from viewer.ui.film_files import files_of, there_already

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.ui.film import FilmPlan

NAME = "##film dialog"
_WIDTH = 560.0
_WORDS = ("MP4", "GIF", "PNG pictures")
_SUFFIXES = tuple(f".{form}" for form in FORMATS)


def draw(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    request = ui.take("film-dialog")
    if request is not None:
        ui.memory["film"] = state = opened(ui, ui.memory.get("film"), file_dialog.first_folder(ui))
        if request.value is not None:
            state.take_path(request.value)
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=_WIDTH):
        return
    state = ui.memory["film"]
    # Keys that a field or the dialog for places takes are not meant for this one.
    first = not imgui.is_popup_open(file_dialog.NAME)
    alone = first and not imgui.is_any_item_active()
    done = dialog_title(ui, "Export film") and first
    entered = _place(ui, state)
    separator(ui)
    picture_rows(ui, state)
    motion_rows(ui, state)
    separator(ui)
    camera_rows(ui, state)
    gap(ui.px(4))
    done = _bottom(ui, state, entered=entered, alone=alone) or done
    file_dialog.go_on(ui)
    if done:
        imgui.close_current_popup()
    end_dialog()


def _place(ui: PanelContext, state: FilmState) -> bool:
    """Name, folder, format; whether Enter was pressed in the name."""
    label(ui, "Name", width=LABEL)
    state.fresh = take_keyboard(ui, state.fresh)
    before = state.name
    state.name, entered = text_line(ui, "name", state.name, width=imgui.get_content_region_avail().x)
    if state.name != before:
        state.read_name()
    label(ui, "Folder", width=LABEL)
    button = ui.px(96)
    before = state.folder
    room = imgui.get_content_region_avail().x - button - ui.px(6)
    state.folder, _ = text_line(ui, "folder", state.folder, width=room)
    if state.folder != before:
        state.changed()
    imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Choose…", icon=fa.ICON_FA_FOLDER_OPEN, width=button):
        _choose(ui, state)
    _format(ui, state)
    return entered


def _format(ui: PanelContext, state: FilmState) -> None:
    label(ui, "Format", width=LABEL, height=SEGMENT)
    off = {FORMATS.index("mp4")} if state.lacks else set()
    chosen = segments(ui, "format", _WORDS, FORMATS.index(state.form), widths=ui.px(112), off=off)
    if chosen is not None:
        state.take_form(FORMATS[chosen])
    if state.lacks:
        imgui.indent(ui.px(LABEL))
        _wrapped(ui, state.lacks, "warn")
        imgui.unindent(ui.px(LABEL))


def _wrapped(ui: PanelContext, words: str, colour: str) -> None:
    imgui.push_style_color(imgui.Col_.text, ui.paint(colour))
    imgui.push_text_wrap_pos(0.0)
    with ui.fonts.small():
        imgui.text_unformatted(words)
    imgui.pop_text_wrap_pos()
    imgui.pop_style_color()


def _choose(ui: PanelContext, state: FilmState) -> None:
    """Ask for the place in the list of files."""
    folder = state.path.parent if state.path.parent.is_dir() else file_dialog.first_folder(ui)
    suffixes = (f".{state.form}", *(suffix for suffix in _SUFFIXES if suffix != f".{state.form}"))
    asked = file_dialog.State("Save film as", "Choose", suffixes, state.take_path, saving=True, name=state.name)
    file_dialog.begin(ui, asked, folder)


def _bottom(ui: PanelContext, state: FilmState, *, entered: bool, alone: bool) -> bool:
    """How long it is, what is in the way, buttons; whether the dialog is done."""
    plan = plan_of(ui, state)
    pictures = count(ui.session.document, plan)
    pen = Pen(ui)
    said = state.problem or state.asking
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    words = said or _files(state, pictures)
    shown = pen.fit(words, wide, SMALL)
    pen.small(x, y, shown, "warn" if said else "text3")
    imgui.dummy((wide, pen.px(20)))
    tip(words if shown != words else "")
    x, y = imgui.get_cursor_screen_pos()
    pen.strong(x, pen.middle(y, pen.px(28)), length_words(pictures, plan.fps, plan.size))
    imgui.set_cursor_screen_pos((x, y))
    word = "Replace" if state.asking else "Film"
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True), enter=alone)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _ordered(ui, state, plan, pictures)


def _files(state: FilmState, pictures: int) -> str:
    """Where to, in words."""
    path = state.path
    if state.form != "png":
        return f"To {path}"
    files = files_of(path, pictures)
    last = f" to {files[-1].name}" if pictures > 1 else ""
    return f"To {files[0]}{last}"


def _ordered(ui: PanelContext, state: FilmState, plan: FilmPlan, pictures: int) -> bool:
    """Ask for the film, unless something is in the way; whether it was asked for."""
    path = state.path
    if state.refused:
        state.problem, state.fresh = state.refused, FOCUS
        return False
    try:
        check_output(files_of(path, 1)[0])
    except ViewerError as error:
        state.problem, state.fresh = str(error), FOCUS
        return False
    question = "" if state.asking or state.agreed == path else there_already(path, pictures)
    if question:
        state.asking, state.fresh = question, FOCUS  # so that Enter is the answer
        return False
    remember(ui, state)
    ui.memory["last"] = path.parent
    state.changed()
    ui.controller.request("film", FilmOrder(plan, path))
    ui.wake()
    return True
