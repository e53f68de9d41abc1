"""Commands on many inputs: the files that a command line names, the output of each, and their processing."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from viewer.cli.output import print_note
from viewer.errors import InputError
from viewer.formats.file_formats import READ_IN_FOLDERS, SAMPLE, SESSION_SUFFIX, STANDARD_INPUT, STDIN_STEM, is_session

STEM = "{stem}"
"""The place of an input's name in the name of its output."""


JOURNAL = ".batch.jsonl"
"""The file in the output's folder that logs the result of each input: `batch_run.Journal`."""

FROM, TO = "from", "to"
"""Keys of a line of `JOURNAL`: input and output as they are seen from its folder, which may be moved with them."""


class Input(NamedTuple):
    """A file to read.

    Attributes:
        file: as it is opened.
        stem: its name without the suffix; of a file found in a folder with the folders below that one.
        suffix: of its name, "" if there is none.
    """

    file: str
    stem: str
    suffix: str


def is_folder(name: str) -> bool:
    """Whether there is a folder of that name; names that are too long or hold a NUL are not folders."""
    return os.path.isdir(name)  # noqa: PTH112 - `Path.is_dir` raises OSError there


def files_of(name: str) -> list[str]:
    """The file itself, or the files of known suffixes in a folder and below (the folder itself if it has none)."""
    if not is_folder(name):
        return [name]
    found = sorted(
        str(file)
        for file in Path(name).rglob("*")
        if file.suffix.casefold() in READ_IN_FOLDERS and not file.name.endswith(".schema.json") and file.is_file()
    )
    return found or [name]


def check_no_folder(file: str) -> None:
    """Raise InputError for a folder in which `files_of` found nothing."""
    if is_folder(file):
        raise InputError(f"{file}: expected files that end in {', '.join(READ_IN_FOLDERS)} in this folder, found none")


def inputs_of(names: Sequence[str], beside: Path | None = None) -> list[Input]:
    """The inputs that a list of files and folders means.

    Of a folder, what earlier runs made from other files in it is left out, and a note says so.

    Args:
        names: as they were typed.
        beside: the folder of the outputs; if it lies inside a folder in ``names``, its files are not inputs.

    Raises:
        InputError: a folder without files that can be read.
    """
    found = []
    for name in names:
        files = files_of(name)
        within = Path(name) if files != [name] else None
        if within is not None and beside is not None and _is_below(beside, within):
            files = [file for file in files if not _is_below(Path(file), beside)] or [name]
        if within is not None and (made := _made_from_others(within)):
            kept = [file for file in files if os.path.realpath(file) not in made]
            if len(kept) < len(files):
                count = len(files) - len(kept)
                many = f"{count} files that were" if count > 1 else "a file that was"
                print_note(f"{name}: left out {many} made from others in it by earlier runs")
            files = kept or [name]
        for file in files:
            check_no_folder(file)
            found.append(_input(file, within))
    return found


def _made_from_others(folder: Path) -> set[str]:
    """Real paths of files that `JOURNAL`s in a folder and below call outputs of files in that folder.

    An output whose input is gone is what is left of it, and no longer made from others.
    """
    made = set()
    for log in folder.rglob(JOURNAL):
        try:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            continue
        for line in lines:
            with contextlib.suppress(ValueError, AttributeError, TypeError):  # lines that were cut off, or no log
                entry = json.loads(line)
                given, out = (log.parent / entry.get(key) for key in (FROM, TO))
                if given.is_file() and _is_below(given, folder) and not out.samefile(given):
                    made.add(os.path.realpath(out))
    return made


def _is_below(path: Path, folder: Path) -> bool:
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return inner != outer and inner.is_relative_to(outer)


def _input(file: str, folder: Path | None) -> Input:
    if file == STANDARD_INPUT:
        return Input(file, STDIN_STEM, "")
    if file.startswith(SAMPLE):
        return Input(file, file.removeprefix(SAMPLE), "")
    path = Path(file)
    ending = SESSION_SUFFIX if is_session(path) else path.suffix
    place = path.relative_to(folder) if folder is not None else Path(path.name)
    return Input(file, str(place)[: len(str(place)) - len(ending)], ending)


class Destination(NamedTuple):
    """Where outputs go.

    Attributes:
        pattern: the value of ``-o``.
    """

    pattern: str

    @property
    def is_template(self) -> bool:
        """Whether it is a name with `STEM` in it."""
        return STEM in self.pattern

    @property
    def is_for_many(self) -> bool:
        """Whether there is an output for each input; if not, the destination is one file."""
        ends = self.pattern.endswith(("/", os.sep)) or not Path(self.pattern).suffix
        return self.is_template or ends or is_folder(self.pattern)

    @property
    def folder(self) -> Path:
        """The folder that contains all outputs."""
        if not self.is_template:
            return Path(self.pattern)
        path = Path(self.pattern)
        while STEM in str(path):
            path = path.parent
        return path

    def output_of(self, given: Input, *, suffixes: Sequence[str]) -> Path:
        """The output of an input; in a folder it keeps the suffix, or gets ``.json`` if that cannot be written."""
        if self.is_template:
            return Path(self.pattern.replace(STEM, given.stem))
        return Path(self.pattern) / (given.stem + (given.suffix if given.suffix.casefold() in suffixes else ".json"))


def check_not_read(pairs: Sequence[tuple[Input, Path]], hint: str) -> None:
    """Raise InputError if an output is one of the inputs, also through links; ``hint`` ends the message."""
    read = {place: given.file for given, _ in pairs if (place := _place_of(given.file)) is not None}
    for _, out in pairs:
        # The file is written where its name leads: GONE/../NAME is NAME.
        place = _place_of(os.path.realpath(out))
        if place is not None and (file := read.get(place)) is not None:
            leads = "" if str(out) == file else f"leads to {file}, which "
            raise InputError(f"{out}: {leads}is read by this command and would be replaced: {hint}")


def _place_of(file: str) -> tuple[int, int] | None:
    """Device and inode of a file, which identify it under any name; None if there is no such file."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def check_apart(pairs: Sequence[tuple[Input, Path]]) -> None:
    """Raise InputError if two inputs have the same output, of which only the last would remain."""
    taken: dict[str, str] = {}
    for given, out in pairs:
        first = taken.setdefault(_key(out), given.file)
        if first is not given.file:
            both = f"{first} twice" if first == given.file else f"{first} and {given.file}"
            raise InputError(f"{out}: would be written from {both}: give each output a name of its own")


def _key(path: Path) -> str:
    """Equal for names of the same file, even where the system does not distinguish ``A`` from ``a``."""
    real = os.path.realpath(path)
    return real.casefold() if sys.platform in {"win32", "darwin"} else real
