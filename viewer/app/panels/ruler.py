"""The ruler of the timeline: frames, the playhead, scrubbing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.items import item
from viewer.app.widgets.pen import Pen

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.widgets.items import Item
    from viewer.skeleton.clip import Clip

_INSET = 14.0
"""Logical pixels between the ends of the ruler and the first and last frame."""
_NUMBERS_APART = 46.0
"""Logical pixels between two numbers at least."""
_STRIP = 22.0
"""Height of the strip of numbers, logical pixels."""


def draw_ruler(ui: PanelContext, clip: Clip) -> None:
    """Draw the ruler as large as the room that is left, and scrub where it is pressed."""
    pen = Pen(ui)
    room = imgui.get_content_region_avail()
    if room.y < pen.px(16):
        return
    it = item("ruler", room.x, room.y)
    last = max(len(clip) - 1, 1)
    inset = pen.px(_INSET)
    start, span = it.x + inset, max(it.w - 2.0 * inset, 1.0)
    pen.box(*it[:4], "app")
    strip = min(pen.px(_STRIP), it.h)
    _ticks(pen, it, strip, (start, span), last)
    _playhead(pen, it, strip, start + span * min(ui.session.document.frame / last, 1.0), ui.session.document.frame)
    if it.held:
        _scrub(ui, round((imgui.get_mouse_pos().x - start) / span * last), len(clip))


def _ticks(pen: Pen, it: Item, strip: float, along: tuple[float, float], last: int) -> None:
    start, span = along
    per_frame = span / last
    step = number_step(pen.px(_NUMBERS_APART) / per_frame)
    minor = max(step // 5, 1)
    y = pen.middle(it.y, strip, SMALL)
    for frame in range(0, last + 1, minor):
        x = float(round(start + frame * per_frame))
        if frame % step:
            pen.upright(x, it.y + strip - pen.px(4), it.y + strip)
        else:
            words = str(frame)
            pen.small(x - pen.width(words, SMALL) / 2.0, y, words)
    pen.rule(it.x, it.x + it.w, it.y + strip)
    tall = it.h - strip
    if tall > pen.px(12):
        # The clip as a bar: what is played.
        middle = it.y + strip + tall / 2.0
        pen.box(start, middle - pen.px(1.5), span, pen.px(3), "field_on", rounding=1)
        for end in (start, start + span):
            pen.upright(end, middle - pen.px(7), middle + pen.px(7), "text3")


def number_step(frames: float) -> int:
    """The least of 1, 2, 5, 10, 20, ... that is not below so many frames."""
    step, power = 1, 1
    while step < frames:
        step = next((power * part for part in (1, 2, 5) if power * part >= frames), power * 10)
        power *= 10
    return step


def _playhead(pen: Pen, it: Item, strip: float, x: float, frame: int) -> None:
    words = str(frame)
    wide = pen.width(words, SMALL) + pen.px(12)
    left = min(max(x - wide / 2.0, it.x), it.x + it.w - wide)
    half = max(pen.px(1.5), 1.0) / 2.0
    pen.draw.add_rect_filled((x - half, it.y), (x + half, it.y + it.h), pen.ink("accent"))
    h = strip - pen.px(3)
    pen.box(left, it.y + pen.px(1), wide, h, "accent", rounding=3)
    inset = (wide - pen.width(words, SMALL, bold=True)) / 2.0
    pen.strong(left + inset, pen.middle(it.y + pen.px(1), h, SMALL), words, "on_accent", SMALL)


def _scrub(ui: PanelContext, frame: int, count: int) -> None:
    frame = min(max(frame, 0), count - 1)
    if frame == ui.session.document.frame and not ui.session.playing:
        return
    ui.session.stop()
    attempt(ui, lambda: ui.session.seek(frame))
    ui.wake()
