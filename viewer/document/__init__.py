"""Documents: what the window shows and undo restores, as immutable values and pure functions of them."""

from __future__ import annotations

from viewer.document.contact import DocumentContact, Prop, Shape
from viewer.document.default_goals import stand_of, world_of
from viewer.document.document import Action, Document, DocumentGoal, Item, Mode, Scope, SolverSettings
from viewer.document.drag_goals import Grab
from viewer.document.evaluation import frame_pose
from viewer.document.opening import new_document
from viewer.document.report import GoalError, Report, joints_at_limit, measured, still_report
from viewer.document.scope import joint_of
from viewer.document.take import GoalLayer, Take
from viewer.ik.goals import GoalKind

__all__ = [
    "Action",
    "Document",
    "DocumentContact",
    "DocumentGoal",
    "GoalError",
    "GoalKind",
    "GoalLayer",
    "Grab",
    "Item",
    "Mode",
    "Prop",
    "Report",
    "Scope",
    "Shape",
    "SolverSettings",
    "Take",
    "frame_pose",
    "joint_of",
    "joints_at_limit",
    "measured",
    "new_document",
    "stand_of",
    "still_report",
    "world_of",
]
