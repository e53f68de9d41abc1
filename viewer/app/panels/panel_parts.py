"""Commands of the one table, as buttons and tooltips use them."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.pen import Pen
from viewer.document.document import DocumentGoal, Item
from viewer.ui.commands import BY_ID


def hint(command: str, words: str = "") -> str:
    """A tooltip: what the command does, and its key."""
    row = BY_ID[command]
    return f"{words or row.title}   {row.shortcut}".rstrip()


def run(ui: PanelContext, command: str) -> None:
    """Run a command, and draw what came of it."""
    ui.controller.run(command)
    ui.wake()


def ask(ui: PanelContext, name: str, value: object = None, x: float = 0.0, y: float = 0.0) -> None:
    """Ask for something that only a window can do, at a place in framebuffer pixels."""
    ui.controller.view.request(name, value, x, y)
    ui.wake()


def point(ui: PanelContext, row: Item | None) -> None:
    """Say which item's row is under the pointer, so that the view lights it; None: no row of this panel."""
    before = ui.memory.get("pointed")
    if row is not None or (before is not None and ui.controller.view.hovered_item() == before):
        ui.controller.view.hover_row(row)
    ui.memory["pointed"] = row


def context_menu(ui: PanelContext, item: Item, x: float, y: float) -> None:
    """Open the menu of an item."""
    ask(ui, "context-menu", item, x, y)


_SIZE, _STROKE, _DOT = 5.0, 1.5, 1.4


def diamond(pen: Pen, x: float, y: float, colour: str, *, dot: bool = False, size: float = _SIZE) -> None:
    """The outline of a diamond around (x, y), as a target is drawn in the scene; with a dot: it is reached."""
    half = size * pen.scale
    corners: list[imgui.ImVec2Like] = [(x, y - half), (x + half, y), (x, y + half), (x - half, y)]
    pen.draw.add_polyline(corners, pen.ink(colour), _STROKE * pen.scale, imgui.ImDrawFlags_.closed)
    if dot:
        pen.disc(x, y, _DOT, "effector")


def effector_mark(pen: Pen, x: float, y: float, goal: DocumentGoal, *, reached: bool) -> None:
    """What an effector is doing: amber diamond, pin, diamond with its dot, or a faint diamond when it is off."""
    if not goal.enabled:
        diamond(pen, x, y, "line_hi")
    elif not reached:
        diamond(pen, x, y, "unreached")
    elif goal.pinned:
        pen.icon(x, y, fa.ICON_FA_THUMBTACK, "pinned", SMALL)
    else:
        diamond(pen, x, y, "target", dot=True)
