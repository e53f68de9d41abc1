"""The strip of planted feet in the timeline: a bar for each contact, which is dragged, split, added and removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import EYE, command_entry, eye_switch
from viewer.app.theme import SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.dialogs import open_popup, popup
from viewer.app.widgets.edits import attempt, carry_out, scrub
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.document.actions import SetFeet
from viewer.document.planted_feet import feet_of, feet_rows
from viewer.document.take import PlantedFeet
from viewer.errors import shown
from viewer.ui import number_format
from viewer.ui.planting import ShownContact, dragged, split, with_contact

STRIP = 60.0
"""Height of the strip, logical pixels: a row for heel and ball of each foot."""
_ROWS = 4
_BAR_REACH = 6.0
_FEET_MENU = "feet menu"
_WEIGHTS = (1.0, 0.75, 0.5, 0.25)
_BLENDS = (0.1, 0.2, 0.3, 0.5)


def feet_height(feet: PlantedFeet | None) -> float:
    """Logical pixels that the strip needs."""
    return 0.0 if feet is None else STRIP


def draw_feet(ui: PanelContext, corner: tuple[float, float], names: float, x_of: Callable[[float], float]) -> None:
    """Draw the strip along the frames of the sheet below it.

    ``corner`` is its upper left one, ``names`` the width of the column of names, ``x_of`` gives the pixel of a frame;
    all in framebuffer pixels.
    """
    feet, pen = feet_of(ui.session.document), Pen(ui)
    if feet is None:
        return
    before = imgui.get_cursor_screen_pos()
    (x, y), tall = corner, pen.px(STRIP)
    wide = imgui.get_window_pos().x + imgui.get_window_width() - x - imgui.get_style().window_padding.x
    imgui.push_id("feet")
    pen.box(x, y, wide, tall - 1.0, "app", rounding=0)
    _feet_head(ui, pen, feet, (x, y, names, tall))
    imgui.set_cursor_screen_pos((x + names, y))
    _bars(ui, pen, feet, item("contacts", wide - names, tall, right_too=True), x_of)
    _draw_feet_menu(ui, feet)
    imgui.pop_id()
    pen.rule(x, x + wide, y + tall - 1.0)
    imgui.set_cursor_screen_pos(before)
    imgui.dummy((1.0, 0.0))
    imgui.set_cursor_screen_pos(before)


_LEGEND = (
    "Bars: where heel (above) and ball stand, and the cm they drift in the motion; amber: perhaps a turn or a step"
)


def _feet_head(ui: PanelContext, pen: Pen, feet: PlantedFeet, at: tuple[float, float, float, float]) -> None:
    """An eye that switches them, and their name; sliding over it sets the weight."""
    x, y, wide, tall = at
    hint = "Let the feet slide as in the motion" if feet.on else "Plant the feet"
    if eye_switch(pen, "feet eye", (x, y, tall), on=feet.on, hint=hint):
        _change(ui, SetFeet(on=not feet.on))
    imgui.set_cursor_screen_pos((x + pen.px(EYE), y))
    name = item("feet name", wide - pen.px(EYE), tall, right_too=True)
    edit = scrub(name, 100.0 * feet.weight, 0.5, snap=10.0, scale=ui.scale)
    carry_out(ui, edit, "Weight of feet", lambda value: SetFeet(weight=min(max(value / 100.0, 0.0), 1.0)))
    half = 0.5 * tall
    pen.fitted(name.x, pen.middle(y, half, SMALL), "Feet", name.w, "text" if feet.on else "text3", SMALL)
    made = ui.controller.planting.made
    slid = "" if made is None else f"{made.slides_cm_s[feet.on]:.1f} cm/s"
    words = f"{round(100.0 * feet.weight)} %" if feet.weight < 1.0 else slid
    pen.fitted(name.x, pen.middle(y + half, half, SMALL), words, name.w - pen.px(4), "text3", SMALL)
    if name.hovered and not name.held:
        tip(f"{ui.controller.planting.words()}\n{_LEGEND}\nDrag sideways: weight")
    if name.clicked and imgui.is_mouse_released(imgui.MouseButton_.right):
        open_popup(ui, _FEET_MENU, (None, 0))


def _bars(ui: PanelContext, pen: Pen, feet: PlantedFeet, it: Area, x_of: Callable[[float], float]) -> None:
    """The bars, and what the mouse does to them."""
    last, row_h = ui.session.document.frames - 1, (it.h - pen.px(4)) / _ROWS
    per_frame = max(x_of(1.0) - x_of(0.0), 1e-6)
    left = (it.x - pen.px(_BAR_REACH) - x_of(0.0)) / per_frame
    contacts = ui.controller.planting.contacts(left - 1.0, left + (it.w + 2.0 * pen.px(_BAR_REACH)) / per_frame + 1.0)
    mouse = imgui.get_mouse_pos()
    row = min(max(int((mouse.y - it.y - pen.px(2)) // row_h), 0), _ROWS - 1)
    frame = min(max(round((mouse.x - x_of(0.0)) / per_frame), 0), last)
    hit, part = _bar_part_at(contacts, row, mouse.x, x_of, pen.px(_BAR_REACH))
    if imgui.is_item_activated():
        ui.memory["feet part"] = (feet, hit, part)
    start, held, how = ui.memory.get("feet part", (feet, None, ""))
    if held is not None and how:
        own = held.contact
        value = own.last if how == "last" else own.first
        edit = scrub(it, float(value), 1.0 / per_frame, snap=5.0, scale=ui.scale)

        def moved(to: float) -> SetFeet:
            return SetFeet(contacts=dragged(start, held.number, how, round(to), last))

        carry_out(ui, edit, "Contact of a foot", moved)
    _draw_feet(pen, contacts, it, x_of, row_h, hit if it.hovered else None, ui.session.document.frame, feet)
    if it.hovered and hit is not None and not it.held:
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand if part == "all" else imgui.MouseCursor_.resize_ew)
        tip(_words(hit))
    elif it.hovered and not it.held:
        tip("Double-click: a contact here")
    if it.hovered and hit is None and imgui.is_mouse_double_clicked(imgui.MouseButton_.left):
        _add(ui, row, frame)
    if it.clicked and imgui.is_mouse_released(imgui.MouseButton_.right):
        ui.memory["feet row"] = row
        open_popup(ui, _FEET_MENU, (hit, frame))


def _change(ui: PanelContext, action: SetFeet) -> None:
    """Change planted feet; a `ViewerError` becomes a message."""
    attempt(ui, lambda: ui.controller.planting.do(action))


def _bar_part_at(
    contacts: Sequence[ShownContact], row: int, x: float, x_of: Callable[[float], float], reach: float
) -> tuple[ShownContact | None, str]:
    """The contact at a pixel of a row, and "first", "last" or "all" of it."""
    for one in contacts:
        if one.row != row:
            continue
        left, right = x_of(one.contact.first - 0.5), x_of(one.contact.last + 0.5)
        inside = min(reach, 0.3 * (right - left))
        if left - reach <= x <= left + inside:
            return one, "first"
        if right - inside <= x <= right + reach:
            return one, "last"
        if left < x < right:
            return one, "all"
    return None, ""


def _words(one: ShownContact) -> str:
    own = one.contact
    said = f"{shown(own.foot)}, {own.point}: frames {own.first} to {own.last}, drifts {one.drift_cm:.1f} cm"
    if own.ignored:
        return f"{said}; left as it is"
    far = "Amber: far for one stance, as in a turn or a step. Split it where the foot moves"
    return f"{said}\n{far}" if one.wanders else said


def _draw_feet(
    pen: Pen, contacts: Sequence[ShownContact], it: Area, x_of: Callable[[float], float], row_h: float,
    hovered: ShownContact | None, now: int, feet: PlantedFeet,
) -> None:  # fmt: skip
    draw = pen.draw
    draw.push_clip_rect((it.x, it.y), (it.x + it.w, it.y + it.h), True)
    for one in contacts:
        own = one.contact
        left, right = x_of(own.first - 0.5), x_of(own.last + 0.5)
        y = it.y + pen.px(2) + one.row * row_h
        tone = "warn" if one.wanders and not own.ignored else "left" if one.row < 2 else "right"
        strength = 0.2 if own.ignored else 0.85 if feet.on else 0.4
        if hovered is not None and hovered.number == one.number:
            strength = min(1.0, strength + 0.15)
        corner, other = (left, y + 1.0), (max(right, left + 2.0), y + row_h - 1.0)
        draw.add_rect_filled(corner, other, pen.ink(tone, strength), pen.px(2))
        if own.ignored:
            draw.add_rect(corner, other, pen.ink(tone, 0.7), pen.px(2))
        words = number_format.fixed(one.drift_cm, 1)
        if right - left > pen.width(words, SMALL) + pen.px(8):
            ink = "on_accent" if strength > 0.5 else "text2"
            pen.text(left + pen.px(4), pen.middle(y, row_h, SMALL), words, ink, SMALL)
    pen.upright(round(x_of(now)), it.y, it.y + it.h, "accent")
    draw.pop_clip_rect()


def _add(ui: PanelContext, row: int, frame: int) -> None:
    """A contact of the row's foot and point around a frame."""
    name = next((name for name, own in feet_rows(ui.session.document.skeleton).items() if own == row - row % 2), None)
    if name is not None:
        attempt(ui, lambda: ui.controller.planting.add(name, "ball" if row % 2 else "heel", frame))


def _draw_feet_menu(ui: PanelContext, feet: PlantedFeet) -> None:
    with popup(ui, _FEET_MENU) as opened:
        if not opened:
            return
        one, frame = ui.memory[_FEET_MENU]
        if one is not None and one.number < len(feet.contacts) and feet.contacts[one.number] == one.contact:
            _contact_entries(ui, feet, one, frame)
        elif one is None and frame:
            if imgui.menu_item_simple("Contact here"):
                _add(ui, ui.memory.get("feet row", 0), frame)
            imgui.separator()
        _feet_entries(ui, feet)


def _contact_entries(ui: PanelContext, feet: PlantedFeet, one: ShownContact, frame: int) -> None:
    own = one.contact
    if imgui.menu_item_simple("Split here", "", False, own.first < frame < own.last):
        _change(ui, SetFeet(contacts=with_contact(feet, one.number, *split(own, frame))))
    if imgui.menu_item_simple("Leave as it is", "", own.ignored):
        _change(ui, SetFeet(contacts=with_contact(feet, one.number, own._replace(ignored=not own.ignored))))
    if imgui.menu_item_simple("Remove contact"):
        _change(ui, SetFeet(contacts=with_contact(feet, one.number)))
    imgui.separator()


def _feet_entries(ui: PanelContext, feet: PlantedFeet) -> None:
    command_entry(ui, "feet.plant")
    if imgui.begin_menu("Weight"):
        if (weight := controls.pick(((one, f"{round(100 * one)} %") for one in _WEIGHTS), feet.weight)) is not None:
            _change(ui, SetFeet(weight=weight))
        imgui.end_menu()
    if imgui.begin_menu("Blend"):
        if (blend := controls.pick(((one, f"{one:g} s") for one in _BLENDS), feet.blend)) is not None:
            _change(ui, SetFeet(blend=blend))
        imgui.end_menu()
    command_entry(ui, "feet.find")
    command_entry(ui, "feet.remove")
