"""``ikviewer check``: whether files can be used, and their warnings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np

from viewer.cli.file_options import CheckOptions
from viewer.cli.inputs import load_input
from viewer.cli.job import Json, Result
from viewer.cli.many_files import check_no_folder, files_of
from viewer.cli.session_inputs import as_character, read_document
from viewer.cli.workers import tried_each
from viewer.document import new_document
from viewer.errors import FormatError, InputError, MachineError, ViewerError, one_line, plural, prefixed, quote
from viewer.formats.companion_json import ContactsFile, layer_entries, map_from_text
from viewer.formats.file_formats import is_session
from viewer.formats.files import read_text
from viewer.formats.goals_json import GoalsFile
from viewer.formats.json_reading import decode, kind_of, parse
from viewer.formats.json_structs import PoseFile
from viewer.motion import skate
from viewer.progress import watched
from viewer.session import Session
from viewer.session.replay import read_actions
from viewer.session.session_files import read_session
from viewer.skeleton import Character, clip_violation, find_figure
from viewer.skeleton.clip_limits import too_fast

_OUTSIDE = 1e-3
"""Radians (metres for slides) beyond a limit that are reported."""
_SLIDES = 5.0
"""Centimetres a second that feet may slide without a warning."""
_BLOCK = 1 << 16
"""Joints times frames that are measured together, which bounds memory."""


def run_check(options: CheckOptions) -> Iterator[Result]:
    """Check every file; a refused one does not stop the others. A line for each finding, and one for the file."""
    files = [file for name in options.files for file in files_of(name)]
    tried = tried_each(partial(_found, options), files, options.jobs, options.scheduler)
    for file, done in watched("checking", tried, len(files)):
        if isinstance(done.result, ViewerError):
            error = str(done.result)
            document: Json = {"file": file, "ok": False, "errors": [error], "warnings": []}
            yield Result([one_line(f"refused  {error}")], document=document, code=1)
        else:
            *warnings, holds = done.result
            odd = [one_line(f"warning  {file}: {warning}") for warning in warnings]
            document = {"file": file, "ok": True, "errors": [], "warnings": warnings}
            yield Result(notes=[*odd, one_line(f"ok       {file}: {holds}")], document=document)


def _found(options: CheckOptions, file: str) -> list[str]:
    """The warnings about a file, and last its contents in a few words; it may be refused."""
    try:
        return _checked(options, file)
    except MachineError as error:  # its format needs an extra that other files do not need: these are still checked
        raise InputError(str(error)) from error


def _checked(options: CheckOptions, file: str) -> list[str]:
    check_no_folder(file)
    try:
        document = read_document(file) if is_session(file) else None
        read = None if document is None else as_character(document)
        character = load_input(file, options.reading, quiet=True, session=read)
    except FormatError:
        if Path(file).suffix.casefold() != ".json" or (lines := _of_no_skeleton(file)) is None:
            raise
        return lines
    with prefixed(file):  # the session that the window would show has errors of its own
        character.skeleton.relaxed_pose()
        Session(new_document(character) if document is None else document)
    count = len(character.clip) if character.clip else 0
    frames = {0: "no motion", 1: "1 frame"}.get(count, f"{count} frames")
    findings = [*character.warnings, *_outside(character), *_motions(character), *_actions(file)]
    return [*findings, f"{plural(len(character.skeleton), 'joint')}, {frames}"]


def _actions(file: str) -> Iterator[str]:
    """A message for the first recorded action of a session that cannot be decoded."""
    if not is_session(file) or not bytes(read_session(Path(file)).actions):
        return
    try:
        actions = read_actions(file)
        for place in range(len(actions.calls)):
            actions.given(place)
    except FormatError as error:
        yield ": ".join(part for part in (error.path, error.problem) if part)


def _of_no_skeleton(file: str) -> list[str] | None:
    """The findings in a file that is checked without a skeleton: a pose, goals, layers and so on; None for others."""
    text = read_text(Path(file), file)
    try:
        kind = kind_of(parse(text))
    except FormatError:
        return None
    lines: list[str] = []
    if kind == "goals":
        holds = plural(len(decode(text, GoalsFile, kind, file, lines).goals), "goal")
    elif kind == "contacts":
        feet = decode(text, ContactsFile, kind, file, lines).feet
        holds = f"{plural(sum(len(foot.contacts) for foot in feet.values()), 'contact')} of feet"
    elif kind == "pose":
        holds = f"a pose of {plural(len(decode(text, PoseFile, kind, file, lines).rotations or {}), 'joint')}"
    elif kind == "layers":
        holds = plural(len(layer_entries(text, file, lines)), "layer")
    elif kind == "map":
        holds = f"{plural(len(map_from_text(text, file, lines).pairs), 'pair')} of joints"
    else:
        return None
    return [*lines, holds]


def _outside(character: Character) -> Iterator[str]:
    """A message for each joint that the motion takes beyond the file's own limits."""
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


def _motions(character: Character) -> Iterator[str]:
    """Messages for motions that are too fast for the motors that the file states, or in which feet slide."""
    skeleton = character.skeleton
    figure = find_figure(skeleton)
    for name, clip in character.clips.items():
        where = f"clip {quote(name)}: " if len(character.clips) > 1 else ""
        yield from (f"{where}{line}" for line in too_fast(skeleton, clip))
        if figure is not None and figure.legs:
            with suppress(InputError):  # legs of no length
                slide = skate(skeleton, clip).slide_cm_s
                if slide > _SLIDES:
                    yield f"{where}feet slide by {slide:.1f} cm/s: `ikviewer feet --plant` holds them"
