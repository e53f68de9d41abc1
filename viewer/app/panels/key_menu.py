"""The menu of keys on the timeline: interpolation, duplicating, removing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.panels.commands import run
from viewer.app.panels.key_rows import key_at
from viewer.app.widgets.edits import act, attempt
from viewer.session.actions import SimplifyKeys
from viewer.session.take.values import Blend
from viewer.ui.commands import BY_ID
from viewer.ui.dope_rows import keys_in

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.key_rows import Placed
    from viewer.app.panels.ruler import Axis
    from viewer.app.widgets.pen import Pen

BLENDS = {Blend.STEP: "Step", Blend.LINEAR: "Linear (slerp)", Blend.SMOOTH: "Smooth"}
"""What runs of keys are called."""
_MENU = "key menu"
_SIMPLER = 0.5
"""Degrees by which simplifying may turn a joint otherwise."""


def open_menu(ui: PanelContext, pen: Pen, axis: Axis, placed: list[Placed]) -> None:
    """Open it at the pointer; a key under it is selected first."""
    place = imgui.get_mouse_pos()
    grip, keying = key_at(pen, axis, placed, (place.x, place.y)), ui.controller.keying
    if grip is not None:
        keys = keys_in(ui.session.document, grip[0], grip[1], grip[1])
        if not keying.selected & set(keys):
            keying.select(keys)
    imgui.open_popup(_MENU)


def draw_menu(ui: PanelContext) -> None:
    """Draw it while it is open."""
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(8), ui.px(8)))
    if imgui.begin_popup(_MENU):
        keying = ui.controller.keying
        blend_entries(ui)
        imgui.separator()
        _command(ui, "key.duplicate")
        _command(ui, "pose.copy", "Copy keys" if keying.selected else "")
        _command(ui, "pose.paste", "Paste")
        if imgui.menu_item_simple("Delete keys", BY_ID["goal.remove"].shortcut, False, bool(keying.selected)):
            attempt(ui, keying.delete)
            ui.wake()
        imgui.separator()
        if imgui.menu_item_simple("Select all keys", None, False, keying.take is not None):
            keying.select_all()
            ui.wake()
        if imgui.menu_item_simple("Simplify keys", None, False, keying.take is not None):
            act(ui, SimplifyKeys(ui.controller.preferences.record_tolerance_deg or _SIMPLER))
        if imgui.menu_item_simple("Show all frames"):
            keying.view.fit()
            ui.wake()
        imgui.end_popup()
    imgui.pop_style_var()


def blend_entries(ui: PanelContext) -> None:
    """How the stretches after the selected keys run."""
    keying = ui.controller.keying
    there = keying.blends()
    for blend, words in BLENDS.items():
        if imgui.menu_item_simple(words, None, there == {blend}, bool(keying.selected)):
            attempt(ui, lambda blend=blend: keying.set_blend(blend))  # type: ignore[misc]  # bound now
            ui.wake()


def _command(ui: PanelContext, command: str, words: str = "") -> None:
    row = BY_ID[command]
    if imgui.menu_item_simple(words or row.title, row.shortcut, False, ui.controller.can(command)):
        run(ui, command)
