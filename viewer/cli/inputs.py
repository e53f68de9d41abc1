"""What commands read: files, sessions, standard input, clips and poses by name; no output takes an input's place."""

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

if TYPE_CHECKING:  # they load numpy
    from viewer.document.document import Document
    from viewer.ik.goals import Goal
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

SESSION_SUFFIX = ".ikv.json"
DEMO = "demo:"
SESSION_POSE = "session"
"""What commands call the pose that a session was saved in."""
STANDARD_INPUT = "-"
STANDARD_INPUT_STEM = "stdin"
"""The name of a skeleton from standard input that has none, in place of its file's."""
_MOST_SHOWN = 24


# --- files and what is in them


def load_input(file: str, reading: Reading, *, quiet: bool = False, document: Document | None = None) -> Character:
    """The character of a file; its warnings go to stderr unless ``quiet``.

    Args:
        file: of a skeleton, motion, or session.
        reading: how it is to be read.
        quiet: warnings stay in the character.
        document: of the session file, if it was read before.
    """
    character = _read(file, reading.units, reading.up, document)
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
    """A file that `load` reads, standard input, or a session."""
    _refuse_demo(file)
    if is_standard_input(file):
        return _load_standard_input(units, up)
    if not is_session(file):
        from viewer.formats.load import load

        return load(file, units=units, up=up)
    from dataclasses import replace

    character = as_character(open_session(file) if document is None else document)
    # What was odd about the session's own file was reported when that was opened.
    odd = ("a session knows its units and axes: nothing was converted",) if (units, up) != ("auto", "auto") else ()
    return replace(character, warnings=odd)


def motion_of(character: Character, file: str) -> Clip:
    """The first clip.

    Raises:
        InputError: there is none.
    """
    if character.clip is None:
        raise InputError(f"{file}: expected motion, found a skeleton without frames")
    return character.clip


def chosen_clip(character: Character, name: str | None, file: str) -> Character:
    """The character with that clip as its only one.

    Raises:
        InputError: there is none of that name.
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
    """Raise InputError, naming the file, unless these frames are the clip's."""
    for frame in frames:
        try:
            clip.check_frame(frame)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None


def named_pose(skeleton: Skeleton, name: str) -> Pose:
    """A pose of the skeleton's file by name, one that every skeleton has (rest, relaxed), or a pose file."""
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


def goals_of(name: str, skeleton: Skeleton) -> tuple[Goal, ...]:
    """The goals of a goals file, or of standard input; their warnings go to stderr."""
    from viewer.formats.goals_json import read_goals

    warnings: list[str] = []
    with as_file(name) as path:
        goals = read_goals(path, name, skeleton, warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return goals


def check_kept(output: str | Path | None, options: Options) -> None:
    """Refuse to write over a file that the same command reads, by whatever name: it would be lost.

    Args:
        output: what is to be written, if anything.
        options: of the command; fields that name files to be read are looked at.

    Raises:
        InputError: the output is one of them.
    """
    if output is None:
        return
    values = options.values()
    for field in fields_of(type(options)):
        read = values[field.name]
        if field.reads and isinstance(read, str) and leads_to(output, read):
            leads = "" if str(output) == read else f"leads to {read}, which "
            problem = "is read by this command and would be replaced: give the output another name"
            raise InputError(f"{output}: {leads}{problem}")


# --- sessions


def is_session(file: str) -> bool:
    """Whether a name is that of a session file."""
    return file.casefold().endswith(SESSION_SUFFIX)


def open_session(file: str) -> Document:
    """The document of a session file.

    Raises:
        ViewerError: it cannot be read, or is refused; the message says where and why.
    """
    from dataclasses import replace

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
    # Without a clip, a take without keys lasts as long as a recording may, and nothing happens in it.
    return document if recorded or document.clip_data is not None else replace(document, take=None)


def _refuse_demo(file: str) -> None:
    """Raise InputError for a demo: demos run in the window, and are no files."""
    if file.startswith(DEMO):
        raise InputError(f"{file}: a demo is for the window: ikviewer view {file}")


def as_character(document: Document) -> Character:
    """The document as a file would hold it: skeleton, the pose under a name, what is played as the only motion."""
    from dataclasses import replace
    from types import MappingProxyType

    from viewer.document.evaluation import baked_character

    character = baked_character(document)
    poses = MappingProxyType({**character.skeleton.poses, SESSION_POSE: document.pose})
    return replace(character, skeleton=replace(character.skeleton, poses=poses))


def shown_pose(character: Character, file: str) -> Pose | None:
    """The pose that a session was saved in; None for other files."""
    return character.skeleton.poses[SESSION_POSE] if is_session(file) else None


def without_pose(character: Character) -> Character:
    """A session's character without the pose that commands add: its own poses only."""
    from dataclasses import replace
    from types import MappingProxyType

    poses = {name: pose for name, pose in character.skeleton.poses.items() if name != SESSION_POSE}
    return replace(character, skeleton=replace(character.skeleton, poses=MappingProxyType(poses)))


# --- standard input


def is_standard_input(file: str) -> bool:
    """Whether a name stands for standard input."""
    return file == STANDARD_INPUT


def _load_standard_input(units: str = "auto", up: str = "auto") -> Character:
    """The character on standard input; arguments and errors are those of `viewer.load`."""
    from viewer.formats.load import load

    return load(STANDARD_INPUT, units=units, up=up)


@contextlib.contextmanager
def as_file(name: str) -> Iterator[Path]:
    """The file of a name; for ``-`` a temporary one with what comes from standard input."""
    if not is_standard_input(name):
        yield Path(name)
        return
    from viewer.formats.load import in_a_file, read_standard_input

    with in_a_file(read_standard_input(), STANDARD_INPUT_STEM) as path:
        yield path
