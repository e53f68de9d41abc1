"""The timeline's keys and the frame numbers above them: how they are drawn, what the mouse does, the menu of a key."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import run
from viewer.app.widgets.edits import THRESHOLD, act, attempt
from viewer.app.widgets.pen import Area, Pen, item
from viewer.document.actions import SetRange, SimplifyKeys
from viewer.document.take import MOST_FRAMES, Blend, Key
from viewer.spatial.checks import Ints
from viewer.ui.commands import BY_ID
from viewer.ui.timeline import Row, TimeView, keys_in, last_frame, played_range, rows_of

INSET = 14.0
"""Logical pixels between the ends of the area and the first and last frame."""
STRIP = 22.0
"""Height of the strip of numbers, logical pixels."""
_NUMBERS_APART = 46.0
"""Logical pixels between two numbers at least."""
_ASIDE = 9.0
"""Logical pixels outside the range at which its brackets stand: clear of keys at its ends."""


class Axis(NamedTuple):
    """Where frames are: framebuffer pixels.

    Attributes:
        left: of the frame ``start``.
        width: of all that is shown.
        start: frame at the left end.
        span: frames to the right end.
    """

    left: float
    width: float
    start: float
    span: float

    @property
    def per_frame(self) -> float:
        """Pixels of a frame."""
        return self.width / self.span

    def x(self, frame: float) -> float:
        """Where a frame is."""
        return self.left + (frame - self.start) * self.per_frame

    def frame(self, x: float) -> float:
        """What frame is there."""
        return self.start + (x - self.left) / self.per_frame


def axis_of(pen: Pen, view: TimeView, x: float, w: float) -> Axis:
    """The axis in a area that starts at x and is so wide."""
    inset = pen.px(INSET)
    return Axis(x + inset, max(w - 2.0 * inset, 1.0), view.start, view.span)


def draw_strip(ui: PanelContext, pen: Pen, area: Area, axis: Axis) -> None:
    """Numbers and ticks at the top of a area, what is outside the range darkened, handles at the range's ends."""
    strip = min(pen.px(STRIP), area.h)
    last = ui.controller.playback.frames - 1
    step = number_step(pen.px(_NUMBERS_APART) / axis.per_frame)
    minor = max(step // 5, 1)
    y = pen.middle(area.y, strip, SMALL)
    low = max(0, int(axis.frame(area.x)) // minor * minor)
    high = min(int(axis.frame(area.x + area.w)) + 1, last if axis.span <= last + 1 else 10**9)
    for frame in range(low, high + 1, minor):
        x = float(round(axis.x(frame)))
        if frame % step:
            pen.upright(x, area.y + strip - pen.px(4), area.y + strip)
        else:
            words = str(frame)
            pen.small(x - pen.width(words, SMALL) / 2.0, y, words)
    pen.rule(area.x, area.x + area.w, area.y + strip)


def draw_range(ui: PanelContext, pen: Pen, area: Area, axis: Axis, ends: tuple[int, int] | None = None) -> None:
    """Shade what is not played, with a bracket at each end of what is; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    left, right = max(axis.x(first), area.x), min(axis.x(last), area.x + area.w)
    shade = pen.ink("panel", 0.6)
    if left > area.x:
        pen.draw.add_rect_filled((area.x, area.y), (min(left, area.x + area.w), area.y + area.h), shade)
    if right < area.x + area.w:
        pen.draw.add_rect_filled((max(right, area.x), area.y), (area.x + area.w, area.y + area.h), shade)
    places = range_places(ui, pen, axis, ends)
    for x, place, way in zip((axis.x(first), axis.x(last)), places, (-1.0, 1.0), strict=True):
        if area.x <= x <= area.x + area.w:
            _bracket(pen, area, place, way, "text" if ends else "text3")


def range_places(ui: PanelContext, pen: Pen, axis: Axis, ends: tuple[int, int] | None = None) -> tuple[float, float]:
    """Where the brackets of the range stand; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    return axis.x(first) - pen.px(_ASIDE), axis.x(last) + pen.px(_ASIDE)


def _bracket(pen: Pen, area: Area, x: float, way: float, colour: str) -> None:
    """``[`` or ``]``, as tall as the rows of keys."""
    top, bottom = area.y + min(pen.px(STRIP), area.h) + pen.px(4), area.y + area.h - pen.px(4)
    if bottom - top < pen.px(8):
        return
    thick, foot = max(1.0, pen.px(1.5)), pen.px(4)
    x = float(round(x))
    start = x - foot if way > 0.0 else x
    pen.draw.add_rect_filled((x, top), (x + thick, bottom), pen.ink(colour))
    for y in (top, bottom - thick):
        pen.draw.add_rect_filled((start, y), (start + foot + thick, y + thick), pen.ink(colour))


def range_end_at(ui: PanelContext, pen: Pen, area: Area, axis: Axis, place: tuple[float, float]) -> str:
    """The bracket of the range that is at a pixel: "first", "last" or ""."""
    x, y = place
    if y < area.y + pen.px(STRIP):
        return ""
    first, last = played_range(ui.session.document)
    near = pen.px(_ASIDE - 6), pen.px(_ASIDE + 6)
    if near[0] <= axis.x(first) - x <= near[1]:
        return "first"
    return "last" if near[0] <= x - axis.x(last) <= near[1] else ""


def number_step(frames: float) -> int:
    """The least of 1, 2, 5, 10, 20, ... that is not below so many frames."""
    step, power = 1, 1
    while step < frames:
        step = next((power * part for part in (1, 2, 5) if power * part >= frames), power * 10)
        power *= 10
    return step


def draw_playhead(ui: PanelContext, pen: Pen, area: Area, axis: Axis) -> None:
    """The frame that is shown: a line with its number at the top."""
    frame = ui.session.document.frame
    x = axis.x(frame)
    if not area.x <= x <= area.x + area.w:
        return
    colour = "record" if ui.session.recording else "accent"
    words = str(frame)
    wide = pen.width(words, SMALL, bold=True) + pen.px(12)
    left = min(max(x - wide / 2.0, area.x), area.x + area.w - wide)
    half = max(pen.px(1.5), 1.0) / 2.0
    pen.draw.add_rect_filled((x - half, area.y), (x + half, area.y + area.h), pen.ink(colour))
    h = min(pen.px(STRIP), area.h) - pen.px(3)
    pen.box(left, area.y + pen.px(1), wide, h, colour, rounding=3)
    inset = (wide - pen.width(words, SMALL, bold=True)) / 2.0
    pen.strong(left + inset, pen.middle(area.y + pen.px(1), h, SMALL), words, "on_accent", SMALL)


__all__ = [
    "Axis", "axis_of", "draw_playhead", "draw_range", "draw_strip", "number_step", "range_end_at", "range_places",
]  # fmt: skip


_REACH = 7.0
"""Logical pixels beside a key at which it is still hit."""


class PlacedRow(NamedTuple):
    """A row and where it is.

    Attributes:
        row: of keys.
        y: its top, framebuffer pixels.
        h: its height.
    """

    row: Row
    y: float
    h: float


def key_at(pen: Pen, axis: Axis, rows: list[PlacedRow], place: tuple[float, float]) -> tuple[Row, int] | None:
    """The row and frame of the key at a pixel."""
    x, y = place
    for row, top, h in rows:
        if top <= y < top + h and row.frames.size:
            nearest = int(row.frames[np.argmin(np.abs(row.frames - axis.frame(x)))])
            return (row, nearest) if abs(axis.x(nearest) - x) <= pen.px(_REACH) else None
    return None


def scrub(ui: PanelContext, frame: int) -> None:
    """Show a frame, the nearest that there is."""
    frame = min(max(frame, 0), ui.controller.playback.frames - 1)
    if frame != ui.session.document.frame or ui.session.playing:
        attempt(ui, lambda: ui.controller.playback.go(frame))
        ui.wake()


@dataclass(slots=True)
class PointerDrag:
    """What is held on the timeline.

    Attributes:
        kind: "scrub", "keys", "box", "first", "last", "pan" or "" for nothing.
        start: where it was pressed, framebuffer pixels.
        moved: it has gone farther than a click.
        by: frames that keys have been moved by.
        pressed_key: (row, frame) of the key that was pressed.
        before: keys that were selected before a box.
        seen: the frame of the view at the last look, for panning.
    """

    kind: str = ""
    start: tuple[float, float] = (0.0, 0.0)
    moved: bool = False
    by: int = 0
    pressed_key: tuple[Row, int] | None = None
    before: frozenset[Key] = field(default_factory=frozenset)
    seen: float = 0.0

    def ends(self, ui: PanelContext) -> tuple[int, int] | None:
        """The range as it is being dragged, or None."""
        if self.kind not in {"first", "last"} or not self.moved:
            return None
        first, last = played_range(ui.session.document)
        most = last_frame(ui.session.document) if ui.session.document.clip else MOST_FRAMES - 1
        if self.kind == "first":
            return min(max(first + self.by, 0), last), last
        return first, min(max(last + self.by, first), most)


def use(ui: PanelContext, pen: Pen, area: Area, axis: Axis, rows: list[PlacedRow]) -> PointerDrag:
    """Answer the mouse over the timeline; returns what is held."""
    drag: PointerDrag = ui.memory.setdefault("drag", PointerDrag())
    place = imgui.get_mouse_pos()
    x, y = place.x, place.y
    if area.hovered:
        _wheel(ui, axis, x)
    pressed = imgui.is_item_activated() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    if pressed or (area.hovered and imgui.is_mouse_clicked(imgui.MouseButton_.middle)):
        ui.memory["drag"] = drag = _press(ui, pen, area, axis, rows, (x, y))
    if drag.kind:
        _drag_on(ui, axis, rows, drag)
    elif area.hovered:
        _hover(pen, axis, rows, (x, y), ui, area)
    return drag


def _press(
    ui: PanelContext, pen: Pen, area: Area, axis: Axis, rows: list[PlacedRow], place: tuple[float, float]
) -> PointerDrag:
    """What a press takes hold of."""
    if imgui.is_mouse_down(imgui.MouseButton_.middle):
        return PointerDrag("pan", place, seen=place[0])
    end = range_end_at(ui, pen, area, axis, place)
    if end:
        return PointerDrag(end, place)
    pressed_key = key_at(pen, axis, rows, place)
    if pressed_key is not None:
        _select_key(ui, pressed_key)
        return PointerDrag("keys", place, pressed_key=pressed_key)
    if place[1] < area.y + pen.px(STRIP) or not rows:
        return PointerDrag("scrub", place)
    return PointerDrag("box", place, before=ui.controller.keying.selected if imgui.get_io().key_shift else frozenset())


def _select_key(ui: PanelContext, pressed_key: tuple[Row, int]) -> None:
    """Select a key, unless it is selected already; with Shift besides the others, or no longer."""
    keying, (row, frame) = ui.controller.keying, pressed_key
    keys = frozenset(keys_in(ui.session.document, row, frame, frame))
    if imgui.get_io().key_shift:
        keying.select(keying.selected - keys if keys <= keying.selected else keying.selected | keys)
    elif not keys & keying.selected:
        keying.select(keys)
    ui.wake()


def _drag_on(ui: PanelContext, axis: Axis, rows: list[PlacedRow], drag: PointerDrag) -> None:
    place = imgui.get_mouse_pos()
    across, down = place.x - drag.start[0], place.y - drag.start[1]
    drag.moved = drag.moved or max(abs(across), abs(down)) > THRESHOLD * ui.scale
    panning = drag.kind == "pan"
    button = imgui.MouseButton_.middle if panning else imgui.MouseButton_.left
    if imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
        _cancel(ui, drag)
        return
    if drag.kind == "scrub" and imgui.is_mouse_down(button):
        scrub(ui, round(axis.frame(place.x)))
    elif panning:
        ui.controller.keying.time_view.pan((drag.seen - place.x) / axis.per_frame)
        drag.seen = place.x
    elif drag.moved:
        drag.by = round(across / axis.per_frame)
        if drag.kind == "keys":
            drag.by = ui.controller.keying.within(drag.by)
        elif drag.kind == "box":
            _select_in_box(ui, axis, rows, drag)
    ui.wake()
    if not imgui.is_mouse_down(button):
        _release(ui, drag)


def _cancel(ui: PanelContext, drag: PointerDrag) -> None:
    if drag.kind == "box":
        ui.controller.keying.select(drag.before)
    imgui.internal.clear_active_id()
    ui.memory["drag"] = PointerDrag()
    ui.wake()


def _release(ui: PanelContext, drag: PointerDrag) -> None:
    """What a press has come to."""
    keying, io = ui.controller.keying, imgui.get_io()
    ends = drag.ends(ui)
    if drag.kind == "keys" and drag.by:
        attempt(ui, lambda: keying.shift(drag.by, copy=io.key_ctrl))
    elif drag.kind == "keys" and drag.pressed_key is not None and not drag.moved and not io.key_shift:
        row, frame = drag.pressed_key
        keying.select(keys_in(ui.session.document, row, frame, frame))
    elif drag.kind == "box" and not drag.moved:
        keying.select(drag.before)
    elif ends is not None:
        act(ui, SetRange(*ends))
    ui.memory["drag"] = PointerDrag()


def _select_in_box(ui: PanelContext, axis: Axis, rows: list[PlacedRow], drag: PointerDrag) -> None:
    """Select the keys in the box."""
    place, document = imgui.get_mouse_pos(), ui.session.document
    low, high = sorted((axis.frame(drag.start[0]), axis.frame(place.x)))
    top, bottom = sorted((drag.start[1], place.y))
    found = set(drag.before)
    for row, y, h in rows:
        if top <= y + h and y <= bottom:
            found |= set(keys_in(document, row, low, high))
    if found != ui.controller.keying.selected:
        ui.controller.keying.select(found)


def _hover(
    pen: Pen, axis: Axis, rows: list[PlacedRow], place: tuple[float, float], ui: PanelContext, area: Area
) -> None:
    """The pointer's shape, and what there is to say about what is under it."""
    pressed_key = key_at(pen, axis, rows, place)
    if range_end_at(ui, pen, area, axis, place):
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    elif pressed_key is not None:
        imgui.set_mouse_cursor(imgui.MouseCursor_.drag)
        row, frame = pressed_key
        count = len(keys_in(ui.session.document, row, frame, frame))
        what = row.name if row.joint >= 0 else f"{count} joint{'s' if count != 1 else ''}"
        imgui.set_item_tooltip(f"Frame {frame} · {what}")
    pointed = None if pressed_key is None else (pressed_key[0].joint, pressed_key[1])
    if pointed != ui.memory.get("pointed key"):
        ui.memory["pointed key"] = pointed
        ui.wake()


def _wheel(ui: PanelContext, axis: Axis, x: float) -> None:
    io, view = imgui.get_io(), ui.controller.keying.time_view
    notches = io.mouse_wheel + (io.mouse_wheel_h if io.key_shift else 0.0)
    if not notches:
        return
    if io.key_shift:
        view.pan(-0.12 * notches * axis.span)
    else:
        view.zoom(notches, axis.frame(x))
    ui.wake()


BLENDS = {Blend.STEP: "Step", Blend.LINEAR: "Linear (slerp)", Blend.SMOOTH: "Smooth"}
"""What runs of keys are called."""
_MENU = "key menu"
_SIMPLER = 0.5
"""Degrees by which simplifying may turn a joint otherwise."""


def open_menu(ui: PanelContext, pen: Pen, axis: Axis, placed: list[PlacedRow]) -> None:
    """Open it at the pointer; a key under it is selected first."""
    place = imgui.get_mouse_pos()
    pressed_key, keying = key_at(pen, axis, placed, (place.x, place.y)), ui.controller.keying
    if pressed_key is not None:
        keys = keys_in(ui.session.document, pressed_key[0], pressed_key[1], pressed_key[1])
        if not keying.selected & set(keys):
            keying.select(keys)
    imgui.open_popup(_MENU)


def draw_menu(ui: PanelContext) -> None:
    """Draw it while it is open."""
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(8), ui.px(8)))
    if imgui.begin_popup(_MENU):
        keying = ui.controller.keying
        blend_entries(ui)
        imgui.separator()
        _command(ui, "key.duplicate")
        _command(ui, "pose.copy", "Copy keys" if keying.selected else "")
        _command(ui, "pose.paste", "Paste")
        if imgui.menu_item_simple("Delete keys", BY_ID["goal.remove"].shortcut, False, bool(keying.selected)):
            attempt(ui, keying.delete)
            ui.wake()
        imgui.separator()
        if imgui.menu_item_simple("Select all keys", None, False, keying.take is not None):
            keying.select_all()
            ui.wake()
        if imgui.menu_item_simple("Simplify keys", None, False, keying.take is not None):
            act(ui, SimplifyKeys(ui.controller.view.preferences.record_tolerance_deg or _SIMPLER))
        if imgui.menu_item_simple("Show all frames"):
            keying.time_view.fit()
            ui.wake()
        imgui.end_popup()
    imgui.pop_style_var()


def blend_entries(ui: PanelContext) -> None:
    """How the stretches after the selected keys run."""
    keying = ui.controller.keying
    there = keying.blends()
    for blend, words in BLENDS.items():
        if imgui.menu_item_simple(words, None, there == {blend}, bool(keying.selected)):
            attempt(ui, lambda blend=blend: keying.set_blend(blend))  # type: ignore[misc]  # bound now
            ui.wake()


def _command(ui: PanelContext, command: str, words: str = "") -> None:
    row = BY_ID[command]
    if imgui.menu_item_simple(words or row.title, row.shortcut, False, ui.controller.can(command)):
        run(ui, command)


NO_KEYS = "S sets a key at this frame. Shift+R records while you drag"

_ROW, _NAMES = 20.0, 112.0
"""Height of a row, width of the column of names, logical pixels."""
_LARGE, _APART = 5.5, 7.0
"""Half the diagonal of a key; nearer to each other than this keys are drawn as one band. Logical pixels."""


def draw_sheet(ui: PanelContext) -> None:
    """Draw the area as large as the room that is left, and answer the mouse on it."""
    pen, view = Pen(ui), ui.controller.keying.time_view
    room = imgui.get_content_region_avail()
    if room.y < pen.px(16):
        return
    rows = _rows(ui)
    fits = int((room.y - pen.px(STRIP)) // pen.px(_ROW))
    tall = fits > 1 and len(rows) > 1
    left = pen.px(_NAMES) if tall else 0.0
    corner = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((corner.x + left, corner.y))
    area = item("ruler", room.x - left, room.y, right_too=True)
    view.total = ui.controller.playback.frames
    if ui.session.recording or ui.session.playing:
        view.follow(ui.session.document.frame)
    axis = axis_of(pen, view, area.x, area.w)
    pen.box(corner.x, corner.y, room.x, room.y, "app")
    placed = _placed(pen, area, rows, fits if tall else 1, _scrolled(ui, len(rows) - fits) if tall else 0)
    if tall:
        _names(ui, pen, corner.x, left, placed, len(rows))
    drag = use(ui, pen, area, axis, placed)
    pen.draw.push_clip_rect((area.x, area.y), (area.x + area.w, area.y + area.h), True)
    _lanes(pen, area, axis, placed)
    if not placed:
        _no_keys(ui, pen, area, axis, drag)
    draw_range(ui, pen, area, axis, drag.ends(ui))
    draw_strip(ui, pen, area, axis)
    draw_playhead(ui, pen, area, axis)
    for one in placed:
        _keys(ui, pen, axis, one, drag)
    if drag.kind == "box" and drag.moved:
        _box(pen, drag)
    pen.draw.pop_clip_rect()
    if area.hovered and imgui.is_mouse_released(imgui.MouseButton_.right):
        open_menu(ui, pen, axis, placed)
    draw_menu(ui)


def _rows(ui: PanelContext) -> tuple[Row, ...]:
    """Of the take; kept until it or the selection changes."""
    document = ui.session.document
    key = (document.take.version if document.take else 0, document.selection, document.skeleton)
    kept = ui.memory.get("rows")
    if kept is None or kept[0][:2] != key[:2] or kept[0][2] is not key[2]:
        ui.memory["rows"] = kept = (key, rows_of(document))
    found: tuple[Row, ...] = kept[1]
    return found


def _scrolled(ui: PanelContext, hidden: int) -> int:
    """How many single rows are scrolled away: with Ctrl and the wheel."""
    io, now = imgui.get_io(), ui.memory.get("scrolled", 0)
    if imgui.is_window_hovered() and io.key_ctrl and io.mouse_wheel:
        now -= round(io.mouse_wheel)
    ui.memory["scrolled"] = now = min(max(now, 0), max(hidden, 0))
    return int(now)


def _placed(pen: Pen, area: Area, rows: tuple[Row, ...], fits: int, scrolled: int) -> list[PlacedRow]:
    """The row of all first, then as many others as there is room for."""
    if not rows:
        return []
    top = area.y + pen.px(STRIP) + 1.0
    if fits <= 1:
        return [PlacedRow(rows[0], top, max(area.h - pen.px(STRIP) - 1.0, 1.0))]
    shown = (rows[0], *rows[1 + scrolled : fits + scrolled])
    high = pen.px(_ROW)
    return [PlacedRow(row, top + index * high, high) for index, row in enumerate(shown)]


def _names(ui: PanelContext, pen: Pen, x: float, wide: float, placed: list[PlacedRow], count: int) -> None:
    chosen = {item.name for item in ui.session.document.selection}
    for row, y, h in placed:
        colour = "text" if row.joint < 0 or row.name in chosen else "text2"
        words = pen.fit(row.name, wide - pen.px(16), SMALL)
        pen.text(x + pen.px(8), pen.middle(y, h, SMALL), words, colour, SMALL)
    if len(placed) < count:
        words = f"{len(placed) - 1} of {count - 1}"
        pen.small(x + pen.px(8), pen.middle(placed[0].y - pen.px(STRIP), pen.px(STRIP), SMALL), words)


def _lanes(pen: Pen, area: Area, axis: Axis, placed: list[PlacedRow]) -> None:
    """A line for the keys of each row to stand on, as long as they reach; every other row a little lighter."""
    for index, (row, y, h) in enumerate(placed):
        if len(placed) > 1 and index % 2 == 0:
            pen.draw.add_rect_filled((area.x, y), (area.x + area.w, y + h), pen.ink("panel", 0.7))
        ends = axis.x(int(row.frames[0])), axis.x(int(row.frames[-1]))
        left, right = max(ends[0], area.x), min(ends[1], area.x + area.w)
        if left < right:
            middle = round(y + h / 2.0)
            pen.draw.add_rect_filled((left, middle - 0.5), (right, middle + 0.5), pen.ink("line_hi"))


def _keys(ui: PanelContext, pen: Pen, axis: Axis, placed: PlacedRow, drag: PointerDrag) -> None:
    row, y, h = placed
    chosen = ui.controller.keying.frames_of(row.joint)
    moving = drag.kind == "keys" and drag.by != 0
    copying = moving and imgui.get_io().key_ctrl
    pointed = ui.memory.get("pointed key")
    near = pointed[1] if pointed is not None and pointed[0] == row.joint else None
    middle = y + h / 2.0
    for place, end in _seen(pen, axis, row):
        if end > place:
            _key_band(pen, axis, row.frames[place : end + 1], middle, chosen)
            continue
        frame = int(row.frames[place])
        lit = frame in chosen
        if lit and moving and not copying:
            continue
        colour = "accent" if lit else "hovered" if frame == near and not drag.kind else "text"
        _key(pen, axis.x(frame), middle, _LARGE * pen.scale, colour, step=bool(row.steps[place]))
    if moving:
        moved = row._replace(frames=np.array(sorted(chosen), dtype=np.intp) + drag.by)
        for place, end in _seen(pen, axis, moved):
            if end > place:
                _key_band(pen, axis, moved.frames[place : end + 1], middle, frozenset())
            else:
                _key(pen, axis.x(int(moved.frames[place])), middle, _LARGE * pen.scale, "hovered", step=False)


def _seen(pen: Pen, axis: Axis, row: Row) -> list[tuple[int, int]]:
    """Places in the row of the keys in view: first and last of each run that stands too close for single ones."""
    reach = pen.px(20) / axis.per_frame
    low = int(np.searchsorted(row.frames, axis.start - reach))
    high = int(np.searchsorted(row.frames, axis.start + axis.span + reach, "right"))
    if low == high:
        return []
    close = np.diff(row.frames[low:high]) * axis.per_frame < pen.px(_APART)
    starts = np.flatnonzero(~np.concatenate([[False], close]))
    ends = np.append(starts[1:] - 1, high - low - 1)
    return [(low + int(start), low + int(end)) for start, end in zip(starts, ends, strict=True)]


def _key_band(pen: Pen, axis: Axis, frames: Ints, y: float, chosen: frozenset[int]) -> None:
    """Keys on end, as a recording leaves them: a band, what is selected of it lit."""
    half = pen.px(3)
    left, right = axis.x(int(frames[0])), axis.x(int(frames[-1]))
    pen.box(left - half, y - half, right - left + 2.0 * half, 2.0 * half, "text2", rounding=3)
    lit = np.isin(frames, list(chosen)) if chosen else np.zeros(len(frames), dtype=np.bool_)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], lit, [False]]).astype(np.int8)))
    for first, after in edges.reshape(-1, 2).tolist():
        start, end = axis.x(int(frames[first])), axis.x(int(frames[after - 1]))
        pen.box(start - half, y - half, end - start + 2.0 * half, 2.0 * half, "accent", rounding=3)


def _key(pen: Pen, x: float, y: float, half: float, colour: str, *, step: bool) -> None:
    """A diamond; a square where the pose stays until the next key. A dark rim keeps it clear of lines."""
    rim = max(1.0, pen.px(1.0))
    for size, name in ((half + rim, "app"), (half, colour)):
        if step:
            side = 0.8 * size
            pen.shape([(x - side, y - side), (x + side, y - side), (x + side, y + side), (x - side, y + side)], name)
        else:
            pen.shape([(x, y - size), (x + size, y), (x, y + size), (x - size, y)], name)


def _no_keys(ui: PanelContext, pen: Pen, area: Area, axis: Axis, drag: PointerDrag) -> None:
    """Where keys would be, clear of what stands there: of the first room that is wide enough, else of the widest."""
    top, strip = area.y + pen.px(STRIP), pen.px(STRIP)
    if area.h - strip < pen.px(14):
        return
    stops = {area.x, area.x + area.w, *range_places(ui, pen, axis, drag.ends(ui))}
    if not (ui.session.playing or ui.session.recording):  # else the words would get out of its way all the time
        stops.add(axis.x(ui.session.document.frame))
    ends = sorted(x for x in stops if area.x <= x <= area.x + area.w)
    wide = pen.width(NO_KEYS, SMALL) + 2.0 * pen.px(INSET)
    left, right = max(pairwise(ends), key=lambda room: min(room[1] - room[0], wide))
    words = pen.fit(NO_KEYS, right - left - 2.0 * pen.px(INSET), SMALL)
    pen.small(left + pen.px(INSET), pen.middle(top, area.h - strip, SMALL), words)


def _box(pen: Pen, drag: PointerDrag) -> None:
    place = imgui.get_mouse_pos()
    pen.draw.add_rect_filled(drag.start, (place.x, place.y), pen.ink("accent", 0.12))
    (x0, x1), (y0, y1) = sorted((drag.start[0], place.x)), sorted((drag.start[1], place.y))
    pen.frame(x0, y0, x1 - x0, y1 - y0, "accent", rounding=0)
