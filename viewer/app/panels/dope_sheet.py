"""The dope sheet: frame numbers, markers, the played range and keys in rows, and what the mouse does with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_entry
from viewer.app.theme import SMALL
from viewer.app.widgets.dialogs import open_popup, popup
from viewer.app.widgets.edits import THRESHOLD, act, attempt
from viewer.app.widgets.pen import Area, Pen, item, number_step
from viewer.document.actions import MoveMarker, SetRange
from viewer.document.document import Marker
from viewer.document.motion_curves import Tangent
from viewer.document.take import MOST_FRAMES, Blend, Key
from viewer.errors import plural
from viewer.latest import Latest
from viewer.scene import SIDES, look_of
from viewer.spatial.checks import Ints
from viewer.ui.commands import BY_ID
from viewer.ui.timeline import Row, TimeView, keys_in, last_frame, played_range, rows_of

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


BLENDS = {Blend.STEP: "Step", Blend.LINEAR: "Linear (slerp)", Blend.SMOOTH: "Smooth"}
_TANGENTS = {Tangent.AUTO: "Auto tangents", Tangent.FLAT: "Flat tangents", Tangent.FREE: "Free tangents"}
"""Names of the ways to choose slopes at keys."""

KEY_MENU = "key menu"
_SIMPLIFY_DEG = 0.5
"""Tolerance of *Simplify keys* in degrees if the preferences have none."""


def scrub_to(ui: PanelContext, frame: int) -> None:
    """Show a frame, clamped to the frames that exist."""
    frame = min(max(frame, 0), ui.controller.playback.frames - 1)
    if frame != ui.session.document.frame or ui.session.clock.playing:
        attempt(ui, lambda: ui.controller.playback.go(frame))


def zoom_or_pan(view: TimeView, notches: float, frame: float) -> None:
    """Zoom the frames around one of them with the wheel; with Shift pan instead."""
    if imgui.get_io().key_shift:
        view.pan(-0.12 * notches * view.span)
    else:
        view.zoom(notches, frame)


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


class Sheet:
    """One frame of the sheet.

    Args:
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

    def x(self, frame: float) -> float:
        """The pixel of a frame."""
        return self.left + (frame - self.view.start) * self.per_frame

    def frame(self, x: float) -> float:
        """The frame at a pixel."""
        return self.view.start + (x - self.left) / self.per_frame

    def range(self) -> tuple[int, int]:
        """First and last played frame, as they are being dragged."""
        first, last = played_range(self.ui.session.document)
        if not self.range_dragged():
            return first, last
        if self.drag.kind == "first":
            return min(max(first + self.drag.by, 0), last), last
        document = self.ui.session.document
        most = last_frame(document) if document.clip else MOST_FRAMES - 1
        return first, min(max(last + self.drag.by, first), most)

    def range_dragged(self) -> bool:
        """Whether an end of the range is being dragged."""
        return self.drag.kind in {"first", "last"} and self.drag.moved

    def brackets(self) -> tuple[float, float]:
        """The pixels of the range's brackets."""
        first, last = self.range()
        return self.x(first) - self.pen.px(_BRACKET_OFFSET), self.x(last) + self.pen.px(_BRACKET_OFFSET)

    def key_at(self, x: float, y: float) -> tuple[Row, int] | None:
        """The row and frame of the key at a pixel."""
        for row, top, h in self.rows:
            if top <= y < top + h and row.frames.size:
                nearest = int(row.frames[np.argmin(np.abs(row.frames - self.frame(x)))])
                return (row, nearest) if abs(self.x(nearest) - x) <= self.pen.px(_REACH) else None
        return None

    def marker_at(self, x: float, y: float) -> int | None:
        """The frame of the marker at a pixel, or None."""
        if not self.area.y + self.pen.px(_STRIP) <= y < self.area.y + self.strip:
            return None
        near = min(((abs(self.x(one.frame) - x), one.frame) for one in self.ui.session.document.markers), default=None)
        return near[1] if near is not None and near[0] <= self.pen.px(_REACH) else None

    def range_end_at(self, x: float, y: float) -> str:
        """Which bracket is at a pixel: "first", "last" or "" for none."""
        if y < self.area.y + self.strip:
            return ""
        first, last = played_range(self.ui.session.document)
        low, high = self.pen.px(_BRACKET_OFFSET - 6), self.pen.px(_BRACKET_OFFSET + 6)
        if low <= self.x(first) - x <= high:
            return "first"
        return "last" if low <= x - self.x(last) <= high else ""

    def keys_of(self, key: tuple[Row, int]) -> frozenset[Key]:
        """All keys of a row at a frame."""
        row, frame = key
        return frozenset(keys_in(self.ui.session.document, row, frame, frame))

    def set_drag(self, drag: _Drag) -> None:
        """Begin another drag, or none."""
        self.ui.memory["drag"] = drag
        self.drag = drag


def draw_sheet(ui: PanelContext, below: float = 0.0, *, column: bool = False) -> Sheet | None:
    """Draw the sheet into the rest of the panel but ``below`` framebuffer pixels, and answer the mouse over it.

    It has a ``column`` for names even if there is only one row. It is returned for what is aligned with it; None: no
    room.
    """
    pen, room = Pen(ui), imgui.get_content_region_avail()
    room.y -= below
    if room.y < pen.px(16):
        return None
    rows = _rows(ui)
    strip = pen.px(_STRIP + _lane_height(ui))
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
    sheet = Sheet(ui, pen, area, view, _placed(pen, area, rows, fits if tall else 1, (scrolled, strip)), strip)
    sheet.names = names
    _run(sheet, corner.x if tall else None, len(rows))
    return sheet


def _rows(ui: PanelContext) -> tuple[Row, ...]:
    document, kept = ui.session.document, ui.memory.setdefault("rows", Latest[tuple[Row, ...]]())
    found: tuple[Row, ...] = kept.of(
        lambda: rows_of(document), document.take, document.skeleton, equal=document.selection
    )
    return found


def _scrolled_rows(ui: PanelContext, hidden: int) -> int:
    """How many rows Ctrl and the wheel have scrolled out of view."""
    io, now = imgui.get_io(), ui.memory.get("scrolled", 0)
    if imgui.is_window_hovered() and io.key_ctrl and io.mouse_wheel:
        now -= round(io.mouse_wheel)
    ui.memory["scrolled"] = now = min(max(now, 0), max(hidden, 0))
    return int(now)


def _placed(pen: Pen, area: Area, rows: tuple[Row, ...], fits: int, hidden: tuple[int, float]) -> list[_PlacedRow]:
    """The summary row first, then the others that fit; ``hidden``: rows scrolled, height above them."""
    scrolled, strip = hidden
    if not rows:
        return []
    top = area.y + strip + 1.0
    if fits <= 1:
        return [_PlacedRow(rows[0], top, max(area.h - strip - 1.0, 1.0))]
    shown = (rows[0], *rows[1 + scrolled : fits + scrolled])
    return [_PlacedRow(row, top + index * pen.px(_ROW), pen.px(_ROW)) for index, row in enumerate(shown)]


def _run(sheet: Sheet, names_x: float | None, count: int) -> None:
    """Answer the mouse and draw, with a column of names at ``names_x`` for ``count`` rows in all."""
    if names_x is not None:
        _draw_names(sheet, names_x, count)
    _mouse(sheet)
    _draw_contents(sheet)
    if sheet.area.hovered and imgui.is_mouse_released(imgui.MouseButton_.right):
        _open_menu(sheet)
    draw_key_menu(sheet.ui)
    _draw_marker_menu(sheet.ui)


def _mouse(sheet: Sheet) -> None:
    at, io = imgui.get_mouse_pos(), imgui.get_io()
    if sheet.area.hovered:
        notches = io.mouse_wheel + (io.mouse_wheel_h if io.key_shift else 0.0)
        if notches and not io.key_ctrl:  # with Ctrl the wheel scrolls the rows
            zoom_or_pan(sheet.view, notches, sheet.frame(at.x))
    pressed = imgui.is_item_activated() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    if pressed or (sheet.area.hovered and imgui.is_mouse_clicked(imgui.MouseButton_.middle)):
        sheet.set_drag(_pressed(sheet, at.x, at.y))
    if sheet.drag.kind:
        _dragged(sheet, at.x, at.y)
    elif sheet.area.hovered:
        _hovered(sheet, at.x, at.y)


def _pressed(sheet: Sheet, x: float, y: float) -> _Drag:
    if imgui.is_mouse_down(imgui.MouseButton_.middle):
        return _Drag("pan", (x, y), last_x=x)
    if end := sheet.range_end_at(x, y):
        return _Drag(end, (x, y))
    key = sheet.key_at(x, y)
    if key is not None:
        _select_key(sheet, key)
        return _Drag("keys", (x, y), key=key)
    marker = sheet.marker_at(x, y)
    if marker is not None:
        if imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
            sheet.ui.controller.markers.rename(marker)
        return _Drag("marker", (x, y), marker=marker)
    if y < sheet.area.y + sheet.strip or not sheet.rows:
        return _Drag("scrub", (x, y))
    selected = sheet.ui.controller.keying.selected
    return _Drag("box", (x, y), before=selected if imgui.get_io().key_shift else frozenset())


def _select_key(sheet: Sheet, key: tuple[Row, int]) -> None:
    """Select the keys at a frame of a row, unless they are selected; Shift adds or removes them."""
    keying, keys = sheet.ui.controller.keying, sheet.keys_of(key)
    if imgui.get_io().key_shift:
        keying.select(keying.selected - keys if keys <= keying.selected else keying.selected | keys)
    elif not keys & keying.selected:
        keying.select(keys)


def _dragged(sheet: Sheet, x: float, y: float) -> None:
    ui, drag = sheet.ui, sheet.drag
    across, down = x - drag.start[0], y - drag.start[1]
    drag.moved = drag.moved or max(abs(across), abs(down)) > THRESHOLD * ui.scale
    panning = drag.kind == "pan"
    button = imgui.MouseButton_.middle if panning else imgui.MouseButton_.left
    if imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
        if drag.kind == "box":
            ui.controller.keying.select(drag.before)
        imgui.internal.clear_active_id()
        sheet.set_drag(_Drag())
        return
    if drag.kind == "scrub" and imgui.is_mouse_down(button):
        scrub_to(ui, round(sheet.frame(x)))
    elif panning:
        sheet.view.pan((drag.last_x - x) / sheet.per_frame)
        drag.last_x = x
    elif drag.moved:
        drag.by = round(across / sheet.per_frame)
        if drag.kind == "marker":
            drag.by = max(drag.by, -drag.marker)
        elif drag.kind == "keys":
            drag.by = ui.controller.keying.within(drag.by)
        elif drag.kind == "box":
            _select_box(sheet, x, y)
    if not imgui.is_mouse_down(button):
        _released(sheet)


def _released(sheet: Sheet) -> None:
    keying, io, drag = sheet.ui.controller.keying, imgui.get_io(), sheet.drag
    if drag.kind == "keys" and drag.by:
        attempt(sheet.ui, lambda: keying.shift(drag.by, copy=io.key_ctrl))
    elif drag.kind == "keys" and drag.key is not None and not drag.moved and not io.key_shift:
        keying.select(sheet.keys_of(drag.key))
    elif drag.kind == "marker" and drag.by:
        act(sheet.ui, MoveMarker(drag.marker, drag.marker + drag.by))
    elif drag.kind == "marker" and not drag.moved:
        scrub_to(sheet.ui, drag.marker)
    elif drag.kind == "box" and not drag.moved:
        keying.select(drag.before)
    elif sheet.range_dragged():
        act(sheet.ui, SetRange(*sheet.range()))
    sheet.set_drag(_Drag())


def _select_box(sheet: Sheet, x: float, y: float) -> None:
    keying, document = sheet.ui.controller.keying, sheet.ui.session.document
    low, high = sorted((sheet.frame(sheet.drag.start[0]), sheet.frame(x)))
    top, bottom = sorted((sheet.drag.start[1], y))
    found = set(sheet.drag.before)
    for row, row_top, h in sheet.rows:
        if top <= row_top + h and row_top <= bottom:
            found |= set(keys_in(document, row, low, high))
    if found != keying.selected:
        keying.select(found)


def _hovered(sheet: Sheet, x: float, y: float) -> None:
    """Shape the pointer, and show a tooltip for the key under it."""
    key = sheet.key_at(x, y)
    if sheet.range_end_at(x, y):
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    elif sheet.marker_at(x, y) is not None:
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
    elif key is not None:
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        row, frame = key
        count = len(sheet.keys_of(key))
        what = row.name if row.joint >= 0 else plural(count, "joint")
        imgui.set_item_tooltip(f"Frame {frame} · {what}")
    hovered = None if key is None else (key[0].joint, key[1])
    if hovered != sheet.ui.memory.get("hovered key"):
        sheet.ui.memory["hovered key"] = hovered


def _open_menu(sheet: Sheet) -> None:
    """Open the menu at the pointer; the key under the pointer is selected first."""
    at, keying = imgui.get_mouse_pos(), sheet.ui.controller.keying
    marker = sheet.marker_at(at.x, at.y)
    if marker is not None:
        open_popup(sheet.ui, _MARKER_MENU, marker)
        return
    key = sheet.key_at(at.x, at.y)
    if key is not None and not keying.selected & sheet.keys_of(key):
        keying.select(sheet.keys_of(key))
    open_popup(sheet.ui, KEY_MENU)


def blend_entries(ui: PanelContext) -> None:
    """Menu entries that set the interpolation after the selected keys, and their tangents."""
    keying = ui.controller.keying
    there = keying.blends()
    for blend, words in BLENDS.items():
        if imgui.menu_item_simple(words, None, there == {blend}, bool(keying.selected)):
            attempt(ui, lambda blend=blend: keying.set_blend(blend))  # type: ignore[misc]  # bound now
    imgui.separator()
    slopes = keying.tangents()
    for tangent, words in _TANGENTS.items():
        if imgui.menu_item_simple(words, None, slopes == {tangent}, bool(keying.selected)):
            attempt(ui, lambda tangent=tangent: keying.set_tangent(tangent))  # type: ignore[misc]  # bound now


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
        imgui.separator()
        if imgui.menu_item_simple("Select all keys", None, False, keying.take is not None):
            keying.select_all()
        if imgui.menu_item_simple("Simplify keys", None, False, keying.take is not None):
            tolerance = ui.controller.view.record_tolerance_deg or _SIMPLIFY_DEG
            attempt(ui, lambda: keying.simplify(tolerance))
        if imgui.menu_item_simple("Show all frames"):
            keying.time_view.fit()


def _draw_marker_menu(ui: PanelContext) -> None:
    markers = ui.controller.markers
    with popup(ui, _MARKER_MENU) as opened:
        if opened:
            frame = ui.memory[_MARKER_MENU]
            if imgui.menu_item_simple("Rename marker"):
                markers.rename(frame)
            if imgui.menu_item_simple("Remove marker"):
                attempt(ui, lambda: markers.remove(frame))


NO_KEYS = "S sets a key at this frame. Shift+R records while you drag"


def _draw_contents(sheet: Sheet) -> None:
    """Draw the sheet without its column of names."""
    draw, area = sheet.pen.draw, sheet.area
    draw.push_clip_rect((area.x, area.y), (sheet.right, sheet.bottom), True)
    _draw_lanes(sheet)
    if not sheet.rows:
        _draw_no_keys(sheet)
    _draw_range(sheet)
    _draw_numbers(sheet)
    _draw_markers(sheet)
    _draw_playhead(sheet)
    for placed in sheet.rows:
        _draw_keys(sheet, placed)
    if sheet.drag.kind == "box" and sheet.drag.moved:
        _draw_box(sheet)
    draw.pop_clip_rect()


def _draw_markers(sheet: Sheet) -> None:
    """Flags below the frame numbers; a dragged one at its new frame."""
    shown = sheet.ui.session.document.markers
    if sheet.drag.kind == "marker" and sheet.drag.by:
        moved = (sheet.drag.marker, sheet.drag.marker + sheet.drag.by)
        shown = tuple(replace(one, frame=moved[1]) if one.frame == moved[0] else one for one in shown)
    _draw_flags(sheet.pen, tuple(sorted(shown)), sheet.x, sheet.area.y + sheet.pen.px(_STRIP), sheet.bottom)


def _fill(sheet: Sheet, left: float, top: float, right: float, bottom: float, colour: str, alpha: float = 1.0) -> None:
    sheet.pen.draw.add_rect_filled((left, top), (right, bottom), sheet.pen.ink(colour, alpha))


def _draw_numbers(sheet: Sheet) -> None:
    pen, area = sheet.pen, sheet.area
    strip = min(pen.px(_STRIP), area.h)
    last = sheet.ui.controller.playback.frames - 1
    step = number_step(pen.px(_NUMBER_SPACING) / sheet.per_frame)
    minor = max(step // 5, 1)
    y = pen.middle(area.y, strip, SMALL)
    low = max(0, int(sheet.frame(area.x)) // minor * minor)
    high = min(int(sheet.frame(sheet.right)) + 1, last if sheet.view.span <= last + 1 else 10**9)
    for frame in range(low, high + 1, minor):
        x = float(round(sheet.x(frame)))
        if frame % step:
            pen.upright(x, area.y + strip - pen.px(4), area.y + strip)
        else:
            pen.small(x - pen.width(str(frame), SMALL) / 2.0, y, str(frame))
    pen.rule(area.x, sheet.right, area.y + strip)


def _draw_range(sheet: Sheet) -> None:
    """Shade the frames that are not played, with a bracket at each end of the range."""
    area, ends = sheet.area, tuple(map(sheet.x, sheet.range()))
    left, right = max(ends[0], area.x), min(ends[1], sheet.right)
    if left > area.x:
        _fill(sheet, area.x, area.y, min(left, sheet.right), sheet.bottom, "panel", 0.6)
    if right < sheet.right:
        _fill(sheet, max(right, area.x), area.y, sheet.right, sheet.bottom, "panel", 0.6)
    for x, place, way in zip(ends, sheet.brackets(), (-1.0, 1.0), strict=True):
        if area.x <= x <= sheet.right:
            _draw_bracket(sheet, place, way, "text" if sheet.range_dragged() else "text3")


def _draw_bracket(sheet: Sheet, x: float, way: float, colour: str) -> None:
    """``[`` or ``]``, as tall as the rows of keys."""
    pen, area = sheet.pen, sheet.area
    top, bottom = area.y + min(sheet.strip, area.h) + pen.px(4), sheet.bottom - pen.px(4)
    if bottom - top < pen.px(8):
        return
    thick, foot, x = max(1.0, pen.px(1.5)), pen.px(4), float(round(x))
    start = x - foot if way > 0.0 else x
    _fill(sheet, x, top, x + thick, bottom, colour)
    for y in (top, bottom - thick):
        _fill(sheet, start, y, start + foot + thick, y + thick, colour)


def _draw_playhead(sheet: Sheet) -> None:
    """The current frame: a line with its number at the top."""
    pen, area = sheet.pen, sheet.area
    x, words = sheet.x(sheet.ui.session.document.frame), str(sheet.ui.session.document.frame)
    if not area.x <= x <= sheet.right:
        return
    colour = "record" if sheet.ui.session.recorder.recording else "accent"
    number = pen.width(words, SMALL, bold=True)
    wide = number + pen.px(12)
    left = min(max(x - wide / 2.0, area.x), sheet.right - wide)
    half = max(pen.px(1.5), 1.0) / 2.0
    _fill(sheet, x - half, area.y, x + half, sheet.bottom, colour)
    top, h = area.y + pen.px(1), min(pen.px(_STRIP), area.h) - pen.px(3)
    pen.box(left, top, wide, h, colour, rounding=3)
    pen.strong(left + (wide - number) / 2.0, pen.middle(top, h, SMALL), words, "on_accent", SMALL)


def _draw_names(sheet: Sheet, x: float, count: int) -> None:
    """The column of names, with how many of all rows are in view."""
    pen, chosen = sheet.pen, {item.name for item in sheet.ui.session.document.selection}
    for row, y, h in sheet.rows:
        colour = "text" if row.joint < 0 or row.name in chosen else "text2"
        words = pen.fit(row.name, pen.px(_NAMES) - pen.px(16), SMALL)
        if row.joint >= 0:
            pen.box(x + pen.px(1), y + pen.px(4), pen.px(3), h - pen.px(8), _tone(sheet, row), rounding=1)
        pen.text(x + pen.px(8), pen.middle(y, h, SMALL), words, colour, SMALL)
    if len(sheet.rows) < count:
        top = pen.middle(sheet.area.y, pen.px(_STRIP), SMALL)
        pen.small(x + pen.px(8), top, f"{len(sheet.rows) - 1} of {count - 1}")


def _tone(sheet: Sheet, row: Row) -> str:
    """The colour of a row's keys: that of the bones on the same side of the body."""
    if row.joint < 0:
        return "text"
    return SIDES[int(look_of(sheet.ui.session.document.skeleton).sides[row.joint])]


def _draw_lanes(sheet: Sheet) -> None:
    """A line from the first to the last key of each row; every other row is lighter."""
    for index, (row, y, h) in enumerate(sheet.rows):
        if len(sheet.rows) > 1 and index % 2 == 0:
            _fill(sheet, sheet.area.x, y, sheet.right, y + h, "panel", 0.7)
        left = max(sheet.x(int(row.frames[0])), sheet.area.x)
        right = min(sheet.x(int(row.frames[-1])), sheet.right)
        if left < right:
            middle = round(y + h / 2.0)
            _fill(sheet, left, middle - 0.5, right, middle + 0.5, "line_hi")


def _draw_keys(sheet: Sheet, placed: _PlacedRow) -> None:
    """The keys of a row; dragged ones at their new frames."""
    row, drag, middle = placed.row, sheet.drag, placed.y + placed.h / 2.0
    chosen = sheet.ui.controller.keying.frames_of(row.joint)
    moving = drag.kind == "keys" and drag.by != 0
    stays = not moving or imgui.get_io().key_ctrl  # Ctrl copies
    hovered = sheet.ui.memory.get("hovered key")
    near = hovered[1] if hovered is not None and hovered[0] == row.joint else None
    tone = _tone(sheet, row)
    for first, last in _bands(sheet, row):
        if last > first:
            _draw_band(sheet, row.frames[first : last + 1], middle, chosen)
            continue
        frame = int(row.frames[first])
        selected = frame in chosen
        if stays or not selected:
            colour = "accent" if selected else "hovered" if frame == near and not drag.kind else tone
            _draw_key(sheet, sheet.x(frame), middle, colour, step=bool(row.steps[first]))
    if moving:
        moved = row._replace(frames=np.array(sorted(chosen), dtype=np.intp) + drag.by)
        for first, last in _bands(sheet, moved):
            if last > first:
                _draw_band(sheet, moved.frames[first : last + 1], middle, frozenset())
            else:
                _draw_key(sheet, sheet.x(int(moved.frames[first])), middle, "hovered", step=False)


def _bands(sheet: Sheet, row: Row) -> list[tuple[int, int]]:
    """(first, last) index of each group of visible keys that are too close together to be drawn one by one."""
    reach = sheet.pen.px(20) / sheet.per_frame
    low = int(np.searchsorted(row.frames, sheet.view.start - reach))
    high = int(np.searchsorted(row.frames, sheet.view.start + sheet.view.span + reach, "right"))
    if low == high:
        return []
    close = np.diff(row.frames[low:high]) * sheet.per_frame < sheet.pen.px(_BAND_BELOW)
    starts = np.flatnonzero(~np.concatenate([[False], close]))
    ends = np.append(starts[1:] - 1, high - low - 1)
    return [(low + int(start), low + int(end)) for start, end in zip(starts, ends, strict=True)]


def _draw_band(sheet: Sheet, frames: Ints, y: float, chosen: frozenset[int]) -> None:
    """Keys on successive frames, as in a recording, drawn as one band; the selected part in the accent colour."""
    pen, half = sheet.pen, sheet.pen.px(3)
    left, right = sheet.x(int(frames[0])), sheet.x(int(frames[-1]))
    pen.box(left - half, y - half, right - left + 2.0 * half, 2.0 * half, "text2", rounding=3)
    lit = np.isin(frames, list(chosen)) if chosen else np.zeros(len(frames), dtype=np.bool_)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lit, [False]]).astype(np.int8)))
    for first, after in edges.reshape(-1, 2).tolist():
        start, end = sheet.x(int(frames[first])), sheet.x(int(frames[after - 1]))
        pen.box(start - half, y - half, end - start + 2.0 * half, 2.0 * half, "accent", rounding=3)


def _draw_key(sheet: Sheet, x: float, y: float, colour: str, *, step: bool) -> None:
    """A diamond, or a square where the pose is held until the next key; a dark rim separates it from lines."""
    half, rim = _KEY_SIZE * sheet.pen.scale, max(1.0, sheet.pen.px(1.0))
    for size, name in ((half + rim, "app"), (half, colour)):
        side = 0.8 * size
        square = [(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)]
        diamond = [(x, y - size), (x + size, y), (x, y + size), (x - size, y)]
        sheet.pen.shape(square if step else diamond, name)


def _draw_no_keys(sheet: Sheet) -> None:
    """A hint in place of keys, in the first gap between playhead and brackets that is wide enough."""
    pen, area = sheet.pen, sheet.area
    strip, inset = sheet.strip, pen.px(_INSET)
    if area.h - strip < pen.px(14):
        return
    # A moving playhead would move the hint, so it counts only at rest.
    stops = {area.x, sheet.right, *sheet.brackets()}
    if not (sheet.ui.session.clock.playing or sheet.ui.session.recorder.recording):
        stops.add(sheet.x(sheet.ui.session.document.frame))
    ends = sorted(x for x in stops if area.x <= x <= sheet.right)
    wide = pen.width(NO_KEYS, SMALL) + 2.0 * inset
    left, right = max(pairwise(ends), key=lambda room: min(room[1] - room[0], wide))
    words = pen.fit(NO_KEYS, right - left - 2.0 * inset, SMALL)
    pen.small(left + inset, pen.middle(area.y + strip, area.h - strip, SMALL), words, "text2")


def _draw_box(sheet: Sheet) -> None:
    at, start = imgui.get_mouse_pos(), sheet.drag.start
    _fill(sheet, *start, at.x, at.y, "accent", 0.12)
    (x0, x1), (y0, y1) = sorted((start[0], at.x)), sorted((start[1], at.y))
    sheet.pen.frame(x0, y0, x1 - x0, y1 - y0, "accent", rounding=0)


_LANE = 17.0
"""Height of the lane of markers below the frame numbers, logical pixels."""
_FLAG, _INDENT, _APART = 4.5, 8.0, 6.0
"""Half a flag's width, where its name begins, and least space between a name and the next flag."""
_MARKER_MENU = "marker menu"


def _lane_height(ui: PanelContext) -> float:
    """Logical pixels that the lane takes: none without markers."""
    return _LANE if ui.session.document.markers else 0.0


def _draw_flags(pen: Pen, markers: tuple[Marker, ...], x: Callable[[float], float], top: float, bottom: float) -> None:
    """Draw flags with names in a lane from ``top``, and thin lines down to ``bottom``; framebuffer pixels."""
    places = [x(marker.frame) for marker in markers]
    lane, half, line, thick = pen.px(_LANE), pen.px(_FLAG), pen.ink("warn", 0.35), max(1.0, pen.px(1))
    for index, (marker, at) in enumerate(zip(markers, places, strict=True)):
        pen.draw.add_rect_filled((round(at), top + lane), (round(at) + thick, bottom), line)
        y, left, right = top + 0.5 * lane, at - half, at + half
        pen.shape([(left, y - half), (right, y - half), (right, y), (at, y + half), (left, y)], "warn")
        room = (places[index + 1] if index + 1 < len(places) else float("inf")) - at - pen.px(_INDENT + _APART)
        words = pen.fit(marker.name, room, SMALL) if room < pen.width(marker.name, SMALL) else marker.name
        pen.text(at + pen.px(_INDENT), pen.middle(top, lane, SMALL), words, "text2", SMALL)
