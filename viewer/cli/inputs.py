"""What commands read: sessions, poses by name or file; no output takes the place of an input."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from viewer.cli.output import warn
from viewer.errors import InputError, quote, shown, unknown_name
from viewer.formats.files import leads_to

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from viewer.cli.output import Json
    from viewer.document.document import Document
    from viewer.skeleton.character import Character
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

READ = ("file", "goals", "rig", "pose", "from_pose", "prefer", "script")
"""The arguments of all commands that name, or may name, a file that is read."""


def check_kept(output: str | Path | None, arguments: argparse.Namespace) -> None:
    """Refuse to write over what the same command reads, by whatever name: it would be gone, and nobody asked for that.

    Args:
        output: what is to be written, if anything.
        arguments: of the command; those called as in `READ` are looked at.

    Raises:
        InputError: the output is one of them.
    """
    if output is None:
        return
    for name in READ:
        read = getattr(arguments, name, None)
        if read is not None and leads_to(output, read):
            leads = "" if str(output) == read else f"leads to {read}, which "
            problem = "is read by this command and would be replaced: give the output another name"
            raise InputError(f"{output}: {leads}{problem}")


def named_pose(skeleton: Skeleton, name: str) -> Pose:
    """A pose of the skeleton's file by name, one that every skeleton has (rest, relaxed), or a pose file."""
    from pathlib import Path

    if name in skeleton.poses:
        return skeleton.poses[name]
    if name in {"rest", "relaxed"}:
        return skeleton.rest_pose() if name == "rest" else skeleton.relaxed_pose()
    path = Path(name)
    if path.suffix.casefold() != ".json" and not os.path.exists(path):  # noqa: PTH110 - `Path.exists` raises OSError for names that are too long
        known = dict.fromkeys([*skeleton.poses, "relaxed", "rest"])
        raise InputError(unknown_name("pose", name, known))
    from viewer.formats.motion_json import read_pose

    warnings: list[str] = []
    pose = read_pose(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return pose


SUFFIX = ".ikv.json"
DEMO = "demo:"
POSE = "session"
"""What commands call the pose that a session was saved in."""


def is_session(file: str) -> bool:
    """Whether a name is that of a session file."""
    return file.casefold().endswith(SUFFIX)


def open_session(file: str) -> Document:
    """The document of a session file.

    Raises:
        ViewerError: it cannot be read, or is refused; the message says where and why.
    """
    from dataclasses import replace
    from pathlib import Path

    from viewer.session.files import MotionError
    from viewer.session.files import open_session as opened_session

    try:
        opened = opened_session(Path(file))
    except MotionError as error:
        error.problem += f"; the window opens the session without it: ikviewer view {file}"
        raise
    if opened.motion is not None:
        warn([f"{file}: {opened.motion.words}; the session's own copy is used"])
    document = opened.document
    recorded = document.take is not None and not document.take.is_empty
    # Without a clip a take that has no keys is as long as the recording could be, and nothing happens in it.
    return document if recorded or document.clip_data is not None else replace(document, take=None)


def refuse_demo(file: str) -> None:
    """Raise InputError if it is a demo: those play in the window, no file holds what they do."""
    if file.startswith(DEMO):
        raise InputError(f"{file}: a demo is for the window: ikviewer view {file}")


def as_character(document: Document) -> Character:
    """The document as a file would hold it: its skeleton, its pose by a name, what is played as the only motion."""
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.document.take import baked_character

    character = baked_character(document)
    poses = MappingProxyType({**character.skeleton.poses, POSE: document.pose})
    return replace(character, skeleton=replace(character.skeleton, poses=poses))


def shown_pose(character: Character, file: str) -> Pose | None:
    """The pose that a session was saved in; None for other files."""
    return character.skeleton.poses[POSE] if is_session(file) else None


def without_pose(character: Character) -> Character:
    """A session's character as it was named by its user: its own poses only."""
    from dataclasses import replace
    from types import MappingProxyType

    poses = {name: pose for name, pose in character.skeleton.poses.items() if name != POSE}
    return replace(character, skeleton=replace(character.skeleton, poses=MappingProxyType(poses)))


def session_json(document: Document) -> dict[str, Json]:
    """What a session holds beside figure and motion."""
    first, last = document.played
    goals = document.solver_goals()
    take = document.take
    return {
        "clip": document.clip,
        "frame": document.frame if document.frames else None,
        "played": [first, last] if document.frames else None,
        "keys": list(take.frames) if take is not None else [],
        "goals": list(goals),
        "pins": [name for name, goal in goals.items() if goal.pinned],
        "limits_on": document.limits_on,
        "solver": document.solver.method,
    }


def session_lines(document: Document) -> list[str]:
    """The same for people."""
    first, last = document.played
    goals = document.solver_goals()
    pins = [shown(name) for name, goal in goals.items() if goal.pinned]
    lines = [
        f"  goals      {', '.join(map(shown, goals)) or 'none'}" + (f"; pinned: {', '.join(pins)}" if pins else ""),
        f"  solver     {document.solver.method}, limits {'on' if document.limits_on else 'off'}",
    ]
    if document.frames:
        of = f"clip {quote(document.clip)}" if document.clip is not None else "what was recorded"
        keys = ", ".join(map(str, document.take.frames)) if document.take is not None else ""
        lines.append(f"  played     frames {first} to {last} of {of}, standing at {document.frame}")
        lines.append(f"  keys       {keys or 'none'}")
    return lines
