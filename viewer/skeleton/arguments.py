"""Checks of argument types, whose messages say what to pass instead.

A common mistake is a solution instead of a pose, or a character instead of a skeleton.
"""

from __future__ import annotations

from viewer.errors import InputError, quote
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton

_INSTEAD = {
    ("skeleton", "Character"): "character.skeleton",
    ("pose", "Solution"): "solution.pose",
    ("pose", "BatchSolution"): "solution.pose(index)",
    ("pose", "Drag"): "drag.solution.pose",
    ("pose", "Clip"): "clip.pose(frame)",
    ("pose", "Skeleton"): "skeleton.relaxed_pose()",
    ("clip", "Character"): "character.clip",
    ("character", "Skeleton"): "viewer.Character(skeleton)",
}
"""What to pass, by the expected kind and the type that was found."""


def check_skeleton(found: object, where: str = "") -> None:
    """Raise InputError unless it is a skeleton; ``where`` begins the message."""
    if not isinstance(found, Skeleton):
        raise wrong_kind(found, "a skeleton", where)


def check_pose(found: object, where: str = "") -> None:
    """Raise InputError unless it is a pose; ``where`` begins the message."""
    if not isinstance(found, Pose):
        raise wrong_kind(found, "a pose", where)


def check_clip(found: object, where: str = "") -> None:
    """Raise InputError unless it is a clip; ``where`` begins the message."""
    if not isinstance(found, Clip):
        raise wrong_kind(found, "a clip", where)


def check_character(found: object, where: str = "") -> None:
    """Raise InputError unless it is a character; ``where`` begins the message."""
    if not isinstance(found, Character):
        raise wrong_kind(found, "a character", where)


def check_characters(found: object) -> list[Character]:
    """A character, or a sequence of them, as a list; raises InputError unless it is one or the other, with entries."""
    if not isinstance(found, (list, tuple)):
        check_character(found)
        return [found]  # type: ignore[list-item]  # checked
    if not found:
        raise InputError("characters: expected at least one, found none")
    for index, one in enumerate(found):
        check_character(one, f"characters[{index}]: ")
    return list(found)


def wrong_kind(found: object, expected: str, where: str = "") -> InputError:
    """The error for an argument of the wrong type.

    Args:
        found: the argument.
        expected: the expected kind with its article, such as "a pose".
        where: the beginning of the message.
    """
    kind = type(found)
    if not kind.__module__.startswith("viewer."):
        return InputError(f"{where}expected {expected}, found {quote(found)}")
    instead = _INSTEAD.get((expected.split()[1], kind.__name__))
    article = "an" if kind.__name__[0] in "AEIOU" else "a"
    hint = f": pass {instead}" if instead else ""
    return InputError(f"{where}expected {expected}, found {article} {kind.__name__}{hint}")
