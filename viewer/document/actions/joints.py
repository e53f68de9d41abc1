"""Actions on joints: turning, kinds and stiffness, names, limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.actions.base import Action
from viewer.document.checks import as_flag, as_number, as_turn
from viewer.document.default_goals import carried
from viewer.document.document import Document
from viewer.document.edit_skeleton import checked_name, relengthened, renamed_document
from viewer.document.goal import Mode
from viewer.document.scope import turned_within
from viewer.errors import InputError, quote
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.limits import DOFS, JointKind
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats

_LONGEST = 1e6
"""Metres that a bone may be made long."""


@dataclass(frozen=True, slots=True)
class TurnJoint(Action):
    """Turn a joint, and all that hangs on it: goals on it and below move along, pins too; others stay.

    Attributes:
        joint: its name.
        rotation: (4,) the whole local rotation (x, y, z, w), parent_from_joint. What its kind or its limits (when on)
            do not allow becomes the nearest that they do.
    """

    joint: str
    rotation: ArrayLike

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Turn {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with the joint turned."""
        joint = document.skeleton.index(self.joint)
        rotations = document.pose.rotations.copy()
        rotations[joint] = as_turn(self.rotation, f"rotation of {quote(self.joint)}")
        return _put(document, Pose(rotations, document.pose.translations), joint)


@dataclass(frozen=True, slots=True)
class SetCoordinate(Action):
    """Set one coordinate of a joint, as `viewer.skeleton.coordinates` counts them: what a slider shows.

    Attributes:
        joint: its name.
        index: 0, 1 or 2.
        value: radians, metres of a slide; taken to the nearest end of its range when limits are on.
    """

    joint: str
    index: int
    value: float

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Turn {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with the joint so."""
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
    """How many coordinates a joint has: none of a ball without limits or a free root, which have no angles."""
    kind = skeleton.kinds[joint]
    if kind is JointKind.FREE or (kind is JointKind.BALL and skeleton.limits[joint] is None):
        return 0
    return DOFS[kind]


def _put(document: Document, pose: Pose, joint: int) -> Document:
    """The document in a pose in which one joint was moved by hand."""
    within = turned_within(document, pose, joint)
    unchanged = within.same_as(document.pose)
    return document if unchanged else carried(document, within, [joint])


@dataclass(frozen=True, slots=True)
class SetLength(Action):
    """Make a joint's bone, from its parent to it, so long; clips are played on the bones as they are then.

    While dragging means IK the goals stay, and the pose is solved anew; else goals on what hangs on it move along.
    """

    joint: str
    metres: float
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Length of {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with a longer or shorter bone."""
        skeleton, joint = document.skeleton, document.skeleton.index(self.joint)
        if skeleton.parents[joint] < 0:
            raise InputError(f"joint {quote(self.joint)} is a root: it has no bone")
        metres = as_number(self.metres, f"length of {quote(self.joint)}", least=1e-6, most=_LONGEST)
        length = float(np.linalg.norm(skeleton.offsets[joint]))
        if length < 1e-9:
            raise InputError(f"joint {quote(self.joint)} stands where its parent does: its bone has no direction")
        if metres == length:
            return document
        offsets = skeleton.offsets.copy()
        # As much of the file's own bone as possible: going back to its length gives its very numbers back.
        offsets[joint] = _scaled(document.character.skeleton.offsets[joint], offsets[joint], metres)
        return _with_offsets(document, skeleton, offsets, joint)


def _scaled(own: Floats, now: Floats, metres: float) -> Floats:
    length = float(np.linalg.norm(own))
    if length < 1e-9:
        return np.asarray(now * (metres / np.linalg.norm(now)))
    return own if abs(metres - length) <= 1e-12 * length else np.asarray(own * (metres / length))


def _with_offsets(document: Document, skeleton: Skeleton, offsets: Floats, joint: int) -> Document:
    def adapted(pose: Pose) -> Pose:
        return Pose(pose.rotations, relengthened(pose.translations, skeleton.offsets, offsets))

    poses = {name: adapted(pose) for name, pose in skeleton.poses.items()}
    changed, pose = replace(skeleton, offsets=offsets, poses=poses), adapted(document.pose)
    if document.mode is Mode.IK:
        return replace(document, skeleton=changed, pose=pose)
    return carried(document, pose, [joint], skeleton=changed)


@dataclass(frozen=True, slots=True)
class SetStiffness(Action):
    """How much a joint resists moving in IK: 0 not at all, 1 it does not move."""

    joint: str
    stiffness: float
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Stiffness of {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with another stiffness."""
        joint = document.skeleton.index(self.joint)
        value = as_number(self.stiffness, f"stiffness of {quote(self.joint)}", least=0.0, most=1.0)
        if value == document.skeleton.stiffness[joint]:
            return document
        stiffness = document.skeleton.stiffness.copy()
        stiffness[joint] = value
        return replace(document, skeleton=replace(document.skeleton, stiffness=stiffness))


@dataclass(frozen=True, slots=True)
class RenameJoint(Action):
    """Call a joint otherwise: goals, pins, limits, keys and whatever is exported follow.

    Attributes:
        joint: its name until now.
        name: its name from now on; no other joint, effector or end site may have it.
    """

    joint: str
    name: str

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Rename {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with the joint called so."""
        joint = document.skeleton.index(self.joint)
        name = checked_name(document, joint, self.name)
        return document if name == self.joint else renamed_document(document, {joint: name})


@dataclass(frozen=True, slots=True)
class SetLimits(Action):
    """Joint limits on or off, all of them."""

    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Joint limits {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        """The document with limits on or off."""
        on = as_flag(self.on, "joint limits")
        return document if on is document.limits_on else replace(document, limits_on=on)


@dataclass(frozen=True, slots=True)
class SetJointLimits(Action):
    """One joint's limits on or off; they bind only while `SetLimits` has them on, too."""

    joint: str
    on: bool
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Limits of {self.joint} {'on' if self.on else 'off'}"

    def apply(self, document: Document) -> Document:
        """The document with the joint's limits on or off."""
        document.skeleton.index(self.joint)
        on = as_flag(self.on, f"limits of {self.joint}")
        changed = document.unlimited - {self.joint} if on else document.unlimited | {self.joint}
        return document if changed == document.unlimited else replace(document, unlimited=changed)
