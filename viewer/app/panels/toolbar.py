"""The toolbar: tools, space and snap, drag mode and scope, limits, recording; solver, undo and redo."""

from __future__ import annotations

import math

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.build_panel import KINDS_FROM, draw_build_tools, draw_kinds
from viewer.app.panels.lab_panel import draw_lab_tools
from viewer.app.panels.panel_parts import (
    FINISH,
    command_button,
    command_entry,
    command_tool,
    explained,
    finish_button,
    hint,
    run,
)
from viewer.app.panels.physics_panel import draw_physics_tools
from viewer.app.panels.retarget_panel import APPLIES, CANCELS, draw_retarget_tools
from viewer.app.panels.solver_panel import method_menu
from viewer.app.theme import SMALL
from viewer.app.widgets import controls
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import Pen, item, tip
from viewer.document import Mode, Scope
from viewer.document.actions import SetMode, SetScope
from viewer.gizmo import Space, Tool
from viewer.ik.methods import EVERY_METHOD
from viewer.scene import LimitsShown
from viewer.ui import number_format
from viewer.ui.contact import spare_words
from viewer.ui.view import Workspace

WIDE, NARROW = 96.0, 30.0
"""Widths of the record button with and without words, logical pixels."""


def _record_button(ui: PanelContext, *, words: bool) -> None:
    """A disc and ``Record``; while recording, a square and the recorded time on red."""
    pen, session = Pen(ui), ui.session
    it = item("record", pen.px(WIDE if words else NARROW), pen.px(controls.TOOL))
    on = session.recorder.recording
    pen.box(*it[:4], "record" if on else it.fill if it.hovered or it.held else "panel")
    if not on:
        pen.frame(*it[:4], "record")
    x, y = it.x + pen.px(16.0 if words else NARROW / 2.0), it.middle[1]
    if on:
        half = pen.px(5)
        pen.box(x - half, y - half, 2.0 * half, 2.0 * half, "on_accent", rounding=1)
    else:
        pen.disc(x, y, 5.0, "record")
    if words:
        said = number_format.clock(session.recorder.seconds) if on else "Record"
        (pen.strong if on else pen.text)(x + pen.px(14), pen.middle(it.y, it.h), said, "on_accent" if on else "text")
    tip(hint("key.record", "Stop recording" if on else "Record while you drag"))
    if it.clicked:
        run(ui, "key.record")


_TOOLS = (
    (Tool.SELECT, "tool.select", fa.ICON_FA_ARROW_POINTER),
    (Tool.MOVE, "tool.move", fa.ICON_FA_UP_DOWN_LEFT_RIGHT),
    (Tool.ROTATE, "tool.rotate", fa.ICON_FA_ROTATE),
)
_SPACES = {Space.WORLD: "World", Space.LOCAL: "Local", Space.PARENT: "Parent", Space.VIEW: "View"}
_SCOPES = {Scope.BODY: "Full body", Scope.LIMB: "Limb", Scope.SELECTION: "Selection"}
_SNAPS_M = (0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5)
_SNAPS_DEG = (1.0, 2.0, 5.0, 10.0, 15.0, 45.0)
_BODIES = {"sticks": fa.ICON_FA_BONE, "capsules": fa.ICON_FA_CAPSULES, "skin": fa.ICON_FA_SHIRT}
_SHOW = (
    ("Figure", ("show.goals", "show.names", "show.axes", "show.balance")),
    ("Motion", ("show.ghosts", "show.trails")),
    ("Floor", ("show.grid", "show.shadow")),
)
"""Groups of the list of what is shown; the ranges of joints are a group of their own."""
_CONES: dict[LimitsShown, str] = {"selected": "Ranges of the selection", "all": "All ranges", "none": "No ranges"}
_ROOMY = 1500.0
"""Least logical width of the window for the solver's note."""
_LAB_SHORT, _SHORT, _SHORTEST = 1048.0, 1060.0, 900.0
"""Logical widths of the window below which the buttons of the laboratory and lists lose their words, and limits are a
lock alone."""
_SOLVER = 52.0
"""Logical width of the list of solvers without words."""
_LISTS = 17.0 + 52.0 + 3.0 + 52.0
"""Logical width of the lists of what is shown, with the separator before them."""


def draw_toolbar(ui: PanelContext) -> None:
    """Draw the buttons from left to right, and those at the right end."""
    height = imgui.get_window_height()
    imgui.set_cursor_pos((ui.px(8), round((height - ui.px(controls.TOOL)) / 2.0)))
    own = {Workspace.BUILD: _build, Workspace.PHYSICS: _physics, Workspace.RETARGET: _retarget, Workspace.LAB: _lab}
    if (workspace := ui.controller.view.workspace) in own:
        own[workspace](ui)
        return
    for tool, command, icon in _TOOLS:
        command_tool(ui, command, icon, on=ui.controller.view.tool is tool)
        _next(ui, 3)
    _separator(ui)
    _space(ui)
    _snap(ui)
    _separator(ui)
    _mode(ui)
    _separator(ui)
    _limits_button(ui)
    _next(ui, 3)
    _contact_button(ui)
    _next(ui, 3)
    document, mirror = ui.session.document, ui.controller.view.mirror
    said = f"Balance is kept: {spare_words(document)}" if document.balance.on else "Balance is not kept"
    command_tool(ui, "balance.keep", fa.ICON_FA_SCALE_BALANCED, said=said, on=document.balance.on)
    _next(ui, 3)
    said = "Mirror: what you do to one side is done to the other" if mirror else "Mirror edits: off"
    command_tool(ui, "edit.mirror", fa.ICON_FA_ARROWS_LEFT_RIGHT, said=said, on=mirror)
    _shown(ui, NARROW + _SOLVER + 28)
    _right(ui)


def _build(ui: PanelContext) -> None:
    wide = ui.rect.w >= ui.px(KINDS_FROM)
    draw_build_tools(ui, wide)
    _next(ui)
    _snap(ui)
    _separator(ui)
    draw_kinds(ui, wide)
    _separator(ui)
    on = ui.controller.view.mirror
    said = "Mirror: both sides are made at once" if on else "Mirror: off"
    mirror = fa.ICON_FA_ARROWS_LEFT_RIGHT
    command_button(ui, "edit.mirror", "Mirror", icon=mirror, on=on, height=controls.TOOL, said=said)
    _shown(ui, FINISH)
    _to_end(ui, FINISH)
    finish_button(ui, "build.done", "Done, pose", said="Ends of chains become effectors, ready to be dragged")


def _physics(ui: PanelContext) -> None:
    wide = ui.rect.w >= ui.px(_SHORT)
    draw_physics_tools(ui, wide=wide)
    end = FINISH + 8 + (WIDE if wide else NARROW)
    _shown(ui, end)
    _to_end(ui, end)
    _record_button(ui, words=wide)
    _next(ui, 8)
    finish_button(ui, "physics.keep_pose", "Keep pose", said="The figure stays as it is now")


def _retarget(ui: PanelContext) -> None:
    draw_retarget_tools(ui, wide=ui.rect.w >= ui.px(_SHORT))
    _separator(ui)
    _limits_button(ui)
    running = ui.controller.retargeting.running
    end = 86 + 8 + FINISH if running else 0.0
    _shown(ui, end)
    _to_end(ui, end)
    if not running:
        return
    command_tool(ui, "retarget.cancel", fa.ICON_FA_XMARK, "Cancel", 86.0, said=CANCELS)
    _next(ui, 8)
    finish_button(ui, "retarget.apply", "Apply", said=APPLIES)


def _lab(ui: PanelContext) -> None:
    _mode(ui)
    _separator(ui)
    draw_lab_tools(ui, wide=ui.rect.w >= ui.px(_LAB_SHORT))
    _separator(ui)
    _limits_button(ui)
    _shown(ui, FINISH)
    _to_end(ui, FINISH)
    finish_button(ui, "lab.report", "Report…", icon=fa.ICON_FA_FILE_LINES)


def _to_end(ui: PanelContext, width: float) -> None:
    """Undo and redo, with ``width`` logical pixels after them for the buttons at the right end."""
    _next(ui, 8)
    x, y = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((max(_end(ui, width), x), y))
    _undo_redo(ui)
    _next(ui, 8)


def _end(ui: PanelContext, width: float) -> float:
    """Where undo and redo begin, as of `_to_end`."""
    return imgui.get_window_pos().x + ui.rect.w - ui.px(8 + width + 12 + 2 * controls.TOOL + 4)


def _next(ui: PanelContext, space: float = 4.0) -> None:
    imgui.same_line(0.0, ui.px(space))


def _fitted(ui: PanelContext, words: str, width: float) -> tuple[str, float]:
    """Words and width of a list's button; no words in a narrow window."""
    return (words, ui.px(width)) if ui.rect.w >= ui.px(_SHORT) else ("", ui.px(52))


def _separator(ui: PanelContext) -> None:
    _next(ui, 8)
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.upright(x, y + pen.px(4), y + pen.px(controls.TOOL - 4))
    imgui.dummy((1.0, pen.px(controls.TOOL)))
    _next(ui, 8)


def _space(ui: PanelContext) -> None:
    words = _SPACES[ui.controller.view.space]
    words, width = _fitted(ui, words, 100.0)
    axes_hint = hint("space.next", f"Axes of the handles: {_SPACES[ui.controller.view.space].lower()}")
    if controls.drop_menu(ui, "space", words, icon=fa.ICON_FA_GLOBE, width=width, hint=axes_hint):
        if (space := controls.pick(_SPACES.items(), ui.controller.view.space)) is not None:
            ui.controller.view.space = space
            ui.controller.view.changed()
        imgui.separator()
        command_entry(ui, "pivot.individual")
        imgui.end_popup()
    _next(ui)


def _snap(ui: PanelContext) -> None:
    controller = ui.controller
    turning = controller.view.tool is Tool.ROTATE
    words = f"{controller.view.snap_deg:g}°" if turning else number_format.step(controller.view.snap_m)
    colour = "text" if controller.view.magnet else "text2"
    snap_hint = f"Snap step {words}: hold Ctrl, or snap always"
    wide = max(90.0, Pen(ui).width(words) / ui.scale + 60.0)
    words, width = _fitted(ui, words, wide)
    if controls.drop_menu(ui, "snap", words, icon=fa.ICON_FA_MAGNET, width=width, hint=snap_hint, colour=colour):
        if imgui.menu_item_simple("Snap always", "Ctrl: free", controller.view.magnet):
            run(ui, "snap.magnet")
        imgui.separator()
        for usual in _SNAPS_M:
            step = usual * controller.view.step_scale
            if imgui.menu_item_simple(number_format.step(step), None, math.isclose(step, controller.view.snap_m)):
                controller.view.snap_m = step
        imgui.separator()
        for angle in _SNAPS_DEG:
            if imgui.menu_item_simple(f"{angle:g}°", None, angle == controller.view.snap_deg):
                controller.view.snap_deg = angle
        imgui.end_popup()


def _mode(ui: PanelContext) -> None:
    document = ui.session.document
    hints = ("Dragging moves goals; the joints follow   D", "Dragging rotates joints   D")
    mode = controls.choose(
        ui, "mode", tuple(Mode), ("IK", "FK"), document.mode, hints=hints, height=controls.TOOL, widths=ui.px(38)
    )
    if mode is not document.mode:
        act(ui, SetMode(mode))
    _next(ui)
    words = _SCOPES[document.scope]
    scope_hint = hint("scope.next", f"Which joints a drag may move: {words.lower()}")
    words, width = _fitted(ui, words, 122.0)
    scope = controls.drop_choice(
        ui, "scope", words, _SCOPES.items(), document.scope, icon=fa.ICON_FA_PERSON, width=width, hint=scope_hint
    )
    if scope is not None:
        act(ui, SetScope(scope))


def _limits_button(ui: PanelContext) -> None:
    """``Limits L``, with an amber frame and an open lock while limits are off; in a narrow window only the lock."""
    pen, on, words = Pen(ui), ui.session.document.limits_on, ui.rect.w >= ui.px(_SHORTEST)
    it = item("limits", pen.px(96 if words else NARROW), pen.px(controls.TOOL))
    pen.box(*it[:4], it.fill)
    if not on:
        pen.frame(*it[:4], "warn")
    y = pen.middle(it.y, it.h)
    icon, tone = (fa.ICON_FA_LOCK, "accent") if on else (fa.ICON_FA_LOCK_OPEN, "warn")
    pen.icon(it.x + pen.px(16.0 if words else NARROW / 2.0), it.middle[1], icon, tone)
    if words:
        pen.text(it.x + pen.px(29), y, "Limits")
        pen.right(it.x + it.w - pen.px(9), pen.middle(it.y, it.h, SMALL), "L", "text3", SMALL)
    tip(hint("limits.all", "Joint limits are on" if on else "Joint limits are off"))
    if it.clicked:
        run(ui, "limits.all")


_PARTS = (("floor", "Floor"), ("bodies", "Body"), ("objects", "Props"))


def _contact_button(ui: PanelContext) -> None:
    """Draw a hand, highlighted while contact is on; the right button opens a list of what the figure can touch."""
    contact = ui.session.document.contact
    on = [words for part, words in _PARTS if getattr(contact, part)]
    said = f"Contact is on: {', '.join(on).lower() or 'nothing'}" if contact.on else "Contact is off"
    command_tool(ui, "contact.all", fa.ICON_FA_HAND, said=said, on=contact.on)
    if imgui.is_item_hovered() and imgui.is_mouse_released(imgui.MouseButton_.right):
        imgui.open_popup("contact parts")
    if imgui.begin_popup("contact parts"):
        for part, words in _PARTS:
            if imgui.menu_item_simple(words, "", contact.on and bool(getattr(contact, part))):
                run(ui, f"contact.{part}")
        imgui.separator()
        for command in ("prop.add_sphere", "prop.add_box", "prop.add_mesh"):
            command_entry(ui, command)
        imgui.end_popup()


def _shown(ui: PanelContext, width: float) -> None:
    """A separator and two lists: what is drawn of the figure, and what is shown besides it.

    They are left out where they have no room before the buttons at the right end; ``width`` as of `_to_end`.
    """
    if imgui.get_item_rect_max().x + ui.px(_LISTS + 8) > _end(ui, width):
        return
    _separator(ui)
    display = ui.controller.view.display
    body = "sticks" if display.body == "skin" and ui.session.document.character.skin is None else display.body
    said = hint("show.body", f"Body: {body}{', seen through' if display.see_through else ''}")
    if controls.drop_menu(ui, "body", "", icon=_BODIES[body], width=ui.px(52), hint=said):
        for each in _BODIES:
            command_entry(ui, f"show.{each}")
        imgui.separator()
        command_entry(ui, "show.see_through")
        imgui.end_popup()
    _next(ui, 3)
    if controls.drop_menu(
        ui, "show", "", icon=fa.ICON_FA_EYE, width=ui.px(52), hint="Show: what is drawn besides the figure"
    ):
        for title, commands in _SHOW:
            imgui.separator_text(title)
            for command in commands:
                command_entry(ui, command)
        imgui.separator_text("Limits")
        chosen = controls.pick(_CONES.items(), display.limits)
        if chosen is not None:
            ui.controller.switches.show("limits", chosen)
        imgui.end_popup()


def _right(ui: PanelContext) -> None:
    """The solver, undo, redo and recording at the right end."""
    _next(ui, 16)
    x, y = imgui.get_cursor_screen_pos()
    edge, history = imgui.get_window_pos().x + ui.rect.w, 8 + 2 * controls.TOOL + 8 + 8
    wordy = edge - ui.px(history + WIDE) >= x + ui.px(_SOLVER + 12)
    end = max(edge - ui.px(history + (WIDE if wordy else NARROW)), x)
    _solver(ui, (x, y), end - ui.px(12))
    imgui.set_cursor_screen_pos((end, y))
    _undo_redo(ui)
    _next(ui, 8)
    _record_button(ui, words=wordy)


def _undo_redo(ui: PanelContext) -> None:
    labels, done = ui.session.history.labels, ui.session.history.index
    undone = f"Undo {labels[done - 1]}" if done else "Undo"
    redone = f"Redo {labels[done]}" if done < len(labels) else "Redo"
    for command, icon, said in (
        ("edit.undo", fa.ICON_FA_ARROW_ROTATE_LEFT, undone), ("edit.redo", fa.ICON_FA_ARROW_ROTATE_RIGHT, redone),
    ):  # fmt: skip
        lacks = ui.controller.lacks(command)
        if controls.icon_button(ui, command, icon, explained(command, lacks, said), fill=None, enabled=not lacks):
            run(ui, command)
        _next(ui)


def _solver(ui: PanelContext, start: tuple[float, float], end: float) -> None:
    """The list of solvers between ``start`` and ``end``; its icon alone, or nothing, if there is too little room."""
    pen, method = Pen(ui), EVERY_METHOD[ui.session.document.solver.method]
    words = f"{method.title}  ({method.hint.partition(',')[0]})" if ui.rect.w > ui.px(_ROOMY) else method.title
    width = pen.width(words) + pen.px(58)
    if width > end - start[0]:
        words, width = "", pen.px(_SOLVER)
    if width > end - start[0]:
        return
    imgui.set_cursor_screen_pos((end - width, start[1]))
    said = hint("solver.next", f"Solver: {method.title}, {method.hint}")
    if controls.drop_menu(ui, "solver", words, icon=fa.ICON_FA_GEARS, width=width, hint=said):
        method_menu(ui, method.name)
        imgui.end_popup()
