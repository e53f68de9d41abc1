"""What several panels share: entries for commands, selecting by a row, and the marks of goals."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import Pen
from viewer.document.actions import Select
from viewer.document.document import DocumentGoal, Item
from viewer.ui.commands import BY_ID


def hint(command: str, words: str = "") -> str:
    """A tooltip: what a command does (``words`` instead of its title), and its key."""
    row = BY_ID[command]
    return f"{words or row.title}   {row.shortcut}".rstrip()


def run(ui: PanelContext, command: str) -> None:
    """Run a command, and draw another frame to show the result."""
    ui.controller.run(command)
    ui.wake()


def command_entry(ui: PanelContext, command: str, words: str = "") -> None:
    """A menu entry for a command, ticked and enabled as its state demands; ``words`` instead of its title."""
    row = BY_ID[command]
    ticked = bool(ui.controller.checked(command))
    if imgui.menu_item_simple(words or row.title, row.shortcut, ticked, ui.controller.can(command)):
        run(ui, command)


def ask(ui: PanelContext, name: str, value: object = None, x: float = 0.0, y: float = 0.0) -> None:
    """Send a request that the window or another panel serves, at a position in framebuffer pixels."""
    ui.controller.view.request(name, value, x, y)
    ui.wake()


def select_by_click(ui: PanelContext, here: Item) -> None:
    """Select the item of a clicked row, with Shift or Ctrl along with others; the right button opens its menu."""
    io = imgui.get_io()
    if not imgui.is_mouse_released(imgui.MouseButton_.right):
        act(ui, Select((here,), "add" if io.key_shift else "toggle" if io.key_ctrl else "set"))
        return
    if here not in ui.session.document.selection:
        act(ui, Select((here,)))
    ask(ui, "context-menu", here, io.mouse_pos.x, io.mouse_pos.y)


def highlight(ui: PanelContext, row: Item | None) -> None:
    """Highlight in the view the item whose row is under the pointer; None: no row of this panel is."""
    before = ui.memory.get("pointed")
    if row is not None or (before is not None and ui.controller.view.hovered_item() == before):
        ui.controller.view.hover_row(row)
    ui.memory["pointed"] = row


_SIZE, _STROKE, _DOT = 5.0, 1.5, 1.4


def effector_mark(pen: Pen, x: float, y: float, goal: DocumentGoal, *, reached: bool) -> None:
    """The state of a goal: a faint diamond (off), an amber one (missed), a pin, or a diamond with a dot (reached)."""
    if goal.enabled and reached and goal.pinned:
        pen.icon(x, y, fa.ICON_FA_THUMBTACK, "pinned", SMALL)
        return
    colour = "line_hi" if not goal.enabled else "target" if reached else "unreached"
    half = _SIZE * pen.scale
    corners: list[imgui.ImVec2Like] = [(x, y - half), (x + half, y), (x, y + half), (x - half, y)]
    pen.draw.add_polyline(corners, pen.ink(colour), _STROKE * pen.scale, imgui.ImDrawFlags_.closed)
    if goal.enabled and reached:
        pen.disc(x, y, _DOT, "effector")
