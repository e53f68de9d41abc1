"""Messages in the corner of the view: notes disappear by themselves, errors when closed or resolved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from viewer.errors import one_line

STALLED = "Stalled: the goals are not met from here"
"""Text of the offer to find another solution."""

NOTE_SECONDS = 6.0
"""Seconds that a note stays."""
OFFER_SECONDS = 20.0
"""Seconds that a note with a button stays."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message to the user: what happened, where, and the next step.

    Attributes:
        text: one line.
        level: an "error" stays until it is closed, a "note" for `NOTE_SECONDS` or `OFFER_SECONDS`.
        actions: buttons: labels and callbacks; they close the message.
        about: the task, such as a command's id: an error is closed when the task succeeds, or fails again.
        stays: not about the document shown: opening another file does not remove it, nor do similar messages.
    """

    text: str
    level: Literal["error", "note"] = "note"
    actions: tuple[tuple[str, Callable[[], object]], ...] = ()
    about: str = ""
    stays: bool = False

    def __post_init__(self) -> None:
        """Make the text one line: names and paths in it may have any characters and length."""
        object.__setattr__(self, "text", one_line(self.text))

    @property
    def fleeting(self) -> bool:
        """Whether it disappears by itself."""
        return self.level == "note"

    @property
    def seconds(self) -> float:
        """Seconds that it stays if it is `fleeting`."""
        return OFFER_SECONDS if self.actions else NOTE_SECONDS


class MessageBar:
    """The messages shown, oldest first."""

    def __init__(self) -> None:
        """Start without messages."""
        self._shown: list[tuple[Message, float | None]] = []
        self.revision = 0
        self._now = 0.0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages shown, oldest first."""
        return tuple(message for message, _ in self._shown)

    def post(self, message: Message) -> None:
        """Show a message; it replaces one with the same text, or an older one about the same."""
        self._shown = [pair for pair in self._shown if not _replaces(message, pair[0])]
        self._shown.append((message, None))
        self.revision += 1

    def done(self, about: str) -> None:
        """Close the errors about a task that has succeeded."""
        for message in self.messages:
            if message.level == "error" and about and message.about == about:
                self.close(message)

    def close(self, message: Message) -> None:
        """Remove a message."""
        left = [pair for pair in self._shown if pair[0] is not message]
        if len(left) != len(self._shown):
            self._shown = left
            self.revision += 1

    def clear(self) -> None:
        """Remove the messages about the previous document."""
        left = [pair for pair in self._shown if pair[0].stays]
        self.revision += len(left) != len(self._shown)
        self._shown = left

    def choose(self, message: Message, number: int) -> None:
        """Press the button ``number`` of a message."""
        self.close(message)
        message.actions[number][1]()

    def tick(self, now: float) -> bool:
        """Remove notes whose time is over; whether any was removed. A note's time starts at its first tick."""
        started = [(m, now if since is None else since) for m, since in self._shown]
        left = [(m, since) for m, since in started if not m.fleeting or now - since < m.seconds]
        gone = len(left) != len(started)
        self._shown, self._now = list(left), now
        self.revision += gone
        return gone

    @property
    def left(self) -> float | None:
        """Seconds from the last tick until the next note disappears; None without notes."""
        ends = [
            message.seconds if since is None else message.seconds + since - self._now
            for message, since in self._shown
            if message.fleeting
        ]
        return max(0.0, min(ends)) if ends else None

    @property
    def waiting(self) -> bool:
        """Whether a note is shown, so that ticks are needed."""
        return any(message.fleeting for message, _ in self._shown)


def _replaces(message: Message, older: Message) -> bool:
    """Whether a message repeats or updates an older one: ``Solver: ccd`` after ``Solver: dls``."""
    if message.stays or older.stays:
        return message is older
    if message.text == older.text:
        return True
    if message.level == older.level == "error":
        return bool(message.about) and message.about == older.about
    notes = message.level == older.level == "note" and not (message.actions or older.actions)
    (thing, colon, _), (other, _, _) = message.text.partition(": "), older.text.partition(": ")
    return notes and bool(colon) and thing == other
