"""The inspector: the selected goal and joint, in the units of the window."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.layout import Place
from viewer.app.panels.contact import draw_bodies, draw_contact, draw_prop, shows_bodies
from viewer.app.panels.goals import NO_GOALS, OFF, add_entries
from viewer.app.panels.panel_parts import effector_mark
from viewer.app.widgets.buttons import (
    drop_button,
    head,
    label,
    quiet,
    report_height,
    segments,
    separator,
    text_button,
    toggle,
)
from viewer.app.widgets.edits import Edit, Phase, act, attempt, carry_out
from viewer.app.widgets.fields import (
    ANGLE,
    LENGTH,
    PART,
    POSITION,
    Format,
    Range,
    angle_slider,
    axis_fields,
    in_lengths,
    number_field,
    part_slider,
    position_label,
)
from viewer.app.widgets.pen import Pen, gap
from viewer.document.actions import (
    HoldEffector,
    MakeEffector,
    MoveTargets,
    ReleaseEffector,
    RemoveEffector,
    RemoveGoal,
    ResetPose,
    Select,
    SetCoordinate,
    SetGoal,
    SetGoalKind,
    SetJointLimits,
    SetLength,
    SetPin,
    SetSolver,
    SetStiffness,
    SetWeight,
    TurnJoint,
)
from viewer.document.contact import Prop
from viewer.document.default_goals import stand_of
from viewer.document.document import Document, DocumentGoal, Item
from viewer.document.drag_goals import holds_yield
from viewer.document.goal import DOCUMENT_KINDS
from viewer.document.report import joints_at_limit
from viewer.ik.goals import KINDS, Number, Unit, Vector
from viewer.ik.solver_options import DEFAULT
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.limits import DOFS, JointKind, LimitForm
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton, find_place
from viewer.spatial.checks import Floats
from viewer.spatial.euler import from_euler, to_euler
from viewer.ui import numbers
from viewer.ui.status import LEVELS

AT_END = 1e-4
"""Distance from a limit, radians or metres, within which a coordinate is at it."""
EULER = "xyz"
"""The order of the three angles of a rotation."""

_CARDINAL = 0.99


class Coordinate(NamedTuple):
    """A coordinate of a joint as a slider shows it.

    Attributes:
        place: its index, as in `SetCoordinate`.
        name: its label.
        value: degrees, or metres for a slide.
        bounds: in the same unit.
        form: how it is written.
        per_unit: radians or metres per shown unit.
    """

    place: int
    name: str
    value: float
    bounds: Range
    form: Format
    per_unit: float


def coordinates(document: Document, joint: int, *, stuck: bool) -> list[Coordinate]:
    """The coordinates of a joint; none for fixed and free joints and for balls without limits.

    Args:
        document: with the joint.
        joint: its index.
        stuck: the solver reports it at a limit. The limit of a swing is a cone, which no single coordinate shows.
    """
    skeleton = document.skeleton
    named = _names(skeleton, joint)
    if not named:
        return []
    space = joint_space(skeleton)
    values = _measured(skeleton, document.pose)[joint]
    lower, upper = space.lower[joint], space.upper[joint]
    off = not document.limits_on or skeleton.names[joint] in document.unlimited
    limits = skeleton.limits[joint]
    ends = [not off and _at_end(values[i], lower[i], upper[i]) for i, _ in named]
    if stuck and not off and not any(ends) and limits is not None and limits.form is LimitForm.SWING_TWIST:
        ends = [index != limits.twist_axis for index, _ in named]
    slide = skeleton.kinds[joint] is JointKind.SLIDE
    made = _slide if slide else _angle
    return [
        made(index, name, float(values[index]), (float(lower[index]), float(upper[index])), _State(at_end, off))
        for (index, name), at_end in zip(named, ends, strict=True)
    ]


class _State(NamedTuple):
    at_limit: bool
    off: bool


@lru_cache(maxsize=4)
def _measured(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J, 3) the coordinates of all joints in a pose."""
    return joint_space(skeleton).measure(pose.rotations, pose.translations)


def _at_end(value: float, low: float, high: float) -> bool:
    return bool(value <= low + AT_END or value >= high - AT_END)


def _angle(index: int, name: str, value: float, ends: tuple[float, float], state: _State) -> Coordinate:
    least, most = (math.degrees(end) if math.isfinite(end) else None for end in ends)
    rest = min(max(0.0, least if least is not None else 0.0), most if most is not None else 0.0)
    bounds = Range(-180.0, 180.0, least, most, rest, *state)
    return Coordinate(index, name, math.degrees(value), bounds, ANGLE, math.pi / 180.0)


def _slide(index: int, name: str, value: float, ends: tuple[float, float], state: _State) -> Coordinate:
    least, most = (end if math.isfinite(end) else None for end in ends)
    known = [end for end in (least, most, value, 0.0) if end is not None]
    low, high = min(known), max(known)
    margin = 0.15 * (high - low) or 0.5
    rest = min(max(0.0, least if least is not None else 0.0), most if most is not None else 0.0)
    bounds = Range(low - margin, high + margin, least, most, rest, *state)
    return Coordinate(index, name, value, bounds, POSITION, 1.0)


def _names(skeleton: Skeleton, joint: int) -> list[tuple[int, str]]:
    """Index and label of each coordinate, in the order of the sliders."""
    kind, limits = skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.HINGE:
        return [(0, f"Angle {_letter(skeleton.axes[joint, 0])}".rstrip())]
    if kind is JointKind.UNIVERSAL:
        letters = [_letter(axis) for axis in skeleton.axes[joint]]
        return [(i, f"Angle {letter or i + 1}") for i, letter in enumerate(letters)]
    if kind is JointKind.SLIDE:
        return [(0, "Slide")]
    if kind is not JointKind.BALL or limits is None:
        return []
    if limits.form is LimitForm.EULER:
        return [(i, f"Angle {axis}") for i, axis in enumerate("XYZ")]
    swings = [(i, f"Swing {axis}") for i, axis in enumerate("XYZ") if i != limits.twist_axis]
    return [*swings, (limits.twist_axis, f"Twist {'XYZ'[limits.twist_axis]}")]


def _letter(axis: Floats) -> str:
    """The letter of the axis that a direction is parallel to, or ""."""
    along = int(np.argmax(np.abs(axis)))
    return "XYZ"[along] if abs(axis[along]) > _CARDINAL else ""


def kind_words(skeleton: Skeleton, joint: int) -> str:
    """Words such as ``ball joint · 3 DOF``."""
    kind = skeleton.kinds[joint]
    word = "root" if kind is JointKind.FREE else f"{kind} joint"
    return f"{word} · {DOFS[kind]} DOF"


def limit_note(document: Document, joint: int) -> str:
    """The kind of limits of a joint, in words."""
    limits, kind = document.skeleton.limits[joint], document.skeleton.kinds[joint]
    if limits is None:
        return "no range"
    if document.character.limits_from == "clip":
        return "from the clip"
    if kind is not JointKind.BALL:
        return "range"
    return "angle ranges" if limits.form is LimitForm.EULER else "swing cone, twist range"


class Angles:
    """Euler angles of a rotation, which keep what was last typed or scrubbed: one rotation has several such triples."""

    def __init__(self) -> None:
        self._key: object = None
        self._turn: tuple[float, ...] = ()
        self._angles: tuple[float, ...] = ()

    def of(self, key: object, turn: Sequence[float]) -> tuple[float, ...]:
        """Degrees about x, y, z of a rotation (x, y, z, w); ``key`` identifies what is rotated."""
        now = tuple(float(part) for part in turn)
        same = key == self._key and abs(abs(sum(a * b for a, b in zip(now, self._turn, strict=True))) - 1.0) < 1e-9
        if not same:
            self._key, self._turn = key, now
            self._angles = tuple(np.degrees(to_euler(np.array(now), EULER)).tolist())
        return self._angles

    def turned(self, index: int, degrees: float) -> Floats:
        """The rotation (4,) after one of the last angles was replaced."""
        angles = list(self._angles)
        angles[index] = degrees
        turn = from_euler(np.radians(angles), EULER)
        self._angles, self._turn = tuple(angles), tuple(turn.tolist())
        return turn


_WEIGHT = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.001, high=1000.0)
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
    if goal.has_position:
        _place(ui, goal)
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
    goals = ui.session.document.goals_of(goal.effector)
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
            act(ui, Select((Item("effector", one.id),)))


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
    for kind in DOCUMENT_KINDS:
        if imgui.menu_item_simple(KINDS[kind].title, KINDS[kind].hint, goal.enabled and kind is goal.kind):
            act(ui, SetGoalKind(goal.id, kind))
    if imgui.menu_item_simple(OFF, "The effector follows the body", not goal.enabled):
        act(ui, ReleaseEffector(goal.id))


def _off(ui: PanelContext, goal: DocumentGoal) -> None:
    label(ui, "")
    if text_button(ui, "Hold here", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Hold the effector at its position"):
        act(ui, HoldEffector(goal.id))
    imgui.same_line()
    _remove(ui, goal)


def _place(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    label(ui, KINDS[goal.kind].point_title or position_label(ui))
    changed = axis_fields(ui, "position", goal.position, in_lengths(ui, POSITION))
    if changed is None or goal.position is None:
        return
    index, edit = changed
    carry_out(ui, edit, f"Move {name}", lambda value: MoveTargets({name: (_with(goal.position, index, value), None)}))


def _turn(ui: PanelContext, goal: DocumentGoal) -> None:
    name = goal.id
    angles: Angles = ui.memory.setdefault("target angles", Angles())
    turn = goal.rotation or tuple(stand_of(ui.session.document.skeleton, ui.session.document.pose, goal).rotation)
    label(ui, "Rotation", hint="Intrinsic Euler angles about x, y, z, in degrees")
    changed = axis_fields(ui, "rotation", angles.of(name, turn), ANGLE)
    if changed is not None:
        index, edit = changed
        carry_out(ui, edit, f"Turn {name}", lambda value: MoveTargets({name: (None, angles.turned(index, value))}))


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
    carry_out(ui, edit, f"{number.title} of {goal.id}", lambda one: SetGoal(goal.id, **{number.name: one * worth}))


def _direction(ui: PanelContext, goal: DocumentGoal, number: Number, axis: Vector) -> None:
    changed = axis_fields(ui, number.name, axis, _AXIS)
    if changed is None:
        return
    index, edit = changed

    def aimed(value: float) -> SetGoal:
        wanted = np.array(_with(axis, index, value))
        length = float(np.linalg.norm(wanted))
        return SetGoal(goal.id, **{number.name: tuple((wanted / length).tolist()) if length > 1e-6 else axis})

    carry_out(ui, edit, f"{number.title} of {goal.id}", aimed)


def _weights(ui: PanelContext, goal: DocumentGoal) -> None:
    name, kind = goal.id, KINDS[goal.kind]
    if kind.metres or goal.pin_position:
        label(ui, "Weight")
        edit = _floored(part_slider(ui, "weight", goal.weight, form=_WEIGHT, hint="Relative to the other goals"))
        carry_out(ui, edit, f"Weight of {name}", lambda value: SetWeight(name, weight=value))
    if goal.has_rotation or kind.radians:
        label(ui, "Rot. wt.", hint="Weight of the rotation")
        edit = _floored(part_slider(ui, "rotation weight", goal.rotation_weight, form=_WEIGHT))
        carry_out(ui, edit, f"Weight of {name}", lambda value: SetWeight(name, rotation_weight=value))


_LEVEL_HINTS = (
    "Met first, whatever the other goals ask",
    "Met as far as goals marked Must allow",
    "Gives way to goals marked Must and Want",
    "Gives way to all other goals",
)


def _level(ui: PanelContext, goal: DocumentGoal) -> None:
    label(ui, "Level", hint="Where not all goals can be met, those of a later level give way")
    width = imgui.get_content_region_avail().x / len(LEVELS)
    hints = list(_LEVEL_HINTS)
    if goal.placed and not goal.pinned and holds_yield(ui.session.document):
        hints[1] = "First while it is dragged, else like Keep: holds yield"
    chosen = segments(ui, "level", LEVELS, goal.level, widths=width, hints=hints)
    if chosen is not None:
        act(ui, SetGoal(goal.id, level=chosen))


_HOLDS = ("Yield", "Firm")
_HOLD_HINTS = ("They give way to what is dragged, and come back", "They hold back what is dragged")


def draw_holds(ui: PanelContext) -> None:
    """Draw the choice whether the holds of the figure yield."""
    settings = ui.session.document.solver
    available = settings.method == DEFAULT
    only = "" if available else ": default solver only"
    imgui.begin_disabled(not available)
    label(ui, "Holds", hint=f"What holds do where a drag cannot go with them{only}")
    chosen = segments(ui, "holds", _HOLDS, int(settings.firm_holds), hints=_HOLD_HINTS)
    imgui.end_disabled()
    if chosen is not None and bool(chosen) != settings.firm_holds:
        act(ui, SetSolver(firm_holds=bool(chosen)))


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
            act(ui, SetPin(goal.id, **wanted))


def _buttons(ui: PanelContext, goal: DocumentGoal) -> None:
    """Three buttons that fill the row."""
    label(ui, "")
    space = ui.px(6)
    width = float(int((imgui.get_content_region_avail().x - 2 * space) / 3))
    if text_button(ui, "Hold here", width=width, hint="Move the target to the effector"):
        act(ui, HoldEffector(goal.id))
    imgui.same_line(0.0, space)
    if text_button(ui, "Release", width=width, hint="Switch the goal off: the effector follows the body   Delete"):
        act(ui, ReleaseEffector(goal.id))
    imgui.same_line(0.0, space)
    _remove(ui, goal, width)


def _remove(ui: PanelContext, goal: DocumentGoal, width: float | None = None) -> None:
    own = goal.id == goal.effector
    hint = "Remove the effector and all its goals" if own else "Remove this goal; the effector keeps the others"
    if text_button(ui, "Remove", width=width, hint=hint):
        act(ui, RemoveEffector(goal.effector) if own else RemoveGoal(goal.id))


def _with(values: Sequence[float] | None, index: int, value: float) -> tuple[float, ...]:
    changed = list(values or (0.0, 0.0, 0.0))
    changed[index] = value
    return tuple(changed)


_STIFFNESS = Format(decimals=2, per_pixel=0.005, snap=0.1, units=PART.units, low=0.0, high=1.0)
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
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (imgui.get_style().item_spacing.x, 0.0))
    for one in sliders:
        label(ui, one.name)
        form = in_lengths(ui, POSITION) if one.form is POSITION else one.form
        edit = angle_slider(ui, one.name, one.value, one.bounds, form)
        carry_out(
            ui, edit, f"Turn {name}",
            lambda value, one=one: SetCoordinate(name, one.place, value * one.per_unit),  # type: ignore[misc]
        )  # fmt: skip
    imgui.pop_style_var()
    if skeleton.parents[joint] < 0:
        _joint_position(ui, joint)
    if not sliders and skeleton.kinds[joint] in {JointKind.BALL, JointKind.FREE}:
        _joint_rotation(ui, joint)
    _limits(ui, document, joint)
    _bone(ui, document, joint)
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
        hint = f"Distance from the parent; {form.words(own)} in the file, which a right-click restores"
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


def _joint_buttons(ui: PanelContext, document: Document, joint: int) -> None:
    name = document.skeleton.names[joint]
    if not any(e.joint == joint for e in document.skeleton.effectors):
        if text_button(ui, "Make effector", icon=fa.ICON_FA_LOCATION_CROSSHAIRS, hint="Shift+G"):
            act(ui, MakeEffector(name))
        imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Reset", icon=fa.ICON_FA_ROTATE_LEFT, hint="Return to the clip's frame, or to the relaxed pose"):
        act(ui, ResetPose((name,)))


NOTHING = "Click a bone, joint or effector"


def draw(ui: PanelContext) -> None:
    """Draw the panel: the goal of a selected effector or joint, and the joint."""
    document = ui.session.document
    goal, joint = shown(document)
    top = imgui.get_cursor_pos_y()
    spacing = imgui.get_style().item_spacing.x
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (spacing, ui.px(4)))
    prop = active_prop(document)
    if prop is not None:
        imgui.push_id(f"prop {prop.name}")
        draw_prop(ui, prop)
        imgui.pop_id()
    elif goal is None and joint < 0:
        quiet(ui, NOTHING if document.goals else f"{NOTHING}. {NO_GOALS}")
        gap(ui.px(4))
        draw_holds(ui)
        draw_contact(ui)
    kinds = [item.kind for item in document.selection]
    if len(set(kinds)) < len(kinds):
        quiet(ui, f"{len(kinds)} selected, the last is shown", small=True)
    if prop is not None:
        goal, joint = None, -1
    if goal is not None:
        imgui.push_id(goal.id)
        draw_goal(ui, goal)
        imgui.pop_id()
    if joint >= 0:
        if goal is not None:
            separator(ui)
        imgui.push_id(joint)
        draw_joint(ui, joint)
        imgui.pop_id()
    imgui.pop_style_var()
    report_height(ui, Place.RIGHT_TOP, imgui.get_cursor_pos_y() - top)


def active_prop(document: Document) -> Prop | None:
    """The prop that the panel shows: the item selected last, if it is one."""
    item = document.active
    return document.contact.prop(item.name) if item is not None and item.kind == "prop" else None


def shown(document: Document) -> tuple[DocumentGoal | None, int]:
    """The goal and the joint that the panel shows; None and -1 for none.

    Each is the last one selected; a selected effector shows its joint too, and a joint the effector on it.
    """
    skeleton = document.skeleton
    effector = next((item.name for item in reversed(document.selection) if item.kind == "effector"), None)
    name = next((item.name for item in reversed(document.selection) if item.kind == "joint"), None)
    joint = -1 if name is None else skeleton.index(name)
    if effector is not None:
        goal = document.goal(effector)
        return goal, joint if joint >= 0 else find_place(skeleton, goal.effector).joint
    on_it = next((e.name for e in skeleton.effectors if e.joint == joint), None)
    goal_on_it = document.goal(on_it) if on_it is not None else None
    return goal_on_it if goal_on_it is not None and goal_on_it.enabled else None, joint
