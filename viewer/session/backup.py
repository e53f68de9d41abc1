"""The one backup that saving keeps: the session file as it was before."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from viewer.errors import ViewerError
from viewer.formats.files import read_bytes, reason, temporary_name, write_whole
from viewer.formats.table import SESSION_SUFFIX

SUFFIX = SESSION_SUFFIX
BACKUP = ".backup.ikv.json"


def backup_of(path: Path) -> Path | None:
    """Where the backup of a session file is kept: ``walk.ikv.json`` has ``walk.backup.ikv.json``; backups have none."""
    name = path.name
    if not name.casefold().endswith(SUFFIX) or name.casefold().endswith(BACKUP):
        return None
    return path.with_name(name[: -len(SUFFIX)] + BACKUP)


@contextlib.contextmanager
def backed_up(path: Path, content: bytes) -> Iterator[list[str]]:
    """Keep what a file holds now while it is written anew; a write that fails leaves file and backup as they were.

    Where it holds just what is to be written the backup stays: saving twice does not lose the version before.

    Args:
        path: the file.
        content: what is to be written.

    Yields:
        A list that takes one line if no backup can be kept; the file is saved all the same.
    """
    problems: list[str] = []
    target = Path(os.path.realpath(path))
    backup = backup_of(target)
    kept = None
    if backup is not None and _differs(target, content):
        try:
            kept = _held(target)
        except (OSError, ViewerError) as error:
            problems.append(f"no backup could be kept: {reason(error) if isinstance(error, OSError) else error}")
    try:
        yield problems
        if kept is not None and backup is not None:
            kept.replace(backup)
    except OSError as error:
        problems.append(f"no backup could be kept: {reason(error)}")
    finally:
        if kept is not None:
            with contextlib.suppress(OSError):
                kept.unlink(missing_ok=True)


def _differs(target: Path, content: bytes) -> bool:
    """Whether there is a file, with other contents; one that cannot be read may have them."""
    try:
        return target.is_file() and (target.stat().st_size != len(content) or target.read_bytes() != content)
    except OSError:
        return True


def _held(target: Path) -> Path:
    """A second name for the file: it takes no room, so that a full disk is no hindrance; a copy where links cannot be.

    Raises:
        OSError, OutputError: neither can be made.
    """
    name = temporary_name(target.parent)
    try:
        os.link(target, name)
    except (OSError, NotImplementedError, AttributeError):
        write_whole(name, read_bytes(target, str(target)))
    return name
