"""Recorded actions: everything that was done to a session, as plain data, and done again to the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.document.document import Document

if TYPE_CHECKING:
    from viewer.session.script.player import Replay

__all__ = ["open_script", "replay"]


def open_script(path: str | Path) -> Replay:
    """The session that the actions of a file are done in again, tick by tick; none is done yet.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, holds no actions, or some that there are not.
    """
    # Sessions import this package to record themselves.
    from viewer.session.script.player import Replay, read_actions  # noqa: PLC0415 - see above

    return Replay(read_actions(path))


def replay(path: str | Path, notes: list[str] | None = None) -> Document:
    """Do the actions of a session file again, without a window; where they lead.

    Args:
        path: a session file that was saved while actions were recorded.
        notes: takes a line for what went otherwise than when it was recorded.

    Raises:
        ViewerError: as of `open_script`.
    """
    session = open_script(path)
    while not session.finished:
        session.tick(0.0)
    if notes is not None:
        notes.extend(session.notes)
    return session.document
