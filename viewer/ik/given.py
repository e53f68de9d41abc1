"""The goals that a solver is given: checked, and which of them its method does not serve."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from viewer.errors import InputError, quote
from viewer.ik.findings import labels
from viewer.ik.goals import Goal
from viewer.ik.methods import METHODS
from viewer.ik.options import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Sequence


def checked_goals(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals of a solver.

    Raises:
        InputError: no list of goals, or none that is enabled.
    """
    found: object = goals
    if not isinstance(found, Iterable):
        raise InputError(f"expected a list of goals, found {quote(found)}")
    given = tuple(goals)
    entries: tuple[object, ...] = given
    for entry in entries:
        if not isinstance(entry, Goal):
            raise InputError(f"expected a list of goals, found {quote(entry)} in it")
    if not any(goal.enabled for goal in given):
        raise InputError("a solver needs at least one goal that is enabled")
    return given


def unserved_kinds(goals: Sequence[Goal], method: str) -> tuple[str, ...]:
    """What the enabled goals that a method cannot serve are called."""
    if method == DEFAULT:
        return ()
    served = METHODS[method].serves
    named = zip(goals, labels(goals), strict=True)
    return tuple(name for goal, name in named if goal.enabled and goal.kind not in served)
