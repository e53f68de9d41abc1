"""The program's own folders, and the log of program faults."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from pathlib import Path

from platformdirs import user_config_path, user_data_path, user_log_path, user_state_path

from viewer.errors import quote

HOME_VARIABLE = "IKVIEWER_HOME"
"""Environment variable with one folder for everything, instead of the system's usual ones."""

_NAME = "ikviewer"


def config_folder() -> Path:
    """The folder of the preferences; it may not exist yet."""
    return _own("config") or user_config_path(_NAME, appauthor=False)


def recovery_folder() -> Path:
    """The folder of recovery files; it may not exist yet."""
    return _own("recovery") or user_state_path(_NAME, appauthor=False) / "recovery"


def poses_folder() -> Path:
    """The folder of the user's pose library; it may not exist yet."""
    return _own("poses") or user_data_path(_NAME, appauthor=False) / "poses"


def log_folder() -> Path:
    """The folder of the fault log; it may not exist yet."""
    return _own("log") or user_log_path(_NAME, appauthor=False)


def _own(name: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) / name if home else None


def remove(path: Path) -> None:
    """Remove a file if possible."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


_LARGEST = 1 << 20
"""Most bytes of the log; a full log is renamed, and a new one begun."""


def fault_line(error: Exception, name: object, kind: str = "file") -> str:
    """One line about a fault of the program, with the path of the log that has the traceback.

    Args:
        error: any but a `ViewerError`.
        name: of the file or command that causes it.
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
    """Add the traceback to the log; its path, or None if it cannot be written."""
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
