"""The motion of a session: a copy in the session itself, and the name of the file that it came from."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from viewer.errors import FormatError, InputError, ViewerError, quote
from viewer.formats.files import LARGEST_FILE, opened
from viewer.formats.load import load
from viewer.formats.table import SAMPLE
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip

LARGEST_CARRIED = 320 << 20
"""Bytes of motion that a session carries: as text they still fit into a file that can be read again. A longer one
stays in its own file."""


class ClipsOfFile(msgspec.Struct):
    """Clips that are as a file has them: where it lies, and what it must hold still.

    Attributes:
        path: the absolute one.
        sha256: of the file's bytes.
        units, up: how it was read.
        frame_time: of all its clips, corrected perhaps; None: they differ.
        relative: the way to it from the session file's folder, with slashes.
    """

    path: str
    sha256: str
    units: str | float
    up: str
    frame_time: float | None = None
    relative: str | None = None


class MotionError(FormatError):
    """The motion of a session is neither in it nor, as it was, in the file that it names.

    Attributes:
        file_of_motion: what is known of that file.
    """

    def __init__(self, file_of_motion: MotionFile, path: str) -> None:
        """Keep the file, so that a window can offer what else could be done."""
        super().__init__(file_of_motion.words, path=path)
        self.file_of_motion = file_of_motion


@dataclass(frozen=True, slots=True)
class MotionFile:
    """The file that a session names for its motion, as it is now.

    Attributes:
        named: what the session says of it.
        place: where it lies; None: nowhere.
        problem: why it is not the file that the session was saved with; "" where it is.
    """

    named: ClipsOfFile
    place: Path | None
    problem: str = ""

    @property
    def name(self) -> str:
        """The file's own, without folders."""
        return Path(self.named.path).name

    @property
    def words(self) -> str:
        """``the motion file "walk.bvh" has changed since this was saved``."""
        return f"the motion file {quote(self.name)} {self.problem}"


class _Known(NamedTuple):
    clips: Mapping[str, Clip]
    stamp: tuple[int, int, str] | None
    value: ClipsOfFile | list[Any] | None


_references: list[_Known] = []
_carried: list[_Known] = []
"""What was found and packed last: doing that at every autosave would take longer than all the rest."""


def carried(character: Character, write: Callable[[Clip], object]) -> list[Any] | None:
    """The clips as data, made by a function; None where they are too large to be carried."""
    clips = character.clips
    if sum(clip.rotations.nbytes + clip.translations.nbytes for clip in clips.values()) > LARGEST_CARRIED:
        return None
    for known in _carried:
        if known.clips is clips and isinstance(known.value, list):
            return known.value
    packed = [write(clip) for clip in clips.values()]
    _carried[:] = [_Known(clips, None, packed)]
    return packed


def reference(character: Character, folder: Path | None = None) -> ClipsOfFile | None:
    """The file that has just these clips; None where there is none.

    Args:
        character: with the clips.
        folder: the session file's: the file is named by its way from there, too, so that both may move together.
    """
    source = character.source
    if source.path is None or source.path.startswith(SAMPLE) or not character.clips:
        return None
    place = Path(os.path.realpath(source.path))
    seen = _stamp(place)
    known = next((one for one in _references if one.clips is character.clips and one.stamp == seen), None)
    if known is None or seen is None:
        known = _Known(character.clips, seen, _looked_up(character, place))
        _references[:] = [known]
    found = known.value
    if not isinstance(found, ClipsOfFile) or folder is None:
        return found if isinstance(found, ClipsOfFile) else None
    return msgspec.structs.replace(found, relative=_way(place, folder))


def find(named: ClipsOfFile, folder: Path) -> MotionFile:
    """Look for the file that a session names: by the way to it from the session, where it was, beside the session.

    Args:
        named: by the session.
        folder: the session file's.
    """
    absolute = Path(named.path)
    ways = ([] if named.relative is None else [folder / named.relative]) + [absolute, folder / absolute.name]
    changed: MotionFile | None = None
    for place in dict.fromkeys(Path(os.path.normpath(way)) for way in ways):
        try:
            if not place.is_file():
                continue
            problem = "" if digest_of(place) == named.sha256 else "has changed since this was saved"
        except (InputError, OSError, ValueError) as error:
            problem = f"cannot be used: {error}"
        if not problem:
            return MotionFile(named, place)
        changed = changed or MotionFile(named, place, problem)
    missing = f"is missing: expected it as {named.path} or beside this file"
    return changed or MotionFile(named, None, missing)


def clips_of(named: ClipsOfFile, folder: Path, path: str) -> Mapping[str, Clip]:
    """The clips of the file that a session names.

    Raises:
        MotionError: the file is gone or has changed.
        FormatError: it cannot be read.
    """
    found = find(named, folder)
    if found.place is None or found.problem:
        raise MotionError(found, path)
    try:
        return character_in(found.place, named).clips
    except ViewerError as error:
        raise FormatError(f"the motion file cannot be used: {error}", path=path) from error


def character_in(place: Path, named: ClipsOfFile) -> Character:
    """What a file holds, read in the units and axes of the session's own.

    Where it is that very file it gets the frame time that the session has for it; another one knows its own best.

    Raises:
        ViewerError: the file cannot be read, or is refused.
    """
    same = digest_of(place) == named.sha256
    found = load(place, units=named.units, up=named.up)
    return replace(found, clips=_timed(found.clips, named.frame_time if same else None))


def digest_of(place: Path) -> str:
    """SHA-256 of a file's bytes.

    Raises:
        InputError: it cannot be read, or never ends.
    """
    digest, size = hashlib.sha256(), 0
    with opened(place, str(place), LARGEST_FILE) as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
            if size > LARGEST_FILE:  # some files, in /proc, do not state their size
                raise InputError(f"{place}: expected at most {LARGEST_FILE:,} bytes")
    return digest.hexdigest()


def _way(place: Path, folder: Path) -> str | None:
    """The way from a folder to a file, with slashes; None where there is none, as from one Windows drive to another."""
    try:
        return Path(os.path.relpath(place, os.path.realpath(folder))).as_posix()
    except ValueError:
        return None


def _stamp(place: Path) -> tuple[int, int, str] | None:
    """What tells a file from what it was before, without reading it."""
    try:
        status = place.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, str(place)


def _looked_up(character: Character, place: Path) -> ClipsOfFile | None:
    source = character.source
    units = source.units if source.units == "raw" else source.metres_per_unit
    times = {clip.frame_time for clip in character.clips.values()}
    corrected = times.pop() if len(times) == 1 else None
    try:
        named = ClipsOfFile(str(place), digest_of(place), units, source.up, corrected)
        found = character_in(place, named)
    except ViewerError:
        return None
    return named if _same_clips(character.clips, found.clips) else None


def _timed(clips: Mapping[str, Clip], frame_time: float | None) -> Mapping[str, Clip]:
    if frame_time is None:
        return clips
    return {name: replace(clip, frame_time=frame_time) for name, clip in clips.items()}


def _same_clips(ours: Mapping[str, Clip], others: Mapping[str, Clip]) -> bool:
    return list(ours) == list(others) and all(_same_clip(clip, others[name]) for name, clip in ours.items())


def _same_clip(a: Clip, b: Clip) -> bool:
    arrays = ("rotations", "translated", "translations", "offsets")
    same_rest = (a.name, a.frame_time, a.keys) == (b.name, b.frame_time, b.keys)
    return same_rest and all(np.array_equal(getattr(a, name), getattr(b, name)) for name in arrays)
