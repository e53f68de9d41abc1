"""Finding a joint by name where the tree, which has a field for it, is folded away."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.layout import Place
from viewer.app.panels.tree_rows import found_rows
from viewer.app.widgets.buttons import quiet
from viewer.app.widgets.dialogs import begin_dialog, dialog_title, end_dialog
from viewer.app.widgets.edits import act
from viewer.app.widgets.fields import Search, search_field
from viewer.app.widgets.pen import Pen, item, tip
from viewer.document.actions import Select
from viewer.document.document import Item

NAME = "##find joint"
_MOST, _ROW = 8, 24


def draw(ui: PanelContext) -> None:
    """Draw the dialog, if there is no tree to search in."""
    if ui.controller.view.find_requested and Place.LEFT_TOP not in ui.regions.rects:
        ui.controller.view.find_requested = False
        ui.memory["query"], ui.memory["mark"] = "", 0
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=360.0):
        return
    closed = dialog_title(ui, "Find joint")
    before = ui.memory["query"]
    search = search_field(ui, "query", before, "Part of its name", focus=imgui.is_window_appearing())
    ui.memory["query"] = search.text
    if search.text != before:
        ui.memory["mark"] = 0
    if _list(ui, search) or closed:
        imgui.close_current_popup()
        ui.wake()
    end_dialog()


def _list(ui: PanelContext, search: Search) -> bool:
    """The joints of such a name; whether one of them was chosen. Enter takes the marked one, which arrows move."""
    skeleton, query = ui.session.document.skeleton, search.text.strip()
    names = [skeleton.names[row.joint] for row in found_rows(skeleton, query)]
    mark = ui.memory["mark"] = max(0, min(ui.memory["mark"] + search.step, len(names) - 1))
    first = max(0, mark - _MOST + 1)
    pen, h = Pen(ui), ui.px(_ROW)
    chosen = names[mark] if search.entered and names else ""
    for place, name in enumerate(names[first : first + _MOST], first):
        it = item(f"found {name}", imgui.get_content_region_avail().x, h)
        if it.hovered or place == mark:
            pen.box(*it[:4], "accent_dk" if place == mark else "field_hi")
        shown = pen.fit(name, it.w - pen.px(16))
        pen.text(it.x + pen.px(8), pen.middle(it.y, h), shown)
        tip(name if shown != name else "")
        chosen = name if it.clicked else chosen
    if not names:
        quiet(ui, f'No joint matches "{query}"')
    elif len(names) > first + _MOST:
        quiet(ui, f"{len(names) - first - _MOST} more")
    return bool(chosen) and act(ui, Select((Item("joint", chosen),)))
