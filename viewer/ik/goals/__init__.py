"""Goals: what effectors are asked to do.

`goal` is the value that users make; each kind has a module, which says what it needs, how it is measured, what its rows
are, its keys in a file and what shows it. `KINDS` lists them. A new kind is its module, a line here and in `dispatch`,
and its word, constructor and fields in `goal`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from viewer.ik.goals import aim, bend, distance, function, pole, pose, position, rotation
from viewer.ik.goals.goal import (
    LEAST_WEIGHT,
    PIN_WEIGHT,
    Goal,
    GoalKind,
    GoalOptions,
    Quaternion,
    Residuals,
    Vector,
    goal_ids,
    with_ids,
)
from viewer.ik.goals.kind import Drawing, Kind

MODULES = (position, rotation, pose, distance, aim, bend, pole, function)
"""A module for each kind."""
KINDS: Mapping[GoalKind, Kind] = MappingProxyType({module.KIND.word: module.KIND for module in MODULES})
"""What each kind is."""

ROW_KINDS: tuple[Kind, ...] = tuple(
    sorted((kind for kind in KINDS.values() if kind.built_in), key=lambda kind: kind.code)
)
"""The kinds that the kernels have rows for, by their codes 0, 1, ..."""

__all__ = [
    "KINDS",
    "LEAST_WEIGHT",
    "MODULES",
    "PIN_WEIGHT",
    "ROW_KINDS",
    "Drawing",
    "Goal",
    "GoalKind",
    "GoalOptions",
    "Kind",
    "Quaternion",
    "Residuals",
    "Vector",
    "goal_ids",
    "with_ids",
]
