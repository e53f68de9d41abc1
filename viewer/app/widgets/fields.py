"""Fields and sliders: numbers to scrub or type (with arithmetic and units), text lines, a search field."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import BASE, SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.edits import Edit, Phase, attempt, carry_out, scrub
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.document import Action
from viewer.errors import InputError
from viewer.gizmo import METRE
from viewer.ik.goals import Vector
from viewer.ui import number_format

METRES: Final[Mapping[str, float]] = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "in": 0.0254, "ft": 0.3048}
DEGREES: Final[Mapping[str, float]] = {"°": 1.0, "deg": 1.0, "rad": 180.0 / math.pi}
PLAIN: Final[Mapping[str, float]] = {"%": 0.01}
"""Units that a field understands, in the field's own unit."""


def metres_in(worth: float) -> dict[str, float]:
    """Units of length for a field whose own unit is ``worth`` metres."""
    return {name: metres / worth for name, metres in METRES.items()}


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
    """The value of an expression such as ``1.2 + 5 cm``, ``360/7`` or ``-12,5``.

    It may have + - * / ^, brackets, ``pi``, ``sqrt``, and units after numbers; a decimal comma is a point. ``units``
    are the sizes of units in that of the result.

    Raises:
        InputError: the text has no finite value.
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
        decimals: number shown; typed numbers keep all of theirs.
        unit: shown after the number.
        per_pixel: change of the value per logical pixel of a scrub.
        snap: step of the value while Ctrl is held.
        units: that may be typed, in the shown unit; `METRES`: of a length, in metres.
        low, high: bounds of the value.
        worth: the shown unit, in the unit of the value.
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
        """The value as shown, with its unit."""
        return number_format.fixed(value / self.worth, self.decimals) + self.unit

    def read(self, text: str) -> float:
        """The value of a typed text; raises InputError as `evaluate` does."""
        return evaluate(text, metres_in(self.worth) if self.units is METRES else self.units) * self.worth

    def kept(self, edit: Edit | None) -> Edit | None:
        """An edit with its value clamped to the bounds."""
        return edit and edit._replace(value=min(max(edit.value, self.low), self.high))


POSITION = Format()
ANGLE = Format(decimals=1, unit="°", per_pixel=0.5, snap=5.0, units=DEGREES)
LENGTH = Format(unit=" m", low=1e-6)
COUNT = Format(decimals=0, per_pixel=0.2, snap=10.0, units={})
PART = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PLAIN)


def position_label(ui: PanelContext) -> str:
    """The label of three position fields, with the unit that they have no room for."""
    unit = ui.controller.view.unit
    return "Position" if unit.name == METRE.name else f"Pos. {unit.name}"


def in_lengths(ui: PanelContext, form: Format) -> Format:
    """A form of lengths in the unit and step that suit the figure's size; any other form as it is."""
    unit, scale = ui.controller.view.unit, ui.controller.view.step_scale
    if form.units is not METRES or (unit, scale) == (METRE, 1.0):
        return form
    return replace(
        form,
        decimals=unit.decimals,
        unit=f" {unit.name}" if form.unit else "",
        per_pixel=form.per_pixel * scale,
        snap=form.snap * scale,
        units=metres_in(unit.metres),
        low=form.low if form.low < 0.0 else form.low * scale,
        worth=unit.metres,
    )


_FOCUS = 4
"""Frames that imgui needs until a field that was given the keyboard focus answers keys."""


@dataclass(slots=True)
class _Typing:
    """The number field that is a text line now: its imgui id, text, last frame drawn; ``fresh`` until first drawn."""

    item: int
    text: str
    seen: int
    fresh: bool = True


_typing: list[_Typing] = []
_line_frame: list[int] = []
"""The last frame in which a text line had the focus."""
_focus_frame: list[int] = []
"""The last frame in which a field was given the focus."""


def focus_next_field() -> None:
    """Give the keyboard focus to the next field; `awaiting_focus` holds until it answers keys."""
    imgui.set_keyboard_focus_here()
    _focus_frame[:] = [imgui.get_frame_count()]


def awaiting_focus() -> bool:
    """Whether a field was given the focus but may not answer keys yet: typed keys must wait for it."""
    return bool(_focus_frame) and 0 <= imgui.get_frame_count() - _focus_frame[0] < _FOCUS


def text_line_active() -> bool:
    """Whether a text line has the focus, or had it in the last frame: it leaves Esc to its dialog."""
    return bool(_line_frame) and abs(imgui.get_frame_count() - _line_frame[0]) <= 1


def is_enter_pressed() -> bool:
    """Whether either Enter key was pressed in this frame."""
    return any(imgui.is_key_pressed(key, repeat=False) for key in (imgui.Key.enter, imgui.Key.keypad_enter))


def typing_in(it: int) -> bool:
    """Whether the number field with an imgui id is a text line now."""
    # A field that was not drawn in the last frame is hidden, and its text is dropped.
    if _typing and abs(imgui.get_frame_count() - _typing[-1].seen) > 1:
        _typing.clear()
    return bool(_typing) and _typing[-1].item == it


def begin_typing(value: float, form: Format) -> None:
    """Turn the last item into a text line from the next frame on; ``value`` is its first text."""
    value /= form.worth
    text = f"{value:.{max(form.decimals, 0) + 3}f}".rstrip("0").rstrip(".") if form.decimals else f"{value:.0f}"
    _typing[:] = [_Typing(imgui.get_item_id(), text, imgui.get_frame_count())]


def typed_number(ui: PanelContext, name: str, w: float, form: Format) -> Edit | None:
    """Draw a number field as a text line, and read it when Enter is pressed or the field loses the focus."""
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
    if attempt(ui, lambda: values.append(form.read(now.text))):
        return form.kept(Edit(Phase.SET, values[0]))
    return None


def push_field_padding(ui: PanelContext) -> None:
    """Make imgui's own fields `FIELD` high; pop one style variable afterwards."""
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (ui.px(8), (ui.px(controls.FIELD) - BASE * ui.scale) / 2.0))


def number_field(
    ui: PanelContext, name: str, value: float | None, form: Format = POSITION, *,
    width: float = 0.0, axis: str = "", hint: str = "", colour: str = "text",
) -> Edit | None:  # fmt: skip
    """A number to scrub, or to type after a double click; ``width`` as of `controls.room`.

    ``value`` is in the unit of the form, None shows a dash; ``axis`` is "x", "y" or "z" for the stripe and letter of
    one.
    """
    pen, form, width = Pen(ui), in_lengths(ui, form), controls.room(width)
    if typing_in(imgui.get_id(name)):
        return typed_number(ui, name, width, form)
    it = item(name, width, pen.px(controls.FIELD))
    edit = _scrubbed(ui, it, value, form)
    pen.box(*it[:4], it.fill)
    y = pen.middle(it.y, it.h)
    if axis:
        pen.draw.add_rect_filled((it.x, it.y), (it.x + pen.px(3), it.y + it.h), pen.ink(axis), pen.px(1))
        pen.strong(it.x + pen.px(8), y, axis.upper(), axis)
    words = number_format.DASH if value is None else form.words(value)
    pen.right(it.x + it.w - pen.px(6), y, words, colour)
    tip(hint)
    return edit


def edit_number(
    ui: PanelContext, name: str, value: float | None, form: Format, label: str, make: Callable[[float], Action], *,
    width: float = 0.0, hint: str = "",
) -> Edit | None:  # fmt: skip
    """A `number_field` of the document; ``make`` returns the action that sets it, ``label`` names the undo step."""
    edit = number_field(ui, name, value, form, width=width, hint=hint)
    carry_out(ui, edit, label, make)
    return edit


def number(ui: PanelContext, name: str, value: float, form: Format, *, width: float, hint: str = "") -> float:
    """A number outside the undo history, ``width`` logical pixels wide; returns its value after this frame."""
    edit = number_field(ui, name, value, form, width=ui.px(width), hint=hint)
    return value if edit is None or edit.phase is Phase.COMMIT else edit.value


def finished_number(
    ui: PanelContext, name: str, value: float | None, form: Format, *, width: float, hint: str = ""
) -> float | None:
    """A `number_field`, ``width`` logical pixels wide, for slow changes; returns the number once it is entered.

    None: neither typing nor a drag ended in this frame. During a drag only the field itself changes.
    """
    key = f"drag of {imgui.get_id(name)}"
    edit = number_field(ui, name, ui.memory.get(key, value), form, width=ui.px(width), hint=hint)
    if edit is not None and edit.phase in {Phase.BEGIN, Phase.MOVE}:
        ui.memory[key] = edit.value
        return None
    ui.memory.pop(key, None)
    return None if edit is None or edit.phase is Phase.CANCEL else edit.value


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
    ui: PanelContext, name: str, values: Sequence[float] | None, form: Format = POSITION
) -> tuple[int, Edit] | None:
    """Three numbers side by side with the stripes of x, y, z; returns the index and edit of the one that changes."""
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


def edit_vector(
    ui: PanelContext, name: str, values: Vector, form: Format, label: str, make: Callable[[Vector], Action]
) -> None:
    """`axis_fields` of the document, as of `edit_number`."""
    changed = axis_fields(ui, name, values, form)
    if changed is None:
        return
    index, edit = changed

    def put(value: float) -> Action:
        x, y, z = (value if axis == index else old for axis, old in enumerate(values))
        return make((x, y, z))

    carry_out(ui, edit, label, put)


class Search(NamedTuple):
    """The text of a search field, whether Enter was pressed in it, and whether it has the keyboard focus.

    ``step`` counts presses of the down arrow key, less those of the up arrow key.
    """

    text: str
    entered: bool = False
    step: int = 0
    active: bool = False


def search_field(ui: PanelContext, name: str, text: str, hint: str, *, focus: bool = False) -> Search:
    """A text line with a magnifying glass, and a cross that empties it.

    Esc empties it; Esc in an empty field ends its focus.
    """
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    width = imgui.get_content_region_avail().x
    imgui.push_style_var(imgui.StyleVar_.frame_padding, (pen.px(26), (pen.px(controls.FIELD) - BASE * pen.scale) / 2.0))
    imgui.set_next_item_width(width)
    imgui.set_next_item_allow_overlap()
    if focus:
        focus_next_field()
    steps: list[int] = []
    empty = not text
    _, text = imgui.input_text_with_hint(f"##{name}", hint, text, _SEARCH, lambda data: _stepped(data, steps))
    imgui.pop_style_var()
    active, left = imgui.is_item_active(), imgui.is_item_deactivated()
    entered = left and is_enter_pressed()
    if active and empty:
        _line_frame[:] = [imgui.get_frame_count()]  # the next Esc is not for the field
    pen.icon(x + pen.px(14), y + pen.px(controls.FIELD) / 2.0, fa.ICON_FA_MAGNIFYING_GLASS, "text3", SMALL)
    if text:
        imgui.set_cursor_screen_pos((x + width - pen.px(24), y))
        it = item(f"{name} clear", pen.px(24), pen.px(controls.FIELD))
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
    """Replace the text of a field: only a callback can do this while the field has the focus."""
    text = stepped(_step(data))
    data.delete_chars(0, data.buf_text_len)
    data.insert_chars(0, text)
    data.select_all()
    return 0


def text_line(
    ui: PanelContext, name: str, text: str, *,
    width: float = 0.0, hint: str = "", chosen: bool = False, stepped: Callable[[int], str] | None = None,
) -> tuple[str, bool]:  # fmt: skip
    """A text line, its ``width`` as of `controls.room`; returns its text, and whether Enter was pressed.

    ``hint`` is shown while it is empty; with ``chosen`` all of it is selected when it gets the focus; ``stepped``
    returns the text that replaces it on the down (1) or up (-1) arrow key.
    """
    push_field_padding(ui)
    imgui.set_next_item_width(controls.room(width))
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
        _line_frame[:] = [imgui.get_frame_count()]
    return text, entered


_VALUE = 58
"""Width of the number at the right of a slider, logical pixels."""
_RAIL, _MARK, _KNOB, _REST_TICK = 6.0, 14.0, 5.5, 4.0
"""Sizes of a slider's parts, logical pixels."""


@dataclass(frozen=True, slots=True)
class Range:
    """What an angle slider shows, in the unit of its number.

    Attributes:
        low, high: the ends of the rail.
        least, most: the joint's limits; None: unlimited.
        rest: the value of a reset.
        at_limit: the value is at a limit.
        off: the limits are off, and are not marked.
    """

    low: float = -180.0
    high: float = 180.0
    least: float | None = None
    most: float | None = None
    rest: float = 0.0
    at_limit: bool = False
    off: bool = False

    def part(self, value: float) -> float:
        """How far along the rail a value is, 0 to 1."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def angle_slider(
    ui: PanelContext, name: str, value: float, bounds: Range, form: Format, *, hint: str = ""
) -> Edit | None:
    """A value on a rail with the range between its limits lighter; as wide as the rest of the line.

    Dragging scrubs, with Shift finely and with Ctrl in steps; a double click types, the right button resets.
    """
    return _slider(ui, name, value, bounds, form, partial(_draw_angle, value=value, bounds=bounds), hint)


_MARK_REACH = 6.0
"""Logical pixels from a mark within which a press takes it, unless the knob is nearer."""
_taken: dict[int, str] = {}
"""By item, the part of the slider that was pressed."""


def range_slider(ui: PanelContext, name: str, value: float, bounds: Range, form: Format) -> tuple[str, Edit | None]:
    """An `angle_slider` whose marks can be dragged, too.

    Returns:
        What is edited: "value", "least" or "most", an end of the range; and the edit.
    """
    pen = Pen(ui)
    here = imgui.get_id(name)
    rail_w = max(imgui.get_content_region_avail().x - pen.px(_VALUE), pen.px(40))
    left, at = imgui.get_cursor_screen_pos().x, imgui.get_mouse_pos().x
    ends = {"value": value, "least": bounds.least, "most": bounds.most}
    if imgui.is_mouse_clicked(imgui.MouseButton_.left) and not bounds.off:
        places = {part: left + bounds.part(end) * rail_w for part, end in ends.items() if end is not None}
        near = {part: abs(x - at) for part, x in places.items()}
        part = min(near, key=lambda one: near[one])
        _taken[here] = part if near[part] <= _MARK_REACH * pen.scale else "value"
    part = _taken.get(here, "value")
    chosen = ends[part]
    now = value if part == "value" or chosen is None else chosen
    edit = _slider(ui, name, now, bounds, form, partial(_draw_angle, value=value, bounds=bounds), "")
    if not imgui.is_mouse_down(imgui.MouseButton_.left) and not typing_in(here):
        _taken.pop(here, None)
    return part, edit


def part_slider(
    ui: PanelContext, name: str, value: float, *, low: float = 0.0, high: float = 1.0, rest: float = 1.0,
    form: Format = PART, hint: str = "",
) -> Edit | None:  # fmt: skip
    """A value on a rail that is filled up to it; as wide as the rest of the line. It is used as `angle_slider` is."""
    bounds = Range(low, high, rest=rest)

    def draw(pen: Pen, it: Area, rail_w: float) -> None:
        y, x, half = it.middle[1], it.x + bounds.part(value) * rail_w, pen.px(_RAIL) / 2.0
        pen.box(it.x, y - half, rail_w, 2.0 * half, "field", rounding=3)
        pen.box(it.x, y - half, max(x - it.x, 0.0), 2.0 * half, "accent", rounding=3)
        _knob(pen, it, x, "effector")

    return _slider(ui, name, value, bounds, form, draw, hint)


def _slider(
    ui: PanelContext, name: str, value: float, bounds: Range, form: Format,
    draw: Callable[[Pen, Area, float], None], hint: str,
) -> Edit | None:  # fmt: skip
    """A slider whose rail ``draw`` draws for a width in pixels; the number is to its right."""
    pen, form = Pen(ui), in_lengths(ui, form)
    number_w = pen.px(_VALUE)
    rail_w = max(imgui.get_content_region_avail().x - number_w, pen.px(40))
    if typing_in(imgui.get_id(name)):
        return typed_number(ui, name, rail_w + number_w, form)
    it = item(name, rail_w + number_w, pen.px(controls.FIELD), right_too=True)
    edit = _slid(it, value, (bounds.high - bounds.low) / rail_w, bounds, form, pen.scale)
    draw(pen, it, rail_w)
    colour = "limit" if bounds.at_limit else "text"
    pen.right(it.x + it.w, pen.middle(it.y, it.h), form.words(value), colour)
    tip(hint)
    return edit


def _slid(it: Area, value: float, per_pixel: float, bounds: Range, form: Format, scale: float) -> Edit | None:
    edit = None
    if it.hovered or it.held:
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    if it.hovered and imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
        begin_typing(value, form)
    elif it.clicked and imgui.is_mouse_released(imgui.MouseButton_.right):
        edit = Edit(Phase.SET, bounds.rest)
    else:
        edit = scrub(it, value, per_pixel, snap=form.snap, scale=scale)
    return form.kept(edit and edit._replace(value=min(max(edit.value, bounds.low), bounds.high)))


def _draw_angle(pen: Pen, it: Area, rail_w: float, value: float, bounds: Range) -> None:
    def along(number: float) -> float:
        return it.x + bounds.part(number) * rail_w

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
