"""The history panel: every step; a click goes to it."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.pen import Pen, item, tip

ROW = 22
"""Height of a row, logical pixels."""
START = "Opened"
"""What the state before the first step is called."""


def draw_history(ui: PanelContext) -> None:
    """Draw the panel: the start, the steps done, and fainter those undone."""
    session = ui.session
    labels, now = session.history.labels, session.history.index
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    h = ui.px(ROW)
    if ui.memory.get("at") != (now, len(labels)):
        ui.memory["at"] = (now, len(labels))
        _scroll(now, h)
    clipper = imgui.ListClipper()
    clipper.begin(len(labels) + 1, h)
    wanted = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            if _row(Pen(ui), index, labels[index - 1] if index else START, now):
                wanted = index
    imgui.pop_style_var()
    if wanted is not None and wanted != now:
        attempt(ui, lambda: session.go_to(wanted))
        ui.wake()


def _scroll(now: int, h: float) -> None:
    top, room = imgui.get_scroll_y(), imgui.get_window_height()
    if not top <= now * h <= top + room - 2.0 * h:
        imgui.set_scroll_y(max(0.0, now * h - room / 2.0))


def _row(pen: Pen, index: int, words: str, now: int) -> bool:
    it = item(f"step {index}", imgui.get_content_region_avail().x, pen.px(ROW))
    if index == now:
        pen.box(*it[:4], "accent_dk")
    elif it.hovered:
        pen.box(*it[:4], "field")
    colour = "text" if index == now else "text2" if index < now else "text3"
    if index == now:
        pen.icon(it.x + pen.px(9), it.middle[1], fa.ICON_FA_CARET_RIGHT, "accent", SMALL)
    shown = pen.fit(words, it.w - pen.px(26))
    pen.text(it.x + pen.px(20), pen.middle(it.y, it.h), shown, colour)
    tip(words if shown != words else "")
    return it.clicked
