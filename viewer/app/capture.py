"""Who gets what a person does: what imgui held in its last frame decides it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.ui.events import Mods
    from viewer.ui.rect import Rect

_ALWAYS = frozenset({"f1", "f11", "f12"})
"""Keys that no text field or dialog keeps for itself."""
_OVER_TEXT = frozenset({"s", "o", "e", "q"})
"""Letters that with Ctrl act in a text field, too: files and quitting."""


@dataclass(slots=True)
class Capture:
    """What imgui had in its last frame, which decides who gets the next event.

    Attributes:
        viewport: where the scene is, framebuffer pixels; None: everything is imgui's.
        floating: rectangles of windows and popups over it.
        modal: a popup or dialog is open.
        typing: a text field has the keyboard.
        active: a widget is held by the mouse.
        awaited: a text field was given the keyboard, which it will answer in some frames.
        frames: how many there were.
    """

    viewport: Rect | None = None
    floating: tuple[Rect, ...] = ()
    modal: bool = False
    typing: bool = False
    active: bool = False
    awaited: bool = False
    frames: int = 0

    def pointer(self, x: float, y: float) -> bool:
        """Whether imgui gets what the pointer does here."""
        if self.modal or self.active or self.viewport is None or not self.viewport.contains(x, y):
            return True
        return any(rect.contains(x, y) for rect in self.floating)

    def key(self, name: str, mods: Mods) -> bool:
        """Whether imgui alone gets a key."""
        if name in _ALWAYS:
            return False
        if self.typing:
            return not ("ctrl" in mods and name in _OVER_TEXT)
        return self.modal or self.active
