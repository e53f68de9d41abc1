"""The goals panel: every goal with its error and weight, those of one effector together; a click selects it."""

from __future__ import annotations

from collections.abc import Sequence

from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import context_menu, effector_mark, point
from viewer.app.widgets.buttons import quiet
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import Pen, item, tip
from viewer.document.actions import AddGoal, Select
from viewer.document.document import DocumentGoal, Item
from viewer.document.goal import DOCUMENT_KINDS
from viewer.document.report import GoalError
from viewer.ik.goals import KINDS
from viewer.ui import numbers

ROW, HEAD = 24, 22
"""Heights, logical pixels."""
_WEIGHT, _ERROR = 43, 64
"""Widths of the columns at the right end, logical pixels."""
_REACH = 4
"""Logical pixels by which rows reach into the panel's padding."""

OFF = "Off, follows along"

NO_GOALS = "No effectors. Right-click a joint and choose Make effector, or drag any bone"


def draw(ui: PanelContext) -> None:
    """Draw the panel."""
    goals = ui.session.document.goals
    if not goals:
        quiet(ui, NO_GOALS)
        return
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    _head(Pen(ui), len(goals))
    x, y = imgui.get_cursor_screen_pos()
    reach = ui.px(_REACH)
    imgui.set_cursor_screen_pos((x - reach, y))
    imgui.begin_child("rows", (imgui.get_content_region_avail().x + reach, 0.0))
    _rows(ui, goals)
    imgui.end_child()
    imgui.pop_style_var()


def _rows(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    hovered = ui.controller.view.hovered_item()
    # What is on comes first: a hand has twenty effectors that are off until they are touched.
    several: dict[str, list[DocumentGoal]] = {}
    for goal in goals:
        several.setdefault(goal.effector, []).append(goal)
    groups = sorted(several.values(), key=lambda group: not any(goal.enabled for goal in group))
    shown = [goal for group in groups for goal in group]
    errors = ui.session.errors
    clipper = imgui.ListClipper()
    clipper.begin(len(shown), ui.px(ROW))
    pointed = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            here = Item("effector", shown[index].id)
            if _row(
                ui,
                shown[index],
                errors.get(here.name),
                kind=len(several[shown[index].effector]) > 1,
                lit=hovered == here,
            ):
                pointed = here
    point(ui, pointed)


def _head(pen: Pen, rows: int) -> None:
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail()
    bar = imgui.get_style().scrollbar_size if rows * pen.px(ROW) > room.y - pen.px(HEAD) else 0.0
    right = x + room.x - bar
    y = pen.middle(y, pen.px(HEAD), SMALL)
    pen.small(x, y, "Effector")
    pen.right(right - pen.px(_WEIGHT), y, "Error", "text3", SMALL)
    pen.right(right, y, "Weight", "text3", SMALL)
    imgui.dummy((1.0, pen.px(HEAD)))


def _row(ui: PanelContext, goal: DocumentGoal, error: GoalError | None, *, kind: bool, lit: bool) -> bool:
    """Draw a row, with the goal's kind if asked, and answer it; whether the pointer is over it."""
    name, pen = goal.id, Pen(ui)
    indent = pen.px(12) if goal.id != goal.effector else 0.0
    it = item(f"goal {name}", imgui.get_content_region_avail().x, pen.px(ROW), right_too=True)
    chosen = Item("effector", name) in ui.session.document.selection
    reached = error is None or error.reached or not goal.enabled
    if chosen:
        pen.box(*it[:4], "accent_dk")
    elif it.hovered or lit:
        pen.box(*it[:4], "field")
    if lit or (it.hovered and chosen):
        pen.upright(it.x, it.y, it.y + it.h, "hovered")
    effector_mark(pen, it.x + indent + pen.px(11), it.middle[1], goal, reached=reached)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    words = KINDS[goal.kind].title.lower() if goal.id != goal.effector else name
    room = it.w - indent - pen.px(_WEIGHT + _ERROR + 30 if goal.enabled else 58)
    shown = pen.fit(words, room)
    pen.text(it.x + indent + pen.px(24), y, shown, "text" if goal.enabled else "text3")
    if kind and words == name:
        left = pen.width(shown) + pen.px(6)
        note = KINDS[goal.kind].title.lower()
        if left + pen.width(note, SMALL) <= room:
            pen.small(it.x + pen.px(24) + left, pen.middle(it.y, it.h, SMALL), note)
    if goal.enabled:
        tolerance = ui.session.document.solver.tolerance_m
        pen.right(
            right - pen.px(_WEIGHT),
            y,
            error_words(error, tolerance, ui.controller.view.error_decimals),
            "text2" if reached else "unreached",
        )
        pen.right(right, y, numbers.weight(goal.weight), "text2")
    else:
        pen.right(right, y, "off", "text3")
    tip(name if shown != name else "")
    if it.clicked:
        _clicked(ui, Item("effector", name))
    return it.hovered


def error_words(error: GoalError | None, tolerance: float, decimals: int = 1) -> str:
    """How far a goal is missed; in degrees where its place is met, to the tolerance in metres, and its turn is not."""
    if error is None:
        return numbers.DASH
    turn_missed = not error.reached and error.degrees is not None
    if error.metres is not None and not (turn_missed and error.metres <= tolerance):
        return numbers.error(error.metres, decimals)
    return f"{numbers.fixed(error.degrees or 0.0, 1)}°"


def _clicked(ui: PanelContext, here: Item) -> None:
    io = imgui.get_io()
    if imgui.is_mouse_released(imgui.MouseButton_.right):
        if here not in ui.session.document.selection:
            act(ui, Select((here,)))
        context_menu(ui, here, io.mouse_pos.x, io.mouse_pos.y)
    else:
        act(ui, Select((here,), "add" if io.key_shift else "toggle" if io.key_ctrl else "set"))
    ui.wake()


def add_entries(ui: PanelContext, effector: str) -> None:
    """The entries of a menu that adds a goal to an effector."""
    for kind in DOCUMENT_KINDS:
        if imgui.menu_item_simple(KINDS[kind].title, KINDS[kind].hint):
            act(ui, AddGoal(effector, kind))
