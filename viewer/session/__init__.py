"""Sessions: the document shown, the calls that change it, undo, playback and recording."""

from __future__ import annotations

from viewer.document import (
    Document,
    DocumentGoal,
    GoalError,
    Grab,
    Item,
    Mode,
    Report,
    Scope,
    SolverSettings,
    new_document,
    stand_of,
    world_of,
)
from viewer.session.clock import Loop
from viewer.session.session import Session

__all__ = [
    "Document",
    "DocumentGoal",
    "GoalError",
    "Grab",
    "Item",
    "Loop",
    "Mode",
    "Report",
    "Scope",
    "Session",
    "SolverSettings",
    "new_document",
    "stand_of",
    "world_of",
]
