"""When to draw, and how finely: at most 60 times a second, only after changes, and once more in high quality at rest.

In motion, slow machines draw less detail.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum

FRAME = 1.0 / 60.0
PANEL_INTERVAL = 1.0 / 15.0
"""Seconds between two redraws of the panels during a drag."""

STILL_AFTER = 0.2
"""Seconds without change after which a still picture is drawn with more samples."""

LONGEST_WAIT = 0.25
"""Longest time in seconds between two calls of the session, which may change by itself: kernels get compiled."""

_SETTLING = 2
"""Frames after a change that imgui needs for sizes and hover states."""
_FPS_SPAN = 0.5
_LONGEST_GAP = 0.1


@dataclass(slots=True)
class Pace:
    """Decides when to draw the next frame. All times are seconds of one clock.

    Attributes:
        fps: frames per second in motion; the last value stays at rest.
        frames: number of frames drawn.
        still: the picture shown has high quality.
    """

    fps: float = 0.0
    frames: int = 0
    _dirty: bool = True
    _busy: bool = False
    _settling: int = _SETTLING
    _last: float = float("-inf")
    _last_full: float = float("-inf")
    _last_change: float = float("-inf")
    still: bool = False
    _wake: float | None = None
    _times: deque[float] = field(default_factory=deque)
    _fps_at: float = float("-inf")

    def changed(self, now: float, *, settle: bool = False) -> None:
        """Note a visible change; with ``settle``, imgui needs some more frames for it."""
        self._dirty, self.still, self._last_change = True, False, now
        if settle:
            self._settling = _SETTLING

    def busy(self, busy: bool) -> None:
        """Set whether the session continues to work without events."""
        self._busy = busy

    def wake(self, at: float) -> None:
        """Request a frame at a time."""
        if self._wake is None or at < self._wake:
            self._wake = at

    def next_wakeup(self, now: float) -> float:
        """The time of the next frame, or of the next call of the session."""
        if self._dirty or self._busy or self._settling:
            return self._last + FRAME
        times = [now + LONGEST_WAIT]
        if not self.still:
            times.append(self._last_change + STILL_AFTER)
        if self._wake is not None:
            times.append(self._wake)
        return max(min(times), self._last + FRAME)

    @property
    def earliest(self) -> float:
        """The earliest time of the next frame."""
        return self._last + FRAME

    def due(self, now: float) -> bool:
        """Whether a frame is due."""
        if self._wake is not None and now >= self._wake:
            self._wake = None
            self._dirty = True
            self._settling = max(self._settling, 1)
        return self._dirty or self._settling > 0 or self.still_due(now)

    def still_due(self, now: float) -> bool:
        """Whether the frame of high quality is due."""
        rests = not (self._dirty or self._busy or self._settling)
        return rests and not self.still and now >= self._last_change + STILL_AFTER

    def full_due(self, now: float) -> bool:
        """Whether all panels are due in a drag."""
        return now - self._last_full >= PANEL_INTERVAL - 0.5 * FRAME

    def drawn(self, now: float, *, full: bool, still: bool) -> None:
        """Note that a frame began to be drawn at ``now``: ``full`` with all panels, ``still`` in high quality."""
        self.frames += 1
        if full:
            self._last_full = now
            self._settling = max(0, self._settling - 1)
        self._dirty = not full  # the other panels follow
        self.still = still
        if self._times and now - self._times[-1] > _LONGEST_GAP:
            self._times.clear()
        self._last = now
        self._times.append(now)
        while now - self._times[0] > 2 * _FPS_SPAN:
            self._times.popleft()
        # Measured over a while in motion: single frames after key presses do not show the possible rate.
        if now - self._fps_at >= _FPS_SPAN and now - self._times[0] >= _FPS_SPAN:
            self.fps = (len(self._times) - 1) / (now - self._times[0])
            self._fps_at = now


SLOW = 0.040
"""Seconds per frame above which detail is omitted."""

SMOOTH = 0.012
"""Seconds per frame above which contact shading is omitted in motion: a still picture has it again.

It may double the time of a frame, so it returns below half of this.
"""

FAST = 0.014
"""Seconds per frame below which detail may return."""

_WEIGHT = 0.25
"""Weight of the newest frame in the running mean."""
_ENOUGH, _PATIENCE = 6, 90
"""Frames before the level may rise, and before it may fall."""


class Level(IntEnum):
    """Detail in motion; each level omits more."""

    FULL = 0
    NO_SHADING = 1
    NO_GHOSTS = 2
    NO_SHADOW = 3
    HALF = 4


NOTES = {
    Level.FULL: "",
    Level.NO_SHADING: "no contact shading",
    Level.NO_GHOSTS: "no ghosts",
    Level.NO_SHADOW: "no shadow",
    Level.HALF: "half resolution",
}


@dataclass(slots=True)
class Quality:
    """Chooses the level of detail in motion from the times of frames."""

    level: Level = Level.FULL
    _mean: float = 0.0
    _seen: int = 0

    @property
    def note(self) -> str:
        """Words for the status line; "" at full detail."""
        return NOTES[self.level]

    def took(self, seconds: float, *, ghosts: bool = True, shading: bool = False) -> None:
        """Record the time of a frame in motion; ``ghosts``, ``shading``: it had these, which can be omitted.

        The mean of several frames changes the level, and detail returns only after many fast frames: otherwise a
        machine near the threshold would alternate between two levels.
        """
        self._mean = seconds if self._seen == 0 else (1.0 - _WEIGHT) * self._mean + _WEIGHT * seconds
        self._seen += 1
        if self._seen >= _ENOUGH and self.level < Level.HALF:
            idle = {Level.NO_GHOSTS: not ghosts, Level.NO_SHADING: not shading}
            after = next(level for level in Level if level > self.level and not idle.get(level))
            if self._mean > (SMOOTH if after is Level.NO_SHADING else SLOW):
                self._go(after)
                return
        fast = 0.5 * SMOOTH if self.level is Level.NO_SHADING else FAST
        if self._mean < fast and self._seen >= _PATIENCE and self.level > Level.FULL:
            self._go(Level(self.level - 1))

    def _go(self, level: Level) -> None:
        self.level, self._seen, self._mean = level, 0, 0.0
