"""Locks that end with the process that holds them, however it ends."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path


def lock(path: Path) -> BinaryIO | None:
    """Take a lock file, made if need be; None if another process holds it.

    The lock lasts until the file that is returned is closed, or until the process is gone, even by kill -9.

    Raises:
        OSError: the file cannot be made or opened.
    """
    file = path.open("ab")
    try:
        _take(file)
    except OSError:
        file.close()
        return None
    return file


if sys.platform == "win32":
    import msvcrt

    def _take(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
