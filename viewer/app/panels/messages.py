"""What the window has to say, in the corner of the view: messages with their buttons, and the offer of another way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.chips import low_left_height
from viewer.app.panels.film_bar import film_height
from viewer.app.panels.panel_parts import run
from viewer.app.widgets.buttons import FIELD, icon_button, text_button
from viewer.app.widgets.dialogs import wrapped
from viewer.app.widgets.pen import Pen, tip
from viewer.scene import figure_points
from viewer.ui.messages import STALLED, Message

_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_docking
)
_LINE, _PADDING, _MARGIN, _GAP = 20.0, 8.0, 12.0, 6.0
_ICON, _CROSS = 26.0, 26.0
"""Logical pixels before and behind the words."""
_SHARE, _LEAST, _WIDEST = 0.34, 236.0, 400.0
"""Width of a message: a part of the view's, at least and at most so many logical pixels. The middle of the view is the
figure's."""
_MOST_LINES = 6
_HIGHEST = 0.7
"""The part of the view's height that messages fill at most; older ones wait until these are closed."""


class _Box(NamedTuple):
    """A message laid out.

    Attributes:
        message: the message.
        lines: of its words.
        width: framebuffer pixels.
        height: likewise.
    """

    message: Message
    lines: list[str]
    width: float
    height: float


def draw(ui: PanelContext) -> None:
    """Draw messages in a lower corner of the view, the newest lowest: beside the figure, not over it."""
    controller, pen = ui.controller, Pen(ui, imgui.get_background_draw_list())
    messages = list(controller.view.bar.messages)
    if ui.session.escape_offered:
        look = ("Look for another way", lambda: run(ui, "solver.escape"))
        messages.append(Message(STALLED, "note", (look,)))
    boxes = [_laid_out(ui, pen, message) for message in reversed(messages)]
    left = _on_left(ui, boxes)
    low = bottom = _lowest(ui, left=left)
    for index, box in enumerate(boxes):
        if index and low - bottom + box.height > _HIGHEST * ui.regions.viewport.h:
            _waiting(ui, pen, len(messages) - index, (_start(ui, box, left=left), bottom))
            break
        bottom -= box.height
        at = _start(ui, box, left=left), bottom
        _bar(ui, box, index, at, offered=box.message not in controller.view.bar.messages)
        bottom -= ui.px(_GAP)
    seconds = controller.view.bar.left
    if seconds is not None:
        ui.wake(seconds)  # notes go by themselves


def _lowest(ui: PanelContext, *, left: bool) -> float:
    view = ui.regions.viewport
    return view.y + view.h - ui.px(_MARGIN) - (low_left_height(ui) if left else film_height(ui))


def _start(ui: PanelContext, box: _Box, *, left: bool) -> float:
    view, margin = ui.regions.viewport, ui.px(_MARGIN)
    return view.x + margin if left else view.x + view.w - margin - box.width


def _on_left(ui: PanelContext, boxes: list[_Box]) -> bool:
    """Whether there is less of the figure in the left corner; messages stay where the first of them was put."""
    if not boxes:
        ui.memory.pop("left", None)
        return False
    if "left" not in ui.memory:
        view, controller = ui.regions.viewport, ui.controller
        pixels = controller.projection().project(
            figure_points(controller.scene().skeleton, controller.scene().world)
        ) + np.array([view.x, view.y])
        covered = []
        for left in (False, True):
            x, low = _start(ui, boxes[0], left=left), _lowest(ui, left=left)
            beside = np.array([x, low - boxes[0].height]), np.array([x + boxes[0].width, low])
            with np.errstate(invalid="ignore"):
                covered.append(int(((pixels > beside[0]) & (pixels < beside[1])).all(axis=1).sum()))
        ui.memory["left"] = covered[1] < covered[0]
    return bool(ui.memory["left"])


def _laid_out(ui: PanelContext, pen: Pen, message: Message) -> _Box:
    view = ui.regions.viewport
    wide = min(max(_SHARE * view.w, pen.px(_LEAST)), pen.px(_WIDEST), view.w - 2.0 * pen.px(_MARGIN))
    beside = pen.px(_ICON + _CROSS + 2.0 * _PADDING)
    lines = wrapped(message.text, wide - beside, pen.width, _MOST_LINES)
    buttons = pen.px(FIELD + _GAP) if message.actions else 0.0
    high = max(len(lines), 1) * pen.px(_LINE) + buttons + 2.0 * pen.px(_PADDING)
    if len(lines) == 1 and not message.actions:
        wide = min(wide, pen.width(lines[0]) + beside)
    return _Box(message, lines, wide, high)


def _waiting(ui: PanelContext, pen: Pen, count: int, at: tuple[float, float]) -> None:
    """That there are more."""
    paper = Pen(ui, imgui.get_foreground_draw_list())
    paper.small(at[0], at[1] - pen.px(SMALL + 2), f"{count} more", "text2")


def _bar(ui: PanelContext, box: _Box, index: int, at: tuple[float, float], *, offered: bool) -> None:
    """One message: icon, words, a cross, buttons."""
    bad = box.message.level == "error"
    imgui.set_next_window_bg_alpha(1.0)
    imgui.push_style_color(imgui.Col_.window_bg, ui.paint("raised"))
    imgui.push_style_color(imgui.Col_.border, ui.paint("err" if bad else "line_hi"))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, ui.px(6))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, max(1.0, ui.px(1)))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(_PADDING), ui.px(_PADDING)))
    imgui.set_next_window_pos((round(at[0]), round(at[1])))
    imgui.set_next_window_size((round(box.width), round(box.height)))
    imgui.begin(f"##message {index}", None, _FLAGS)
    imgui.pop_style_var(3)
    imgui.pop_style_color(2)
    _contents(ui, box, bad=bad, offered=offered)
    imgui.end()


def _contents(ui: PanelContext, box: _Box, *, bad: bool, offered: bool) -> None:
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    line, wide = pen.px(_LINE), imgui.get_content_region_avail().x
    icon, tone = (fa.ICON_FA_CIRCLE_EXCLAMATION, "err") if bad else (fa.ICON_FA_CIRCLE_INFO, "text2")
    pen.icon(x + pen.px(8), y + line / 2.0, icon, tone)
    for number, words in enumerate(box.lines):
        pen.text(x + pen.px(_ICON), pen.middle(y + number * line, line), words)
    imgui.dummy((wide - pen.px(_CROSS), len(box.lines) * line))
    tip(box.message.text if box.lines[-1].endswith("…") else "")
    closed = False
    if not offered:
        imgui.set_cursor_screen_pos((x + wide - line, y))
        closed = icon_button(ui, "close", fa.ICON_FA_XMARK, "Close", size=_LINE, fill=None)
    chosen = -1
    for number, (label, _) in enumerate(box.message.actions):
        if number:
            imgui.same_line(0.0, ui.px(_GAP))
        else:
            imgui.set_cursor_screen_pos((x + pen.px(_ICON), y + len(box.lines) * line + pen.px(_GAP)))
        if text_button(ui, label):
            chosen = number
    if chosen >= 0 or closed:
        _answered(ui, box.message, chosen, offered=offered)


def _answered(ui: PanelContext, message: Message, chosen: int, *, offered: bool) -> None:
    if offered:
        message.actions[chosen][1]()
    elif chosen >= 0:
        ui.controller.view.bar.choose(message, chosen)
    else:
        ui.controller.view.bar.close(message)
    ui.wake()
