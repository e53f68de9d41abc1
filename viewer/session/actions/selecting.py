"""Actions on what is selected, and on how dragging works."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from viewer.errors import InputError, unknown_name
from viewer.session.actions.base import Action
from viewer.session.checks import one_of
from viewer.session.values import Item, Mode, Scope

if TYPE_CHECKING:
    from viewer.session.document import Document

_WAYS = ("set", "add", "toggle")


@dataclass(frozen=True, slots=True)
class Select(Action):
    """Select items; the last one becomes active.

    Attributes:
        items: joints and effectors; what is named twice counts once.
        mode: "set" instead of what is selected, "add" to it, or "toggle" each.
    """

    items: tuple[Item, ...]
    mode: Literal["set", "add", "toggle"] = "set"
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What the history calls it."""
        if not self.items:
            return "Select nothing"
        return f"Select {self.items[0][1]}" if len(self.items) == 1 else f"Select {len(self.items)} items"

    def apply(self, document: Document) -> Document:
        """The document with another selection."""
        if self.mode not in _WAYS:
            raise InputError(unknown_name("way to select", str(self.mode), _WAYS))
        items = tuple(dict.fromkeys(Item(*item) for item in self.items))
        for item in items:
            document.check_item(item)
        before = () if self.mode == "set" else document.selection
        kept = tuple(item for item in before if item not in items)
        fresh = items if self.mode != "toggle" else tuple(item for item in items if item not in before)
        chosen = (*kept, *fresh)
        return document if chosen == document.selection else replace(document, selection=chosen)


@dataclass(frozen=True, slots=True)
class SetMode(Action):
    """Drag goals (IK) or turn joints (FK)."""

    mode: Mode
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Drag mode {str(self.mode).upper()}"

    def apply(self, document: Document) -> Document:
        """The document with another mode."""
        mode = one_of(Mode, self.mode, "drag mode")
        return document if mode is document.mode else replace(document, mode=mode)


@dataclass(frozen=True, slots=True)
class SetScope(Action):
    """Which joints an IK drag may move."""

    scope: Scope
    saved: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Drag scope {self.scope}"

    def apply(self, document: Document) -> Document:
        """The document with another scope."""
        scope = one_of(Scope, self.scope, "drag scope")
        return document if scope is document.scope else replace(document, scope=scope)
