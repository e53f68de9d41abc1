"""Sessions: the calls that change the documents shown, undo, playback and recording.

A call raises an `InputError` for what is not there, for invalid numbers, and for what the solver or an action refuses;
nothing changes then. A session file that cannot be opened raises an `InputError`, one whose contents are refused a
`FormatError`, with the path in the file, and one that cannot be written an `OutputError`.
"""

from __future__ import annotations

from viewer.session.figures import Loop
from viewer.session.ik_drag import Orbit, TargetMotion
from viewer.session.session import Session

__all__ = ["Loop", "Orbit", "Session", "TargetMotion"]
