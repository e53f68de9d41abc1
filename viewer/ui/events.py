"""User events of the window as values, chords of keys, and rectangles in which the pointer is.

Positions are framebuffer pixels from the window's top left corner, x to the right and y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from viewer.ui.number_format import MINUS


class Rect(NamedTuple):
    """A rectangle in the window: left and top edge, width and height, framebuffer pixels from the top left corner."""

    x: int
    y: int
    w: int
    h: int

    def contains(self, x: float, y: float) -> bool:
        """Whether a pixel is inside."""
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
        button: the button.
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
