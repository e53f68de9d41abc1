"""How many pictures a second the kinds of moving pictures have. Imports nothing: windows ask before they film."""

from __future__ import annotations

import math

FASTEST = 240.0
"""Pictures a second at most."""
USUAL = {".mp4": 60.0, ".gif": 30.0}
"""Pictures a second at most, unless more are asked for; motion is often captured at 120."""
GIF_FPS = 50.0
"""Of a GIF; most programs show quicker ones slowly."""
STILL_FPS, STILL_TURN = 30.0, 4.0
"""Pictures a second of a pose that stands still, and seconds in which it is turned round, unless asked otherwise."""
SLOWEST_TURN = 3600.0
"""Seconds that a turn may take."""
SAME_RATE = 1e-3
"""Part of a rate that it may be off: files write frame times with few digits."""


def playable_fps(rate: float, most: float) -> float:
    """A clip's own rate, or a half, a third, ... of it: the largest that is not above ``most``.

    At such a rate pictures are frames of the clip as they are, none between two of them.
    """
    return rate / max(1, math.ceil(rate / most - SAME_RATE))


def same_rate(fps: float, other: float) -> bool:
    """Whether two rates are one, but for the digits that files write."""
    return abs(fps - other) <= SAME_RATE * other
