"""The inspector: the goal and the joint that are selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.panels.goals import NO_GOALS
from viewer.app.panels.inspector_goal import draw_goal
from viewer.app.panels.inspector_joint import draw_joint
from viewer.app.regions import Place
from viewer.app.widgets.rows import quiet, separator, tell_need
from viewer.skeleton.effectors import find_place

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.document import Document, Handle

NOTHING = "Click a bone, joint or effector"


def draw(ui: PanelContext) -> None:
    """Draw the panel: a goal, if an effector or its joint is selected, and a joint."""
    document = ui.session.document
    handle, joint = shown(document)
    top = imgui.get_cursor_pos_y()
    spacing = imgui.get_style().item_spacing.x
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (spacing, ui.px(4)))
    if handle is None and joint < 0:
        quiet(ui, NOTHING if document.handles else f"{NOTHING}. {NO_GOALS}")
    kinds = [item.kind for item in document.selection]
    if len(set(kinds)) < len(kinds):
        with ui.fonts.small():
            quiet(ui, f"{len(kinds)} selected, the last is shown")
    if handle is not None:
        imgui.push_id(handle.effector)
        draw_goal(ui, handle)
        imgui.pop_id()
    if joint >= 0:
        if handle is not None:
            separator(ui)
        imgui.push_id(joint)
        draw_joint(ui, joint)
        imgui.pop_id()
    imgui.pop_style_var()
    tell_need(ui, Place.RIGHT_TOP, imgui.get_cursor_pos_y() - top)


def shown(document: Document) -> tuple[Handle | None, int]:
    """The handle and the joint that the panel is about; None and -1 for none.

    Each is the one selected last; an effector brings its joint along, and a joint the effector on it.
    """
    skeleton = document.skeleton
    effector = next((item.name for item in reversed(document.selection) if item.kind == "effector"), None)
    name = next((item.name for item in reversed(document.selection) if item.kind == "joint"), None)
    joint = -1 if name is None else skeleton.index(name)
    if effector is not None:
        handle = document.handle(effector)
        return handle, joint if joint >= 0 else find_place(skeleton, effector).joint
    on_it = next((e.name for e in skeleton.effectors if e.joint == joint), None)
    handle_on_it = document.handle(on_it) if on_it is not None else None
    return handle_on_it if handle_on_it is not None and handle_on_it.on else None, joint
