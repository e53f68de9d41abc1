"""The inspector of a joint: its coordinates, limits and bone, in the units of the window."""

from __future__ import annotations

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.contact import draw_bodies, draw_grip, shows_bodies
from viewer.app.panels.limit_inspector import coordinates, draw_limits, draw_sliders
from viewer.app.panels.panel_parts import Angles
from viewer.app.widgets.buttons import (
    head,
    label,
    text_button,
)
from viewer.app.widgets.edits import Edit, Phase, act, attempt, carry_out
from viewer.app.widgets.fields import (
    ANGLE,
    LENGTH,
    PART,
    POSITION,
    Format,
    axis_fields,
    in_lengths,
    number_field,
    position_label,
)
from viewer.document import Document, Item, actions, joints_at_limit
from viewer.skeleton import DOFS, JointKind, Skeleton
from viewer.ui import numbers


def kind_words(skeleton: Skeleton, joint: int) -> str:
    """Words such as ``ball joint · 3 DOF``."""
    kind = skeleton.kinds[joint]
    word = "root" if kind is JointKind.FREE else f"{kind} joint"
    leader = next((one.leader for one in skeleton.mimics if one.joint == skeleton.names[joint]), "")
    return f"{word} · follows {leader}" if leader else f"{word} · {DOFS[kind]} DOF"


STIFFNESS = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.0, high=1.0)
_STRETCHED = 1e-4
"""Relative difference from the file's length above which a bone is shown as stretched."""
_NO_BONE = 1e-9


def draw_joint(ui: PanelContext, joint: int) -> None:
    """Draw the section of a joint."""
    document = ui.session.document
    skeleton = document.skeleton
    name = skeleton.names[joint]
    stuck = name in joints_at_limit(document)
    note = kind_words(skeleton, joint) + _stretched(document, joint)
    head(ui, fa.ICON_FA_CIRCLE_NOTCH, name, note, colour="limit" if stuck else "accent")
    sliders = coordinates(document, joint, stuck=stuck)
    draw_sliders(ui, document, joint, sliders)
    if skeleton.parents[joint] < 0:
        _joint_position(ui, joint)
    if not sliders and skeleton.kinds[joint] in {JointKind.BALL, JointKind.FREE}:
        _joint_rotation(ui, joint)
    draw_limits(ui, document, joint, sliders)
    _bone(ui, document, joint)
    draw_grip(ui, skeleton.names[joint])
    if shows_bodies(ui, joint):
        draw_bodies(ui, joint)
    _joint_buttons(ui, document, joint)


def _stretched(document: Document, joint: int) -> str:
    own, now = (_length(offsets, joint) for offsets in (document.character.skeleton.offsets, document.skeleton.offsets))
    if own < _NO_BONE or abs(now - own) <= _STRETCHED * own:
        return ""
    return f" · length {numbers.fixed(now / own, 2)} \N{MULTIPLICATION SIGN}"


def _length(offsets: np.ndarray, joint: int) -> float:
    return float(np.linalg.norm(offsets[joint]))


def _joint_position(ui: PanelContext, joint: int) -> None:
    """The position of a root; changing it is a drag of the root, so that pins and holds stay."""
    session = ui.session
    item = Item("joint", session.document.skeleton.names[joint])
    now = session.document.pose.translations[joint]
    label(ui, position_label(ui))
    changed = axis_fields(ui, "place", now.tolist(), in_lengths(ui, POSITION))
    if changed is None:
        return
    index, edit = changed
    wanted = now.copy()
    wanted[index] = edit.value
    if edit.phase in {Phase.BEGIN, Phase.SET}:
        session.begin_drag((item,))
    if edit.phase in {Phase.BEGIN, Phase.MOVE, Phase.SET}:
        attempt(ui, lambda: session.gestures.drag_to({item: (wanted, None)}))
    if edit.phase in {Phase.COMMIT, Phase.SET}:
        session.commit()
    elif edit.phase is Phase.CANCEL:
        session.cancel()


def _joint_rotation(ui: PanelContext, joint: int) -> None:
    """The rotation of a joint without limits, as Euler angles."""
    document = ui.session.document
    name = document.skeleton.names[joint]
    angles: Angles = ui.memory.setdefault("joint angles", Angles())
    label(ui, "Rotation", hint="Degrees about x, y, z in the parent's frame")
    changed = axis_fields(ui, "turn", angles.of(name, document.pose.rotations[joint]), ANGLE)
    if changed is not None:
        index, edit = changed
        carry_out(ui, edit, f"Turn {name}", lambda value: actions.TurnJoint(name, angles.turned(index, value)))


def _bone(ui: PanelContext, document: Document, joint: int) -> None:
    skeleton = document.skeleton
    name, length = skeleton.names[joint], _length(document.pose.translations, joint)
    rest = imgui.get_content_region_avail().x - ui.px(58)
    stiff = ui.px(118)
    has_bone = skeleton.parents[joint] >= 0 and length > _NO_BONE
    if has_bone:
        label(ui, "Length")
        own = _length(document.character.skeleton.offsets, joint)
        form = in_lengths(ui, LENGTH)
        moved = not np.array_equal(document.pose.translations[joint], skeleton.offsets[joint])
        hint = f"Distance from the parent; {form.words(own)} in the file, which a right-click restores"
        imgui.begin_disabled(moved)  # its distance follows the clip
        edit = number_field(
            ui, "length", length, form, width=rest - stiff - ui.px(8), hint="Moved by the clip" if moved else hint
        )
        imgui.end_disabled()
        if imgui.is_item_hovered() and imgui.is_mouse_clicked(imgui.MouseButton_.right):
            edit = Edit(Phase.SET, own)
        carry_out(ui, edit, f"Length of {name}", lambda metres: actions.SetLength(name, metres))
        imgui.same_line(0.0, ui.px(8))
    if skeleton.kinds[joint] in {JointKind.FIXED, JointKind.FREE}:
        imgui.new_line() if has_bone else None
        return
    label(ui, "Stiffness", width=62, hint="0 moves freely in IK, 1 does not move at all")
    edit = number_field(ui, "stiffness", float(skeleton.stiffness[joint]), STIFFNESS, width=ui.px(56))
    carry_out(ui, edit, f"Stiffness of {name}", lambda value: actions.SetStiffness(name, value))


def _joint_buttons(ui: PanelContext, document: Document, joint: int) -> None:
    name = document.skeleton.names[joint]
    if not any(e.joint == joint for e in document.skeleton.effectors):
        if text_button(ui, "Make effector", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Shift+G"):
            act(ui, actions.MakeEffector(name))
        imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Reset", icon=fa.ICON_FA_ROTATE_LEFT, hint="Return to the clip's frame, or to the relaxed pose"):
        act(ui, actions.ResetPose((name,)))
