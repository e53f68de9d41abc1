"""Sliders: an angle within its range, and a plain part of a whole."""

from __future__ import annotations

from dataclasses import dataclass

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.widgets.edits import Edit, Phase, scrub
from viewer.app.widgets.fields import PART, TURN, Format, begin_typing, typed, typing_in
from viewer.app.widgets.pen import Item, Pen, item, tip

ROW = 24
"""Height of a slider's row, logical pixels."""
VALUE = 58
"""Width of the number at its right, logical pixels."""

_RAIL, _MARK, _KNOB = 6.0, 14.0, 5.5
_REST_TICK = 4.0


@dataclass(frozen=True, slots=True)
class Range:
    """What an angle slider shows, in the unit of its number.

    Attributes:
        low, high: the ends of the rail.
        least, most: the range that is allowed; None: all of it.
        rest: what a reset goes back to.
        at_limit: the value stands at an end of what is allowed.
        off: the range does not bind now: its marks are gone.
    """

    low: float = -180.0
    high: float = 180.0
    least: float | None = None
    most: float | None = None
    rest: float = 0.0
    at_limit: bool = False
    off: bool = False


def angle_slider(
    ui: PanelContext, name: str, value: float, bounds: Range, form: Format = TURN, *, hint: str = ""
) -> Edit | None:
    """A value on a rail from end to end, the allowed part lit; as wide as the rest of the line.

    Dragging scrubs, Shift finely and Ctrl in steps; a double click types, the right button resets.
    """
    pen = Pen(ui)
    rail_w, number_w = _widths(pen)
    if typing_in(imgui.get_id(name)):
        return typed(ui, name, rail_w + number_w, form)
    it = item(name, rail_w + number_w, pen.px(ROW), right_too=True)
    span = bounds.high - bounds.low
    edit = _handled(it, value, span / rail_w, bounds, form, pen.scale)
    _draw_angle(pen, it, rail_w, value, bounds)
    colour = "limit" if bounds.at_limit else "text"
    pen.right(it.x + it.w, pen.middle(it.y, it.h), form.words(value), colour)
    tip(hint)
    return edit


def part_slider(
    ui: PanelContext, name: str, value: float, *, low: float = 0.0, high: float = 1.0, rest: float = 1.0,
    form: Format = PART, hint: str = "",
) -> Edit | None:  # fmt: skip
    """A value on a plain rail, filled up to it; as wide as the rest of the line."""
    pen = Pen(ui)
    rail_w, number_w = _widths(pen)
    if typing_in(imgui.get_id(name)):
        return typed(ui, name, rail_w + number_w, form)
    it = item(name, rail_w + number_w, pen.px(ROW), right_too=True)
    bounds = Range(low, high, rest=rest)
    edit = _handled(it, value, (high - low) / rail_w, bounds, form, pen.scale)
    part = min(max((value - low) / (high - low), 0.0), 1.0)
    y, x = it.middle[1], it.x + part * rail_w
    half = pen.px(_RAIL) / 2.0
    pen.box(it.x, y - half, rail_w, 2.0 * half, "field", rounding=3)
    pen.box(it.x, y - half, max(x - it.x, 0.0), 2.0 * half, "accent", rounding=3)
    _knob(pen, it, x, "effector")
    pen.right(it.x + it.w, pen.middle(it.y, it.h), form.words(value))
    tip(hint)
    return edit


def _widths(pen: Pen) -> tuple[float, float]:
    """Of the rail and of the number, framebuffer pixels."""
    number = pen.px(VALUE)
    return max(imgui.get_content_region_avail().x - number, pen.px(40)), number


def _handled(it: Item, value: float, per_pixel: float, bounds: Range, form: Format, scale: float) -> Edit | None:
    edit = None
    if it.hovered or it.held:
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    if it.hovered and imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
        begin_typing(value, form)
    elif it.clicked and imgui.is_mouse_released(imgui.MouseButton_.right):
        edit = Edit(Phase.SET, bounds.rest)
    else:
        edit = scrub(it, value, per_pixel, snap=form.snap, scale=scale)
    return edit and edit._replace(value=min(max(edit.value, bounds.low), bounds.high))


def _draw_angle(pen: Pen, it: Item, rail_w: float, value: float, bounds: Range) -> None:
    span = bounds.high - bounds.low

    def along(number: float) -> float:
        return it.x + min(max((number - bounds.low) / span, 0.0), 1.0) * rail_w

    y, half, tall = it.middle[1], pen.px(_RAIL) / 2.0, pen.px(_MARK) / 2.0
    pen.box(it.x, y - half, rail_w, 2.0 * half, "field", rounding=3)
    marks = [] if bounds.off else [along(end) for end in (bounds.least, bounds.most) if end is not None]
    if len(marks) == 2:
        pen.box(marks[0], y - half, marks[1] - marks[0], 2.0 * half, "field_on", rounding=0)
    now, rest = along(value), along(bounds.rest)
    tone = "limit" if bounds.at_limit and not bounds.off else "accent"
    pen.box(min(now, rest), y - half, abs(now - rest), 2.0 * half, tone, rounding=1)
    wide = max(1.5 * pen.scale, 1.0) / 2.0
    for mark in marks:
        near = bounds.at_limit and abs(mark - now) <= 1.0
        colour = pen.ink("limit" if near else "text3")
        pen.draw.add_rect_filled((mark - wide, y - tall), (mark + wide, y + tall), colour)
    tick = pen.px(_REST_TICK)
    pen.draw.add_rect_filled((rest - wide, y + half + 1.0), (rest + wide, y + half + 1.0 + tick), pen.ink("text3"))
    _knob(pen, it, now, "limit" if tone == "limit" else "effector")


def _knob(pen: Pen, it: Item, x: float, colour: str) -> None:
    y = it.middle[1]
    pen.disc(x, y, _KNOB + 1.5, "panel")
    pen.disc(x, y, _KNOB + (0.75 if it.hovered or it.held else 0.0), colour)
