"""Actions on how a take is played, and on auto-key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from viewer.errors import InputError
from viewer.session.actions.base import Action
from viewer.session.actions.settings import SetFrameTime
from viewer.session.checks import as_flag, as_weight
from viewer.session.take.changing import take_of, with_take
from viewer.session.take.chosen_keys import last_frame
from viewer.session.take.values import check_range

if TYPE_CHECKING:
    from viewer.session.document import Document


@dataclass(frozen=True, slots=True)
class SetRange(Action):
    """Play and export these frames only, both included; a take on no clip is made longer by it."""

    first: int
    last: int

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Range {self.first} to {self.last}"

    def apply(self, document: Document) -> Document:
        """The document with another range."""
        check_range(self.first, self.last)
        most = last_frame(document)
        if most is not None and self.last > most:
            raise InputError(f"last frame: expected 0 to {most}, found {self.last}")
        first, last = int(self.first), int(self.last)
        if document.played == (first, last) and (document.clip is not None or document.take is not None):
            return document
        return with_take(document, replace(take_of(document), first=first, last=last))


@dataclass(frozen=True, slots=True)
class SetTakeRate(Action):
    """Frames per second of the take; keys stay at their frames. On a clip it corrects the clip's frame time."""

    fps: float

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"{self.fps:g} frames per second"

    def apply(self, document: Document) -> Document:
        """The document with another rate."""
        seconds = 1.0 / as_weight(self.fps, "frames per second")
        if document.clip_data is not None:
            return SetFrameTime(seconds).apply(document)
        take = take_of(document)
        return document if seconds == take.frame_time else replace(document, take=replace(take, frame_time=seconds))


@dataclass(frozen=True, slots=True)
class SetAutoKey(Action):
    """Whether every edit of the pose sets keys of the joints that it changed, at the frame shown."""

    on: bool

    @property
    def label(self) -> str:
        """What the history calls it."""
        return "Auto-key on" if self.on else "Auto-key off"

    def apply(self, document: Document) -> Document:
        """The document with auto-key on or off."""
        on = as_flag(self.on, "auto-key")
        return document if on == document.auto_key else replace(document, auto_key=on)
