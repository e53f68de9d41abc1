"""Errors that are faults of the program: reported in one line, kept in full in a log for the developers."""

from __future__ import annotations

import contextlib
import time
import traceback
from pathlib import Path

from viewer.errors import quote
from viewer.session.folders import log_folder

_LARGEST = 1 << 20
"""Bytes of the log; then it is begun anew, and what was in it is kept once."""


def fault_line(error: Exception, name: object, kind: str = "file") -> str:
    """One line for an error that is a fault of the program; it names the log to which the traceback is added.

    Args:
        error: any but a `ViewerError`.
        name: of the file, or of the command, that brings it out.
        kind: "file" or "command".
    """
    if isinstance(error, MemoryError):
        return f"{name}: not enough memory for this {kind}"
    words = " ".join(str(error).split())
    what = quote(f"{type(error).__name__}: {words}" if words else type(error).__name__)
    log = _logged(error, name)
    kept = "" if log is None else f"; its traceback is in {log}"
    return f"{name}: this {kind} brings out a fault of the program, {what}{kept}"


def _logged(error: Exception, name: object) -> Path | None:
    """The log that the traceback was added to; None where none can be written."""
    log = log_folder() / "errors.log"
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if log.stat().st_size > _LARGEST:
                log.replace(log.with_name("errors.old.log"))
        with log.open("a", encoding="utf-8", errors="backslashreplace") as text:
            text.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {str(name)!r}\n")
            text.writelines(traceback.format_exception(error))
    except OSError:
        return None
    return log
