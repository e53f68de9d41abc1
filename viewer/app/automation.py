"""What programs ask of a window: a file of its state, an end, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.session.script.player import Replay


@dataclass(frozen=True, slots=True)
class Automation:
    """For tests and scripts.

    Attributes:
        state_file: rewritten whenever something changes.
        exit_after: frames to draw before the window closes; None: until it is closed.
        screenshot: PNG to write, once the picture is at rest or at the last frame.
        script: the recorded actions that the window's session does again.
        until_done: the window closes once these are done, if nothing else says when.
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
