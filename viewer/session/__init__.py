"""The document that the window shows, the actions on it, undo, playback."""

from __future__ import annotations

from viewer.document.default_goals import stand_of, world_of
from viewer.document.document import Document, DocumentGoal, Item, Mode, Scope, SolverSettings
from viewer.document.drag_goals import Grab
from viewer.document.opening import new_document
from viewer.document.report import GoalError, Report
from viewer.ik.goals import GoalKind
from viewer.session.session import Session
from viewer.session.transport import Loop

__all__ = [
    "Document",
    "DocumentGoal",
    "GoalError",
    "GoalKind",
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
