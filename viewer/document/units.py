"""A document whose file is read in other units or with another axis up, and steps that suit a figure's size."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from viewer.document.document import Document
from viewer.document.edit_skeleton import relengthened, renamed_skeleton
from viewer.document.evaluation import motion_of
from viewer.document.goal import DocumentGoal
from viewer.document.pins import resolved
from viewer.document.take_changes import reread_take
from viewer.errors import InputError
from viewer.ik.goals import NUMBERS, Unit
from viewer.skeleton.character import Character
from viewer.skeleton.effectors import Effector
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate


def reread(document: Document, character: Character) -> Document:
    """The document on another reading of its file: pose, targets and edits are scaled and turned as the file was.

    Args:
        document: on the reading before.
        character: the same file, read with other units or another axis up.

    Raises:
        InputError: another file: its joints are others.
    """
    before = document.character.skeleton
    same = np.array_equal(before.parents, character.skeleton.parents)
    if not same or tuple(document.character.clips) != tuple(character.clips):
        raise InputError("expected the same file in other units, found other joints or clips")
    character = _named(character, document.character)
    after = character.skeleton
    scale = character.source.metres_per_unit / document.character.source.metres_per_unit
    root = int(before.roots[0])
    turn = multiply(after.rest_rotations[root], conjugate(before.rest_rotations[root]))
    skeleton = _edited(document.skeleton, before, after, scale)
    roots = before.roots
    rotations, translations = document.pose.rotations.copy(), document.pose.translations * scale
    rotations[roots] = multiply(turn, rotations[roots])
    translations[roots] = rotate(turn, translations[roots])
    changed = replace(
        document,
        character=character,
        skeleton=skeleton,
        pose=Pose(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), translations),
        goals=tuple(_turned(goal, scale, turn) for goal in document.goals),
        put_aside=tuple(reread_take(take, scale, turn, roots) for take in document.put_aside),
        take=None if document.take is None else reread_take(document.take, scale, turn, roots),
    )
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, motion_of(changed), take))


def _named(character: Character, before: Character) -> Character:
    """Joints that were given other names since the file was read keep these."""
    if before.skeleton.names == character.skeleton.names:
        return character
    skeleton = renamed_skeleton(character.skeleton, dict(enumerate(before.skeleton.names)))
    return replace(character, skeleton=skeleton, source=replace(character.source, layout=before.source.layout))


def _edited(working: Skeleton, before: Skeleton, after: Skeleton, scale: float) -> Skeleton:
    """The new reading's skeleton with the lengths, stiffness and effectors of the working one."""
    own, edited = np.linalg.norm(before.offsets, axis=-1), np.linalg.norm(working.offsets, axis=-1)
    changed = (before.offsets != working.offsets).any(axis=-1) & (own > 0.0)
    ratio = np.where(changed, edited / np.where(own > 0.0, own, 1.0), 1.0)
    offsets = after.offsets * ratio[:, None]
    poses = {
        name: Pose(pose.rotations, relengthened(pose.translations, after.offsets, offsets))
        for name, pose in after.poses.items()
    }
    file_effectors = {effector.name: effector for effector in after.effectors}
    effectors = tuple(file_effectors.get(e.name) or _scaled(e, scale) for e in working.effectors)
    return replace(after, offsets=offsets, stiffness=working.stiffness, effectors=effectors, poses=poses)


def _scaled(effector: Effector, scale: float) -> Effector:
    x, y, z = (scale * value for value in effector.offset)
    return replace(effector, offset=(x, y, z))


def _turned(goal: DocumentGoal, scale: float, turn: Floats) -> DocumentGoal:
    position = None if goal.position is None else rotate(turn, scale * np.array(goal.position))
    rotation = None if goal.rotation is None else multiply(turn, np.array(goal.rotation))
    given = {name: value for name, value in goal.numbers.items() if isinstance(value, float)}
    lengths = {name: scale * value for name, value in given.items() if NUMBERS[name].unit is Unit.LENGTH}
    offset = scale * np.array(goal.offset)
    return replace(goal, position=position, rotation=rotation, offset=offset, **lengths)  # type: ignore[arg-type]


LEAST, MOST = 0.1, 30.0
"""Metres of height between which a figure is of a person's scale."""
_USUAL = 1.7


def is_usual(height: float) -> bool:
    """Whether a figure of this height (metres) is of a person's scale; one without a height that is a number is."""
    return not (0.0 < height < math.inf) or LEAST <= height < MOST


def step_scale(height: float) -> float:
    """What lengths for a person are to be multiplied by for a figure of a height: a power of ten."""
    return 1.0 if is_usual(height) else 10.0 ** round(math.log10(height / _USUAL))
