"""Actions that switch joint limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from viewer.session.actions.base import Action
from viewer.session.checks import as_flag

if TYPE_CHECKING:
    from viewer.session.document import Document


@dataclass(frozen=True, slots=True)
class SetLimits(Action):
    """Joint limits on or off, all of them."""

    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Joint limits {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        """The document with limits on or off."""
        on = as_flag(self.on, "joint limits")
        return document if on is document.limits_on else replace(document, limits_on=on)


@dataclass(frozen=True, slots=True)
class SetJointLimits(Action):
    """One joint's limits on or off; they bind only while `SetLimits` has them on, too."""

    joint: str
    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Limits of {self.joint} {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        """The document with the joint's limits on or off."""
        document.skeleton.index(self.joint)
        on = as_flag(self.on, f"limits of {self.joint}")
        changed = document.unlimited - {self.joint} if on else document.unlimited | {self.joint}
        return document if changed == document.unlimited else replace(document, unlimited=changed)
