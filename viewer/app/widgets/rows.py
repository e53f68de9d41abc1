"""Rows of forms: a label column, section heads, quiet words where there is nothing."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.layout import TABS
from viewer.app.widgets.buttons import FIELD
from viewer.app.widgets.pen import Pen, tip
from viewer.errors import visible

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.layout import Place

LABEL = 58
"""Width of the label column, logical pixels."""


def label(ui: PanelContext, words: str, *, height: float = FIELD, width: float = LABEL, hint: str = "") -> None:
    """Write a label at imgui's cursor and leave the cursor where its control starts."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    w = pen.px(width)
    shown = pen.fit(words, w - pen.px(4))
    pen.text(x, pen.middle(y, pen.px(height)), shown, "text2")
    imgui.dummy((w, pen.px(height)))
    tip(hint or (words if shown != words else ""))
    imgui.same_line(0.0, 0.0)


def head(ui: PanelContext, icon: str, title: str, note: str, *, colour: str = "text2", room: float = 0.0) -> None:
    """The head of a section: icon, name in bold, what it is in small letters.

    Args:
        ui: what panels draw from.
        icon: of Font Awesome.
        title: the name; its middle is left out where it does not fit.
        note: behind it.
        colour: of the icon.
        room: framebuffer pixels at the right end to leave free.
    """
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    h, wide = pen.px(FIELD), imgui.get_content_region_avail().x - room
    pen.icon(x + pen.px(6), y + h / 2.0, icon, colour)
    start = x + pen.px(22)
    noted = pen.width(note, SMALL) + pen.px(8) if note else 0.0
    shown = pen.fit(title, max(wide - pen.px(22) - noted, pen.px(60)), bold=True)
    pen.strong(start, pen.middle(y, h), shown)
    after = start + pen.width(shown, bold=True) + pen.px(8)
    pen.small(after, pen.middle(y, h, SMALL), pen.fit(note, x + wide - after, SMALL))
    imgui.dummy((wide, h))
    tip(title if shown != title else "")


def tell_need(ui: PanelContext, place: Place, height: float) -> None:
    """Tell the layout how high a panel's contents are, framebuffer pixels; not in a drag: nothing is to jump then."""
    frame = TABS + 2.0 * imgui.get_style().window_padding.y / ui.scale
    if not ui.controller.dragging and ui.layout.need(place, math.ceil(height / ui.scale + frame)):
        ui.wake()


def separator(ui: PanelContext) -> None:
    """A line across the panel, with room above and below."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    inset = imgui.get_style().window_padding.x
    pen.rule(x - inset, x + imgui.get_content_region_avail().x + inset, y + pen.px(5))
    imgui.dummy((1.0, pen.px(9)))


def quiet(ui: PanelContext, words: str) -> None:
    """Words where there is nothing to show, wrapped."""
    imgui.push_style_color(imgui.Col_.text, ui.paint("text3"))
    imgui.push_text_wrap_pos(0.0)
    imgui.text_unformatted(visible(words, icons=True))
    imgui.pop_text_wrap_pos()
    imgui.pop_style_color()
