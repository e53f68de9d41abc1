"""The dope sheet: frame numbers, the played range, keys in rows, and what the mouse does with them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.markers import draw_flags, draw_marker_menu, lane_height, marker_near, open_marker_menu
from viewer.app.panels.panel_parts import command_entry
from viewer.app.widgets.dialogs import popup
from viewer.app.widgets.edits import THRESHOLD, act, attempt
from viewer.app.widgets.pen import Area, Pen, item
from viewer.document.actions import MoveMarker, SetRange, SimplifyKeys
from viewer.document.curves import Tangent
from viewer.document.take import MOST_FRAMES, Blend, Key
from viewer.scene.look import SIDES, look_of
from viewer.spatial.checks import Ints
from viewer.ui.commands import BY_ID
from viewer.ui.timeline import Row, TimeView, keys_in, last_frame, played_range, rows_of

NO_KEYS = "S sets a key at this frame. Shift+R records while you drag"
BLENDS = {Blend.STEP: "Step", Blend.LINEAR: "Linear (slerp)", Blend.SMOOTH: "Smooth"}
"""Names of the interpolation modes."""
TANGENTS = {Tangent.AUTO: "Auto tangents", Tangent.FLAT: "Flat tangents", Tangent.FREE: "Free tangents"}
"""Names of what slopes at keys follow from."""

_INSET = 14.0
"""Margin between the sheet's edges and the first and last frame. All lengths here are logical pixels."""
_STRIP = 22.0
"""Height of the strip of frame numbers."""
_NUMBER_SPACING = 46.0
"""Least distance between two frame numbers."""
_BRACKET_OFFSET = 9.0
"""Distance of the range's brackets from its ends, so that they do not cover keys there."""
_ROW, _NAMES = 20.0, 112.0
"""Height of a row; width of the column of names."""
_REACH = 7.0
"""Distance from a key within which the pointer hits it."""
_KEY_SIZE, _BAND_BELOW = 5.5, 7.0
"""Half the diagonal of a key; keys closer together than the second number are drawn as one band."""
KEY_MENU = "key menu"
_SIMPLIFY_DEG = 0.5
"""Tolerance of *Simplify keys* in degrees if the preferences have none."""


def number_step(frames: float) -> int:
    """The smallest of 1, 2, 5, 10, 20, ... that is at least ``frames``."""
    step, power = 1, 1
    while step < frames:
        step = next((power * part for part in (1, 2, 5) if power * part >= frames), power * 10)
        power *= 10
    return step


def scrub(ui: PanelContext, frame: int) -> None:
    """Show a frame, clamped to the frames that exist."""
    frame = min(max(frame, 0), ui.controller.playback.frames - 1)
    if frame != ui.session.document.frame or ui.session.clock.playing:
        attempt(ui, lambda: ui.controller.playback.go(frame))
        ui.wake()


def zoom_or_pan(ui: PanelContext, view: TimeView, notches: float, frame: float) -> None:
    """Zoom the frames around one of them with the wheel; with Shift pan instead."""
    if imgui.get_io().key_shift:
        view.pan(-0.12 * notches * view.span)
    else:
        view.zoom(notches, frame)
    ui.wake()


def blend_entries(ui: PanelContext) -> None:
    """Menu entries that set the interpolation after the selected keys, and their tangents."""
    keying = ui.controller.keying
    there = keying.blends()
    for blend, words in BLENDS.items():
        if imgui.menu_item_simple(words, None, there == {blend}, bool(keying.selected)):
            attempt(ui, lambda blend=blend: keying.set_blend(blend))  # type: ignore[misc]  # bound now
            ui.wake()
    imgui.separator()
    slopes = keying.tangents()
    for tangent, words in TANGENTS.items():
        if imgui.menu_item_simple(words, None, slopes == {tangent}, bool(keying.selected)):
            attempt(ui, lambda tangent=tangent: keying.set_tangent(tangent))  # type: ignore[misc]  # bound now
            ui.wake()


class _PlacedRow(NamedTuple):
    """A row of keys with its top and height in framebuffer pixels."""

    row: Row
    y: float
    h: float


@dataclass(slots=True)
class _Drag:
    """What the pressed mouse button does on the sheet.

    Attributes:
        kind: "scrub", "keys", "box", "first", "last" (an end of the range), "marker", "pan"; "" if no button is
            pressed.
        start: where the button was pressed, framebuffer pixels.
        moved: the pointer has moved farther than in a click.
        by: frames by which keys, an end of the range or a marker are moved.
        key: (row, frame) of the pressed key.
        before: keys that were selected before a box selection.
        last_x: the pointer in the previous frame, for panning.
        marker: frame of the pressed marker.
    """

    kind: str = ""
    start: tuple[float, float] = (0.0, 0.0)
    moved: bool = False
    by: int = 0
    key: tuple[Row, int] | None = None
    before: frozenset[Key] = field(default_factory=frozenset)
    last_x: float = 0.0
    marker: int = 0


def draw_sheet(ui: PanelContext, below: float = 0.0, *, column: bool = False) -> _Sheet | None:
    """Draw the sheet into the rest of the panel, and answer the mouse over it.

    Args:
        ui: the panel's context.
        below: framebuffer pixels to leave free below it.
        column: keep a column for names even if there is one row alone.

    Returns:
        The sheet, whose frames what stands below it follows; None if there is no room.
    """
    pen, room = Pen(ui), imgui.get_content_region_avail()
    room.y -= below
    if room.y < pen.px(16):
        return None
    rows = _rows(ui)
    strip = pen.px(_STRIP + lane_height(ui))
    fits = int((room.y - strip) // pen.px(_ROW))
    tall = fits > 1 and len(rows) > 1
    names = pen.px(_NAMES) if tall or column else 0.0
    corner = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((corner.x + names, corner.y))
    area = item("ruler", room.x - names, room.y, right_too=True)
    view = ui.controller.keying.time_view
    view.total = ui.controller.playback.frames
    if ui.session.recorder.recording or ui.session.clock.playing:
        view.follow(ui.session.document.frame)
    pen.box(corner.x, corner.y, room.x, room.y, "app")
    scrolled = _scrolled_rows(ui, len(rows) - fits) if tall else 0
    sheet = _Sheet(ui, pen, area, view, _placed(pen, area, rows, fits if tall else 1, (scrolled, strip)), strip)
    sheet.names = names
    sheet.run(corner.x if tall else None, len(rows))
    return sheet


def _rows(ui: PanelContext) -> tuple[Row, ...]:
    """The rows of the take, cached until the take or the selection changes."""
    document = ui.session.document
    key = (document.take.version if document.take else 0, document.selection, document.skeleton)
    kept = ui.memory.get("rows")
    if kept is None or kept[0][:2] != key[:2] or kept[0][2] is not key[2]:
        ui.memory["rows"] = kept = (key, rows_of(document))
    found: tuple[Row, ...] = kept[1]
    return found


def _scrolled_rows(ui: PanelContext, hidden: int) -> int:
    """How many rows Ctrl and the wheel have scrolled out of view."""
    io, now = imgui.get_io(), ui.memory.get("scrolled", 0)
    if imgui.is_window_hovered() and io.key_ctrl and io.mouse_wheel:
        now -= round(io.mouse_wheel)
    ui.memory["scrolled"] = now = min(max(now, 0), max(hidden, 0))
    return int(now)


def _placed(pen: Pen, area: Area, rows: tuple[Row, ...], fits: int, hidden: tuple[int, float]) -> list[_PlacedRow]:
    """The summary row first, then as many of the others as fit; ``hidden``: rows scrolled, height above them."""
    scrolled, strip = hidden
    if not rows:
        return []
    top = area.y + strip + 1.0
    if fits <= 1:
        return [_PlacedRow(rows[0], top, max(area.h - strip - 1.0, 1.0))]
    shown = (rows[0], *rows[1 + scrolled : fits + scrolled])
    return [_PlacedRow(row, top + index * pen.px(_ROW), pen.px(_ROW)) for index, row in enumerate(shown)]


class _Sheet:
    """One frame of the sheet.

    Args:
        ui: the panel's context.
        pen: draws into the panel's window.
        area: the item that takes the mouse, framebuffer pixels.
        view: which frames are shown.
        rows: the rows in view.
        strip: height of frame numbers and markers above them, framebuffer pixels.
    """

    def __init__(
        self, ui: PanelContext, pen: Pen, area: Area, view: TimeView, rows: list[_PlacedRow], strip: float
    ) -> None:
        self.ui, self.pen, self.area, self.view, self.rows, self.strip = ui, pen, area, view, rows, strip
        self.names = 0.0
        self.left = area.x + pen.px(_INSET)
        self.per_frame = max(area.w - 2.0 * pen.px(_INSET), 1.0) / view.span
        self.right, self.bottom = area.x + area.w, area.y + area.h
        self.drag: _Drag = ui.memory.setdefault("drag", _Drag())

    def run(self, names_x: float | None, count: int) -> None:
        """Answer the mouse and draw, with a column of names at ``names_x`` for ``count`` rows in all."""
        area, draw = self.area, self.pen.draw
        if names_x is not None:
            self._draw_names(names_x, count)
        self._mouse()
        draw.push_clip_rect((area.x, area.y), (self.right, self.bottom), True)
        self._draw_lanes()
        if not self.rows:
            self._draw_no_keys()
        self._draw_range()
        self._draw_numbers()
        self._draw_markers()
        self._draw_playhead()
        for placed in self.rows:
            self._draw_keys(placed)
        if self.drag.kind == "box" and self.drag.moved:
            self._draw_box()
        draw.pop_clip_rect()
        if area.hovered and imgui.is_mouse_released(imgui.MouseButton_.right):
            self._open_menu()
        draw_key_menu(self.ui)
        draw_marker_menu(self.ui)

    def x(self, frame: float) -> float:
        """The pixel of a frame."""
        return self.left + (frame - self.view.start) * self.per_frame

    def frame(self, x: float) -> float:
        """The frame at a pixel."""
        return self.view.start + (x - self.left) / self.per_frame

    def range(self) -> tuple[int, int]:
        """First and last played frame, as they are being dragged."""
        first, last = played_range(self.ui.session.document)
        if not self._range_dragged():
            return first, last
        if self.drag.kind == "first":
            return min(max(first + self.drag.by, 0), last), last
        document = self.ui.session.document
        most = last_frame(document) if document.clip else MOST_FRAMES - 1
        return first, min(max(last + self.drag.by, first), most)

    def _range_dragged(self) -> bool:
        return self.drag.kind in {"first", "last"} and self.drag.moved

    def _brackets(self) -> tuple[float, float]:
        first, last = self.range()
        return self.x(first) - self.pen.px(_BRACKET_OFFSET), self.x(last) + self.pen.px(_BRACKET_OFFSET)

    def _key_at(self, x: float, y: float) -> tuple[Row, int] | None:
        for row, top, h in self.rows:
            if top <= y < top + h and row.frames.size:
                nearest = int(row.frames[np.argmin(np.abs(row.frames - self.frame(x)))])
                return (row, nearest) if abs(self.x(nearest) - x) <= self.pen.px(_REACH) else None
        return None

    def _marker_at(self, x: float, y: float) -> int | None:
        """The frame of the marker at a pixel, or None."""
        if not self.area.y + self.pen.px(_STRIP) <= y < self.area.y + self.strip:
            return None
        return marker_near(self.ui.session.document.markers, self.x, x, self.pen.px(_REACH))

    def _range_end_at(self, x: float, y: float) -> str:
        """Which bracket is at a pixel: "first", "last" or "" for none."""
        if y < self.area.y + self.strip:
            return ""
        first, last = played_range(self.ui.session.document)
        low, high = self.pen.px(_BRACKET_OFFSET - 6), self.pen.px(_BRACKET_OFFSET + 6)
        if low <= self.x(first) - x <= high:
            return "first"
        return "last" if low <= x - self.x(last) <= high else ""

    def _keys_of(self, key: tuple[Row, int]) -> frozenset[Key]:
        row, frame = key
        return frozenset(keys_in(self.ui.session.document, row, frame, frame))

    # Mouse

    def _mouse(self) -> None:
        at, io = imgui.get_mouse_pos(), imgui.get_io()
        if self.area.hovered:
            notches = io.mouse_wheel + (io.mouse_wheel_h if io.key_shift else 0.0)
            if notches:
                zoom_or_pan(self.ui, self.view, notches, self.frame(at.x))
        pressed = imgui.is_item_activated() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
        if pressed or (self.area.hovered and imgui.is_mouse_clicked(imgui.MouseButton_.middle)):
            self._set_drag(self._pressed(at.x, at.y))
        if self.drag.kind:
            self._dragged(at.x, at.y)
        elif self.area.hovered:
            self._hovered(at.x, at.y)

    def _set_drag(self, drag: _Drag) -> None:
        self.ui.memory["drag"] = drag
        self.drag = drag

    def _pressed(self, x: float, y: float) -> _Drag:
        if imgui.is_mouse_down(imgui.MouseButton_.middle):
            return _Drag("pan", (x, y), last_x=x)
        if end := self._range_end_at(x, y):
            return _Drag(end, (x, y))
        key = self._key_at(x, y)
        if key is not None:
            self._select_key(key)
            return _Drag("keys", (x, y), key=key)
        marker = self._marker_at(x, y)
        if marker is not None:
            if imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
                self.ui.controller.markers.rename(marker)
            return _Drag("marker", (x, y), marker=marker)
        if y < self.area.y + self.strip or not self.rows:
            return _Drag("scrub", (x, y))
        selected = self.ui.controller.keying.selected
        return _Drag("box", (x, y), before=selected if imgui.get_io().key_shift else frozenset())

    def _select_key(self, key: tuple[Row, int]) -> None:
        """Select the keys at a frame of a row, unless they are selected; Shift adds or removes them."""
        keying, keys = self.ui.controller.keying, self._keys_of(key)
        if imgui.get_io().key_shift:
            keying.select(keying.selected - keys if keys <= keying.selected else keying.selected | keys)
        elif not keys & keying.selected:
            keying.select(keys)
        self.ui.wake()

    def _dragged(self, x: float, y: float) -> None:
        ui, drag = self.ui, self.drag
        across, down = x - drag.start[0], y - drag.start[1]
        drag.moved = drag.moved or max(abs(across), abs(down)) > THRESHOLD * ui.scale
        panning = drag.kind == "pan"
        button = imgui.MouseButton_.middle if panning else imgui.MouseButton_.left
        if imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
            self._cancel()
            return
        if drag.kind == "scrub" and imgui.is_mouse_down(button):
            scrub(ui, round(self.frame(x)))
        elif panning:
            self.view.pan((drag.last_x - x) / self.per_frame)
            drag.last_x = x
        elif drag.moved:
            drag.by = round(across / self.per_frame)
            if drag.kind == "marker":
                drag.by = max(drag.by, -drag.marker)
            elif drag.kind == "keys":
                drag.by = ui.controller.keying.within(drag.by)
            elif drag.kind == "box":
                self._select_box(x, y)
        ui.wake()
        if not imgui.is_mouse_down(button):
            self._released()

    def _cancel(self) -> None:
        if self.drag.kind == "box":
            self.ui.controller.keying.select(self.drag.before)
        imgui.internal.clear_active_id()
        self._set_drag(_Drag())
        self.ui.wake()

    def _released(self) -> None:
        keying, io, drag = self.ui.controller.keying, imgui.get_io(), self.drag
        if drag.kind == "keys" and drag.by:
            attempt(self.ui, lambda: keying.shift(drag.by, copy=io.key_ctrl))
        elif drag.kind == "keys" and drag.key is not None and not drag.moved and not io.key_shift:
            keying.select(self._keys_of(drag.key))
        elif drag.kind == "marker" and drag.by:
            act(self.ui, MoveMarker(drag.marker, drag.marker + drag.by))
        elif drag.kind == "marker" and not drag.moved:
            scrub(self.ui, drag.marker)
        elif drag.kind == "box" and not drag.moved:
            keying.select(drag.before)
        elif self._range_dragged():
            act(self.ui, SetRange(*self.range()))
        self._set_drag(_Drag())

    def _select_box(self, x: float, y: float) -> None:
        keying, document = self.ui.controller.keying, self.ui.session.document
        low, high = sorted((self.frame(self.drag.start[0]), self.frame(x)))
        top, bottom = sorted((self.drag.start[1], y))
        found = set(self.drag.before)
        for row, row_top, h in self.rows:
            if top <= row_top + h and row_top <= bottom:
                found |= set(keys_in(document, row, low, high))
        if found != keying.selected:
            keying.select(found)

    def _hovered(self, x: float, y: float) -> None:
        """Shape the pointer, and show a tooltip for the key under it."""
        key = self._key_at(x, y)
        if self._range_end_at(x, y):
            imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
        elif self._marker_at(x, y) is not None:
            imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        elif key is not None:
            imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
            row, frame = key
            count = len(self._keys_of(key))
            what = row.name if row.joint >= 0 else f"{count} joint{'s' if count != 1 else ''}"
            imgui.set_item_tooltip(f"Frame {frame} · {what}")
        hovered = None if key is None else (key[0].joint, key[1])
        if hovered != self.ui.memory.get("hovered key"):
            self.ui.memory["hovered key"] = hovered
            self.ui.wake()

    def _open_menu(self) -> None:
        """Open the menu at the pointer; the key under the pointer is selected first."""
        at, keying = imgui.get_mouse_pos(), self.ui.controller.keying
        marker = self._marker_at(at.x, at.y)
        if marker is not None:
            open_marker_menu(self.ui, marker)
            return
        key = self._key_at(at.x, at.y)
        if key is not None and not keying.selected & self._keys_of(key):
            keying.select(self._keys_of(key))
        imgui.open_popup(KEY_MENU)

    # Drawing

    def _draw_markers(self) -> None:
        """Flags below the frame numbers; one that is dragged where it will be."""
        shown = self.ui.session.document.markers
        if self.drag.kind == "marker" and self.drag.by:
            moved = (self.drag.marker, self.drag.marker + self.drag.by)
            shown = tuple(replace(one, frame=moved[1]) if one.frame == moved[0] else one for one in shown)
        draw_flags(self.pen, tuple(sorted(shown)), self.x, self.area.y + self.pen.px(_STRIP), self.bottom)

    def _fill(self, left: float, top: float, right: float, bottom: float, colour: str, alpha: float = 1.0) -> None:
        self.pen.draw.add_rect_filled((left, top), (right, bottom), self.pen.ink(colour, alpha))

    def _draw_numbers(self) -> None:
        """Frame numbers and ticks along the top."""
        pen, area = self.pen, self.area
        strip = min(pen.px(_STRIP), area.h)
        last = self.ui.controller.playback.frames - 1
        step = number_step(pen.px(_NUMBER_SPACING) / self.per_frame)
        minor = max(step // 5, 1)
        y = pen.middle(area.y, strip, SMALL)
        low = max(0, int(self.frame(area.x)) // minor * minor)
        high = min(int(self.frame(self.right)) + 1, last if self.view.span <= last + 1 else 10**9)
        for frame in range(low, high + 1, minor):
            x = float(round(self.x(frame)))
            if frame % step:
                pen.upright(x, area.y + strip - pen.px(4), area.y + strip)
            else:
                pen.small(x - pen.width(str(frame), SMALL) / 2.0, y, str(frame))
        pen.rule(area.x, self.right, area.y + strip)

    def _draw_range(self) -> None:
        """Shade the frames that are not played, with a bracket at each end of the range."""
        area, ends = self.area, tuple(map(self.x, self.range()))
        left, right = max(ends[0], area.x), min(ends[1], self.right)
        if left > area.x:
            self._fill(area.x, area.y, min(left, self.right), self.bottom, "panel", 0.6)
        if right < self.right:
            self._fill(max(right, area.x), area.y, self.right, self.bottom, "panel", 0.6)
        for x, place, way in zip(ends, self._brackets(), (-1.0, 1.0), strict=True):
            if area.x <= x <= self.right:
                self._draw_bracket(place, way, "text" if self._range_dragged() else "text3")

    def _draw_bracket(self, x: float, way: float, colour: str) -> None:
        """``[`` or ``]``, as tall as the rows of keys."""
        pen, area = self.pen, self.area
        top, bottom = area.y + min(self.strip, area.h) + pen.px(4), self.bottom - pen.px(4)
        if bottom - top < pen.px(8):
            return
        thick, foot, x = max(1.0, pen.px(1.5)), pen.px(4), float(round(x))
        start = x - foot if way > 0.0 else x
        self._fill(x, top, x + thick, bottom, colour)
        for y in (top, bottom - thick):
            self._fill(start, y, start + foot + thick, y + thick, colour)

    def _draw_playhead(self) -> None:
        """The current frame: a line with its number at the top."""
        pen, area = self.pen, self.area
        x, words = self.x(self.ui.session.document.frame), str(self.ui.session.document.frame)
        if not area.x <= x <= self.right:
            return
        colour = "record" if self.ui.session.recorder.recording else "accent"
        number = pen.width(words, SMALL, bold=True)
        wide = number + pen.px(12)
        left = min(max(x - wide / 2.0, area.x), self.right - wide)
        half = max(pen.px(1.5), 1.0) / 2.0
        self._fill(x - half, area.y, x + half, self.bottom, colour)
        top, h = area.y + pen.px(1), min(pen.px(_STRIP), area.h) - pen.px(3)
        pen.box(left, top, wide, h, colour, rounding=3)
        pen.strong(left + (wide - number) / 2.0, pen.middle(top, h, SMALL), words, "on_accent", SMALL)

    def _draw_names(self, x: float, count: int) -> None:
        pen, chosen = self.pen, {item.name for item in self.ui.session.document.selection}
        for row, y, h in self.rows:
            colour = "text" if row.joint < 0 or row.name in chosen else "text2"
            words = pen.fit(row.name, pen.px(_NAMES) - pen.px(16), SMALL)
            if row.joint >= 0:
                pen.box(x + pen.px(1), y + pen.px(4), pen.px(3), h - pen.px(8), self._tone(row), rounding=1)
            pen.text(x + pen.px(8), pen.middle(y, h, SMALL), words, colour, SMALL)
        if len(self.rows) < count:
            top = pen.middle(self.area.y, pen.px(_STRIP), SMALL)
            pen.small(x + pen.px(8), top, f"{len(self.rows) - 1} of {count - 1}")

    def _tone(self, row: Row) -> str:
        """The colour of a row's keys: that of the bones on the same side of the body."""
        if row.joint < 0:
            return "text"
        return SIDES[int(look_of(self.ui.session.document.skeleton).sides[row.joint])]

    def _draw_lanes(self) -> None:
        """A line from the first to the last key of each row; every other row is lighter."""
        for index, (row, y, h) in enumerate(self.rows):
            if len(self.rows) > 1 and index % 2 == 0:
                self._fill(self.area.x, y, self.right, y + h, "panel", 0.7)
            left = max(self.x(int(row.frames[0])), self.area.x)
            right = min(self.x(int(row.frames[-1])), self.right)
            if left < right:
                middle = round(y + h / 2.0)
                self._fill(left, middle - 0.5, right, middle + 0.5, "line_hi")

    def _draw_keys(self, placed: _PlacedRow) -> None:
        row, drag, middle = placed.row, self.drag, placed.y + placed.h / 2.0
        chosen = self.ui.controller.keying.frames_of(row.joint)
        moving = drag.kind == "keys" and drag.by != 0
        stays = not moving or imgui.get_io().key_ctrl  # Ctrl copies
        hovered = self.ui.memory.get("hovered key")
        near = hovered[1] if hovered is not None and hovered[0] == row.joint else None
        tone = self._tone(row)
        for first, last in self._bands(row):
            if last > first:
                self._draw_band(row.frames[first : last + 1], middle, chosen)
                continue
            frame = int(row.frames[first])
            selected = frame in chosen
            if stays or not selected:
                colour = "accent" if selected else "hovered" if frame == near and not drag.kind else tone
                self._draw_key(self.x(frame), middle, colour, step=bool(row.steps[first]))
        if moving:
            moved = row._replace(frames=np.array(sorted(chosen), dtype=np.intp) + drag.by)
            for first, last in self._bands(moved):
                if last > first:
                    self._draw_band(moved.frames[first : last + 1], middle, frozenset())
                else:
                    self._draw_key(self.x(int(moved.frames[first])), middle, "hovered", step=False)

    def _bands(self, row: Row) -> list[tuple[int, int]]:
        """(first, last) index of each group of visible keys that are too close together to be drawn one by one."""
        reach = self.pen.px(20) / self.per_frame
        low = int(np.searchsorted(row.frames, self.view.start - reach))
        high = int(np.searchsorted(row.frames, self.view.start + self.view.span + reach, "right"))
        if low == high:
            return []
        close = np.diff(row.frames[low:high]) * self.per_frame < self.pen.px(_BAND_BELOW)
        starts = np.flatnonzero(~np.concatenate([[False], close]))
        ends = np.append(starts[1:] - 1, high - low - 1)
        return [(low + int(start), low + int(end)) for start, end in zip(starts, ends, strict=True)]

    def _draw_band(self, frames: Ints, y: float, chosen: frozenset[int]) -> None:
        """Keys on successive frames, such as a recording has, as one band; the selected part in the accent colour."""
        pen, half = self.pen, self.pen.px(3)
        left, right = self.x(int(frames[0])), self.x(int(frames[-1]))
        pen.box(left - half, y - half, right - left + 2.0 * half, 2.0 * half, "text2", rounding=3)
        lit = np.isin(frames, list(chosen)) if chosen else np.zeros(len(frames), dtype=np.bool_)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], lit, [False]]).astype(np.int8)))
        for first, after in edges.reshape(-1, 2).tolist():
            start, end = self.x(int(frames[first])), self.x(int(frames[after - 1]))
            pen.box(start - half, y - half, end - start + 2.0 * half, 2.0 * half, "accent", rounding=3)

    def _draw_key(self, x: float, y: float, colour: str, *, step: bool) -> None:
        """A diamond, or a square where the pose is held until the next key; a dark rim separates it from lines."""
        half, rim = _KEY_SIZE * self.pen.scale, max(1.0, self.pen.px(1.0))
        for size, name in ((half + rim, "app"), (half, colour)):
            side = 0.8 * size
            square = [(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)]
            diamond = [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
            self.pen.shape(square if step else diamond, name)

    def _draw_no_keys(self) -> None:
        """A hint in place of keys, in the first gap between playhead and brackets that is wide enough."""
        pen, area = self.pen, self.area
        strip, inset = self.strip, pen.px(_INSET)
        if area.h - strip < pen.px(14):
            return
        # A moving playhead would move the hint, so it counts only at rest.
        stops = {area.x, self.right, *self._brackets()}
        if not (self.ui.session.clock.playing or self.ui.session.recorder.recording):
            stops.add(self.x(self.ui.session.document.frame))
        ends = sorted(x for x in stops if area.x <= x <= self.right)
        wide = pen.width(NO_KEYS, SMALL) + 2.0 * inset
        left, right = max(pairwise(ends), key=lambda room: min(room[1] - room[0], wide))
        words = pen.fit(NO_KEYS, right - left - 2.0 * inset, SMALL)
        pen.small(left + inset, pen.middle(area.y + strip, area.h - strip, SMALL), words)

    def _draw_box(self) -> None:
        at, start = imgui.get_mouse_pos(), self.drag.start
        self._fill(*start, at.x, at.y, "accent", 0.12)
        (x0, x1), (y0, y1) = sorted((start[0], at.x)), sorted((start[1], at.y))
        self.pen.frame(x0, y0, x1 - x0, y1 - y0, "accent", rounding=0)


def draw_key_menu(ui: PanelContext) -> None:
    """Draw the menu of the selected keys, once its popup was opened."""
    keying = ui.controller.keying
    with popup(ui, KEY_MENU) as opened:
        if not opened:
            return
        blend_entries(ui)
        imgui.separator()
        command_entry(ui, "key.duplicate")
        command_entry(ui, "pose.copy", "Copy keys" if keying.selected else "")
        command_entry(ui, "pose.paste", "Paste")
        if imgui.menu_item_simple("Delete keys", BY_ID["goal.remove"].shortcut, False, bool(keying.selected)):
            attempt(ui, keying.delete)
            ui.wake()
        imgui.separator()
        if imgui.menu_item_simple("Select all keys", None, False, keying.take is not None):
            keying.select_all()
            ui.wake()
        if imgui.menu_item_simple("Simplify keys", None, False, keying.take is not None):
            act(ui, SimplifyKeys(ui.controller.view.preferences.record_tolerance_deg or _SIMPLIFY_DEG))
        if imgui.menu_item_simple("Show all frames"):
            keying.time_view.fit()
            ui.wake()
