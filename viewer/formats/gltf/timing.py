"""Frames at a fixed rate from keys at any times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_FRAMES

if TYPE_CHECKING:
    from viewer.formats.gltf.tracks import Track
    from viewer.spatial.checks import Floats

USUAL_RATE = 30.0
"""Frames a second where the keys have no rhythm of their own."""
_SAME = 1e-5
"""Relative difference from a whole rate that is the rounding of times."""
_OFF = 0.02
"""Part of a frame that a key may lie off its frame: times are 32-bit numbers, and some programs round them."""


def frame_grid(tracks: list[Track], name: str) -> tuple[Floats, float, list[str]]:
    """The times to look at a clip.

    Args:
        tracks: what moves in it.
        name: the clip's, for messages.

    Returns:
        Times (F,) from 0, so many seconds apart, and warnings. Keys that keep time with each other are all among the
        frames; otherwise there are `USUAL_RATE` frames a second, and at least as many where curves or steps run
        between keys.

    Raises:
        FormatError: keys before 0, more than `MOST_FRAMES` frames.
    """
    keys = np.unique(np.concatenate(times_of(tracks)))
    last = float(keys[-1])
    if keys[0] < 0.0:
        raise FormatError(f"clip {quote(name)}: expected times from 0 on, found {keys[0]:g}")
    step, notes = _rhythm(keys), []
    if step is None:
        step = 1.0 / USUAL_RATE
        notes = [f"clip {quote(name)} has keys at uneven times: read at {USUAL_RATE:g} frames a second"]
    elif any(track.interpolation != "LINEAR" for track in tracks):
        step /= max(1, math.ceil(step * USUAL_RATE - _OFF))
    if last / step > MOST_FRAMES:
        raise FormatError(f"clip {quote(name)}: expected at most {MOST_FRAMES:,} frames, found {last / step:,.0f}")
    count = round(last / step) + 1
    times: Floats = np.arange(count, dtype=np.float64) * step
    # Where a key is meant its own time is looked at, as exactly as the file has it.
    places = np.clip(np.rint(keys / step).astype(np.intp), 0, count - 1)
    near = np.abs(keys - times[places]) <= _OFF * step
    times[places[near]] = keys[near]
    return times, step, notes


def times_of(tracks: list[Track]) -> list[Floats]:
    """The times of all tracks; those that several share once."""
    return list({id(track.times): track.times for track in tracks}.values())


def _rhythm(keys: Floats) -> float | None:
    """Seconds from frame to frame such that every key is on a frame; None if there are none."""
    if len(keys) == 1:
        return float(keys[0]) or 1.0 / USUAL_RATE
    gaps = np.diff(keys)
    step = float(gaps.min())
    # The mean over many frames is more exact than any one gap.
    frames = np.rint(gaps / step)
    step = float((keys[-1] - keys[0]) / frames.sum())
    for part in (1, 2, 3, 4):
        finer = step / part
        places = keys / finer
        if bool((np.abs(places - np.rint(places)) <= _OFF).all()):
            return _plain(finer)
    return None


def _plain(step: float) -> float:
    """A whole number of frames a second where 32-bit times can mean nothing else."""
    rate = round(1.0 / step)
    return 1.0 / rate if rate and abs(rate * step - 1.0) < _SAME else step
