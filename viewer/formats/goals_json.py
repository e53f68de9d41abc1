"""Goals files (JSON, version 1) in and out: metres, Y up, world frame."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from viewer.errors import FormatError, InputError
from viewer.formats.bounds import MOST_GOALS
from viewer.formats.files import read_file_or_pipe
from viewer.formats.json_reading import block_list, block_object, compact, decode, number, numbers
from viewer.formats.json_structs import VERSION, GoalEntry, GoalsFile
from viewer.ik.goals import PIN_WEIGHT, Goal, GoalKind, GoalOptions
from viewer.skeleton.skeleton import Skeleton, find_place

_FORMS = (
    ("position", "rotation", "pin"),
    ("distance", "from_"),
    ("aim", "axis"),
)
"""The keys of one kind of goal stand together; no goal has keys of two."""


def read_goals(path: Path, name: str, skeleton: Skeleton, warnings: list[str] | None = None) -> tuple[Goal, ...]:
    """Read a goals file for one skeleton.

    Args:
        path: the file, or a pipe.
        name: what the user called it, for messages.
        skeleton: its effectors, joints and tips are what goals may name.
        warnings: takes a line for each key that is not known.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    return goals_from_text(read_file_or_pipe(path, name), name, skeleton, warnings)


def goals_from_text(text: str, file: str, skeleton: Skeleton, warnings: list[str] | None = None) -> tuple[Goal, ...]:
    """The goals that the text of a goals file describes; arguments as of `read_goals`.

    Raises:
        FormatError: not JSON, or what it says is refused.
    """
    data, found = decode(text, GoalsFile, "goals", file)
    if warnings is not None:
        warnings += found
    if len(data.goals) > MOST_GOALS:
        raise FormatError(f"expected at most {MOST_GOALS:,} goals, found {len(data.goals):,}", file=file, path="goals")
    goals = []
    for index, entry in enumerate(data.goals):
        try:
            find_place(skeleton, entry.effector)
            goals.append(_goal(entry))
        except InputError as error:
            raise FormatError(str(error), file=file, path=f"goals[{index}]") from error
    return tuple(goals)


def goals_to_json(goals: tuple[Goal, ...]) -> str:
    """The text of a goals file; reading it gives equal goals.

    Raises:
        InputError: a function goal, which no file can hold.
    """
    lines = block_list((compact(_words(goal)) for goal in goals), " ")
    return block_object({"version": compact(VERSION), "type": compact("goals"), "goals": lines}) + "\n"


def _goal(entry: GoalEntry) -> Goal:
    """One goal; what is wrong with it is an InputError."""
    forms = [[key for key in form if _is_given(getattr(entry, key))] for form in _FORMS]
    given = [form for form in forms if form]
    if len(given) != 1:
        found = " and ".join(key.removesuffix("_") for form in given for key in form) or "none of them"
        raise InputError(f"expected position, rotation or pin, or distance with from, or aim with axis; found {found}")
    options = GoalOptions(offset=entry.offset, enabled=entry.enabled)
    if entry.weight is not None:
        options["weight"] = entry.weight
    if entry.rotation_weight is not None:
        options["rotation_weight"] = entry.rotation_weight
    if entry.distance is not None and entry.from_ is not None:
        return Goal.distance(entry.effector, entry.distance, entry.from_, **options)
    if entry.aim is not None and entry.axis is not None:
        return Goal.aim(entry.effector, entry.aim, entry.axis, **options)
    if entry.pin:
        return _pin(entry, options)
    return _placed(entry, options, given[0])


def _is_given(value: object) -> bool:
    return value is not None and value is not False


def _placed(entry: GoalEntry, options: GoalOptions, given: list[str]) -> Goal:
    if entry.position is not None and entry.rotation is not None:
        return Goal.pose(entry.effector, entry.position, entry.rotation, **options)
    if entry.position is not None:
        return Goal.position(entry.effector, entry.position, **options)
    if entry.rotation is not None:
        return Goal.rotation(entry.effector, entry.rotation, **options)
    missing = {"distance": "from", "from_": "distance", "aim": "axis", "axis": "aim"}[given[0]]
    raise InputError(f'expected "{missing}" beside "{given[0].removesuffix("_")}", found none')


def _pin(entry: GoalEntry, options: GoalOptions) -> Goal:
    held = "position+rotation" if isinstance(entry.pin, bool) else entry.pin
    parts: dict[str, Any] = {}
    for part in ("position", "rotation"):
        place = getattr(entry, part)
        parts[part] = (True if place is None else place) if part in held.split("+") else False
        if place is not None and parts[part] is False:
            raise InputError(f'expected no "{part}" beside a pin of the {held}, found one')
    return Goal.pin(entry.effector, **parts, **options)


def _words(goal: Goal) -> dict[str, object]:
    if goal.kind is GoalKind.FUNCTION:
        raise InputError("a function goal cannot be written to a file")
    words: dict[str, object] = {"effector": goal.effector}
    if goal.pinned:
        words["pin"] = True if goal.kind is GoalKind.POSE else goal.kind.value
    if goal.target_distance is not None:
        words["distance"] = number(goal.target_distance)
    keys = {GoalKind.DISTANCE: "from", GoalKind.AIM: "aim"}
    vectors = {keys.get(goal.kind, "position"): goal.target, "rotation": goal.target_rotation, "axis": goal.axis}
    words |= {key: numbers(vector) for key, vector in vectors.items() if vector is not None}
    if any(goal.offset):
        words["offset"] = numbers(goal.offset)
    usual = PIN_WEIGHT if goal.pinned else 1.0
    weights = {"weight": goal.weight, "rotation_weight": goal.rotation_weight}
    words |= {key: number(weight) for key, weight in weights.items() if weight != usual}
    return words if goal.enabled else words | {"enabled": False}
