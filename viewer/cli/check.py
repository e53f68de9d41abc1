"""``ikviewer check``: can these files be used, and what is odd about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from viewer.cli.inputs import is_session, open_session
from viewer.cli.options import add_jobs, add_json, add_reading, load_input
from viewer.cli.output import is_quiet, print_json, print_text
from viewer.errors import FormatError, InputError, ViewerError, one_line, quote

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from viewer.cli.output import Json
    from viewer.document.document import Document
    from viewer.skeleton.character import Character

EXAMPLES = """examples:
  ikviewer check *.bvh
  ikviewer check captures/          (every BVH, JSON, NPZ and glTF file in the folder and below, sessions, too)
  ikviewer check captures/ --jobs 4 --json

Each line begins with ok, warning or refused; with --quiet there are those of refused files only."""

_OUTSIDE = 1e-3
"""Radians (metres for slides) past a limit that are worth a line."""
_BLOCK = 1 << 16
"""Joint-frames that are measured together, for bounded memory."""


class Finding(NamedTuple):
    """What was found in a file.

    Attributes:
        file: its name.
        errors: why it is refused; nothing where it can be used.
        warnings: what is odd about it.
        holds: what is in it, "" where it is refused.
    """

    file: str
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    holds: str = ""

    def lines(self) -> list[str]:
        """For people: a line for each finding, and one for the file."""
        if self.errors:
            return [one_line(f"refused  {error}") for error in self.errors]
        odd = [] if is_quiet() else [one_line(f"warning  {self.file}: {warning}") for warning in self.warnings]
        return odd if is_quiet() else [*odd, one_line(f"ok       {self.file}: {self.holds}")]

    def document(self) -> Json:
        """For programs."""
        return {
            "file": self.file, "ok": not self.errors, "errors": list(self.errors), "warnings": list(self.warnings),
        }  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of this command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files, folders, sample:NAME or - (stdin)")
    add_reading(parser)
    add_jobs(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Check every file; a refused one does not stop the others."""
    from viewer.cli.many import done_each, files_of
    from viewer.formats.progress import watched

    files = [file for name in arguments.files for file in files_of(name)]
    found = []
    done = done_each(_found, arguments, files, str, arguments.jobs)
    for file, result in watched("checking", done, len(files)):
        finding = Finding(file, errors=(str(result),)) if isinstance(result, ViewerError) else result
        found.append(finding)
        if not arguments.json and (lines := finding.lines()):
            print_text("\n".join(lines))
    if arguments.json:
        print_json([finding.document() for finding in found])
    return 1 if any(finding.errors for finding in found) else 0


def _found(arguments: argparse.Namespace, file: str) -> Finding:
    """The findings in a file that can be used, or the one line of a fault of ours: nothing in a file ends the check.

    Raises:
        ViewerError: it is refused.
    """
    try:
        *warnings, holds = _checked(arguments, file)
    except (ViewerError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - the next file is checked whatever happened
        return Finding(file, errors=(_unexpected(error, file),))
    return Finding(file, warnings=tuple(warnings), holds=holds)


def _checked(arguments: argparse.Namespace, file: str) -> list[str]:
    """What is odd about a file, and last what it holds.

    Raises:
        ViewerError: it is refused.
    """
    from pathlib import Path

    from viewer.cli.many import check_no_folder

    check_no_folder(file)
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
    from pathlib import Path

    from viewer.session.files import read_session
    from viewer.session.script.player import read_actions

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
    from pathlib import Path

    from viewer.formats.files import read_text
    from viewer.formats.json_reading import decode, kind_of, parse
    from viewer.formats.json_structs import GoalsFile, PoseFile

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
    import numpy as np

    from viewer.formats.progress import watched
    from viewer.skeleton.coordinates import clip_violation

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
