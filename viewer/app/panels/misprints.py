"""The panel Misprints: formulas as well-known texts print them, and as they should be, tried on the arm shown."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.buttons import paragraph, separator
from viewer.app.widgets.pen import Pen
from viewer.session.misprints import MISPRINTS, arm_of


def draw_misprints(ui: PanelContext) -> None:
    """Draw every entry: the source, both forms, and what they give for the arm."""
    start = ui.controller.laboratory.start
    arm = None if start is None else arm_of(ui.session.document, start)
    if arm is None:
        words = "File > Lessons > Misprints of the sources tries these on an arm of two links"
        paragraph(ui, words, "text2", small=True)
    for entry in MISPRINTS:
        separator(ui)
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        pen.strong(x, y, entry.source)
        imgui.dummy((1.0, pen.px(16)))
        tried = ("", "") if arm is None else entry.tried(arm)
        for formula, found, tone in ((entry.printed, tried[0], "warn"), (entry.right, tried[1], "ok")):
            paragraph(ui, formula, "text2", small=True)
            if found:
                x, y = imgui.get_cursor_screen_pos()
                pen.text(x + pen.px(12), y, found, tone, SMALL)
                imgui.dummy((1.0, pen.px(14)))
