"""What an action is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from viewer.document.document import Document


class Action(ABC):
    """A change of a document; a value, so that it can be kept, written and done again.

    Attributes:
        solves: whether the pose is solved anew afterwards, towards the goals.
        restarts: whether that solve is begun anew from other poses where it misses a goal, if the settings allow it.
        saved: whether it changes what a file would hold: selecting does not.
    """

    __slots__ = ()

    solves: ClassVar[bool] = False
    restarts: ClassVar[bool] = False
    saved: ClassVar[bool] = True

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of the undo step."""

    @abstractmethod
    def apply(self, document: Document) -> Document:
        """The changed document, not solved yet; the very same one where nothing changes.

        Raises:
            InputError: what is asked cannot be done.
        """
