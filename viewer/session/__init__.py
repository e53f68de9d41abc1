"""Sessions: the calls that change the documents shown, undo, playback and recording.

A call raises an `InputError` for what is not there, for invalid numbers, and for what the solver or an action refuses;
nothing changes then. Session files raise an `InputError` if they cannot be opened, and a `FormatError`, with the path in
the file, for contents that are refused; one that cannot be written raises an `OutputError`.
"""

from __future__ import annotations

from viewer.session.figure_stage import Loop
from viewer.session.session import Session

__all__ = ["Loop", "Session"]
