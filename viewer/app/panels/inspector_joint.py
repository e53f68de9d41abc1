"""The inspector's part about a joint: its angles within their ranges, its limits, its bone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.fonts import SMALL
from viewer.app.panels.joint_readings import Angles, coordinates, kind_words, limit_note
from viewer.app.widgets.buttons import text_button, toggle
from viewer.app.widgets.edits import Edit, Phase, act, attempt, carry_out
from viewer.app.widgets.fields import LENGTH, PART, PLACE, TURN, Format, axis_fields, in_lengths, number_field
from viewer.app.widgets.formats import place_label
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import head, label
from viewer.app.widgets.sliders import angle_slider
from viewer.session.actions import (
    MakeEffector,
    ResetPose,
    SetCoordinate,
    SetJointLimits,
    SetLength,
    SetStiffness,
    TurnJoint,
)
from viewer.session.document import Item
from viewer.session.measuring import joints_at_limit
from viewer.skeleton.kinds import JointKind
from viewer.ui import numbers

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.document import Document

_STIFFNESS = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.0, high=1.0)
_STRETCHED = 1e-4
"""Part of its length from which a bone counts as longer or shorter than the file's."""
_NO_BONE = 1e-9


def draw_joint(ui: PanelContext, joint: int) -> None:
    """Draw the part about one joint."""
    document = ui.session.document
    skeleton = document.skeleton
    name = skeleton.names[joint]
    stuck = name in joints_at_limit(document)
    note = kind_words(skeleton, joint) + _stretched(document, joint)
    head(ui, fa.ICON_FA_CIRCLE_NOTCH, name, note, colour="limit" if stuck else "accent")
    sliders = coordinates(document, joint, stuck=stuck)
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (imgui.get_style().item_spacing.x, 0.0))
    for one in sliders:
        label(ui, one.name)
        form = in_lengths(ui, PLACE) if one.form is PLACE else one.form
        edit = angle_slider(ui, one.name, one.value, one.bounds, form)
        carry_out(
            ui, edit, f"Turn {name}",
            lambda value, one=one: SetCoordinate(name, one.place, value * one.per_unit),  # type: ignore[misc]
        )  # fmt: skip
    imgui.pop_style_var()
    if skeleton.parents[joint] < 0:
        _place(ui, joint)
    if not sliders and skeleton.kinds[joint] in {JointKind.BALL, JointKind.FREE}:
        _turn(ui, joint)
    _limits(ui, document, joint)
    _bone(ui, document, joint)
    _buttons(ui, document, joint)


def _stretched(document: Document, joint: int) -> str:
    own, now = (_length(offsets, joint) for offsets in (document.character.skeleton.offsets, document.skeleton.offsets))
    if own < _NO_BONE or abs(now - own) <= _STRETCHED * own:
        return ""
    return f" · length {numbers.fixed(now / own, 2)} \N{MULTIPLICATION SIGN}"


def _length(offsets: np.ndarray, joint: int) -> float:
    return float(np.linalg.norm(offsets[joint]))


def _place(ui: PanelContext, joint: int) -> None:
    """Where a root is: moving it is a drag of its handle, so that pins and holds stay."""
    session = ui.session
    item = Item("joint", session.document.skeleton.names[joint])
    now = session.document.pose.translations[joint]
    label(ui, place_label(ui))
    changed = axis_fields(ui, "place", now.tolist(), in_lengths(ui, PLACE))
    if changed is None:
        return
    index, edit = changed
    wanted = now.copy()
    wanted[index] = edit.value
    if edit.phase in {Phase.BEGIN, Phase.SET}:
        session.begin_drag((item,))
    if edit.phase in {Phase.BEGIN, Phase.MOVE, Phase.SET}:
        attempt(ui, lambda: session.drag_to({item: (wanted, None)}))
    if edit.phase in {Phase.COMMIT, Phase.SET}:
        session.commit()
    elif edit.phase is Phase.CANCEL:
        session.cancel()


def _turn(ui: PanelContext, joint: int) -> None:
    """Joints that no range says anything of have no angles of their own: those of their whole turn are shown."""
    document = ui.session.document
    name = document.skeleton.names[joint]
    angles: Angles = ui.memory.setdefault("joint angles", Angles())
    label(ui, "Rotation", hint="Degrees about x, y, z in the parent's frame")
    changed = axis_fields(ui, "turn", angles.of(name, document.pose.rotations[joint]), TURN)
    if changed is not None:
        index, edit = changed
        carry_out(ui, edit, f"Turn {name}", lambda value: TurnJoint(name, angles.turned(index, value)))


def _limits(ui: PanelContext, document: Document, joint: int) -> None:
    name, limits = document.skeleton.names[joint], document.skeleton.limits[joint]
    if limits is None:
        return
    label(ui, "Limits")
    own = name not in document.unlimited
    imgui.begin_disabled(not document.limits_on)
    if toggle(ui, "limits", on=own and document.limits_on, hint="Limits of this joint   Shift+L"):
        act(ui, SetJointLimits(name, not own))
    imgui.end_disabled()
    imgui.same_line(0.0, ui.px(8))
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    words = "off for all joints" if not document.limits_on else "on" if own else "off"
    wide, h = imgui.get_content_region_avail().x, ui.px(24)
    pen.text(x, pen.middle(y, h), words, "text" if words == "on" else "warn")
    note = limit_note(document, joint)
    room = wide - pen.width(words) - pen.px(10)
    if pen.width(note, SMALL) <= room:
        pen.right(x + wide, pen.middle(y, h, SMALL), note, "text3", SMALL)
    imgui.dummy((wide, h))


def _bone(ui: PanelContext, document: Document, joint: int) -> None:
    skeleton = document.skeleton
    name, length = skeleton.names[joint], _length(skeleton.offsets, joint)
    rest = imgui.get_content_region_avail().x - ui.px(58)
    stiff = ui.px(118)
    has_bone = skeleton.parents[joint] >= 0 and length > _NO_BONE
    if has_bone:
        label(ui, "Length")
        own = _length(document.character.skeleton.offsets, joint)
        form = in_lengths(ui, LENGTH)
        hint = f"From the parent to this joint; the file says {form.words(own)}, right click goes back to it"
        edit = number_field(ui, "length", length, form, width=rest - stiff - ui.px(8), hint=hint)
        if imgui.is_item_hovered() and imgui.is_mouse_clicked(imgui.MouseButton_.right):
            edit = Edit(Phase.SET, own)
        carry_out(ui, edit, f"Length of {name}", lambda metres: SetLength(name, metres))
        imgui.same_line(0.0, ui.px(8))
    if skeleton.kinds[joint] in {JointKind.FIXED, JointKind.FREE}:
        imgui.new_line() if has_bone else None
        return
    label(ui, "Stiffness", width=62, hint="0 moves freely in IK, 1 does not move at all")
    edit = number_field(ui, "stiffness", float(skeleton.stiffness[joint]), _STIFFNESS, width=ui.px(56))
    carry_out(ui, edit, f"Stiffness of {name}", lambda value: SetStiffness(name, value))


def _buttons(ui: PanelContext, document: Document, joint: int) -> None:
    name = document.skeleton.names[joint]
    if not any(e.joint == joint for e in document.skeleton.effectors):
        if text_button(ui, "Make effector", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Shift+G"):
            act(ui, MakeEffector(name))
        imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Reset", icon=fa.ICON_FA_ROTATE_LEFT, hint="Back to the clip's frame, or the relaxed pose"):
        act(ui, ResetPose((name,)))
