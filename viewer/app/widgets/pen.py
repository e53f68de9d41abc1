"""Drawing in an imgui window with the palette's colours, plots, and areas that answer the pointer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.panel_context import PanelContext
from viewer.app.theme import BASE, SMALL, colour, paint
from viewer.errors import visible
from viewer.spatial.checks import Floats

Point = tuple[float, float]

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


_FLAGS = implot.Flags_.canvas_only | implot.Flags_.no_inputs | implot.Flags_.no_frame


@contextmanager
def plot(ui: PanelContext, name: str, size: tuple[float, float]) -> Iterator[bool]:
    """A plot in the panels' colours, ``size`` in framebuffer pixels; yields whether it is visible."""
    columns = implot.Col_
    for column, tone, alpha in (
        (columns.plot_bg, "app", 1.0), (columns.plot_border, "line", 1.0),
        (columns.axis_text, "text3", 1.0), (columns.axis_grid, "line", 0.7),
    ):  # fmt: skip
        implot.push_style_color(column, colour(tone, alpha))
    implot.push_style_var(implot.StyleVar_.plot_padding, (ui.px(2), ui.px(2)))
    implot.push_style_var(implot.StyleVar_.label_padding, (ui.px(4), ui.px(3)))
    implot.push_style_var(implot.StyleVar_.plot_min_size, (ui.px(60), ui.px(40)))
    with ui.fonts.small():
        visible = implot.begin_plot(name, size, _FLAGS)
        try:
            yield visible
        finally:  # so that only the panel's error is reported, and the next frame can draw
            if visible:
                implot.end_plot()
    implot.pop_style_color(4)
    implot.pop_style_var(3)


def on_plot() -> bool:
    """Whether the pointer is inside the current plot's frame; ImPlot does not say so of plots without input."""
    at, corner, size = imgui.get_mouse_pos(), implot.get_plot_pos(), implot.get_plot_size()
    return 0.0 <= at.x - corner.x < size.x and 0.0 <= at.y - corner.y < size.y


def plot_line(
    name: str, x: Floats, y: Floats, tone: str, weight: float, *, alpha: float = 1.0, dots: bool = False
) -> None:
    """Draw a line, and dots at its points if ``dots``, in a colour of the palette; ``weight`` in framebuffer pixels."""
    spec = implot.Spec()
    spec.line_color, spec.line_weight = colour(tone, alpha), weight
    if dots:
        spec.marker, spec.marker_size = implot.Marker_.circle, 2.0 * weight
        spec.marker_fill_color = spec.marker_line_color = colour(tone)
    implot.plot_line(name, np.ascontiguousarray(x, np.float64), np.ascontiguousarray(y), spec)


def dashes(pen: Pen, y: float, dash: float, gap: float, tone: str, alpha: float = 1.0) -> None:
    """A horizontal line of dashes across the current plot; their length and gap in logical pixels."""
    left, wide, thick = implot.get_plot_pos().x, implot.get_plot_size().x, max(1.0, pen.px(1))
    for start in range(int(left), int(left + wide), int(pen.px(dash) + pen.px(gap))):
        pen.draw.add_rect_filled((start, y), (start + pen.px(dash), y + thick), pen.ink(tone, alpha))
