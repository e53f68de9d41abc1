"""Dragging the borders between panels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.regions import Border


@dataclass(slots=True)
class Borders:
    """Knows which border the pointer is on, and moves the one that is held."""

    ui: PanelContext
    held: Border | None = None

    def at(self, x: float, y: float) -> Border | None:
        """The border at a pixel, or the one that is held."""
        return self.held or self.ui.regions.border_at(x, y)

    def press(self, x: float, y: float) -> bool:
        """Take the border at a pixel; whether there is one."""
        self.held = self.ui.regions.border_at(x, y)
        return self.held is not None

    def move(self, x: float, y: float) -> bool:
        """Move what is held to the pointer; whether something is."""
        if self.held is None:
            return False
        self.ui.layout.drag(self.held.name, (x, y), self.ui.regions)
        return True

    def release(self) -> bool:
        """Let go; whether something was held."""
        held, self.held = self.held, None
        return held is not None

    def cursor(self, x: float, y: float) -> str | None:
        """The pointer's shape on a border."""
        border = self.at(x, y)
        if border is None:
            return None
        return "ew" if border.upright else "ns"
