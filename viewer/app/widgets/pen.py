"""Drawing in an imgui window with the palette's colours, plots, and areas that answer the pointer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import BASE, SMALL, paint
from viewer.errors import visible
from viewer.spatial.checks import Floats

Point = tuple[float, float]
N = TypeVar("N", float, Floats)

_ICON = 0.93
"""Size of an icon on a button, relative to the text beside it."""
_DROP = 0.6
"""Logical pixels by which the font draws icons below their middle."""


@lru_cache(maxsize=8192)
def _width(face: imgui.ImFont, size: float, scale: float, text: str) -> float:  # noqa: ARG001 - the key of the cache
    imgui.push_font(face, size)
    wide = imgui.calc_text_size(_line(text)).x
    imgui.pop_font()
    return wide


@lru_cache(maxsize=4096)
def _fit(face: imgui.ImFont, size: float, scale: float, text: str, width: float) -> str:
    text = _line(text)
    if not text or _width(face, size, scale, text) <= width:
        return text
    text = text.removesuffix("_link")  # the names of robots' frames end in this, and differ before it
    if _width(face, size, scale, text) <= width:
        return text
    fewest, most = 0, len(text) - 1  # letters to keep
    while fewest < most:
        kept = (fewest + most + 1) // 2
        if _width(face, size, scale, _elided(text, kept)) <= width:
            fewest = kept
        else:
            most = kept - 1
    return _elided(text, fewest)


@lru_cache(maxsize=4096)
def _line(text: str) -> str:
    """A text as one visible line: imgui would break it at control characters, and draw nothing for others."""
    return visible(text, icons=True)


def _elided(text: str, kept: int) -> str:
    tail = kept // 2
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"


class Pen:
    """Draws on the current imgui window; make one in each window and frame.

    Positions are framebuffer pixels; sizes given in logical pixels are multiplied by ``scale``. Between
    ``begin_disabled`` and ``end_disabled`` everything is as faint as imgui's own widgets.

    Attributes:
        draw: the window's draw list, unless the constructor got another.
        scale: framebuffer pixels per logical pixel.
        regular, bold: the fonts.
    """

    __slots__ = ("_style", "bold", "draw", "regular", "scale")

    def __init__(self, ui: PanelContext, draw: imgui.ImDrawList | None = None) -> None:
        self.draw = draw or imgui.get_window_draw_list()
        self.scale: float = ui.scale
        self.regular: imgui.ImFont = ui.fonts.regular
        self.bold: imgui.ImFont = ui.fonts.bold
        self._style = imgui.get_style()

    def px(self, logical: float) -> float:
        """A size in logical pixels as a whole number of framebuffer pixels."""
        return float(round(logical * self.scale))

    def ink(self, name: str, alpha: float = 1.0) -> int:
        """A colour of the palette with imgui's current transparency, as draw lists take it."""
        return paint(name, alpha * self._style.alpha)

    def picture(self, texture: imgui.ImTextureRef, area: tuple[float, float, float, float]) -> None:
        """A texture in a rectangle (x, y, width, height) with the corners of a field."""
        x, y, w, h = area
        white = round(255.0 * self._style.alpha) << 24 | 0xFFFFFF
        self.draw.add_image_rounded(texture, (x, y), (x + w, y + h), (0.0, 0.0), (1.0, 1.0), white, 4.0 * self.scale)

    def box(self, x: float, y: float, w: float, h: float, colour: str, *, rounding: float = 4.0) -> None:
        """A filled rectangle; ``rounding`` of its corners in logical pixels."""
        self.draw.add_rect_filled((x, y), (x + w, y + h), self.ink(colour), rounding * self.scale)

    def frame(self, x: float, y: float, w: float, h: float, colour: str, *, rounding: float = 4.0) -> None:
        """The outline of a rectangle, one logical pixel wide."""
        wide = max(1.0, self.px(1.0))
        half = wide / 2.0
        self.draw.add_rect(
            (x + half, y + half), (x + w - half, y + h - half), self.ink(colour), rounding * self.scale, wide
        )

    def rule(self, x0: float, x1: float, y: float, colour: str = "line") -> None:
        """A horizontal line, one logical pixel thick."""
        self.draw.add_rect_filled((x0, y), (x1, y + max(1.0, self.px(1.0))), self.ink(colour))

    def upright(self, x: float, y0: float, y1: float, colour: str = "line") -> None:
        """A vertical line, one logical pixel thick."""
        self.draw.add_rect_filled((x, y0), (x + max(1.0, self.px(1.0)), y1), self.ink(colour))

    def disc(self, x: float, y: float, radius: float, colour: str) -> None:
        """A filled circle; ``radius`` in logical pixels."""
        self.draw.add_circle_filled((x, y), radius * self.scale, self.ink(colour))

    def shape(self, points: Sequence[Point], colour: str) -> None:
        """A filled convex polygon."""
        self.draw.add_convex_poly_filled(list(points), self.ink(colour))

    def width(self, text: str, size: float = BASE, *, bold: bool = False) -> float:
        """Width of a line of text, in framebuffer pixels."""
        return _width(self.bold if bold else self.regular, size, self.scale, text)

    def fit(self, text: str, width: float, size: float = BASE, *, bold: bool = False) -> str:
        """The text, shortened in the middle to a width in framebuffer pixels: names differ at their ends."""
        return _fit(self.bold if bold else self.regular, size, self.scale, text, float(int(width)))

    def text(self, x: float, y: float, text: str, colour: str = "text", size: float = BASE) -> None:
        """A line of text with the upper left corner of its line box at (x, y)."""
        self.draw.add_text(self.regular, size * self.scale, (round(x), round(y)), self.ink(colour), _line(text))

    def fitted(self, x: float, y: float, text: str, width: float, colour: str = "text", size: float = BASE) -> str:
        """A line of text, shortened to a width; returns the full text, for a tooltip, if it was shortened, or ""."""
        shown = self.fit(text, width, size)
        self.text(x, y, shown, colour, size)
        return text if shown != text else ""

    def strong(self, x: float, y: float, text: str, colour: str = "text", size: float = BASE) -> None:
        """A line of bold text, placed as `text` is."""
        self.draw.add_text(self.bold, size * self.scale, (round(x), round(y)), self.ink(colour), _line(text))

    def small(self, x: float, y: float, text: str, colour: str = "text3") -> None:
        """A line of small text, placed as `text` is."""
        self.text(x, y, text, colour, SMALL)

    def middle(self, y: float, h: float, size: float = BASE) -> float:
        """The top of a line of text that is centred in a row from ``y`` on, ``h`` high."""
        return round(y + (h - size * self.scale) / 2.0)

    def right(self, x: float, y: float, text: str, colour: str = "text", size: float = BASE) -> None:
        """A line of text with its right end at ``x``."""
        self.text(x - self.width(text, size), y, text, colour, size)

    def icon(self, x: float, y: float, icon: str, colour: str = "text2", size: float = BASE) -> None:
        """An icon of Font Awesome centred at (x, y)."""
        drawn = size * _ICON
        wide = self.width(icon, drawn)
        self.text(x - wide / 2.0, y - (drawn / 2.0 + _DROP) * self.scale, icon, colour, drawn)


_RIGHT_TOO = imgui.ButtonFlags_.mouse_button_left | imgui.ButtonFlags_.mouse_button_right


class Area(NamedTuple):
    """An area of a window and the state of the pointer over it.

    Attributes:
        x, y, w, h: framebuffer pixels.
        clicked: a button was pressed and released inside, in this frame.
        hovered: it is under the pointer, and no other item is held.
        held: a button was pressed inside and is not yet released.
    """

    x: float
    y: float
    w: float
    h: float
    clicked: bool
    hovered: bool
    held: bool

    @property
    def fill(self) -> str:
        """The background of a field or button in this state, a colour of the palette."""
        return "field_on" if self.held else "field_hi" if self.hovered else "field"

    @property
    def middle(self) -> tuple[float, float]:
        """(x, y) of its centre."""
        return self.x + self.w / 2.0, self.y + self.h / 2.0


def item(name: str, w: float, h: float, *, right_too: bool = False) -> Area:
    """Make an area at imgui's cursor that answers the pointer, with ``right_too`` the right button, too; in pixels."""
    x, y = imgui.get_cursor_screen_pos()
    clicked = imgui.invisible_button(name, (max(w, 1.0), max(h, 1.0)), _RIGHT_TOO if right_too else 0)
    return Area(x, y, w, h, clicked, imgui.is_item_hovered(), imgui.is_item_active())


def tip(text: str) -> None:
    """A tooltip of the last item; none for an empty text."""
    if text:
        imgui.set_item_tooltip(text)


def gap(h: float) -> None:
    """Leave ``h`` framebuffer pixels free below the last item."""
    x, y = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((x, y + h))
    imgui.dummy((0.0, 0.0))


def number_step(least: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is at least ``least``: the steps of numbers along an axis."""
    step, power = 1, 1
    while step < least:
        step = next((power * part for part in (1, 2, 5) if power * part >= least), power * 10)
        power *= 10
    return step


class Plot(NamedTuple):
    """A plot: its frame in framebuffer pixels, and the abscissae and values at its edges."""

    x: float
    y: float
    w: float
    h: float
    across: tuple[float, float]
    ends: tuple[float, float]

    def at(self, across: N, value: N) -> tuple[N, N]:
        """The pixels of points (N,), or of a point."""
        (left, right), (low, high) = self.across, self.ends
        x = self.x + (across - left) * (self.w / (right - left))
        return x, self.y + (high - value) * (self.h / (high - low))

    def values(self, x: float, y: float) -> tuple[float, float]:
        """The abscissa and the value at a pixel."""
        (left, right), (low, high) = self.across, self.ends
        return left + (x - self.x) * (right - left) / self.w, high - (y - self.y) * (high - low) / self.h

    def contains(self, x: float, y: float) -> bool:
        """Whether a pixel is inside the frame."""
        return 0.0 <= x - self.x < self.w and 0.0 <= y - self.y < self.h

    def axes(self, pen: Pen, down: Iterable[tuple[float, str]], along: Iterable[tuple[float, str]]) -> None:
        """Draw the ground, with words beside values, at lines across, and below abscissae."""
        pen.box(self.x, self.y, self.w, self.h, "app", rounding=2)
        for value, words in down:
            y = self.at(0.0, value)[1]
            pen.rule(self.x, self.x + self.w, y)
            pen.right(self.x - pen.px(6), pen.middle(y - pen.px(8), pen.px(16), SMALL), words, "text3", SMALL)
        for across, words in along:
            x = self.at(across, 0.0)[0]
            pen.small(x - pen.width(words, SMALL) * (x - self.x) / self.w, self.y + self.h + pen.px(3), words)

    def dashes(self, pen: Pen, value: float, tone: str, alpha: float = 1.0) -> None:
        """Draw a dashed line across, at a value."""
        y, thick = round(self.at(0.0, value)[1]), max(1.0, pen.px(1))
        for x in range(int(self.x), int(self.x + self.w), int(pen.px(8))):
            pen.draw.add_rect_filled((x, y), (x + pen.px(4), y + thick), pen.ink(tone, alpha))

    def line(self, pen: Pen, across: Floats, values: Floats, ink: int, weight: float) -> None:
        """Draw a line through points (N,); ``weight`` in framebuffer pixels."""
        x, y = self.at(across, values)
        pen.draw.add_polyline([*zip(x.tolist(), y.tolist(), strict=True)], ink, weight, 0)
