"""The goals panel: every goal with its error and weight, grouped by effector; a click selects a goal."""

from __future__ import annotations

from collections.abc import Sequence

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import effector_mark, highlight, select_by_click
from viewer.app.widgets.buttons import quiet
from viewer.app.widgets.edits import act
from viewer.app.widgets.lists import list_row, no_spacing, rows_in_view
from viewer.app.widgets.pen import Pen, tip
from viewer.document.actions import AddGoal, Select
from viewer.document.document import DocumentGoal, Item
from viewer.document.goal import DOCUMENT_KINDS, LEVELS
from viewer.document.report import GoalError
from viewer.ik.goals import KINDS, GoalKind
from viewer.ui import numbers
from viewer.ui.balance import spare_words

_ROW, _HEAD = 24, 22
"""Heights of a row and of the column titles, logical pixels."""
_WEIGHT, _ERROR = 43, 64
"""Widths of the columns at the right, logical pixels."""
_OVERHANG = 4
"""Logical pixels by which rows extend into the panel's padding."""

OFF = "Off"

NO_GOALS = "No effectors. Right-click a joint and choose Make effector, or drag any bone"


def draw(ui: PanelContext) -> None:
    """Draw the panel, or what to do where there are no goals."""
    document = ui.session.document
    goals = document.goals
    if not goals and not document.balance.on:
        quiet(ui, NO_GOALS)
        return
    with no_spacing():
        _head(Pen(ui), len(goals) + document.balance.on)
        x, y = imgui.get_cursor_screen_pos()
        overhang = ui.px(_OVERHANG)
        imgui.set_cursor_screen_pos((x - overhang, y))
        imgui.begin_child("rows", (imgui.get_content_region_avail().x + overhang, 0.0))
        _rows(ui, goals)
        imgui.end_child()


def _rows(ui: PanelContext, goals: Sequence[DocumentGoal]) -> None:
    hovered = ui.controller.view.hovered_item()
    # Enabled goals come first: a hand has twenty effectors that are off until they are dragged.
    several: dict[str, list[DocumentGoal]] = {}
    for goal in goals:
        several.setdefault(goal.effector, []).append(goal)
    groups = sorted(several.values(), key=lambda group: not any(goal.enabled for goal in group))
    shown = [goal for group in groups for goal in group]
    errors = ui.session.errors
    pointed = None
    if ui.session.document.balance.on:
        _balance(ui, errors.get(ui.session.document.balance_id))
    for index in rows_in_view(len(shown), ui.px(_ROW)):
        goal = shown[index]
        here = Item("effector", goal.id)
        if _row(ui, goal, errors.get(goal.id), kind=len(several[goal.effector]) > 1, lit=hovered == here):
            pointed = here
    highlight(ui, pointed)


def _balance(ui: PanelContext, error: GoalError | None) -> None:
    """Draw the row of the goal for balance, with its level; a click shows its settings, those of the figure."""
    pen, document = Pen(ui), ui.session.document
    it = list_row(pen, "goal for balance", _ROW, chosen=False, lit=False)
    reached = error is None or error.reached
    tone = "unreached" if not reached else "target"
    pen.icon(it.x + pen.px(11), it.middle[1], fa.ICON_FA_SCALE_BALANCED, tone, SMALL)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    title = KINDS[GoalKind.BALANCE].title
    pen.text(it.x + pen.px(24), y, title)
    level = LEVELS[document.balance.level].lower()
    pen.small(it.x + pen.px(30) + pen.width(title), pen.middle(it.y, it.h, SMALL), level)
    missed = error_words(error, document.solver.tolerance_m, ui.controller.view.error_decimals)
    pen.right(right - pen.px(_WEIGHT), y, missed, "text2" if reached else "unreached")
    pen.right(right, y, numbers.weight(document.balance.weight), "text2")
    tip(spare_words(document))
    if it.clicked:
        act(ui, Select(()))
        ui.wake()


def _head(pen: Pen, rows: int) -> None:
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail()
    bar = imgui.get_style().scrollbar_size if rows * pen.px(_ROW) > room.y - pen.px(_HEAD) else 0.0
    right = x + room.x - bar
    y = pen.middle(y, pen.px(_HEAD), SMALL)
    pen.small(x, y, "Effector")
    pen.right(right - pen.px(_WEIGHT), y, "Error", "text3", SMALL)
    pen.right(right, y, "Weight", "text3", SMALL)
    imgui.dummy((1.0, pen.px(_HEAD)))


def _row(ui: PanelContext, goal: DocumentGoal, error: GoalError | None, *, kind: bool, lit: bool) -> bool:
    """Draw a row, with the goal's kind if ``kind``, and answer clicks; returns whether the pointer is over it."""
    name, pen = goal.id, Pen(ui)
    indent = pen.px(12) if goal.id != goal.effector else 0.0
    chosen = Item("effector", name) in ui.session.document.selection
    it = list_row(pen, f"goal {name}", _ROW, chosen=chosen, lit=lit)
    reached = error is None or error.reached or not goal.enabled or name in ui.session.yields
    if lit or (it.hovered and chosen):
        pen.upright(it.x, it.y, it.y + it.h, "hovered")
    effector_mark(pen, it.x + indent + pen.px(11), it.middle[1], goal, reached=reached)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    words = KINDS[goal.kind].title.lower() if goal.id != goal.effector else name
    words = "together" if goal.relative else words
    room = it.w - indent - pen.px(_WEIGHT + _ERROR + 30 if goal.enabled else 58)
    shown = pen.fit(words, room)
    pen.text(it.x + indent + pen.px(24), y, shown, "text" if goal.enabled else "text3")
    if kind and words == name:
        left = pen.width(shown) + pen.px(6)
        note = KINDS[goal.kind].title.lower()
        if left + pen.width(note, SMALL) <= room:
            pen.small(it.x + pen.px(24) + left, pen.middle(it.y, it.h, SMALL), note)
    if goal.enabled:
        missed = error_words(error, ui.session.document.solver.tolerance_m, ui.controller.view.error_decimals)
        pen.right(right - pen.px(_WEIGHT), y, missed, "text2" if reached else "unreached")
        pen.right(right, y, numbers.weight(goal.weight), "text2")
    else:
        pen.right(right, y, "off", "text3")
    tip(f"with {goal.to}" if goal.relative else name if shown != name else "")
    if it.clicked:
        select_by_click(ui, Item("effector", name))
        ui.wake()
    return it.hovered


def error_words(error: GoalError | None, tolerance: float, decimals: int = 1) -> str:
    """The error as a length; in degrees if the position is within ``tolerance`` (metres) but the rotation is not."""
    if error is None:
        return numbers.DASH
    rotation_missed = not error.reached and error.degrees is not None
    if error.metres is not None and not (rotation_missed and error.metres <= tolerance):
        return numbers.error(error.metres, decimals)
    return f"{numbers.fixed(error.degrees or 0.0, 1)}°"


def add_entries(ui: PanelContext, effector: str) -> None:
    """Menu entries that add a goal to an effector, one for each kind."""
    for kind in DOCUMENT_KINDS:
        if imgui.menu_item_simple(KINDS[kind].title, KINDS[kind].hint):
            act(ui, AddGoal(effector, kind))
