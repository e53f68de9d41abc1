"""Actions on joints: their angles, lengths, stiffness, names and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.argument_checks import as_flag, as_number
from viewer.document.document import Action, Document, Mode
from viewer.document.edit_skeleton import (
    bone_end,
    bone_vectors,
    checked_name,
    relengthened,
    renamed_document,
    with_bones,
)
from viewer.document.limit_ranges import with_ranges
from viewer.document.posed_goals import carried
from viewer.document.scope import turned_within, with_loops_closed
from viewer.document.take import same_or_none
from viewer.errors import InputError, quote
from viewer.formats.limit_sources import NONE, WORDS, with_limits
from viewer.ik.goals.numbers import as_rotation
from viewer.skeleton import DOFS, JointKind, Pose, Skeleton, joint_space
from viewer.spatial.checks import Floats, handed_over

__all__ = [
    "RenameJoint", "SetCoordinate", "SetJointLimits", "SetLength", "SetLimitRanges", "SetLimits", "SetLimitsFrom",
    "SetStiffness", "TurnJoint",
]  # fmt: skip

_LONGEST = 1e6
"""Longest bone, metres."""


@dataclass(frozen=True, slots=True)
class TurnJoint(Action):
    """Rotate a joint with its descendants: goals on them, pins too, move along; others stay.

    Attributes:
        joint: its name.
        rotation: (4,) local rotation (x, y, z, w), parent_from_joint; clamped to what the joint's kind and, if on,
            its limits allow.
    """

    joint: str
    rotation: ArrayLike
    words: ClassVar[str] = "Turn {0.joint}"

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        rotations = document.pose.rotations.copy()
        rotations[joint] = as_rotation(self.rotation, f"rotation of {quote(self.joint)}")
        return _put(document, Pose.trusted(handed_over(rotations), document.pose.translations), joint)


@dataclass(frozen=True, slots=True)
class SetCoordinate(Action):
    """Set one coordinate of a joint, in the order of `viewer.skeleton.coordinates`: what a slider shows.

    Attributes:
        joint: its name.
        index: 0, 1 or 2.
        value: radians, or metres of a slide; clamped to its range if limits are on.
    """

    joint: str
    index: int
    value: float
    words: ClassVar[str] = "Turn {0.joint}"

    def apply(self, document: Document) -> Document:
        skeleton, joint = document.skeleton, document.skeleton.index(self.joint)
        count = _coordinates(skeleton, joint)
        if self.index not in range(count):
            has = f"0 to {count - 1}" if count else "none"
            raise InputError(f"joint {quote(self.joint)}: no coordinate {self.index}, it has {has}")
        value = as_number(self.value, f"joint {quote(self.joint)}: coordinate {self.index}")
        space = joint_space(skeleton)
        coordinates = space.measure(document.pose.rotations, document.pose.translations)
        coordinates[joint, self.index] = value
        rotations, translations = space.rebuild(coordinates, document.pose.rotations, document.pose.translations)
        turned, moved = document.pose.rotations.copy(), document.pose.translations.copy()
        turned[joint], moved[joint] = rotations[joint], translations[joint]
        return _put(document, Pose(turned, moved), joint)


def _coordinates(skeleton: Skeleton, joint: int) -> int:
    """Number of coordinates of a joint: 0 of a ball without limits and of a free root, which have no angles."""
    kind = skeleton.kinds[joint]
    if kind is JointKind.FREE or (kind is JointKind.BALL and skeleton.limits[joint] is None):
        return 0
    return DOFS[kind]


def _put(document: Document, pose: Pose, joint: int) -> Document:
    """The document in a pose in which one joint was moved by hand, with the skeleton's loops closed again."""
    within = turned_within(document, pose, joint)
    family = joint_space(document.skeleton).following.family([joint])
    closed = with_loops_closed(document, within, family)
    unchanged = closed.same_as(document.pose)
    return document if unchanged else carried(document, closed, family if closed is within else None)


@dataclass(frozen=True, slots=True)
class SetLength(Action):
    """Set the length of a bone, which belongs to the joint that turns it. Clips play on that.

    In IK mode the goals stay and the pose is solved; in FK mode goals on descendants move along.

    Attributes:
        joint: that turns the bone; "": the parent of ``to``.
        metres: its length.
        to: the joint or end site at its end; "": that of the joint's only bone.
    """

    joint: str
    metres: float
    to: str = ""
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Length of {self.joint or self.to}"

    def apply(self, document: Document) -> Document:
        skeleton, name = document.skeleton, self.joint or self.to
        end = bone_end(skeleton, self.joint, self.to)
        metres = as_number(self.metres, f"length of {quote(name)}", least=1e-6, most=_LONGEST)
        bones, own = bone_vectors(skeleton), bone_vectors(document.character.skeleton)
        length = float(np.linalg.norm(bones[end]))
        if length < 1e-9:
            place = (*skeleton.names, *skeleton.tip_names)[end]
            raise InputError(f"joint {quote(place)} is at its parent: no direction leads to it")
        if metres == length:
            return document
        # Scale the file's own bone if possible: setting its length again restores its exact numbers.
        bones[end] = _scaled(own[end], bones[end], metres)
        changed = with_bones(skeleton, bones)
        moved = relengthened(document.pose.translations, skeleton.offsets, changed.offsets)
        pose = Pose(document.pose.rotations, moved)
        if document.mode is Mode.IK:
            return replace(document, skeleton=changed, pose=pose)
        joint = end if end < len(skeleton) else int(skeleton.tip_parents[end - len(skeleton)])
        return carried(document, pose, [joint], skeleton=changed)


def _scaled(own: Floats, now: Floats, metres: float) -> Floats:
    length = float(np.linalg.norm(own))
    if length < 1e-9:
        return np.asarray(now * (metres / np.linalg.norm(now)))
    return own if abs(metres - length) <= 1e-12 * length else np.asarray(own * (metres / length))


@dataclass(frozen=True, slots=True)
class SetStiffness(Action):
    """Set how much a joint resists moving in IK: 0 not at all, 1 locks it."""

    joint: str
    stiffness: float
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Stiffness of {0.joint}"

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        value = as_number(self.stiffness, f"stiffness of {quote(self.joint)}", least=0.0, most=1.0)
        if value == document.skeleton.stiffness[joint]:
            return document
        stiffness = document.skeleton.stiffness.copy()
        stiffness[joint] = value
        return replace(document, skeleton=replace(document.skeleton, stiffness=stiffness))


@dataclass(frozen=True, slots=True)
class RenameJoint(Action):
    """Rename a joint; goals, pins, limits, keys and exports use the new name.

    Attributes:
        joint: the present name.
        name: the new name; no other joint, effector or end site may have it.
    """

    joint: str
    name: str
    words: ClassVar[str] = "Rename {0.joint}"

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        name = checked_name(document, joint, self.name)
        return document if name == self.joint else renamed_document(document, {joint: name})


@dataclass(frozen=True, slots=True)
class SetLimits(Action):
    """Switch all joint limits on or off."""

    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Joint limits {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        on = as_flag(self.on, "joint limits")
        return document if on is document.limits_on else replace(document, limits_on=on)


@dataclass(frozen=True, slots=True)
class SetLimitsFrom(Action):
    """Take the limits of all joints from another source: "file", "human+clip", "human", "clip" or "none"."""

    source: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Limits from {WORDS.get(self.source, self.source).lower()}"

    def apply(self, document: Document) -> Document:
        limits = with_limits(document.character, self.source).skeleton.limits
        own = document.character.limits_from or NONE
        source = "" if self.source == own else self.source
        if source == document.limits_from:
            return document
        return replace(document, skeleton=replace(document.skeleton, limits=limits), limits_from=source)


@dataclass(frozen=True, slots=True)
class SetLimitRanges(Action):
    """Set the ranges of joints: ``SetLimitRanges({"LeftLeg": ((0.0, 2.5),)})``.

    Attributes:
        ranges: by joint, (lowest, highest) of each coordinate: radians, metres of a slide.
        title: of the undo step.
    """

    ranges: Mapping[str, Sequence[tuple[float, float]]]
    title: str = ""
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return self.title or f"Limits of {next(iter(self.ranges), 'no joint')}"

    def apply(self, document: Document) -> Document:
        skeleton = with_ranges(document.skeleton, self.ranges)
        same = all(map(same_or_none, skeleton.limits, document.skeleton.limits))
        return document if same else replace(document, skeleton=skeleton)


@dataclass(frozen=True, slots=True)
class SetJointLimits(Action):
    """Switch one joint's limits on or off; they bind only if `SetLimits` has switched all on."""

    joint: str
    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Limits of {self.joint} {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        document.skeleton.index(self.joint)
        on = as_flag(self.on, f"limits of {self.joint}")
        changed = document.unlimited - {self.joint} if on else document.unlimited | {self.joint}
        return document if changed == document.unlimited else replace(document, unlimited=changed)
