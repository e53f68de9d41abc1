"""The inspector: the selected goals and joints, prop or layer, or the figure's own settings.

For several goals or joints it shows what they share, changed for all in one undo step: numbers that differ show their
mean, faintly; dragging shifts all of them, typing makes them equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.build_panel import draw_build_inspector
from viewer.app.panels.goals_panel import NO_GOALS, WEIGHT, draw_goal, draw_level, draw_pins, level_of
from viewer.app.panels.joint_inspector import STIFFNESS, bones_of, draw_ignores, draw_joint, reset_button
from viewer.app.panels.lanes import draw_layer
from viewer.app.panels.panel_parts import (
    Coordinate,
    action_button,
    command_button,
    command_entry,
    command_toggle,
    coordinates,
    hint,
    name_row,
    rotation_fields,
    shown_goal_and_joint,
)
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import Edit, Phase, act, act_all, carry_gesture, carry_out_all
from viewer.app.widgets.pen import gap, tip
from viewer.document import Action, Document, DocumentGoal, Item, Prop, Shape, actions
from viewer.document.actions import (
    ExcludePair,
    RemoveProp,
    RenameProp,
    Select,
    SetBalance,
    SetContact,
    SetLimitsFrom,
    SetProp,
    SetSolver,
)
from viewer.document.document_contact import HEAVIEST, THINNEST
from viewer.document.edit_skeleton import bone_lengths
from viewer.document.take import layer_of
from viewer.errors import shown
from viewer.formats.limit_sources import NONE, WORDS, sources_of
from viewer.ik.solver_options import DEFAULT
from viewer.latest import Latest
from viewer.session.figures import Placement
from viewer.skeleton import JointKind, bodies_of
from viewer.ui import number_format
from viewer.ui.contact import spare_words

NOTHING = "Click a bone, joint or effector"


def draw_inspector(ui: PanelContext) -> None:
    """Draw the panel: what is selected, else the settings of the figure."""
    document = ui.session.document
    if ui.controller.building.on:
        draw_build_inspector(ui)
        return
    spacing = imgui.get_style().item_spacing.x
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (spacing, ui.px(4)))
    goal, joint = shown_goal_and_joint(document)
    item = document.active
    if item is not None and item.kind == "prop":
        _section(f"prop {item.name}", lambda: _prop(ui, document.contact.prop(item.name)))
        goal, joint = None, -1
    elif item is not None and item.kind == "layer":
        _section(f"layer {item.name}", lambda: draw_layer(ui, layer_of(document.take, item.name)))
        goal, joint = None, -1
    elif goal is None and joint < 0:
        _draw_figure(ui)
    kinds = [item.kind for item in document.selection if not item.on_figure]
    if len(kinds) > 1:
        controls.quiet(ui, f"{len(kinds)} selected, the last is shown", small=True)
    if (goal is not None or joint >= 0) and not _several(ui):
        if goal is not None:
            _section(goal.id, lambda: draw_goal(ui, goal))
        if goal is not None and joint >= 0:
            controls.separator(ui)
        if joint >= 0:
            imgui.push_id(joint)
            draw_joint(ui, joint)
            _differs(ui, joint)
            imgui.pop_id()
    imgui.pop_style_var()


def _section(name: str, draw: Callable[[], object]) -> None:
    imgui.push_id(name)
    draw()
    imgui.pop_id()


def _draw_figure(ui: PanelContext) -> None:
    document = ui.session.document
    controls.quiet(ui, NOTHING if document.goals else f"{NOTHING}. {NO_GOALS}")
    gap(ui.px(4))
    _limit_source(ui)
    _holds(ui)
    _contact(ui)
    _balance(ui)
    _place(ui)


def _several(ui: PanelContext) -> bool:
    """Draw what several effectors, or several joints, share; returns whether several are selected."""
    document = ui.session.document
    goals = [document.goal(name) for name in document.selected("effector")]
    joints = [document.skeleton.index(name) for name in document.selected("joint")]
    if max(len(goals), len(joints)) < 2:
        return False
    imgui.push_id("several")
    if goals:
        _several_goals(ui, goals) if len(goals) > 1 else draw_goal(ui, goals[0])
    if goals and joints:
        controls.separator(ui)
    if joints:
        _several_joints(ui, joints) if len(joints) > 1 else draw_joint(ui, joints[0])
    imgui.pop_id()
    return True


_HOLDS = ("Yield", "Firm")
_HOLD_HINTS = ("Holds give way to the drag, and return", "Holds resist the drag")


def _limit_source(ui: PanelContext) -> None:
    """Draw where the limits of the figure come from, with a choice."""
    document = ui.session.document
    character, kept = document.character, ui.memory.setdefault("limit sources", Latest[tuple[str, ...]]())
    sources = kept.of(lambda: sources_of(character), character)
    controls.label(ui, "Limits", hint="Where the ranges of the joints come from")
    now = document.limits_source or NONE
    entries = ((source, WORDS[source]) for source in sources)
    chosen = controls.drop_choice(ui, "limits", WORDS.get(now, now), entries, now, height=24)
    if chosen is not None:
        act(ui, SetLimitsFrom(chosen))


def _holds(ui: PanelContext) -> None:
    """Draw the choice whether the holds of the figure yield."""
    settings = ui.session.document.solver
    available = settings.method == DEFAULT
    only = "" if available else ": default solver only"
    imgui.begin_disabled(not available)
    controls.label(ui, "Holds", hint=f"What holds do when a drag pulls against them{only}")
    firm = controls.choose(ui, "holds", (False, True), _HOLDS, settings.firm_holds, hints=_HOLD_HINTS)
    imgui.end_disabled()
    if firm != settings.firm_holds:
        act(ui, SetSolver(firm_holds=firm))


_MASS = fields.Format(decimals=2, unit=" kg", per_pixel=0.01, snap=0.5, units=fields.PLAIN, low=0.0, high=HEAVIEST)
_FACTOR = fields.Format(decimals=3, per_pixel=0.002, snap=0.1, units=fields.PART.units, low=THINNEST, high=1e6)
_REMOVE = 24
"""Side of the button that removes a row, logical pixels."""
_KINDS = {Shape.SPHERE: "sphere", Shape.BOX: "box", Shape.MESH: "mesh"}
_ICONS = {Shape.SPHERE: fa.ICON_FA_CIRCLE, Shape.BOX: fa.ICON_FA_CUBE, Shape.MESH: fa.ICON_FA_MUG_SAUCER}
_ADD = "add prop"


def _contact(ui: PanelContext) -> None:
    """Draw what the figure can touch: floor, its own bodies, props; and the pairs that may pass through each other."""
    document = ui.session.document
    contact = document.contact
    if not (contact.on or contact.props or contact.exclude):
        controls.label(ui, "Contact", hint="Whether the figure touches the floor, itself and props   C")
        command_toggle(ui, "contact.all", "contact")
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


_CENTIMETRES = fields.Format(decimals=1, unit=" cm", per_pixel=0.0005, snap=0.005, low=0.0, worth=0.01)
_FIELD = 72.0
"""Width of the margin, logical pixels."""


def _balance(ui: PanelContext) -> None:
    """Draw whether balance is kept, the current margin, the wanted one and the level."""
    balance = ui.session.document.balance
    if balance.on:
        controls.head(ui, fa.ICON_FA_SCALE_BALANCED, "Balance", spare_words(ui.session.document), colour="accent")
    words = "Keep" if balance.on else "Balance"
    controls.label(ui, words, hint="Keep the centre of mass above the figure's support")
    command_toggle(ui, "balance.keep", "balance")
    if not balance.on:
        return
    imgui.same_line(0.0, ui.px(8))
    fields.edit_number(
        ui, "margin", balance.margin, _CENTIMETRES, "Margin of balance", lambda margin: SetBalance(margin=margin),
        width=ui.px(_FIELD), hint="How far inside the support polygon the centre of mass stays",
    )  # fmt: skip
    controls.note(ui, "inside the edge")
    chosen = draw_level(ui, balance.level)
    if chosen is not None:
        act(ui, SetBalance(level=chosen))


def _prop(ui: PanelContext, prop: Prop) -> None:
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
    draw_ignores(ui, ui.session.document, name)
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


_TIMES = fields.Format(
    decimals=2, unit=" \N{MULTIPLICATION SIGN}", per_pixel=0.005, snap=0.1, units={}, low=0.01, high=100.0
)
_DIFFER = "Values differ: dragging shifts all of them, typing makes them equal"
_EQUAL = 1e-9

Make = Callable[[int, float], Action]
"""The action that gives one of them, by index, a value."""


_WEIGHTS = {True: "weight", False: "rotation_weight"}


def _several_goals(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    names = [goal.id for goal in goals]
    controls.head(ui, fa.ICON_FA_LOCATION_CROSSHAIRS, f"{len(goals)} effectors", "", colour="effector")
    controls.quiet(ui, ", ".join(map(shown, names)), small=True)
    on = [goal for goal in goals if goal.enabled]
    placed = [goal for goal in on if goal.has_position and goal.position is not None]
    if placed:
        _places(ui, placed)
    if on:
        controls.label(ui, "Weight", hint="Relative to the other goals")
        _number(
            ui, "Weight", [goal.main_weight for goal in on], WEIGHT,
            lambda i, value: actions.SetWeight(on[i].id, **{_WEIGHTS[on[i].has_lengths]: value}),
        )  # fmt: skip
        levels, pinned = {level_of(goal) for goal in on}, all(goal.pinned for goal in on)
        chosen = draw_level(ui, next(iter(levels)) if len(levels) == 1 else -1, pinned=pinned)
        if chosen is not None:
            act_all(ui, "Level", [actions.SetGoal(goal.id, level=chosen) for goal in on if not goal.pinned])
        if any(goal.sets_pose for goal in on):
            draw_pins(ui, [goal for goal in on if goal.sets_pose])
    controls.label(ui, "")
    if controls.text_button(ui, "Hold here", hint="Move the targets to the effectors"):
        act_all(ui, "Hold", [actions.HoldEffector(name) for name in names])
    imgui.same_line(0.0, ui.px(6))
    if controls.text_button(ui, "Release", hint="Switch the goals off: the effectors follow the body"):
        act_all(ui, "Release", [actions.ReleaseEffector(name) for name in names])


def _several_joints(ui: PanelContext, joints: Sequence[int]) -> None:
    document = ui.session.document
    skeleton = document.skeleton
    names = [skeleton.names[joint] for joint in joints]
    controls.head(ui, fa.ICON_FA_CIRCLE_NOTCH, f"{len(joints)} joints", "", colour="accent")
    controls.quiet(ui, ", ".join(map(shown, names)), small=True)
    _coordinates(ui, document, joints)
    limited = [name for joint, name in zip(joints, names, strict=True) if skeleton.limits[joint] is not None]
    if limited:
        on = [name not in document.unlimited for name in limited]
        controls.label(ui, "Limits")
        imgui.begin_disabled(not document.limits_on)
        if controls.toggle(ui, "limits", on=all(on) and document.limits_on, hint="Limits of these joints"):
            act_all(ui, "Limits", [actions.SetJointLimits(name, not all(on)) for name in limited])
        imgui.end_disabled()
        if any(on) and not all(on):
            controls.note(ui, f"on for {sum(on)} of {len(on)}")
    _lengths(ui, document, joints)
    moving = [joint for joint in joints if skeleton.kinds[joint] not in {JointKind.FIXED, JointKind.FREE}]
    if moving:
        controls.label(ui, "Stiffness", hint="0 moves freely in IK, 1 does not move at all")
        stiff = [float(skeleton.stiffness[joint]) for joint in moving]
        own = [skeleton.names[joint] for joint in moving]
        _number(ui, "Stiffness", stiff, STIFFNESS, lambda i, value: actions.SetStiffness(own[i], value))
    controls.label(ui, "")
    reset_button(ui, *names)


def _coordinates(ui: PanelContext, document: Document, joints: Sequence[int]) -> None:
    """The coordinates, if all joints have the same ones: fingers bend together."""
    every = [coordinates(document, joint) for joint in joints]
    if any([one.name for one in some] != [one.name for one in every[0]] for some in every):
        return
    names = [document.skeleton.names[joint] for joint in joints]
    for place, first in enumerate(every[0]):
        some = [mine[place] for mine in every]

        def turned(i: int, value: float, some: list[Coordinate] = some) -> Action:
            return some[i].turned(names[i], value)

        controls.label(ui, first.name)
        _number(ui, first.name, [one.value for one in some], fields.in_lengths(ui, first.form), turned)


def _lengths(ui: PanelContext, document: Document, joints: Sequence[int]) -> None:
    """The lengths of the joints' bones relative to the file; bones that follow a clip are left out."""
    skeleton, own = document.skeleton, document.character.skeleton
    before, now = bone_lengths(own), bone_lengths(skeleton)
    moved = {*np.flatnonzero((document.pose.translations != skeleton.offsets).any(axis=-1)).tolist()}
    ends = ((joint, end) for joint in joints for end in bones_of(skeleton)[joint])
    bones = [(joint, end) for joint, end in ends if before[end] > 0.0 and end not in moved]
    if not bones:
        return
    controls.label(ui, "Length", hint="Times the length in the file")
    places = (*skeleton.names, *skeleton.tip_names)

    def longer(i: int, value: float) -> Action:
        joint, end = bones[i]
        return actions.SetLength(skeleton.names[joint], float(before[end]) * value, places[end])

    _number(ui, "Length", [float(now[end] / before[end]) for _, end in bones], _TIMES, longer)


def _places(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    """The mean of the targets; moving it moves all of them."""
    places = np.array([goal.position for goal in goals])
    middle = places.mean(axis=0)
    controls.label(ui, fields.position_label(ui), hint="The mean of the targets; moving it moves all of them")
    changed = fields.axis_fields(ui, "middle", middle.tolist())
    if changed is None:
        return
    index, edit = changed
    places[:, index] += edit.value - middle[index]
    moved = {goal.id: (tuple(place), None) for goal, place in zip(goals, places.tolist(), strict=True)}
    carry_out_all(ui, edit, f"Move {len(goals)} effectors", lambda _: [actions.MoveTargets(moved)])


def _number(ui: PanelContext, name: str, values: Sequence[float], form: fields.Format, make: Make) -> None:
    """One number for all; where they differ, their mean, faintly."""
    mean, differ = float(np.mean(values)), max(values) - min(values) > _EQUAL * max(1.0, *map(abs, values))
    tone, hint = ("text3", _DIFFER) if differ else ("text", "")
    edit = fields.number_field(ui, f"several {name}", mean, form, colour=tone, hint=hint)
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


# --- one of several figures

_NO_OTHER = "None"
_FROM_HINTS = ("Each in its own coordinates", "Both measured from their roots: another path makes no difference")


def _place(ui: PanelContext) -> None:
    """Draw the position of the active figure, if there are several."""
    stage, figures = ui.session.stage, ui.controller.figures
    if not stage.several:
        return
    name, placement = figures.active, stage.figure.placement
    controls.head(ui, fa.ICON_FA_LOCATION_DOT, name, "place among the figures")
    imgui.push_id("place")
    controls.label(ui, fields.position_label(ui), hint="Of the figure's own origin, on the stage")
    changed = fields.axis_fields(ui, "offset", placement.offset)
    if changed is not None:
        index, edit = changed
        offset = list(placement.offset)
        offset[index] = edit.value
        _set_place(ui, name, edit, Placement((offset[0], offset[1], offset[2]), placement.yaw))
    controls.label(ui, "Yaw")
    turned = fields.number_field(ui, "yaw", math.degrees(placement.yaw), fields.ANGLE, width=ui.px(90))
    if turned is not None:
        _set_place(ui, name, turned, placement._replace(yaw=math.radians(turned.value)))
    controls.label(ui, "")
    command_button(ui, "figure.hide", "Hide", icon=fa.ICON_FA_EYE_SLASH)
    imgui.same_line(0.0, ui.px(6))
    command_button(ui, "figure.remove", "Remove", icon=fa.ICON_FA_XMARK)
    _compare(ui)
    imgui.pop_id()


def _compare(ui: PanelContext) -> None:
    """Draw the figure to compare the active one with, and how much they differ."""
    figures = ui.controller.figures
    names = figures.comparable
    if not names:
        return
    controls.label(ui, "Compare", hint="Distance of each joint from that of the same name, plotted in the timeline")
    entries, words = ((name, name or _NO_OTHER) for name in ("", *names)), figures.compared or _NO_OTHER
    chosen = controls.drop_choice(ui, "compare", words, entries, figures.compared, height=controls.SEGMENT)
    if chosen is not None:
        figures.compare(chosen)
    found = figures.comparison()
    if found is None:
        return
    controls.label(ui, "From")
    from_root = controls.choose(ui, "from", (False, True), ("Origin", "Root"), figures.from_root, hints=_FROM_HINTS)
    if from_root != figures.from_root:
        figures.compare(figures.compared, from_root=from_root)
    name, frame, metres = found.worst()
    mean, most = map(number_format.centimetres, (float(found.metres.mean()), metres))
    controls.quiet(ui, f"Mean {mean} cm, most {most} cm: {name}, frame {frame}", small=True)


def _set_place(ui: PanelContext, name: str, edit: Edit, placement: Placement) -> None:
    carry_gesture(ui, edit, lambda: None, lambda: ui.session.figures.place(name, placement, done=False))


def _differs(ui: PanelContext, joint: int) -> None:
    """Draw how far a joint is from that of the compared figure, if there is one."""
    figures = ui.controller.figures
    found = figures.comparison() if ui.session.stage.several else None
    metres = None if found is None else found.of(joint)
    if found is None or metres is None:
        return
    frame = ui.session.document.frame
    now = f"{number_format.centimetres(float(metres[frame - found.first]))} cm now, " if found.covers(frame) else ""
    most = int(metres.argmax())
    words = f"{now}most {number_format.centimetres(float(metres[most]))} cm at {found.first + most}"
    controls.label(ui, "Differs", hint=f"From {figures.compared}")
    controls.note(ui, words, "text2", gap=0.0)
