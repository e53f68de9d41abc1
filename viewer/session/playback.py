"""Playing a clip or take: which frame is due."""

from __future__ import annotations

import math
from enum import StrEnum


class Loop(StrEnum):
    """What happens at the end of the clip."""

    OFF = "off"
    """It stops at the last frame, backwards at the first."""
    LOOP = "loop"
    """It begins again."""
    PING_PONG = "ping-pong"
    """It turns round."""


class Player:
    """What is played, running: asked at any time it says which frame is due, counted from the first that is played.

    Time is counted from where it began to play or its speed was changed last, so that frames do not drift.
    """

    def __init__(self, frame: int, direction: int) -> None:
        """Begin at a frame, forwards (1) or backwards (-1)."""
        self.direction = direction
        self._from, self._since = float(frame), -math.inf

    def frame(self, now: float, count: int, frame_time: float, speed: float, loop: Loop) -> tuple[int, bool]:
        """The frame due and whether it goes on.

        Args:
            now: seconds, of any clock.
            count: frames that are played.
            frame_time: seconds of each.
            speed: 1 is their own.
            loop: what happens at the ends.
        """
        if math.isinf(self._since) or now < self._since:
            self._since = now
        place = self._from + self.direction * (now - self._since) * speed / frame_time
        last = count - 1
        if 0.0 <= place <= last:
            return math.floor(place + 1e-9) if self.direction > 0 else math.ceil(place - 1e-9), True
        if loop is Loop.OFF or last == 0:
            return (0 if place < 0.0 else last), False
        if loop is Loop.LOOP:
            return math.floor(place) % count, True
        phase = place % (2.0 * last)
        return round(phase if phase <= last else 2.0 * last - phase), True
