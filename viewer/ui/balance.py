"""Balance in the window: its switch, what is shown of it, and its words."""

from __future__ import annotations

from typing import Any

from viewer.document import Document
from viewer.document import actions as act
from viewer.document.balance import balance_words
from viewer.document.report import standing
from viewer.scene import Display, floor_of
from viewer.session import Session
from viewer.ui.commands import CommandBinding, CommandBindings


def is_shown(display: Display, document: Document) -> bool:
    """Whether centre of mass and support polygon are drawn: on demand, and while balance is kept."""
    return display.balance or document.balance.on


def spare_words(document: Document) -> str:
    """How far the figure is from falling: ``balanced, 13 cm to spare``."""
    return balance_words(standing(document))


def grounded(document: Document, ground: float | None = None) -> dict[str, Any]:
    """The change of balance that makes a height, else that of the ground which is drawn, what the figure stands on."""
    ground = floor_of(document.character) if ground is None else ground
    return {} if ground == document.balance.height else {"height": ground}


class Balancing:
    """The command that switches balance."""

    def __init__(self, session: Session) -> None:
        """Change a session."""
        self._session = session

    def toggle(self) -> None:
        """Keep the figure in balance from here on, or no more."""
        document = self._session.document
        on = not document.balance.on
        self._session.dispatch(act.SetBalance(on=on, **(grounded(document) if on else {})))

    def bindings(self) -> CommandBindings:
        """How its command is run."""
        return {"balance.keep": CommandBinding(self.toggle, checked=lambda: self._session.document.balance.on)}
