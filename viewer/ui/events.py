"""What passes between the window and its logic, as values: user events in; requests, questions and messages out.

Positions are framebuffer pixels from the window's top left corner, x to the right and y down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from viewer.errors import one_line
from viewer.ui.number_format import MINUS


class Rect(NamedTuple):
    """A rectangle in the window: left and top edge, width and height, framebuffer pixels from the top left corner."""

    x: int
    y: int
    w: int
    h: int

    def contains(self, x: float, y: float) -> bool:
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), at least one pixel each, as projections need."""
        return max(1, self.w), max(1, self.h)


Button = Literal["left", "middle", "right"]
Mods = frozenset[str]
"""The modifiers held, of "ctrl" (Cmd on macOS), "shift" and "alt"."""

NO_MODS: Mods = frozenset()

MODS = ("ctrl", "alt", "shift")
"""In the order of a chord's text."""

_CAPS = {
    "escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "left": "←", "right": "→", "up": "↑", "down": "↓",
    "comma": ",", "period": ".", "minus": MINUS, "equal": "=", "bracketleft": "[", "bracketright": "]",
    "kpenter": "Num Enter", "kpdecimal": "Num .", "kpsubtract": f"Num {MINUS}",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Press:
    """A mouse button went down.

    Attributes:
        x: framebuffer pixels from the left.
        y: framebuffer pixels from the top.
        mods: modifiers held.
        clicks: 2 for the second press of a double click.
    """

    button: Button
    x: float
    y: float
    mods: Mods = NO_MODS
    clicks: int = 1


@dataclass(frozen=True, slots=True)
class Release:
    """A mouse button came up."""

    button: Button
    x: float
    y: float
    mods: Mods = NO_MODS


@dataclass(frozen=True, slots=True)
class Move:
    """The pointer moved, with or without buttons held."""

    x: float
    y: float
    mods: Mods = NO_MODS


@dataclass(frozen=True, slots=True)
class Scroll:
    """The wheel turned, or two fingers moved on a trackpad; ``dy`` in notches, > 0 away from the user."""

    dx: float
    dy: float
    x: float
    y: float
    mods: Mods = NO_MODS


@dataclass(frozen=True, slots=True)
class Key:
    """A key went down, or repeats because it stays down.

    Its name is "a" .. "z", "0" .. "9", "f1" .. "f12", "kp0" .. "kp9", "left", "space", "comma" and so on.
    """

    name: str
    mods: Mods = NO_MODS
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class KeyUp:
    """A key came up; modifiers are reported, too, as "shift", "ctrl", "alt"."""

    name: str
    mods: Mods = NO_MODS


@dataclass(frozen=True, slots=True)
class Drop:
    """Files were dropped on the window."""

    paths: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class Leave:
    """The pointer left the window, or the window lost the focus."""


Event = Press | Release | Move | Scroll | Key | KeyUp | Drop | Leave


class Chord(NamedTuple):
    """A key and the modifiers held with it."""

    key: str
    mods: frozenset[str]

    @property
    def caps(self) -> tuple[str, ...]:
        """Labels of the keys: ``("Ctrl", "Shift", "Z")``."""
        return (*(mod.capitalize() for mod in MODS if mod in self.mods), cap(self.key))

    @property
    def text(self) -> str:
        """Text of the chord: ``Ctrl+Shift+Z``."""
        return "+".join(self.caps)


def chord(text: str) -> Chord:
    """Parse a chord such as ``ctrl+shift+z``."""
    *mods, key = text.split("+")
    return Chord(key, frozenset(mods))


def cap(key: str) -> str:
    """Label of a key."""
    if key in _CAPS:
        return _CAPS[key]
    if key.startswith("kp") and len(key) == 3:
        return f"Num {key[2]}"
    return key.upper() if len(key) == 1 or key[1:].isdigit() else key.capitalize()


class Request(NamedTuple):
    """A request that only the window can fulfil.

    Attributes:
        name: "new-dialog", "export-dialog", "picture" (value: the path), "question" (value: a `Question`), "ask-name"
            (value: a `NameQuestion`), "file-dialog" (value: a `FileQuestion`), "quit", "help", "preferences",
            "fullscreen", "reset-layout", "go-to-frame", "find-joint", "find-dialog", "units-dialog", "keep-pose"
            (value: a pose of the library, or None), "context-menu" (value: the item or None), "copy-text",
            "show-in-folder" (value: the path), "film-dialog" (value: the path proposed, or None), "film" (value: a
            `FilmOrder`), "film-cancel".
        value: data of the request.
        x, y: position, framebuffer pixels.
    """

    name: str
    value: object = None
    x: float = 0.0
    y: float = 0.0


Answers = Mapping[str, Callable[[], object]]
"""What the buttons of a question do, by their words."""


class Question(NamedTuple):
    """A question that the window asks in a dialog.

    Attributes:
        words: what is asked.
        answers: Enter presses the first, Esc the last.
        title: of the dialog, or "".
        notes: smaller lines below the words.
        stands: whether the question is still to be answered; else the dialog closes.
    """

    words: str
    answers: Answers
    title: str = ""
    notes: tuple[str, ...] = ()
    stands: Callable[[], bool] = lambda: True


class NameQuestion(NamedTuple):
    """A name, or another word, that the window asks for in a dialog.

    Attributes:
        title: of the dialog.
        words: before the name.
        name: proposed.
        button: on the button that gives it.
        give: called with the typed name.
    """

    title: str
    words: str
    name: str
    button: str
    give: Callable[[str], object]


class FileQuestion(NamedTuple):
    """A file that the window asks for.

    Attributes:
        title: of the dialog.
        action: word on its button.
        suffixes: of the files listed; the first is added to a name without one.
        done: called with the chosen path, or ``sample:NAME``; returns False if that failed, with the reason in the last
            message.
        saving: the dialog asks for a name to save under, instead of an existing file.
        samples: it lists recent files and samples, too.
        name: proposed, or "".
        ending: without a name: follows that of the document's file.
        folder: of the files listed; None: the last one used.
    """

    title: str
    action: str
    suffixes: tuple[str, ...]
    done: Callable[[Any], object]
    saving: bool = False
    samples: bool = False
    name: str = ""
    ending: str = ""
    folder: Path | None = None


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
        stays: it is not about the document shown: neither opening another file nor similar messages remove it.
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
        self._shown: list[tuple[Message, float | None]] = []
        self.revision = 0
        self._now = 0.0

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(message for message, _ in self._shown)

    def post(self, message: Message) -> None:
        """Show a message; it replaces one with the same text, or an older one about the same."""
        self._shown = [pair for pair in self._shown if not _replaces(message, pair[0])]
        self._shown.append((message, None))
        self.revision += 1

    def done(self, about: str) -> None:
        """Close what was said about a task that has succeeded, or is over."""
        for message in self.messages:
            if about and message.about == about:
                self.close(message)

    def close(self, message: Message) -> None:
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
        """Remove notes whose time is over; whether any was removed.

        A note's time starts at its first tick.
        """
        self._now = now
        if not self._shown:
            return False
        started = [(m, now if since is None else since) for m, since in self._shown]
        left = [(m, since) for m, since in started if not (m.fleeting and now - since >= m.seconds)]
        gone = len(left) != len(started)
        self._shown = [*left]
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


def other_pose_words(meets: bool) -> str:
    """Text of the offer of another pose: one that meets all goals, or one that is nearer to them."""
    return f"Stuck here: another pose {'meets the goals' if meets else 'is nearer to the goals'}"
