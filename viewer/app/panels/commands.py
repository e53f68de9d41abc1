"""Commands of the one table, as buttons and tooltips use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.ui.commands import BY_ID

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.document import Item


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
    ui.controller.request(name, value, x, y)
    ui.wake()


def point(ui: PanelContext, row: Item | None) -> None:
    """Say which item's row is under the pointer, so that the view lights it; None: no row of this panel."""
    before = ui.memory.get("pointed")
    if row is not None or (before is not None and ui.controller.hovered_item() == before):
        ui.controller.hover_row(row)
    ui.memory["pointed"] = row


def context_menu(ui: PanelContext, item: Item, x: float, y: float) -> None:
    """Open the menu of an item."""
    ask(ui, "context-menu", item, x, y)
