"""Posing: actions that turn joints and set the pose, and how a pose is mirrored or fitted to the figure.

A pose is mirrored in place: the figure keeps its place and stands on the other foot. A pose from a library is fitted:
the figure keeps its place and heading.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Action, Document
from viewer.document.evaluation import home_pose
from viewer.document.planar import flattened, normal_of
from viewer.document.posed_goals import carried, confined
from viewer.document.scope import binding, inside_at, with_loops_closed
from viewer.errors import InputError, quote
from viewer.ik.goals.goal import as_rotation
from viewer.skeleton import (
    JointKind,
    Pose,
    Skeleton,
    World,
    at_or_below,
    effector_of,
    find_figure,
    fk,
    joint_space,
    rest_world,
)
from viewer.skeleton.figure import across_of, partners
from viewer.skeleton.kinematics import local_turns
from viewer.skeleton.skeleton import moved_roots
from viewer.skeleton.transfer import Transfer, transferred
from viewer.spatial.checks import Floats, Ints, as_number, handed_over
from viewer.spatial.quaternion import conjugate, dot, from_matrix, multiply, rotate

_ROUNDING = 1e-12
"""Difference that counts as rounding: of a quaternion component, or metres."""

_UP = np.array([0.0, 1.0, 0.0])

_BESIDE = float(np.cos(np.radians(15.0)))
"""Feet count as side by side if the line between them is within this of across the direction they point."""

_ALIKE = 0.5
"""Feet that point more than 60 degrees away from the body do not define where it faces."""

_LEVEL = 0.1
"""Both feet stand if their heights differ by less than this part of a leg."""

_STILL = 1e-9
"""Headings that differ by less than this, radians, are the same: the pose keeps its exact numbers."""


@dataclass(frozen=True, slots=True)
class TurnJoint(Action, words="Turn {0.joint}"):
    """Rotate a joint with its descendants: goals on them, pins too, move along; others stay.

    ``rotation`` is local, (4,), parent_from_joint; clamped to what the joint's kind and, if on, its limits allow.
    """

    joint: str
    rotation: ArrayLike

    def apply(self, document: Document) -> Document:
        joint = document.skeleton.index(self.joint)
        rotations = document.pose.rotations.copy()
        rotations[joint] = as_rotation(self.rotation, f"rotation of {quote(self.joint)}")
        if document.skeleton.kinds[joint] is JointKind.FIXED:
            return document
        return _put(document, Pose.trusted(handed_over(rotations), document.pose.translations), joint)


@dataclass(frozen=True, slots=True)
class SetCoordinate(Action, words="Turn {0.joint}"):
    """Set one coordinate of a joint, in the order of `viewer.skeleton.coordinates`: what a slider shows.

    ``value`` is in radians, or metres of a slide; clamped to its range if limits are on.
    """

    joint: str
    index: int
    value: float

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
class SetPose(Action, words="{0.title}"):
    """Set the pose, inside the limits if they are on; goals move along."""

    pose: Pose
    title: str = "Set pose"

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
class MirrorPose(Action, words="Mirror pose"):
    """Swap left and right; the body keeps its place, stands on the other foot and faces where its feet point."""

    def apply(self, document: Document) -> Document:
        if (partners(document.skeleton) == np.arange(len(document.skeleton))).all():
            raise InputError("no two joints are named as left and right: there is nothing to mirror")
        return _posed(document, _mirrored(document, document.pose), indices(document, None))


def _mirrored(document: Document, pose: Pose) -> Pose:
    """A pose mirrored in place: about the middle between pinned feet."""
    return mirrored_pose(document.skeleton, pose, _pinned_supports(document))


def _pinned_supports(document: Document) -> tuple[int, ...]:
    """Pinned joints about which a body is mirrored: feet, or pairs if there is no figure."""
    skeleton, figure = document.skeleton, find_figure(document.skeleton)
    partner = partners(skeleton)
    pins = [one for one in document.goals if one.pinned and one.pin_position and one.position is not None]
    held = {effector_of(skeleton, one.effector).joint for one in pins}
    if figure is not None and figure.legs:
        legs = at_or_below(skeleton, *[leg.upper for leg in figure.legs])
        held = {joint for joint in held if legs[joint]}
    pairs = {joint for joint in held if partner[joint] != joint and int(partner[joint]) in held}
    return tuple(sorted(pairs or (held if figure is not None and figure.legs else ())))


@dataclass(frozen=True, slots=True)
class SetPlanar(Action, solves=True):
    """Keep the body in a world plane through its root, or let it move in space again.

    Its bones are first rotated into the plane, with the goals; later drags stay in the plane.

    ``plane`` is "xy", "yz", "zx", or None for space.
    """

    plane: str | None

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


# --- mirrored and fitted poses


def mirrored_pose(skeleton: Skeleton, pose: Pose, supports: Sequence[int] = ()) -> Pose:
    """The pose with left and right swapped, in place.

    Every joint takes its partner's rotation from rest, reflected at the plane between the sides: with S the
    reflection at rest, R the rest and W the posed world rotations, S' the reflection in the posed body's own plane,
    W'_partner = S' W_j R_j^-1 S R_partner. S' is S rotated about the vertical as the feet are, or the root.

    ``supports`` are joints that the body stands on: their middle stays, and their roots are moved to keep it there.
    They are the figure's feet if none is given; without feet, roots stay.
    """
    across = across_of(skeleton)
    rest, world = rest_world(skeleton), fk(skeleton, pose)
    partner, roots = partners(skeleton), np.array(_root_of(skeleton))
    normals = np.array([_turned_across(rest, world, across, int(root)) for root in roots])
    standing = _standing_on(skeleton, world, supports)
    if standing:
        carrying = roots == roots[standing[0]]
        normals[carrying] = _standing_across(skeleton, (rest, world), across, standing)
    away = multiply(world.rotations, conjugate(rest.rotations))
    # S' D S = (S' D S') (S' S): a reflected rotation, and twice the angle between the two planes.
    turned = multiply(_reflected(away, normals), _between_planes(normals, across))
    wanted = np.empty_like(world.rotations)
    wanted[partner] = multiply(turned, rest.rotations[partner])
    rotations = local_turns(skeleton.parents, wanted)
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    mirrored = Pose(rotations, _mirrored_translations(skeleton, pose, rest, across, partner))
    return _moved_over(skeleton, mirrored, world, standing, partner) if standing else mirrored


def symmetry_normal(skeleton: Skeleton, pose: Pose, root: int) -> Floats:
    """(3,) horizontal unit normal of the plane between the sides of a posed body, from right to left."""
    across = across_of(skeleton)
    rest, world = rest_world(skeleton), fk(skeleton, pose)
    standing = _standing_on(skeleton, world, ())
    if standing and _root_of(skeleton)[standing[0]] == root:
        return _standing_across(skeleton, (rest, world), across, standing)
    return _turned_across(rest, world, across, root)


def _reflected(rotations: Floats, normals: Floats) -> Floats:
    """S D S for rotations D (J, 4) and the reflections at the planes of normals (J, 3): an axis is a pseudovector."""
    vectors = rotations[:, :3]
    along = dot(vectors, normals)[:, None] * normals
    return np.concatenate([2.0 * along - vectors, rotations[:, 3:]], axis=-1)


def _between_planes(normals: Floats, across: Floats) -> Floats:
    """S' S as quaternions (J, 4)."""
    first = np.eye(3) - 2.0 * np.outer(across, across)
    second = np.eye(3) - 2.0 * normals[:, :, None] * normals[:, None, :]
    return from_matrix(second @ first)


def _mirrored_translations(skeleton: Skeleton, pose: Pose, rest: World, across: Floats, partner: Ints) -> Floats:
    """Translations relative to the offsets, reflected; roots stay."""
    result = pose.translations.copy()
    inner = np.flatnonzero(skeleton.parents >= 0)
    above = rest.rotations[skeleton.parents]
    off = rotate(above[inner], (pose.translations - skeleton.offsets)[inner])
    off = off - 2.0 * (off @ across)[:, None] * across
    target = partner[inner]
    moved = skeleton.offsets[target] + rotate(conjugate(above[target]), off)
    still = (pose.translations == skeleton.offsets).all(axis=-1)[inner]
    result[target] = np.where(still[:, None], skeleton.offsets[target], moved)
    return result


def _standing_on(skeleton: Skeleton, world: World, supports: Sequence[int]) -> tuple[int, ...]:
    """The supports given, else the figure's feet: both, or the lower one if the other is lifted; else none."""
    figure = find_figure(skeleton)
    if supports or figure is None:
        return tuple(supports)
    feet = [leg.end for leg in figure.legs if leg.end is not None]
    if len(feet) != len(figure.legs) or not feet:
        return ()
    heights = world.positions[feet, 1]
    leg = float(np.linalg.norm(world.positions[figure.legs[0].upper] - world.positions[figure.legs[0].lower]))
    return tuple(feet) if float(np.ptp(heights)) < 2.0 * _LEVEL * leg else (feet[int(np.argmin(heights))],)


def _standing_across(
    skeleton: Skeleton, moments: tuple[World, World], across: Floats, supports: Sequence[int]
) -> Floats:
    """(3,) horizontal unit direction from right to left of a body that stands on supports.

    Along the line between feet side by side, so that each foot's image falls on the other. Else at right angles to the
    direction in which the feet, or else the root, point.

    ``moments`` are at rest, and posed; ``across`` is that direction at rest.
    """
    rest, world = moments
    facing = _turned_across(rest, world, across, _root_of(skeleton)[supports[0]])
    if len(supports) == 1:
        return facing
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        joints = list(supports)
        away = multiply(world.rotations[joints], conjugate(rest.rotations[joints]))
        feet = _level(rotate(away, across).sum(axis=0))
        facing = feet if feet is not None and float(feet @ facing) > _ALIKE else facing
    side = (rest.positions[list(supports)] - rest.positions[list(supports)].mean(axis=0)) @ across
    line = _level(np.sign(side) @ world.positions[list(supports)])
    return line if line is not None and float(line @ facing) > _BESIDE else facing


def _level(direction: Floats) -> Floats | None:
    flat = direction - (direction @ _UP) * _UP
    length = float(np.linalg.norm(flat))
    return np.asarray(flat / length) if length > 1e-3 else None


def _turned_across(rest: World, world: World, across: Floats, root: int) -> Floats:
    """Horizontal direction from right to left of a posed body; with rest's inclination if the body lies on its side."""
    direction = rotate(multiply(world.rotations[root], conjugate(rest.rotations[root])), across)
    level = direction - (direction @ _UP) * _UP + (across @ _UP) * _UP
    length = float(np.linalg.norm(level))
    return np.asarray(level / length) if length > 1e-3 else across


def _root_of(skeleton: Skeleton) -> list[int]:
    """By joint, the root of its hierarchy."""
    roots: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        roots.append(joint if parent < 0 else roots[parent])
    return roots


def _moved_over(skeleton: Skeleton, mirrored: Pose, before: World, supports: Sequence[int], partner: Ints) -> Pose:
    """A mirrored pose moved so that the middle between its supports is where it was.

    It stood on the ``supports``, and now stands on their partners.
    """
    joints = list(supports)
    middle = before.positions[joints].mean(axis=0)
    now = fk(skeleton, mirrored).positions[partner[joints]].mean(axis=0)
    root = _root_of(skeleton)[joints[0]]
    translations = mirrored.translations.copy()
    translations[root] += middle - now
    return Pose(mirrored.rotations, translations)


def fitted_pose(document: Document, source: Skeleton, pose: Pose, *, flipped: bool = False) -> Transfer:
    """A pose of any skeleton for a document's figure, which stays in its place and keeps its heading.

    ``flipped``: with left and right swapped.

    Raises:
        InputError: no joint of the pose is one of the figure's; nothing to flip.
    """
    skeleton = document.skeleton
    found = transferred(source, pose, skeleton, document.pose)
    if not found.joints:
        raise InputError(f"the pose is for {source.name}: none of its joints is one of this skeleton's")
    pose, joints = found.pose, found.joints
    if flipped:
        partner = partners(skeleton)
        if (partner == np.arange(len(skeleton))).all():
            raise InputError("no two joints are named as left and right: there is nothing to flip")
        pose = mirrored_pose(skeleton, pose)
        joints = tuple(sorted(partner[list(joints)].tolist()))
    # Inside the limits first: they bend the legs, and the feet stay where they are.
    pose = inside_at(document, pose, joints)
    return Transfer(on_the_spot(skeleton, pose, document.pose), joints)


def on_the_spot(skeleton: Skeleton, pose: Pose, now: Pose) -> Pose:
    """A pose whose roots are moved horizontally and turned about the vertical to where another pose stands.

    The feet that it stands on come to where they are in the other pose; without feet, the first root does. Heights and
    inclinations stay those of the pose.
    """
    roots = skeleton.roots
    first = int(roots[0])
    turn = _heading(skeleton, pose, now, first)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    if abs(turn) > _STILL:
        about = np.array([0.0, math.sin(0.5 * turn), 0.0, math.cos(0.5 * turn)])
        rotations, translations = moved_roots(roots, rotations, translations, about)
    world = fk(skeleton, Pose(rotations, translations))
    standing = list(_standing_on(skeleton, world, ())) or [first]
    step = fk(skeleton, now).positions[standing].mean(axis=0) - world.positions[standing].mean(axis=0)
    translations[roots] += step * (1.0, 0.0, 1.0)
    return Pose(rotations, translations)


def _heading(skeleton: Skeleton, pose: Pose, now: Pose, root: int) -> float:
    """Radians about the vertical from a pose's heading to another's."""
    across, rest = across_of(skeleton), rest_world(skeleton)
    wanted = _turned_across(rest, fk(skeleton, now), across, root)
    found = _turned_across(rest, fk(skeleton, pose), across, root)
    return _angle(found, wanted)


def _angle(first: Floats, second: Floats) -> float:
    """Radians about Y from one direction to another, both seen from above."""
    sine = first[2] * second[0] - first[0] * second[2]
    return math.atan2(float(sine), float(first[0] * second[0] + first[2] * second[2]))
