"""The dialog that finds commands and joints by words of their names, and runs or selects the chosen one."""

from __future__ import annotations

from dataclasses import dataclass

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.layout import Place
from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import run
from viewer.app.panels.skeleton_tree import found_rows
from viewer.app.theme import SMALL
from viewer.app.widgets.buttons import list_row, quiet
from viewer.app.widgets.dialogs import dialog
from viewer.app.widgets.edits import act
from viewer.app.widgets.fields import Search, search_field
from viewer.app.widgets.pen import Pen, tip
from viewer.document import Item
from viewer.document.actions import Select
from viewer.skeleton import Skeleton
from viewer.ui.commands import COMMANDS

_POPUP = "##find"
_MOST, _ROW = 10, 24
"""Rows shown at once, and the height of one, logical pixels."""
_NOT_OFFERED = frozenset({"find.all", "select.find"})


@dataclass(frozen=True, slots=True)
class Found:
    """A row of the dialog.

    Attributes:
        words: of the row.
        command: id of the command that it runs; "": it selects a joint.
        note: the command's menu and key.
    """

    words: str
    command: str = ""
    note: str = ""


def found_commands(query: str) -> list[Found]:
    """The commands outside drags whose title or menu contains every word of a query; none without one.

    Those whose title begins with the first word come first.
    """
    words = query.casefold().split()
    found = []
    for command in COMMANDS:
        text = f"{command.title} {command.row} {command.menu or ''}".casefold()
        if words and not command.in_drag and command.id not in _NOT_OFFERED and all(word in text for word in words):
            note = "   ".join(part for part in (command.menu or "", command.shortcut) if part)
            begins = command.title.casefold().startswith(words[0])
            found.append((not begins, Found(command.title, command.id, note)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def found_here(skeleton: Skeleton, query: str) -> list[Found]:
    """Commands, then joints; without a query all joints."""
    joints = [Found(skeleton.names[row.joint]) for row in found_rows(skeleton, query)]
    return [*found_commands(query), *joints]


def draw_find_dialog(ui: PanelContext) -> None:
    """Open the dialog when it is requested, also by the search of the tree while that is hidden, and draw it."""
    asked = ui.take("find-dialog") is not None
    if ui.controller.view.find_requested and Place.LEFT_TOP not in ui.regions.rects:
        ui.controller.view.find_requested, asked = False, True
    if asked:
        ui.memory["query"], ui.memory["mark"] = "", 0
        imgui.open_popup(_POPUP)
    with dialog(ui, _POPUP, width=420.0, title="Find") as shown:
        if shown is None:
            return
        before = ui.memory["query"]
        search = search_field(ui, "query", before, "A command or a joint", focus=imgui.is_window_appearing())
        ui.memory["query"] = search.text
        if search.text != before:
            ui.memory["mark"] = 0
        chosen = _chosen(ui, search)
        if chosen is not None:
            shown.closed = True
            if chosen.command:
                run(ui, chosen.command)
            else:
                act(ui, Select((Item("joint", chosen.words),)))
        if shown.closed:
            ui.wake()


def _chosen(ui: PanelContext, search: Search) -> Found | None:
    """Draw what is found, with one row marked: arrow keys move the mark, Enter and a click choose."""
    query = search.text.strip()
    found = [
        one
        for one in found_here(ui.session.document.skeleton, query)
        if not one.command or ui.controller.can(one.command)
    ]
    mark = ui.memory["mark"] = max(0, min(ui.memory["mark"] + search.step, len(found) - 1))
    first = max(0, mark - _MOST + 1)
    chosen = found[mark] if search.entered and found else None
    for index, one in enumerate(found[first : first + _MOST], first):
        chosen = one if _row(ui, one, marked=index == mark) else chosen
    if not found:
        quiet(ui, f'No command or joint matches "{query}"')
    elif len(found) > first + _MOST:
        quiet(ui, f"{len(found) - first - _MOST} more")
    return chosen


def _row(ui: PanelContext, one: Found, *, marked: bool) -> bool:
    """Draw a row; returns whether it was clicked."""
    pen = Pen(ui)
    it = list_row(pen, f"found {one.command or one.words}", _ROW, chosen=marked)
    pen.icon(it.x + pen.px(14), it.middle[1], fa.ICON_FA_BOLT if one.command else fa.ICON_FA_BONE, "text3", SMALL)
    noted = pen.width(one.note, SMALL) + pen.px(16) if one.note else 0.0
    tip(pen.fitted(it.x + pen.px(28), pen.middle(it.y, it.h), one.words, it.w - pen.px(36) - noted))
    if one.note:
        pen.right(it.x + it.w - pen.px(8), pen.middle(it.y, it.h, SMALL), one.note, "text3", SMALL)
    return it.clicked
