"""The lane of the timeline that plots how far two figures are apart, joint by joint."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.dope_sheet import scrub
from viewer.app.widgets.pen import Pen, item
from viewer.document.comparison import Comparison, rounded_up
from viewer.spatial.checks import Floats
from viewer.ui import numbers
from viewer.ui.drag_targets import joint_of

_MOST_POINTS = 900
"""Largest number of points of a curve; of more frames, the largest value of each group is plotted."""
_HEAD = 17.0
"""Height of the line of words, logical pixels."""
_PAIR = 2


def draw_difference(ui: PanelContext, x_of: Callable[[float], float], frame_of: Callable[[float], float]) -> None:
    """Draw the lane into the rest of the panel, along the frames of the sheet above it.

    Args:
        ui: the panel's context.
        x_of: the pixel of a frame.
        frame_of: the frame at a pixel.
    """
    found = ui.controller.figures.comparison()
    room = imgui.get_content_region_avail()
    if found is None or room.y < ui.px(_HEAD + 10):
        return
    pen, area = Pen(ui), item("difference", room.x, room.y)
    if area.held:
        scrub(ui, round(frame_of(imgui.get_mouse_pos().x)))
    pen.box(*area[:4], "app")
    top, bottom = area.y + pen.px(_HEAD), area.y + area.h - pen.px(3)
    most = rounded_up(float(found.metres.max()))
    chosen = _chosen(ui, found)
    pen.draw.push_clip_rect((area.x, area.y), (area.x + area.w, area.y + area.h), True)
    for part in (0.0, 1.0):
        y = bottom + (top - bottom) * part
        pen.draw.add_line((area.x, y), (area.x + area.w, y), pen.ink("line"), max(1.0, pen.px(1)))

    def curve(metres: Floats, tone: str, weight: float) -> None:
        frames, values = _thinned(found.first + np.arange(float(len(metres))), metres)
        heights = bottom + (top - bottom) * values / most
        points: list[imgui.ImVec2Like] = [
            (x_of(frame), y) for frame, y in zip(frames.tolist(), heights.tolist(), strict=True)
        ]
        if len(points) >= _PAIR:
            pen.draw.add_polyline(points, pen.ink(tone), weight * pen.scale, 0)

    curve(found.most, "text3", 1.0)
    curve(found.mean, "text2", 1.4)
    if chosen is not None:
        curve(chosen[1], "accent", 2.0)
    now = x_of(ui.session.document.frame)
    pen.draw.add_line((now, top), (now, area.y + area.h), pen.ink("accent"), max(1.0, pen.px(1)))
    pen.draw.pop_clip_rect()
    _draw_words(pen, (area.x + pen.px(8), area.y + pen.px(1)), _words(ui, found, chosen, most), area.w - pen.px(16))


def _chosen(ui: PanelContext, found: Comparison) -> tuple[str, Floats] | None:
    """Name and distances of the selected joint, if both figures have it."""
    document = ui.session.document
    item_ = document.active_on_figure
    joint = -1 if item_ is None else joint_of(document, item_)
    metres = found.of(joint)
    return None if metres is None else (document.skeleton.names[joint], metres)


def _thinned(frames: Floats, values: Floats) -> tuple[Floats, Floats]:
    """At most `_MOST_POINTS` of the frames, each with the largest value of its group."""
    if len(frames) <= _MOST_POINTS:
        return frames, values
    edges = np.linspace(0, len(frames), _MOST_POINTS, endpoint=False).astype(int)
    return frames[edges], np.maximum.reduceat(values, edges)


def _words(
    ui: PanelContext, found: Comparison, chosen: tuple[str, Floats] | None, most: float
) -> list[tuple[str, str]]:
    """The parts of the line above the curves, with their colours."""
    frame = ui.session.document.frame
    said = [(f"Difference (cm), axis to {numbers.fixed(100.0 * most, 0 if most >= 0.01 else 1)}", "text2")]
    if not found.covers(frame):
        return said
    row = frame - found.first
    if chosen is not None:
        said.append((f"{chosen[0]} {centimetres(float(chosen[1][row]))}", "accent"))
    name, _, worst = found.worst(frame)
    said.append((f"mean {centimetres(float(found.metres[row].mean()))}", "text2"))
    said.append((f"most {centimetres(worst)} {name}", "text3"))
    return said


def centimetres(metres: float) -> str:
    """A distance in centimetres, without the unit."""
    return numbers.fixed(100.0 * metres, 1 if metres < 1.0 else 0)


def _draw_words(pen: Pen, at: tuple[float, float], parts: list[tuple[str, str]], room: float) -> None:
    x, end = at[0], at[0] + room
    for words, tone in parts:
        if x + pen.width(words, SMALL) > end:
            return
        pen.small(x, at[1], words, tone)
        x += pen.width(words, SMALL) + pen.px(16)
