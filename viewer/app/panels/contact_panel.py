"""Sections of the inspector about contact: what the figure can touch, the bodies of a joint, and a prop."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import (
    action_button,
    command_entry,
    command_toggle,
    entry,
    hint,
    name_row,
    rotation_fields,
)
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import act, carry_out
from viewer.app.widgets.pen import tip
from viewer.document import Document, DocumentContact, Item, Prop, Shape
from viewer.document.actions import ExcludePair, RemoveProp, RenameProp, Select, SetContact, SetGrip, SetProp, SetRadius
from viewer.document.actions.setting_actions import capsules_of, original_capsules
from viewer.document.document_contact import HEAVIEST, THINNEST, is_hand, touches_of
from viewer.errors import shown
from viewer.ik.contact.values import FLOOR
from viewer.skeleton import bodies_of
from viewer.ui.mirroring import other_joint

_MILLIMETRES = fields.Format(decimals=0, unit=" mm", per_pixel=0.0005, snap=0.005, low=THINNEST, worth=0.001)
_MASS = fields.Format(decimals=2, unit=" kg", per_pixel=0.01, snap=0.5, units=fields.PLAIN, low=0.0, high=HEAVIEST)
_FACTOR = fields.Format(decimals=3, per_pixel=0.002, snap=0.1, units=fields.PART.units, low=THINNEST, high=1e6)
_WIDEST = 3.0
"""The right end of a radius' slider, in radii as fitted."""
_THINNEST = 0.1
"""Its left end."""
_REMOVE = 24
"""Side of the button that removes a row, logical pixels."""
_KINDS = {Shape.SPHERE: "sphere", Shape.BOX: "box", Shape.MESH: "mesh"}
_ICONS = {Shape.SPHERE: fa.ICON_FA_CIRCLE, Shape.BOX: fa.ICON_FA_CUBE, Shape.MESH: fa.ICON_FA_MUG_SAUCER}
_ADD = "add prop"


def is_folded(contact: DocumentContact) -> bool:
    """Whether only the switch is shown, in the row of the item drawn before."""
    return not (contact.on or contact.props or contact.exclude)


def draw_contact(ui: PanelContext) -> None:
    """Draw what the figure can touch: floor, its own bodies, props; and the pairs that may pass through each other."""
    document = ui.session.document
    contact = document.contact
    if is_folded(contact):
        imgui.same_line(0.0, ui.px(10))
        command_toggle(ui, "contact.all", "contact")
        imgui.same_line(0.0, ui.px(6))
        controls.note(ui, "Contact")
        return
    controls.head(
        ui, fa.ICON_FA_HAND, "Contact", "on" if contact.on else "off", colour="accent" if contact.on else "text2"
    )
    controls.label(ui, "Keep off", hint="The figure cannot pass through what is switched on   C")
    command_toggle(ui, "contact.all", "contact")
    imgui.begin_disabled(not contact.on)
    _part(ui, "floor", "Floor", on=contact.floor)
    imgui.same_line(0.0, ui.px(8))
    fields.edit_number(
        ui, "height", contact.height, replace(fields.LENGTH, low=fields.POSITION.low), "Height of the floor",
        lambda height: SetContact(height=height), width=ui.px(90), hint="Height of the floor",
    )  # fmt: skip
    _part(ui, "bodies", "Body", on=contact.bodies)
    controls.note(ui, f"{len(bodies_of(document.skeleton))} bodies")
    _part(ui, "objects", "Props", on=contact.objects)
    imgui.end_disabled()
    imgui.same_line(0.0, ui.px(8))
    if controls.text_button(ui, "Add", icon=fa.ICON_FA_PLUS, hint="A sphere, a box or a mesh file"):
        imgui.open_popup(_ADD)
    if imgui.begin_popup(_ADD):
        for command in ("prop.add_sphere", "prop.add_box", "prop.add_mesh"):
            command_entry(ui, command)
        imgui.end_popup()
    for prop in contact.props:
        controls.label(ui, "")
        tone = "" if not prop.problem else f"   {prop.problem}"
        icon, width = fa.ICON_FA_TRIANGLE_EXCLAMATION if prop.problem else _ICONS[prop.shape], -ui.px(_REMOVE + 4)
        pick, words = Select((Item("prop", prop.name),)), f"{shown(prop.name)}##{prop.name}"
        action_button(ui, words, pick, icon=icon, width=width, hint=f"Select{tone}")
        imgui.same_line(0.0, ui.px(4))
        if _cross(ui, f"remove {prop.name}", f"Remove {shown(prop.name)}"):
            act(ui, RemoveProp(prop.name))
    for first, second in contact.exclude:
        _pair(ui, first, second, "Ignores" if (first, second) == contact.exclude[0] else "")


def draw_grip(ui: PanelContext, hand: str) -> None:
    """Draw the list of what a hand may grip; nothing for other joints, and without props."""
    document = ui.session.document
    if not document.contact.props or not is_hand(document.skeleton, hand):
        return
    now = document.contact.gripped(hand)
    controls.label(ui, "Grips", hint="The fingers close on it   Ctrl+Shift+G")
    entries = [("", "Nothing"), *((prop.name, shown(prop.name)) for prop in document.contact.props)]
    chosen = controls.drop_choice(ui, "grip", shown(now) if now else "Nothing", entries, now or "", height=24)
    if chosen is not None:
        act(ui, SetGrip(hand, chosen or None))


def _part(ui: PanelContext, part: str, words: str, *, on: bool) -> None:
    controls.label(ui, words)
    if controls.toggle(ui, part, on=on, hint=hint(f"contact.{part}")):
        act(ui, SetContact(**{part: not on}))


def _cross(ui: PanelContext, name: str, hint: str) -> bool:
    return controls.icon_button(ui, name, fa.ICON_FA_XMARK, hint, size=_REMOVE, fill=None)


def _pair(ui: PanelContext, first: str, second: str, words: str) -> None:
    """A row for two things that may pass through each other."""
    controls.label(ui, words, hint="They may pass through each other")
    said = f"{shown(first)} \N{EN DASH} {shown(second)}"
    controls.text_button(ui, f"{said}##{first} {second}", width=-ui.px(_REMOVE + 4), hint=said)
    imgui.same_line(0.0, ui.px(4))
    if _cross(ui, f"keep apart {first} {second}", "Keep them apart again"):
        act(ui, ExcludePair(first, second, excluded=False))


def shows_bodies(ui: PanelContext, joint: int) -> bool:
    """Whether a joint's section shows its bodies: contact uses them, or the view draws them."""
    display, contact = ui.controller.view.display, ui.session.document.contact
    return (display.bodies or contact.on) and bool(capsules_of(bodies_of(ui.session.document.skeleton).capsules, joint))


def draw_bodies(ui: PanelContext, joint: int) -> None:
    """Draw the radii of a joint's bodies, and what may pass through them."""
    document = ui.session.document
    name, capsules = document.skeleton.names[joint], bodies_of(document.skeleton).capsules
    original = original_capsules(document)
    own = capsules_of(capsules, joint)
    other = other_joint(document, name) if ui.controller.view.mirror else None
    for place, index in enumerate(own):
        usual = original[index].radius if index < len(original) else capsules[index].radius
        controls.label(ui, "Radius" if not place else "", hint=_end_words(document, joint, index))
        form = fields.in_lengths(ui, replace(_MILLIMETRES, decimals=0 if usual >= 0.02 else 1))
        edit = fields.part_slider(
            ui, f"radius {place}", capsules[index].radius, low=_THINNEST * usual, high=_WIDEST * usual, rest=usual,
            form=form, hint=f"{_end_words(document, joint, index)}; a right-click restores {form.words(usual)}",
        )  # fmt: skip
        carry_out(ui, edit, f"Radius of {name}", lambda metres, place=place: SetRadius(name, metres, place, other))  # type: ignore[misc]
    _ignores(ui, document, name)


def _end_words(document: Document, joint: int, index: int) -> str:
    """``Body from Hips to Spine``."""
    skeleton, capsule = document.skeleton, bodies_of(document.skeleton).capsules[index]
    ends = np.flatnonzero((skeleton.parents == joint) & (skeleton.offsets == capsule.b).all(axis=1))
    name = shown(skeleton.names[joint])
    return f"Body from {name} to {shown(skeleton.names[int(ends[0])])}" if len(ends) else f"Body of {name}"


def _ignores(ui: PanelContext, document: Document, name: str) -> None:
    """Draw what may pass through a joint's bodies or a prop, with buttons that remove it, and a list to add more."""
    others = [
        second if first == name else first for first, second in document.contact.exclude if name in (first, second)
    ]
    controls.label(ui, "Ignores", hint="What may pass through it")
    left, right = imgui.get_cursor_pos_x(), imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
    for other in others:
        if imgui.get_cursor_pos_x() > left and imgui.get_cursor_pos_x() + ui.px(110) > right:
            imgui.new_line()
            imgui.set_cursor_pos_x(left)
        apart, words = ExcludePair(name, other, excluded=False), f"{shown(other)}  \N{MULTIPLICATION SIGN}##{other}"
        action_button(ui, words, apart, hint="Keep them apart again")
        imgui.same_line(0.0, ui.px(4))
    if controls.icon_button(ui, "ignore", fa.ICON_FA_PLUS, "Let something pass through it", size=24):
        imgui.open_popup("ignore list")
    if imgui.begin_popup("ignore list"):
        _ignore_entries(ui, document, name, others)
        imgui.end_popup()


def _ignore_entries(ui: PanelContext, document: Document, name: str, others: list[str]) -> None:
    """Entries for what touches it now, the floor, the props and the joints."""
    touches = touches_of(document.contact, document.skeleton, document.pose)
    touching = [t.other if t.body == name else t.body for t in touches if name in (t.body, t.other)]
    joints = dict.fromkeys(document.skeleton.names[one.joint] for one in bodies_of(document.skeleton).capsules)
    is_prop = name not in document.skeleton.names
    places = () if is_prop else (FLOOR, *(prop.name for prop in document.contact.props))
    for group in (dict.fromkeys(touching), dict.fromkeys(places)):
        if _entries(ui, name, (one for one in group if one not in others and one != name)):
            imgui.separator()
    if imgui.begin_menu("Joints"):
        _entries(ui, name, (one for one in joints if one not in others and one != name))
        imgui.end_menu()


def _entries(ui: PanelContext, name: str, others: Iterable[str]) -> bool:
    found = False
    for other in others:
        found = True
        entry(ui, shown(other), ExcludePair(name, other))
    return found


def draw_prop(ui: PanelContext, prop: Prop) -> None:
    """Draw the section of a prop: name, position, size, and what may pass through it."""
    name = prop.name
    controls.head(ui, _ICONS[prop.shape], shown(name), f"prop · {_KINDS[prop.shape]}", colour="accent")
    if prop.problem:
        controls.paragraph(ui, prop.problem, "warn", small=True)
    name_row(ui, name, lambda wanted: RenameProp(name, wanted))
    controls.label(ui, fields.position_label(ui))
    fields.edit_vector(
        ui, "center", prop.center, fields.POSITION, f"Move {name}", lambda place: SetProp(name, center=place)
    )
    if prop.shape is not Shape.SPHERE:
        controls.label(ui, "Rotation", hint="Intrinsic Euler angles about x, y, z, in degrees")
        rotation_fields(
            ui, "rotation", name, prop.rotation, f"Rotate {name}",
            lambda turn: SetProp(name, rotation=tuple(turn.tolist())),
        )  # fmt: skip
    _size(ui, prop)
    controls.label(ui, "Mass", hint="In the workspace Physics it falls and can be pushed; 0: it does not move")
    fields.edit_number(
        ui, "mass", prop.mass, _MASS, f"Mass of {name}", lambda value: SetProp(name, mass=value), width=-ui.px(58)
    )
    _ignores(ui, ui.session.document, name)
    controls.label(ui, "")
    action_button(ui, "Remove", RemoveProp(name), icon=fa.ICON_FA_TRASH, hint="Delete")


def _size(ui: PanelContext, prop: Prop) -> None:
    name, label = prop.name, f"Size of {prop.name}"
    if prop.shape is Shape.BOX:
        controls.label(ui, "Size", hint="Along its own axes")
        form = replace(fields.LENGTH, unit="")
        fields.edit_vector(ui, "size", prop.size, form, label, lambda sides: SetProp(name, size=sides))
        return
    if prop.shape is Shape.SPHERE:
        controls.label(ui, "Radius")
        fields.edit_number(ui, "radius", prop.radius, fields.LENGTH, label, lambda value: SetProp(name, radius=value))
        return
    controls.label(ui, "Scale", hint="Metres per unit of the file")
    fields.edit_number(ui, "scale", prop.scale, _FACTOR, label, lambda value: SetProp(name, scale=value))
    controls.label(ui, "File")
    controls.note(ui, Path(prop.path).name, gap=0.0)
    tip(prop.path)
