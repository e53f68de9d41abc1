"""Keys on curves: dragged in time and value, and their tangents by handles; one undo step each."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui, implot

from viewer.app.context import PanelContext
from viewer.app.widgets.edits import THRESHOLD, attempt
from viewer.app.widgets.pen import Area, Pen
from viewer.app.widgets.plots import on_plot
from viewer.document import Document
from viewer.document.actions import MoveKeys, SetKeyValue, SetSlope
from viewer.document.curves import KeyOnCurves
from viewer.document.take import CODES, MOST_FRAMES, Blend, Key, Track

_REACH = 8.0
"""Distance within which the pointer hits a key or a handle. All lengths here are logical pixels."""
_HANDLE, _RING = 44.0, 3.6
"""Length of a tangent to either side, and radius of the ring at its end."""
_NEAREST = 4.0
"""Least distance across between a key and the handle that is dragged: steeper tangents stop there."""
_MOST = 24
"""Most selected keys whose tangents are drawn."""


class CurveKey(NamedTuple):
    """A key on a curve.

    Attributes:
        frame: of the key.
        place: index of the coordinate.
        value: in the curve's unit.
    """

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
        ui: the panel's context.
        joint: whose curves are drawn in colour.
        curves: of each coordinate, by its index: frames and values as drawn.
        per_unit: radians or metres per unit of the values.
        ends: of the vertical axis.
        area: takes the mouse.

    Attributes:
        keys: those in view, on every curve.
        wants_menu: a key was clicked on with the right button.
    """

    def __init__(
        self,
        ui: PanelContext,
        joint: int,
        curves: dict[int, tuple[np.ndarray, np.ndarray]],
        per_unit: float,
        ends: tuple[float, float],
        area: Area,
    ) -> None:
        self._ui, self._joint, self._curves, self._per_unit, self._ends = ui, joint, curves, per_unit, ends
        self._area = area
        take = self._document.take
        self._track: Track | None = None if take is None else take.track(joint)
        self.keys = self._found()
        self.wants_menu = False

    @property
    def _document(self) -> Document:
        return self._ui.session.document

    @property
    def drag(self) -> CurveDrag | None:
        """What is being dragged, or None."""
        found: CurveDrag | None = self._ui.memory.get("curve drag")
        return found

    def _found(self) -> list[CurveKey]:
        """The keys in view, on every curve."""
        if self._track is None:
            return []
        found = []
        for place, (frames, values) in self._curves.items():
            inside = self._track.frames[(self._track.frames >= frames[0]) & (self._track.frames <= frames[-1])]
            at = np.interp(inside, frames, values)
            found += [CurveKey(int(frame), place, float(value)) for frame, value in zip(inside, at, strict=True)]
        return found

    def chosen(self, key: CurveKey) -> bool:
        """Whether a key is selected."""
        return key.frame in self._ui.controller.keying.frames_of(self._joint)

    @property
    def _crowded(self) -> bool:
        """Whether the keys are too close together to be drawn and hit."""
        return len(self.keys) * self._ui.px(8) >= implot.get_plot_size().x * max(len(self._curves), 1)

    # Drawing

    def draw(self, tones: dict[int, str]) -> None:
        """Draw tangents below keys, which have the colours of their curves."""
        implot.push_plot_clip_rect()
        self._draw(Pen(self._ui, implot.get_plot_draw_list()), tones)
        implot.pop_plot_clip_rect()

    def _draw(self, pen: Pen, tones: dict[int, str]) -> None:
        handles = self.handles()
        for handle in handles:
            x, y = key_pixels(handle.key)
            pen.draw.add_line((x, y), handle.at, pen.ink("text2"), max(1.0, pen.px(1)))
        for handle in handles:
            pen.disc(*handle.at, _RING + 1.2, "text2")
            pen.disc(*handle.at, _RING, "app")
        if self._crowded:
            return
        for key in self.keys:
            x, y = key_pixels(key)
            chosen = self.chosen(key)
            pen.disc(x, y, 5.0 if chosen else 3.5, "text" if chosen else "app")
            pen.disc(x, y, 3.5 if chosen else 2.5, tones[key.place])

    def handles(self) -> list[Handle]:
        """The tangents of selected keys on the curve that was pressed last, where interpolation is smooth."""
        place = self._ui.memory.get("curve", next(iter(self._curves), 0))
        keys = [key for key in self.keys if key.place == place and self.chosen(key)]
        if not keys or len(keys) > _MOST or self._track is None:
            return []
        slopes, found = self._slopes(), []
        one = implot.plot_to_pixels(0.0, 0.0), implot.plot_to_pixels(1.0, 1.0)
        across, down = one[1].x - one[0].x, one[1].y - one[0].y
        for key in keys:
            x, y = key_pixels(key)
            dx, dy = across, down * slopes[key.frame][place] / self._per_unit
            scale = self._ui.px(_HANDLE) / math.hypot(dx, dy)
            found += [
                Handle(key, side, (x + side * scale * dx, y + side * scale * dy))
                for side in (-1, 1)
                if self._is_smooth(key.frame, side)
            ]
        return found

    def _is_smooth(self, frame: int, side: int) -> bool:
        """Whether the curve is smooth on one side of a key."""
        assert self._track is not None
        index = self._track.index(frame)
        assert index is not None
        span = index if side > 0 else index - 1
        return 0 <= span < len(self._track) - 1 and int(self._track.blends[span]) == CODES[Blend.SMOOTH]

    def _slopes(self) -> dict[int, np.ndarray]:
        """The slopes (3,) at the selected keys by frame, cached until these change."""
        document, frames = self._document, self._ui.controller.keying.frames_of(self._joint)
        equal = (document.take.version if document.take else 0, self._joint, frames)
        kept = self._ui.memory.get("slopes")
        if kept is None or kept[0] != equal or kept[1] is not document.skeleton:
            found = {frame: KeyOnCurves(document, self._joint, frame).slopes() for frame in frames}
            self._ui.memory["slopes"] = kept = (equal, document.skeleton, found)
        slopes: dict[int, np.ndarray] = kept[2]
        return slopes

    # Mouse

    def pointer(self) -> bool:
        """Answer the mouse; returns whether it is about keys, so that nothing else may be."""
        at, io = imgui.get_mouse_pos(), imgui.get_io()
        drag = self.drag
        if drag is not None:
            self._dragged(drag, at.x, at.y)
            return True
        if not (self._area.hovered and on_plot()):
            return False
        hit = self._hit(at.x, at.y)
        if hit is None:
            return False
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        key = hit.key if isinstance(hit, Handle) else hit
        if imgui.is_mouse_clicked(imgui.MouseButton_.left):
            self._select(key, more=io.key_shift)
            side = hit.side if isinstance(hit, Handle) else 0
            frames = self._ui.controller.keying.frames_of(self._joint)
            values = {frame: self._value(frame, key.place) for frame in frames}
            self._ui.memory["curve drag"] = CurveDrag(self._joint, key, side, (at.x, at.y), self._ends, values)
            self._ui.wake()
            return True
        if imgui.is_mouse_clicked(imgui.MouseButton_.right):
            self._select(key, more=False)
            self.wants_menu = True
            self._ui.wake()
        return False

    def _value(self, frame: int, place: int) -> float:
        return float(KeyOnCurves(self._document, self._joint, frame).coordinates[place])

    def _hit(self, x: float, y: float) -> Handle | CurveKey | None:
        """What is nearest to a pixel: handles before keys, within reach."""
        if self._crowded:
            return None
        handles = [(math.dist(handle.at, (x, y)), index, handle) for index, handle in enumerate(self.handles())]
        keys = [(math.dist(key_pixels(key), (x, y)), index, key) for index, key in enumerate(self.keys)]
        for some in (handles, keys):
            nearest = min(some, default=None)
            if nearest is not None and nearest[0] <= self._ui.px(_REACH):
                return nearest[2]
        return None

    def _select(self, key: CurveKey, *, more: bool) -> None:
        """Select a key, or with ``more`` add it to those selected."""
        keying, one = self._ui.controller.keying, Key(self._joint, key.frame)
        # The joint shown stays, though another of its chain may now move more.
        self._ui.memory["curve"], self._ui.memory["angles of"] = key.place, self._document.skeleton.names[self._joint]
        if more:
            keying.select(keying.selected | {one})
        elif one not in keying.selected:
            keying.select({one})

    def _dragged(self, drag: CurveDrag, x: float, y: float) -> None:
        ui, session = self._ui, self._ui.session
        ui.wake()
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
        """Let a tangent point to the pointer."""
        at = key_pixels(drag.key)
        away = max(drag.side * (x - at[0]), self._ui.px(_NEAREST)) * drag.side
        there = implot.pixels_to_plot(at[0] + away, y)
        slope = (there.y - drag.key.value) / (there.x - drag.key.frame) * self._per_unit
        name = self._document.skeleton.names[drag.joint]
        self._ui.session.gestures.update(SetSlope(name, drag.key.frame, drag.key.place, slope))

    def _move(self, drag: CurveDrag, x: float, y: float) -> None:
        """Move the selected keys with the pointer: all in time, this joint's in value; with Shift one of the two."""
        across, down = x - drag.start[0], y - drag.start[1]
        if imgui.get_io().key_shift:
            across, down = (across, 0.0) if abs(across) > abs(down) else (0.0, down)
        first = key_pixels(drag.key)
        there = implot.pixels_to_plot(first[0] + across, first[1] + down)
        keying, gestures = self._ui.controller.keying, self._ui.session.gestures
        keys = keying.selected
        by = self._free(keys, round(there.x) - drag.key.frame - drag.by)
        if by:
            gestures.update(MoveKeys(tuple(sorted(keys)), by))
            keying.select(Key(key.joint, key.frame + by) for key in keys)
            drag.by += by
        if down:
            name, risen = self._document.skeleton.names[drag.joint], (there.y - drag.key.value) * self._per_unit
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


def key_pixels(key: CurveKey) -> tuple[float, float]:
    """Where a key is in the current plot, framebuffer pixels."""
    at = implot.plot_to_pixels(key.frame, key.value)
    return at.x, at.y
