"""The inputs and outputs of commands.

Inputs are files, sessions, standard input, clips and poses by name. Of outputs: names that may be written, characters
saved, and what ``--json`` says of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from viewer.cli.job import Json, warn
from viewer.cli.options import SESSION_POSE, Reading
from viewer.cli.solving_options import Start
from viewer.errors import InputError, prefixed, unknown_name
from viewer.formats.file_formats import SAMPLE, UpWord, format_of, is_session, wrong_suffix
from viewer.formats.limit_sources import with_limits
from viewer.formats.load import load
from viewer.formats.skeleton_json import read_pose
from viewer.skeleton import Character, Clip, Pose, Skeleton
from viewer.skeleton.transfer import with_rig

T = TypeVar("T")

DEMO = "demo:"


# --- files and what is in them


def load_input(
    file: str, reading: Reading, *, quiet: bool = False, session: Character | None = None, meshes: bool = True
) -> Character:
    """The character of a skeleton, a motion or a session; its warnings go to stderr unless ``quiet``.

    ``session`` is the character of a session file that was read before; ``meshes`` is as of `viewer.load`.
    """
    character = _read(file, reading.units, reading.up, session, meshes=meshes)
    if reading.limits_from != "auto":
        with prefixed(file):
            character = with_limits(character, reading.limits_from)
    if reading.rig is not None:
        rig = read_rig(reading.rig)
        odd = tuple(f"{reading.rig}: {warning}" for warning in rig.warnings)
        character = with_rig(character, rig)
        character = replace(character, warnings=(*character.warnings, *odd))
    if not quiet:
        warn(warnings_of(character, file))
    return character


def read_rig(file: str) -> Character:
    """The character of a file that every input of a command needs; it is read again only once it has changed."""
    try:
        found = Path(file).stat()
    except (OSError, ValueError):  # a sample, or nothing: reading it says what is wrong
        return _rig(file, "", 0) if file.startswith(SAMPLE) else _read(file)
    return _rig(file, str(Path.cwd()), found.st_mtime_ns)


@lru_cache(maxsize=2)
def _rig(file: str, _folder: str, _changed: int) -> Character:
    return _read(file)


def warnings_of(character: Character, file: str) -> list[str]:
    """The warnings of reading, as they are printed."""
    return [f"{file}: {warning}" for warning in character.warnings]


def _read(
    file: str, units: str = "auto", up: UpWord = "auto", session: Character | None = None, *, meshes: bool = True
) -> Character:
    if file.startswith(DEMO):
        raise InputError(f"{file}: a demo is for the window: ikviewer view {file}")
    if not is_session(file):
        return load(file, units=units, up=up, meshes=meshes)
    if session is None:
        from viewer.cli.session_inputs import as_character, read_document  # noqa: PLC0415 - only sessions need it

        session = as_character(read_document(file))
    # Warnings about the file that the session was made from were shown when that file was opened.
    odd = ("a session knows its units and axes: nothing was converted",) if (units, up) != ("auto", "auto") else ()
    return replace(session, warnings=odd)


def motion_of(character: Character, file: str) -> Clip:
    """The first clip."""
    if character.clip is None:
        raise InputError(f"{file}: expected motion, found a skeleton without frames")
    return character.clip


def with_motion(character: Character, clip: Clip) -> Character:
    """The character with another clip in place of the first."""
    changed = dict(zip(character.clips, [clip, *list(character.clips.values())[1:]], strict=True))
    return replace(character, clips=MappingProxyType(changed))


def chosen_clip(character: Character, name: str | None, file: str) -> Character:
    """The character with the clip of that name as its only one; with all clips if the name is None."""
    if name is None:
        return character
    if name not in character.clips:
        motion_of(character, file)
        raise InputError(f"{file}: {unknown_name('clip', name, character.clips)}")
    return replace(character, clips=MappingProxyType({name: character.clips[name]}))


def load_clip(file: str, reading: Reading, name: str | None) -> Character:
    """The character of an input, as `load_input`, with the clips of `chosen_clip`."""
    return chosen_clip(load_input(file, reading), name, file)


def check_frames(clip: Clip, file: str, *frames: int) -> None:
    """Raise InputError, which names the file, unless the clip has these frames."""
    for frame in frames:
        with prefixed(file):
            clip.check_frame(frame)


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
    return warned(name, lambda warnings: read_pose(path, name, skeleton, warnings))


def warned(name: str, read: Callable[[list[str]], T]) -> T:
    """What is read from a file; its warnings, with the file's name, go to stderr."""
    warnings: list[str] = []
    found = read(warnings)
    warn(f"{name}: {warning}" for warning in warnings)
    return found


def start_of(character: Character, file: str, start: Start) -> Pose:
    """The pose to start from."""
    if start.from_frame is not None:
        clip = motion_of(character, file)
        check_frames(clip, file, start.from_frame)
        return clip.pose(start.from_frame)
    if start.from_pose is not None:
        return named_pose(character.skeleton, start.from_pose)
    if start.from_rest:
        return character.skeleton.rest_pose()
    return shown_pose(character, file) or character.skeleton.relaxed_pose()


# --- sessions


def shown_pose(character: Character, file: str) -> Pose | None:
    """The pose in which a session was saved; None for other files."""
    return character.skeleton.poses[SESSION_POSE] if is_session(file) else None


def without_pose(character: Character) -> Character:
    """A session's character without the pose "session", which reading it adds."""
    poses = {name: pose for name, pose in character.skeleton.poses.items() if name != SESSION_POSE}
    return replace(character, skeleton=replace(character.skeleton, poses=MappingProxyType(poses)))


def checked_output(name: str, suffixes: Sequence[str]) -> Path:
    """The path of a file to write."""
    path = Path(name)
    if path.suffix.casefold() not in suffixes:
        raise wrong_suffix(path, suffixes, name)
    return path


def character_output(name: str | Path) -> Path:
    """The path of a file for a character, in a format that can be written."""
    from viewer.formats.save import check_suffix  # noqa: PLC0415 - reading needs no writers

    output = Path(name)
    check_suffix(output)
    return output


def saved(character: Character, output: Path, **how: Any) -> list[str]:  # noqa: ANN401 - arguments of `save`
    """Write a character that can be read again; its warnings go to stderr, and are returned as they are printed."""
    from viewer.formats.bounds import check_character  # noqa: PLC0415 - reading needs no writers
    from viewer.formats.save import save  # noqa: PLC0415

    warnings = [f"{output}: {warning}" for warning in save(check_character(character, str(output)), output, **how)]
    warn(warnings)
    return warnings


def motion_held(output: Path, length: str) -> str:
    """What a file holds of a motion, in words: all of its ``length``, or less in formats without motion."""
    form = format_of(output)
    return "one pose" if form.is_shape else "no motion" if form.is_still else length


def file_size(path: Path) -> int | None:
    """Bytes of a file that was written; None for a pipe or numbered pictures, which have no size."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None


def character_document(character: Character, output: Path, warnings: Sequence[str]) -> dict[str, Json]:
    """What ``--json`` says of a character that was written: the counts of `ikviewer info`, and the file's size."""
    form, clip = format_of(output), character.clip
    clips = [] if form.is_shape or form.is_still else list(character.clips)[: None if form.several_clips else 1]
    return {
        "output": str(output),
        "bytes": file_size(output),
        "joints": 0 if form.is_shape else len(character.skeleton),
        "frames": len(clip) if clip and clips else int(form.always_a_frame),
        "frame_time": clip.frame_time if clip and clips else None,
        "clips": [*clips],
        "warnings": list(warnings),
    }
