"""Sessions: the document shown, the calls that change it, undo, playback and recording."""

from __future__ import annotations

from viewer.document.default_goals import stand_of, world_of
from viewer.document.document import Document, DocumentGoal, Item, Mode, Scope, SolverSettings
from viewer.document.drag_goals import Grab
from viewer.document.opening import new_document
from viewer.document.report import GoalError, Report
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
