"""Where the program keeps what is its own: preferences, what is to be recovered after a crash, the log of faults."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_config_path, user_log_path, user_state_path

HOME_VARIABLE = "IKVIEWER_HOME"
"""Names one folder for everything instead of the system's usual ones."""

_NAME = "ikviewer"


def config_folder() -> Path:
    """The folder of the preferences; it may not exist yet."""
    return _own("config") or user_config_path(_NAME, appauthor=False)


def recovery_folder() -> Path:
    """The folder of what is saved by itself; it may not exist yet."""
    return _own("recovery") or user_state_path(_NAME, appauthor=False) / "recovery"


def log_folder() -> Path:
    """The folder of the log of faults; it may not exist yet."""
    return _own("log") or user_log_path(_NAME, appauthor=False)


def _own(name: str) -> Path | None:
    home = os.environ.get(HOME_VARIABLE)
    return Path(home) / name if home else None
