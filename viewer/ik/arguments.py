"""What a `viewer.ik.solver.Solver` is given, checked: its options by name, its goals."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.findings import labels
from viewer.ik.goals import Goal
from viewer.ik.methods import METHODS
from viewer.ik.options import DEFAULT, Options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

OPTION_NAMES = tuple(field.name for field in fields(Options))


def options_of(given: Mapping[str, object]) -> Options:
    """The options, by name.

    Raises:
        InputError: one that there is not (near ones are offered), or with a value that it cannot have.
    """
    for name in given:
        if name not in OPTION_NAMES:
            raise InputError(f"Solver: {unknown_name('option', name, OPTION_NAMES)}")
    options = Options(**given)  # type: ignore[arg-type]  # it checks their values
    if "settings" in given and "max_iterations" not in given:
        return replace(options, max_iterations=options.settings.max_iterations)
    return options


def checked_goals(goals: Sequence[Goal]) -> tuple[Goal, ...]:
    """The goals, one of which is enabled at least.

    Raises:
        InputError: they are no goals, or none is enabled.
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


def unserved_of(goals: Sequence[Goal], method: str) -> tuple[str, ...]:
    """What the enabled goals that a method cannot serve are called."""
    if method == DEFAULT:
        return ()
    served = METHODS[method].serves
    named = zip(goals, labels(goals), strict=True)
    return tuple(name for goal, name in named if goal.enabled and goal.kind not in served)


def signature_of(made: Callable[..., None]) -> inspect.Signature:
    """What `help` shows of a solver whose initialiser it is: every option with its default, not ``**options``."""
    given = list(inspect.signature(made).parameters.values())[1:-1]
    return inspect.Signature([*given, *inspect.signature(Options).parameters.values()])


def not_to_be_set(name: str) -> str:
    """The message where somebody sets an attribute of a solver."""
    if name in OPTION_NAMES or name in {"options", "skeleton"}:
        return f'a solver\'s "{name}" does not change: make another Solver'
    return f'a solver has no "{name}" to be set: only its "goals" can be'
