"""``ikviewer check``: can these files be used, and what is odd about them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.options import add_reading, load_input
from viewer.cli.output import print_text
from viewer.cli.sessions import is_session, open_session
from viewer.errors import FormatError, InputError, ViewerError, one_line, quote
from viewer.formats.load import READERS
from viewer.formats.watch import watched
from viewer.skeleton.violation import clip_violation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from viewer.session.document import Document
    from viewer.skeleton.character import Character

HELP = "check files: a line per file and finding; exit 1 if any is refused"
EXAMPLES = """examples:
  ikviewer check *.bvh
  ikviewer check captures/          (every BVH, JSON, NPZ and glTF file in the folder and below, sessions, too)

Each line begins with ok, warning or refused."""

_OUTSIDE = 1e-3
"""Radians (metres for slides) past a limit that are worth a line."""
_BLOCK = 1 << 16
"""Joint-frames that are measured together, for bounded memory."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files, folders or sample:NAME")
    add_reading(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check every file; a refused one does not stop the others."""
    refused = 0
    files = [file for name in arguments.files for file in _files(name)]
    for file in watched("checking", files, len(files)):
        try:
            *findings, verdict = _checked(arguments, file)
        except BrokenPipeError:
            raise
        except Exception as error:  # noqa: BLE001 - nothing in a file ends it before the last
            refused += 1
            print_text(one_line(f"refused  {error if isinstance(error, ViewerError) else _unexpected(error, file)}"))
            continue
        for finding in findings:
            print_text(one_line(f"warning  {file}: {finding}"))
        print_text(one_line(f"ok       {file}: {verdict}"))
    return 1 if refused else 0


def _files(name: str) -> list[str]:
    """A file, or the files of known suffixes in a folder and below (the folder itself if there are none)."""
    folder = Path(name)
    if not folder.is_dir():
        return [name]
    found = sorted(
        str(file)
        for file in folder.rglob("*")
        if file.suffix.casefold() in READERS and not file.name.endswith(".schema.json") and file.is_file()
    )
    return found or [name]


def _checked(arguments: argparse.Namespace, file: str) -> list[str]:
    """What is odd about a file, and last what it holds.

    Raises:
        ViewerError: it is refused.
    """
    if Path(file).is_dir():
        raise InputError(f"{file}: expected files that end in {', '.join(READERS)} in this folder, found none")
    try:
        document = open_session(file) if is_session(file) else None
        character = load_input(arguments, file, quiet=True, document=document)
    except FormatError:
        if Path(file).suffix.casefold() != ".json" or (lines := _pose_or_goals(file)) is None:
            raise
        return lines
    _show(character, document, file)
    count = len(character.clip) if character.clip else 0
    frames = {0: "no motion", 1: "1 frame"}.get(count, f"{count} frames")
    findings = [*character.warnings, *_outside(character), *_actions(file)]
    return [*findings, f"{len(character.skeleton)} joints, {frames}"]


def _unexpected(error: Exception, file: str) -> str:
    from viewer.session.unexpected import said

    return said(error, file)


def _show(character: Character, document: Document | None, file: str) -> None:
    """Do what the window does to show it: what that refuses is refused here, too.

    Raises:
        ViewerError: it cannot be shown.
    """
    from viewer.session import Session, new_document

    try:
        character.skeleton.relaxed_pose()
        Session(new_document(character) if document is None else document)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _actions(file: str) -> Iterator[str]:
    """The first recorded action of a session that cannot be done again because of what the file says."""
    if not is_session(file):
        return
    from viewer.session.files import read_session
    from viewer.session.script.reading import read_actions

    if not bytes(read_session(Path(file)).actions):
        return
    try:
        actions = read_actions(file)
        for place in range(len(actions.calls)):
            actions.given(place)
    except FormatError as error:
        yield ": ".join(part for part in (error.path, error.problem) if part)


def _pose_or_goals(file: str) -> list[str] | None:
    """The findings in a pose or goals file, which is checked by itself; None for another one."""
    from viewer.formats.files import read_text
    from viewer.formats.json_structs import GoalsFile, PoseFile
    from viewer.formats.json_text import decode, kind_of, parse

    text = read_text(Path(file), file)
    try:
        tree = parse(text)
        kind = kind_of(tree) if isinstance(tree, dict) else None
    except FormatError:
        return None
    if kind == "goals":
        goals, warnings = decode(text, GoalsFile, kind, file)
        return [*warnings, "1 goal" if len(goals.goals) == 1 else f"{len(goals.goals)} goals"]
    if kind == "pose":
        pose, warnings = decode(text, PoseFile, kind, file)
        count = len(pose.rotations or {})
        return [*warnings, f"a pose of {count} joint{'' if count == 1 else 's'}"]
    return None


def _outside(character: Character) -> Iterator[str]:
    """Joints that the motion takes past limits which are not its own."""
    skeleton, clip = character.skeleton, character.clip
    if clip is None or character.limits_from != "file":
        return
    frames = np.zeros(len(skeleton), dtype=np.intp)
    step = max(1, _BLOCK // len(skeleton))
    starts = range(0, len(clip), step)
    for start in watched("limits", starts, len(starts)):
        excess = clip_violation(skeleton, clip, slice(start, start + step))
        frames += (excess > _OUTSIDE).sum(axis=0)
    for joint in np.flatnonzero(frames).tolist():
        name = quote(skeleton.names[joint])
        yield f"joint {name} is outside its limits in {frames[joint]} of {len(clip)} frames"
