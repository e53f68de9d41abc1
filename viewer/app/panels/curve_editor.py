"""The curves: coordinates of the active joint, or of an effector's chain, over the frames; keys are dragged on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.curve_keys import CurveDrag, KeysOnPlot
from viewer.app.panels.dope_sheet import KEY_MENU, draw_key_menu, scrub, zoom_or_pan
from viewer.app.panels.limit_inspector import coordinates
from viewer.app.panels.sheet_drawing import number_step
from viewer.app.panels.timeline import draw_timeline, draw_transport
from viewer.app.widgets.buttons import quiet, segments
from viewer.app.widgets.pen import Area, Pen, gap, item
from viewer.app.widgets.plots import dashes, on_plot, plot, plot_line
from viewer.document import Document
from viewer.document.curves import curve_values
from viewer.document.evaluation import joint_at
from viewer.session import Item
from viewer.skeleton import JointKind
from viewer.spatial.checks import Floats, Ints
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
        place: index of the coordinate.
    """

    name: str
    values: Floats
    limits: tuple[float, float] = (-np.inf, np.inf)
    place: int = 0

    @property
    def tone(self) -> str:
        """Its colour: that of its axis."""
        return {"X": "x", "Y": "y", "Z": "z"}.get(self.name[-1], "accent")


class Curves(NamedTuple):
    """The curves of a joint, at most three, at frames (N,) in ascending order; the unit is "°" or " m"."""

    frames: Ints
    curves: tuple[Curve, ...]
    unit: str

    @property
    def per_unit(self) -> float:
        """Radians or metres per unit shown."""
        return 1.0 if self.unit == " m" else math.pi / 180.0


def curves_of(document: Document, joint: int, first: int, last: int) -> Curves:
    """The coordinates of a joint from one frame to another, both included."""
    frames = np.unique(np.linspace(first, last, min(last - first + 1, MOST)).round().astype(np.intp))
    track = None if document.take is None else document.take.track(joint)
    if track is not None:
        frames = np.union1d(frames, track.frames[(track.frames >= first) & (track.frames <= last)])
    values = curve_values(document, joint, joint_at(document, joint, frames))
    slide = document.skeleton.kinds[joint] is JointKind.SLIDE
    values = values if slide else np.degrees(np.unwrap(values, axis=0))
    named = coordinates(document, joint, stuck=False)
    if not named:
        return Curves(frames, tuple(Curve(f"Angle {axis}", values[:, i], place=i) for i, axis in enumerate("XYZ")), "°")
    curves = []
    for one in named:
        low, high = one.bounds.least, one.bounds.most
        ends = (-np.inf if low is None else low, np.inf if high is None else high)
        curves.append(Curve(one.name, values[:, one.place], ends, one.place))
    return Curves(frames, tuple(curves), " m" if slide else "°")


NO_MOTION = "Set keys or open a motion, and select a joint: its angles are plotted here"
NO_JOINT = "Select a joint or effector to see its angles over the frames"

_AXIS = implot.AxisFlags_.lock | implot.AxisFlags_.no_menus | implot.AxisFlags_.no_highlight
_MOST, _FAINT, _JOINTS = 4, 0.55, 22.0
"""Largest number of joints of a chain shown; opacity of those not chosen; height of the row of their names."""
_LEGEND, _AROUND, _BESIDE = 18.0, 40.0, 8.0
"""Heights of the legend and of the space around the plot, and space beside the first and last frame, logical pixels."""
_TRANSPORT = 130.0
"""Height of the panel from which on it has the transport, logical pixels."""
_WIDEST = f"{numbers.MINUS}888.8°"
_LEAST = {"°": 10.0, " m": 0.01}
"""Least span of the axis, by unit."""


def draw_curves(ui: PanelContext) -> None:
    """Draw the panel: transport, where there is room, and curves; the transport alone if there is no room for more."""
    if ui.regions.short_timeline:
        draw_timeline(ui)
        return
    if imgui.get_content_region_avail().y > ui.px(_TRANSPORT):
        draw_transport(ui)
        gap(ui.px(1))
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
    room, corner, keys = imgui.get_content_region_avail(), imgui.get_cursor_screen_pos(), None
    area = item("curves", room.x, room.y, right_too=True)
    imgui.set_cursor_screen_pos(corner)
    with plot(ui, "##curves", (room.x, room.y)) as visible:
        if visible:
            ends = _plot(ui, found[joint], others)
            keys = _keys(ui, joint, found[joint], ends, area)
            _over(ui, found[joint], ends, {key.frame for key in keys.keys})
            _legend(ui, document.skeleton.names[joint], found[joint])
            keys.draw({curve.place: curve.tone for curve in found[joint].curves})
            if not keys.pointer():
                _pointer(ui, area)
    if keys is not None and keys.wants_menu:
        imgui.open_popup(KEY_MENU)
    draw_key_menu(ui)


def _keys(ui: PanelContext, joint: int, found: Curves, ends: tuple[float, float], area: Area) -> KeysOnPlot:
    """The keys of the joint whose curves are coloured."""
    curves = {curve.place: (found.frames, curve.values) for curve in found.curves}
    return KeysOnPlot(ui, joint, curves, found.per_unit, ends, area)


def chain_shown(document: Document, about: Item) -> list[int]:
    """The joint of what the curves are about; for an effector those of its limb that can rotate, nearest first."""
    joint, skeleton = joint_of(document, about), document.skeleton
    if about.kind == "joint":
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


def _plot(ui: PanelContext, found: Curves, others: list[Curves]) -> tuple[float, float]:
    """Draw the curves, and return the ends of the vertical axis: it fits them, but stays while a key is dragged."""
    view, around = ui.controller.keying.time_view, [curve for curves in (found, *others) for curve in curves.curves]
    least = min(float(curve.values.min()) for curve in around)
    most = max(float(curve.values.max()) for curve in around)
    spare = max(0.12 * (most - least), 0.5 * (_LEAST[found.unit] - (most - least)))
    implot.setup_axis(implot.ImAxis_.x1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    implot.setup_axis(implot.ImAxis_.y1, None, _AXIS | implot.AxisFlags_.no_tick_marks)
    beside = view.span * ui.px(_BESIDE) / max(imgui.get_content_region_avail().x, ui.px(_AROUND))
    span = (view.start - beside, view.start + view.span + beside)
    tall = max(imgui.get_window_height() - ui.px(_AROUND), ui.px(_AROUND))
    above = ui.px(_LEGEND) / tall * (most - least + 2.0 * spare)
    ends = (least - spare, most + spare + above)  # so that the legend does not cover the curves
    dragged: CurveDrag | None = ui.memory.get("curve drag")
    if dragged is not None:
        ends = dragged.ends
    implot.setup_axes_limits(*span, *ends, implot.Cond_.always)
    implot.setup_axis_ticks(implot.ImAxis_.y1, *_ticks(ui, ends, found.unit))
    for number, curves in enumerate(others):
        for curve in curves.curves:
            name = f"{curve.name}##{number}"
            plot_line(name, curves.frames.astype(np.float64), curve.values, "text3", ui.scale, alpha=_FAINT)
    for curve in found.curves:
        tone = curve.tone
        plot_line(curve.name, found.frames.astype(np.float64), curve.values, tone, 2.0 * ui.scale)
    return ends


def _ticks(ui: PanelContext, ends: tuple[float, float], unit: str) -> tuple[list[float], list[str]]:
    """Round values at least a line of text apart, and their words."""
    tall = max(float(ui.rect.h), ui.px(60))
    part = 1.0 if unit == "°" else 0.001
    step = part * number_step((ends[1] - ends[0]) * ui.px(26) / tall / part)
    values = [step * place for place in range(math.ceil(ends[0] / step), math.floor(ends[1] / step) + 1)]
    return values, [numbers.fixed(value, 0 if unit == "°" else 3) + unit for value in values]


def _over(ui: PanelContext, found: Curves, ends: tuple[float, float], own: set[int]) -> None:
    """Draw limits as dashes, the playhead, and as small dots keys of the clip or of other joints, at frames not own."""
    pen = Pen(ui, implot.get_plot_draw_list())
    place, size = implot.get_plot_pos(), implot.get_plot_size()
    implot.push_plot_clip_rect()
    loaded = [frame for frame in key_frames(ui.session.document) if frame not in own]
    near = [frame for frame in loaded if found.frames[0] <= frame <= found.frames[-1]]
    for curve in found.curves:
        for limit in curve.limits:
            if ends[0] < limit < ends[1]:
                dashes(pen, round(implot.plot_to_pixels(0.0, limit).y), 4, 4, curve.tone, 0.55)
        if 0 < len(near) * pen.px(8) < size.x:
            for frame, value in zip(near, np.interp(near, found.frames, curve.values).tolist(), strict=True):
                at = implot.plot_to_pixels(frame, value)
                pen.disc(at.x, at.y, 1.8, curve.tone)
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
        pen.text(x, y, words, curve.tone, SMALL)
        x += pen.width(f"{curve.name} {_WIDEST}", SMALL) + pen.px(14)


def _pointer(ui: PanelContext, area: Area) -> None:
    """Scrub with a drag; zoom or pan with the wheel."""
    io, view = imgui.get_io(), ui.controller.keying.time_view
    at = implot.get_plot_mouse_pos().x
    pressed = area.hovered and on_plot() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    ui.memory["held"] = held = area.held and (ui.memory.get("held") or pressed)
    if held:
        scrub(ui, round(at))
    elif area.hovered and on_plot() and io.mouse_wheel:
        zoom_or_pan(ui, view, io.mouse_wheel, at)
