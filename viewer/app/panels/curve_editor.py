"""The curves: coordinates of the active joint, or of an effector's chain, over the frames.

Keys on them are dragged in time and value, and their tangents by handles; each drag is one undo step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.dope_sheet import KEY_MENU, draw_key_menu, scrub_to, zoom_or_pan
from viewer.app.panels.panel_parts import coordinates
from viewer.app.panels.timeline_panel import draw_timeline, draw_transport
from viewer.app.theme import SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.dialogs import open_popup
from viewer.app.widgets.edits import THRESHOLD, attempt
from viewer.app.widgets.pen import Area, Pen, Plot, gap, item, number_step
from viewer.document import Document, Item, joint_of
from viewer.document.actions import MoveKeys, SetKeyValue, SetSlope
from viewer.document.evaluation import joint_at
from viewer.document.motion_curves import KeyOnCurves, curve_values
from viewer.document.take import CODES, MOST_FRAMES, Blend, Key, Track
from viewer.latest import Latest
from viewer.skeleton import JointKind, above
from viewer.spatial.checks import Floats, Ints
from viewer.ui import number_format
from viewer.ui.timeline import key_frames

MOST = 480
"""Largest number of frames plotted; of more, evenly spaced ones are."""


class Curve(NamedTuple):
    """One coordinate of a joint over the frames, by its index ``place``, named such as ``Swing X``.

    Its values (N,) and limits, infinite where there is none, are in degrees, or metres for a slide.
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
    named = coordinates(document, joint)
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

_MOST, _FAINT, _JOINTS = 4, 0.55, 22.0
"""Largest number of joints of a chain shown; opacity of those not chosen; height of the row of their names."""
_LEGEND, _BELOW, _BESIDE, _APART = 18.0, 22.0, 8.0, 46.0
"""Heights of the legend and of the frames' numbers below the plot, space beside the first and last frame, and least
distance between two numbers, logical pixels."""
_TRANSPORT = 130.0
"""Height of the panel from which on it has the transport, logical pixels."""
_WIDEST = f"{number_format.MINUS}888.8°"
_LEAST = {"°": 10.0, " m": 0.01}
"""Least span of the axis, by unit."""


def draw_curves(ui: PanelContext) -> None:
    """Draw the panel: curves, with the transport where there is room; only the transport if it is too low."""
    if ui.regions.short_timeline:
        draw_timeline(ui)
        return
    if imgui.get_content_region_avail().y > ui.px(_TRANSPORT):
        draw_transport(ui)
        gap(ui.px(1))
    document = ui.session.document
    if not document.has_motion:
        controls.quiet(ui, NO_MOTION)
        return
    if document.active_on_figure is None:
        controls.quiet(ui, NO_JOINT)
        return
    chain = chain_shown(document, document.active_on_figure)
    found = _shown(ui, chain)
    joint = _picked(ui, chain, found)
    others = [curves for other, curves in found.items() if other != joint and curves.unit == found[joint].unit]
    room, pen = imgui.get_content_region_avail(), Pen(ui)
    area = item("curves", room.x, room.y, right_too=True)
    plot = _plot(ui, pen, area, found[joint], others)
    keys = KeysOnPlot(ui, joint, found[joint], plot, area)
    pen.draw.push_clip_rect((plot.x, plot.y), (plot.x + plot.w, plot.y + plot.h), True)
    _draw_curves(ui, pen, plot, found[joint], others)
    _over(ui, pen, plot, found[joint], {key.frame for key in keys.keys})
    _legend(ui, pen, plot, document.skeleton.names[joint], found[joint])
    keys.draw()
    pen.draw.pop_clip_rect()
    if not keys.pointer():
        _pointer(ui, area, plot)
    draw_key_menu(ui)


def chain_shown(document: Document, about: Item) -> list[int]:
    """The joint whose curves are shown; for an effector the joints of its limb that can rotate, nearest first."""
    joint, skeleton = joint_of(document, about), document.skeleton
    if about.kind == "joint":
        return [joint]
    chain = [one for one in above(skeleton, joint) if skeleton.kinds[one] is not JointKind.FIXED]
    return chain[:_MOST] or [joint]


def _picked(ui: PanelContext, chain: list[int], found: dict[int, Curves]) -> int:
    """The joint whose curves are coloured: the chosen one, else the one that moves most."""
    names = [ui.session.document.skeleton.names[joint] for joint in chain]
    if len(chain) == 1:
        return chain[0]
    spans = [max(float(np.ptp(curve.values)) for curve in found[joint].curves) for joint in chain]
    name = ui.memory.get("angles of")
    place = names.index(name) if name in names else int(np.argmax(spans))
    chosen = controls.choose(ui, "joints", range(len(names)), names, place, height=_JOINTS)
    if chosen != place:
        ui.memory["angles of"] = names[chosen]
    return chain[chosen]


def _shown(ui: PanelContext, chain: list[int]) -> dict[int, Curves]:
    """The curves by joint."""
    document, view = ui.session.document, ui.controller.keying.time_view
    view.total = ui.controller.playback.frames
    last = view.total - 1
    first = min(max(int(view.start), 0), last)
    end = min(max(int(view.start + view.span) + 1, first + 1), last)
    kept = ui.memory.setdefault("curves", Latest[dict[int, Curves]]())
    found: dict[int, Curves] = kept.of(
        lambda: {joint: curves_of(document, joint, first, end) for joint in chain},
        document.take, document.clip_data, document.skeleton,
        equal=(chain, first, end, document.limits_on, document.unlimited),
    )  # fmt: skip
    return found


def _plot(ui: PanelContext, pen: Pen, area: Area, found: Curves, others: list[Curves]) -> Plot:
    """Draw the axes: the vertical one fits the curves, but stays while a key is dragged."""
    view, around = ui.controller.keying.time_view, [curve for curves in (found, *others) for curve in curves.curves]
    least = min(float(curve.values.min()) for curve in around)
    most = max(float(curve.values.max()) for curve in around)
    spare = max(0.12 * (most - least), 0.5 * (_LEAST[found.unit] - (most - least)))
    tall = max(area.h - pen.px(_BELOW), pen.px(_BELOW))
    above = pen.px(_LEGEND) / tall * (most - least + 2.0 * spare)
    ends = (least - spare, most + spare + above)  # so that the legend does not cover the curves
    dragged: CurveDrag | None = ui.memory.get("curve drag")
    if dragged is not None:
        ends = dragged.ends
    down = _ticks(pen, ends, found.unit, tall)
    left = max((pen.width(words, SMALL) for _, words in down), default=0.0) + pen.px(10)
    beside = view.span * pen.px(_BESIDE) / max(area.w - left, pen.px(_BELOW))
    across = (view.start - beside, view.start + view.span + beside)
    plot = Plot(area.x + left, area.y, max(area.w - left, 1.0), tall, across, ends)
    step = number_step(pen.px(_APART) * (across[1] - across[0]) / plot.w)
    frames = range(-(-max(int(across[0]), 0) // step) * step, int(across[1]) + 1, step)
    plot.axes(pen, down, [(frame, str(frame)) for frame in frames])
    for frame in frames:
        pen.upright(plot.at(frame, 0.0)[0], plot.y, plot.y + plot.h)
    pen.frame(plot.x, plot.y, plot.w, plot.h, "line", rounding=2)
    return plot


def _ticks(pen: Pen, ends: tuple[float, float], unit: str, tall: float) -> list[tuple[float, str]]:
    """Round values at least a line of text apart, and their words."""
    part = 1.0 if unit == "°" else 0.001
    step = part * number_step((ends[1] - ends[0]) * pen.px(16) / tall / part)
    values = [step * place for place in range(math.ceil(ends[0] / step), math.floor(ends[1] / step) + 1)]
    return [(value, number_format.fixed(value, 0 if unit == "°" else 3) + unit) for value in values]


def _draw_curves(ui: PanelContext, pen: Pen, plot: Plot, found: Curves, others: list[Curves]) -> None:
    for curves in others:
        for curve in curves.curves:
            plot.line(pen, curves.frames.astype(np.float64), curve.values, pen.ink("text3", _FAINT), ui.scale)
    for curve in found.curves:
        plot.line(pen, found.frames.astype(np.float64), curve.values, pen.ink(curve.tone), 2.0 * ui.scale)


def _over(ui: PanelContext, pen: Pen, plot: Plot, found: Curves, own: set[int]) -> None:
    """Draw limits as dashes, the playhead, and as small dots keys of the clip or of other joints, at frames not own."""
    loaded = [frame for frame in key_frames(ui.session.document) if frame not in own]
    near = [frame for frame in loaded if found.frames[0] <= frame <= found.frames[-1]]
    for curve in found.curves:
        for limit in curve.limits:
            if plot.ends[0] < limit < plot.ends[1]:
                plot.dashes(pen, limit, curve.tone, 0.55)
        if 0 < len(near) * pen.px(8) < plot.w:
            for frame, value in zip(near, np.interp(near, found.frames, curve.values).tolist(), strict=True):
                pen.disc(*plot.at(float(frame), value), 1.8, curve.tone)
    x = plot.at(float(ui.session.document.frame), 0.0)[0]
    pen.draw.add_rect_filled((x - 0.5, plot.y), (x + 1.0, plot.y + plot.h), pen.ink("accent"))


def _legend(ui: PanelContext, pen: Pen, plot: Plot, name: str, found: Curves) -> None:
    """The joint's name, and each coordinate with its current value in the colour of its curve."""
    frame, x, y = ui.session.document.frame, plot.x + pen.px(8), plot.y + pen.px(4)
    wide = pen.width(name, SMALL) + len(found.curves) * (pen.width(f"Swing X {_WIDEST}", SMALL) + pen.px(14))
    pen.box(x - pen.px(4), y - pen.px(2), wide + pen.px(22), pen.px(_LEGEND), "app")
    pen.text(x, y, name, "text", SMALL)
    x += pen.width(name, SMALL) + pen.px(14)
    for curve in found.curves:
        value = float(np.interp(frame, found.frames, curve.values))
        words = f"{curve.name} {number_format.fixed(value, 1 if found.unit == '°' else 3)}{found.unit}"
        pen.text(x, y, words, curve.tone, SMALL)
        x += pen.width(f"{curve.name} {_WIDEST}", SMALL) + pen.px(14)


def _pointer(ui: PanelContext, area: Area, plot: Plot) -> None:
    """Scrub with a drag; zoom or pan with the wheel."""
    io, view, mouse = imgui.get_io(), ui.controller.keying.time_view, imgui.get_mouse_pos()
    at, over = plot.values(mouse.x, mouse.y)[0], area.hovered and plot.contains(mouse.x, mouse.y)
    pressed = over and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    ui.memory["held"] = held = area.held and (ui.memory.get("held") or pressed)
    if held:
        scrub_to(ui, round(at))
    elif over and io.mouse_wheel:
        zoom_or_pan(view, io.mouse_wheel, at)


_REACH = 8.0
"""Distance within which the pointer hits a key or a handle. All lengths here are logical pixels."""
_HANDLE, _RING = 44.0, 3.6
"""Length of a tangent to either side, and radius of the ring at its end."""
_NEAREST = 4.0
"""Least distance across between a key and the handle that is dragged: steeper tangents stop there."""
_MOST_KEYS = 24
"""Most selected keys whose tangents are drawn."""


class CurveKey(NamedTuple):
    """A key on the curve of a coordinate, by its index ``place``, with a value in the curve's unit."""

    frame: int
    place: int
    value: float


class Handle(NamedTuple):
    """The end of a tangent: ``side`` is 1 after the key, -1 before it; ``at`` are framebuffer pixels."""

    key: CurveKey
    side: int
    at: tuple[float, float]


@dataclass(slots=True)
class CurveDrag:
    """What the pressed mouse button does on the curves.

    Attributes:
        joint: whose curve.
        key: that is moved, or whose tangent is.
        side: of the handle; 0: the key itself.
        start: of the pointer, framebuffer pixels.
        ends: of the vertical axis, which stays while something is dragged.
        values: by frame of the joint's selected keys, the coordinate when the drag began, radians or metres, below
            layers and planted feet.
        by: frames by which the selected keys have been moved.
        moving: the pointer has moved farther than in a click.
    """

    joint: int
    key: CurveKey
    side: int
    start: tuple[float, float]
    ends: tuple[float, float]
    values: dict[int, float]
    by: int = 0
    moving: bool = False


class KeysOnPlot:
    """The keys of one joint on the plot that is being drawn.

    Args:
        joint: whose curves are drawn in colour.
        plot: that they are on.
        area: takes the mouse.

    Attributes:
        keys: those in view, on every curve.
    """

    def __init__(self, ui: PanelContext, joint: int, curves: Curves, plot: Plot, area: Area) -> None:
        self._ui, self._joint, self._curves, self._plot, self._area = ui, joint, curves, plot, area
        take = self._document.take
        self._track: Track | None = None if take is None else take.track(joint)
        self.keys = self._found()

    @property
    def _document(self) -> Document:
        return self._ui.session.document

    @property
    def drag(self) -> CurveDrag | None:
        """What is being dragged, or None."""
        found: CurveDrag | None = self._ui.memory.get("curve drag")
        return found

    def _found(self) -> list[CurveKey]:
        if self._track is None:
            return []
        frames, found = self._curves.frames, []
        inside = self._track.frames[(self._track.frames >= frames[0]) & (self._track.frames <= frames[-1])]
        for curve in self._curves.curves:
            at = np.interp(inside, frames, curve.values)
            found += [CurveKey(int(frame), curve.place, float(value)) for frame, value in zip(inside, at, strict=True)]
        return found

    def chosen(self, key: CurveKey) -> bool:
        """Whether a key is selected."""
        return key.frame in self._ui.controller.keying.frames_of(self._joint)

    @property
    def _crowded(self) -> bool:
        """Whether the keys are too close together to be drawn and hit."""
        return len(self.keys) * self._ui.px(8) >= self._plot.w * max(len(self._curves.curves), 1)

    def pixels(self, key: CurveKey) -> tuple[float, float]:
        """Where a key is, framebuffer pixels."""
        return self._plot.at(float(key.frame), key.value)

    # Drawing

    def draw(self) -> None:
        """Draw tangents below keys, which have the colours of their curves."""
        pen = Pen(self._ui)
        handles = self.handles()
        for handle in handles:
            pen.draw.add_line(self.pixels(handle.key), handle.at, pen.ink("text2"), max(1.0, pen.px(1)))
        for handle in handles:
            pen.disc(*handle.at, _RING + 1.2, "text2")
            pen.disc(*handle.at, _RING, "app")
        tones = {curve.place: curve.tone for curve in self._curves.curves}
        for key in () if self._crowded else self.keys:
            x, y = self.pixels(key)
            chosen = self.chosen(key)
            pen.disc(x, y, 5.0 if chosen else 3.5, "text" if chosen else "app")
            pen.disc(x, y, 3.5 if chosen else 2.5, tones[key.place])

    def handles(self) -> list[Handle]:
        """The tangents of selected keys on the curve that was pressed last, where interpolation is smooth."""
        place = self._ui.memory.get("curve", next((curve.place for curve in self._curves.curves), 0))
        keys = [key for key in self.keys if key.place == place and self.chosen(key)]
        if not keys or len(keys) > _MOST_KEYS or self._track is None:
            return []
        slopes, found = self._slopes(), []
        (left, low), (right, high) = self._plot.at(0.0, 0.0), self._plot.at(1.0, 1.0)
        across, down = right - left, high - low
        for key in keys:
            x, y = self.pixels(key)
            dx, dy = across, down * slopes[key.frame][place] / self._curves.per_unit
            scale = self._ui.px(_HANDLE) / math.hypot(dx, dy)
            found += [
                Handle(key, side, (x + side * scale * dx, y + side * scale * dy))
                for side in (-1, 1)
                if self._is_smooth(key.frame, side)
            ]
        return found

    def _is_smooth(self, frame: int, side: int) -> bool:
        assert self._track is not None
        index = self._track.index(frame)
        assert index is not None
        span = index if side > 0 else index - 1
        return 0 <= span < len(self._track) - 1 and int(self._track.blends[span]) == CODES[Blend.SMOOTH]

    def _slopes(self) -> dict[int, Floats]:
        """The slopes (3,) at the selected keys by frame."""
        document, frames = self._document, self._ui.controller.keying.frames_of(self._joint)
        kept = self._ui.memory.setdefault("slopes", Latest[dict[int, Floats]]())
        slopes: dict[int, Floats] = kept.of(
            lambda: {frame: KeyOnCurves(document, self._joint, frame).slopes() for frame in frames},
            document.take, document.skeleton, equal=(self._joint, frames),
        )  # fmt: skip
        return slopes

    # Mouse

    def pointer(self) -> bool:
        """Handle the mouse; returns whether keys use it, so that nothing else may."""
        at, io = imgui.get_mouse_pos(), imgui.get_io()
        drag = self.drag
        if drag is not None:
            self._dragged(drag, at.x, at.y)
            return True
        if not (self._area.hovered and self._plot.contains(at.x, at.y)):
            return False
        hit = self._hit(at.x, at.y)
        if hit is None:
            return False
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        key = hit.key if isinstance(hit, Handle) else hit
        if imgui.is_mouse_clicked(imgui.MouseButton_.left):
            self._select(key, more=io.key_shift)
            side = hit.side if isinstance(hit, Handle) else 0
            values = {
                frame: float(KeyOnCurves(self._document, self._joint, frame).coordinates[key.place])
                for frame in self._ui.controller.keying.frames_of(self._joint)
            }
            self._ui.memory["curve drag"] = CurveDrag(self._joint, key, side, (at.x, at.y), self._plot.ends, values)
            return True
        if imgui.is_mouse_clicked(imgui.MouseButton_.right):
            self._select(key, more=False)
            open_popup(self._ui, KEY_MENU)
        return False

    def _hit(self, x: float, y: float) -> Handle | CurveKey | None:
        """What is nearest to a pixel: handles before keys, within reach."""
        if self._crowded:
            return None
        handles = [(math.dist(handle.at, (x, y)), index, handle) for index, handle in enumerate(self.handles())]
        keys = [(math.dist(self.pixels(key), (x, y)), index, key) for index, key in enumerate(self.keys)]
        for some in (handles, keys):
            nearest = min(some, default=None)
            if nearest is not None and nearest[0] <= self._ui.px(_REACH):
                return nearest[2]
        return None

    def _select(self, key: CurveKey, *, more: bool) -> None:
        """Select a key, or with ``more`` add it to those selected."""
        keying, one = self._ui.controller.keying, Key(self._joint, key.frame)
        # The joint shown stays, although another of its chain may now move more.
        self._ui.memory["curve"], self._ui.memory["angles of"] = key.place, self._document.skeleton.names[self._joint]
        if more:
            keying.select(keying.selected | {one})
        elif one not in keying.selected:
            keying.select({one})

    def _dragged(self, drag: CurveDrag, x: float, y: float) -> None:
        ui, session = self._ui, self._ui.session
        ended = drag.moving and session.gestures.label is None  # by an undo, for instance
        if ended or imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
            if drag.moving and not ended:
                session.cancel()
            imgui.internal.clear_active_id()
            ui.memory["curve drag"] = None
            return
        if not drag.moving and math.dist((x, y), drag.start) > THRESHOLD * ui.scale:
            name = self._document.skeleton.names[drag.joint]
            session.begin(f"Tangent of {name}" if drag.side else f"Key of {name}")
            drag.moving = True
        if drag.moving:
            attempt(ui, lambda: self._turn(drag, x, y) if drag.side else self._move(drag, x, y))
        if not imgui.is_mouse_down(imgui.MouseButton_.left):
            if drag.moving:
                session.commit()
            ui.memory["curve drag"] = None

    def _turn(self, drag: CurveDrag, x: float, y: float) -> None:
        """Point a tangent at the pointer."""
        at = self.pixels(drag.key)
        away = max(drag.side * (x - at[0]), self._ui.px(_NEAREST)) * drag.side
        frame, value = self._plot.values(at[0] + away, y)
        slope = (value - drag.key.value) / (frame - drag.key.frame) * self._curves.per_unit
        name = self._document.skeleton.names[drag.joint]
        self._ui.session.gestures.update(SetSlope(name, drag.key.frame, drag.key.place, slope))

    def _move(self, drag: CurveDrag, x: float, y: float) -> None:
        """Move the selected keys with the pointer: all in time, this joint's in value; with Shift one of the two."""
        across, down = x - drag.start[0], y - drag.start[1]
        if imgui.get_io().key_shift:
            across, down = (across, 0.0) if abs(across) > abs(down) else (0.0, down)
        first = self.pixels(drag.key)
        frame_there, there = self._plot.values(first[0] + across, first[1] + down)
        keying, gestures = self._ui.controller.keying, self._ui.session.gestures
        keys = keying.selected
        by = self._free(keys, round(frame_there) - drag.key.frame - drag.by)
        if by:
            gestures.update(MoveKeys(tuple(sorted(keys)), by))
            keying.select(Key(key.joint, key.frame + by) for key in keys)
            drag.by += by
        if down:
            name, risen = self._document.skeleton.names[drag.joint], (there - drag.key.value) * self._curves.per_unit
            for frame, value in drag.values.items():
                gestures.update(SetKeyValue(name, frame + drag.by, drag.key.place, value + risen))

    def _free(self, keys: frozenset[Key], by: int) -> int:
        """The number of frames nearest to ``by`` that keys can be moved without meeting others."""
        take, low, high = self._document.take, -MOST_FRAMES, MOST_FRAMES
        for track in () if take is None else take.tracks:
            frames = np.array(sorted(key.frame for key in keys if key.joint == track.joint), dtype=np.intp)
            if not frames.size:
                continue
            others = track.frames[~np.isin(track.frames, frames)]
            before = np.append(-1, others)[np.searchsorted(others, frames)]
            after = np.append(others, MOST_FRAMES)[np.searchsorted(others, frames)]
            low, high = max(low, int((before + 1 - frames).max())), min(high, int((after - 1 - frames).min()))
        return self._ui.controller.keying.within(min(max(by, low), high))
