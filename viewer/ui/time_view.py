"""Which frames the timeline shows, and where."""

from __future__ import annotations

from dataclasses import dataclass

FEWEST = 8.0
"""Frames that are shown at least."""
_ZOOM = 1.2
"""One notch of the wheel shows so many times fewer frames."""
_BEYOND = 3.0
"""At most so many times the frames that there are can be shown."""


@dataclass(slots=True)
class TimeView:
    """The part of the frames that is shown; all of them until somebody zooms.

    Attributes:
        total: frames that there are.
        first: frame at the left end.
        count: frames from there to the right end; None: all, however many there will be.
    """

    total: int = 1
    first: float = 0.0
    count: float | None = None

    @property
    def start(self) -> float:
        """The frame at the left end."""
        return 0.0 if self.count is None else self.first

    @property
    def span(self) -> float:
        """Frames from the left end to the right end."""
        return max(self.total - 1.0, 1.0) if self.count is None else self.count

    def zoom(self, steps: float, at: float) -> None:
        """Show fewer frames (steps above 0) or more; the frame ``at`` stays where it is."""
        most = _BEYOND * max(self.total - 1.0, FEWEST)
        start, span = self.start, self.span
        count = min(max(span * _ZOOM**-steps, FEWEST), most)
        self.count = count
        self.first = at - (at - start) * count / span
        self._keep_near()

    def pan(self, frames: float) -> None:
        """Show later frames (above 0) or earlier ones."""
        self.first, self.count = self.start + frames, self.span
        self._keep_near()

    def fit(self) -> None:
        """Show all."""
        self.first, self.count = 0.0, None

    def follow(self, frame: float) -> None:
        """Show a frame: where it is outside, it comes to stand near the left end."""
        if self.count is not None and not self.start <= frame <= self.start + self.span:
            self.first = frame - 0.1 * self.span
            self._keep_near()

    def _keep_near(self) -> None:
        """Never lose the frames from sight: half of what is shown may be empty."""
        half = 0.5 * self.span
        self.first = min(max(self.first, -half), max(self.total - 1.0 - half, -half))
