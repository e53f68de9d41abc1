"""The plot of how the errors went down, iteration by iteration, on a logarithmic axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.fonts import SMALL
from viewer.app.panels.inspector import shown
from viewer.app.theme import colour
from viewer.app.widgets.pen import Pen

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.report import Report
    from viewer.spatial.checks import Floats

_FLAGS = implot.Flags_.canvas_only | implot.Flags_.no_inputs | implot.Flags_.no_frame
_AXIS = implot.AxisFlags_.lock | implot.AxisFlags_.no_menus | implot.AxisFlags_.no_highlight
_TINY = 1e-6
"""Millimetres below which an error is drawn on the floor of the plot."""
_FEWEST = 10
"""Iterations that the axis has at least."""
_LINE = 3
"""Points that make a line; fewer are marked."""


def draw_convergence(ui: PanelContext, height: float) -> None:
    """Draw the plot, as wide as the panel; without a solve its empty well."""
    report, pen = ui.session.report, Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    if report is None or not report.steps:
        pen.box(x, y, wide, height, "app")
        words = "No iterations yet"
        pen.small(x + (wide - pen.width(words, SMALL)) / 2.0, pen.middle(y, height, SMALL), words)
        imgui.dummy((wide, height))
        return
    styled(ui)
    with ui.fonts.small():
        if implot.begin_plot("##convergence", (wide, height), _FLAGS):
            _plot(ui, report)
            implot.end_plot()
    implot.pop_style_color(4)
    implot.pop_style_var(3)


def styled(ui: PanelContext) -> None:
    """Plots as the panels are; pop 4 colours and 3 variables afterwards."""
    columns = implot.Col_
    for column, name, alpha in (
        (columns.plot_bg, "app", 1.0), (columns.plot_border, "line", 1.0),
        (columns.axis_text, "text3", 1.0), (columns.axis_grid, "line", 0.7),
    ):  # fmt: skip
        implot.push_style_color(column, colour(name, alpha))
    implot.push_style_var(implot.StyleVar_.plot_padding, (ui.px(2), ui.px(2)))
    implot.push_style_var(implot.StyleVar_.label_padding, (ui.px(4), ui.px(3)))
    implot.push_style_var(implot.StyleVar_.plot_min_size, (ui.px(60), ui.px(40)))


def _plot(ui: PanelContext, report: Report) -> None:
    tolerance = 1000.0 * ui.session.document.solver.tolerance_m
    lines = {name: _millimetres(errors) for name, errors in report.errors_by_iteration.items()}
    steps = np.array(report.steps, dtype=np.float64)
    low, high = _range(lines, tolerance)
    last = max(float(steps[-1]), float(_FEWEST))
    implot.setup_axis(implot.ImAxis_.x1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    implot.setup_axis(implot.ImAxis_.y1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    implot.setup_axis_scale(implot.ImAxis_.y1, implot.Scale_.log10)
    implot.setup_axes_limits(min(float(steps[0]), 1.0), last, low, high, implot.Cond_.always)
    ticks = [10.0**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    thin = ticks[:: 1 + len(ticks) // 5]
    words = [_tick(value, unit=index == 0) for index, value in enumerate(thin)]
    implot.setup_axis_ticks(implot.ImAxis_.y1, thin, words)
    handle, _ = shown(ui.session.document)
    only = next(iter(lines)) if len(lines) == 1 else ""
    chosen = handle.effector if handle is not None else only
    for name, errors in lines.items():
        if name != chosen:
            _line(name, steps, errors, "text3", ui.scale)
    _tolerance(ui, tolerance, (low, high))
    if chosen in lines:
        missed = not ui.session.errors[chosen].reached if chosen in ui.session.errors else False
        tone = "unreached" if missed else "accent"
        _line(chosen, steps, lines[chosen], tone, 2.0 * ui.scale)
        _corner(ui, chosen, tone)


def _line(name: str, steps: Floats, errors: Floats, tone: str, weight: float) -> None:
    spec = implot.Spec()
    spec.line_color, spec.line_weight = colour(tone), weight
    if len(steps) < _LINE:  # a solve that was not made in steps is known by its end alone
        spec.marker, spec.marker_size = implot.Marker_.circle, 2.0 * weight
        spec.marker_fill_color = spec.marker_line_color = colour(tone)
    implot.plot_line(name, steps, np.maximum(errors, _TINY), spec)


def _tolerance(ui: PanelContext, tolerance: float, ends: tuple[float, float]) -> None:
    """A dashed line, and its name where it starts at the right."""
    if not ends[0] < tolerance < ends[1]:
        return
    pen = Pen(ui, implot.get_plot_draw_list())
    place, size = implot.get_plot_pos(), implot.get_plot_size()
    y = round(implot.plot_to_pixels(0.0, tolerance).y)
    implot.push_plot_clip_rect()
    dash = pen.px(5)
    for start in range(int(place.x), int(place.x + size.x), int(dash + pen.px(3))):
        pen.draw.add_rect_filled((start, y), (start + dash, y + max(1.0, pen.px(1))), pen.ink("ok"))
    pen.right(place.x + size.x - pen.px(4), y - pen.px(16), "tolerance", "ok", SMALL)
    implot.pop_plot_clip_rect()


def _corner(ui: PanelContext, name: str, tone: str) -> None:
    pen = Pen(ui, implot.get_plot_draw_list())
    place, size = implot.get_plot_pos(), implot.get_plot_size()
    name = pen.fit(name, size.x - pen.px(16), SMALL)
    pen.right(place.x + size.x - pen.px(5), place.y + pen.px(3), name, tone, SMALL)


def _millimetres(errors: tuple[float, ...]) -> Floats:
    return np.nan_to_num(1000.0 * np.array(errors, dtype=np.float64), nan=_TINY, posinf=1e9)


def _range(lines: dict[str, Floats], tolerance: float) -> tuple[float, float]:
    """Ends of the axis, millimetres: from a tenth of the tolerance to all of the first error."""
    most = max((float(errors.max()) for errors in lines.values() if errors.size), default=1.0)
    return tolerance / 20.0, max(2.0 * most, 20.0 * tolerance)


def _tick(value: float, *, unit: bool) -> str:
    return f"{value:g}{' mm' if unit else ''}"
