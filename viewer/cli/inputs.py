"""The inputs of commands: files, sessions, standard input, clips and poses by name; outputs may not replace them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.cli.job import Options, fields_of
from viewer.cli.options import Reading
from viewer.cli.output import warn
from viewer.errors import InputError, unknown_name
from viewer.formats.files import leads_to
from viewer.formats.table import STANDARD_INPUT, STDIN_STEM, is_session

if TYPE_CHECKING:  # they load numpy
    from viewer.document import Document
    from viewer.formats.goals_json import Asked
    from viewer.motion.contacts import Contacts
    from viewer.motion.layer import Layer
    from viewer.skeleton import Character, Clip, Pose, Skeleton

DEMO = "demo:"
SESSION_POSE = "session"
"""Name, on the command line, of the pose in which a session was saved."""


# --- files and what is in them


def load_input(file: str, reading: Reading, *, quiet: bool = False, document: Document | None = None) -> Character:
    """The character of a file; its warnings go to stderr unless ``quiet``.

    Args:
        file: a skeleton, a motion or a session.
        reading: the options that describe it.
        quiet: leave the warnings in the character.
        document: of the session file, if it was read before.
    """
    character = _read(file, reading.units, reading.up, document)
    if reading.limits_from != "auto":
        from viewer.formats.limit_sources import with_limits

        try:
            character = with_limits(character, reading.limits_from)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
    if reading.rig is not None:
        from dataclasses import replace

        from viewer.skeleton.rig import lend_rig

        rig = _read(reading.rig)
        odd = tuple(f"{reading.rig}: {warning}" for warning in rig.warnings)
        character = lend_rig(character, rig)
        character = replace(character, warnings=(*character.warnings, *odd))
    if not quiet:
        warn(f"{file}: {warning}" for warning in character.warnings)
    return character


def _read(file: str, units: str = "auto", up: str = "auto", document: Document | None = None) -> Character:
    """A file that `load` reads, or a session."""
    if file.startswith(DEMO):
        raise InputError(f"{file}: a demo is for the window: ikviewer view {file}")
    if not is_session(file):
        from viewer.formats.load import load

        return load(file, units=units, up=up)
    from dataclasses import replace

    character = as_character(open_session(file) if document is None else document)
    # Warnings about the file that the session was made from were shown when that file was opened.
    odd = ("a session knows its units and axes: nothing was converted",) if (units, up) != ("auto", "auto") else ()
    return replace(character, warnings=odd)


def motion_of(character: Character, file: str) -> Clip:
    """The first clip.

    Raises:
        InputError: the file has no motion.
    """
    if character.clip is None:
        raise InputError(f"{file}: expected motion, found a skeleton without frames")
    return character.clip


def chosen_clip(character: Character, name: str | None, file: str) -> Character:
    """The character with the clip of that name as its only one; with all clips if the name is None.

    Raises:
        InputError: no clip has that name.
    """
    from dataclasses import replace
    from types import MappingProxyType

    if name is None:
        return character
    if name not in character.clips:
        motion_of(character, file)
        raise InputError(f"{file}: {unknown_name('clip', name, character.clips)}")
    return replace(character, clips=MappingProxyType({name: character.clips[name]}))


def check_frames(clip: Clip, file: str, *frames: int) -> None:
    """Raise InputError, which names the file, unless the clip has these frames."""
    for frame in frames:
        try:
            clip.check_frame(frame)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None


def named_pose(skeleton: Skeleton, name: str) -> Pose:
    """A pose by the name that the skeleton's file gives it, "rest", "relaxed", or a pose file."""
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


def asked_in(name: str, skeleton: Skeleton) -> Asked:
    """What a goals file, or standard input, asks for; its warnings go to stderr."""
    from viewer.formats.goals_json import read_goals_file

    warnings: list[str] = []
    with _as_file(name) as path:
        found = read_goals_file(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def layers_of(name: str, skeleton: Skeleton) -> tuple[Layer, ...]:
    """The layers of a layers file, or of standard input; its warnings go to stderr."""
    from viewer.formats.companion_json import read_layers

    warnings: list[str] = []
    with _as_file(name) as path:
        found = read_layers(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def contacts_of(name: str) -> Contacts:
    """The contacts of a contacts file, or of standard input; its warnings go to stderr."""
    from viewer.formats.companion_json import read_contacts

    warnings: list[str] = []
    with _as_file(name) as path:
        found = read_contacts(path, name, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def check_kept(output: str | Path | None, options: Options) -> None:
    """Refuse an output that would replace a file that the same command reads, also through links.

    Args:
        output: the file to be written, or None.
        options: of the command; its fields with `reads` name the inputs.

    Raises:
        InputError: the output is one of the inputs.
    """
    if output is None:
        return
    values = options.values()
    for field in fields_of(type(options)):
        read = values[field.name]
        files = read if isinstance(read, list) else [read] if isinstance(read, str) else []
        for file in files if field.reads else []:
            if leads_to(output, file):
                leads = "" if str(output) == file else f"leads to {file}, which "
                problem = "is read by this command and would be replaced: give the output another name"
                raise InputError(f"{output}: {leads}{problem}")


# --- sessions


def open_session(file: str) -> Document:
    """The document of a session file.

    Raises:
        ViewerError: it cannot be read or is refused.
    """
    from dataclasses import replace

    from viewer.session.session_files import MotionError
    from viewer.session.session_files import open_session as opened_session

    try:
        opened = opened_session(Path(file))
    except MotionError as error:
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
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.document.import_export import baked_character

    character = baked_character(document)
    poses = MappingProxyType({**character.skeleton.poses, SESSION_POSE: document.pose})
    return replace(character, skeleton=replace(character.skeleton, poses=poses))


def shown_pose(character: Character, file: str) -> Pose | None:
    """The pose in which a session was saved; None for other files."""
    return character.skeleton.poses[SESSION_POSE] if is_session(file) else None


def without_pose(character: Character) -> Character:
    """A session's character without the pose "session", which `as_character` adds."""
    from dataclasses import replace
    from types import MappingProxyType

    poses = {name: pose for name, pose in character.skeleton.poses.items() if name != SESSION_POSE}
    return replace(character, skeleton=replace(character.skeleton, poses=MappingProxyType(poses)))


@contextlib.contextmanager
def _as_file(name: str) -> Iterator[Path]:
    """The file of that name; for ``-`` a temporary file with the contents of standard input."""
    if name != STANDARD_INPUT:
        yield Path(name)
        return
    from viewer.formats.load import in_a_file, read_standard_input

    with in_a_file(read_standard_input(), STDIN_STEM) as path:
        yield path
