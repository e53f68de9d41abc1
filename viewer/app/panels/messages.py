"""What the window tells: chips, a demo's card and messages in the view, and the status line below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import BASE, SMALL
from viewer.app.panels.film import film_height
from viewer.app.panels.goals import NO_GOALS
from viewer.app.panels.panel_parts import run
from viewer.app.panels.solver import ICONS, title
from viewer.app.widgets.buttons import FIELD, icon_button, key_cap, segments, text_button
from viewer.app.widgets.dialogs import card, paragraph, wrapped
from viewer.app.widgets.edits import settle
from viewer.app.widgets.pen import Pen, tip
from viewer.scene import figure_points
from viewer.session.demos import Demo, Says
from viewer.ui.messages import STALLED, Message
from viewer.ui.status import StatusLine

CHIP, _CHIP_LINE = 26.0, 18.0
"""Height of a chip of one line, and of each further line, logical pixels."""
_MARGIN, _CAPTION, _MIDDLE = 12.0, 22.0, 70.0
"""Logical pixels from the view's edges, for the caption below, and from the view's middle, where the figure stands."""
_MOST_LINES = 6


def draw_chips(ui: PanelContext) -> None:
    """Draw the chips at the lower left of the view: its middle is the figure's, its top the handles'."""
    pen = Pen(ui)
    if not ui.session.document.limits_on:
        _limits_off(ui, pen)
    elif not ui.session.document.goals:
        _no_goals(ui, pen)
    imgui.dummy((1.0, 1.0))


def low_left_height(ui: PanelContext) -> float:
    """Framebuffer pixels in the lower left corner that the caption and the chips take; of the latter one line."""
    document = ui.session.document
    return ui.px(_CAPTION + (0.0 if document.limits_on and document.goals else CHIP + 6.0))


def _chip_place(ui: PanelContext, pen: Pen, tall: float) -> tuple[float, float]:
    view = ui.rect
    return view.x + pen.px(_MARGIN), view.y + view.h - pen.px(_MARGIN + _CAPTION) - tall


def _chip_room(ui: PanelContext, pen: Pen) -> float:
    """How wide a chip may be."""
    return ui.rect.w / 2.0 - pen.px(_MIDDLE + _MARGIN)


def _limits_off(ui: PanelContext, pen: Pen) -> None:
    strong, quiet = "Joint limits off", "press L to turn on"
    wide, more = pen.px(40) + pen.width(strong, bold=True), pen.px(8) + pen.width(quiet)
    whole = wide + more <= _chip_room(ui, pen)
    wide += more if whole else 0.0
    h = pen.px(CHIP)
    x, y = _chip_place(ui, pen, h)
    pen.box(x, y, wide, h, "panel", rounding=6)
    pen.frame(x, y, wide, h, "warn", rounding=6)
    pen.icon(x + pen.px(16), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn")
    pen.strong(x + pen.px(30), pen.middle(y, h), strong)
    if whole:
        pen.text(x + pen.px(38) + pen.width(strong, bold=True), pen.middle(y, h), quiet, "text2")


def _no_goals(ui: PanelContext, pen: Pen) -> None:
    lines = wrapped(NO_GOALS, _chip_room(ui, pen) - pen.px(24), pen.width, _MOST_LINES)
    tall = pen.px(CHIP + (len(lines) - 1) * _CHIP_LINE)
    x, y = _chip_place(ui, pen, tall)
    pen.box(x, y, max(map(pen.width, lines)) + pen.px(24), tall, "panel", rounding=6)
    for number, words in enumerate(lines):
        pen.text(x + pen.px(12), pen.middle(y + pen.px(number * _CHIP_LINE), pen.px(CHIP)), words, "text2")


_LINE, _PADDING, _GAP = 20.0, 8.0, 6.0
_ICON, _CROSS = 26.0, 26.0
"""Logical pixels before and behind the words."""
_SHARE, _LEAST, _WIDEST = 0.34, 236.0, 400.0
"""Width of a message: a part of the view's, at least and at most so many logical pixels. The middle of the view is the
figure's."""
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


def draw_messages(ui: PanelContext) -> None:
    """Draw messages in a lower corner of the view, the newest lowest: beside the figure, not over it."""
    controller, pen = ui.controller, Pen(ui, imgui.get_background_draw_list())
    messages = list(controller.view.bar.messages)
    if ui.session.escape.offered:
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
        _message_box(ui, box, index, at, offered=box.message not in controller.view.bar.messages)
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


def _message_box(ui: PanelContext, box: _Box, index: int, at: tuple[float, float], *, offered: bool) -> None:
    """One message: icon, words, a cross, buttons."""
    bad = box.message.level == "error"
    size = box.width, box.height
    with card(ui, f"##message {index}", at, size, border="err" if bad else "line_hi"):
        _message_contents(ui, box, bad=bad, offered=offered)


def _message_contents(ui: PanelContext, box: _Box, *, bad: bool, offered: bool) -> None:
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


CARD_WIDTH, CARD_MARGIN = 296.0, 12.0
"""Logical pixels, as what follows: demos have their figures beside the card."""
_CARD_PADDING, _CARD_LINE = 12.0, 24.0
"""Logical pixels."""
_CARD_TONES = {
    "ok": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "idle": (fa.ICON_FA_CIRCLE_INFO, "text2"),
}


def draw_demo_card(ui: PanelContext) -> None:
    """Draw the card at the top left of the view: the view axes are at its right."""
    demo, view = ui.controller.demos.card, ui.regions.viewport
    if demo is None:
        return
    wide = min(ui.px(CARD_WIDTH), view.w - 2.0 * ui.px(CARD_MARGIN))
    place = view.x + ui.px(CARD_MARGIN), view.y + ui.px(CARD_MARGIN)
    padding = _CARD_PADDING, _CARD_PADDING - 2.0
    with card(ui, "##demo card", place, (wide, 0.0), padding=padding, fill="panel", alpha=0.94):
        _card_title(ui, demo)
        for words in demo.words:
            paragraph(ui, words, "text2")
        says = demo.says(ui.session.document)
        if says is not None:
            _card_line(ui, says)
        _card_buttons(ui, demo)


def _card_title(ui: PanelContext, demo: Demo) -> None:
    """The title, and a cross at its right."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail().x
    pen.strong(x, pen.middle(y, pen.px(_CARD_LINE)), pen.fit(demo.title, room - pen.px(30), bold=True))
    imgui.set_cursor_screen_pos((x + room - pen.px(_CARD_LINE), y))
    if icon_button(ui, "close card", fa.ICON_FA_XMARK, "Close", size=_CARD_LINE, fill=None):
        ui.controller.demos.close()
        ui.wake()


def _card_line(ui: PanelContext, says: Says) -> None:
    """A line that changes with the figure: the card stays as large as it is."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    h, room = pen.px(_CARD_LINE), imgui.get_content_region_avail().x
    icon, tone = _CARD_TONES[says.tone]
    pen.icon(x + pen.px(8), y + h / 2.0, icon, tone)
    pen.text(x + pen.px(22), pen.middle(y, h), pen.fit(says.text, room - pen.px(22)), "text")
    imgui.dummy((room, h))


def _card_buttons(ui: PanelContext, demo: Demo) -> None:
    controller, session = ui.controller, ui.session
    if text_button(ui, "Start over", icon=fa.ICON_FA_ROTATE_LEFT):
        run(ui, "demo.start_over")
    if controller.demos.has_motions:
        imgui.same_line(0.0, ui.px(6))
        moves = session.targets.running
        words, icon = ("Pause", fa.ICON_FA_PAUSE) if moves else ("Resume", fa.ICON_FA_PLAY)
        wide = Pen(ui).width("Pause") + ui.px(40)
        if text_button(ui, f"{words}##motion", icon=icon, width=wide, hint="Space"):
            run(ui, "demo.animate")
    if demo.methods:
        if not controller.demos.has_motions:
            imgui.same_line(0.0, ui.px(6))
        method = session.document.solver.method
        active = demo.methods.index(method) if method in demo.methods else -1
        chosen = segments(ui, "methods", [title(name) for name in demo.methods], active, height=_CARD_LINE)
        if chosen is not None:
            controller.demos.choose(demo.methods[chosen])
            ui.wake()


_TONES = {"ok": "text", "warn": "warn", "err": "err", "idle": "text"}
_STATUS_GAP = 10.0
"""Logical pixels on either side of a line between parts."""


def draw_status_line(ui: PanelContext) -> None:
    """Draw the line; what has no room is left out, from the right, but for hints that are kept."""
    settle(ui)
    pen, rect, status = Pen(ui), ui.rect, ui.controller.status()
    kept = sum(_hint_width(pen, (hint.keys, hint.words)) for hint in ui.controller.hints() if hint.kept)
    pen.draw.push_clip_rect((rect.x, rect.y), (rect.x + rect.w, rect.y + rect.h))
    end = rect.x + rect.w - pen.px(8)
    room = end - kept - pen.px(24) if kept else end
    x = _status_state(pen, rect.x + pen.px(8), room, status, rect)
    x = _status_parts(ui, pen, x, room, status)
    _status_hints(ui, pen, x + pen.px(24), end)
    pen.draw.pop_clip_rect()
    imgui.dummy((1.0, 1.0))


def _status_state(pen: Pen, x: float, end: float, status: StatusLine, rect: tuple[float, ...]) -> float:
    """Icon and state in bold; returns where they end."""
    y, h = rect[1], rect[3]
    icon, tone = ICONS[status.icon]
    pen.icon(x + pen.px(7), y + h / 2.0, icon, tone)
    words = pen.fit(status.state, end - x - pen.px(20), bold=True)
    pen.strong(x + pen.px(20), pen.middle(y, h), words, _TONES[status.tone])
    return x + pen.px(20) + pen.width(words, bold=True)


def _status_parts(ui: PanelContext, pen: Pen, x: float, end: float, status: StatusLine) -> float:
    """Errors, figures, modes; returns where they end."""
    key = (status.state, status.tone, ui.session.document.skeleton.names, ui.scale)
    if ui.memory.get("state") != key:
        ui.memory["state"], ui.memory["widths"] = key, {}
    off = "Limits off" if "Limits off" in status.modes else ""
    modes = " · ".join((*(mode for mode in status.modes if mode != off), *ui.notes))
    joined = status.tone in {"warn", "err"}
    goals = _StatusPart("goals", status.goals, line=not joined)
    for part in (
        goals,
        _StatusPart("figures", status.figures),
        _StatusPart("limits", off, lock=True),
        _StatusPart("modes", modes),
    ):
        if part.words:
            after = _status_part(ui, pen, x, end, part)
            if after is None:
                break
            x = after
    return x


class _StatusPart(NamedTuple):
    """A part of the line.

    Attributes:
        name: what its width is kept under.
        words: said in it.
        line: it has a line before it.
        lock: it has an open lock before it, and is amber.
    """

    name: str
    words: str
    line: bool = True
    lock: bool = False


def _status_part(ui: PanelContext, pen: Pen, x: float, end: float, part: _StatusPart) -> float | None:
    """Draw a part; it keeps the width that its longest words of late asked for. Returns its end, None: no room."""
    (_, y, _, h), gap = ui.rect, pen.px(_STATUS_GAP)
    lead = pen.px(20) if part.lock else 0.0
    at = x + (2.0 * gap if part.line else gap)
    room = end - at - lead
    if room < pen.px(60):
        return None
    if part.line:
        pen.upright(x + gap, y + pen.px(6), y + h - pen.px(6), "line_hi")
    if part.lock:
        pen.icon(at + pen.px(7), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn", SMALL)
    shown = pen.fit(part.words, room)
    pen.text(at + lead, pen.middle(y, h), shown, "warn" if part.lock else "text2")
    kept: dict[str, float] = ui.memory["widths"]
    kept[part.name] = max(kept.get(part.name, 0.0), pen.width(shown) + lead)
    return at + min(kept[part.name], room + lead)


def _status_hints(ui: PanelContext, pen: Pen, start: float, end: float) -> None:
    """``[Ctrl] snap  [Esc] cancel``, as many as there is room for, at the right end."""
    hints: list[tuple[str, str]] = [(hint.keys, hint.words) for hint in ui.controller.hints()]
    least = 1 if any(hint.kept for hint in ui.controller.hints()) else 0  # such a hint comes first
    while len(hints) > least and sum(_hint_width(pen, hint) for hint in hints) > end - start:
        # Where the last says how to get out of it, it is the last to go.
        hints.pop(-2 if len(hints) > least + 1 and hints[-1][0] == "Esc" else -1)
    y, h = ui.rect.y, ui.rect.h
    x = end - sum(_hint_width(pen, hint) for hint in hints) + pen.px(14)
    for keys, words in hints:
        x += key_cap(pen, x, y + round((h - pen.px(18)) / 2.0), keys) + pen.px(8)
        pen.text(x, pen.middle(y, h, BASE), words, "text2")
        x += pen.width(words) + pen.px(14)


def _hint_width(pen: Pen, hint: Sequence[str]) -> float:
    keys, words = hint
    return max(pen.width(keys, SMALL) + pen.px(10), pen.px(18)) + pen.px(22) + pen.width(words)
