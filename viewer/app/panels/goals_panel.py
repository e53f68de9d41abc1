"""The goals panel and the inspector of a goal.

The panel has every goal with its error and weight, by level: a click selects one, a drag changes its level.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import (
    action_button,
    command_entry,
    effector_mark,
    entry,
    highlight,
    rotation_fields,
    select_by_click,
)
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import act, act_all, attempt, carry_out
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.document import Document, DocumentGoal, GoalError, Item, actions, stand_of
from viewer.document.actions import AddGoal, Select, SetGoal
from viewer.document.document_contact import GRIP_LEVEL, grip_id, solver_grips
from viewer.document.document_goal import LEVELS, kinds_for
from viewer.document.posed_goals import holds_yield, pairs_of
from viewer.errors import shown
from viewer.ik.goals import KINDS, Number, Unit, Vector
from viewer.ui import number_format
from viewer.ui.commands import ADD_GOAL
from viewer.ui.contact import spare_words
from viewer.ui.status import short_name

_ROW = 24
"""Height of a row, logical pixels."""
_WEIGHT, _ERROR = 43, 64
"""Widths of the columns at the right, logical pixels."""
_OVERHANG = 4
"""Logical pixels by which rows extend into the panel's padding."""

OFF, _OFF = "Off", len(LEVELS)

NO_GOALS = "No effectors. Right-click a joint and choose Make effector, or drag any bone"
_BALANCE = next(kind.title for kind in KINDS.values() if kind.balances)


def draw_goals(ui: PanelContext) -> None:
    """Draw the panel, or what to do where there are no goals."""
    document = ui.session.document
    if not document.goals and not document.balance.on:
        controls.quiet(ui, NO_GOALS)
        return
    with controls.no_spacing():
        x, y = imgui.get_cursor_screen_pos()
        overhang = ui.px(_OVERHANG)
        imgui.set_cursor_screen_pos((x - overhang, y))
        imgui.begin_child("rows", (imgui.get_content_region_avail().x + overhang, 0.0))
        _rows(ui, rows_of(document))
        imgui.end_child()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the panel: a heading, the goal for balance, a grip, or a goal of an effector.

    Attributes:
        level: 0 to 3; 4 of goals that are off.
        balance: the row is that of the goal for balance.
        grip: the hand and the prop of a grip, or None.
        below: the row above is of the same effector, which need not be named again.
    """

    level: int
    goal: DocumentGoal | None = None
    balance: bool = False
    grip: tuple[str, str] | None = None
    below: bool = False

    @property
    def is_heading(self) -> bool:
        """Whether it is the heading of its level."""
        return self.goal is None and not self.balance and self.grip is None


def rows_of(document: Document) -> list[Row]:
    """Rows by level, those of goals that are off last: a hand has twenty effectors, off until dragged.

    Goals of one effector stand together, in the place of the first.
    """
    rows: list[Row] = []
    places = {goal.effector: place for place, goal in reversed([*enumerate(document.goals)])}
    for goal in sorted(document.goals, key=lambda goal: (level_of(goal), places[goal.effector])):
        level, last = level_of(goal), rows[-1] if rows else None
        same = last is not None and last.goal is not None and last.goal.effector == goal.effector
        rows.append(Row(level, goal, below=same and last is not None and last.level == level))
    asked = solver_grips(document.contact, document.skeleton)
    for hand, prop in document.contact.grips:
        rows.append(Row(GRIP_LEVEL if grip_id(hand) in asked else _OFF, grip=(hand, prop)))
    if document.balance.on:
        rows.insert(0, Row(document.balance.level, balance=True))
    levels = sorted({row.level for row in rows})
    return [row for level in levels for row in (Row(level), *(one for one in rows if one.level == level))]


def level_of(goal: DocumentGoal) -> int:
    """The level under which a goal is listed: pins are listed first."""
    if not goal.enabled:
        return _OFF
    return min(goal.level, 0) if goal.pinned else goal.level


def _rows(ui: PanelContext, rows: Sequence[Row]) -> None:
    document, hovered, errors = ui.session.document, ui.controller.view.hovered_item(), ui.session.errors
    _follow_selection(ui, rows)
    owned = Counter(goal.effector for goal in document.goals)
    pointed, below = None, None
    for index in controls.rows_in_view(len(rows), ui.px(_ROW)):
        row = rows[index]
        if row.is_heading:
            over = _heading(ui, row.level, first=index == 0)
        elif row.grip is not None:
            over = _grip(ui, *row.grip, errors.get(grip_id(row.grip[0])), on=row.level < _OFF)
        elif row.goal is None:
            over = _balance(ui, errors.get(document.balance_id))
        else:
            here = Item("effector", row.goal.id)
            several = owned[row.goal.effector] > 1
            over = _row(ui, row.goal, errors.get(row.goal.id), kind=several, below=row.below, lit=hovered == here)
            pointed = here if over else pointed
        below = row.level if over else below
    highlight(ui, pointed)
    _drop(ui, below)


def _follow_selection(ui: PanelContext, rows: Sequence[Row]) -> None:
    """Scroll to the selected goal when another one is selected or its level changes."""
    active = ui.session.document.active
    places = [i for i, row in enumerate(rows) if row.goal is not None and Item("effector", row.goal.id) == active]
    key = active, tuple(places)
    if key != ui.memory.get("followed"):
        ui.memory["followed"] = key
        controls.scroll_to_row(places[0] if places else -1, ui.px(_ROW), centre=False)


def _heading(ui: PanelContext, level: int, *, first: bool) -> bool:
    """Draw the name of a level; over the first row the titles of the columns, too. Whether the pointer is over it."""
    pen = Pen(ui)
    it = item(f"level {level}", imgui.get_content_region_avail().x, pen.px(_ROW))
    y, right = pen.middle(it.y, it.h, SMALL) + pen.px(2), it.x + it.w - pen.px(4)
    target = _DRAGGED in ui.memory and _is_over(it)
    words = LEVELS[level] if level < _OFF else OFF
    pen.text(it.x + pen.px(_OVERHANG), y, words, "accent" if target else "text2", SMALL)
    if first:
        pen.right(right - pen.px(_WEIGHT), y, "Error", "text3", SMALL)
        pen.right(right, y, "Weight", "text3", SMALL)
    return _is_over(it)


_DRAGGED = "dragged goal"


def _drag(ui: PanelContext, goal: DocumentGoal) -> None:
    """Note that a row is dragged: dropped among the rows of another level, its goal gets that level."""
    if imgui.is_item_active() and imgui.is_mouse_dragging(imgui.MouseButton_.left):
        ui.memory[_DRAGGED] = goal.id
        imgui.set_tooltip(f"{goal.id}: drop it under a level")


def _drop(ui: PanelContext, level: int | None) -> None:
    """End the drag of a row that is over another one of this level; None: over no row."""
    if _DRAGGED not in ui.memory or imgui.is_mouse_down(imgui.MouseButton_.left):
        return
    name = ui.memory.pop(_DRAGGED)
    goal = next((one for one in ui.session.document.goals if one.id == name), None)
    if goal is not None and level is not None and level < _OFF and level != level_of(goal):
        act(ui, SetGoal(goal.id, level=level))


def _right(ui: PanelContext, it: Area, error: GoalError | None, weight: float | None, *, reached: bool) -> None:
    """Write the error of a row's goal, and its weight if it has one, at the right end of the row."""
    pen = Pen(ui)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    if weight is not None:
        pen.right(right, y, number_format.weight(weight), "text2")
        right -= pen.px(_WEIGHT)
    words = error_words(error, ui.session.document.solver.tolerance_m, ui.controller.view.error_decimals)
    pen.right(right, y, words, "text2" if reached else "unreached")


def _balance(ui: PanelContext, error: GoalError | None) -> bool:
    """Draw the row of the goal for balance; a click shows its settings, those of the figure."""
    pen, document = Pen(ui), ui.session.document
    it = controls.list_row(pen, "goal for balance", _ROW)
    reached = error is None or error.reached
    pen.icon(it.x + pen.px(11), it.middle[1], fa.ICON_FA_SCALE_BALANCED, "target" if reached else "unreached", SMALL)
    pen.text(it.x + pen.px(24), pen.middle(it.y, it.h), _BALANCE)
    _right(ui, it, error, document.balance.weight, reached=reached)
    tip(spare_words(document))
    if it.clicked:
        act(ui, Select(()))
    return _is_over(it)


def _grip(ui: PanelContext, hand: str, prop: str, error: GoalError | None, *, on: bool) -> bool:
    """Draw the row of a grip; a click selects the hand's joint, whose settings say what it grips."""
    pen, item_of_hand = Pen(ui), Item("joint", hand)
    it = controls.list_row(pen, f"grip {hand}", _ROW, chosen=item_of_hand in ui.session.document.selection)
    reached = error is None or error.reached
    tone = "text3" if not on else "target" if reached else "unreached"
    pen.icon(it.x + pen.px(11), it.middle[1], fa.ICON_FA_HAND_BACK_FIST, tone, SMALL)
    words = f"{short_name(hand)} grips {prop}"
    shown = pen.fit(words, it.w - pen.px(_ERROR + 30))
    pen.text(it.x + pen.px(24), pen.middle(it.y, it.h), shown, "text" if on else "text3")
    if on:
        _right(ui, it, error, None, reached=reached)
    else:
        _off(pen, it)
    tip(words if on else f"{words}, once contact with props is on")
    if it.clicked:
        select_by_click(ui, item_of_hand)
    return _is_over(it)


def _off(pen: Pen, it: Area) -> None:
    pen.right(it.x + it.w - pen.px(4), pen.middle(it.y, it.h), "off", "text3")


def _row(ui: PanelContext, goal: DocumentGoal, error: GoalError | None, *, kind: bool, below: bool, lit: bool) -> bool:
    """Draw a row and answer clicks; returns whether the pointer is over it.

    It says the goal's ``kind``, too; nothing else where the row ``below`` which it is drawn has the same effector. It
    is ``lit`` while the goal is under the pointer in the view.
    """
    name, pen = goal.id, Pen(ui)
    indent = pen.px(12) if below else 0.0
    chosen = Item("effector", name) in ui.session.document.selection
    it = controls.list_row(pen, f"goal {name}", _ROW, chosen=chosen, lit=lit)
    reached = error is None or error.reached or not goal.enabled or name in ui.session.yields
    if lit or (it.hovered and chosen):
        pen.upright(it.x, it.y, it.y + it.h, "hovered")
    effector_mark(pen, it.x + indent + pen.px(11), it.middle[1], goal, reached=reached)
    y = pen.middle(it.y, it.h)
    note = "together" if goal.relative else KINDS[goal.kind].title.lower()
    words = note if below else goal.effector
    room = it.w - indent - pen.px(_WEIGHT + _ERROR + 30 if goal.enabled else 58)
    short = words if below else short_name(words)  # its side and its pair of legs are seen, which a cut one may lose
    shown = short if pen.width(short) <= room < pen.width(words) else pen.fit(words, room)
    pen.text(it.x + indent + pen.px(24), y, shown, "text" if goal.enabled else "text3")
    if not below and (kind or goal.id != goal.effector):
        left = pen.width(shown) + pen.px(6)
        if left + pen.width(note, SMALL) <= room:
            pen.small(it.x + pen.px(24) + left, pen.middle(it.y, it.h, SMALL), note)
    if goal.enabled:
        _right(ui, it, error, goal.main_weight, reached=reached)
    else:
        _off(pen, it)
    tip(" with ".join(goal.ends) if goal.of_two else f"{goal.effector} {note}" if shown != name else "")
    if goal.enabled and not goal.pinned:
        _drag(ui, goal)
    if it.clicked and _DRAGGED not in ui.memory:
        select_by_click(ui, Item("effector", name))
    return _is_over(it)


def _is_over(it: Area) -> bool:
    """Whether the pointer is over a row, also while another one is dragged."""
    return imgui.is_mouse_hovering_rect((it.x, it.y), (it.x + it.w, it.y + it.h))


def error_words(error: GoalError | None, tolerance: float, decimals: int = 1) -> str:
    """The error as a length; in degrees if the position is within ``tolerance`` (metres) but the rotation is not."""
    if error is None:
        return number_format.DASH
    rotation_missed = not error.reached and error.degrees is not None
    if error.metres is not None and not (rotation_missed and error.metres <= tolerance):
        return number_format.error(error.metres, decimals)
    return f"{number_format.fixed(error.degrees or 0.0, 1)}°"


def add_entries(ui: PanelContext, effector: str) -> None:
    """Menu entries that add a goal to an effector, one for each kind; to two that are selected, those for two."""
    for command, kind in ADD_GOAL.items():
        if not kind.of_two:
            entry(ui, kind.title, AddGoal(effector, kind.word), kind.hint)
        elif ui.controller.can(command):
            command_entry(ui, command, kind.title, kind.hint)


WEIGHT = fields.Format(decimals=2, per_pixel=0.005, snap=0.1, units=fields.PART.units, low=0.01, high=1000.0)
_ADD = 26
"""Width of the button that adds a goal, logical pixels."""
_FORMS = {Unit.LENGTH: fields.LENGTH, Unit.ANGLE: fields.ANGLE, Unit.PLAIN: fields.PART}
"""The format of a number of a goal kind, by its unit."""
_AXIS = fields.Format(decimals=2, per_pixel=0.005, snap=0.1, units={}, low=-1.0, high=1.0)


def draw_goal(ui: PanelContext, goal: DocumentGoal) -> None:
    """Draw the section of a goal, with a list of its effector's goals."""
    name = goal.id
    error = ui.session.errors.get(name)
    x, y = imgui.get_cursor_screen_pos()
    note = f"goal · {KINDS[goal.kind].title.lower() if goal.enabled else 'off'}"
    controls.head(ui, "", goal.effector, f"{note} · pinned" if goal.pinned else note)
    pen = Pen(ui)
    reached = error is None or error.reached or name in ui.session.yields
    effector_mark(pen, x + pen.px(7), y + pen.px(12), goal, reached=reached)
    _siblings(ui, goal)
    _kind(ui, goal)
    if not goal.enabled:
        _buttons(ui, goal)
        return
    if goal.of_two:
        _pair(ui, goal)
    if goal.has_position:
        _place(ui, goal)
        _follow(ui, goal)
    if goal.has_rotation:
        _turn(ui, goal)
    for number in KINDS[goal.kind].numbers:
        _number(ui, goal, number)
    _weights(ui, goal)
    _level(ui, goal)
    if goal.sets_pose:
        draw_pins(ui, [goal])
    _buttons(ui, goal)


def _siblings(ui: PanelContext, goal: DocumentGoal) -> None:
    """Buttons that select the goals of the effector, if it has several."""
    document = ui.session.document
    pairs = [one for one in pairs_of(document) if one.to == goal.effector]
    goals = (*document.goals_of(goal.effector), *pairs)
    if len(goals) < 2:
        return
    controls.label(ui, "Goals")
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
        pick = Select((Item("effector", one.id),))
        action_button(ui, f"{words}##{one.id}", pick, width=width, on=one.id == goal.id, hint=one.id)


def _kind(ui: PanelContext, goal: DocumentGoal) -> None:
    """The kind of the goal, and a button that adds a goal to its effector."""
    controls.label(ui, "Goal")
    words = KINDS[goal.kind].title if goal.enabled else OFF
    if controls.drop_menu(ui, "kind", words, width=-ui.px(_ADD + 6), height=24):
        kind_entries(ui, goal)
        imgui.end_popup()
    imgui.same_line(0.0, ui.px(6))
    if controls.text_button(ui, "+##add", width=ui.px(_ADD), hint="Add a goal to the effector   Shift+A"):
        imgui.open_popup("add")
    if imgui.begin_popup("add"):
        add_entries(ui, goal.effector)
        imgui.end_popup()


def kind_entries(ui: PanelContext, goal: DocumentGoal) -> None:
    """Menu entries that choose the kind of a goal."""
    for kind in kinds_for(len(goal.ends)):
        now = goal.enabled and kind == goal.kind
        entry(ui, KINDS[kind].title, actions.SetGoalKind(goal.id, kind), KINDS[kind].hint, ticked=now)
    if not goal.of_two:
        said = "The effector follows the body"
        entry(ui, OFF, actions.ReleaseEffector(goal.id), said, ticked=not goal.enabled)


def _pair(ui: PanelContext, goal: DocumentGoal) -> None:
    """The two effectors of a goal, as buttons that select them."""
    controls.label(ui, "Between")
    for name, width in zip(goal.ends, controls.side_by_side(ui, 2), strict=True):
        pick = Select((Item("effector", name),))
        action_button(ui, f"{shown(name)}##end {name}", pick, width=width, hint=f"Select {shown(name)}")


def _place(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    controls.label(ui, KINDS[goal.kind].point_title or fields.position_label(ui))
    if goal.position is None:
        fields.axis_fields(ui, "position", None)
        return
    fields.edit_vector(
        ui, "position", goal.position, fields.POSITION, f"Move {name}",
        lambda place: actions.MoveTargets({name: (place, None)}),
    )  # fmt: skip


def _turn(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    turn = goal.rotation or tuple(stand_of(ui.session.document, goal).rotation)
    controls.label(ui, "Rotation", hint="Intrinsic Euler angles about x, y, z, in degrees")
    rotation_fields(
        ui, "rotation", name, turn, f"Turn {name}", lambda turned: actions.MoveTargets({name: (None, turned)})
    )


def _number(ui: PanelContext, goal: DocumentGoal, number: Number) -> None:
    """The row of a number that only the goal's kind has."""
    value = goal.numbers.get(number.name, number.default)
    controls.label(ui, number.title, hint=number.hint)
    if isinstance(value, tuple):
        _direction(ui, goal, number, value)
        return
    form, worth = fields.in_lengths(ui, _FORMS[number.unit]), math.radians(1.0) if number.unit is Unit.ANGLE else 1.0
    low = max(form.low, number.least / worth) if number.least >= 0.0 else number.least / worth
    form = replace(form, low=max(low, fields.POSITION.low), high=min(form.high, number.most / worth))
    fields.edit_number(
        ui, number.name, None if value is None else value / worth, form, f"{number.title} of {goal.id}",
        lambda one: actions.SetGoal(goal.id, **{number.name: one * worth}),
    )  # fmt: skip


def _direction(ui: PanelContext, goal: DocumentGoal, number: Number, axis: Vector) -> None:
    def aimed(wanted: Vector) -> actions.SetGoal:
        length = float(np.linalg.norm(wanted))
        unit = tuple((np.array(wanted) / length).tolist()) if length > 1e-6 else axis
        return actions.SetGoal(goal.id, **{number.name: unit})

    fields.edit_vector(ui, number.name, axis, _AXIS, f"{number.title} of {goal.id}", aimed)


_NOBODY = "Nobody"


def _follow(ui: PanelContext, goal: DocumentGoal) -> None:
    """Draw which joint of another figure the target of a goal follows, if there are several."""
    stage, name = ui.session.stage, ui.controller.figures.active
    if not stage.several:
        return
    link = next((one for one in stage.figure.links if one.goal == goal.id), None)
    controls.label(ui, "Follows", hint="The target stays at a joint of another figure, as in a handshake")
    if not controls.drop_menu(ui, "follows", link.target if link else _NOBODY, height=controls.FIELD):
        return
    if imgui.menu_item_simple(_NOBODY, None, link is None):
        attempt(ui, lambda: ui.session.figures.link(name, goal.id))
    for index, other in enumerate(stage.names):
        if index == stage.active or not imgui.begin_menu(other):
            continue
        for effector in stage.documents[index].skeleton.effectors:
            on = link is not None and (link.figure, link.joint) == (other, effector.name)
            if imgui.menu_item_simple(effector.name, None, on):
                attempt(ui, lambda other=other, to=effector.name: ui.session.figures.link(name, goal.id, other, to))  # type: ignore[misc]  # bound now
        imgui.end_menu()
    imgui.end_popup()


def _weights(ui: PanelContext, goal: DocumentGoal) -> None:
    name, lengths = goal.id, goal.has_lengths
    if lengths:
        controls.label(ui, "Weight")
        edit = fields.part_slider(ui, "weight", goal.weight, form=WEIGHT, hint="Relative to the other goals")
        carry_out(ui, edit, f"Weight of {name}", lambda value: actions.SetWeight(name, weight=value))
    if goal.has_rotation or KINDS[goal.kind].radians:
        controls.label(ui, "Rot. wt." if lengths else "Weight", hint="Weight of the rotation")
        edit = fields.part_slider(ui, "rotation weight", goal.rotation_weight, form=WEIGHT)
        carry_out(ui, edit, f"Weight of {name}", lambda value: actions.SetWeight(name, rotation_weight=value))


_LEVEL_HINTS = (
    "Met first, before all other goals",
    "Met as far as goals marked Must allow",
    "Gives way to goals marked Must and Want",
    "Gives way to all other goals",
)
_PINNED = "A pin never gives way: unpin it to choose a level"


def draw_level(
    ui: PanelContext, level: int, hints: Sequence[str] = _LEVEL_HINTS, *, pinned: bool = False
) -> int | None:
    """Draw the row of a goal's level, which a pin cannot choose; the one chosen in this frame, or None."""
    controls.label(
        ui, "Level", hint=_PINNED if pinned else "Where not all goals can be met, those of a later level give way"
    )
    width = imgui.get_content_region_avail().x / len(LEVELS)
    off = range(1, len(LEVELS)) if pinned else ()
    hints = [_PINNED] * len(LEVELS) if pinned else hints
    chosen = controls.choose(ui, "level", range(len(LEVELS)), LEVELS, level, widths=width, hints=hints, off=off)
    return None if chosen == level else chosen


def _level(ui: PanelContext, goal: DocumentGoal) -> None:
    hints = list(_LEVEL_HINTS)
    if goal.sets_pose and not goal.pinned and holds_yield(ui.session.document):
        hints[1] = "First while it is dragged, else like Keep: holds yield"
    chosen = draw_level(ui, 0 if goal.pinned else goal.level, hints, pinned=goal.pinned)
    if chosen is not None and not goal.pinned:
        act(ui, actions.SetGoal(goal.id, level=chosen))


_PIN_HINTS = {
    "position": "Keep this position in every drag   P",
    "rotation": "Keep this rotation in every drag   Shift+P",
}


def draw_pins(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    """Draw the buttons that pin goals, lit if all of them are pinned."""
    controls.label(ui, "Pin")
    for index, (part, said) in enumerate(_PIN_HINTS.items()):
        if index:
            imgui.same_line(0.0, ui.px(6))
        on = all(getattr(goal, f"pin_{part}") for goal in goals)
        if controls.text_button(ui, f"{part.capitalize()}##pin", icon=fa.ICON_FA_THUMBTACK, on=on, hint=said):
            pins = [actions.SetPin(goal.id, **{part: not on}) for goal in goals]
            act(ui, pins[0]) if len(pins) == 1 else act_all(ui, "Pin", pins)


def _buttons(ui: PanelContext, goal: DocumentGoal) -> None:
    """Buttons that end a goal, a third of the row each."""
    controls.label(ui, "")
    widths = controls.side_by_side(ui, 3)
    said = "Move the target to the effector" if goal.enabled else "Hold the effector at its position"
    action_button(ui, "Hold here", actions.HoldEffector(goal.id), width=next(widths), hint=said)
    first = goal.id == goal.effector
    if goal.enabled:
        said = f"Switch the goal off: the effector follows the body{'   Delete' if first else ''}"
        action_button(ui, "Release", actions.ReleaseEffector(goal.id), width=next(widths), hint=said)
    if first:
        said, remove = "Remove the effector and all its goals", actions.RemoveEffector(goal.effector)
        action_button(ui, "Remove", remove, width=next(widths), hint=said)
    else:
        said = "Remove this goal; the effector keeps the others   Delete"
        action_button(ui, "Remove", actions.RemoveGoal(goal.id), width=next(widths), hint=said)
