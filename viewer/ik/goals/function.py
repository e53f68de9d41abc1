"""Goals of users: the residuals of a function of the world are zero.

Its rows are taken by differences, beside the kernels: `viewer.ik.methods.common`. No file can hold it.
"""

from __future__ import annotations

from viewer.errors import InputError
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import Constants, Kind, no_drawing
from viewer.skeleton import Skeleton


def function_constants(goal: Goal, skeleton: Skeleton) -> Constants:  # noqa: ARG001 - as of every kind
    """Refuse, by an InputError: a function has no effector."""
    raise InputError("a function goal has no effector")


KIND = Kind(
    word="function",
    title="Function",
    hint="Bring a function to zero",
    named_by="",
    constants=function_constants,
    drawing=no_drawing,
)
KINDS = (KIND,)
