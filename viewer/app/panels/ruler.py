"""The strip of frame numbers over the timeline and the plots: numbers, the range that is played, the playhead."""

from __future__ import annotations

from typing import NamedTuple

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.pen import Item, Pen
from viewer.ui.timeline import TimeView, played_range

INSET = 14.0
"""Logical pixels between the ends of the well and the first and last frame."""
STRIP = 22.0
"""Height of the strip of numbers, logical pixels."""
_NUMBERS_APART = 46.0
"""Logical pixels between two numbers at least."""
_ASIDE = 9.0
"""Logical pixels outside the range at which its brackets stand: clear of keys at its ends."""


class Axis(NamedTuple):
    """Where frames are: framebuffer pixels.

    Attributes:
        left: of the frame ``start``.
        width: of all that is shown.
        start: frame at the left end.
        span: frames to the right end.
    """

    left: float
    width: float
    start: float
    span: float

    @property
    def per_frame(self) -> float:
        """Pixels of a frame."""
        return self.width / self.span

    def x(self, frame: float) -> float:
        """Where a frame is."""
        return self.left + (frame - self.start) * self.per_frame

    def frame(self, x: float) -> float:
        """What frame is there."""
        return self.start + (x - self.left) / self.per_frame


def axis_of(pen: Pen, view: TimeView, x: float, w: float) -> Axis:
    """The axis in a well that starts at x and is so wide."""
    inset = pen.px(INSET)
    return Axis(x + inset, max(w - 2.0 * inset, 1.0), view.start, view.span)


def draw_strip(ui: PanelContext, pen: Pen, well: Item, axis: Axis) -> None:
    """Numbers and ticks at the top of a well, what is outside the range darkened, handles at the range's ends."""
    strip = min(pen.px(STRIP), well.h)
    last = ui.controller.playback.frames - 1
    step = number_step(pen.px(_NUMBERS_APART) / axis.per_frame)
    minor = max(step // 5, 1)
    y = pen.middle(well.y, strip, SMALL)
    low = max(0, int(axis.frame(well.x)) // minor * minor)
    high = min(int(axis.frame(well.x + well.w)) + 1, last if axis.span <= last + 1 else 10**9)
    for frame in range(low, high + 1, minor):
        x = float(round(axis.x(frame)))
        if frame % step:
            pen.upright(x, well.y + strip - pen.px(4), well.y + strip)
        else:
            words = str(frame)
            pen.small(x - pen.width(words, SMALL) / 2.0, y, words)
    pen.rule(well.x, well.x + well.w, well.y + strip)


def draw_range(ui: PanelContext, pen: Pen, well: Item, axis: Axis, ends: tuple[int, int] | None = None) -> None:
    """Shade what is not played, with a bracket at each end of what is; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    left, right = max(axis.x(first), well.x), min(axis.x(last), well.x + well.w)
    shade = pen.ink("panel", 0.6)
    if left > well.x:
        pen.draw.add_rect_filled((well.x, well.y), (min(left, well.x + well.w), well.y + well.h), shade)
    if right < well.x + well.w:
        pen.draw.add_rect_filled((max(right, well.x), well.y), (well.x + well.w, well.y + well.h), shade)
    places = range_places(ui, pen, axis, ends)
    for x, place, way in zip((axis.x(first), axis.x(last)), places, (-1.0, 1.0), strict=True):
        if well.x <= x <= well.x + well.w:
            _bracket(pen, well, place, way, "text" if ends else "text3")


def range_places(ui: PanelContext, pen: Pen, axis: Axis, ends: tuple[int, int] | None = None) -> tuple[float, float]:
    """Where the brackets of the range stand; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    return axis.x(first) - pen.px(_ASIDE), axis.x(last) + pen.px(_ASIDE)


def _bracket(pen: Pen, well: Item, x: float, way: float, colour: str) -> None:
    """``[`` or ``]``, as tall as the rows of keys."""
    top, bottom = well.y + min(pen.px(STRIP), well.h) + pen.px(4), well.y + well.h - pen.px(4)
    if bottom - top < pen.px(8):
        return
    thick, foot = max(1.0, pen.px(1.5)), pen.px(4)
    x = float(round(x))
    start = x - foot if way > 0.0 else x
    pen.draw.add_rect_filled((x, top), (x + thick, bottom), pen.ink(colour))
    for y in (top, bottom - thick):
        pen.draw.add_rect_filled((start, y), (start + foot + thick, y + thick), pen.ink(colour))


def range_end_at(ui: PanelContext, pen: Pen, well: Item, axis: Axis, place: tuple[float, float]) -> str:
    """The bracket of the range that is at a pixel: "first", "last" or ""."""
    x, y = place
    if y < well.y + pen.px(STRIP):
        return ""
    first, last = played_range(ui.session.document)
    near = pen.px(_ASIDE - 6), pen.px(_ASIDE + 6)
    if near[0] <= axis.x(first) - x <= near[1]:
        return "first"
    return "last" if near[0] <= x - axis.x(last) <= near[1] else ""


def number_step(frames: float) -> int:
    """The least of 1, 2, 5, 10, 20, ... that is not below so many frames."""
    step, power = 1, 1
    while step < frames:
        step = next((power * part for part in (1, 2, 5) if power * part >= frames), power * 10)
        power *= 10
    return step


def draw_playhead(ui: PanelContext, pen: Pen, well: Item, axis: Axis) -> None:
    """The frame that is shown: a line with its number at the top."""
    frame = ui.session.document.frame
    x = axis.x(frame)
    if not well.x <= x <= well.x + well.w:
        return
    colour = "record" if ui.session.recording else "accent"
    words = str(frame)
    wide = pen.width(words, SMALL, bold=True) + pen.px(12)
    left = min(max(x - wide / 2.0, well.x), well.x + well.w - wide)
    half = max(pen.px(1.5), 1.0) / 2.0
    pen.draw.add_rect_filled((x - half, well.y), (x + half, well.y + well.h), pen.ink(colour))
    h = min(pen.px(STRIP), well.h) - pen.px(3)
    pen.box(left, well.y + pen.px(1), wide, h, colour, rounding=3)
    inset = (wide - pen.width(words, SMALL, bold=True)) / 2.0
    pen.strong(left + inset, pen.middle(well.y + pen.px(1), h, SMALL), words, "on_accent", SMALL)


__all__ = [
    "Axis", "axis_of", "draw_playhead", "draw_range", "draw_strip", "number_step", "range_end_at", "range_places",
]  # fmt: skip
