"""The inspector's part about a goal: what is wanted, where, how much, pins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.panels.joint_readings import Angles
from viewer.app.panels.marks import effector_mark
from viewer.app.widgets.buttons import drop_button, text_button
from viewer.app.widgets.edits import Edit, Phase, act, carry_out
from viewer.app.widgets.fields import LENGTH, PART, PLACE, TURN, Format, axis_fields, in_lengths, number_field
from viewer.app.widgets.formats import place_label
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import head, label
from viewer.app.widgets.sliders import part_slider
from viewer.session.actions import (
    HoldEffector,
    MoveTargets,
    ReleaseEffector,
    RemoveEffector,
    SetHandle,
    SetPin,
    SetWanted,
    SetWeight,
)
from viewer.session.document import Wanted
from viewer.session.standing import stand_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.app.context import PanelContext
    from viewer.session.document import Handle

WORDS = {
    Wanted.POSITION: "Position",
    Wanted.ROTATION: "Rotation",
    Wanted.POSE: "Position + rotation",
    Wanted.DISTANCE: "Distance",
    Wanted.AIM: "Aim",
    Wanted.OFF: "Off, follows along",
}
_HINTS = {
    Wanted.POSITION: "Be at a place",
    Wanted.ROTATION: "Be turned so",
    Wanted.POSE: "Be at a place, turned so",
    Wanted.DISTANCE: "Stay so far from a point",
    Wanted.AIM: "Point an axis at a point",
    Wanted.OFF: "Nothing is asked",
}
_WEIGHT = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.001, high=1000.0)
_AXIS = Format(decimals=2, per_pixel=0.005, snap=0.1, units={}, low=-1.0, high=1.0)


def draw_goal(ui: PanelContext, handle: Handle) -> None:
    """Draw the part about one handle."""
    name = handle.effector
    error = ui.session.errors.get(name)
    x, y = imgui.get_cursor_screen_pos()
    note = f"goal · {WORDS[handle.kind].partition(',')[0].lower()}"
    head(ui, "", name, f"{note} · pinned" if handle.pinned else note)
    pen = Pen(ui)
    effector_mark(pen, x + pen.px(7), y + pen.px(12), handle, reached=error is None or error.reached)
    _kind(ui, handle)
    if handle.kind is Wanted.OFF:
        _off(ui, handle)
        return
    if handle.has_position:
        _place(ui, handle)
    if handle.has_rotation:
        _turn(ui, handle)
    if handle.kind is Wanted.DISTANCE:
        label(ui, "Distance")
        room = imgui.get_content_region_avail().x
        edit = number_field(ui, "distance", handle.distance, in_lengths(ui, LENGTH), width=room)
        carry_out(ui, edit, f"Distance of {name}", lambda metres: SetHandle(name, distance=metres))
    if handle.kind is Wanted.AIM and handle.axis is not None:
        _axis(ui, handle, handle.axis)
    _weights(ui, handle)
    if handle.stands:
        _pins(ui, handle)
    _buttons(ui, handle)


def _kind(ui: PanelContext, handle: Handle) -> None:
    label(ui, "Goal")
    if drop_button(ui, "kind", WORDS[handle.kind], width=imgui.get_content_region_avail().x, height=24):
        imgui.open_popup("kinds")
    if imgui.begin_popup("kinds"):
        for kind, words in WORDS.items():
            if imgui.menu_item_simple(words, _HINTS[kind], kind is handle.kind):
                act(ui, SetWanted(handle.effector, kind))
        imgui.end_popup()


def _off(ui: PanelContext, handle: Handle) -> None:
    label(ui, "")
    if text_button(ui, "Hold here", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Ask it to stay where it is"):
        act(ui, HoldEffector(handle.effector))
    imgui.same_line()
    _remove(ui, handle)


def _place(ui: PanelContext, handle: Handle) -> None:
    name = handle.effector
    label(ui, {Wanted.DISTANCE: "From", Wanted.AIM: "At"}.get(handle.kind, place_label(ui)))
    changed = axis_fields(ui, "position", handle.position, in_lengths(ui, PLACE))
    if changed is None or handle.position is None:
        return
    index, edit = changed
    carry_out(ui, edit, f"Move {name}", lambda value: MoveTargets({name: (_with(handle.position, index, value), None)}))


def _turn(ui: PanelContext, handle: Handle) -> None:
    name = handle.effector
    angles: Angles = ui.memory.setdefault("target angles", Angles())
    turn = handle.rotation or tuple(stand_of(ui.session.document.skeleton, ui.session.document.pose, handle).rotation)
    label(ui, "Rotation", hint="Degrees about x, y, z, the world's axes first to last")
    changed = axis_fields(ui, "rotation", angles.of(name, turn), TURN)
    if changed is not None:
        index, edit = changed
        carry_out(ui, edit, f"Turn {name}", lambda value: MoveTargets({name: (None, angles.turned(index, value))}))


def _axis(ui: PanelContext, handle: Handle, axis: Sequence[float]) -> None:
    name = handle.effector
    label(ui, "Axis", hint="The direction, in the joint's frame, that points at the place")
    changed = axis_fields(ui, "axis", axis, _AXIS)
    if changed is None:
        return
    index, edit = changed

    def aimed(value: float) -> SetHandle:
        wanted = np.array(_with(axis, index, value))
        length = float(np.linalg.norm(wanted))
        return SetHandle(name, axis=tuple((wanted / length).tolist()) if length > 1e-6 else tuple(axis))

    carry_out(ui, edit, f"Axis of {name}", aimed)


def _weights(ui: PanelContext, handle: Handle) -> None:
    name, turn_only = handle.effector, handle.kind is Wanted.ROTATION and not handle.pin_position
    if not turn_only:
        label(ui, "Weight")
        edit = _floored(part_slider(ui, "weight", handle.weight, form=_WEIGHT, hint="Against the other goals"))
        carry_out(ui, edit, f"Weight of {name}", lambda value: SetWeight(name, weight=value))
    if handle.has_rotation or handle.kind is Wanted.AIM:
        label(ui, "Rot. wt.", hint="Weight of the rotation")
        edit = _floored(part_slider(ui, "rotation weight", handle.rotation_weight, form=_WEIGHT))
        carry_out(ui, edit, f"Weight of {name}", lambda value: SetWeight(name, rotation_weight=value))


def _floored(edit: Edit | None) -> Edit | None:
    """A weight of nothing is no weight: the goal would have to be switched off."""
    if edit is None or edit.phase in {Phase.COMMIT, Phase.CANCEL}:
        return edit
    return edit._replace(value=max(edit.value, 0.01))


def _pins(ui: PanelContext, handle: Handle) -> None:
    label(ui, "Pin")
    pinned = handle.pin_position, handle.pin_rotation
    hints = "It stays here whatever else is dragged   P", "It stays turned so   Shift+P"
    for index, part in enumerate(("Position", "Rotation")):
        if index:
            imgui.same_line(0.0, ui.px(6))
        if text_button(ui, f"{part}##pin", icon=fa.ICON_FA_THUMBTACK, on=pinned[index], hint=hints[index]):
            wanted = {part.lower(): not pinned[index]}
            act(ui, SetPin(handle.effector, **wanted))


def _buttons(ui: PanelContext, handle: Handle) -> None:
    """Three buttons, as wide as the row has room for."""
    label(ui, "")
    space = ui.px(6)
    width = float(int((imgui.get_content_region_avail().x - 2 * space) / 3))
    if text_button(ui, "Hold here", width=width, hint="Bring the target to where the effector is"):
        act(ui, HoldEffector(handle.effector))
    imgui.same_line(0.0, space)
    if text_button(ui, "Release", width=width, hint="Ask nothing of it: it follows along   Delete"):
        act(ui, ReleaseEffector(handle.effector))
    imgui.same_line(0.0, space)
    _remove(ui, handle, width)


def _remove(ui: PanelContext, handle: Handle, width: float | None = None) -> None:
    if text_button(ui, "Remove", width=width, hint="The joint is no effector any more"):
        act(ui, RemoveEffector(handle.effector))


def _with(values: Sequence[float] | None, index: int, value: float) -> tuple[float, ...]:
    changed = list(values or (0.0, 0.0, 0.0))
    changed[index] = value
    return tuple(changed)
