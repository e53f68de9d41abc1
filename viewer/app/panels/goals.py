"""The goals panel: every goal with its error and weight, by level; a click selects one, a drag changes its level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import effector_mark, highlight, select_by_click
from viewer.app.widgets.buttons import quiet
from viewer.app.widgets.edits import act
from viewer.app.widgets.lists import list_row, no_spacing, rows_in_view, scroll_to_row
from viewer.app.widgets.pen import Area, Pen, item, tip
from viewer.document import Document, DocumentGoal, GoalError, Item
from viewer.document.actions import AddGoal, Select, SetGoal
from viewer.document.goal import DOCUMENT_KINDS, LEVELS
from viewer.document.grips import GRIP_LEVEL, grip_id, solver_grips
from viewer.ik.goals import KINDS, GoalKind
from viewer.ui import numbers
from viewer.ui.balance import spare_words
from viewer.ui.status import short_name

_ROW = 24
"""Height of a row, logical pixels."""
_WEIGHT, _ERROR = 43, 64
"""Widths of the columns at the right, logical pixels."""
_OVERHANG = 4
"""Logical pixels by which rows extend into the panel's padding."""

OFF, _OFF = "Off", len(LEVELS)

NO_GOALS = "No effectors. Right-click a joint and choose Make effector, or drag any bone"


def draw(ui: PanelContext) -> None:
    """Draw the panel, or what to do where there are no goals."""
    document = ui.session.document
    if not document.goals and not document.balance.on:
        quiet(ui, NO_GOALS)
        return
    with no_spacing():
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
        goal: the row's, or None.
        balance: the row is that of the goal for balance.
        grip: the hand and the prop of a grip, or None.
    """

    level: int
    goal: DocumentGoal | None = None
    balance: bool = False
    grip: tuple[str, str] | None = None

    @property
    def is_heading(self) -> bool:
        """Whether it is the heading of its level."""
        return self.goal is None and not self.balance and self.grip is None


def rows_of(document: Document) -> list[Row]:
    """Rows by level, those of goals that are off last: a hand has twenty effectors that are off until dragged."""
    rows = [Row(level_of(goal), goal) for goal in document.goals]
    asked = solver_grips(document.contact, document.skeleton)
    for hand, prop in document.contact.grips:
        rows.append(Row(GRIP_LEVEL if grip_id(hand) in asked else _OFF, grip=(hand, prop)))
    if document.balance.on:
        rows.insert(0, Row(document.balance.level, balance=True))
    levels = sorted({row.level for row in rows})
    return [row for level in levels for row in (Row(level), *(one for one in rows if one.level == level))]


def level_of(goal: DocumentGoal) -> int:
    """The level under which a goal is listed: pins come first of all."""
    if not goal.enabled:
        return _OFF
    return min(goal.level, 0) if goal.pinned else goal.level


def _rows(ui: PanelContext, rows: Sequence[Row]) -> None:
    document, hovered, errors = ui.session.document, ui.controller.view.hovered_item(), ui.session.errors
    _follow_selection(ui, rows)
    owned = Counter(goal.effector for goal in document.goals)
    pointed, below = None, None
    for index in rows_in_view(len(rows), ui.px(_ROW)):
        row = rows[index]
        if row.is_heading:
            over = _heading(ui, row.level, first=index == 0)
        elif row.grip is not None:
            over = _grip(ui, *row.grip, errors.get(grip_id(row.grip[0])), on=row.level < _OFF)
        elif row.goal is None:
            over = _balance(ui, errors.get(document.balance_id))
        else:
            here = Item("effector", row.goal.id)
            over = _row(ui, row.goal, errors.get(row.goal.id), kind=owned[row.goal.effector] > 1, lit=hovered == here)
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
        scroll_to_row(places[0] if places else -1, ui.px(_ROW), centre=False)


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
    """Note that a row is dragged: among the rows of another level its goal gets that level."""
    if imgui.is_item_active() and imgui.is_mouse_dragging(imgui.MouseButton_.left):
        ui.memory[_DRAGGED] = goal.id
        imgui.set_tooltip(f"{goal.id}: drop it under a level")
        ui.wake()


def _drop(ui: PanelContext, level: int | None) -> None:
    """End the drag of a row over another one of this level, or None."""
    if _DRAGGED not in ui.memory or imgui.is_mouse_down(imgui.MouseButton_.left):
        return
    name = ui.memory.pop(_DRAGGED)
    goal = next((one for one in ui.session.document.goals if one.id == name), None)
    if goal is not None and level is not None and level < _OFF and level != level_of(goal):
        act(ui, SetGoal(goal.id, level=level))
    ui.wake()


def _balance(ui: PanelContext, error: GoalError | None) -> bool:
    """Draw the row of the goal for balance; a click shows its settings, those of the figure."""
    pen, document = Pen(ui), ui.session.document
    it = list_row(pen, "goal for balance", _ROW, chosen=False, lit=False)
    reached = error is None or error.reached
    tone = "unreached" if not reached else "target"
    pen.icon(it.x + pen.px(11), it.middle[1], fa.ICON_FA_SCALE_BALANCED, tone, SMALL)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    pen.text(it.x + pen.px(24), y, KINDS[GoalKind.BALANCE].title)
    missed = error_words(error, document.solver.tolerance_m, ui.controller.view.error_decimals)
    pen.right(right - pen.px(_WEIGHT), y, missed, "text2" if reached else "unreached")
    pen.right(right, y, numbers.weight(document.balance.weight), "text2")
    tip(spare_words(document))
    if it.clicked:
        act(ui, Select(()))
        ui.wake()
    return _is_over(it)


def _grip(ui: PanelContext, hand: str, prop: str, error: GoalError | None, *, on: bool) -> bool:
    """Draw the row of a grip; a click selects the hand's joint, whose settings say what it grips."""
    pen, document = Pen(ui), ui.session.document
    item_of_hand = Item("joint", hand)
    it = list_row(pen, f"grip {hand}", _ROW, chosen=item_of_hand in document.selection, lit=False)
    reached = error is None or error.reached
    tone = "text3" if not on else "target" if reached else "unreached"
    pen.icon(it.x + pen.px(11), it.middle[1], fa.ICON_FA_HAND_BACK_FIST, tone, SMALL)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(4)
    words = f"{short_name(hand)} grips {prop}"
    shown = pen.fit(words, it.w - pen.px(_ERROR + 30))
    pen.text(it.x + pen.px(24), y, shown, "text" if on else "text3")
    if on:
        missed = error_words(error, document.solver.tolerance_m, ui.controller.view.error_decimals)
        pen.right(right, y, missed, "text2" if reached else "unreached")
    else:
        pen.right(right, y, "off", "text3")
    tip(words if on else f"{words}, once contact with props is on")
    if it.clicked:
        select_by_click(ui, item_of_hand)
        ui.wake()
    return _is_over(it)


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
    if goal.enabled and not goal.pinned:
        _drag(ui, goal)
    if it.clicked and _DRAGGED not in ui.memory:
        select_by_click(ui, Item("effector", name))
        ui.wake()
    return _is_over(it)


def _is_over(it: Area) -> bool:
    """Whether the pointer is over a row, also while another one is dragged."""
    return imgui.is_mouse_hovering_rect((it.x, it.y), (it.x + it.w, it.y + it.h))


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
