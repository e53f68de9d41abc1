"""How much of the scene is drawn while it moves, on machines that are too slow for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

SLOW = 0.040
"""Seconds a frame above which something is left out."""

FAST = 0.014
"""Seconds a frame below which it may come back."""

_WEIGHT = 0.25
_ENOUGH = 6
_PATIENCE = 90


class Level(IntEnum):
    """What is drawn in motion; each level leaves out more."""

    FULL = 0
    NO_GHOSTS = 1
    NO_SHADOW = 2
    HALF = 3


NOTES = {Level.FULL: "", Level.NO_GHOSTS: "no ghosts", Level.NO_SHADOW: "no shadow", Level.HALF: "half resolution"}


@dataclass(slots=True)
class Quality:
    """Watches the frames of a motion.

    Attributes:
        level: what is drawn in motion now.
    """

    level: Level = Level.FULL
    _mean: float = 0.0
    _seen: int = 0

    @property
    def note(self) -> str:
        """Words for the status line; empty while nothing is left out."""
        return NOTES[self.level]

    def took(self, seconds: float, *, ghosts: bool = True) -> None:
        """A frame of a motion took so long, with or without ghosts to leave out.

        One slow frame changes nothing: the mean of several does. Coming back takes patience, so that a machine on
        the edge does not swing between two looks.
        """
        self._mean = seconds if self._seen == 0 else (1.0 - _WEIGHT) * self._mean + _WEIGHT * seconds
        self._seen += 1
        if self._mean > SLOW and self._seen >= _ENOUGH and self.level < Level.HALF:
            self._go(Level(self.level + 1 if ghosts or self.level >= Level.NO_GHOSTS else Level.NO_SHADOW))
        elif self._mean < FAST and self._seen >= _PATIENCE and self.level > Level.FULL:
            self._go(Level(self.level - 1))

    def _go(self, level: Level) -> None:
        self.level, self._seen, self._mean = level, 0, 0.0
