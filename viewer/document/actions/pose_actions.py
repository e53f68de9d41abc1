"""Actions that pose the whole body or parts of it, and the one that makes a document planar."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from viewer.document.document import Action, Document
from viewer.document.evaluation import home_pose
from viewer.document.planar import confined, flattened, normal_of
from viewer.document.pose_fitting import mirrored_pose, pinned_supports
from viewer.document.posed_goals import carried
from viewer.document.scope import binding, inside_at
from viewer.errors import InputError
from viewer.skeleton import Pose
from viewer.skeleton.figure import partners

__all__ = ["MirrorPose", "PastePose", "ResetPose", "SetPlanar", "SetPose"]

_ROUNDING = 1e-12
"""Difference that counts as rounding: of a quaternion component, or metres."""


def _indices(document: Document, joints: Collection[str] | None) -> list[int]:
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
    rotations, translations = document.pose.rotations.copy(), document.pose.translations.copy()
    rotations[joints], translations[joints] = pose.rotations[joints], pose.translations[joints]
    mixed = _settled(document.pose, inside_at(document, Pose(rotations, translations), joints))
    return document if mixed.same_as(document.pose) else carried(document, mixed, joints)


def _settled(before: Pose, after: Pose) -> Pose:
    """``after`` with the exact numbers of ``before`` where they differ by rounding: a keyed pose stays keyed."""
    apart = (np.abs(after.rotations - sign * before.rotations).max(axis=-1) for sign in (1.0, -1.0))
    moved = np.abs(after.translations - before.translations).max(axis=-1)
    still = (np.maximum(np.minimum(*apart), moved) < _ROUNDING)[:, None]
    rotations = np.where(still, before.rotations, after.rotations)
    return Pose(rotations, np.where(still, before.translations, after.translations))


@dataclass(frozen=True, slots=True)
class ResetPose(Action):
    """Reset joints to the clip's frame if there is a clip, else to the relaxed pose; their goals move along.

    Attributes:
        joints: names; None: all.
        position: whether their translations are reset.
        rotation: whether their rotations are.
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
        joints, home, now = _indices(document, self.joints), home_pose(document), document.pose
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

    @property
    def label(self) -> str:
        return self.title

    def apply(self, document: Document) -> Document:
        return _posed(document, fitting(document, self.pose), _indices(document, None))


@dataclass(frozen=True, slots=True)
class PastePose(Action):
    """Paste a copied pose, or some of its joints.

    Attributes:
        pose: of this skeleton.
        joints: names of the joints that were copied; None: all.
        flipped: swap left and right: each joint's values go to its partner.
        title: name of the undo step; "": what it does.
    """

    pose: Pose
    joints: tuple[str, ...] | None = None
    flipped: bool = False
    title: str = ""

    @property
    def label(self) -> str:
        return self.title or ("Paste pose flipped" if self.flipped else "Paste pose")

    def apply(self, document: Document) -> Document:
        pose, joints = fitting(document, self.pose), _indices(document, self.joints)
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
        return _posed(document, _mirrored(document, document.pose), _indices(document, None))


def _mirrored(document: Document, pose: Pose) -> Pose:
    """A pose mirrored in place: about the middle between pinned feet."""
    supports = pinned_supports(document, partners(document.skeleton))
    return mirrored_pose(document.skeleton, pose, supports)


@dataclass(frozen=True, slots=True)
class SetPlanar(Action):
    """Keep the body in a world plane through its root, or let it move in space again.

    Its bones are first rotated into the plane, with the goals; later drags stay in the plane.

    Attributes:
        plane: "xy", "yz", "zx", or None for space.
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
