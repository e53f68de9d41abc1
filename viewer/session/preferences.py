"""What a user likes, kept from one start to the next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from viewer.errors import ViewerError
from viewer.formats.files import read_bytes, write_whole
from viewer.session.folders import config_folder

MOST_RECENT = 12
"""Files that are remembered."""

SMALLEST_SCALE, LARGEST_SCALE = 0.75, 3.0

Preset = Literal["simple", "blender", "maya"]


class Preferences(msgspec.Struct, omit_defaults=True):
    """Preferences; a field that is absent has its default.

    Attributes:
        ui_scale: of panels and pixel sizes, 0.75 to 3; None: as the screen says.
        preset: which mouse buttons move the camera.
        two_fingers: scrolling orbits, with Shift it pans, with Ctrl it zooms (for trackpads).
        reduce_motion: camera jumps are immediate.
        snap_m, snap_deg: steps of snapping, metres and degrees.
        magnet: snapping is on without Ctrl.
        recent: files opened last, newest first.
        layout: sizes of panels by name, logical pixels.
        display: what is shown, by name.
        ghosts_around: ghosts before and after the frame shown, each.
        ghost_step: frames from ghost to ghost; 0: they are at keys.
        trail_frames: frames before and after the one shown that motion trails show; 0: a second.
        record_actions: sessions keep all that is done to them, so that it can be done again.
        film: how films were made last, by name.
        record_tolerance_deg: degrees by which simplifying a recording may turn a joint otherwise; 0: all is kept.
    """

    ui_scale: Annotated[float, Meta(ge=SMALLEST_SCALE, le=LARGEST_SCALE)] | None = None
    preset: Preset = "simple"
    two_fingers: bool = False
    reduce_motion: bool = False
    snap_m: Annotated[float, Meta(gt=0.0, le=1000.0)] = 0.05
    snap_deg: Annotated[float, Meta(gt=0.0, le=180.0)] = 5.0
    magnet: bool = False
    recent: list[str] = []
    layout: dict[str, float] = {}
    display: dict[str, bool | str] = {}
    ghosts_around: Annotated[int, Meta(ge=1, le=5)] = 2
    ghost_step: Annotated[int, Meta(ge=0, le=1000)] = 0
    trail_frames: Annotated[int, Meta(ge=0, le=1000)] = 0
    film: dict[str, str] = {}
    record_actions: bool = False
    record_tolerance_deg: Annotated[float, Meta(ge=0.0, le=30.0)] = 0.0

    def remember(self, path: str | Path) -> None:
        """Put a file at the top of the recent ones; samples are always at hand and not among them."""
        name = str(path)
        if name.startswith("sample:"):
            return
        place = str(Path(name).resolve())
        self.recent = [place, *(other for other in self.recent if other != place)][:MOST_RECENT]


def load_preferences(path: Path | None = None) -> Preferences:
    """The preferences; the defaults where there are none yet, or none that can be read.

    Args:
        path: the file; the user's own unless given.
    """
    place = path or _place()
    try:
        return msgspec.json.decode(read_bytes(place, str(place)), type=Preferences)
    # A damaged file must not keep the program from starting: it is written anew at the end.
    except (ViewerError, msgspec.MsgspecError, UnicodeError, RecursionError):
        return Preferences()


def save_preferences(preferences: Preferences, path: Path | None = None) -> None:
    """Write them completely or not at all.

    Raises:
        OutputError: the folder or file cannot be written.
    """
    place = path or _place()
    _make_folder(place.parent)
    write_whole(place, msgspec.json.format(msgspec.json.encode(preferences), indent=1) + b"\n")


def _place() -> Path:
    return config_folder() / "preferences.json"


def _make_folder(folder: Path) -> None:
    """Whether it worked is said by the writing that follows."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
