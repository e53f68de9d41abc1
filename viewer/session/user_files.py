"""The program's own files of the user: its folders, preferences kept between runs, and the log of its faults."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from platformdirs import user_config_path, user_data_path, user_log_path, user_state_path

from viewer.errors import ViewerError, quote, reason, shown
from viewer.formats.files import read_bytes, write_whole

MOST_RECENT = 12
"""Most recent files that are remembered."""

SMALLEST_SCALE, LARGEST_SCALE = 0.75, 3.0

Preset = Literal["simple", "blender", "maya"]

HOME_VARIABLE = "IKVIEWER_HOME"
"""Environment variable with one folder for everything, instead of the system's usual ones."""

_NAME = "ikviewer"

_LARGEST = 1 << 20
"""Most bytes of the log; a full log is renamed, and a new one begun."""


class Preferences(msgspec.Struct, omit_defaults=True):
    """User preferences; absent fields have their defaults.

    Attributes:
        ui_scale: of panels and pixel sizes, 0.75 to 3; None: the screen's.
        preset: mouse buttons of the camera.
        two_fingers: scrolling orbits, pans with Shift, zooms with Ctrl (for trackpads).
        reduce_motion: camera jumps are immediate.
        keep_in_view: the camera follows a figure whose motion leaves the view.
        snap_m, snap_deg: snap steps, metres and degrees.
        magnet: snapping is on unless Ctrl is held.
        recent: recently opened files, newest first.
        layout: sizes of panels by name, logical pixels.
        closed_panels: ids of panels whose tabs are closed.
        display: display switches by name.
        ghosts_around: number of ghosts before and after the frame shown, each.
        ghost_step: frames between ghosts; 0: at keys.
        trail_frames: frames of motion trails before and after the frame shown; 0: one second.
        record_actions: sessions record all actions for replay.
        film: settings of the last film by name.
        record_tolerance_deg: tolerance in degrees of simplifying recordings; 0: every frame stays a key.
    """

    ui_scale: Annotated[float, Meta(ge=SMALLEST_SCALE, le=LARGEST_SCALE)] | None = None
    preset: Preset = "simple"
    two_fingers: bool = False
    reduce_motion: bool = False
    keep_in_view: bool = True
    snap_m: Annotated[float, Meta(gt=0.0, le=1000.0)] = 0.05
    snap_deg: Annotated[float, Meta(gt=0.0, le=180.0)] = 5.0
    magnet: bool = False
    recent: list[str] = []
    layout: dict[str, float] = {}
    closed_panels: list[str] = []
    display: dict[str, bool | str] = {}
    ghosts_around: Annotated[int, Meta(ge=1, le=5)] = 2
    ghost_step: Annotated[int, Meta(ge=0, le=1000)] = 0
    trail_frames: Annotated[int, Meta(ge=0, le=1000)] = 0
    film: dict[str, str] = {}
    record_actions: bool = False
    record_tolerance_deg: Annotated[float, Meta(ge=0.0, le=30.0)] = 0.0

    def remember(self, path: str | Path) -> None:
        """Put a file first in the recent files; samples are not listed."""
        name = str(path)
        if name.startswith("sample:"):
            return
        full = str(Path(name).resolve())
        self.recent = [full, *(other for other in self.recent if other != full)][:MOST_RECENT]


def load_preferences(path: Path | None = None) -> Preferences:
    """The stored preferences; defaults if there are none or they cannot be read."""
    file = path or _place()
    try:
        return msgspec.json.decode(read_bytes(file, str(file)), type=Preferences)
    # A damaged file must not prevent starting: it is written again at the end.
    except (ViewerError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return Preferences()


def save_preferences(preferences: Preferences, path: Path | None) -> None:
    """Write the preferences, completely or not at all."""
    file = path or _place()
    with contextlib.suppress(OSError):  # which the write reports
        file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, msgspec.json.format(msgspec.json.encode(preferences), indent=1) + b"\n")


def _place() -> Path:
    return config_folder() / "preferences.json"


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


def fault_line(error: BaseException, name: object, kind: str = "file") -> str:
    """One line about an error that nothing expects: of the system, or a fault of the program, with its log's path.

    ``name`` is that of the file or command (``kind``) that causes it.
    """
    if isinstance(error, MemoryError):
        return f"{name}: not enough memory for this {kind}"
    if isinstance(error, OSError) and error.filename:  # such as a name that is too long for the system
        where = dict.fromkeys([str(name), shown(str(error.filename))])
        return f"{': '.join(where)}: {reason(error)}"
    words = " ".join(str(error).split())
    what = quote(f"{type(error).__name__}: {words}" if words else type(error).__name__)
    log = _logged(error, name)
    kept = "" if log is None else f"; its traceback is in {log}"
    return f"{name}: this {kind} brings out a fault of the program, {what}{kept}"


def _logged(error: BaseException, name: object) -> Path | None:
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
