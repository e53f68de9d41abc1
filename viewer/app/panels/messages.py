"""What the window has to say, over the view: messages with their buttons, and the offer to look for another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.panels.chips import limits_chip_height
from viewer.app.panels.commands import run
from viewer.app.widgets.buttons import icon_button, text_button
from viewer.app.widgets.items import tip
from viewer.app.widgets.pen import Pen
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_docking
)
_HEIGHT, _PADDING, _MARGIN = 36.0, 8.0, 12.0
_WIDEST = 820.0
"""Logical pixels that a bar is wide at most."""
_MOST = 4
"""Messages that are shown at once; older ones wait until these are closed."""


def draw(ui: PanelContext) -> None:
    """Draw the newest messages as bars at the bottom of the view, the newest lowest."""
    controller = ui.controller
    messages = list(controller.messages)[-_MOST:]
    if ui.session.escape_offered:
        look = ("Look for another way", lambda: run(ui, "solver.escape"))
        messages.append(Message("Stalled: the goals are not met from here", "note", (look,)))
    view = ui.regions.viewport
    bottom = view.y + view.h - ui.px(_MARGIN) - limits_chip_height(ui)
    for index, message in enumerate(reversed(messages)):
        bottom -= ui.px(_HEIGHT)
        _bar(ui, message, index, bottom, offered=message not in controller.messages)
        bottom -= ui.px(6)
    left = controller.bar.left
    if left is not None:
        ui.wake(left)  # notes go by themselves


def _bar(ui: PanelContext, message: Message, index: int, top: float, *, offered: bool) -> None:
    """One message: icon, words, buttons, a cross."""
    view = ui.regions.viewport
    bad = message.level == "error"
    imgui.set_next_window_bg_alpha(1.0)
    imgui.push_style_color(imgui.Col_.window_bg, ui.paint("raised"))
    imgui.push_style_color(imgui.Col_.border, ui.paint("err" if bad else "line_hi"))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, ui.px(6))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, max(1.0, ui.px(1)))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(_PADDING), (ui.px(_HEIGHT) - ui.px(24)) / 2.0))
    wide = _width(ui, message, offered=offered)
    imgui.set_next_window_pos((round(view.x + (view.w - wide) / 2.0), top))
    imgui.set_next_window_size((wide, ui.px(_HEIGHT)))
    imgui.begin(f"##message {index}", None, _FLAGS)
    imgui.pop_style_var(3)
    imgui.pop_style_color(2)
    _contents(ui, message, bad=bad, offered=offered)
    imgui.end()


def _buttons_width(pen: Pen, message: Message, *, offered: bool) -> float:
    each = (pen.width(words) + pen.px(20 + 6) for words, _ in message.actions)
    return sum(each) + (0.0 if offered else pen.px(26))


def _width(ui: PanelContext, message: Message, *, offered: bool) -> float:
    pen = Pen(ui, imgui.get_background_draw_list())
    words = pen.width(message.text) + pen.px(24 + 12 + 2 * _PADDING)
    room = ui.regions.viewport.w - 2.0 * pen.px(_MARGIN)
    return min(words + _buttons_width(pen, message, offered=offered), room, pen.px(_WIDEST))


def _contents(ui: PanelContext, message: Message, *, bad: bool, offered: bool) -> None:
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    h, wide = pen.px(24), imgui.get_content_region_avail().x
    icon, tone = (fa.ICON_FA_CIRCLE_EXCLAMATION, "err") if bad else (fa.ICON_FA_CIRCLE_INFO, "text2")
    pen.icon(x + pen.px(8), y + h / 2.0, icon, tone)
    room = wide - _buttons_width(pen, message, offered=offered) - pen.px(24)
    words = pen.fit(message.text, room)
    pen.text(x + pen.px(24), pen.middle(y, h), words)
    imgui.dummy((room + pen.px(24), h))
    tip(message.text if words != message.text else "")
    chosen = -1
    for number, (label, _) in enumerate(message.actions):
        imgui.same_line(0.0, ui.px(6))
        if text_button(ui, label):
            chosen = number
    closed = False
    if not offered:
        imgui.same_line(0.0, ui.px(2))
        closed = icon_button(ui, "close", fa.ICON_FA_XMARK, "Close", size=24, fill=None)
    if chosen >= 0 or closed:
        _answered(ui, message, chosen, offered=offered)


def _answered(ui: PanelContext, message: Message, chosen: int, *, offered: bool) -> None:
    if offered:
        message.actions[chosen][1]()
    elif chosen >= 0:
        ui.controller.bar.choose(message, chosen)
    else:
        ui.controller.bar.close(message)
    ui.wake()
