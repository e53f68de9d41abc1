"""Finding a joint by name where the tree, which has a field for it, is folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.layout import Place
from viewer.app.panels.tree_rows import found_rows
from viewer.app.widgets.dialogs import begin_dialog, dialog_title, end_dialog
from viewer.app.widgets.edits import act
from viewer.app.widgets.fields import text_line
from viewer.app.widgets.items import item, tip
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import quiet
from viewer.session.actions import Select
from viewer.session.document import Item

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

NAME = "##find joint"
_MOST, _ROW = 8, 24


def draw(ui: PanelContext) -> None:
    """Draw the dialog, if there is no tree to search in."""
    if ui.controller.find_requested and Place.LEFT_TOP not in ui.regions.rects:
        ui.controller.find_requested = False
        ui.memory["query"] = ""
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=360.0):
        return
    closed = dialog_title(ui, "Find joint")
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    room = imgui.get_content_region_avail().x
    ui.memory["query"], entered = text_line(ui, "query", ui.memory["query"], width=room, hint="Part of its name")
    if _list(ui, entered=entered) or closed or imgui.is_key_pressed(imgui.Key.escape):
        imgui.close_current_popup()
        ui.wake()
    end_dialog()


def _list(ui: PanelContext, *, entered: bool) -> bool:
    """The joints of such a name; whether one of them was chosen. Enter takes the first."""
    skeleton, query = ui.session.document.skeleton, ui.memory["query"].strip()
    names = [skeleton.names[row.joint] for row in found_rows(skeleton, query)]
    pen, h = Pen(ui), ui.px(_ROW)
    chosen = names[0] if entered and names else ""
    for name in names[:_MOST]:
        it = item(f"found {name}", imgui.get_content_region_avail().x, h)
        if it.hovered:
            pen.box(*it[:4], "field_hi")
        shown = pen.fit(name, it.w - pen.px(16))
        pen.text(it.x + pen.px(8), pen.middle(it.y, h), shown)
        tip(name if shown != name else "")
        chosen = name if it.clicked else chosen
    if not names:
        quiet(ui, f'No joint matches "{query}"')
    elif len(names) > _MOST:
        quiet(ui, f"{len(names) - _MOST} more")
    return bool(chosen) and act(ui, Select((Item("joint", chosen),)))
