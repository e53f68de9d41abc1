"""Documents: what the window shows and undo restores, as immutable values and pure functions of them.

Values, functions and actions raise an `InputError` for what is not there (a name, a frame, a key, a motion; the message
offers similar names), for numbers that are not finite or out of range, and for what does not fit together. Docstrings
name other errors, and conditions that are not obvious.
"""

from __future__ import annotations

from viewer.document.document import Action, Document, Item, Mode, Scope, SolverSettings
from viewer.document.document_contact import DocumentContact, Prop, Shape
from viewer.document.document_goal import DocumentGoal
from viewer.document.evaluation import frame_pose
from viewer.document.import_export import new_document
from viewer.document.posed_goals import Grab, stand_of
from viewer.document.scope import joint_of, joints_at_limit
from viewer.document.solve_report import GoalError, Report, measured, still_report
from viewer.document.take import GoalLayer, Take
from viewer.skeleton import world_of

__all__ = [
    "Action",
    "Document",
    "DocumentContact",
    "DocumentGoal",
    "GoalError",
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
