"""When to draw: at most 60 times a second, only while something changes, and once more in high quality at rest."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from viewer.session.replay import Replay

FRAME = 1.0 / 60.0
PANELS = 1.0 / 15.0
"""Seconds between two redraws of the panels during a drag."""

STILL_AFTER = 0.2
"""Seconds without change after which a still picture is drawn once with more samples."""

LONGEST_WAIT = 0.25
"""Seconds after which the session is asked whether time has changed anything: compiled kernels, notes that go."""

_SETTLING = 2
"""Frames after a change in which imgui finds its sizes and hovers."""
_FPS_SPAN = 0.5
_LONGEST_GAP = 0.1


@dataclass(slots=True)
class Pace:
    """Decides when the next frame is due. All times are seconds of one clock.

    Attributes:
        fps: frames a second while frames are drawn; kept at rest.
        frames: drawn so far.
        still: the picture shown is the one of high quality.
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
        """Something visible has changed; with ``settle``, imgui needs some frames to follow."""
        self._dirty, self.still, self._last_change = True, False, now
        if settle:
            self._settling = _SETTLING

    def busy(self, busy: bool) -> None:
        """Whether the session has more to do at once, event or not."""
        self._busy = busy

    def wake(self, at: float) -> None:
        """A panel wants a frame then."""
        if self._wake is None or at < self._wake:
            self._wake = at

    def slot(self, now: float) -> float:
        """When to look again: the time of the next frame, or of the next question to the session."""
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
        """When the next frame may be drawn."""
        return self._last + FRAME

    def due(self, now: float) -> bool:
        """Whether to draw now."""
        if self._wake is not None and now >= self._wake:
            self._wake = None
            self._dirty = True
            self._settling = max(self._settling, 1)
        return self._dirty or self._settling > 0 or self.still_due(now)

    def still_due(self, now: float) -> bool:
        """Whether the frame to draw now is the one of high quality."""
        rests = not (self._dirty or self._busy or self._settling)
        return rests and not self.still and now >= self._last_change + STILL_AFTER

    def full_due(self, now: float) -> bool:
        """Whether the panels' turn has come in a drag."""
        return now - self._last_full >= PANELS - 0.5 * FRAME

    def drawn(self, now: float, *, full: bool, still: bool) -> None:
        """A frame was begun at ``now`` and is on the screen.

        Args:
            now: when it was begun.
            full: with all panels.
            still: in high quality.
        """
        self.frames += 1
        if full:
            self._last_full = now
            self._settling = max(0, self._settling - 1)
        self._dirty = not full  # the panels that were left out follow
        self.still = still
        if self._times and now - self._times[-1] > _LONGEST_GAP:
            self._times.clear()
        self._last = now
        self._times.append(now)
        while now - self._times[0] > 2 * _FPS_SPAN:
            self._times.popleft()
        # Over a while of motion only: a lone frame after a key says nothing of how fast frames can be.
        if now - self._fps_at >= _FPS_SPAN and now - self._times[0] >= _FPS_SPAN:
            self.fps = (len(self._times) - 1) / (now - self._times[0])
            self._fps_at = now


@dataclass(frozen=True, slots=True)
class Automation:
    """For tests and scripts.

    Attributes:
        state_file: rewritten whenever something changes.
        exit_after: frames to draw before the window closes; None: until it is closed.
        screenshot: PNG to write, once the picture is at rest or at the last frame.
        script: the recorded calls that are made again in the window's session.
        until_done: the window closes after the last of these calls, unless something else closes it.
    """

    state_file: Path | None = None
    exit_after: int | None = None
    screenshot: Path | None = None
    script: Replay | None = None
    until_done: bool = False

    @property
    def ends(self) -> bool:
        """Whether the window closes by itself: then it draws as fast as it can."""
        return self.exit_after is not None or self.until_done

    def is_last(self, drawn: int) -> bool:
        """Whether the frame after so many is the last one."""
        if self.exit_after is not None:
            return drawn + 1 >= self.exit_after
        return self.until_done and (self.script is None or self.script.finished)
