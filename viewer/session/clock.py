"""The clock of playback: which frame is due at a moment."""

from __future__ import annotations

import math
from enum import StrEnum

from viewer.document.checks import as_weight


class Loop(StrEnum):
    """What happens at the end of the clip."""

    OFF = "off"
    """It stops at the last frame, backwards at the first."""
    LOOP = "loop"
    """It begins again."""
    PING_PONG = "ping-pong"
    """It turns round."""


class PlaybackClock:
    """Says which frame is due, counted from the first that is played.

    Time is counted from where it began to play or its speed was changed last, so that frames do not drift.

    Attributes:
        loop: what happens at the ends.
        direction: 1 forwards, -1 backwards, 0 while it does not play.
    """

    def __init__(self) -> None:
        """Begin at rest, at the clip's own speed."""
        self.loop = Loop.LOOP
        self.direction = 0
        self._speed = 1.0
        self._from, self._since = 0.0, -math.inf

    @property
    def speed(self) -> float:
        """Frames are played this many times as fast as the clip says."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = as_weight(value, "speed")

    def start(self, frame: int, direction: int) -> None:
        """Play from a frame on, forwards (1) or backwards (-1)."""
        self.direction = direction
        self._from, self._since = float(frame), -math.inf

    def stop(self) -> bool:
        """Stop; whether it was playing."""
        was_playing, self.direction = self.direction != 0, 0
        return was_playing

    def due(self, now: float, count: int, frame_time: float) -> tuple[int, bool]:
        """The frame due and whether it goes on after it; asked only while it plays.

        Args:
            now: seconds, of any clock.
            count: frames that are played.
            frame_time: seconds of each.
        """
        if math.isinf(self._since) or now < self._since:
            self._since = now
        place = self._from + self.direction * (now - self._since) * self._speed / frame_time
        last = count - 1
        if 0.0 <= place <= last:
            return math.floor(place + 1e-9) if self.direction > 0 else math.ceil(place - 1e-9), True
        if self.loop is Loop.OFF or last == 0:
            return (0 if place < 0.0 else last), False
        if self.loop is Loop.LOOP:
            return math.floor(place) % count, True
        phase = place % (2.0 * last)
        return round(phase if phase <= last else 2.0 * last - phase), True
