"""Copying and pasting poses, undo and redo, poses of a library, and the import of pose and goals files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from viewer.document import Action, DocumentContact, DocumentGoal
from viewer.document import actions as act
from viewer.document.document_contact import contact_of, grips, grips_from
from viewer.document.document_goal import PAIR_KINDS, DocumentBalance, balance_from, balances, check_kind, document_goal
from viewer.document.import_export import with_pin_target
from viewer.document.pose_fitting import fitted_pose, mirrored_pose
from viewer.document.posed_goals import pairs_of
from viewer.errors import FormatError, InputError, OutputError, ViewerError, plural
from viewer.formats.files import read_text
from viewer.formats.goals_json import Asked, read_goals_file
from viewer.formats.json_reading import kind_of, parse
from viewer.formats.motion_json import read_pose
from viewer.ik.goals import KINDS, Goal
from viewer.session import Session
from viewer.session.session_files import is_session
from viewer.skeleton import Character, JointKind, Pose, Skeleton, find_place, fk, joint_space
from viewer.skeleton.figure import partners
from viewer.skeleton.transfer import Transfer, blended
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.contact import grounded
from viewer.ui.opening import file_error
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


def joint_positions(character: Character, pose: Pose, chosen: Collection[str] = ()) -> tuple[str, int]:
    """Joint positions as YAML, radians and metres, by the names of the file; and how many joints they are of.

    Hinges and slides have a number each, others a list of their coordinates; what cannot move is left out.

    Args:
        character: of the pose.
        pose: any.
        chosen: names of joints; none: all.
    """
    skeleton, called = character.skeleton, character.source.name_of
    values = joint_space(skeleton).measure(pose.rotations, pose.translations)
    counts = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2, JointKind.BALL: 3}
    lines = ["# radians, metres"]
    for joint, (name, kind) in enumerate(zip(skeleton.names, skeleton.kinds, strict=True)):
        count = counts.get(kind, 0)
        if count and (not chosen or name in chosen):
            words = [f"{value + 0.0:.6f}" for value in values[joint, :count].tolist()]
            key = called(name)
            key = key if re.fullmatch(r"[A-Za-z_][\w.-]*", key) else json.dumps(key)
            lines.append(f"{key}: {words[0] if count == 1 else '[' + ', '.join(words) + ']'}")
    return "\n".join(lines) + "\n", len(lines) - 1


class Clipboard:
    """Commands for copying and pasting poses, undo and redo."""

    def __init__(self, session: Session, view: View) -> None:
        """Start with nothing copied."""
        self._session, self._view = session, view
        self._copied: Copied | None = None

    def copy(self, *, world: bool = False) -> None:
        """Copy the pose of the selected joints; of all if none is selected.

        Args:
            world: pasting gives the joints their rotations in the world, whatever their parents do.
        """
        document = self._session.document
        joints = tuple(item.name for item in document.selection if item.kind == "joint")
        self._copied = Copied(document.pose, joints or None, document.skeleton.names, world)
        where = " in the world" if world else ""
        self._view.note(f"Copied the pose of {len(joints)} joints{where}" if joints else f"Copied the pose{where}")

    def copy_joints(self) -> None:
        """Put the joint positions into the system's clipboard: of the selected joints, of all if none is selected."""
        document = self._session.document
        chosen = {item.name for item in document.selection if item.kind == "joint"}
        text, count = joint_positions(document.character, document.pose, chosen)
        self._view.request("copy-text", text)
        self._view.note(f"Copied the positions of {plural(count, 'joint')}")

    def paste(self, *, flipped: bool) -> None:
        """Paste the copied pose, or its mirror image."""
        copied = self._copied
        if copied is None:
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
        return self._copied is not None and self._copied.names == self._session.document.skeleton.names

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        session = self._session
        return {
            "pose.copy": CommandBinding(self.copy),
            "pose.copy_world": CommandBinding(lambda: self.copy(world=True)),
            "pose.copy_joints": CommandBinding(self.copy_joints),
            "pose.paste": CommandBinding(lambda: self.paste(flipped=False), self._fits),
            "pose.paste_flipped": CommandBinding(lambda: self.paste(flipped=True), self._fits),
            "pose.mirror": CommandBinding(lambda: session.dispatch(act.MirrorPose())),
            "edit.undo": CommandBinding(session.undo, lambda: session.history.index > 0 or session.recorder.recording),
            "edit.redo": CommandBinding(session.redo, lambda: session.history.index < len(session.history)),
        }


def with_world_rotations(skeleton: Skeleton, now: Pose, pose: Pose, joints: Collection[str] | None) -> Pose:
    """A present pose in which some joints have the world rotations, and roots the places, that another pose gives them.

    Args:
        skeleton: of both.
        now: the present pose.
        pose: gives the world rotations.
        joints: names; None: all, which is ``pose`` itself.
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


_LARGEST = 1 << 20
"""Largest JSON file, bytes, whose contents are checked: poses and goals are small."""
_ATTRIBUTES = tuple(place.name for place in fields(DocumentGoal) if place.name not in {"effector", "id"})


def kind_of_file(path: Path | str) -> str:
    """The kind of a file, "pose", "goals" or "map"; empty for any other, or if it cannot be read."""
    file = Path(path)
    if file.suffix.casefold() != ".json" or is_session(file):
        return ""
    try:
        if file.stat().st_size > _LARGEST:
            return ""
        tree = parse(read_text(file, str(file)))
    except (OSError, InputError, FormatError, OutputError):
        return ""
    kind = kind_of(tree) if isinstance(tree, dict) else ""
    return kind if kind in {"pose", "goals", "map"} else ""


def import_pose_or_goals(session: Session, view: View, path: Path, kind: str) -> None:
    """Apply a pose or goals file to the figure."""
    warnings: list[str] = []
    try:
        if kind == "pose":
            pose = read_pose(path, str(path), session.document.skeleton, warnings)
            session.dispatch(act.SetPose(pose, f"Pose of {path.name}"))
        else:
            _take_goals(session, read_goals_file(path, str(path), session.document.skeleton, warnings), path.name)
    except ViewerError as error:
        view.post(file_error(view, path, error))
        return
    view.bar.done("open")
    view.note(f"{kind.capitalize()} taken from {path.name}{f': {warnings[0]}' if warnings else ''}")


def _take_goals(session: Session, file: Asked, name: str) -> None:
    """Set the goals of the named effectors, in order, and the contact if there is any; the rest stays."""
    goals, contact, ground = file
    session.begin(f"Goals of {name}")
    taken: list[str] = []
    try:
        if contact is not None:
            wanted = contact_of(contact, session.document.contact)
            session.gestures.update(_set_all(act.SetContact, wanted))
        for hand, prop in grips_from(goals, session.document.skeleton):
            session.gestures.update(act.SetGrip(hand, prop))
        if any(map(balances, goals)):
            before = replace(session.document.balance, **grounded(session.document, ground))
            session.gestures.update(_set_all(act.SetBalance, balance_from(goals, before)))
        # Effectors hold together as the pose has them before anything moves.
        pairs = [_take_pair(session, goal) for goal in goals if KINDS[goal.kind].relative]
        for goal in goals:
            if not (KINDS[goal.kind].relative or balances(goal) or grips(goal)):
                taken.append(_take_goal(session, goal, taken))
        asked = {session.document.goal(name).effector for name in taken}
        for first, second in pairs:
            if second in asked and first not in asked and not session.document.goal(first).pinned:
                session.gestures.update(act.ReleaseEffector(first))
    except ViewerError:
        session.cancel()
        raise
    session.commit()


def _set_all(action: Callable[..., Action], wanted: DocumentContact | DocumentBalance) -> Action:
    """The action that sets every setting as in a value."""
    return action(**{field.name: getattr(wanted, field.name) for field in fields(wanted)})


def _take_goal(session: Session, goal: Goal, taken: Collection[str]) -> str:
    """Set the effector's next goal that is not in ``taken``, or add one; its id."""
    check_kind(goal.kind)
    name = _made_effector(session, goal.effector)
    free = (one.id for one in session.document.goals_of(name) if one.kind not in PAIR_KINDS)
    own = next((one for one in free if one not in taken), None)
    if own is None:
        session.gestures.update(act.AddGoal(name, goal.kind))
        own = session.document.selection[-1].name
    wanted = document_goal(with_pin_target(session.document.skeleton, session.document.pose, goal, name), name)
    given = {key: getattr(wanted, key) for key in _ATTRIBUTES}
    session.gestures.update(act.SetGoal(own, **{key: value for key, value in given.items() if value is not None}))
    return own


def _made_effector(session: Session, named: str) -> str:
    """The name of the effector that a goal names, which is made where there is none."""
    effectors = [effector.name for effector in session.document.skeleton.effectors]
    name = find_place(session.document.skeleton, named).name
    if name not in effectors:
        session.gestures.update(act.MakeEffector(named))
        name = session.document.selection[-1].name
    return name


def _take_pair(session: Session, goal: Goal) -> tuple[str, str]:
    """Make two effectors hold together, or set the goal that they have; their names."""
    ends = _made_effector(session, goal.effector), _made_effector(session, goal.to)
    own = _pair_of(session, ends)
    if own is None:
        session.gestures.update(act.HoldTogether(*ends))
        own = _pair_of(session, ends)
    assert own is not None
    stated = {"position": goal.target, "rotation": goal.target_rotation}
    for action in (act.SetGoal(own, offset=goal.offset), act.SetGoalKind(own, goal.kind), act.HoldEffector(own)):
        session.gestures.update(action)  # the last one because of the offset
    session.gestures.update(
        act.SetGoal(
            own,
            weight=goal.weight,
            rotation_weight=goal.rotation_weight,
            enabled=goal.enabled,
            level=goal.level,
            **{key: value for key, value in stated.items() if value is not None},
        )
    )
    return ends


def _pair_of(session: Session, ends: tuple[str, str]) -> str | None:
    """The id of the goal of the first of two effectors that holds them together."""
    pairs = pairs_of(session.document)
    return next((goal.id for goal in pairs if (goal.effector, goal.to) == ends), None)


class LibraryPoses:
    """Applies poses to the selected joints, or to all if none is selected."""

    def __init__(self, session: Session, view: View) -> None:
        """Change a session."""
        self._session, self._view = session, view
        self._blend: tuple[str, Pose, Transfer] | None = None

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the selected joints; effectors are not joints."""
        return tuple(item.name for item in self._session.document.selection if item.kind == "joint")

    def apply(self, name: str, source: Skeleton, pose: Pose, *, flipped: bool = False) -> None:
        """Apply a pose as one undo step.

        Args:
            name: of the pose.
            source: the skeleton that it is of.
            pose: of that skeleton.
            flipped: with left and right swapped.

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
        pose = blended(start, found.pose, share, found.joints)
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
        chosen = self.joints
        if not chosen:
            return None if len(fitting) == len(names) else fitting
        return tuple(name for name in fitting if name in chosen)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {"pose.keep": CommandBinding(partial(self._view.request, "keep-pose"))}


def _title(name: str, *, flipped: bool) -> str:
    return f"Pose {name}{' flipped' if flipped else ''}"
