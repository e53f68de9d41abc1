"""Keys with what is held beside them, and how they are written on a page."""

from __future__ import annotations

from typing import NamedTuple

from viewer.ui.numbers import MINUS

MODS = ("ctrl", "alt", "shift")
"""In the order that a chord writes them."""

_CAPS = {
    "escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "left": "←", "right": "→", "up": "↑", "down": "↓",
    "comma": ",", "period": ".", "minus": MINUS, "equal": "=", "bracketleft": "[", "bracketright": "]",
    "kpenter": "Num Enter", "kpdecimal": "Num .", "kpsubtract": f"Num {MINUS}",
}  # fmt: skip


class Chord(NamedTuple):
    """A key and the modifiers held with it."""

    key: str
    mods: frozenset[str]

    @property
    def caps(self) -> tuple[str, ...]:
        """What is engraved on the keys: ``("Ctrl", "Shift", "Z")``."""
        return (*(mod.capitalize() for mod in MODS if mod in self.mods), cap(self.key))

    @property
    def text(self) -> str:
        """``Ctrl+Shift+Z``."""
        return "+".join(self.caps)


def chord(text: str) -> Chord:
    """From ``ctrl+shift+z``."""
    *mods, key = text.split("+")
    return Chord(key, frozenset(mods))


def cap(key: str) -> str:
    """What is engraved on a key."""
    if key in _CAPS:
        return _CAPS[key]
    if key.startswith("kp") and len(key) == 3:
        return f"Num {key[2]}"
    return key.upper() if len(key) == 1 or key[1:].isdigit() else key.capitalize()
