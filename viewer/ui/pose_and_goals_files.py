"""Opens pose and goals files on the figure shown; everything else of it stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import fields, replace
from pathlib import Path

from viewer.document import Action, DocumentContact, DocumentGoal
from viewer.document import actions as act
from viewer.document.document_contact import contact_of, grips, grips_from
from viewer.document.document_goal import PAIR_KINDS, DocumentBalance, balance_from, balances, check_kind, document_goal
from viewer.document.import_export import with_pin_target
from viewer.document.posed_goals import pairs_of
from viewer.errors import FormatError, InputError, OutputError, ViewerError
from viewer.formats.files import read_text
from viewer.formats.goals_json import Asked, read_goals_file
from viewer.formats.json_reading import kind_of, parse
from viewer.formats.motion_json import read_pose
from viewer.ik.goals import KINDS, Goal
from viewer.session import Session
from viewer.session.session_files import is_session
from viewer.skeleton import find_place
from viewer.ui.contact import grounded
from viewer.ui.opening import file_error
from viewer.ui.view import View

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
    session.gestures.update(act.SetGoal(own, kind=goal.kind, offset=goal.offset))
    session.gestures.update(act.HoldEffector(own))  # measures the target from the offset
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
