"""Temporary files of writing: their names say whose they are, so that those of programs that were killed can go."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import sys
import time
import zlib
from platform import node
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN_AGE = 86_400.0
"""Seconds after which a temporary file is taken for left if nobody can say whether its program still runs: one of
another machine on a shared folder, or of a version whose names said nothing."""

_NAME = re.compile(r"\.ikviewer-(?:([0-9a-f]{8})-([0-9]{1,10})-)?[0-9a-f]{16}\.tmp")
_swept: set[Path] = set()


def temporary_name(folder: Path) -> Path:
    """A name in the folder that no file has: ``.ikviewer-MACHINE-PROCESS-RANDOM.tmp``."""
    return folder / f".ikviewer-{_machine()}-{os.getpid()}-{secrets.token_hex(8)}.tmp"


def sweep(folder: Path) -> None:
    """Remove what programs that are gone have left in a folder; nothing of those that run. Nothing is raised."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            match = _NAME.fullmatch(entry.name)
            if match is not None and _is_left(entry, match):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)  # noqa: PTH108 - the entry is no Path


def sweep_once(folder: Path) -> None:
    """`sweep` where this program has not been yet."""
    if folder not in _swept:
        _swept.add(folder)
        sweep(folder)


def _machine() -> str:
    return f"{zlib.crc32(node().encode()):08x}"


def _is_left(entry: os.DirEntry[str], match: re.Match[str]) -> bool:
    machine, process = match.groups()
    if machine == _machine() and sys.platform != "win32":
        return not _runs(int(process))
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    # A second name of an old file is as old as that; when it was made is the time of the last change of its entry.
    return time.time() - max(status.st_mtime, status.st_ctime) > FOREIGN_AGE


def _runs(process: int) -> bool:
    """Whether there is a process of that number (not on Windows, where asking would end it)."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True
