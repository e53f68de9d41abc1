"""Session files as inputs of commands. Loading this takes longer than reading most files: only sessions need it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from viewer.cli.job import Json, warn
from viewer.cli.options import SESSION_POSE
from viewer.document import Document
from viewer.document.import_export import baked_character
from viewer.errors import quote, shown
from viewer.session import session_files
from viewer.skeleton import Character


def read_document(file: str) -> Document:
    """The document of a session file; its warnings go to stderr."""
    try:
        opened = session_files.open_session(Path(file))
    except session_files.MotionError as error:
        error.problem += f"; the window opens the session without it: ikviewer view {file}"
        raise
    if opened.motion is not None:
        warn([f"{file}: {opened.motion.words}; the session's own copy is used"])
    document = opened.document
    recorded = document.take is not None and not document.take.is_empty
    # Without a clip an empty take has the length of the longest recording, in which nothing moves.
    return document if recorded or document.clip_data is not None else replace(document, take=None)


def as_character(document: Document) -> Character:
    """The character of a document: its skeleton, the pose under the name "session", the played motion as only clip."""
    character = baked_character(document)
    poses = MappingProxyType({**character.skeleton.poses, SESSION_POSE: document.pose})
    return replace(character, skeleton=replace(character.skeleton, poses=poses))


def words_of(document: Document) -> dict[str, Json]:
    """What ``--json`` says of a session besides its skeleton and motion."""
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


def lines_of(document: Document) -> list[str]:
    """The same as text."""
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
