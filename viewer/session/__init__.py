"""Sessions: the calls that change the documents shown, undo, playback and recording."""

from __future__ import annotations

from viewer.session.figure_stage import Loop
from viewer.session.session import Session

__all__ = ["Loop", "Session"]
