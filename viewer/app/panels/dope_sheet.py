"""The dope sheet: frame numbers, the played range, keys in rows, and what the mouse does with them.

`sheet.py` computes positions and draws; this module handles the mouse.
"""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_entry
from viewer.app.panels.sheet import (
    MARKER_MENU,
    NAMES,
    ROW,
    STRIP,
    Drag,
    PlacedRow,
    Sheet,
    draw_contents,
    draw_marker_menu,
    draw_names,
    lane_height,
)
from viewer.app.widgets.dialogs import open_popup, popup
from viewer.app.widgets.edits import THRESHOLD, act, attempt
from viewer.app.widgets.pen import Area, Pen, item
from viewer.document.actions import MoveMarker, SetRange
from viewer.document.motion_curves import Tangent
from viewer.document.take import Blend
from viewer.errors import plural
from viewer.latest import Latest
from viewer.ui.commands import BY_ID
from viewer.ui.timeline import Row, TimeView, keys_in, rows_of

BLENDS = {Blend.STEP: "Step", Blend.LINEAR: "Linear (slerp)", Blend.SMOOTH: "Smooth"}
"""Names of the interpolation modes."""
TANGENTS = {Tangent.AUTO: "Auto tangents", Tangent.FLAT: "Flat tangents", Tangent.FREE: "Free tangents"}
"""Names of the ways to choose slopes at keys."""

KEY_MENU = "key menu"
_SIMPLIFY_DEG = 0.5
"""Tolerance of *Simplify keys* in degrees if the preferences have none."""


def scrub(ui: PanelContext, frame: int) -> None:
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


def blend_entries(ui: PanelContext) -> None:
    """Menu entries that set the interpolation after the selected keys, and their tangents."""
    keying = ui.controller.keying
    there = keying.blends()
    for blend, words in BLENDS.items():
        if imgui.menu_item_simple(words, None, there == {blend}, bool(keying.selected)):
            attempt(ui, lambda blend=blend: keying.set_blend(blend))  # type: ignore[misc]  # bound now
    imgui.separator()
    slopes = keying.tangents()
    for tangent, words in TANGENTS.items():
        if imgui.menu_item_simple(words, None, slopes == {tangent}, bool(keying.selected)):
            attempt(ui, lambda tangent=tangent: keying.set_tangent(tangent))  # type: ignore[misc]  # bound now


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
    strip = pen.px(STRIP + lane_height(ui))
    fits = int((room.y - strip) // pen.px(ROW))
    tall = fits > 1 and len(rows) > 1
    names = pen.px(NAMES) if tall or column else 0.0
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


def _placed(pen: Pen, area: Area, rows: tuple[Row, ...], fits: int, hidden: tuple[int, float]) -> list[PlacedRow]:
    """The summary row first, then the others that fit; ``hidden``: rows scrolled, height above them."""
    scrolled, strip = hidden
    if not rows:
        return []
    top = area.y + strip + 1.0
    if fits <= 1:
        return [PlacedRow(rows[0], top, max(area.h - strip - 1.0, 1.0))]
    shown = (rows[0], *rows[1 + scrolled : fits + scrolled])
    return [PlacedRow(row, top + index * pen.px(ROW), pen.px(ROW)) for index, row in enumerate(shown)]


def _run(sheet: Sheet, names_x: float | None, count: int) -> None:
    """Answer the mouse and draw, with a column of names at ``names_x`` for ``count`` rows in all."""
    if names_x is not None:
        draw_names(sheet, names_x, count)
    _mouse(sheet)
    draw_contents(sheet)
    if sheet.area.hovered and imgui.is_mouse_released(imgui.MouseButton_.right):
        _open_menu(sheet)
    draw_key_menu(sheet.ui)
    draw_marker_menu(sheet.ui)


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


def _pressed(sheet: Sheet, x: float, y: float) -> Drag:
    if imgui.is_mouse_down(imgui.MouseButton_.middle):
        return Drag("pan", (x, y), last_x=x)
    if end := sheet.range_end_at(x, y):
        return Drag(end, (x, y))
    key = sheet.key_at(x, y)
    if key is not None:
        _select_key(sheet, key)
        return Drag("keys", (x, y), key=key)
    marker = sheet.marker_at(x, y)
    if marker is not None:
        if imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
            sheet.ui.controller.markers.rename(marker)
        return Drag("marker", (x, y), marker=marker)
    if y < sheet.area.y + sheet.strip or not sheet.rows:
        return Drag("scrub", (x, y))
    selected = sheet.ui.controller.keying.selected
    return Drag("box", (x, y), before=selected if imgui.get_io().key_shift else frozenset())


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
        sheet.set_drag(Drag())
        return
    if drag.kind == "scrub" and imgui.is_mouse_down(button):
        scrub(ui, round(sheet.frame(x)))
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
        scrub(sheet.ui, drag.marker)
    elif drag.kind == "box" and not drag.moved:
        keying.select(drag.before)
    elif sheet.range_dragged():
        act(sheet.ui, SetRange(*sheet.range()))
    sheet.set_drag(Drag())


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
        open_popup(sheet.ui, MARKER_MENU, marker)
        return
    key = sheet.key_at(at.x, at.y)
    if key is not None and not keying.selected & sheet.keys_of(key):
        keying.select(sheet.keys_of(key))
    open_popup(sheet.ui, KEY_MENU)


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
            tolerance = ui.controller.view.preferences.record_tolerance_deg or _SIMPLIFY_DEG
            attempt(ui, lambda: keying.simplify(tolerance))
        if imgui.menu_item_simple("Show all frames"):
            keying.time_view.fit()
