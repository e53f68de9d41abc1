"""Warnings about what a format cannot hold of a character."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.errors import InputError
from viewer.skeleton import Character, JointKind, Skeleton
from viewer.skeleton.effectors import find_effectors
from viewer.spatial.checks import Floats

ROTATING = {JointKind.BALL, JointKind.FREE, JointKind.FIXED}
"""Kinds of joints that formats of nodes and motion can express."""


def nodes_only(skeleton: Skeleton) -> list[JointKind]:
    """The joints' kinds after writing and reading a format that has only nodes and motion."""
    return [kind if kind in ROTATING else JointKind.BALL for kind in skeleton.kinds]


def left_out(character: Character, form: str, kinds: Sequence[JointKind]) -> list[str]:
    """A warning, if the format loses something that a reader does not derive again.

    Readers derive limits from the motion and find effectors by the joints' names.

    Args:
        character: what is written.
        form: the format's name.
        kinds: (J,) the joints' kinds after writing and reading.
    """
    skeleton = character.skeleton
    lost = {
        "joint limits": not character.limits_derived and any(limits is not None for limits in skeleton.limits),
        "joint kinds": list(skeleton.kinds) != list(kinds),
        "joints that follow others": bool(skeleton.mimics),
        "loops": bool(skeleton.loops),
        "stiffness": bool(skeleton.stiffness.any()),
        "spreads": bool(skeleton.states_mobility.any()),
        "effectors": _effectors_are_stated(skeleton),
        "named poses": bool(skeleton.poses),
        "bodies": skeleton.bodies is not None,
    }
    words = [word for word, gone in lost.items() if gone]
    return [f"{form} has no place for {', '.join(words)}: left out"] if words else []


def skin_left_out(character: Character, form: str) -> list[str]:
    """A warning, if a format has no place for the skin that the character has.

    Args:
        character: what is written.
        form: the format's name.
    """
    if character.skin is None:
        return []
    return [f"{form} has no place for the skin: {', '.join(character.skin.contents)} left out"]


def not_read(character: Character) -> list[str]:
    """A warning, if the character's file holds more than joints and motion, which is not written back."""
    unread = character.source.unread
    return [f"left out, as only joints and motion are read: {', '.join(unread)}"] if unread else []


def _effectors_are_stated(skeleton: Skeleton) -> bool:
    """Whether the effectors differ from those found by the joints' names."""
    found = find_effectors(skeleton.names, skeleton.parents, skeleton.tip_parents, skeleton.tip_offsets)
    mine, theirs = ({(e.name, e.joint, e.goal) for e in effectors} for effectors in (skeleton.effectors, found))
    return mine != theirs


def check_range(form: str, *arrays: Floats) -> None:
    """Raise InputError unless all numbers fit into 32-bit floats."""
    largest = np.finfo(np.float32).max
    if not all(bool((np.abs(array) <= largest).all()) for array in arrays):
        raise InputError(f"cannot be written as {form}: expected finite numbers within the range of 32-bit floats")
