"""Actions on joints (angles, lengths, stiffness, names, limits) and on poses; the one that makes a document planar."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Action, Document, Mode
from viewer.document.edit_skeleton import (
    bone_end,
    bone_vectors,
    checked_name,
    relengthened,
    renamed_document,
    with_bones,
    with_ranges,
)
from viewer.document.evaluation import home_pose
from viewer.document.pose_fitting import mirrored_pose, pinned_supports
from viewer.document.posed_goals import carried, confined
from viewer.document.scope import binding, flattened, inside_at, normal_of, with_loops_closed
from viewer.document.take import same
from viewer.errors import InputError, quote
from viewer.formats.limit_sources import NONE, WORDS, with_limits
from viewer.ik.goals.goal import as_rotation
from viewer.skeleton import JointKind, Pose, Skeleton, joint_space
from viewer.skeleton.figure import partners
from viewer.spatial.checks import Floats, as_flag, as_number, handed_over

_LONGEST = 1e6
"""Longest bone, metres."""

_ROUNDING = 1e-12
"""Difference that counts as rounding: of a quaternion component, or metres."""


@dataclass(frozen=True, slots=True)
class TurnJoint(Action):
    """Rotate a joint with its descendants: goals on them, pins too, move along; others stay.

    ``rotation`` is local, (4,), parent_from_joint; clamped to what the joint's kind and, if on, its limits allow.
    """

    joint: str
    rotation: ArrayLike
    words: ClassVar[str] = "Turn {0.joint}"

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        rotations = document.pose.rotations.copy()
        rotations[joint] = as_rotation(self.rotation, f"rotation of {quote(self.joint)}")
        if document.skeleton.kinds[joint] is JointKind.FIXED:
            return document
        return _put(document, Pose.trusted(handed_over(rotations), document.pose.translations), joint)


@dataclass(frozen=True, slots=True)
class SetCoordinate(Action):
    """Set one coordinate of a joint, in the order of `viewer.skeleton.coordinates`: what a slider shows.

    ``value`` is in radians, or metres of a slide; clamped to its range if limits are on.
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
        moved = Pose(*space.rebuild(coordinates, document.pose.rotations, document.pose.translations))
        return _put(document, document.pose.with_joints(moved, joint), joint)


def _coordinates(skeleton: Skeleton, joint: int) -> int:
    """Number of coordinates of a joint: 0 of a ball without limits and of a free root, which have no angles."""
    kind = skeleton.kinds[joint]
    if kind is JointKind.FREE or (kind is JointKind.BALL and skeleton.limits[joint] is None):
        return 0
    return kind.dofs


def _put(document: Document, pose: Pose, joint: int) -> Document:
    """The document in a pose in which one joint was moved by hand, with the skeleton's loops closed again."""
    within = inside_at(document, pose, [joint])
    family = joint_space(document.skeleton).following.family([joint])
    closed = with_loops_closed(document, within, family)
    unchanged = closed.same_as(document.pose)
    return document if unchanged else carried(document, closed, family if closed is within else None)


@dataclass(frozen=True, slots=True)
class SetLength(Action):
    """Set the length of a bone, which belongs to the joint that turns it. Clips play on that.

    In IK mode the goals stay and the pose is solved; in FK mode goals on descendants move along.

    ``joint`` turns the bone, "": the parent of ``to``, which is the joint or end site at its end, "": that of the
    joint's only bone.
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

    No other joint, effector or end site may have the new name.
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
    words: ClassVar[str] = "Joint limits {switched}"

    def apply(self, document: Document) -> Document:
        return document.changed(limits_on=as_flag(self.on, "joint limits"))


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

    ``ranges`` are (lowest, highest) of each coordinate by joint: radians, metres of a slide; ``title`` is of the undo
    step.
    """

    ranges: Mapping[str, Sequence[tuple[float, float]]]
    title: str = ""
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return self.title or f"Limits of {next(iter(self.ranges), 'no joint')}"

    def apply(self, document: Document) -> Document:
        skeleton = with_ranges(document.skeleton, self.ranges)
        return document if same(skeleton.limits, document.skeleton.limits) else replace(document, skeleton=skeleton)


@dataclass(frozen=True, slots=True)
class SetJointLimits(Action):
    """Switch one joint's limits on or off; they bind only if `SetLimits` has switched all on."""

    joint: str
    on: bool
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Limits of {0.joint} {switched}"

    def apply(self, document: Document) -> Document:
        document.skeleton.index(self.joint)
        on = as_flag(self.on, f"limits of {self.joint}")
        return document.changed(
            unlimited=document.unlimited - {self.joint} if on else document.unlimited | {self.joint}
        )


# --- poses of the whole body or of parts of it, and of a plane


def indices(document: Document, joints: Collection[str] | None) -> list[int]:
    """Joint indices by name; None: all."""
    if joints is None:
        return list(range(len(document.skeleton)))
    if isinstance(joints, str):
        raise InputError(f"joints: expected a list of names, found {joints!r}")
    return [document.skeleton.index(name) for name in joints]


def fitting(document: Document, pose: Pose) -> Pose:
    """The pose, if it has the document's joints."""
    if len(pose.rotations) != len(document.skeleton):
        raise InputError(f"pose: expected {len(document.skeleton)} joints, found {len(pose.rotations)}")
    return pose


def _posed(document: Document, pose: Pose, joints: list[int]) -> Document:
    """The document with some joints as in another pose, inside the limits that bind; goals on them move along."""
    before = document.pose
    after = inside_at(document, before.with_joints(pose, joints), joints)
    mixed = after.with_joints(before, ~after.differs(before, _ROUNDING))  # so that a keyed pose stays keyed
    return document if mixed.same_as(before) else carried(document, mixed, joints)


@dataclass(frozen=True, slots=True)
class ResetPose(Action):
    """Reset joints to the clip's frame if there is a clip, else to the relaxed pose; their goals move along.

    ``joints`` are names, None: all; ``position`` and ``rotation`` say what is reset.
    """

    joints: tuple[str, ...] | None = None
    position: bool = True
    rotation: bool = True

    @property
    def label(self) -> str:
        if self.joints is None:
            return "Reset pose"
        part = "" if self.position and self.rotation else " position" if self.position else " rotation"
        return f"Reset{part} of {self.joints[0] if len(self.joints) == 1 else f'{len(self.joints)} joints'}"

    def apply(self, document: Document) -> Document:
        joints, home, now = indices(document, self.joints), home_pose(document), document.pose
        rotations, translations = now.rotations.copy(), now.translations.copy()
        if self.rotation:
            rotations[joints] = home.rotations[joints]
        if self.position:
            translations[joints] = home.translations[joints]
        pose = Pose(rotations, translations)
        if document.clip_data is None:
            pose = inside_at(document, pose, joints)
        return document if pose.same_as(now) else carried(document, pose, joints)


@dataclass(frozen=True, slots=True)
class SetPose(Action):
    """Set the pose, inside the limits if they are on; goals move along."""

    pose: Pose
    title: str = "Set pose"
    words: ClassVar[str] = "{0.title}"

    def apply(self, document: Document) -> Document:
        return _posed(document, fitting(document, self.pose), indices(document, None))


@dataclass(frozen=True, slots=True)
class PastePose(Action):
    """Paste a copied pose, or some of its joints.

    ``joints`` are names of those that were copied, None: all. ``flipped``: each joint's values go to its partner on the
    other side. ``title`` is the name of the undo step, "": what it does.
    """

    pose: Pose
    joints: tuple[str, ...] | None = None
    flipped: bool = False
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or ("Paste pose flipped" if self.flipped else "Paste pose")

    def apply(self, document: Document) -> Document:
        pose, joints = fitting(document, self.pose), indices(document, self.joints)
        if self.flipped:
            pose = _mirrored(document, pose)
            joints = partners(document.skeleton)[joints].tolist()
        return _posed(document, pose, joints)


@dataclass(frozen=True, slots=True)
class MirrorPose(Action):
    """Swap left and right; the body keeps its place, stands on the other foot and faces where its feet point."""

    solves: ClassVar[bool] = False
    words: ClassVar[str] = "Mirror pose"

    def apply(self, document: Document) -> Document:
        if (partners(document.skeleton) == np.arange(len(document.skeleton))).all():
            raise InputError("no joint's name says left or right: there is nothing to mirror")
        return _posed(document, _mirrored(document, document.pose), indices(document, None))


def _mirrored(document: Document, pose: Pose) -> Pose:
    """A pose mirrored in place: about the middle between pinned feet."""
    supports = pinned_supports(document, partners(document.skeleton))
    return mirrored_pose(document.skeleton, pose, supports)


@dataclass(frozen=True, slots=True)
class SetPlanar(Action):
    """Keep the body in a world plane through its root, or let it move in space again.

    Its bones are first rotated into the plane, with the goals; later drags stay in the plane.

    ``plane`` is "xy", "yz", "zx", or None for space.
    """

    plane: str | None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return "Leave the plane" if self.plane is None else f"Plane {self.plane.upper()}"

    def apply(self, document: Document) -> Document:
        if self.plane == document.planar:
            return document
        if self.plane is None:
            return replace(document, planar=None)
        normal_of(self.plane)
        pose = flattened(binding(document), document.pose, self.plane, limits=document.limits_on)
        flat = carried(document, document.pose if pose.same_as(document.pose) else pose, planar=self.plane)
        goals = tuple(confined(flat, goal) if goal.enabled else goal for goal in flat.goals)
        return replace(flat, goals=goals)
