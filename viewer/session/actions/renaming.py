"""The action that gives a joint another name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from viewer.session.actions.base import Action
from viewer.session.renaming import checked_name, renamed_document

if TYPE_CHECKING:
    from viewer.session.document import Document


@dataclass(frozen=True, slots=True)
class RenameJoint(Action):
    """Call a joint otherwise: goals, pins, limits, keys and whatever is exported follow.

    Attributes:
        joint: its name until now.
        name: its name from now on; no other joint, effector or end site may have it.
    """

    joint: str
    name: str

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Rename {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with the joint called so."""
        joint = document.skeleton.index(self.joint)
        name = checked_name(document, joint, self.name)
        return document if name == self.joint else renamed_document(document, {joint: name})
