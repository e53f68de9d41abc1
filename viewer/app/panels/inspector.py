"""The inspector: the selected goal and joint, prop or layer, in the units of the window."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.balance import draw_balance
from viewer.app.panels.building import draw_build_inspector
from viewer.app.panels.contact import draw_contact, draw_prop, is_folded
from viewer.app.panels.figures import draw_joint_difference, draw_place
from viewer.app.panels.goal_inspector import draw_goal
from viewer.app.panels.goals import NO_GOALS
from viewer.app.panels.joint_inspector import draw_joint
from viewer.app.panels.layer_inspector import draw_layer
from viewer.app.panels.several import draw_several_goals, draw_several_joints
from viewer.app.widgets.buttons import (
    drop_menu,
    label,
    pick,
    quiet,
    segments,
    separator,
)
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import gap
from viewer.document import Document, DocumentGoal, GoalLayer, Prop
from viewer.document.actions import SetLimitsFrom, SetSolver
from viewer.document.take import layer_of
from viewer.formats.limit_sources import NONE, WORDS, sources_of
from viewer.ik.solver_options import DEFAULT
from viewer.skeleton import find_place

NOTHING = "Click a bone, joint or effector"


def draw(ui: PanelContext) -> None:
    """Draw the panel: the goal of a selected effector or joint, and the joint."""
    document = ui.session.document
    if ui.controller.building.on:
        draw_build_inspector(ui)
        return
    goal, joint = shown(document)
    spacing = imgui.get_style().item_spacing.x
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (spacing, ui.px(4)))
    prop, layer = active_prop(document), active_layer(document)
    if prop is not None:
        imgui.push_id(f"prop {prop.name}")
        draw_prop(ui, prop)
        imgui.pop_id()
    elif layer is not None:
        imgui.push_id(f"layer {layer.id}")
        draw_layer(ui, layer)
        imgui.pop_id()
    elif goal is None and joint < 0:
        quiet(ui, NOTHING if document.goals else f"{NOTHING}. {NO_GOALS}")
        gap(ui.px(4))
        draw_limits(ui)
        draw_holds(ui, _NARROW if is_folded(document.contact) else None)
        draw_contact(ui)
        draw_balance(ui)
        draw_place(ui)
    kinds = [item.kind for item in document.selection if not item.on_figure]
    if len(kinds) > 1:
        quiet(ui, f"{len(kinds)} selected, the last is shown", small=True)
    if prop is not None or layer is not None or _several(ui):
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
        draw_joint_difference(ui, joint)
        imgui.pop_id()
    imgui.pop_style_var()


def _several(ui: PanelContext) -> bool:
    """Draw what several effectors, or several joints, share; whether there are so many."""
    document = ui.session.document
    goals = [document.goal(item.name) for item in document.selection if item.kind == "effector"]
    joints = [document.skeleton.index(item.name) for item in document.selection if item.kind == "joint"]
    if max(len(goals), len(joints)) < 2:
        return False
    imgui.push_id("several")
    if goals:
        draw_several_goals(ui, goals) if len(goals) > 1 else draw_goal(ui, goals[0])
    if goals and joints:
        separator(ui)
    if joints:
        draw_several_joints(ui, joints) if len(joints) > 1 else draw_joint(ui, joints[0])
    imgui.pop_id()
    return True


_NARROW = 46.0
"""Width of a segment, logical pixels, that leaves room for a switch beside it."""
_HOLDS = ("Yield", "Firm")
_HOLD_HINTS = ("They give way to what is dragged, and come back", "They hold back what is dragged")


def draw_limits(ui: PanelContext) -> None:
    """Draw where the limits of the figure come from, with a choice."""
    document = ui.session.document
    character = document.character
    kept = ui.memory.get("limit sources")
    if kept is None or kept[0] is not character:
        ui.memory["limit sources"] = kept = character, sources_of(character)
    label(ui, "Limits", hint="Where the ranges of the joints come from")
    now = document.limits_source or NONE
    if drop_menu(ui, "limits", WORDS.get(now, now), width=imgui.get_content_region_avail().x, height=24):
        chosen = pick(((source, WORDS[source]) for source in kept[1]), now)
        if chosen is not None and chosen != now:
            act(ui, SetLimitsFrom(chosen))
        imgui.end_popup()


def draw_holds(ui: PanelContext, width: float | None) -> None:
    """Draw the choice whether the holds of the figure yield."""
    settings = ui.session.document.solver
    available = settings.method == DEFAULT
    only = "" if available else ": default solver only"
    imgui.begin_disabled(not available)
    label(ui, "Holds", hint=f"What holds do where a drag cannot go with them{only}")
    chosen = segments(ui, "holds", _HOLDS, int(settings.firm_holds), hints=_HOLD_HINTS, widths=width and ui.px(width))
    imgui.end_disabled()
    if chosen is not None and bool(chosen) != settings.firm_holds:
        act(ui, SetSolver(firm_holds=bool(chosen)))


def active_prop(document: Document) -> Prop | None:
    """The prop that the panel shows: the item selected last, if it is one."""
    item = document.active
    return document.contact.prop(item.name) if item is not None and item.kind == "prop" else None


def active_layer(document: Document) -> GoalLayer | None:
    """The layer that the panel shows: the item selected last, if it is one."""
    item = document.active
    return layer_of(document.take, item.name) if item is not None and item.kind == "layer" else None


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
