"""The panel Joints of robots: a slider for each joint that moves."""

from __future__ import annotations

from functools import partial

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, coordinates
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import carry_out
from viewer.app.widgets.pen import Pen

_NAME, _ROW = 92.0, 24.0
"""Width of a name and height of a row, logical pixels."""


def draw_joints(ui: PanelContext) -> None:
    """Draw a row for each joint that moves: its name, a slider with its range, its value."""
    document = ui.session.document
    source = document.character.source
    pen, leaders = Pen(ui), {one.joint: one.leader for one in document.skeleton.mimics}
    command_button(ui, "pose.copy_joints", "Copy", icon=fa.ICON_FA_COPY)
    with controls.no_spacing():
        for joint, (name, kind) in enumerate(zip(document.skeleton.names, document.skeleton.kinds, strict=True)):
            if kind.dofs != 1:
                continue
            x, y = imgui.get_cursor_screen_pos()
            leader, called = leaders.get(name), source.name_of(name)
            # In many robots all joint names end in this, and there is little room.
            short = called.removesuffix("_joint") or called
            indent, ink = (10.0, "text3") if leader else (0.0, "text2")
            pen.fitted(
                x + pen.px(indent), pen.middle(y, pen.px(_ROW), SMALL), short, pen.px(_NAME - 6.0 - indent), ink, SMALL
            )
            imgui.set_cursor_screen_pos((x + pen.px(_NAME), y))
            for one in coordinates(document, joint):
                words = called if called == name else f"{called} moves {name}"
                edit = fields.angle_slider(
                    ui, name, one.value, one.bounds, one.form,
                    hint=f"{called} follows {source.name_of(leader)}" if leader else words,
                )  # fmt: skip
                carry_out(ui, edit, f"Turn {name}", partial(one.turned, name))
            imgui.set_cursor_screen_pos((x, y + pen.px(_ROW)))
            imgui.dummy((1.0, 0.0))
