"""Locks on files, between processes: the system frees a lock when its process ends, even if it is killed."""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path
from typing import BinaryIO

_HELD = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
"""What systems answer if another process holds a lock; anything else means that there are no locks in this folder."""
_POLL_S = 0.1


def lock(path: Path, *, wait_s: float = 0.0) -> BinaryIO | None:
    """Lock a file, created if needed; None if another process holds it.

    The lock lasts until the returned file is closed or the process ends, even by kill -9.

    Args:
        path: of the file, in a folder that exists.
        wait_s: most seconds to wait for another process.

    Raises:
        OSError: the file cannot be created or opened.
    """
    until = time.monotonic() + wait_s
    while True:
        file = path.open("ab")
        try:
            _take(file)
        except OSError as error:
            file.close()
            if error.errno not in _HELD or time.monotonic() >= until:
                return None
            time.sleep(_POLL_S)
            continue
        if is_of(file, path):
            return file
        file.close()  # its holder has removed it in between: the lock would be of no file


def is_of(file: BinaryIO, path: Path) -> bool:
    """Whether an open file is still the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def remove_if_free(path: Path) -> None:
    """Remove a lock file that no process holds, if it can be removed."""
    try:
        held = lock(path)
        if held is None:
            return
        if sys.platform == "win32":  # Windows cannot remove an open file
            held.close()
        path.unlink()
        held.close()
    except OSError:
        return


if sys.platform == "win32":
    import msvcrt

    def _take(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _take(file: BinaryIO) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
