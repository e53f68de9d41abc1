"""The inspector of a goal: its kind, targets, numbers, weights and pins, in the units of the window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.figures import draw_follow
from viewer.app.panels.goals import OFF, add_entries
from viewer.app.panels.panel_parts import Angles, effector_mark
from viewer.app.widgets.buttons import (
    drop_button,
    head,
    label,
    segments,
    text_button,
)
from viewer.app.widgets.edits import Edit, Phase, act, carry_out
from viewer.app.widgets.fields import (
    ANGLE,
    LENGTH,
    PART,
    POSITION,
    Format,
    axis_fields,
    in_lengths,
    number_field,
    part_slider,
    position_label,
)
from viewer.app.widgets.pen import Pen
from viewer.document import DocumentGoal, Item, actions, stand_of
from viewer.document.drag_goals import holds_yield
from viewer.document.goal import DOCUMENT_KINDS, LEVELS, PAIR_KINDS
from viewer.document.pairs import pairs_of
from viewer.errors import shown
from viewer.ik.goals import KINDS, Number, Unit, Vector

WEIGHT = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.001, high=1000.0)
_ADD = 26
"""Width of the button that adds a goal, logical pixels."""
_FORMS = {Unit.LENGTH: LENGTH, Unit.ANGLE: ANGLE, Unit.PLAIN: PART}
"""The format of a number of a goal kind, by its unit."""
_AXIS = Format(decimals=2, per_pixel=0.005, snap=0.1, units={}, low=-1.0, high=1.0)


def draw_goal(ui: PanelContext, goal: DocumentGoal) -> None:
    """Draw the section of a goal, with a choice of its effector's goals."""
    name = goal.id
    error = ui.session.errors.get(name)
    x, y = imgui.get_cursor_screen_pos()
    note = f"goal · {KINDS[goal.kind].title.lower() if goal.enabled else 'off'}"
    head(ui, "", name, f"{note} · pinned" if goal.pinned else note)
    pen = Pen(ui)
    reached = error is None or error.reached or name in ui.session.yields
    effector_mark(pen, x + pen.px(7), y + pen.px(12), goal, reached=reached)
    _siblings(ui, goal)
    _kind(ui, goal)
    if not goal.enabled:
        _off(ui, goal)
        return
    if goal.relative:
        _pair(ui, goal)
    if goal.has_position:
        _place(ui, goal)
        draw_follow(ui, goal)
    if goal.has_rotation:
        _turn(ui, goal)
    for number in KINDS[goal.kind].numbers:
        _number(ui, goal, number)
    _weights(ui, goal)
    _level(ui, goal)
    if goal.placed:
        _pins(ui, goal)
    _buttons(ui, goal)


def _siblings(ui: PanelContext, goal: DocumentGoal) -> None:
    """Buttons that select the goals of the effector, if it has several."""
    document = ui.session.document
    pairs = [one for one in pairs_of(document) if one.to == goal.effector]
    goals = (*document.goals_of(goal.effector), *pairs)
    if len(goals) < 2:
        return
    label(ui, "Goals")
    left, pen = imgui.get_cursor_pos_x(), Pen(ui)
    right = left + imgui.get_content_region_avail().x
    for number, one in enumerate(goals):
        words = KINDS[one.kind].title if one.enabled else "Off"
        width = pen.width(words) + pen.px(20)
        if number:
            imgui.same_line(0.0, ui.px(6))
            if imgui.get_cursor_pos_x() + width > right:
                imgui.new_line()
                imgui.set_cursor_pos_x(left)
        if text_button(ui, f"{words}##{one.id}", width=width, on=one.id == goal.id, hint=one.id):
            act(ui, actions.Select((Item("effector", one.id),)))


def _kind(ui: PanelContext, goal: DocumentGoal) -> None:
    """The kind of the goal, and a button that adds a goal to its effector."""
    label(ui, "Goal")
    wide = imgui.get_content_region_avail().x - ui.px(_ADD + 6)
    if drop_button(ui, "kind", KINDS[goal.kind].title if goal.enabled else OFF, width=wide, height=24):
        imgui.open_popup("kinds")
    imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "+##add", width=ui.px(_ADD), hint="Add a goal to the effector   Shift+A"):
        imgui.open_popup("add")
    if imgui.begin_popup("kinds"):
        kind_entries(ui, goal)
        imgui.end_popup()
    if imgui.begin_popup("add"):
        add_entries(ui, goal.effector)
        imgui.end_popup()


def kind_entries(ui: PanelContext, goal: DocumentGoal) -> None:
    """Menu entries that choose the kind of a goal."""
    for kind in PAIR_KINDS if goal.kind in PAIR_KINDS else DOCUMENT_KINDS:
        if imgui.menu_item_simple(KINDS[kind].title, KINDS[kind].hint, goal.enabled and kind is goal.kind):
            act(ui, actions.SetGoalKind(goal.id, kind))
    if goal.kind not in PAIR_KINDS and imgui.menu_item_simple(OFF, "The effector follows the body", not goal.enabled):
        act(ui, actions.ReleaseEffector(goal.id))


def _off(ui: PanelContext, goal: DocumentGoal) -> None:
    label(ui, "")
    if text_button(ui, "Hold here", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Hold the effector at its position"):
        act(ui, actions.HoldEffector(goal.id))
    imgui.same_line()
    _remove(ui, goal)


def _pair(ui: PanelContext, goal: DocumentGoal) -> None:
    """The two effectors that hold together, as buttons that select them."""
    label(ui, "Between")
    width = (imgui.get_content_region_avail().x - ui.px(6)) / 2.0
    for number, name in enumerate((goal.effector, goal.to)):
        if number:
            imgui.same_line(0.0, ui.px(6))
        if text_button(ui, f"{shown(name)}##end {name}", width=width, hint=f"Select {shown(name)}"):
            act(ui, actions.Select((Item("effector", name),)))


def _place(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    label(ui, KINDS[goal.kind].point_title or position_label(ui))
    changed = axis_fields(ui, "position", goal.position, in_lengths(ui, POSITION))
    if changed is None or goal.position is None:
        return
    index, edit = changed
    carry_out(
        ui, edit, f"Move {name}", lambda value: actions.MoveTargets({name: (_with(goal.position, index, value), None)})
    )


def _turn(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    angles: Angles = ui.memory.setdefault("target angles", Angles())
    turn = goal.rotation or tuple(stand_of(ui.session.document.skeleton, ui.session.document.pose, goal).rotation)
    label(ui, "Rotation", hint="Intrinsic Euler angles about x, y, z, in degrees")
    changed = axis_fields(ui, "rotation", angles.of(name, turn), ANGLE)
    if changed is not None:
        index, edit = changed
        carry_out(
            ui, edit, f"Turn {name}", lambda value: actions.MoveTargets({name: (None, angles.turned(index, value))})
        )


def _number(ui: PanelContext, goal: DocumentGoal, number: Number) -> None:
    """The row of a number that only the goal's kind has."""
    value = goal.numbers.get(number.name, number.default)
    label(ui, number.title, hint=number.hint)
    if isinstance(value, tuple):
        _direction(ui, goal, number, value)
        return
    form, worth = _FORMS[number.unit], math.radians(1.0) if number.unit is Unit.ANGLE else 1.0
    form = in_lengths(ui, form) if number.unit is Unit.LENGTH else form
    low = max(form.low, number.least / worth) if number.least >= 0.0 else number.least / worth
    form = replace(form, low=max(low, POSITION.low), high=min(form.high, number.most / worth))
    room, shown = imgui.get_content_region_avail().x, None if value is None else value / worth
    edit = number_field(ui, number.name, shown, form, width=room)
    carry_out(
        ui, edit, f"{number.title} of {goal.id}", lambda one: actions.SetGoal(goal.id, **{number.name: one * worth})
    )


def _direction(ui: PanelContext, goal: DocumentGoal, number: Number, axis: Vector) -> None:
    changed = axis_fields(ui, number.name, axis, _AXIS)
    if changed is None:
        return
    index, edit = changed

    def aimed(value: float) -> actions.SetGoal:
        wanted = np.array(_with(axis, index, value))
        length = float(np.linalg.norm(wanted))
        return actions.SetGoal(goal.id, **{number.name: tuple((wanted / length).tolist()) if length > 1e-6 else axis})

    carry_out(ui, edit, f"{number.title} of {goal.id}", aimed)


def _weights(ui: PanelContext, goal: DocumentGoal) -> None:
    name, kind = goal.id, KINDS[goal.kind]
    if kind.metres or goal.pin_position:
        label(ui, "Weight")
        edit = _floored(part_slider(ui, "weight", goal.weight, form=WEIGHT, hint="Relative to the other goals"))
        carry_out(ui, edit, f"Weight of {name}", lambda value: actions.SetWeight(name, weight=value))
    if goal.has_rotation or kind.radians:
        label(ui, "Rot. wt.", hint="Weight of the rotation")
        edit = _floored(part_slider(ui, "rotation weight", goal.rotation_weight, form=WEIGHT))
        carry_out(ui, edit, f"Weight of {name}", lambda value: actions.SetWeight(name, rotation_weight=value))


_LEVEL_HINTS = (
    "Met first, whatever the other goals ask",
    "Met as far as goals marked Must allow",
    "Gives way to goals marked Must and Want",
    "Gives way to all other goals",
)


def draw_level(ui: PanelContext, level: int, hints: Sequence[str] = _LEVEL_HINTS) -> int | None:
    """Draw the row of a goal's level; the one chosen in this frame, or None."""
    label(ui, "Level", hint="Where not all goals can be met, those of a later level give way")
    width = imgui.get_content_region_avail().x / len(LEVELS)
    return segments(ui, "level", LEVELS, level, widths=width, hints=hints)


def _level(ui: PanelContext, goal: DocumentGoal) -> None:
    hints = list(_LEVEL_HINTS)
    if goal.placed and not goal.pinned and holds_yield(ui.session.document):
        hints[1] = "First while it is dragged, else like Keep: holds yield"
    chosen = draw_level(ui, goal.level, hints)
    if chosen is not None:
        act(ui, actions.SetGoal(goal.id, level=chosen))


def _floored(edit: Edit | None) -> Edit | None:
    """An edit of a weight, which must be positive."""
    if edit is None or edit.phase in {Phase.COMMIT, Phase.CANCEL}:
        return edit
    return edit._replace(value=max(edit.value, 0.01))


def _pins(ui: PanelContext, goal: DocumentGoal) -> None:
    label(ui, "Pin")
    pinned = goal.pin_position, goal.pin_rotation
    hints = "Keep this position in every drag   P", "Keep this rotation in every drag   Shift+P"
    for index, part in enumerate(("Position", "Rotation")):
        if index:
            imgui.same_line(0.0, ui.px(6))
        if text_button(ui, f"{part}##pin", icon=fa.ICON_FA_THUMBTACK, on=pinned[index], hint=hints[index]):
            wanted = {part.lower(): not pinned[index]}
            act(ui, actions.SetPin(goal.id, **wanted))


def _buttons(ui: PanelContext, goal: DocumentGoal) -> None:
    """Three buttons that fill the row."""
    label(ui, "")
    space = ui.px(6)
    width = float(int((imgui.get_content_region_avail().x - 2 * space) / 3))
    if text_button(ui, "Hold here", width=width, hint="Move the target to the effector"):
        act(ui, actions.HoldEffector(goal.id))
    imgui.same_line(0.0, space)
    if text_button(ui, "Release", width=width, hint="Switch the goal off: the effector follows the body   Delete"):
        act(ui, actions.ReleaseEffector(goal.id))
    imgui.same_line(0.0, space)
    _remove(ui, goal, width)


def _remove(ui: PanelContext, goal: DocumentGoal, width: float | None = None) -> None:
    own = goal.id == goal.effector
    hint = "Remove the effector and all its goals" if own else "Remove this goal; the effector keeps the others"
    if text_button(ui, "Remove", width=width, hint=hint):
        act(ui, actions.RemoveEffector(goal.effector) if own else actions.RemoveGoal(goal.id))


def _with(values: Sequence[float] | None, index: int, value: float) -> tuple[float, ...]:
    changed = list(values or (0.0, 0.0, 0.0))
    changed[index] = value
    return tuple(changed)
