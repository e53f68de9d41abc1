"""Takes: keys on a clip or on none, what they show frame by frame, and recording."""

from __future__ import annotations

from viewer.document.take.evaluate import baked_character, baked_clip, take_pose
from viewer.document.take.values import BLENDS, CODES, MOST_FRAMES, Blend, Key, Pin, Stretch, Take, Track

__all__ = [
    "BLENDS",
    "CODES",
    "MOST_FRAMES",
    "Blend",
    "Key",
    "Pin",
    "Stretch",
    "Take",
    "Track",
    "baked_character",
    "baked_clip",
    "take_pose",
]
