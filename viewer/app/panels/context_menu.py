"""The menu of an item: what can be done with a joint or an effector, making it an effector first."""

from __future__ import annotations

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.goals import add_entries
from viewer.app.panels.inspector import kind_entries
from viewer.app.panels.panel_parts import run
from viewer.app.widgets.edits import act
from viewer.document.actions import (
    HoldEffector,
    MakeEffector,
    ReleaseEffector,
    RemoveEffector,
    RemoveGoal,
    Select,
    SetJointLimits,
    SetPin,
)
from viewer.document.document import Item
from viewer.document.scope import joint_of
from viewer.errors import shown
from viewer.ui.commands import BY_ID

NAME, ADDING = "##context", "##add goal"


def draw(ui: PanelContext) -> None:
    """Open the menu where it was asked for, and draw it."""
    request = ui.take("context-menu")
    if request is not None:
        ui.memory["item"] = request.value
        ui.memory["at"] = request.x, request.y
        imgui.open_popup(NAME)
        imgui.set_nav_cursor_visible(False)  # a mouse opened it
    imgui.set_next_window_pos(ui.memory.get("at", (0.0, 0.0)), imgui.Cond_.appearing)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(8), ui.px(8)))
    if imgui.begin_popup(NAME):
        wanted = ui.memory.get("item")
        if isinstance(wanted, Item) and _exists(ui, wanted):
            _title(ui, wanted.name)
            (_effector if wanted.kind == "effector" else _joint)(ui, wanted.name)
        else:
            _view(ui)
        imgui.end_popup()
    _adding(ui)
    imgui.pop_style_var()


def _adding(ui: PanelContext) -> None:
    """The menu that a key opens under the pointer: what else to ask of an effector."""
    request = ui.take("add-goal")
    if request is not None:
        ui.memory["adding"] = request.value
        imgui.open_popup(ADDING)
    if imgui.begin_popup(ADDING):
        effector = str(ui.memory.get("adding"))
        if any(goal.id == effector for goal in ui.session.document.goals):
            _title(ui, f"Add goal to {effector}")
            add_entries(ui, effector)
        imgui.end_popup()


def _exists(ui: PanelContext, item: Item) -> bool:
    document = ui.session.document
    names = document.skeleton.names if item.kind == "joint" else [goal.id for goal in document.goals]
    return item.name in names


def _title(ui: PanelContext, name: str) -> None:
    imgui.push_style_color(imgui.Col_.text, ui.paint("text3"))
    with ui.fonts.small():
        imgui.text_unformatted(shown(name))
    imgui.pop_style_color()
    imgui.separator()


def _command(ui: PanelContext, command: str, words: str = "") -> None:
    """An entry of the one table."""
    row = BY_ID[command]
    ticked = bool(ui.controller.checked(command))
    if imgui.menu_item_simple(words or row.title, row.shortcut, ticked, ui.controller.can(command)):
        run(ui, command)


def _joint(ui: PanelContext, name: str) -> None:
    document = ui.session.document
    skeleton = document.skeleton
    joint = skeleton.index(name)
    on_it = next((e.name for e in skeleton.effectors if e.joint == joint), None)
    goal = document.goal(on_it) if on_it is not None else None
    if goal is None or not goal.enabled:
        if imgui.menu_item_simple("Make effector", BY_ID["effector.make"].shortcut):
            act(ui, MakeEffector(name) if goal is None else HoldEffector(goal.effector))
    else:
        _effector_entries(ui, goal.effector)
    imgui.separator()
    _own_limits(ui, name)
    for command in ("reset.rotation", "reset.position"):
        _command(ui, command)
    imgui.separator()
    for command in ("joint.rename", "select.children", "select.parent", "view.frame_selection"):
        _command(ui, command)


def _own_limits(ui: PanelContext, name: str) -> None:
    document = ui.session.document
    limited = document.skeleton.limits[document.skeleton.index(name)] is not None
    own = name not in document.unlimited
    if imgui.menu_item_simple("Limits of this joint", BY_ID["limits.joint"].shortcut, limited and own, limited):
        act(ui, SetJointLimits(name, not own))


def _effector(ui: PanelContext, name: str) -> None:
    _effector_entries(ui, name)
    imgui.separator()
    joint = joint_of(ui.session.document, Item("effector", name))
    if imgui.menu_item_simple("Select its joint"):
        act(ui, Select((Item("joint", ui.session.document.skeleton.names[joint]),)))
    _command(ui, "view.frame_selection")


def _effector_entries(ui: PanelContext, name: str) -> None:
    goal = ui.session.document.goal(name)
    if imgui.menu_item_simple("Pin position", BY_ID["pin.position"].shortcut, goal.enabled and goal.pin_position):
        act(ui, SetPin(name, position=not goal.pin_position))
    if imgui.menu_item_simple("Pin rotation", BY_ID["pin.rotation"].shortcut, goal.enabled and goal.pin_rotation):
        act(ui, SetPin(name, rotation=not goal.pin_rotation))
    if imgui.menu_item_simple("Hold here"):
        act(ui, HoldEffector(name))
    if imgui.begin_menu("Goal"):
        kind_entries(ui, goal)
        imgui.end_menu()
    if imgui.begin_menu("Add goal"):
        add_entries(ui, goal.effector)
        imgui.end_menu()
    if imgui.menu_item_simple("Release", BY_ID["goal.remove"].shortcut, False, goal.enabled):
        act(ui, ReleaseEffector(name))
    if goal.id != goal.effector and imgui.menu_item_simple("Remove goal", BY_ID["goal.remove"].shortcut):
        act(ui, RemoveGoal(name))
    elif goal.id == goal.effector and imgui.menu_item_simple("Remove effector"):
        act(ui, RemoveEffector(name))


def _view(ui: PanelContext) -> None:
    """Nothing is under the pointer: what concerns the view."""
    for command in ("view.frame_all", "view.three_quarter", "view.orthographic"):
        _command(ui, command)
    imgui.separator()
    for command in ("show.grid", "show.names", "show.axes", "reset.pose"):
        _command(ui, command)
