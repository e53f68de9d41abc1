"""Actions that make and change a skeleton: joints added, moved, split, removed, mirrored; their bones and limits.

Places are metres in the world at rest. With ``mirror`` the joint of the same name on the other side changes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.actions.goal_actions import MakeEffector
from viewer.document.document import Action, Document, Item, Mode
from viewer.document.edit_skeleton import (
    bone_end,
    bone_vectors,
    checked_name,
    relengthened,
    renamed_document,
    with_bones,
    with_ranges,
)
from viewer.document.posed_goals import carried
from viewer.document.remapping import remap, reread
from viewer.document.take import same
from viewer.errors import InputError, quote
from viewer.formats.file_formats import UpWord
from viewer.formats.limit_sources import NONE, WORDS, with_limits
from viewer.formats.load import load
from viewer.ik.goals import Vector
from viewer.skeleton import Character, JointKind, Pose, Skeleton, joint_edits, rest_world
from viewer.skeleton.joint_edits import MIDDLE, leaves_of, twin_of, unplaced
from viewer.skeleton.names import swapped_names
from viewer.skeleton.skeleton import effector_names
from viewer.spatial.checks import Floats, as_flag, as_name, as_number, as_vector, member
from viewer.spatial.quaternion import conjugate, rotate

_FLIP = np.array([-1.0, 1.0, 1.0])
FRONT: Vector = (0.0, 0.0, 1.0)
_LONGEST = 1e6
"""Longest bone, metres."""


def _taken(document: Document) -> set[str]:
    """Names that no new joint may have, besides those of the skeleton."""
    return {goal.id for goal in document.goals} | {prop.name for prop in document.contact.props}


def _shown(document: Document, skeleton: Skeleton, joint: str) -> Document:
    return remap(document, skeleton).changed(selection=(Item("joint", joint),))


def _new_name(document: Document, name: str) -> str:
    if not name:
        return joint_edits.new_joint_name(document.skeleton, _taken(document))
    name = as_name(name, "new joint")
    skeleton = document.skeleton
    if name in skeleton.names:
        raise InputError(f"there is a joint {quote(name)} already")
    if name in effector_names(skeleton) | _taken(document):
        raise InputError(f"an effector, goal or prop is called {quote(name)} already")
    return name


def _kind(word: object, joint: str) -> JointKind:
    return member(JointKind, word, f"kind of {quote(joint)}")


def _both(document: Document, joint: str, mirror: bool, edit: Callable[[Skeleton, str, bool], Skeleton]) -> Skeleton:
    """The skeleton with a joint and, with ``mirror``, its twin edited; ``edit`` knows by its last argument which."""
    skeleton = document.skeleton
    skeleton.index(joint)
    twin = twin_of(skeleton, joint) if as_flag(mirror, "mirror") else None
    edited = edit(skeleton, joint, False)
    return edited if twin is None else edit(edited, twin, True)


@dataclass(frozen=True, slots=True)
class AddJoint(Action):
    """Add a joint at the end of a new bone, and select it; the first joint of an empty document has no bone.

    Attributes:
        parent: the joint that the bone begins at; "" for the first joint.
        position: (3,) metres in the world at rest.
        name: "" for ``joint1``, ``joint2``, ...
        kind: how it moves; the first joint is free.
        facing: (3,) the axis of hinges where two bones do not give one.
        mirror: whether to add its mirror image at x = 0, too, unless it is on that plane; names end in ``_l``, ``_r``.
    """

    parent: str
    position: ArrayLike
    name: str = ""
    kind: str = "ball"
    facing: Vector = FRONT
    mirror: bool = False

    @property
    def label(self) -> str:
        return f"Add {self.name or 'joint'}"

    def apply(self, document: Document) -> Document:
        skeleton, place = document.skeleton, np.array(as_vector(self.position, "place of the joint"))
        if not self.parent:
            if not unplaced(skeleton):
                raise InputError("expected the joint that the bone begins at: the skeleton has joints already")
            made = joint_edits.begun(self.name or "joint1", place, title=skeleton.name)
            return _shown(document, made, made.names[0])
        name, kind = _new_name(document, self.name), _kind(self.kind, "the joint")
        central = abs(place[0]) <= MIDDLE
        if not as_flag(self.mirror, "mirror") or central:
            place = place * (not central, 1, 1) if self.mirror else place
            made = joint_edits.added(skeleton, name, self.parent, place, kind=kind, facing=self.facing)
            return _shown(document, made, name)
        other = next(iter(swapped_names(name)), "")
        if not other:
            ends = ("_l", "_r") if place[0] > 0.0 else ("_r", "_l")
            name, other = name + ends[0], name + ends[1]
        parent = twin_of(skeleton, self.parent) or self.parent
        made = joint_edits.added(skeleton, name, self.parent, place, kind=kind, facing=self.facing)
        facing = -_FLIP * np.array(self.facing)
        made = joint_edits.added(made, other, parent, _FLIP * place, kind=kind, facing=facing)
        for joint, twin in ((name, other), (self.parent, parent)):
            made = _kind_of_twin(made, joint, twin) if joint != twin else made
        return _shown(document, made, name)


def _kind_of_twin(skeleton: Skeleton, joint: str, twin: str) -> Skeleton:
    """The twin with the kind, the reflected axes and the limits of a joint."""
    here, there = skeleton.index(joint), skeleton.index(twin)
    kind, world = skeleton.kinds[here], rest_world(skeleton)
    if kind is JointKind.BALL and skeleton.kinds[there] is kind:
        return skeleton
    sign = 1.0 if kind is JointKind.SLIDE else -1.0
    axes = sign * _FLIP * rotate(world.rotations[here], skeleton.axes[here, : kind.axes])
    axes = rotate(conjugate(world.rotations[there]), axes)
    limits = skeleton.limits[here] if kind.axes else None
    return joint_edits.with_kind(skeleton, twin, kind, axis=axes, limits=limits)


@dataclass(frozen=True, slots=True)
class MoveJoint(Action, words="Move {0.joint}"):
    """Move a joint.

    ``position`` (3,) is in metres in the world at rest. ``children``: its descendants move with it; else they stay.
    ``mirror``: its twin moves, too; a joint on the mirror plane stays on it.
    """

    joint: str
    position: ArrayLike
    children: bool = False
    mirror: bool = False

    def apply(self, document: Document) -> Document:
        place = np.array(as_vector(self.position, f"place of {quote(self.joint)}"))
        skeleton = document.skeleton
        x = rest_world(skeleton).positions[skeleton.index(self.joint), 0]
        if self.mirror and twin_of(skeleton, self.joint) is None and abs(x) <= MIDDLE:
            place[0] = 0.0

        def edit(now: Skeleton, joint: str, twin: bool) -> Skeleton:
            return joint_edits.moved(now, joint, _FLIP * place if twin else place, children=self.children)

        return remap(document, _both(document, self.joint, self.mirror, edit))


@dataclass(frozen=True, slots=True)
class SplitBone(Action, words="Split the bone of {0.joint}"):
    """Split the bone that ends at a joint: a new joint, which is selected, between it and its parent.

    ``joint`` is at the bone's end; ``part`` is counted from its beginning, above 0 and below 1. The new joint's name ""
    stands for ``joint1``, ``joint2``, ...; ``mirror``: the bone of its twin is split, too.
    """

    joint: str
    part: float = 0.5
    name: str = ""
    mirror: bool = False

    def apply(self, document: Document) -> Document:
        part = as_number(self.part, f"split of {quote(self.joint)}")
        new = {False: _new_name(document, self.name), True: ""}
        if self.mirror and twin_of(document.skeleton, self.joint) is not None:
            if not swapped_names(new[False]):
                x = rest_world(document.skeleton).positions[document.skeleton.index(self.joint), 0]
                new[False] += "_l" if x > 0.0 else "_r"
            new[True] = swapped_names(new[False])[0]
        made = _both(document, self.joint, self.mirror, lambda now, j, twin: joint_edits.split(now, j, new[twin], part))
        return _shown(document, made, new[False])


@dataclass(frozen=True, slots=True)
class RemoveJoint(Action, words="Remove {0.joint}"):
    """Remove a joint: its children get its parent and keep their places.

    ``branch``: its descendants are removed, too. ``mirror``: so is its twin.
    """

    joint: str
    branch: bool = False
    mirror: bool = False

    def apply(self, document: Document) -> Document:
        skeleton = document.skeleton
        parent = int(skeleton.parents[skeleton.index(self.joint)])
        made = self.edited(document)
        above = "" if parent < 0 else skeleton.names[parent]
        changed = remap(document, made)
        return replace(changed, selection=(Item("joint", above),)) if above in made.names else changed

    def edited(self, document: Document) -> Skeleton:
        """The skeleton without the joint; an InputError if no joint would be left."""
        return _both(
            document,
            self.joint,
            self.mirror,
            lambda now, joint, _: joint_edits.removed(now, joint, branch=self.branch) if joint in now.names else now,
        )


@dataclass(frozen=True, slots=True)
class SetKind(Action, words="{0.joint}: {0.kind}"):
    """Set how a joint moves; axes and limits are the usual ones of the kind.

    ``kind`` is "ball", "hinge", "universal", "slide", "fixed" or, of roots, "free"; ``facing`` (3,) is the axis of a
    hinge where two bones do not give one. ``mirror``: its twin gets the same kind, too.
    """

    joint: str
    kind: str
    facing: Vector = FRONT
    mirror: bool = False

    def apply(self, document: Document) -> Document:
        if document.skeleton.kinds[document.skeleton.index(self.joint)] == self.kind:
            return document

        def edit(now: Skeleton, joint: str, twin: bool) -> Skeleton:
            if twin:
                return _kind_of_twin(now, self.joint, joint)
            return joint_edits.with_kind(now, joint, _kind(self.kind, joint), facing=self.facing)

        return remap(document, _both(document, self.joint, self.mirror, edit))


@dataclass(frozen=True, slots=True)
class SetAxis(Action, words="Axis of {0.joint}"):
    """Set the axis of a hinge, slide or universal joint.

    ``axis`` (3,) is a direction in the world at rest; None: the normal of its bones, as `SetKind` chooses it. The
    second axis of a universal joint is made perpendicular. ``mirror``: its twin gets the reflected axis, too.
    """

    joint: str
    axis: ArrayLike | None = None
    facing: Vector = FRONT
    mirror: bool = False

    def apply(self, document: Document) -> Document:
        def edit(now: Skeleton, joint: str, twin: bool) -> Skeleton:
            if twin:
                return _kind_of_twin(now, self.joint, joint)
            here = now.index(joint)
            return joint_edits.with_kind(
                now, joint, now.kinds[here], axis=self._axes(now, here), limits=now.limits[here], facing=self.facing
            )

        return remap(document, _both(document, self.joint, self.mirror, edit))

    def _axes(self, skeleton: Skeleton, joint: int) -> Floats | None:
        if self.axis is None:
            return None
        given = np.array(as_vector(self.axis, f"axis of {quote(self.joint)}"))
        if not given.any():
            raise InputError(f"axis of {quote(self.joint)}: expected a direction, found the zero vector")
        first = rotate(conjugate(rest_world(skeleton).rotations[joint]), given / np.linalg.norm(given))
        if skeleton.kinds[joint] is not JointKind.UNIVERSAL:
            return np.asarray(first)[None]
        second = skeleton.axes[joint, 1] - (skeleton.axes[joint, 1] @ first) * first
        if np.linalg.norm(second) < 0.1:
            second = skeleton.axes[joint, 0] - (skeleton.axes[joint, 0] @ first) * first
        return np.stack([first, second / np.linalg.norm(second)])


@dataclass(frozen=True, slots=True)
class Reparent(Action):
    """Give a joint and its descendants another parent; they keep their places.

    Without a parent, "", it becomes a root.
    """

    joint: str
    parent: str

    @property
    def label(self) -> str:
        return f"{self.joint} on {self.parent}" if self.parent else f"{self.joint} on nothing"

    def apply(self, document: Document) -> Document:
        return remap(document, joint_edits.reparented(document.skeleton, self.joint, self.parent or None))


@dataclass(frozen=True, slots=True)
class MirrorBranch(Action, words="Mirror {0.joint}"):
    """Make the other side of a branch, reflected at x = 0, or replace it. Names get a side."""

    joint: str

    def apply(self, document: Document) -> Document:
        names = joint_edits.sided_names(document.skeleton, self.joint, _taken(document))
        joint = names.get(document.skeleton.index(self.joint), self.joint)
        named = renamed_document(document, names) if names else document
        return remap(named, joint_edits.mirrored(named.skeleton, joint))


@dataclass(frozen=True, slots=True)
class DuplicateBranch(Action, words="Duplicate {0.joint}"):
    """Copy a joint and its descendants; the copy is selected.

    ``joint`` is the topmost one; ``shift`` (3,) is in metres in the world at rest.
    """

    joint: str
    shift: ArrayLike

    def apply(self, document: Document) -> Document:
        shift = as_vector(self.shift, f"shift of {quote(self.joint)}")
        made, copy = joint_edits.duplicated(document.skeleton, self.joint, shift, _taken(document))
        return _shown(document, made, copy)


@dataclass(frozen=True, slots=True)
class SetLinks(Action, words="Links: {0.count}"):
    """Divide the chain of a joint into another number of bones, of equal length along the same line."""

    joint: str
    count: int

    def apply(self, document: Document) -> Document:
        return remap(document, joint_edits.with_links(document.skeleton, self.joint, self.count, _taken(document)))


@dataclass(frozen=True, slots=True)
class ReadyToPose(Action, words="Ready to pose"):
    """Make the ends of chains effectors, held in place, unless they have one; a single joint is refused."""

    def apply(self, document: Document) -> Document:
        if len(document.skeleton) < 2:
            raise InputError("A skeleton needs two joints")
        selection = document.selection
        for leaf in leaves_of(document.skeleton):
            here = document.skeleton.index(leaf)
            if all(effector.joint != here for effector in document.skeleton.effectors):
                document = MakeEffector(leaf).apply(document)
        return document.changed(selection=selection)


@dataclass(frozen=True, slots=True)
class SetLength(Action, solves=True):
    """Set the length of a bone, which belongs to the joint that turns it. Clips play on that.

    In IK mode the goals stay and the pose is solved; in FK mode goals on descendants move along.

    ``joint`` turns the bone, "": the parent of ``to``, which is the joint or end site at its end, "": that of the
    joint's only bone.
    """

    joint: str
    metres: float
    to: str = ""

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
class SetStiffness(Action, words="Stiffness of {0.joint}", solves=True):
    """Set how much a joint resists moving in IK: 0 not at all, 1 locks it."""

    joint: str
    stiffness: float

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        value = as_number(self.stiffness, f"stiffness of {quote(self.joint)}", least=0.0, most=1.0)
        if value == document.skeleton.stiffness[joint]:
            return document
        stiffness = document.skeleton.stiffness.copy()
        stiffness[joint] = value
        return replace(document, skeleton=replace(document.skeleton, stiffness=stiffness))


@dataclass(frozen=True, slots=True)
class RenameJoint(Action, words="Rename {0.joint}"):
    """Rename a joint; goals, pins, limits, keys and exports use the new name.

    No other joint, effector or end site may have the new name.
    """

    joint: str
    name: str

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        name = checked_name(document, joint, self.name)
        return document if name == self.joint else renamed_document(document, {joint: name})


@dataclass(frozen=True, slots=True)
class SetLimits(Action, words="Joint limits {switched}", solves=True):
    """Switch all joint limits on or off."""

    on: bool

    def apply(self, document: Document) -> Document:
        return document.changed(limits_on=as_flag(self.on, "joint limits"))


@dataclass(frozen=True, slots=True)
class SetLimitsFrom(Action, solves=True):
    """Take the limits of all joints from another source: "file", "human+clip", "human", "clip" or "none"."""

    source: str

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
class SetLimitRanges(Action, solves=True):
    """Set the ranges of joints: ``SetLimitRanges({"LeftLeg": ((0.0, 2.5),)})``.

    ``ranges`` are (lowest, highest) of each coordinate by joint: radians, metres of a slide; ``title`` is of the undo
    step.
    """

    ranges: Mapping[str, Sequence[tuple[float, float]]]
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or f"Limits of {next(iter(self.ranges), 'no joint')}"

    def apply(self, document: Document) -> Document:
        skeleton = with_ranges(document.skeleton, self.ranges)
        return document if same(skeleton.limits, document.skeleton.limits) else replace(document, skeleton=skeleton)


@dataclass(frozen=True, slots=True)
class SetJointLimits(Action, words="Limits of {0.joint} {switched}", solves=True):
    """Switch one joint's limits on or off; they bind only if `SetLimits` has switched all on."""

    joint: str
    on: bool

    def apply(self, document: Document) -> Document:
        document.skeleton.index(self.joint)
        on = as_flag(self.on, f"limits of {self.joint}")
        return document.changed(
            unlimited=document.unlimited - {self.joint} if on else document.unlimited | {self.joint}
        )


@dataclass(frozen=True, slots=True)
class SetUnits(Action, words="Units {0.units}, {0.up} up"):
    """Read the file in other units or with another up axis; edits are kept, scaled and rotated to match.

    ``units`` and ``up`` are as of `viewer.formats.load.load`. ``character`` is the file as read; None: `apply` reads
    it.
    """

    units: str | float = "auto"
    up: UpWord = "auto"
    character: Character | None = None

    def apply(self, document: Document) -> Document:
        """Read the file, if `character` is not it, and apply the edits to it."""
        character = self.character
        if character is None:
            path = document.character.source.path
            if path is None:
                raise InputError("the figure was made in code: there is no file to read again")
            character = load(path, units=self.units, up=self.up)
        return reread(document, character)
