"""Poses from elsewhere: copied ones, and those of the library; undo and redo."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

import numpy as np

from viewer.document import actions as act
from viewer.document.actions.pose_actions import fitted_pose, mirrored_pose
from viewer.errors import ViewerError, plural
from viewer.session import Session
from viewer.skeleton import Character, JointKind, Pose, Skeleton, blend_poses, fk, joint_space
from viewer.skeleton.figure import partners
from viewer.skeleton.transfer import Transfer
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.view import View


class Copied(NamedTuple):
    """A copied pose.

    Attributes:
        pose: of all joints.
        joints: names of the joints selected when copying; None: all.
        names: of the skeleton's joints; skeletons with the same names can take it.
        world: joints keep their rotation in the world, and roots their place; else their rotation to their parents.
    """

    pose: Pose
    joints: tuple[str, ...] | None
    names: tuple[str, ...]
    world: bool = False


def joint_values(character: Character, pose: Pose, chosen: Collection[str] = ()) -> tuple[str, int]:
    """Joint values as YAML, radians and metres, by the names of the file; and how many joints they are of.

    Hinges and slides have a number each, others a list of their coordinates; joints that cannot move are left out, and
    those that are not ``chosen`` if any are.
    """
    skeleton, called = character.skeleton, character.source.name_of
    values = joint_space(skeleton).measure(pose.rotations, pose.translations)
    lines = ["# radians, metres"]
    for joint, (name, kind) in enumerate(zip(skeleton.names, skeleton.kinds, strict=True)):
        count = 0 if kind is JointKind.FREE else kind.dofs
        if count and (not chosen or name in chosen):
            words = [f"{value + 0.0:.6f}" for value in values[joint, :count].tolist()]
            key = called(name)
            key = key if re.fullmatch(r"[A-Za-z_][\w.-]*", key) else json.dumps(key)
            lines.append(f"{key}: {words[0] if count == 1 else '[' + ', '.join(words) + ']'}")
    return "\n".join(lines) + "\n", len(lines) - 1


class Clipboard:
    """Commands for copying and pasting poses, undo and redo.

    Attributes:
        copied: a pose, or keys, whichever was copied last.
    """

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self.copied: Copied | act.CopiedKeys | None = None

    def copy(self, *, world: bool = False) -> None:
        """Copy the pose of the selected joints; of all if none is selected.

        Pasting one of the ``world`` gives the joints their rotations in the world, independent of their parents.
        """
        document = self._session.document
        joints = document.selected("joint")
        self.copied = Copied(document.pose, joints or None, document.skeleton.names, world)
        where = " in the world" if world else ""
        of = f" of {plural(len(joints), 'joint')}" if joints else ""
        self._view.note(f"Copied the pose{of}{where}")

    def copy_joints(self) -> None:
        """Put the joint values into the system's clipboard: of the selected joints, of all if none is selected."""
        document = self._session.document
        chosen = set(document.selected("joint"))
        text, count = joint_values(document.character, document.pose, chosen)
        self._view.request("copy-text", text)
        self._view.note(f"Copied the values of {plural(count, 'joint')}")

    def paste(self, *, flipped: bool) -> None:
        """Paste the copied pose, or its mirror image."""
        copied = self.copied
        if not isinstance(copied, Copied):
            return
        if not copied.world:
            self._session.dispatch(act.PastePose(copied.pose, copied.joints, flipped))
            return
        document = self._session.document
        pose, joints = copied.pose, copied.joints
        if flipped:
            pose = mirrored_pose(document.skeleton, pose)
            partner, names = partners(document.skeleton), document.skeleton.names
            joints = joints and tuple(names[partner[document.skeleton.index(name)]] for name in joints)
        pose = with_world_rotations(document.skeleton, document.pose, pose, joints)
        title = "Paste pose in the world, flipped" if flipped else "Paste pose in the world"
        self._session.dispatch(act.PastePose(pose, joints, title=title))

    def _fits(self) -> bool:
        return isinstance(self.copied, Copied) and self.copied.names == self._session.document.skeleton.names

    def bindings(self) -> CommandBindings:
        session = self._session
        return {
            "pose.copy": CommandBinding(self.copy),
            "pose.copy_world": CommandBinding(lambda: self.copy(world=True)),
            "pose.copy_joints": CommandBinding(self.copy_joints),
            "pose.paste": CommandBinding(lambda: self.paste(flipped=False), self._fits),
            "pose.paste_flipped": CommandBinding(lambda: self.paste(flipped=True), self._fits),
            "pose.mirror": CommandBinding(lambda: session.dispatch(act.MirrorPose())),
            "edit.undo": CommandBinding(
                session.undo, lambda: session.history.index > 0 or session.recorder.recording is not None
            ),
            "edit.redo": CommandBinding(session.redo, lambda: session.history.index < len(session.history)),
        }


def with_world_rotations(skeleton: Skeleton, now: Pose, pose: Pose, joints: Collection[str] | None) -> Pose:
    """A present pose in which some joints have the world rotations, and roots the places, that another pose gives them.

    Without joints (None) it is that pose itself.
    """
    if joints is None:
        return pose
    chosen, wanted = {skeleton.index(name) for name in joints}, fk(skeleton, pose).rotations
    rotations, translations = now.rotations.copy(), now.translations.copy()
    world = np.empty_like(rotations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = world[parent] if parent >= 0 else IDENTITY
        if joint in chosen:
            rotations[joint] = multiply(conjugate(above), wanted[joint])
            translations[joint] = pose.translations[joint]
        world[joint] = multiply(above, rotations[joint])
    return Pose(rotations, translations)


class LibraryPoses:
    """Applies poses to the selected joints, or to all if none is selected."""

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self._blend: tuple[str, Pose, Transfer] | None = None

    def apply(self, name: str, source: Skeleton, pose: Pose, *, flipped: bool = False) -> None:
        """Apply a pose of a skeleton as one undo step, ``flipped`` with left and right swapped.

        Raises:
            InputError: no joint of it fits, or it cannot be flipped.
        """
        found = self._fitted(source, pose, flipped=flipped)
        title = _title(name, flipped=flipped)
        self._session.dispatch(act.PastePose(found.pose, self._names(found), title=title))

    def begin(self, name: str, source: Skeleton, pose: Pose) -> None:
        """Begin to blend a pose in; `blend` sets its share, the session's ``commit`` or ``cancel`` ends it.

        Raises:
            InputError: as of `apply`; nothing is begun.
        """
        found = self._fitted(source, pose, flipped=False)
        title = _title(name, flipped=False)
        self._session.begin(title)
        self._blend = title, self._session.document.pose, found

    def blend(self, share: float) -> None:
        """Pose the figure a part of the way, 0 to 1, from where the blend began to the library's pose."""
        if self._blend is None or self._session.gestures.label != self._blend[0]:
            return
        title, start, found = self._blend
        share = min(max(share, 0.0), 1.0)
        pose = blend_poses(start, found.pose, share, found.joints)
        try:
            self._session.gestures.update(act.PastePose(pose, self._names(found), title=title))
        except ViewerError:
            self._session.cancel()
            raise

    def _fitted(self, source: Skeleton, pose: Pose, *, flipped: bool) -> Transfer:
        return fitted_pose(self._session.document, source, pose, flipped=flipped)

    def _names(self, found: Transfer) -> tuple[str, ...] | None:
        """The joints that change; None: all."""
        names = self._session.document.skeleton.names
        fitting = tuple(names[joint] for joint in found.joints)
        chosen = self._session.document.selected("joint")
        if not chosen:
            return None if len(fitting) == len(names) else fitting
        return tuple(name for name in fitting if name in chosen)

    def bindings(self) -> CommandBindings:
        return {"pose.keep": CommandBinding(partial(self._view.request, "keep-pose"))}


def _title(name: str, *, flipped: bool) -> str:
    return f"Pose {name}{' flipped' if flipped else ''}"
