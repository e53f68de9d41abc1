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
"""Logical pixels between the ends of the well and the first and last frame."""
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
    """The axis in a well that starts at x and is so wide."""
    inset = pen.px(INSET)
    return Axis(x + inset, max(w - 2.0 * inset, 1.0), view.start, view.span)


def draw_strip(ui: PanelContext, pen: Pen, well: Area, axis: Axis) -> None:
    """Numbers and ticks at the top of a well, what is outside the range darkened, handles at the range's ends."""
    strip = min(pen.px(STRIP), well.h)
    last = ui.controller.playback.frames - 1
    step = number_step(pen.px(_NUMBERS_APART) / axis.per_frame)
    minor = max(step // 5, 1)
    y = pen.middle(well.y, strip, SMALL)
    low = max(0, int(axis.frame(well.x)) // minor * minor)
    high = min(int(axis.frame(well.x + well.w)) + 1, last if axis.span <= last + 1 else 10**9)
    for frame in range(low, high + 1, minor):
        x = float(round(axis.x(frame)))
        if frame % step:
            pen.upright(x, well.y + strip - pen.px(4), well.y + strip)
        else:
            words = str(frame)
            pen.small(x - pen.width(words, SMALL) / 2.0, y, words)
    pen.rule(well.x, well.x + well.w, well.y + strip)


def draw_range(ui: PanelContext, pen: Pen, well: Area, axis: Axis, ends: tuple[int, int] | None = None) -> None:
    """Shade what is not played, with a bracket at each end of what is; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    left, right = max(axis.x(first), well.x), min(axis.x(last), well.x + well.w)
    shade = pen.ink("panel", 0.6)
    if left > well.x:
        pen.draw.add_rect_filled((well.x, well.y), (min(left, well.x + well.w), well.y + well.h), shade)
    if right < well.x + well.w:
        pen.draw.add_rect_filled((max(right, well.x), well.y), (well.x + well.w, well.y + well.h), shade)
    places = range_places(ui, pen, axis, ends)
    for x, place, way in zip((axis.x(first), axis.x(last)), places, (-1.0, 1.0), strict=True):
        if well.x <= x <= well.x + well.w:
            _bracket(pen, well, place, way, "text" if ends else "text3")


def range_places(ui: PanelContext, pen: Pen, axis: Axis, ends: tuple[int, int] | None = None) -> tuple[float, float]:
    """Where the brackets of the range stand; ``ends`` while they are being dragged."""
    first, last = ends or played_range(ui.session.document)
    return axis.x(first) - pen.px(_ASIDE), axis.x(last) + pen.px(_ASIDE)


def _bracket(pen: Pen, well: Area, x: float, way: float, colour: str) -> None:
    """``[`` or ``]``, as tall as the rows of keys."""
    top, bottom = well.y + min(pen.px(STRIP), well.h) + pen.px(4), well.y + well.h - pen.px(4)
    if bottom - top < pen.px(8):
        return
    thick, foot = max(1.0, pen.px(1.5)), pen.px(4)
    x = float(round(x))
    start = x - foot if way > 0.0 else x
    pen.draw.add_rect_filled((x, top), (x + thick, bottom), pen.ink(colour))
    for y in (top, bottom - thick):
        pen.draw.add_rect_filled((start, y), (start + foot + thick, y + thick), pen.ink(colour))


def range_end_at(ui: PanelContext, pen: Pen, well: Area, axis: Axis, place: tuple[float, float]) -> str:
    """The bracket of the range that is at a pixel: "first", "last" or ""."""
    x, y = place
    if y < well.y + pen.px(STRIP):
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


def draw_playhead(ui: PanelContext, pen: Pen, well: Area, axis: Axis) -> None:
    """The frame that is shown: a line with its number at the top."""
    frame = ui.session.document.frame
    x = axis.x(frame)
    if not well.x <= x <= well.x + well.w:
        return
    colour = "record" if ui.session.recorder.recording else "accent"
    words = str(frame)
    wide = pen.width(words, SMALL, bold=True) + pen.px(12)
    left = min(max(x - wide / 2.0, well.x), well.x + well.w - wide)
    half = max(pen.px(1.5), 1.0) / 2.0
    pen.draw.add_rect_filled((x - half, well.y), (x + half, well.y + well.h), pen.ink(colour))
    h = min(pen.px(STRIP), well.h) - pen.px(3)
    pen.box(left, well.y + pen.px(1), wide, h, colour, rounding=3)
    inset = (wide - pen.width(words, SMALL, bold=True)) / 2.0
    pen.strong(left + inset, pen.middle(well.y + pen.px(1), h, SMALL), words, "on_accent", SMALL)


__all__ = [
    "Axis", "axis_of", "draw_playhead", "draw_range", "draw_strip", "number_step", "range_end_at", "range_places",
]  # fmt: skip


_REACH = 7.0
"""Logical pixels beside a key at which it is still hit."""


class Placed(NamedTuple):
    """A row and where it is.

    Attributes:
        row: of keys.
        y: its top, framebuffer pixels.
        h: its height.
    """

    row: Row
    y: float
    h: float


def key_at(pen: Pen, axis: Axis, rows: list[Placed], place: tuple[float, float]) -> tuple[Row, int] | None:
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
    if frame != ui.session.document.frame or ui.session.clock.playing:
        attempt(ui, lambda: ui.controller.playback.go(frame))
        ui.wake()


@dataclass(slots=True)
class Hand:
    """What is held on the timeline.

    Attributes:
        kind: "scrub", "keys", "box", "first", "last", "pan" or "" for nothing.
        start: where it was pressed, framebuffer pixels.
        moved: it has gone farther than a click.
        by: frames that keys have been moved by.
        grip: (row, frame) of the key that was pressed.
        before: keys that were selected before a box.
        seen: the frame of the view at the last look, for panning.
    """

    kind: str = ""
    start: tuple[float, float] = (0.0, 0.0)
    moved: bool = False
    by: int = 0
    grip: tuple[Row, int] | None = None
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


def use(ui: PanelContext, pen: Pen, well: Area, axis: Axis, rows: list[Placed]) -> Hand:
    """Answer the mouse over the timeline; returns what is held."""
    hand: Hand = ui.memory.setdefault("hand", Hand())
    place = imgui.get_mouse_pos()
    x, y = place.x, place.y
    if well.hovered:
        _wheel(ui, axis, x)
    pressed = imgui.is_item_activated() and imgui.is_mouse_clicked(imgui.MouseButton_.left)
    if pressed or (well.hovered and imgui.is_mouse_clicked(imgui.MouseButton_.middle)):
        ui.memory["hand"] = hand = _pressed(ui, pen, well, axis, rows, (x, y))
    if hand.kind:
        _held(ui, axis, rows, hand)
    elif well.hovered:
        _pointed(pen, axis, rows, (x, y), ui, well)
    return hand


def _pressed(
    ui: PanelContext, pen: Pen, well: Area, axis: Axis, rows: list[Placed], place: tuple[float, float]
) -> Hand:
    """What a press takes hold of."""
    if imgui.is_mouse_down(imgui.MouseButton_.middle):
        return Hand("pan", place, seen=place[0])
    end = range_end_at(ui, pen, well, axis, place)
    if end:
        return Hand(end, place)
    grip = key_at(pen, axis, rows, place)
    if grip is not None:
        _select_key(ui, grip)
        return Hand("keys", place, grip=grip)
    if place[1] < well.y + pen.px(STRIP) or not rows:
        return Hand("scrub", place)
    return Hand("box", place, before=ui.controller.keying.selected if imgui.get_io().key_shift else frozenset())


def _select_key(ui: PanelContext, grip: tuple[Row, int]) -> None:
    """Select a key, unless it is selected already; with Shift besides the others, or no longer."""
    keying, (row, frame) = ui.controller.keying, grip
    keys = frozenset(keys_in(ui.session.document, row, frame, frame))
    if imgui.get_io().key_shift:
        keying.select(keying.selected - keys if keys <= keying.selected else keying.selected | keys)
    elif not keys & keying.selected:
        keying.select(keys)
    ui.wake()


def _held(ui: PanelContext, axis: Axis, rows: list[Placed], hand: Hand) -> None:
    place = imgui.get_mouse_pos()
    across, down = place.x - hand.start[0], place.y - hand.start[1]
    hand.moved = hand.moved or max(abs(across), abs(down)) > THRESHOLD * ui.scale
    panning = hand.kind == "pan"
    button = imgui.MouseButton_.middle if panning else imgui.MouseButton_.left
    if imgui.is_key_pressed(imgui.Key.escape) or imgui.is_mouse_clicked(imgui.MouseButton_.right):
        _cancelled(ui, hand)
        return
    if hand.kind == "scrub" and imgui.is_mouse_down(button):
        scrub(ui, round(axis.frame(place.x)))
    elif panning:
        ui.controller.keying.time_view.pan((hand.seen - place.x) / axis.per_frame)
        hand.seen = place.x
    elif hand.moved:
        hand.by = round(across / axis.per_frame)
        if hand.kind == "keys":
            hand.by = ui.controller.keying.within(hand.by)
        elif hand.kind == "box":
            _boxed(ui, axis, rows, hand)
    ui.wake()
    if not imgui.is_mouse_down(button):
        _released(ui, hand)


def _cancelled(ui: PanelContext, hand: Hand) -> None:
    if hand.kind == "box":
        ui.controller.keying.select(hand.before)
    imgui.internal.clear_active_id()
    ui.memory["hand"] = Hand()
    ui.wake()


def _released(ui: PanelContext, hand: Hand) -> None:
    """What a press has come to."""
    keying, io = ui.controller.keying, imgui.get_io()
    ends = hand.ends(ui)
    if hand.kind == "keys" and hand.by:
        attempt(ui, lambda: keying.shift(hand.by, copy=io.key_ctrl))
    elif hand.kind == "keys" and hand.grip is not None and not hand.moved and not io.key_shift:
        row, frame = hand.grip
        keying.select(keys_in(ui.session.document, row, frame, frame))
    elif hand.kind == "box" and not hand.moved:
        keying.select(hand.before)
    elif ends is not None:
        act(ui, SetRange(*ends))
    ui.memory["hand"] = Hand()


def _boxed(ui: PanelContext, axis: Axis, rows: list[Placed], hand: Hand) -> None:
    """Select the keys in the box."""
    place, document = imgui.get_mouse_pos(), ui.session.document
    low, high = sorted((axis.frame(hand.start[0]), axis.frame(place.x)))
    top, bottom = sorted((hand.start[1], place.y))
    found = set(hand.before)
    for row, y, h in rows:
        if top <= y + h and y <= bottom:
            found |= set(keys_in(document, row, low, high))
    if found != ui.controller.keying.selected:
        ui.controller.keying.select(found)


def _pointed(
    pen: Pen, axis: Axis, rows: list[Placed], place: tuple[float, float], ui: PanelContext, well: Area
) -> None:
    """The pointer's shape, and what there is to say about what is under it."""
    grip = key_at(pen, axis, rows, place)
    if range_end_at(ui, pen, well, axis, place):
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew)
    elif grip is not None:
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        row, frame = grip
        count = len(keys_in(ui.session.document, row, frame, frame))
        what = row.name if row.joint >= 0 else f"{count} joint{'s' if count != 1 else ''}"
        imgui.set_item_tooltip(f"Frame {frame} · {what}")
    pointed = None if grip is None else (grip[0].joint, grip[1])
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


def open_menu(ui: PanelContext, pen: Pen, axis: Axis, placed: list[Placed]) -> None:
    """Open it at the pointer; a key under it is selected first."""
    place = imgui.get_mouse_pos()
    grip, keying = key_at(pen, axis, placed, (place.x, place.y)), ui.controller.keying
    if grip is not None:
        keys = keys_in(ui.session.document, grip[0], grip[1], grip[1])
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
    """Draw the well as large as the room that is left, and answer the mouse on it."""
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
    well = item("ruler", room.x - left, room.y, right_too=True)
    view.total = ui.controller.playback.frames
    if ui.session.recorder.recording or ui.session.clock.playing:
        view.follow(ui.session.document.frame)
    axis = axis_of(pen, view, well.x, well.w)
    pen.box(corner.x, corner.y, room.x, room.y, "app")
    placed = _placed(pen, well, rows, fits if tall else 1, _scrolled(ui, len(rows) - fits) if tall else 0)
    if tall:
        _names(ui, pen, corner.x, left, placed, len(rows))
    hand = use(ui, pen, well, axis, placed)
    pen.draw.push_clip_rect((well.x, well.y), (well.x + well.w, well.y + well.h), True)
    _lanes(pen, well, axis, placed)
    if not placed:
        _no_keys(ui, pen, well, axis, hand)
    draw_range(ui, pen, well, axis, hand.ends(ui))
    draw_strip(ui, pen, well, axis)
    draw_playhead(ui, pen, well, axis)
    for one in placed:
        _keys(ui, pen, axis, one, hand)
    if hand.kind == "box" and hand.moved:
        _box(pen, hand)
    pen.draw.pop_clip_rect()
    if well.hovered and imgui.is_mouse_released(imgui.MouseButton_.right):
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


def _placed(pen: Pen, well: Area, rows: tuple[Row, ...], fits: int, scrolled: int) -> list[Placed]:
    """The row of all first, then as many others as there is room for."""
    if not rows:
        return []
    top = well.y + pen.px(STRIP) + 1.0
    if fits <= 1:
        return [Placed(rows[0], top, max(well.h - pen.px(STRIP) - 1.0, 1.0))]
    shown = (rows[0], *rows[1 + scrolled : fits + scrolled])
    high = pen.px(_ROW)
    return [Placed(row, top + index * high, high) for index, row in enumerate(shown)]


def _names(ui: PanelContext, pen: Pen, x: float, wide: float, placed: list[Placed], count: int) -> None:
    chosen = {item.name for item in ui.session.document.selection}
    for row, y, h in placed:
        colour = "text" if row.joint < 0 or row.name in chosen else "text2"
        words = pen.fit(row.name, wide - pen.px(16), SMALL)
        pen.text(x + pen.px(8), pen.middle(y, h, SMALL), words, colour, SMALL)
    if len(placed) < count:
        words = f"{len(placed) - 1} of {count - 1}"
        pen.small(x + pen.px(8), pen.middle(placed[0].y - pen.px(STRIP), pen.px(STRIP), SMALL), words)


def _lanes(pen: Pen, well: Area, axis: Axis, placed: list[Placed]) -> None:
    """A line for the keys of each row to stand on, as long as they reach; every other row a little lighter."""
    for index, (row, y, h) in enumerate(placed):
        if len(placed) > 1 and index % 2 == 0:
            pen.draw.add_rect_filled((well.x, y), (well.x + well.w, y + h), pen.ink("panel", 0.7))
        ends = axis.x(int(row.frames[0])), axis.x(int(row.frames[-1]))
        left, right = max(ends[0], well.x), min(ends[1], well.x + well.w)
        if left < right:
            middle = round(y + h / 2.0)
            pen.draw.add_rect_filled((left, middle - 0.5), (right, middle + 0.5), pen.ink("line_hi"))


def _keys(ui: PanelContext, pen: Pen, axis: Axis, placed: Placed, hand: Hand) -> None:
    row, y, h = placed
    chosen = ui.controller.keying.frames_of(row.joint)
    moving = hand.kind == "keys" and hand.by != 0
    copying = moving and imgui.get_io().key_ctrl
    pointed = ui.memory.get("pointed key")
    near = pointed[1] if pointed is not None and pointed[0] == row.joint else None
    middle = y + h / 2.0
    for place, end in _seen(pen, axis, row):
        if end > place:
            _run(pen, axis, row.frames[place : end + 1], middle, chosen)
            continue
        frame = int(row.frames[place])
        lit = frame in chosen
        if lit and moving and not copying:
            continue
        colour = "accent" if lit else "hovered" if frame == near and not hand.kind else "text"
        _key(pen, axis.x(frame), middle, _LARGE * pen.scale, colour, step=bool(row.steps[place]))
    if moving:
        moved = row._replace(frames=np.array(sorted(chosen), dtype=np.intp) + hand.by)
        for place, end in _seen(pen, axis, moved):
            if end > place:
                _run(pen, axis, moved.frames[place : end + 1], middle, frozenset())
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


def _run(pen: Pen, axis: Axis, frames: Ints, y: float, chosen: frozenset[int]) -> None:
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


def _no_keys(ui: PanelContext, pen: Pen, well: Area, axis: Axis, hand: Hand) -> None:
    """Where keys would be, clear of what stands there: of the first room that is wide enough, else of the widest."""
    top, strip = well.y + pen.px(STRIP), pen.px(STRIP)
    if well.h - strip < pen.px(14):
        return
    stops = {well.x, well.x + well.w, *range_places(ui, pen, axis, hand.ends(ui))}
    if not (
        ui.session.clock.playing or ui.session.recorder.recording
    ):  # else the words would get out of its way all the time
        stops.add(axis.x(ui.session.document.frame))
    ends = sorted(x for x in stops if well.x <= x <= well.x + well.w)
    wide = pen.width(NO_KEYS, SMALL) + 2.0 * pen.px(INSET)
    left, right = max(pairwise(ends), key=lambda room: min(room[1] - room[0], wide))
    words = pen.fit(NO_KEYS, right - left - 2.0 * pen.px(INSET), SMALL)
    pen.small(left + pen.px(INSET), pen.middle(top, well.h - strip, SMALL), words)


def _box(pen: Pen, hand: Hand) -> None:
    place = imgui.get_mouse_pos()
    pen.draw.add_rect_filled(hand.start, (place.x, place.y), pen.ink("accent", 0.12))
    (x0, x1), (y0, y1) = sorted((hand.start[0], place.x)), sorted((hand.start[1], place.y))
    pen.frame(x0, y0, x1 - x0, y1 - y0, "accent", rounding=0)
