"""The clock of playback: which frame is due at a moment."""

from __future__ import annotations

import math
from enum import StrEnum

from viewer.document.checks import as_positive


class Loop(StrEnum):
    """What happens at the end of the clip."""

    OFF = "off"
    """Stop at the last frame; backwards, at the first."""
    LOOP = "loop"
    """Start again from the other end."""
    PING_PONG = "ping-pong"
    """Reverse the direction."""


class PlaybackClock:
    """Computes which frame is due, counted from the first frame of the range.

    Time is measured from the last start or change of speed, so that rounding does not accumulate.

    Attributes:
        loop: what happens at the ends.
        direction: 1 forwards, -1 backwards, 0 while stopped.
    """

    def __init__(self) -> None:
        """Start stopped, at the clip's own rate."""
        self.loop = Loop.LOOP
        self.direction = 0
        self._speed = 1.0
        self._from, self._since = 0.0, -math.inf

    @property
    def playing(self) -> bool:
        """Whether it plays, in either direction."""
        return self.direction != 0

    @property
    def speed(self) -> float:
        """Factor on the clip's own rate."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = as_positive(value, "speed")

    def start(self, frame: int, direction: int) -> None:
        """Play from a frame, forwards (1) or backwards (-1)."""
        self.direction = direction
        self._from, self._since = float(frame), -math.inf

    def stop(self) -> bool:
        """Stop; whether it was playing."""
        was_playing, self.direction = self.playing, 0
        return was_playing

    def due(self, now: float, count: int, frame_time: float) -> tuple[int, bool]:
        """The frame due, and whether playback goes on after it; only while `playing`.

        Args:
            now: seconds, of any clock.
            count: frames of the range.
            frame_time: seconds per frame.
        """
        if math.isinf(self._since) or now < self._since:
            self._since = now
        frame = self._from + self.direction * (now - self._since) * self._speed / frame_time
        last = count - 1
        if 0.0 <= frame <= last:
            return math.floor(frame + 1e-9) if self.direction > 0 else math.ceil(frame - 1e-9), True
        if self.loop is Loop.OFF or last == 0:
            return (0 if frame < 0.0 else last), False
        if self.loop is Loop.LOOP:
            return math.floor(frame) % count, True
        phase = frame % (2.0 * last)
        return round(phase if phase <= last else 2.0 * last - phase), True
