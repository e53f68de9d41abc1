"""Messages in the corner of the view: notes go by themselves, errors when they are closed or no longer true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from viewer.errors import one_line

STALLED = "Stalled: the goals are not met from here"
"""Words beside the offer to find another solution."""

NOTE_SECONDS = 6.0
"""How long a note stays."""
OFFER_SECONDS = 20.0
"""How long one with a button does: there is something to be decided."""


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """What happened, where, and the next step.

    Attributes:
        text: one line.
        level: "error" stays until it is closed, "note" goes after `NOTE_SECONDS` or `OFFER_SECONDS`.
        actions: buttons: words and what they do; the message is closed by them.
        about: what a person wanted, such as a command's id: an error goes when that is done, or fails anew.
        stays: it is not about what is shown: another file that is opened does not take it away, nor do like words.
    """

    text: str
    level: Literal["error", "note"] = "note"
    actions: tuple[tuple[str, Callable[[], object]], ...] = ()
    about: str = ""
    stays: bool = False

    def __post_init__(self) -> None:
        """Names and paths in it may be of any letters and length."""
        object.__setattr__(self, "text", one_line(self.text))

    @property
    def fleeting(self) -> bool:
        """Whether it goes by itself."""
        return self.level == "note"

    @property
    def seconds(self) -> float:
        """How long it stays where it is `fleeting`."""
        return OFFER_SECONDS if self.actions else NOTE_SECONDS


class MessageBar:
    """The messages that are shown, oldest first."""

    def __init__(self) -> None:
        """None yet."""
        self._shown: list[tuple[Message, float | None]] = []
        self.revision = 0
        self._now = 0.0

    @property
    def messages(self) -> tuple[Message, ...]:
        """Those shown now, oldest first."""
        return tuple(message for message, _ in self._shown)

    def post(self, message: Message) -> None:
        """Show a message; one with the same words, or an older one of the same kind about the same, is replaced."""
        self._shown = [pair for pair in self._shown if not _replaces(message, pair[0])]
        self._shown.append((message, None))
        self.revision += 1

    def done(self, about: str) -> None:
        """What a person wanted has been done: errors about it are no longer true."""
        for message in self.messages:
            if message.level == "error" and about and message.about == about:
                self.close(message)

    def close(self, message: Message) -> None:
        """Take a message away."""
        left = [pair for pair in self._shown if pair[0] is not message]
        if len(left) != len(self._shown):
            self._shown = left
            self.revision += 1

    def clear(self) -> None:
        """Take all away that were about what is not shown any more."""
        left = [pair for pair in self._shown if pair[0].stays]
        self.revision += len(left) != len(self._shown)
        self._shown = left

    def choose(self, message: Message, number: int) -> None:
        """Press the button ``number`` of a message."""
        self.close(message)
        message.actions[number][1]()

    def tick(self, now: float) -> bool:
        """Let notes go whose time is over; whether any went. A note's time starts at its first tick."""
        started = [(m, now if since is None else since) for m, since in self._shown]
        left = [(m, since) for m, since in started if not m.fleeting or now - since < m.seconds]
        gone = len(left) != len(started)
        self._shown, self._now = list(left), now
        self.revision += gone
        return gone

    @property
    def left(self) -> float | None:
        """Seconds from the last tick until the next note goes; None where none will."""
        ends = [
            message.seconds if since is None else message.seconds + since - self._now
            for message, since in self._shown
            if message.fleeting
        ]
        return max(0.0, min(ends)) if ends else None

    @property
    def waiting(self) -> bool:
        """Whether a note is shown that disappears by itself: ticks are needed."""
        return any(message.fleeting for message, _ in self._shown)


def _replaces(message: Message, older: Message) -> bool:
    """Whether it says the same, or something later of the same thing: ``Solver: ccd`` after ``Solver: dls``."""
    if message.stays or older.stays:
        return message is older
    if message.text == older.text:
        return True
    if message.level == older.level == "error":
        return bool(message.about) and message.about == older.about
    notes = message.level == older.level == "note" and not (message.actions or older.actions)
    (thing, colon, _), (other, _, _) = message.text.partition(": "), older.text.partition(": ")
    return notes and bool(colon) and thing == other
