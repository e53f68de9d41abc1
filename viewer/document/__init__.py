"""Documents: what the window shows and undo restores, as immutable values and pure functions of them."""

from __future__ import annotations

from viewer.document.default_goals import stand_of, world_of
from viewer.document.document import Document, DocumentGoal, Item, Mode, Scope, SolverSettings
from viewer.document.drag_goals import Grab
from viewer.document.opening import new_document
from viewer.document.report import GoalError, Report
from viewer.ik.goals import GoalKind

__all__ = [
    "Document",
    "DocumentGoal",
    "GoalError",
    "GoalKind",
    "Grab",
    "Item",
    "Mode",
    "Report",
    "Scope",
    "SolverSettings",
    "new_document",
    "stand_of",
    "world_of",
]
