"""The angle plot: coordinates of the active joint, or of an effector's chain, over the frames."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.dope_sheet import number_step, scrub, zoom_or_pan
from viewer.app.panels.limit_inspector import coordinates
from viewer.app.panels.panel_parts import EULER
from viewer.app.panels.timeline import draw_timeline
from viewer.app.widgets.buttons import quiet, segments
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.plots import dashes, plot, plot_line
from viewer.document import Document
from viewer.document.evaluation import joint_at
from viewer.session import Item
from viewer.skeleton import JointKind, joint_space
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.euler import to_euler
from viewer.ui import numbers
from viewer.ui.drag_targets import joint_of
from viewer.ui.status import chain_of
from viewer.ui.timeline import key_frames

MOST = 480
"""Largest number of frames plotted; of more, evenly spaced ones are."""


class Curve(NamedTuple):
    """One coordinate of a joint over the frames.

    Attributes:
        name: such as ``Swing X``.
        values: (N,) degrees, or metres for a slide.
        limits: (lower, upper) in the same unit; infinite where there is none.
    """

    name: str
    values: Floats
    limits: tuple[float, float] = (-np.inf, np.inf)


class Curves(NamedTuple):
    """The curves of a joint, at most three, at frames (N,) in ascending order; the unit is "°" or " m"."""

    frames: Ints
    curves: tuple[Curve, ...]
    unit: str


def curves_of(document: Document, joint: int, first: int, last: int) -> Curves:
    """The coordinates of a joint from one frame to another, both included."""
    frames = np.unique(np.linspace(first, last, min(last - first + 1, MOST)).round().astype(np.intp))
    found = joint_at(document, joint, frames)
    slide = document.skeleton.kinds[joint] is JointKind.SLIDE
    named = coordinates(document, joint, stuck=False)
    if not named:
        angles = _continuous(to_euler(found.rotations, EULER))
        return Curves(frames, tuple(Curve(f"Angle {axis}", angles[:, i]) for i, axis in enumerate("XYZ")), "°")
    # Only this joint's coordinates are used: the others keep the current pose.
    rotations = np.repeat(document.pose.rotations[None], len(frames), axis=0)
    translations = np.repeat(document.pose.translations[None], len(frames), axis=0)
    rotations[:, joint], translations[:, joint] = found
    values = joint_space(document.skeleton).measure(rotations, translations)[:, joint]
    values = values if slide else _continuous(values)
    curves = []
    for one in named:
        low, high = one.bounds.least, one.bounds.most
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        curves.append(Curve(one.name, values[:, one.place], ends))
    return Curves(frames, tuple(curves), " m" if slide else "°")


def _continuous(radians: Floats) -> Floats:
    """Degrees (N, 3) without jumps by 360 degrees."""
    degrees: Floats = np.degrees(np.unwrap(radians, axis=0))
    return degrees


NO_MOTION = "Set keys or open a motion, and select a joint: its angles are plotted here"
NO_JOINT = "Select a joint or effector to see its angles over the frames"

_AXIS = implot.AxisFlags_.lock | implot.AxisFlags_.no_menus | implot.AxisFlags_.no_highlight
_TONES = {"X": "x", "Y": "y", "Z": "z"}
_MOST, _FAINT, _JOINTS = 4, 0.55, 22.0
"""Largest number of joints of a chain shown; opacity of those not chosen; height of the row of their names."""
_LEGEND, _AROUND = 18.0, 40.0
"""Heights of the legend and of the space around the plot, logical pixels."""
_WIDEST = f"{numbers.MINUS}888.8°"
_LEAST = {"°": 10.0, " m": 0.01}
"""Least span of the axis, by unit."""


def draw_angle_plot(ui: PanelContext) -> None:
    """Draw the panel; only the transport row if there is no room for more."""
    if ui.regions.short_timeline:
        draw_timeline(ui)
        return
    document = ui.session.document
    if not ui.controller.playback.can_play():
        quiet(ui, NO_MOTION)
        return
    if document.active_on_figure is None:
        quiet(ui, NO_JOINT)
        return
    chain = chain_shown(document, document.active_on_figure)
    found = _kept(ui, chain)
    joint = _picked(ui, chain, found)
    others = [curves for other, curves in found.items() if other != joint and curves.unit == found[joint].unit]
    room = imgui.get_content_region_avail()
    with plot(ui, "##angles", (room.x, room.y)) as visible:
        if visible:
            _plot(ui, found[joint], others)
            _legend(ui, document.skeleton.names[joint], found[joint])
            _pointer(ui)


def chain_shown(document: Document, item: Item) -> list[int]:
    """The joint of an item; for an effector the joints of its limb that can rotate, nearest first."""
    joint, skeleton = joint_of(document, item), document.skeleton
    if item.kind == "joint":
        return [joint]
    chain = [one for one in chain_of(skeleton, joint) if skeleton.kinds[one] is not JointKind.FIXED]
    return chain[:_MOST] or [joint]


def _picked(ui: PanelContext, chain: list[int], found: dict[int, Curves]) -> int:
    """The joint whose curves are coloured: the chosen one, else the one that moves most."""
    names = [ui.session.document.skeleton.names[joint] for joint in chain]
    if len(chain) == 1:
        return chain[0]
    spans = [max(float(np.ptp(curve.values)) for curve in found[joint].curves) for joint in chain]
    name = ui.memory.get("angles of")
    place = names.index(name) if name in names else int(np.argmax(spans))
    chosen = segments(ui, "joints", names, place, height=_JOINTS)
    if chosen is not None:
        ui.memory["angles of"] = names[chosen]
        ui.wake()
    return chain[place if chosen is None else chosen]


def _kept(ui: PanelContext, chain: list[int]) -> dict[int, Curves]:
    """The curves by joint, cached until what they depend on changes."""
    document, view = ui.session.document, ui.controller.keying.time_view
    view.total = ui.controller.playback.frames
    last = view.total - 1
    first = min(max(int(view.start), 0), last)
    end = min(max(int(view.start + view.span) + 1, first + 1), last)
    same = (document.take, document.clip_data, document.skeleton)
    equal = (chain, first, end, document.limits_on, document.unlimited)
    kept = ui.memory.get("curves")
    if kept is None or kept[1] != equal or any(one is not other for one, other in zip(kept[0], same, strict=True)):
        ui.memory["curves"] = kept = (same, equal, {joint: curves_of(document, joint, first, end) for joint in chain})
    found: dict[int, Curves] = kept[2]
    return found


def _plot(ui: PanelContext, found: Curves, others: list[Curves]) -> None:
    view, around = ui.controller.keying.time_view, [curve for curves in (found, *others) for curve in curves.curves]
    least = min(float(curve.values.min()) for curve in around)
    most = max(float(curve.values.max()) for curve in around)
    spare = max(0.12 * (most - least), 0.5 * (_LEAST[found.unit] - (most - least)))
    implot.setup_axis(implot.ImAxis_.x1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    implot.setup_axis(implot.ImAxis_.y1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    span = (view.start, view.start + view.span)
    tall = max(imgui.get_window_height() - ui.px(_AROUND), ui.px(_AROUND))
    above = ui.px(_LEGEND) / tall * (most - least + 2.0 * spare)
    ends = (least - spare, most + spare + above)  # so that the legend does not cover the curves
    implot.setup_axes_limits(*span, *ends, implot.Cond_.always)
    implot.setup_axis_ticks(implot.ImAxis_.y1, *_ticks(ui, ends, found.unit))
    for number, curves in enumerate(others):
        for curve in curves.curves:
            name = f"{curve.name}##{number}"
            plot_line(name, curves.frames.astype(np.float64), curve.values, "text3", ui.scale, alpha=_FAINT)
    for curve in found.curves:
        tone = _TONES.get(curve.name[-1], "accent")
        plot_line(curve.name, found.frames.astype(np.float64), curve.values, tone, 2.0 * ui.scale)
    _over(ui, found, ends)


def _ticks(ui: PanelContext, ends: tuple[float, float], unit: str) -> tuple[list[float], list[str]]:
    """Round values at least a line of text apart, and their words."""
    tall = max(float(ui.rect.h), ui.px(60))
    part = 1.0 if unit == "°" else 0.001
    step = part * number_step((ends[1] - ends[0]) * ui.px(26) / tall / part)
    values = [step * place for place in range(math.ceil(ends[0] / step), math.floor(ends[1] / step) + 1)]
    return values, [numbers.fixed(value, 0 if unit == "°" else 3) + unit for value in values]


def _over(ui: PanelContext, found: Curves, ends: tuple[float, float]) -> None:
    """Draw keys as dots on the curves, limits as dashes, and the playhead."""
    pen = Pen(ui, implot.get_plot_draw_list())
    place, size = implot.get_plot_pos(), implot.get_plot_size()
    implot.push_plot_clip_rect()
    keys = np.array(key_frames(ui.session.document))
    near = keys[(keys >= found.frames[0]) & (keys <= found.frames[-1])] if keys.size else keys
    for curve in found.curves:
        tone = _TONES.get(curve.name[-1], "accent")
        for limit in curve.limits:
            if ends[0] < limit < ends[1]:
                dashes(pen, round(implot.plot_to_pixels(0.0, limit).y), 4, 4, tone, 0.55)
        if 0 < len(near) * pen.px(8) < size.x:
            for frame, value in zip(near.tolist(), np.interp(near, found.frames, curve.values).tolist(), strict=True):
                at = implot.plot_to_pixels(frame, value)
                pen.disc(at.x, at.y, 3.5, "app")
                pen.disc(at.x, at.y, 2.5, tone)
    x = implot.plot_to_pixels(ui.session.document.frame, 0.0).x
    pen.draw.add_rect_filled((x - 0.5, place.y), (x + 1.0, place.y + size.y), pen.ink("accent"))
    implot.pop_plot_clip_rect()


def _legend(ui: PanelContext, name: str, found: Curves) -> None:
    """The joint's name, and each coordinate with its current value in the colour of its curve."""
    pen = Pen(ui, implot.get_plot_draw_list())
    place, frame = implot.get_plot_pos(), ui.session.document.frame
    x, y = place.x + pen.px(8), place.y + pen.px(4)
    wide = pen.width(name, SMALL) + len(found.curves) * (pen.width(f"Swing X {_WIDEST}", SMALL) + pen.px(14))
    pen.box(x - pen.px(4), y - pen.px(2), wide + pen.px(22), pen.px(_LEGEND), "app")
    pen.text(x, y, name, "text", SMALL)
    x += pen.width(name, SMALL) + pen.px(14)
    for curve in found.curves:
        value = float(np.interp(frame, found.frames, curve.values))
        words = f"{curve.name} {numbers.fixed(value, 1 if found.unit == '°' else 3)}{found.unit}"
        pen.text(x, y, words, _TONES.get(curve.name[-1], "accent"), SMALL)
        x += pen.width(f"{curve.name} {_WIDEST}", SMALL) + pen.px(14)


def _pointer(ui: PanelContext) -> None:
    """Scrub with a drag; zoom or pan with the wheel."""
    if not imgui.is_window_hovered(imgui.HoveredFlags_.child_windows) and not ui.memory.get("held"):
        return
    io, view = imgui.get_io(), ui.controller.keying.time_view
    at = implot.get_plot_mouse_pos().x
    pressed = implot.is_plot_hovered() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    ui.memory["held"] = held = imgui.is_mouse_down(imgui.MouseButton_.left) and (ui.memory.get("held") or pressed)
    if held:
        scrub(ui, round(at))
    elif implot.is_plot_hovered() and io.mouse_wheel:
        zoom_or_pan(ui, view, io.mouse_wheel, at)
