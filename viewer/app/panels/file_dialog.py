"""The file dialog, our own: a bare machine has none that could be borrowed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.panels.export_rows import HEIGHT as EXPORT_HEIGHT
from viewer.app.panels.export_rows import ExportState, draw_export
from viewer.app.panels.file_list import draw_list, draw_places
from viewer.app.panels.file_state import NO_NAME, State
from viewer.app.panels.folder import means_folder, meant
from viewer.app.widgets.buttons import text_button
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog
from viewer.app.widgets.fields import FOCUS, take_keyboard, text_line
from viewer.app.widgets.items import gap, tip
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import label
from viewer.errors import ViewerError
from viewer.formats.files import check_output
from viewer.formats.load import READERS
from viewer.session.files import SUFFIX
from viewer.ui.documents import EXPORTS, export_to, replaces
from viewer.ui.showing import Wanted

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

__all__ = ["NAME", "OPENED", "State", "begin", "draw", "first_folder", "go_on"]

NAME = "##file dialog"
OPENED = (*READERS, SUFFIX)
"""Suffixes of what can be opened."""

_REQUESTS = ("open-dialog", "locate-dialog", "save-as-dialog", "export-dialog", "picture-dialog")
_WIDTH, _HEIGHT, _PLACES = 820.0, 520.0, 180.0


def draw(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    request = next((asked for name in _REQUESTS if (asked := ui.take(name)) is not None), None)
    if request is not None:
        state = _asked(ui, request.name, request.value)
        begin(ui, state, request.value.folder if isinstance(request.value, Wanted) else first_folder(ui))
    go_on(ui)


def begin(ui: PanelContext, state: State, folder: Path) -> None:
    """Open the dialog in the current imgui window, in a folder; `go_on` draws it."""
    state.go(folder)
    ui.memory["state"] = state
    imgui.open_popup(NAME)


def go_on(ui: PanelContext) -> None:
    """Draw the dialog while it is open, and close it."""
    now: State | None = ui.memory.get("state")
    more = EXPORT_HEIGHT if now is not None and now.export is not None else 0.0
    if not begin_dialog(ui, NAME, width=_WIDTH, height=_HEIGHT + more) or now is None:
        return
    if dialog_title(ui, now.title) or _contents(ui, now):
        ui.memory["last"] = now.folder
        imgui.close_current_popup()
    end_dialog()


def _asked(ui: PanelContext, name: str, value: object) -> State:
    controller = ui.controller
    stem = Path(controller.files.name.removesuffix(SUFFIX)).stem
    if name == "open-dialog":
        return State("Open", "Open", OPENED, controller.files.open, samples=True)
    if isinstance(value, Wanted):
        return State(f"Locate {value.name}", "Use", tuple(READERS), value.use)
    if name == "save-as-dialog":
        proposed = str(value or f"{stem}{SUFFIX}")
        return State("Save as", "Save", (SUFFIX,), controller.files.save_to, saving=True, name=proposed)
    if name == "export-dialog":
        asked = ExportState.of(ui.session.document)
        asks, name = partial(replaces, controller), f"{stem}{EXPORTS[0]}"
        state = State("Export", "Export", EXPORTS, _nothing, saving=True, asks=asks, name=name, export=asked)
        state.done = lambda path: export_to(controller, path, options=asked.options(controller.document, path))
        return state
    picture = partial(controller.request, "picture")
    return State("Save picture", "Save", (".png",), picture, saving=True, name=f"{stem}.png")


def _nothing(_: Path) -> None:
    """Stands in until it is known what to do."""


def first_folder(ui: PanelContext) -> Path:
    """Where the last file was, else where the document is, else here."""
    session = ui.session
    source = session.document.character.source.path
    tried = [ui.memory.get("last"), session.path and session.path.parent]
    tried += [Path(source).absolute().parent if source and not source.startswith("sample:") else None, Path.cwd()]
    return next((folder for folder in tried if isinstance(folder, Path) and folder.is_dir()), Path.home())


def _contents(ui: PanelContext, state: State) -> bool:
    """Places, path, list, name, buttons; whether the dialog is done."""
    bottom = ui.px(30) + ui.px(32) + ui.px(26) + (ui.px(EXPORT_HEIGHT) if state.export is not None else 0)
    tall = imgui.get_content_region_avail().y - bottom
    imgui.begin_child("places", (ui.px(_PLACES), tall))
    sample = draw_places(ui, state)
    imgui.end_child()
    imgui.same_line(0.0, ui.px(12))
    imgui.begin_child("folder", (0.0, tall))
    done = _path_field(ui, state)
    gap(ui.px(2))
    if draw_list(ui, state):
        done = _chosen(ui, state) or done
    imgui.end_child()
    return _bottom(ui, state) or sample or done


def _path_field(ui: PanelContext, state: State) -> bool:
    if text_button(ui, "Up", enabled=state.folder.parent != state.folder, hint="The folder above   Backspace"):
        state.go(state.folder.parent)
    imgui.same_line(0.0, ui.px(6))
    state.typed, entered = text_line(ui, "path", state.typed, width=imgui.get_content_region_avail().x)
    if not entered:
        return False
    path = meant(state.typed, state.folder)
    if path.is_dir():
        state.go(path)
        return False
    state.name = str(path)
    return _chosen(ui, state)


def _bottom(ui: PanelContext, state: State) -> bool:
    alone = not imgui.is_any_item_active()  # what Enter ends in a field is not meant for the dialog
    if state.export is not None:
        draw_export(ui, state, state.export)
    label(ui, "Name")
    entered = _name_field(ui, state)
    _line(ui, _said(state), "warn" if state.problem or state.replacing or state.unnamed else "text3")
    word = "Replace" if state.replacing is not None and state.replacing == state.path else state.action
    sure = bool(state.name.strip()) and not state.unnamed
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True, enabled=sure), enter=alone)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _chosen(ui, state)


def _name_field(ui: PanelContext, state: State) -> bool:
    """The name or path; whether Enter was pressed. Arrows go through the list, Backspace from no name a folder up."""
    state.fresh = take_keyboard(ui, state.fresh)
    wide, empty, before = imgui.get_content_region_avail().x, not state.name, state.name
    name, entered = text_line(
        ui, "name", before, width=wide, hint="" if state.saving else "Name, or a path", stepped=state.step
    )
    if imgui.is_item_edited() and not state.stepped:
        state.replacing, state.problem = None, ""
    state.name = name
    active, free = imgui.is_item_active(), not imgui.is_any_item_active()  # free: the list was clicked
    if (free or (active and empty)) and imgui.is_key_pressed(imgui.Key.backspace):
        state.go(state.folder.parent)
    step = imgui.is_key_pressed(imgui.Key.down_arrow) - imgui.is_key_pressed(imgui.Key.up_arrow)
    if free and step:
        state.step(step)
        ui.wake()
    return entered


def _line(ui: PanelContext, words: str, colour: str) -> None:
    """What is said above the buttons, whole in the tip where it has no room."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    shown = pen.fit(words, wide, SMALL)
    pen.small(x, y, shown, colour)
    imgui.dummy((wide, pen.px(SMALL)))
    tip(words if shown != words else "")


def _said(state: State) -> str:
    if state.problem:
        return state.problem
    if state.unnamed:
        return NO_NAME
    if state.replacing is not None:
        return state.asks(state.replacing)
    return f"Files ending in {', '.join(state.suffixes)}"


def _chosen(ui: PanelContext, state: State) -> bool:
    """Take what is named; whether that was all."""
    path = state.path
    if path.is_dir() and not state.unnamed:
        state.go(path)
        state.name = "" if not state.saving or means_folder(state.name) else state.name
        return False
    if problem := state.refused or _unwritable(state):
        state.problem, state.fresh = problem, FOCUS
        return False
    if not state.saving and not path.is_file():
        state.problem, state.fresh = f"{path}: no such file", FOCUS
        return False
    if state.saving and path.exists() and state.replacing != path:
        state.replacing, state.fresh = path, FOCUS  # so that Enter is the answer
        return False
    ui.wake()
    return _done(ui, state, path)


def _unwritable(state: State) -> str:
    """Why there can be no file of that name where it is to be; said while the name can still be mended."""
    if state.saving:
        try:
            check_output(state.path)
        except ViewerError as error:
            return str(error)
    return ""


def _done(ui: PanelContext, state: State, path: Path) -> bool:
    """Do what the dialog is for; whether that worked: what went wrong in writing is said here, and the name stays."""
    if state.done(path) is not False or not state.saving:
        return True
    said = ui.controller.messages[-1:]
    for message in said:
        ui.controller.bar.close(message)
        state.problem = message.text
    state.replacing, state.fresh = None, FOCUS
    return not said
