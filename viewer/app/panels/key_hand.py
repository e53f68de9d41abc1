"""What the mouse does on the timeline: scrub, select and move keys, box, range, pan, zoom."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.panels.key_rows import key_at, scrub
from viewer.app.panels.ruler import STRIP, range_end_at
from viewer.app.widgets.edits import THRESHOLD, act, attempt
from viewer.session.actions import SetRange
from viewer.session.take.values import MOST_FRAMES
from viewer.ui.dope_rows import keys_in
from viewer.ui.frames import last_frame, played_range

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.key_rows import Placed
    from viewer.app.panels.ruler import Axis
    from viewer.app.widgets.items import Item
    from viewer.app.widgets.pen import Pen
    from viewer.session.take.values import Key
    from viewer.ui.dope_rows import Row


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


def use(ui: PanelContext, pen: Pen, well: Item, axis: Axis, rows: list[Placed]) -> Hand:
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
    ui: PanelContext, pen: Pen, well: Item, axis: Axis, rows: list[Placed], place: tuple[float, float]
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
        ui.controller.keying.view.pan((hand.seen - place.x) / axis.per_frame)
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
    pen: Pen, axis: Axis, rows: list[Placed], place: tuple[float, float], ui: PanelContext, well: Item
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
    io, view = imgui.get_io(), ui.controller.keying.view
    notches = io.mouse_wheel + (io.mouse_wheel_h if io.key_shift else 0.0)
    if not notches:
        return
    if io.key_shift:
        view.pan(-0.12 * notches * axis.span)
    else:
        view.zoom(notches, axis.frame(x))
    ui.wake()
