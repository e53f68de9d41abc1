"""What programs ask of a window: a file of its state, an end, a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Automation:
    """For tests and scripts.

    Attributes:
        state_file: rewritten whenever something changes.
        exit_after: frames to draw before the window closes; None: until it is closed.
        screenshot: PNG to write, once the picture is at rest or at the last frame.
    """

    state_file: Path | None = None
    exit_after: int | None = None
    screenshot: Path | None = None
