"""The section of the inspector for a joint: sliders for its coordinates, limits, bones, motor and bodies.

The panel Joints of robots has a slider for each joint that moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import (
    Coordinate,
    action_button,
    command_button,
    coordinates,
    entry,
    rotation_fields,
)
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import Edit, Phase, act, carry_gesture, carry_out, carry_out_all
from viewer.app.widgets.pen import Pen
from viewer.document import Document, Item, actions, joints_at_limit
from viewer.document.actions import ExcludePair, SetGrip, SetRadius
from viewer.document.actions.setting_actions import capsules_of, original_capsules
from viewer.document.document_contact import THINNEST, is_hand, touches_of
from viewer.document.edit_skeleton import bone_lengths, ends_of, farthest, held_percent, seen_in_clip
from viewer.errors import InputError, quote, shown
from viewer.formats.limit_sources import BOTH, CLIP, HUMAN
from viewer.ik.contact.values import FLOOR
from viewer.scene import look_of
from viewer.skeleton import JointKind, LimitForm, Motor, Skeleton, bodies_of, inertias_of
from viewer.ui import number_format
from viewer.ui.drag_targets import other_joint
from viewer.ui.range_handles import end_action


def _kind_words(skeleton: Skeleton, joint: int) -> str:
    """Words such as ``ball joint · 3 DOF``."""
    kind = skeleton.kinds[joint]
    word = "root" if kind is JointKind.FREE else f"{kind} joint"
    leader = next((one.leader for one in skeleton.mimics if one.joint == skeleton.names[joint]), "")
    return f"{word} · follows {leader}" if leader else f"{word} · {kind.dofs} DOF"


STIFFNESS = fields.Format(decimals=2, per_pixel=0.005, snap=0.1, units=fields.PART.units, low=0.0, high=1.0)
_STRETCHED = 1e-4
"""Relative difference from the file's length above which a bone is shown as stretched."""
_NO_BONE = 1e-9
_STIFF = 118
"""Width of the label and the field of the stiffness, logical pixels."""


def draw_joint(ui: PanelContext, joint: int) -> None:
    """Draw the section of a joint."""
    document = ui.session.document
    skeleton = document.skeleton
    name = skeleton.names[joint]
    limited = name in joints_at_limit(document)
    note = _kind_words(skeleton, joint) + _stretched(document, joint)
    controls.head(ui, fa.ICON_FA_CIRCLE_NOTCH, name, note, colour="limit" if limited else "accent")
    sliders = coordinates(document, joint)
    _sliders(ui, document, joint, sliders)
    if skeleton.parents[joint] < 0:
        _joint_position(ui, joint)
    if not sliders and skeleton.kinds[joint].turns_freely:
        controls.label(ui, "Rotation", hint="Degrees about x, y, z in the parent's frame")
        turn = document.pose.rotations[joint]
        rotation_fields(ui, "turn", name, turn, f"Turn {name}", lambda wanted: actions.TurnJoint(name, wanted))
    _limits(ui, document, joint, sliders)
    _bone(ui, document, joint)
    if skeleton.inertias:
        stated = skeleton.inertias[joint] is not None
        words = f"{inertias_of(skeleton)[joint].mass:.4g} kg{'' if stated else ', estimated'}"
        controls.value_rows(ui, [("Mass", words)])
    motor = skeleton.motors[joint] if skeleton.motors else None
    if motor is not None:
        controls.value_rows(ui, _motor_rows(motor, slides=skeleton.kinds[joint] is JointKind.SLIDE))
    _grip(ui, skeleton.names[joint])
    if _shows_bodies(ui, joint):
        _bodies(ui, joint)
    _joint_buttons(ui, document, joint)


def _motor_rows(motor: Motor, *, slides: bool) -> list[tuple[str, str]]:
    """Draw the rows of a joint's motor: newton metres and degrees, or newtons and metres for slides."""
    rows = []
    if motor.effort is not None:
        rows.append(("Effort", f"{motor.effort:.4g} {'N' if slides else 'N m'}"))
    if motor.velocity is not None:
        speed = motor.velocity if slides else math.degrees(motor.velocity)
        rows.append(("Velocity", f"{speed:.4g} {'m/s' if slides else '°/s'}"))
    return rows


def _stretched(document: Document, joint: int) -> str:
    """The ratio to the file's length of the first of the joint's bones whose length differs."""
    for end in bones_of(document.character.skeleton)[joint]:
        own, now = (float(bone_lengths(one)[end]) for one in (document.character.skeleton, document.skeleton))
        if abs(now - own) > _STRETCHED * own:
            return f" · length {number_format.fixed(now / own, 2)} \N{MULTIPLICATION SIGN}"
    return ""


@lru_cache(maxsize=4)
def bones_of(skeleton: Skeleton) -> list[list[int]]:
    """By joint, the places at the ends of its bones that have a length, in the order of `bone_vectors`. Cached.

    They are joints or, for a joint without a bone to another joint, its end sites.
    """
    look, lengths = look_of(skeleton), bone_lengths(skeleton)
    bones: list[list[int]] = [[] for _ in skeleton.names]
    tips: list[list[int]] = [[] for _ in skeleton.names]
    for joint, end, carrying in zip(look.owners.tolist(), look.children.tolist(), look.carrying.tolist(), strict=True):
        if end >= 0 and not carrying and lengths[end] > _NO_BONE:
            bones[joint].append(end)
    for tip, joint in enumerate(skeleton.tip_parents.tolist(), start=len(skeleton)):
        if lengths[tip] > _NO_BONE:
            tips[joint].append(tip)
    return [own or sites for own, sites in zip(bones, tips, strict=True)]


def _joint_position(ui: PanelContext, joint: int) -> None:
    """The position of a root; changing it is a drag of the root, so that pins and holds stay."""
    session = ui.session
    item = Item("joint", session.document.skeleton.names[joint])
    now = session.document.pose.translations[joint]
    controls.label(ui, fields.position_label(ui))
    changed = fields.axis_fields(ui, "place", now.tolist())
    if changed is None:
        return
    index, edit = changed
    wanted = now.copy()
    wanted[index] = edit.value
    move = {item: (wanted, None)}
    carry_gesture(ui, edit, lambda: session.begin_drag((item,)), lambda: session.gestures.drag_to(move))


def _bone(ui: PanelContext, document: Document, joint: int) -> None:
    """Draw the lengths of the joint's bones, which are highlighted while it is selected, and its stiffness."""
    skeleton = document.skeleton
    name, ends = skeleton.names[joint], bones_of(skeleton)[joint]
    for end in ends:
        _bone_length(ui, document, name, end, alone=len(ends) == 1)
    if skeleton.kinds[joint] in {JointKind.FIXED, JointKind.FREE}:
        return
    if len(ends) == 1:
        imgui.same_line(0.0, ui.px(8))
    controls.label(ui, "Stiffness", width=62, hint="0 moves freely in IK, 1 does not move at all")
    fields.edit_number(
        ui, "stiffness", float(skeleton.stiffness[joint]), STIFFNESS, f"Stiffness of {name}",
        lambda value: actions.SetStiffness(name, value), width=ui.px(56),
    )  # fmt: skip


def _bone_length(ui: PanelContext, document: Document, name: str, end: int, *, alone: bool) -> None:
    """Draw the length of the bone from a joint to the joint or end site at its end, named if there are several."""
    skeleton, form = document.skeleton, fields.in_lengths(ui, fields.LENGTH)
    to = (*skeleton.names, *skeleton.tip_names)[end]
    own, now = (float(bone_lengths(one)[end]) for one in (document.character.skeleton, skeleton))
    moved = False
    if end < len(skeleton):
        place = document.pose.translations[end]
        now, moved = float(np.linalg.norm(place)), not np.array_equal(place, skeleton.offsets[end])
    words = "its end site" if end >= len(skeleton) else shown(to)
    said = f"Of the bone to {words}; {form.words(own)} in the file, which a right-click restores"
    controls.label(ui, "Length", hint="Of the bone that this joint turns")
    imgui.begin_disabled(moved)  # the clip determines its distance
    edit = fields.number_field(
        ui, "length" if alone else f"length to {to}", now, form,
        width=-ui.px(_STIFF + 8), hint="Moved by the clip" if moved else said,
    )  # fmt: skip
    imgui.end_disabled()
    if imgui.is_item_hovered() and imgui.is_mouse_clicked(imgui.MouseButton_.right):
        edit = Edit(Phase.SET, own)
    if edit is not None:
        carry_out_all(ui, edit, f"Length of {name}", lambda metres: [actions.SetLength(name, metres, to)])
    if not alone:
        controls.note(ui, f"to {shown(to)}")


def _joint_buttons(ui: PanelContext, document: Document, joint: int) -> None:
    name = document.skeleton.names[joint]
    if not any(e.joint == joint for e in document.skeleton.effectors):
        icon = fa.ICON_FA_LOCATION_CROSSHAIRS
        action_button(ui, "Make effector", actions.MakeEffector(name), icon=icon, hint="Shift+G")
        imgui.same_line(0.0, ui.px(6))
    reset_button(ui, name)


def reset_button(ui: PanelContext, *joints: str) -> None:
    """Draw the button that resets joints."""
    said = "Return to the clip's frame, or to the relaxed pose"
    action_button(ui, "Reset", actions.ResetPose(joints), icon=fa.ICON_FA_ROTATE_LEFT, hint=said)


_SOURCES = {CLIP: "from the clip", HUMAN: "human", BOTH: "human + clip"}


def _limit_note(document: Document, joint: int) -> str:
    """The kind of limits of a joint, in words."""
    limits, kind = document.skeleton.limits[joint], document.skeleton.kinds[joint]
    if limits is None:
        return "no range"
    if document.limits_source in _SOURCES:
        return _SOURCES[document.limits_source]
    if kind is not JointKind.BALL:
        return "range"
    return "angle ranges" if limits.form is LimitForm.EULER else "swing cone, twist range"


def _sliders(ui: PanelContext, document: Document, joint: int, sliders: list[Coordinate]) -> None:
    """Draw a slider for each coordinate, whose marks are the ends of its range."""
    name, mirror = document.skeleton.names[joint], ui.controller.view.mirror
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (imgui.get_style().item_spacing.x, 0.0))
    for one in sliders:
        controls.label(ui, one.name)
        part, edit = fields.range_slider(ui, one.name, one.value, one.bounds, one.form)
        if part == "value":
            carry_out(ui, edit, f"Turn {name}", partial(one.turned, name))
        else:
            put = partial(_with_end, document, joint, one, part == "most", mirror=mirror, both=imgui.get_io().key_alt)
            carry_out(ui, edit, f"Limits of {name}", put)
    imgui.pop_style_var()


def _limits(ui: PanelContext, document: Document, joint: int, sliders: list[Coordinate]) -> None:
    """Draw the switch of a joint's limits, their source, and the ends of each range."""
    name, limits = document.skeleton.names[joint], document.skeleton.limits[joint]
    if limits is None:
        return
    controls.label(ui, "Limits")
    own = name not in document.unlimited
    imgui.begin_disabled(not document.limits_on)
    if controls.toggle(ui, "limits", on=own and document.limits_on, hint="Limits of this joint   Shift+L"):
        act(ui, actions.SetJointLimits(name, not own))
    imgui.end_disabled()
    imgui.same_line(0.0, ui.px(8))
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    words = "off for all joints" if not document.limits_on else "on" if own else "off"
    wide, h = imgui.get_content_region_avail().x, ui.px(24)
    pen.text(x, pen.middle(y, h), words, "text" if words == "on" else "warn")
    note = _limit_note(document, joint)
    room = wide - pen.width(words) - pen.px(10)
    if pen.width(note, SMALL) <= room:
        pen.right(x + wide, pen.middle(y, h, SMALL), note, "text3", SMALL)
    imgui.dummy((wide, h))
    _ranges(ui, document, joint, sliders)


_WHOLE = fields.Format(decimals=0, unit="°", per_pixel=0.5, snap=5.0, units=fields.DEGREES)
"""Ends of ranges of angles."""
_END, _CAPTION = 62.0, 16.0
"""Width of an end of a range, and height of the captions above, logical pixels."""


def _ranges(ui: PanelContext, document: Document, joint: int, sliders: list[Coordinate]) -> None:
    """The ends of each range, what the clip needs, and how much of the clip they hold."""
    limits = document.skeleton.limits[joint]
    if limits is None or not sliders:
        return
    mirror, seen = ui.controller.view.mirror, seen_in_clip(document, joint)
    ranges = [*ends_of(limits)]
    _captions(ui, clip=seen is not None)
    for one in sliders:
        controls.label(ui, one.name, hint="From, to, and in the clip")
        form = fields.in_lengths(ui, one.form if one.form is fields.POSITION else _WHOLE)
        for side, word in ((False, "from"), (True, "to")):
            if side:
                imgui.same_line(0.0, ui.px(6))
            end = ranges[one.place][side] / one.per_unit
            edit = fields.number_field(ui, f"{one.name} {word}", end, form, width=ui.px(_END))
            typed = edit is not None and edit.phase is Phase.SET
            put = partial(_with_end, document, joint, one, side, mirror=mirror, typed=typed)
            carry_out(ui, edit, f"Limits of {document.skeleton.names[joint]}", put)
        if seen is not None:
            low, high = (float(ends[one.place]) / one.per_unit for ends in (seen.low, seen.high))
            imgui.same_line(0.0, ui.px(8))
            pen, at = Pen(ui), imgui.get_cursor_screen_pos()
            pen.small(at.x, pen.middle(at.y, pen.px(controls.FIELD), SMALL), f"{form.words(low)} .. {form.words(high)}")
            imgui.dummy((1.0, pen.px(controls.FIELD)))
    if seen is not None:
        controls.label(ui, "")
        controls.note(
            ui, f"Holds {held_percent(seen.share)} % of the clip", "text2" if seen.share == 1.0 else "warn", gap=0.0
        )
    controls.label(ui, "")
    if seen is not None:
        command_button(ui, "limits.fit", "Fit to clip", said="The ranges become those of the clip")
        imgui.same_line(0.0, ui.px(6))
    command_button(ui, "limits.restore", "As loaded", said="The ranges become those of the source again")
    other = other_joint(document, document.skeleton.names[joint]) if mirror else None
    if other is not None:
        controls.label(ui, "")
        controls.note(ui, f"{shown(other)} changes with it", gap=0.0)


def _captions(ui: PanelContext, *, clip: bool) -> None:
    controls.label(ui, "", height=_CAPTION)
    pen, at = Pen(ui), imgui.get_cursor_screen_pos()
    end, spacing = pen.px(_END), pen.px(6)
    pen.right(at.x + end - spacing, at.y, "from", "text3", SMALL)
    pen.right(at.x + 2.0 * end, at.y, "to", "text3", SMALL)
    if clip:
        pen.small(at.x + 2.0 * end + spacing + pen.px(8), at.y, "in clip")
    imgui.dummy((1.0, pen.px(_CAPTION)))


_ROUNDING = 1e-6
"""Radians by which a typed end may exceed the farthest."""


def _with_end(
    document: Document, joint: int, one: Coordinate, upper: bool, value: float, *,
    mirror: bool, both: bool = False, typed: bool = False,
) -> actions.SetLimitRanges:  # fmt: skip
    """The action that moves one end of a range, up to the other end; or ``both``, symmetrically about rest.

    Raises:
        InputError: a typed end beyond what the joint can reach; a dragged one stops there.
    """
    limits = document.skeleton.limits[joint]
    assert limits is not None
    end, most = value * one.per_unit, farthest(document.skeleton.kinds[joint], limits, one.place)
    if typed and abs(end) > most + _ROUNDING:
        name, far = quote(document.skeleton.names[joint]), one.form.words(most / one.per_unit)
        found = one.form.words(value)
        raise InputError(f"joint {name}: {one.name}: expected an end within \N{PLUS-MINUS SIGN}{far}, found {found}")
    return end_action(document, joint, one.place, end, upper=upper, mirror=mirror, both=both)


_MILLIMETRES = fields.Format(decimals=0, unit=" mm", per_pixel=0.0005, snap=0.005, low=THINNEST, worth=0.001)
_THINNEST, _WIDEST = 0.1, 3.0
"""Ends of a radius' slider, in radii as fitted."""


def _grip(ui: PanelContext, hand: str) -> None:
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


def _shows_bodies(ui: PanelContext, joint: int) -> bool:
    """Whether a joint's section shows its bodies: contact uses them, or the view draws them."""
    display, contact = ui.controller.view.display, ui.session.document.contact
    return (display.bodies or contact.on) and bool(capsules_of(bodies_of(ui.session.document.skeleton).capsules, joint))


def _bodies(ui: PanelContext, joint: int) -> None:
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
    draw_ignores(ui, document, name)


def _end_words(document: Document, joint: int, index: int) -> str:
    """``Body from Hips to Spine``."""
    skeleton, capsule = document.skeleton, bodies_of(document.skeleton).capsules[index]
    ends = np.flatnonzero((skeleton.parents == joint) & (skeleton.offsets == capsule.b).all(axis=1))
    name = shown(skeleton.names[joint])
    return f"Body from {name} to {shown(skeleton.names[int(ends[0])])}" if len(ends) else f"Body of {name}"


def draw_ignores(ui: PanelContext, document: Document, name: str) -> None:
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


_NAME, _ROW = 92.0, 24.0
"""Width of a name and height of a row, logical pixels."""


def draw_joints(ui: PanelContext) -> None:
    """Draw a row for each joint that moves: its name, a slider with its range, its value."""
    document = ui.session.document
    source = document.character.source
    pen, leaders = Pen(ui), {one.joint: one.leader for one in document.skeleton.mimics}
    command_button(ui, "pose.copy_joints", "Copy", icon=fa.ICON_FA_COPY)
    with controls.no_spacing():
        for joint, (name, kind) in enumerate(zip(document.skeleton.names, document.skeleton.kinds, strict=True)):
            if kind.dofs != 1:
                continue
            x, y = imgui.get_cursor_screen_pos()
            leader, called = leaders.get(name), source.name_of(name)
            # In many robots all joint names end in this, and there is little room.
            short = called.removesuffix("_joint") or called
            indent, ink = (10.0, "text3") if leader else (0.0, "text2")
            pen.fitted(
                x + pen.px(indent), pen.middle(y, pen.px(_ROW), SMALL), short, pen.px(_NAME - 6.0 - indent), ink, SMALL
            )
            imgui.set_cursor_screen_pos((x + pen.px(_NAME), y))
            for one in coordinates(document, joint):
                words = called if called == name else f"{called} moves {name}"
                edit = fields.angle_slider(
                    ui, name, one.value, one.bounds, one.form,
                    hint=f"{called} follows {source.name_of(leader)}" if leader else words,
                )  # fmt: skip
                carry_out(ui, edit, f"Turn {name}", partial(one.turned, name))
            imgui.set_cursor_screen_pos((x, y + pen.px(_ROW)))
            imgui.dummy((1.0, 0.0))
