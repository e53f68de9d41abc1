"""Lanes of the timeline, along the frames of its sheet: planted feet above it and layers below; a layer's inspector."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.goals_panel import draw_level
from viewer.app.panels.panel_parts import EYE, action_button, command_entry, entry, eye_switch
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import open_popup, popup
from viewer.app.widgets.edits import act, attempt, carry_out, scrub
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.document import Document, GoalLayer, Item
from viewer.document.actions import MoveLayer, RemoveLayer, Select, SetFeet, SetLayer
from viewer.document.planted_feet import feet_of, feet_rows
from viewer.document.solved_frames import in_other_space
from viewer.document.take import PlantedFeet
from viewer.errors import shown
from viewer.ui import number_format
from viewer.ui.layering import layers_of, miss_words, solving_words
from viewer.ui.planting import ShownContact, dragged, split, with_contact
from viewer.ui.timeline import last_frame

STRIP = 60.0
"""Height of the strip, logical pixels: a row for heel and ball of each foot."""
_ROWS = 4
_BAR_REACH = 6.0
_FEET_MENU = "feet menu"
_WEIGHTS = (1.0, 0.75, 0.5, 0.25)
_BLENDS = (0.1, 0.2, 0.3, 0.5)


def lane_heights(document: Document) -> tuple[float, float]:
    """Logical pixels that the strip of planted feet and the lanes of layers need."""
    return 0.0 if feet_of(document) is None else STRIP, ROW * min(len(layers_of(document)), MOST)


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


ROW, MOST = 26.0, 4
"""Height of a lane, logical pixels, and lanes shown at once; others are scrolled."""
_REACH = 7.0
"""Logical pixels from an edge within which the pointer hits it."""
_MENU = "layer menu"
_PARTS = ("first", "full from", "full to", "last")


def draw_lanes(ui: PanelContext, names: float, x_of: Callable[[float], float]) -> None:
    """Draw a lane for each layer, along the frames of the sheet above.

    ``names`` is the width of the column of names, ``x_of`` gives the pixel of a frame; framebuffer pixels.
    """
    layers, pen = layers_of(ui.session.document), Pen(ui)
    hidden = len(layers) - MOST
    now = min(max(ui.memory.get("layers scrolled", 0), 0), max(hidden, 0))
    corner = imgui.get_cursor_screen_pos()
    wide, tall = imgui.get_content_region_avail().x, pen.px(ROW)
    over = imgui.is_mouse_hovering_rect((corner.x, corner.y), (corner.x + wide, corner.y + MOST * tall))
    if hidden > 0 and over and imgui.get_io().mouse_wheel:
        now = min(max(now - round(imgui.get_io().mouse_wheel), 0), hidden)
    ui.memory["layers scrolled"] = now
    for number, layer in enumerate(layers[now : now + MOST]):
        y = corner.y + number * tall
        imgui.push_id(layer.id)
        _head(ui, pen, layer, (corner.x, y, names, tall))
        imgui.set_cursor_screen_pos((corner.x + names, y))
        _lane(ui, pen, layer, item("lane", wide - names, tall, right_too=True), x_of)
        imgui.pop_id()
    imgui.set_cursor_screen_pos((corner.x, corner.y + tall * min(len(layers), MOST)))
    imgui.dummy((1.0, 0.0))
    with popup(ui, _MENU) as opened:
        for layer in layers if opened else ():
            if layer.id == ui.memory.get(_MENU):
                layer_entries(ui, layer)


def _head(ui: PanelContext, pen: Pen, layer: GoalLayer, at: tuple[float, float, float, float]) -> None:
    """An eye that switches the layer, and its name, which selects it."""
    x, y, wide, tall = at
    hint = "Switch the layer off" if layer.on else "Switch the layer on"
    if eye_switch(pen, "eye", (x, y, tall), on=layer.on, hint=hint):
        act(ui, SetLayer(layer.id, on=not layer.on))
    imgui.set_cursor_screen_pos((x + pen.px(EYE), y))
    name = item("name", wide - pen.px(EYE), tall, right_too=True)
    chosen = Item("layer", layer.id) in ui.session.document.selection
    colour = "accent" if chosen else "text" if layer.on else "text3"
    cut = pen.fitted(name.x, pen.middle(y, tall, SMALL), shown(layer.id), name.w - pen.px(4), colour, SMALL)
    tip(cut)
    _answer(ui, layer, name)


def _answer(ui: PanelContext, layer: GoalLayer, it: Area) -> None:
    """A click selects the layer, the right button opens its menu."""
    if not it.clicked:
        return
    act(ui, Select((Item("layer", layer.id),)))
    if imgui.is_mouse_released(imgui.MouseButton_.right):
        open_popup(ui, _MENU, layer.id)


def _lane(ui: PanelContext, pen: Pen, layer: GoalLayer, it: Area, x_of: Callable[[float], float]) -> None:
    """The trapezoid of a layer's weight over time."""
    ends = [x_of(frame) for frame in _frames(layer)]
    per_frame = max(x_of(1.0) - x_of(0.0), 1e-6)
    part = _part_at(ends, imgui.get_mouse_pos().x, pen.px(_REACH))
    if imgui.is_item_activated():
        ui.memory["lane part"] = part, layer
    held, before = ui.memory.get("lane part", ("", layer))
    if before.id == layer.id and held:
        start = before.first if held == "all" else dict(zip(_PARTS, _frames(before), strict=True))[held]
        edit = scrub(it, float(start), 1.0 / per_frame, snap=5.0, scale=ui.scale)
        last = max(ui.controller.playback.frames - 1, 0)
        carry_out(
            ui, edit, f"Time of layer {layer.id}",
            lambda frame: SetLayer(layer.id, **moved(before, held, round(frame), last)),
        )  # fmt: skip
    if it.hovered and part:
        imgui.set_mouse_cursor(imgui.MouseCursor_.resize_ew if part != "all" else imgui.MouseCursor_.hand)
    _answer(ui, layer, it)
    _draw(ui, pen, layer, it, ends)
    if it.hovered and not it.held:
        said = miss_words(ui.session, layer) or solving_words(ui.session, layer)
        tip(f"Frames {layer.first} to {layer.last}" + (f": {said}" if said else ""))


def _frames(layer: GoalLayer) -> tuple[int, int, int, int]:
    return (layer.first, *layer.full, layer.last)


def _part_at(ends: list[float], x: float, reach: float) -> str:
    """The edge at a pixel; "all" between them, "" outside."""
    near = min(range(4), key=lambda index: abs(ends[index] - x))
    if abs(ends[near] - x) <= reach:
        same = [index for index in range(4) if abs(ends[index] - ends[near]) < 1.0]
        # Of edges at one position, the one that can move towards the pointer.
        return _PARTS[same[-1] if x > ends[near] else same[0]]
    return "all" if ends[0] < x < ends[3] else ""


def moved(layer: GoalLayer, part: str, frame: int, last: int) -> dict[str, Any]:
    """The changes that bring an edge of a layer, or (``part`` "all") its start, to a frame; edges push each other."""
    frames = list(_frames(layer))
    if part == "all":
        by = min(max(frame - layer.first, -layer.first), last - layer.last)
        frames = [one + by for one in frames]
    else:
        index = _PARTS.index(part)
        frame = min(max(frame, 0), last)
        frames[index] = frame
        frames[:index] = [min(one, frame) for one in frames[:index]]
        frames[index + 1 :] = [max(one, frame) for one in frames[index + 1 :]]
    return {"first": frames[0], "full": (frames[1], frames[2]), "last": frames[3]}


def _draw(ui: PanelContext, pen: Pen, layer: GoalLayer, it: Area, ends: list[float]) -> None:
    chosen = Item("layer", layer.id) in ui.session.document.selection
    top, bottom = it.y + pen.px(3), it.y + it.h - pen.px(3)
    high = bottom + (top - bottom) * max(layer.weight, 0.15)
    tone = "accent" if chosen else "text3"
    if layer.on and miss_words(ui.session, layer):
        tone = "warn"
    draw = pen.draw
    draw.push_clip_rect((it.x, it.y), (it.x + it.w, it.y + it.h), True)
    pen.box(it.x, it.y, it.w, it.h - 1.0, "app", rounding=0)
    full = ends[1], max(ends[2], ends[1] + 1.0)
    points: list[imgui.ImVec2Like] = [
        (ends[0], bottom), (full[0], high), (full[1], high), (max(ends[3], ends[0] + 2.0), bottom),
    ]  # fmt: skip
    draw.add_convex_poly_filled(points, pen.ink(tone, 0.26 if layer.on else 0.1))
    draw.add_polyline(points, pen.ink(tone, 1.0 if layer.on else 0.4), max(1.0, pen.px(1)), 0)
    if chosen or it.hovered:
        for x, y in zip(ends, (bottom, high, high, bottom), strict=True):
            pen.box(x - pen.px(2), min(y, bottom - pen.px(3)) - pen.px(1), pen.px(4), pen.px(7), tone, rounding=1)
    if layer.weight < 1.0:
        words = f"{round(100.0 * layer.weight)} %"
        wide = pen.width(words, SMALL)
        if wide < full[1] - full[0]:
            pen.small(0.5 * (full[0] + full[1] - wide), pen.middle(it.y, it.h, SMALL), words, "text2")
    now = ui.session.document.frame
    shift = (ends[3] - ends[0]) / max(layer.last - layer.first, 1)
    x = ends[0] + (now - layer.first) * shift
    pen.upright(round(x), it.y, it.y + it.h, "accent")
    draw.pop_clip_rect()
    pen.rule(it.x, it.x + it.w, it.y + it.h - 1.0)


def layer_entries(ui: PanelContext, layer: GoalLayer) -> None:
    """The menu entries of a layer."""
    layers = layers_of(ui.session.document)
    place = next(index for index, one in enumerate(layers) if one.id == layer.id)
    entry(ui, "Acts", SetLayer(layer.id, on=not layer.on), ticked=layer.on)
    entry(ui, "Before the others", MoveLayer(layer.id, place - 1), enabled=place > 0)
    entry(ui, "After the others", MoveLayer(layer.id, place + 1), enabled=place < len(layers) - 1)
    command_entry(ui, "layer.bake")
    entry(ui, "Remove", RemoveLayer(layer.id), "Delete")


_FIELD = 72.0
"""Width of a number of a frame, logical pixels."""
_WORLD = "World"


def draw_layer(ui: PanelContext, layer: GoalLayer) -> None:
    """Draw the section."""
    missed = miss_words(ui.session, layer)
    controls.head(
        ui, fa.ICON_FA_LAYER_GROUP, shown(layer.id), f"layer \N{MIDDLE DOT} {shown(layer.effector)}", colour="accent"
    )
    if missed:
        controls.paragraph(ui, f"{shown(layer.effector)} {missed}", "warn", small=True)
    solving = solving_words(ui.session, layer)
    if solving:
        controls.paragraph(ui, f"{shown(layer.effector)}: {solving}", "text2", small=True)
    controls.label(ui, "Acts")
    if controls.toggle(ui, "acts", on=layer.on):
        act(ui, SetLayer(layer.id, on=not layer.on))
    if layer.position is not None:
        controls.label(
            ui, fields.position_label(ui), hint="Along the axes of what it is fixed to" if layer.space else ""
        )
        fields.edit_vector(
            ui, "target", layer.position, fields.POSITION, f"Target of layer {layer.id}",
            lambda place: SetLayer(layer.id, position=place),
        )  # fmt: skip
    _carrier(ui, layer)
    _times(ui, layer)
    controls.label(ui, "Weight")
    edit = fields.part_slider(ui, "weight", layer.weight, hint="How much of the way the effector goes")
    carry_out(ui, edit, f"Weight of layer {layer.id}", lambda part: SetLayer(layer.id, weight=min(max(part, 0.0), 1.0)))
    chosen = draw_level(ui, layer.level)
    if chosen is not None:
        act(ui, SetLayer(layer.id, level=chosen))
    controls.label(ui, "")
    action_button(ui, "Remove", RemoveLayer(layer.id), icon=fa.ICON_FA_TRASH, hint="Delete")


def _carrier(ui: PanelContext, layer: GoalLayer) -> None:
    """A list of what carries the target: nothing, props, joints."""
    controls.label(ui, "Fixed to", hint="What the target moves with; it keeps its current position")
    document = ui.session.document
    names = chain(
        (prop.name for prop in document.contact.props),
        (name for name in document.skeleton.names if name != layer.effector),
    )
    spaces = chain([("", _WORLD)], ((name, shown(name)) for name in names))
    chosen = controls.drop_choice(ui, "carrier", shown(layer.space or _WORLD), spaces, layer.space, height=24)
    if chosen is not None:
        act(ui, SetLayer(layer.id, **in_other_space(document, layer, chosen)))


def _times(ui: PanelContext, layer: GoalLayer) -> None:
    """Frames of the start, of the hold and of the end."""
    last = last_frame(ui.session.document)
    form = fields.Format(decimals=0, per_pixel=0.2, snap=5.0, units={}, low=0.0, high=float(last))
    rows = (
        ("From, to", "Frames between which it acts", ("first", layer.first), ("last", layer.last)),
        ("Holds", "Frames at full weight", ("full from", layer.full[0]), ("full to", layer.full[1])),
    )  # fmt: skip
    for words, said, *parts in rows:
        controls.label(ui, words, hint=said)
        for number, (part, frame) in enumerate(parts):
            if number:
                imgui.same_line(0.0, ui.px(6))

            def timed(frame: float, part: str = part) -> SetLayer:
                return SetLayer(layer.id, **moved(layer, part, round(frame), last))

            fields.edit_number(ui, part, float(frame), form, f"Time of layer {layer.id}", timed, width=ui.px(_FIELD))
