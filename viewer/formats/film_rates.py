"""Names and frame rates of films; `viewer.formats.video` writes them.

This module loads neither numpy nor Pillow: the command line and the window's dialogs use it before anything is drawn.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

FASTEST = 240.0
"""Frames per second at most."""
USUAL = {".mp4": 60.0, ".gif": 30.0}
"""Most frames per second by default; motion is often captured at 120."""
GIF_FPS = 50.0
"""Frames per second of a GIF at most; most programs play faster ones slowly."""
STILL_FPS, STILL_TURN = 30.0, 4.0
"""Defaults for a still pose: frames per second, and seconds of one turn around it."""
SLOWEST_TURN = 3600.0
"""Seconds of a turn at most."""
SAME_RATE = 1e-3
"""Relative error of a rate: files state frame times with few digits."""


_NUMBER = re.compile(r"%\d*d")


def is_film(path: Path) -> bool:
    """Whether a file's name is that of a film or of a series of numbered pictures, such as ``walk_%04d.png``."""
    suffix = path.suffix.casefold()
    return suffix in USUAL or (suffix == ".png" and _NUMBER.search(path.name) is not None)


def playable_fps(rate: float, most: float) -> float:
    """The largest of a clip's own rate, half of it, a third of it, ... that is not above ``most``.

    At such a rate every picture shows a frame of the clip, without interpolation.
    """
    return rate / max(1, math.ceil(rate / most - SAME_RATE))


def same_rate(fps: float, other: float) -> bool:
    """Whether two rates are equal within the precision of files."""
    return abs(fps - other) <= SAME_RATE * other
