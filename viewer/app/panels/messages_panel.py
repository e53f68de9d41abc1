"""What the window says: hints, messages and cards of demos, films and other work over the view, and the status line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.goals_panel import NO_GOALS
from viewer.app.panels.panel_parts import ask, command_button, run
from viewer.app.panels.solver_panel import ICONS
from viewer.app.theme import BASE, SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.dialogs import card, close_button, title_row, wrapped
from viewer.app.widgets.edits import settle
from viewer.app.widgets.pen import Pen, tip
from viewer.ik.methods import EVERY_METHOD
from viewer.scene import figure_points
from viewer.session.demo_parts import Demo, DemoText
from viewer.session.long_work import JobName
from viewer.ui.camera_moves import CARD_MARGIN, CARD_WIDTH
from viewer.ui.commands import BY_ID
from viewer.ui.events import Message, other_pose_words
from viewer.ui.film import left_words
from viewer.ui.status import StatusLine

_CHIP, _CHIP_LINE = 26.0, 18.0
"""Height of a chip (a hint in the view) of one line, and of each further line, logical pixels."""
_MARGIN, _CAPTION, _MIDDLE = 12.0, 22.0, 70.0
"""Distance from the view's edges, height of the caption, distance from the middle of the view with the figure."""
_MOST_LINES = 6


def draw_chips(ui: PanelContext) -> None:
    """Draw the hints at the lower left of the view, beside the figure."""
    pen = Pen(ui)
    if not ui.session.document.limits_on:
        _limits_off(ui, pen)
    elif not ui.session.document.goals:
        _no_goals(ui, pen)
    imgui.dummy((1.0, 1.0))


def _low_left_height(ui: PanelContext) -> float:
    """Height of the caption and a chip of one line in the lower left corner, framebuffer pixels."""
    document = ui.session.document
    return ui.px(_CAPTION + (0.0 if document.limits_on and document.goals else _CHIP + 6.0))


def _chip_place(ui: PanelContext, pen: Pen, tall: float) -> tuple[float, float]:
    view = ui.rect
    return view.x + pen.px(_MARGIN), view.y + view.h - pen.px(_MARGIN + _CAPTION) - tall


def _chip_room(ui: PanelContext, pen: Pen) -> float:
    """The largest width of a chip, framebuffer pixels."""
    return ui.rect.w / 2.0 - pen.px(_MIDDLE + _MARGIN)


def _limits_off(ui: PanelContext, pen: Pen) -> None:
    strong, quiet = "Joint limits off", f"press {BY_ID['limits.all'].shortcut} to turn on"
    wide, more = pen.px(40) + pen.width(strong, bold=True), pen.px(8) + pen.width(quiet)
    whole = wide + more <= _chip_room(ui, pen)
    wide += more if whole else 0.0
    h = pen.px(_CHIP)
    x, y = _chip_place(ui, pen, h)
    pen.box(x, y, wide, h, "panel", rounding=6)
    pen.frame(x, y, wide, h, "warn", rounding=6)
    pen.icon(x + pen.px(16), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn")
    pen.strong(x + pen.px(30), pen.middle(y, h), strong)
    if whole:
        pen.text(x + pen.px(38) + pen.width(strong, bold=True), pen.middle(y, h), quiet, "text2")


def _no_goals(ui: PanelContext, pen: Pen) -> None:
    lines = wrapped(NO_GOALS, _chip_room(ui, pen) - pen.px(24), pen.width, _MOST_LINES)
    tall = pen.px(_CHIP + (len(lines) - 1) * _CHIP_LINE)
    x, y = _chip_place(ui, pen, tall)
    pen.box(x, y, max(map(pen.width, lines)) + pen.px(24), tall, "panel", rounding=6)
    for number, words in enumerate(lines):
        pen.text(x + pen.px(12), pen.middle(y + pen.px(number * _CHIP_LINE), pen.px(_CHIP)), words, "text2")


_LINE, _PADDING, _GAP = 20.0, 8.0, 6.0
_ICON, _CROSS = 26.0, 26.0
"""Logical pixels before and after the words."""
_SHARE, _LEAST, _WIDEST = 0.34, 236.0, 400.0
"""Width of a message: a share of the view's, with bounds in logical pixels."""
_HIGHEST = 0.7
"""Largest share of the view's height for messages; older ones wait until these are closed."""


class _Box(NamedTuple):
    """A message with its lines, its buttons as rows of numbers, and its size in framebuffer pixels."""

    message: Message
    lines: list[str]
    rows: list[list[int]]
    width: float
    height: float


def draw_messages(ui: PanelContext) -> None:
    """Draw messages in the lower corner of the view that shows less of the figure, the newest lowest."""
    controller, pen = ui.controller, Pen(ui, imgui.get_background_draw_list())
    messages = list(controller.view.bar.messages)
    if ui.session.escape.offered:
        retry = (BY_ID["solver.escape"].title, lambda: run(ui, "solver.escape"))
        messages.append(Message(other_pose_words(ui.session.escape.meets), "note", (retry,)))
    stuck = controller.limit_ranges.words()
    if stuck:
        messages.append(Message(stuck, "note", (("Widen", lambda: run(ui, "limits.widen")),)))
    boxes = [_laid_out(ui, pen, message) for message in reversed(messages)]
    left = _on_left(ui, boxes)
    low = bottom = _lowest(ui, left=left)
    for index, box in enumerate(boxes):
        if index and low - bottom + box.height > _HIGHEST * ui.regions.viewport.h:
            here = _start(ui, box, left=left), bottom - pen.px(SMALL + 2)
            pen.small(*here, f"{len(messages) - index} more", "text2")
            break
        bottom -= box.height
        at = _start(ui, box, left=left), bottom
        bad, size = box.message.level == "error", (box.width, box.height)
        with card(ui, f"##message {index}", at, size, border="err" if bad else "line_hi"):
            _message_contents(ui, box, bad=bad, offered=box.message not in controller.view.bar.messages)
        bottom -= ui.px(_GAP)
    seconds = controller.view.bar.left
    if seconds is not None:
        ui.wake(seconds)  # notes disappear after a while


def _lowest(ui: PanelContext, *, left: bool) -> float:
    view = ui.regions.viewport
    return view.y + view.h - ui.px(_MARGIN) - (_low_left_height(ui) if left else _cards_height(ui))


def _start(ui: PanelContext, box: _Box, *, left: bool) -> float:
    view, margin = ui.regions.viewport, ui.px(_MARGIN)
    return view.x + margin if left else view.x + view.w - margin - box.width


def _on_left(ui: PanelContext, boxes: list[_Box]) -> bool:
    """Whether the left corner shows less of the figure; messages stay in the corner of the first."""
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


def _card_width(ui: PanelContext, least: float) -> float:
    """Width of a card in framebuffer pixels, at least ``least`` logical pixels in a view of usual size."""
    wide = ui.regions.viewport.w
    return min(max(_SHARE * wide, ui.px(least)), ui.px(_WIDEST), wide - 2.0 * ui.px(_MARGIN))


def _laid_out(ui: PanelContext, pen: Pen, message: Message) -> _Box:
    wide = _card_width(ui, _LEAST)
    beside = pen.px(_ICON + _CROSS + 2.0 * _PADDING)
    lines = wrapped(message.text, wide - beside, pen.width, _MOST_LINES)
    buttons = (pen.width(label) + pen.px(20) for label, _ in message.actions)
    rows = controls.rows_within(buttons, wide - pen.px(_ICON + 2.0 * _PADDING), pen.px(_GAP))
    high = max(len(lines), 1) * pen.px(_LINE) + len(rows) * pen.px(controls.FIELD + _GAP) + 2.0 * pen.px(_PADDING)
    if len(lines) == 1 and not message.actions:
        wide = min(wide, pen.width(lines[0]) + beside)
    return _Box(message, lines, rows, wide, high)


def _message_contents(ui: PanelContext, box: _Box, *, bad: bool, offered: bool) -> None:
    """One message with icon, words, close button and actions; ``offered`` ones cannot be closed."""
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
        closed = close_button(ui, x + wide - line, y, size=_LINE)
    chosen = -1
    for row, numbers in enumerate(box.rows):
        top = y + len(box.lines) * line + row * pen.px(controls.FIELD + _GAP)
        imgui.set_cursor_screen_pos((x + pen.px(_ICON), top + pen.px(_GAP)))
        for number in numbers:
            label = box.message.actions[number][0]
            room = min(pen.width(label) + pen.px(20), wide - pen.px(_ICON))
            imgui.push_id(number)  # two may have the same words
            if controls.text_button(ui, label, width=room):
                chosen = number
            imgui.pop_id()
            imgui.same_line(0.0, ui.px(_GAP))
    if not (chosen >= 0 or closed):
        return
    if offered:
        box.message.actions[chosen][1]()
    elif chosen >= 0:
        ui.controller.view.bar.choose(box.message, chosen)
    else:
        ui.controller.view.bar.close(box.message)


_CLOSES = "closes when done"

_CARD_HIGH = 2.0 * _PADDING + _LINE + 2.0 * _GAP + 6.0 + controls.FIELD
_CARD_LEAST = 260.0
"""Height and least width of the card of long work, logical pixels."""
_JOB_ICONS: dict[JobName, str] = {
    "planting": fa.ICON_FA_SHOE_PRINTS, "retargeting": fa.ICON_FA_PERSON_WALKING_ARROW_RIGHT,
}  # fmt: skip


class _Work(NamedTuple):
    """The contents of the card of long work.

    Attributes:
        icon, title: what it is.
        part: the part that is done, 0 to 1.
        left: time left, or "".
        hint: of the button that cancels it.
        words, widest: how much is done, and the widest that these words become.
        beside: words right of the title, or "".
    """

    icon: str
    title: str
    part: float
    left: str
    hint: str
    words: str
    widest: str = "100 %"
    beside: str = ""


def draw_film_card(ui: PanelContext) -> None:
    """Draw the cards of a film and other work in progress."""
    film, low, background = ui.film, 0.0, ui.controller.background
    if film is not None:
        part, said = film.done / film.total, "Stop filming; an existing file is kept"
        counted = film.words, f"{film.total} of {film.total}", _CLOSES if film.closes else ""
        work = _Work(fa.ICON_FA_FILM, f"Filming {film.name}", part, film.left_words, said, *counted)
        if _work_card(ui, "##film card", work, low):
            ask(ui, "film-cancel")
        low += ui.px(_CARD_HIGH) + ui.px(_GAP)
    for name, job in tuple(background.jobs.items()):
        part, left = job.work.part, left_words(job.work.left)
        work = _Work(_JOB_ICONS[name], job.title, part, left, job.hint, f"{int(100.0 * part)} %")
        if _work_card(ui, f"##{name} card", work, low):
            background.cancel(name)
        low += ui.px(_CARD_HIGH) + ui.px(_GAP)


def _cards_height(ui: PanelContext) -> float:
    """Height of the cards in the view's lower right corner with the gaps above them, framebuffer pixels."""
    count = len(ui.controller.background.jobs) + (ui.film is not None)
    return count * (ui.px(_CARD_HIGH) + ui.px(_GAP))


def _work_card(ui: PanelContext, name: str, work: _Work, low: float) -> bool:
    """A card in the view's lower right corner, ``low`` framebuffer pixels above it; whether it is cancelled."""
    view = ui.regions.viewport
    wide, tall = round(_card_width(ui, _CARD_LEAST)), ui.px(_CARD_HIGH)
    place = view.x + view.w - ui.px(_MARGIN) - wide, view.y + view.h - ui.px(_MARGIN) - tall - low
    with card(ui, name, place, (wide, tall)):
        return _work_contents(ui, work)


def _work_contents(ui: PanelContext, work: _Work) -> bool:
    """Name, progress bar, count, time left, Cancel; numbers do not move as they change."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, left = imgui.get_content_region_avail().x, x + pen.px(_ICON)
    pen.icon(x + pen.px(8), y + pen.px(_LINE) / 2.0, work.icon, "accent")
    room = wide - pen.px(_ICON)
    if work.beside:
        pen.right(x + wide, pen.middle(y, pen.px(_LINE), SMALL), work.beside, "text2", SMALL)
        room -= pen.width(work.beside, SMALL) + pen.px(12)
    pen.text(left, pen.middle(y, pen.px(_LINE)), pen.fit(work.title, room))
    y += pen.px(_LINE) + pen.px(_GAP)
    bar, thick = wide - pen.px(_ICON), pen.px(6)
    pen.box(left, y, bar, thick, "field", rounding=3)
    if work.part:
        pen.box(left, y, max(bar * min(work.part, 1.0), thick), thick, "accent", rounding=3)
    y += thick + pen.px(_GAP)
    h = pen.px(controls.FIELD)
    counted = left + pen.width(work.widest)
    pen.right(counted, pen.middle(y, h), work.words)
    button = pen.width("Cancel") + pen.px(20)
    room = x + wide - button - pen.px(8) - counted - pen.px(12)
    pen.text(counted + pen.px(12), pen.middle(y, h), pen.fit(work.left, room), "text2")
    imgui.set_cursor_screen_pos((x + wide - button, y))
    return controls.text_button(ui, "Cancel", width=button, hint=work.hint)


_CARD_PADDING, _CARD_LINE = 12.0, 24.0
"""Sizes within a demo's card, logical pixels."""
_CARD_TONES = {
    "ok": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "idle": (fa.ICON_FA_CIRCLE_INFO, "text2"),
}


def draw_demo_card(ui: PanelContext) -> None:
    """Draw the card of a demo at the top left of the view."""
    demo, view = ui.controller.demos.card, ui.regions.viewport
    if demo is None:
        return
    wide = min(ui.px(CARD_WIDTH), view.w - 2.0 * ui.px(CARD_MARGIN))
    place = view.x + ui.px(CARD_MARGIN), view.y + ui.px(CARD_MARGIN)
    padding, tallest = (_CARD_PADDING, _CARD_PADDING - 2.0), view.h - 2.0 * ui.px(CARD_MARGIN)
    with card(ui, "##demo card", place, (wide, 0.0), padding=padding, fill="panel", alpha=0.94, tallest=tallest):
        if title_row(ui, demo.title):
            ui.controller.demos.close()
        for words in demo.words:
            controls.paragraph(ui, words, "text2")
        says = ui.controller.demos.says
        if says is not None:
            _card_line(ui, says)
        _card_buttons(ui, demo)


def _card_line(ui: PanelContext, says: DemoText) -> None:
    """The demo's result, which changes with the figure; it is shortened, so that the card keeps its size."""
    pen, x, y, room, h = controls.line(ui, _CARD_LINE)
    icon, tone = _CARD_TONES[says.tone]
    pen.icon(x + pen.px(8), y + h / 2.0, icon, tone)
    pen.text(x + pen.px(22), pen.middle(y, h), pen.fit(says.text, room - pen.px(22)), "text")


def _card_buttons(ui: PanelContext, demo: Demo) -> None:
    controller, session = ui.controller, ui.session
    command_button(ui, "demo.start_over", "Start over", icon=fa.ICON_FA_ROTATE_LEFT)
    if controller.demos.has_motions:
        imgui.same_line(0.0, ui.px(6))
        moves = session.targets.running
        words, icon = ("Pause", fa.ICON_FA_PAUSE) if moves else ("Resume", fa.ICON_FA_PLAY)
        wide = Pen(ui).width("Pause") + ui.px(40)
        if controls.text_button(ui, f"{words}##motion", icon=icon, width=wide, hint="Space"):
            run(ui, "demo.animate")
    if demo.methods:
        if not controller.demos.has_motions:
            imgui.same_line(0.0, ui.px(6))
        method, titles = session.document.solver.method, [EVERY_METHOD[name].title for name in demo.methods]
        chosen = controls.choose(ui, "methods", demo.methods, titles, method, height=_CARD_LINE)
        if chosen != method:
            controller.demos.choose(chosen)


_TONES = {"ok": "text", "warn": "warn", "err": "err", "idle": "text"}
_STATUS_GAP = 10.0
"""Logical pixels on each side of a line between parts."""


def draw_status_line(ui: PanelContext) -> None:
    """Draw the status line; parts that do not fit are omitted from the right, except hints that must stay."""
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
    """Draw icon and state; returns their right end."""
    y, h = rect[1], rect[3]
    icon, tone = ICONS[status.icon]
    pen.icon(x + pen.px(7), y + h / 2.0, icon, tone)
    words = pen.fit(status.state, end - x - pen.px(20), bold=True)
    pen.strong(x + pen.px(20), pen.middle(y, h), words, _TONES[status.tone])
    return x + pen.px(20) + pen.width(words, bold=True)


def _status_parts(ui: PanelContext, pen: Pen, x: float, end: float, status: StatusLine) -> float:
    """Draw errors, numbers and modes; returns their right end."""
    key = (status.state, status.tone, ui.session.document.skeleton.names, ui.scale)
    if ui.memory.get("state") != key:
        ui.memory["state"], ui.memory["widths"] = key, {}
    off = "Limits off" if "Limits off" in status.modes else ""
    modes = " · ".join((*(mode for mode in status.modes if mode != off), *ui.notes))
    joined = status.tone in {"warn", "err"}
    goals = _StatusPart("goals", status.goals, line=not joined)
    for part in (
        goals,
        _StatusPart("yields", status.yields),
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
    """A part of the status line: its name, words, and whether a separator or an amber lock precedes it."""

    name: str
    words: str
    line: bool = True
    lock: bool = False


def _status_part(ui: PanelContext, pen: Pen, x: float, end: float, part: _StatusPart) -> float | None:
    """Draw a part, as wide as its longest words in this state; returns its right end, or None if it has no room."""
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
    """Draw hints such as ``[Ctrl] snap  [Esc] cancel`` at the right; those without room are omitted."""
    hints: list[tuple[str, str]] = [(hint.keys, hint.words) for hint in ui.controller.hints()]
    least = 1 if any(hint.kept for hint in ui.controller.hints()) else 0  # hints that must stay come first
    while len(hints) > least and sum(_hint_width(pen, hint) for hint in hints) > end - start:
        # Esc, if it is the last, is removed last: it tells how to leave the mode.
        hints.pop(-2 if len(hints) > least + 1 and hints[-1][0] == "Esc" else -1)
    y, h = ui.rect.y, ui.rect.h
    x = end - sum(_hint_width(pen, hint) for hint in hints) + pen.px(14)
    for keys, words in hints:
        x += controls.key_cap(pen, x, y + round((h - pen.px(18)) / 2.0), keys) + pen.px(8)
        pen.text(x, pen.middle(y, h, BASE), words, "text2")
        x += pen.width(words) + pen.px(14)


def _hint_width(pen: Pen, hint: Sequence[str]) -> float:
    keys, words = hint
    return controls.cap_width(pen, keys) + pen.px(22) + pen.width(words)
