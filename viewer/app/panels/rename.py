"""Writing a joint's name anew: in its row of the tree, or in a dialog where the tree is put away."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import BASE
from viewer.app.layout import Place
from viewer.app.widgets.buttons import label
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, dialog_title, end_dialog
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.fields import give_keyboard, text_line
from viewer.app.widgets.pen import gap

NAME = "##rename"
ROW = 22
"""Height of a row of the tree, logical pixels."""
_FLAGS = imgui.InputTextFlags_.auto_select_all | imgui.InputTextFlags_.enter_returns_true


def in_tree(ui: PanelContext) -> int:
    """The joint whose row of the tree is a field now; -1: none."""
    return ui.controller.renaming.joint if Place.LEFT_TOP in ui.regions.rects else -1


def name_field(ui: PanelContext, joint: int, width: float) -> None:
    """The field that a row of the tree has become; Enter and leaving it take the name, Esc does not."""
    memory, own = ui.memory, ui.session.document.skeleton.names[joint]
    fresh = memory.get("renamed") != joint
    if fresh:
        memory["renamed"], memory["name"] = joint, own
        give_keyboard()
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (ui.px(4), (ui.px(ROW) - ui.px(BASE)) / 2.0))
    imgui.set_next_item_width(width)
    entered, memory["name"] = imgui.input_text("##new name", memory["name"], _FLAGS)
    imgui.pop_style_var()
    if fresh or not (entered or imgui.is_item_deactivated()):
        return
    if not imgui.is_key_pressed(imgui.Key.escape):
        attempt(ui, lambda: ui.controller.renaming.rename(joint, memory["name"]))
    _end(ui)


def _end(ui: PanelContext) -> None:
    ui.memory.pop("renamed", None)
    ui.controller.renaming.end()
    imgui.set_nav_cursor_visible(False)  # the list has the focus again, but nobody goes on by key in it
    ui.wake()


def draw(ui: PanelContext) -> None:
    """Draw the dialog, where there is no row for the name."""
    joint = ui.controller.renaming.joint
    if joint >= 0 and in_tree(ui) < 0 and ui.memory.get("renamed") != joint:
        ui.memory["renamed"], ui.memory["name"] = joint, ui.session.document.skeleton.names[joint]
        imgui.open_popup(NAME)
    if not begin_dialog(ui, NAME, width=360.0):
        return
    closed = dialog_title(ui, "Rename joint") or joint < 0
    label(ui, "Name")
    if imgui.is_window_appearing():
        give_keyboard()
    room = imgui.get_content_region_avail().x
    ui.memory["name"], entered = text_line(ui, "name", ui.memory["name"], width=room, chosen=True)
    gap(ui.px(6))
    pressed = choices(ui, Choice("Cancel"), Choice("Rename", primary=True))
    if (entered or pressed == "Rename") and joint >= 0:
        closed = attempt(ui, lambda: ui.controller.renaming.rename(joint, ui.memory["name"]))
    if closed or pressed == "Cancel":
        imgui.close_current_popup()
        _end(ui)
    end_dialog()
