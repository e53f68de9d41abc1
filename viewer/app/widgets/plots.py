"""Plots in the panels' colours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.context import PanelContext
from viewer.app.theme import colour
from viewer.app.widgets.pen import Pen
from viewer.spatial.checks import Floats

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
        finally:  # so that the panel's error is all that is said, and the next frame can draw
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
