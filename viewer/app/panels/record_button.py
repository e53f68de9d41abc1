"""The red button of the toolbar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.app.panels.commands import hint, run
from viewer.app.widgets.buttons import TOOL
from viewer.app.widgets.items import item, tip
from viewer.app.widgets.pen import Pen
from viewer.ui import numbers

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

WIDE, NARROW = 96.0, 30.0
"""Widths with and without words, logical pixels."""


def record_button(ui: PanelContext, *, words: bool = True) -> None:
    """A disc and ``Record``; while it records a square and the time that it has taken, on red."""
    pen, session = Pen(ui), ui.session
    it = item("record", pen.px(WIDE if words else NARROW), pen.px(TOOL))
    on = session.recording
    pen.box(*it[:4], "record" if on else it.fill if it.hovered or it.held else "panel")
    if not on:
        pen.frame(*it[:4], "record")
    x, y = it.x + pen.px(16.0 if words else NARROW / 2.0), it.middle[1]
    if on:
        half = pen.px(5)
        pen.box(x - half, y - half, 2.0 * half, 2.0 * half, "on_accent", rounding=1)
    else:
        pen.disc(x, y, 5.0, "record")
    if words:
        said = numbers.clock(session.recorded_seconds) if on else "Record"
        (pen.strong if on else pen.text)(x + pen.px(14), pen.middle(it.y, it.h), said, "on_accent" if on else "text")
    tip(hint("key.record", "Stop recording" if on else "Record while you drag"))
    if it.clicked:
        run(ui, "key.record")
