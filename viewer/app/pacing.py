"""When to draw: at most 60 times a second, only after changes, and once more in high quality at rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from viewer.session.replay import Replay

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


@dataclass(frozen=True, slots=True)
class Automation:
    """Options for tests and scripts.

    Attributes:
        state_file: rewritten after every change.
        exit_after: number of frames after which the window closes; None: it stays open.
        screenshot: PNG to write once the picture is at rest, or at the last frame.
        script: recorded calls that the session replays.
        until_done: the window closes when the script is done, unless ``exit_after`` is given.
    """

    state_file: Path | None = None
    exit_after: int | None = None
    screenshot: Path | None = None
    script: Replay | None = None
    until_done: bool = False

    @property
    def ends(self) -> bool:
        """Whether the window closes by itself; then it draws without pauses."""
        return self.exit_after is not None or self.until_done

    def is_last(self, drawn: int) -> bool:
        """Whether the frame after ``drawn`` frames is the last one."""
        if self.exit_after is not None:
            return drawn + 1 >= self.exit_after
        return self.until_done and (self.script is None or self.script.finished)
