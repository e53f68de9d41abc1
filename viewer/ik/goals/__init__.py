"""Goals of effectors.

`goal` is the value that users make; each kind has a module, which says what it needs, how it is measured, what its rows
are, its keys in a file, its first values in a pose and what shows it. `KINDS` lists them. A new kind is a module of
this package, and its name in `MODULES`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from viewer.ik.goals import aim, balance_goal, bend, distance, function, grip, midpoint, pole, pose_goal, relative
from viewer.ik.goals.goal import NEEDS, PIN_WEIGHT, Goal, GoalOptions, Number, Unit, Value, goal_ids
from viewer.ik.goals.kind import Before, FileKey, GoalDrawing, Kind, Measure
from viewer.spatial.checks import Quaternion, Vector

MODULES = (pose_goal, distance, aim, bend, pole, relative, balance_goal, grip, midpoint, function)
"""The modules of all kinds, in the order of menus, schemas and the kernels' codes.

Restarts are seeded by these codes: a kind that is added before others would change what they find.
"""
KINDS: Mapping[str, Kind] = MappingProxyType({kind.word: kind for module in MODULES for kind in module.KINDS})
"""All kinds by their words."""
NEEDS.update({word: kind.needs for word, kind in KINDS.items()})

ROW_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS.values() if kind.rows)
"""The kinds that the kernels have rows for, by their codes 0, 1, ..."""
CODES: Mapping[str, int] = MappingProxyType({kind.word: code for code, kind in enumerate(ROW_KINDS)})
"""The code of each kind in the kernels."""
NUMBERS: Mapping[str, Number] = MappingProxyType(
    {number.name: number for kind in KINDS.values() if kind.of_documents for number in kind.numbers}
)
"""The numbers of all kinds of goals that are about effectors, by name."""
_OF_POSES = {kind.measures: kind.word for kind in KINDS.values() if kind.sets_pose}


def pose_kind(*, point: bool, rotation: bool) -> str:
    """The kind that sets a position, a rotation or both."""
    asked = {Measure.POINT: point, Measure.ROTATION: rotation}
    return _OF_POSES[frozenset(measure for measure, wanted in asked.items() if wanted)]


__all__ = [
    "CODES",
    "KINDS",
    "MODULES",
    "NUMBERS",
    "PIN_WEIGHT",
    "ROW_KINDS",
    "Before",
    "FileKey",
    "Goal",
    "GoalDrawing",
    "GoalOptions",
    "Kind",
    "Measure",
    "Number",
    "Quaternion",
    "Unit",
    "Value",
    "Vector",
    "goal_ids",
    "pose_kind",
]
