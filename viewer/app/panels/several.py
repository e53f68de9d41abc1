"""The inspector of several goals or joints: what they share, changed for all in one undo step.

A number is the mean where they differ, faintly: dragging changes all by as much, a typed number makes them equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.goal_inspector import WEIGHT, draw_level
from viewer.app.panels.joint_inspector import STIFFNESS
from viewer.app.panels.limit_inspector import Coordinate, coordinates
from viewer.app.widgets.buttons import head, label, note, quiet, text_button, toggle
from viewer.app.widgets.edits import Phase, act, act_all, carry_out_all
from viewer.app.widgets.fields import POSITION, Format, axis_fields, in_lengths, number_field, position_label
from viewer.document import Action, Document, DocumentGoal, actions
from viewer.errors import shown
from viewer.ik.goals import Vector
from viewer.skeleton import JointKind

_TIMES = Format(decimals=2, unit=" \N{MULTIPLICATION SIGN}", per_pixel=0.005, snap=0.1, units={}, low=0.01, high=100.0)
_DIFFER = "They differ: dragging changes all by as much, typing makes them equal"
_EQUAL = 1e-9
_NO_BONE = 1e-9

Make = Callable[[int, float], Action]
"""The action that gives one of the things, by its place, a value."""


def draw_several_goals(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    """Draw the section of several goals."""
    names = [goal.id for goal in goals]
    head(ui, fa.ICON_FA_LOCATION_CROSSHAIRS, f"{len(goals)} effectors", "", colour="effector")
    quiet(ui, ", ".join(map(shown, names)), small=True)
    on = [goal for goal in goals if goal.enabled]
    placed = [goal for goal in on if goal.has_position and goal.position is not None]
    if placed:
        _places(ui, placed)
    if on:
        held = [goal.id for goal in on]
        label(ui, "Weight", hint="Relative to the other goals")
        _number(
            ui, "Weight", [goal.weight for goal in on], WEIGHT,
            lambda i, value: actions.SetWeight(held[i], weight=value),
        )  # fmt: skip
        levels = {goal.level for goal in on}
        chosen = draw_level(ui, next(iter(levels)) if len(levels) == 1 else -1)
        if chosen is not None:
            act_all(ui, "Level", [actions.SetGoal(name, level=chosen) for name in held])
        _pins(ui, [goal for goal in on if goal.placed])
    label(ui, "")
    if text_button(ui, "Hold here", hint="Move the targets to the effectors"):
        act_all(ui, "Hold", [actions.HoldEffector(name) for name in names])
    imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Release", hint="Switch the goals off: the effectors follow the body"):
        act_all(ui, "Release", [actions.ReleaseEffector(name) for name in names])


def draw_several_joints(ui: PanelContext, joints: Sequence[int]) -> None:
    """Draw the section of several joints."""
    document = ui.session.document
    skeleton = document.skeleton
    names = [skeleton.names[joint] for joint in joints]
    head(ui, fa.ICON_FA_CIRCLE_NOTCH, f"{len(joints)} joints", "", colour="accent")
    quiet(ui, ", ".join(map(shown, names)), small=True)
    _coordinates(ui, document, joints)
    limited = [name for joint, name in zip(joints, names, strict=True) if skeleton.limits[joint] is not None]
    if limited:
        on = [name not in document.unlimited for name in limited]
        label(ui, "Limits")
        imgui.begin_disabled(not document.limits_on)
        if toggle(ui, "limits", on=all(on) and document.limits_on, hint="Limits of these joints"):
            act_all(ui, "Limits", [actions.SetJointLimits(name, not all(on)) for name in limited])
        imgui.end_disabled()
        if any(on) and not all(on):
            note(ui, f"on for {sum(on)} of {len(on)}")
    _lengths(ui, document, joints)
    moving = [joint for joint in joints if skeleton.kinds[joint] not in {JointKind.FIXED, JointKind.FREE}]
    if moving:
        label(ui, "Stiffness", hint="0 moves freely in IK, 1 does not move at all")
        stiff = [float(skeleton.stiffness[joint]) for joint in moving]
        own = [skeleton.names[joint] for joint in moving]
        _number(ui, "Stiffness", stiff, STIFFNESS, lambda i, value: actions.SetStiffness(own[i], value))
    label(ui, "")
    if text_button(ui, "Reset", icon=fa.ICON_FA_ROTATE_LEFT, hint="Return to the clip's frame, or to the relaxed pose"):
        act(ui, actions.ResetPose(tuple(names)))


def _coordinates(ui: PanelContext, document: Document, joints: Sequence[int]) -> None:
    """The coordinates, if all joints have the same ones: fingers bend together."""
    every = [coordinates(document, joint, stuck=False) for joint in joints]
    if any([one.name for one in some] != [one.name for one in every[0]] for some in every):
        return
    names = [document.skeleton.names[joint] for joint in joints]
    for place, first in enumerate(every[0]):
        some = [mine[place] for mine in every]

        def turned(i: int, value: float, some: list[Coordinate] = some) -> Action:
            return actions.SetCoordinate(names[i], some[i].place, value * some[i].per_unit)

        label(ui, first.name)
        form = in_lengths(ui, POSITION) if first.form is POSITION else first.form
        _number(ui, first.name, [one.value for one in some], form, turned)


def _lengths(ui: PanelContext, document: Document, joints: Sequence[int]) -> None:
    """How many times as long as in the file the bones are; those that follow a clip are left out."""
    skeleton, own = document.skeleton, document.character.skeleton
    before, now = (np.linalg.norm(one.offsets, axis=-1) for one in (own, skeleton))
    moved = (document.pose.translations != skeleton.offsets).any(axis=-1)
    bones = [j for j in joints if skeleton.parents[j] >= 0 and before[j] > _NO_BONE and not moved[j]]
    if not bones:
        return
    label(ui, "Length", hint="Times the length in the file")
    names = [skeleton.names[joint] for joint in bones]
    _number(
        ui, "Length", [float(now[j] / before[j]) for j in bones], _TIMES,
        lambda i, value: actions.SetLength(names[i], float(before[bones[i]]) * value),
    )  # fmt: skip


def _places(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    """The mean of the targets; it is moved, and they with it."""
    places = np.array([goal.position for goal in goals])
    middle = places.mean(axis=0)
    label(ui, position_label(ui), hint="The middle of the targets, which move with it")
    changed = axis_fields(ui, "middle", middle.tolist(), in_lengths(ui, POSITION))
    if changed is None:
        return
    index, edit = changed
    places[:, index] += edit.value - middle[index]
    moved = {goal.id: (tuple(place), None) for goal, place in zip(goals, places.tolist(), strict=True)}
    carry_out_all(ui, edit, f"Move {len(goals)} effectors", partial(_moved, moved))


def _moved(targets: dict[str, tuple[Vector, None]], _: float) -> list[Action]:
    return [actions.MoveTargets(targets)]


def _pins(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    if not goals:
        return
    label(ui, "Pin")
    pinned = all(goal.pin_position for goal in goals), all(goal.pin_rotation for goal in goals)
    for index, part in enumerate(("Position", "Rotation")):
        if index:
            imgui.same_line(0.0, ui.px(6))
        if text_button(ui, f"{part}##pins", icon=fa.ICON_FA_THUMBTACK, on=pinned[index]):
            wanted = {part.lower(): not pinned[index]}
            act_all(ui, "Pin", [actions.SetPin(goal.id, **wanted) for goal in goals])


def _number(ui: PanelContext, name: str, values: Sequence[float], form: Format, make: Make) -> None:
    """A number of all; where they differ their mean, faintly."""
    mean, differ = float(np.mean(values)), max(values) - min(values) > _EQUAL * max(1.0, *map(abs, values))
    tone, hint = ("text3", _DIFFER) if differ else ("text", "")
    width = imgui.get_content_region_avail().x
    edit = number_field(ui, f"several {name}", mean, form, width=width, colour=tone, hint=hint)
    if edit is None:
        return
    if edit.phase is Phase.BEGIN:
        ui.memory["several"] = tuple(values)
    starts = ui.memory.get("several", tuple(values))
    if edit.phase is Phase.SET or len(starts) != len(values):
        wanted = [edit.value] * len(values)
    else:
        wanted = [start + edit.value - float(np.mean(starts)) for start in starts]
    clipped = np.clip(wanted, form.low, form.high).tolist()
    carry_out_all(ui, edit, f"{name} of {len(values)}", lambda _: [make(i, value) for i, value in enumerate(clipped)])
