"""Time that runs slower or faster than a clock does."""

from __future__ import annotations


class Pace:
    """Seconds since it was asked first, at a speed that may be changed on the way."""

    def __init__(self) -> None:
        """Begin when it is asked first."""
        self._speed: float | None = None
        self._since = self._last = (0.0, 0.0)

    def at(self, now: float, speed: float) -> float:
        """The time of a moment.

        Args:
            now: seconds, of any clock that does not go back.
            speed: 1 is the clock's own; since the moment asked for last.
        """
        if self._speed is None:
            self._last = now, 0.0
        if speed != self._speed:  # counted from there on, so that nothing drifts while it stays
            self._speed, self._since = speed, self._last
        clock, own = self._since
        self._last = now, own + (now - clock) * speed
        return self._last[1]
