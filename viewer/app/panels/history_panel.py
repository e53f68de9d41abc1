"""The history panel: every undo step, with its figure if there are several; a click goes to it."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from viewer.app.panel_context import PanelContext
from viewer.app.theme import SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.pen import Pen, tip

_ROW = 22
"""Height of a row, logical pixels."""
_START = "Opened"
"""The state before the first step."""


def draw_history(ui: PanelContext) -> None:
    """Draw the start, the steps done, and in a fainter colour those undone."""
    session = ui.session
    several = session.stage.several
    steps = [
        f"{step.figure}: {step.label}" if several and step.figure else step.label for step in session.history.steps
    ]
    labels, now = [_START, *steps], session.history.index
    h, wanted = ui.px(_ROW), now
    with controls.no_spacing():
        if ui.memory.get("at") != (now, len(labels)):
            ui.memory["at"] = (now, len(labels))
            controls.scroll_to_row(now, h, margin=h)
        for index in controls.rows_in_view(len(labels), h):
            if _row(Pen(ui), index, labels[index], now):
                wanted = index
    if wanted != now:
        attempt(ui, lambda: session.go_to(wanted))


def _row(pen: Pen, index: int, words: str, now: int) -> bool:
    it = controls.list_row(pen, f"step {index}", _ROW, chosen=index == now)
    if index == now:
        pen.icon(it.x + pen.px(9), it.middle[1], fa.ICON_FA_CARET_RIGHT, "accent", SMALL)
    colour = "text" if index == now else "text2" if index < now else "text3"
    tip(pen.fitted(it.x + pen.px(20), pen.middle(it.y, it.h), words, it.w - pen.px(26), colour))
    return it.clicked
