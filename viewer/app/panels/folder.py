"""What a folder holds, as the file dialog lists it. No drawing."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

MOST = 20_000
"""Entries of a folder that are looked at."""


class Entry(NamedTuple):
    """A row of the list.

    Attributes:
        name: of the file or folder.
        folder: whether it is one.
        size: in words, nothing for folders.
        changed: when, in words.
    """

    name: str
    folder: bool
    size: str
    changed: str


def listed(folder: Path, suffixes: Collection[str]) -> tuple[list[Entry], str]:
    """Folders and then files with one of the suffixes, by name, without hidden ones; and what was wrong, if anything.

    Args:
        folder: where.
        suffixes: lower case, with the dot; ``.ikv.json`` may be among them. Empty: every file.
    """
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry, _ in zip(found, range(MOST), strict=False) if not entry.name.startswith(".")]
    except OSError as error:
        return [], f"{folder}: {error.strerror or error}"
    rows = [row for entry in entries if (row := _row(entry, suffixes)) is not None]
    return sorted(rows, key=lambda row: (not row.folder, row.name.casefold(), row.name)), ""


def _row(entry: os.DirEntry[str], suffixes: Collection[str]) -> Entry | None:
    try:
        folder = entry.is_dir()
        if not folder and suffixes and not entry.name.casefold().endswith(tuple(suffixes)):
            return None
        state = entry.stat()
    except OSError:  # gone meanwhile, or a link to nowhere
        return None
    return Entry(entry.name, folder, "" if folder else size_words(state.st_size), date_words(state.st_mtime))


def size_words(size: int) -> str:
    """``1.2 MB``."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000.0:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000.0
    return f"{number:.1f} GB"


def date_words(seconds: float) -> str:
    """``2026-11-21 14:02``, in local time."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # file systems hold times that calendars do not
        return ""


def places() -> list[tuple[str, Path]]:
    """Folders that are always at hand: words and paths."""
    home = Path.home()
    wanted = [("Home", home), *((name, home / name) for name in ("Desktop", "Documents", "Downloads"))]
    here = Path.cwd()
    found = [(words, path) for words, path in wanted if path.is_dir()]
    if here not in [path for _, path in found]:
        found.append((here.name or str(here), here))
    return [*found, (str(Path(home.anchor)), Path(home.anchor))]


def meant(text: str, folder: Path) -> Path:
    """The path that a person typed: ``~`` is the home folder, and what is relative lies in the folder shown."""
    typed = text.strip().strip('"')
    try:
        return (folder / Path(typed).expanduser()).absolute()
    except RuntimeError:  # ~nobody
        return (folder / typed).absolute()


def means_folder(text: str) -> bool:
    """Whether what a person typed can only be a folder: nothing, ``..``, ``~``, or what ends with a slash."""
    typed = text.strip().strip('"')
    return not typed or typed == "~" or re.split(r"[/\\]" if os.sep == "\\" else "/", typed)[-1] in {"", ".", ".."}
