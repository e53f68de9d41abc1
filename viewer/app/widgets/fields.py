"""Fields and sliders: numbers to scrub or to type (sums and units too), lines of text, a search."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import BASE, SMALL
from viewer.app.widgets.buttons import FIELD
from viewer.app.widgets.edits import Edit, Phase, attempt, scrub
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.errors import InputError
from viewer.gizmo import METRE
from viewer.ui import numbers

METRES: Final[Mapping[str, float]] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "in": 0.0254, "ft": 0.3048}
DEGREES: Final[Mapping[str, float]] = {"°": 1.0, "deg": 1.0, "rad": 180.0 / math.pi}
PLAIN: Final[Mapping[str, float]] = {"%": 0.01}
"""Units that a field understands, and what they are worth in the field's own."""

_LONGEST = 80
_SIGNS = str.maketrans({"\N{MINUS SIGN}": "-", "\N{MULTIPLICATION SIGN}": "*", "\N{DIVISION SIGN}": "/", "^": "**"})
_BINARY: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}
_NAMES: Final[Mapping[str, float]] = {"pi": math.pi, "π": math.pi}
_FUNCTIONS: Final[Mapping[str, Callable[[float], float]]] = {"sqrt": math.sqrt, "abs": abs}


def evaluate(text: str, units: Mapping[str, float] = PLAIN) -> float:
    """The number that a text means: ``1.2 + 5 cm``, ``360/7``, ``-12,5``.

    Args:
        text: numbers, + - * / ^, brackets, ``pi``, ``sqrt``, units behind numbers; a decimal comma is a point.
        units: the units and their worth.

    Raises:
        InputError: it means no finite number.
    """
    tidy = text.strip().translate(_SIGNS)
    tidy = re.sub(r"(?<=\d),(?=\d)", ".", tidy)
    for unit in sorted(units, key=len, reverse=True):
        tidy = re.sub(rf"(?<=[\d.)iπ])\s*{re.escape(unit)}(?![\w°%])", f"*{units[unit]!r}", tidy)
    wrong = InputError(f'expected a number, found "{text.strip()}"')
    if not tidy or len(tidy) > _LONGEST:
        raise wrong
    try:
        value = float(_value(ast.parse(tidy, mode="eval").body))
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError):
        raise wrong from None
    if not math.isfinite(value):
        raise wrong
    return value


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left), _value(right))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](_value(argument))
        case _:
            raise ValueError


@dataclass(frozen=True, slots=True)
class Format:
    """How a number is shown, scrubbed and typed.

    Attributes:
        decimals: that are shown; typed numbers are taken whole.
        unit: behind the number.
        per_pixel: change of the value per logical pixel of a scrub.
        snap: step of the value while Ctrl is held.
        units: that may be typed, and what they are worth in the one shown.
        worth: of the value, what one of what is shown is.
        low, high: the number stays between these.
    """

    decimals: int = 3
    unit: str = ""
    per_pixel: float = 0.002
    snap: float = 0.05
    units: Mapping[str, float] = field(default_factory=lambda: METRES)
    low: float = -1e9
    high: float = 1e9
    worth: float = 1.0

    def words(self, value: float) -> str:
        """The number with its unit."""
        return numbers.fixed(value / self.worth, self.decimals) + self.unit

    def kept(self, edit: Edit | None) -> Edit | None:
        """An edit within the bounds."""
        return edit and edit._replace(value=min(max(edit.value, self.low), self.high))


PLACE = Format()
TURN = Format(decimals=1, unit="°", per_pixel=0.5, snap=5.0, units=DEGREES)
LENGTH = Format(unit=" m", low=1e-6)
COUNT = Format(decimals=0, per_pixel=0.2, snap=10.0, units={})
PART = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PLAIN)


def position_label(ui: PanelContext) -> str:
    """What stands before three fields of a place, which are too narrow for the unit."""
    unit = ui.controller.view.unit
    return "Position" if unit.name == METRE.name else f"Pos. {unit.name}"


def in_lengths(ui: PanelContext, form: Format) -> Format:
    """A format for lengths (`PLACE`, `LENGTH`) as the figure's size asks for them."""
    unit, scale = ui.controller.view.unit, ui.controller.view.step_scale
    if (unit, scale) == (METRE, 1.0):
        return form
    return replace(
        form,
        decimals=unit.decimals,
        unit=f" {unit.name}" if form.unit else "",
        per_pixel=form.per_pixel * scale,
        snap=form.snap * scale,
        units={name: metres / unit.metres for name, metres in METRES.items()},
        low=form.low if form.low < 0.0 else form.low * scale,
        worth=unit.metres,
    )


__all__ = [
    "COUNT", "LENGTH", "PART", "PLACE", "TURN", "Format", "Search", "axis_fields", "in_lengths", "number_field",
    "search_field", "text_line",
]  # fmt: skip

FOCUS = 4
"""Frames in which a field that is given the keyboard comes to answer it."""


@dataclass(slots=True)
class _Typing:
    """The one field that is being typed into.

    Attributes:
        item: its imgui id.
        text: typed so far.
        seen: the frame in which it was drawn last.
        fresh: it has not been drawn yet.
    """

    item: int
    text: str
    seen: int
    fresh: bool = True


_typing: list[_Typing] = []
_lines: list[int] = []
"""The frame in which a line of text had the keyboard last."""
_given: list[int] = []
"""The frame in which a field was given the keyboard last."""


def focus_next_field() -> None:
    """Give the keyboard to the field that follows; until it answers, `awaiting_focus`."""
    imgui.set_keyboard_focus_here()
    _given[:] = [imgui.get_frame_count()]


def awaiting_focus() -> bool:
    """Whether a field was given the keyboard and may not answer it yet: what is typed must wait for it."""
    return bool(_given) and 0 <= imgui.get_frame_count() - _given[0] < FOCUS


def typing_in(it: int) -> bool:
    """Whether a field, by its imgui id, is being typed into."""
    # A field that was not drawn in the last frame was put away: what was typed into it goes with it.
    if _typing and abs(imgui.get_frame_count() - _typing[-1].seen) > 1:
        _typing.clear()
    return bool(_typing) and _typing[-1].item == it


def begin_typing(value: float, form: Format) -> None:
    """Turn the last item into a line of text, from the next frame on."""
    value /= form.worth
    text = f"{value:.{max(form.decimals, 0) + 3}f}".rstrip("0").rstrip(".") if form.decimals else f"{value:.0f}"
    _typing[:] = [_Typing(imgui.get_item_id(), text, imgui.get_frame_count())]


def typed(ui: PanelContext, name: str, w: float, form: Format) -> Edit | None:
    """Draw the line of text that a field has become, and read it when Enter is pressed or the field is left."""
    now = _typing[-1]
    now.seen = imgui.get_frame_count()
    if now.fresh:
        focus_next_field()
    push_field_padding(ui)
    imgui.set_next_item_width(w)
    flags = imgui.InputTextFlags_.auto_select_all | imgui.InputTextFlags_.enter_returns_true
    entered, now.text = imgui.input_text(f"##{name} typed", now.text, flags)
    imgui.pop_style_var()
    left = imgui.is_item_deactivated()
    waiting, now.fresh = now.fresh, False
    if not (entered or left) or waiting:
        return None
    _typing.clear()
    if imgui.is_key_pressed(imgui.Key.escape):
        return None
    values: list[float] = []
    if attempt(ui, lambda: values.append(evaluate(now.text, form.units))):
        return form.kept(Edit(Phase.SET, values[0] * form.worth))
    return None


def push_field_padding(ui: PanelContext) -> None:
    """Make imgui's own fields as high as ours; pop one style variable afterwards."""
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (ui.px(8), (ui.px(FIELD) - BASE * ui.scale) / 2.0))


def number_field(
    ui: PanelContext, name: str, value: float | None, form: Format = PLACE, *,
    width: float, axis: str = "", hint: str = "", colour: str = "text",
) -> Edit | None:  # fmt: skip
    """A number to scrub, or to type after a double click.

    Args:
        ui: what panels draw from.
        name: imgui id.
        value: in the unit that is shown; None shows a dash.
        form: how it is written.
        width: framebuffer pixels.
        axis: "x", "y" or "z" for the stripe and letter of an axis.
        hint: tooltip.
        colour: of the number.
    """
    pen = Pen(ui)
    if typing_in(imgui.get_id(name)):
        return typed(ui, name, width, form)
    it = item(name, width, pen.px(FIELD))
    edit = _scrubbed(ui, it, value, form)
    pen.box(*it[:4], it.fill)
    y = pen.middle(it.y, it.h)
    if axis:
        pen.draw.add_rect_filled((it.x, it.y), (it.x + pen.px(3), it.y + it.h), pen.ink(axis), pen.px(1))
        pen.strong(it.x + pen.px(8), y, axis.upper(), axis)
    words = numbers.DASH if value is None else form.words(value)
    pen.right(it.x + it.w - pen.px(6), y, words, colour)
    tip(hint)
    return edit


def number(ui: PanelContext, name: str, value: float, form: Format, *, width: float, hint: str = "") -> float:
    """A number that no history keeps: its value after this frame. ``width`` in logical pixels."""
    edit = number_field(ui, name, value, form, width=ui.px(width), hint=hint)
    return value if edit is None or edit.phase is Phase.COMMIT else edit.value


def _scrubbed(ui: PanelContext, it: Area, value: float | None, form: Format) -> Edit | None:
    if it.hovered or it.held:
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    if value is None:
        return None
    if it.hovered and imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
        begin_typing(value, form)
        return None
    return form.kept(scrub(it, value, form.per_pixel / ui.scale, snap=form.snap, scale=ui.scale))


def axis_fields(
    ui: PanelContext, name: str, values: Sequence[float] | None, form: Format = PLACE
) -> tuple[int, Edit] | None:
    """Three numbers side by side with the stripes of x, y, z; the index and edit of the one that changes."""
    spacing = ui.px(4)
    width = float(int((imgui.get_content_region_avail().x - 2 * spacing) / 3))
    result = None
    for index, axis in enumerate("xyz"):
        if index:
            imgui.same_line(0.0, spacing)
        value = None if values is None else values[index]
        edit = number_field(ui, f"{name} {axis}", value, form, width=width, axis=axis)
        if edit is not None:
            result = index, edit
    return result


class Search(NamedTuple):
    """What a search field holds, and which keys it was given.

    Attributes:
        text: typed so far.
        entered: Enter was pressed.
        step: rows that the arrow keys went down, less those that they went up.
        active: it has the keyboard.
    """

    text: str
    entered: bool = False
    step: int = 0
    active: bool = False


def search_field(ui: PanelContext, name: str, text: str, hint: str, *, focus: bool = False) -> Search:
    """A line of text with a magnifying glass and, once it holds something, a cross to empty it.

    Esc empties it; from an empty one it puts the keyboard away.
    """
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    width = imgui.get_content_region_avail().x
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (pen.px(26), (pen.px(FIELD) - BASE * pen.scale) / 2.0))
    imgui.set_next_item_width(width)
    imgui.set_next_item_allow_overlap()
    if focus:
        focus_next_field()
    steps: list[int] = []
    empty = not text
    _, text = imgui.input_text_with_hint(f"##{name}", hint, text, _SEARCH, lambda data: _stepped(data, steps))
    imgui.pop_style_var()
    active, left = imgui.is_item_active(), imgui.is_item_deactivated()
    entered = left and _is_enter_pressed()
    if active and empty:
        _lines[:] = [imgui.get_frame_count()]  # the next Esc is not for the field
    pen.icon(x + pen.px(14), y + pen.px(FIELD) / 2.0, fa.ICON_FA_MAGNIFYING_GLASS, "text3", SMALL)
    if text:
        imgui.set_cursor_screen_pos((x + width - pen.px(24), y))
        it = item(f"{name} clear", pen.px(24), pen.px(FIELD))
        pen.icon(*it.middle, fa.ICON_FA_XMARK, "text" if it.hovered else "text3", SMALL)
        if it.clicked:
            return Search("")
    return Search(text, entered, sum(steps), active)


_SEARCH = imgui.InputTextFlags_.escape_clears_all | imgui.InputTextFlags_.callback_history


def _step(data: imgui.InputTextCallbackData) -> int:
    return {imgui.Key.down_arrow: 1, imgui.Key.up_arrow: -1}.get(imgui.Key(data.event_key), 0)


def _stepped(data: imgui.InputTextCallbackData, steps: list[int]) -> int:
    steps.append(_step(data))
    return 0


def _replaced(data: imgui.InputTextCallbackData, stepped: Callable[[int], str]) -> int:
    """Put other text in the place of what a field holds: while it has the keyboard, only a callback can."""
    text = stepped(_step(data))
    data.delete_chars(0, data.buf_text_len)
    data.insert_chars(0, text)
    data.select_all()
    return 0


def _is_enter_pressed() -> bool:
    return any(imgui.is_key_pressed(key, repeat=False) for key in (imgui.Key.enter, imgui.Key.keypad_enter))


def count_down_focus(ui: PanelContext, left: int) -> int:
    """Give the keyboard to the field that follows, if ``left`` is `FOCUS`; what is left for the next frame.

    It takes imgui some frames until the field answers Enter: they are asked for, for a window at rest draws none.
    """
    if left == FOCUS:
        focus_next_field()
    if left:
        ui.wake()
    return max(left - 1, 0)


def text_line(
    ui: PanelContext, name: str, text: str, *,
    width: float, hint: str = "", chosen: bool = False, stepped: Callable[[int], str] | None = None,
) -> tuple[str, bool]:  # fmt: skip
    """A line of text; what it holds, and whether Enter was pressed.

    Args:
        ui: what panels draw from.
        name: imgui id.
        text: that it holds.
        width: framebuffer pixels.
        hint: shown while it is empty.
        chosen: it is selected as a whole where it takes the focus.
        stepped: what it is to hold when the arrow keys go down (1) or up (-1) from it.
    """
    push_field_padding(ui)
    imgui.set_next_item_width(width)
    flags = imgui.InputTextFlags_.enter_returns_true | (imgui.InputTextFlags_.auto_select_all if chosen else 0)
    if stepped is None:
        entered, text = imgui.input_text_with_hint(f"##{name}", hint, text, flags)
    else:
        flags |= imgui.InputTextFlags_.callback_history
        entered, text = imgui.input_text_with_hint(
            f"##{name}", hint, text, flags, lambda data: _replaced(data, stepped)
        )
    imgui.pop_style_var()
    if imgui.is_item_active():
        _lines[:] = [imgui.get_frame_count()]
    return text, entered


def text_line_active() -> bool:
    """Whether a line of text has the keyboard, or had it in the last frame: Esc is not for it but for its dialog."""
    return bool(_lines) and abs(imgui.get_frame_count() - _lines[0]) <= 1


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


def _handled(it: Area, value: float, per_pixel: float, bounds: Range, form: Format, scale: float) -> Edit | None:
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


def _draw_angle(pen: Pen, it: Area, rail_w: float, value: float, bounds: Range) -> None:
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


def _knob(pen: Pen, it: Area, x: float, colour: str) -> None:
    y = it.middle[1]
    pen.disc(x, y, _KNOB + 1.5, "panel")
    pen.disc(x, y, _KNOB + (0.75 if it.hovered or it.held else 0.0), colour)
