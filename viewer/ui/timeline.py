"""The timeline: its frames, the visible part of them, and its rows of keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.document import Document, Take, joint_of
from viewer.document.take import CODES, FRAMES, Blend, Key
from viewer.spatial.checks import Bools, Ints

FEWEST = 8.0
"""Fewest visible frames."""
_ZOOM = 1.2
"""Zoom factor per notch of the wheel."""
_BEYOND = 3.0
"""Most visible frames, as a multiple of the existing ones."""

ALL = "All"


def frame_count(document: Document) -> int:
    """Number of frames of the timeline, also before anything is keyed."""
    return document.frames or FRAMES


def last_frame(document: Document) -> int:
    """The last frame of the timeline."""
    return frame_count(document) - 1


def played_range(document: Document) -> tuple[int, int]:
    """First and last played frame, also before anything is keyed."""
    return document.played if document.frames else (0, FRAMES - 1)


def key_frames(document: Document) -> tuple[int, ...]:
    """Frames with keys of the take or of the clip as loaded."""
    clip, take = document.clip_data, document.take
    own = () if take is None else take.frames
    return tuple(sorted({*own, *clip.keys})) if clip is not None and clip.keys else own


@dataclass(slots=True)
class TimeView:
    """The visible part of the frames; all until the user zooms.

    Attributes:
        total: number of frames.
        first: frame at the left end.
        count: frames from there to the right end; None: all, also after their number has changed.
    """

    total: int = 1
    first: float = 0.0
    count: float | None = None

    @property
    def start(self) -> float:
        """The frame at the left end."""
        return 0.0 if self.count is None else self.first

    @property
    def span(self) -> float:
        """Frames from the left end to the right end."""
        return max(self.total - 1.0, 1.0) if self.count is None else self.count

    def zoom(self, steps: float, at: float) -> None:
        """Zoom in (steps above 0) or out; the frame ``at`` keeps its position."""
        most = _BEYOND * max(self.total - 1.0, FEWEST)
        start, span = self.start, self.span
        count = min(max(span * _ZOOM**-steps, FEWEST), most)
        self.count = count
        self.first = at - (at - start) * count / span
        self._keep_near()

    def pan(self, frames: float) -> None:
        """Scroll to later frames (above 0) or earlier ones."""
        self.first, self.count = self.start + frames, self.span
        self._keep_near()

    def fit(self) -> None:
        """Show all frames."""
        self.first, self.count = 0.0, None

    def follow(self, frame: float) -> None:
        """Scroll to a frame that is not visible, so that it is near the left end."""
        if self.count is not None and not self.start <= frame <= self.start + self.span:
            self.first = frame - 0.1 * self.span
            self._keep_near()

    def _keep_near(self) -> None:
        """Keep frames visible: at most half of the timeline may be empty."""
        half = 0.5 * self.span
        self.first = min(max(self.first, -half), max(self.total - 1.0 - half, -half))


class Row(NamedTuple):
    """A row of keys.

    Attributes:
        name: of the joint.
        joint: its index; -1: all joints that have keys.
        frames: (K,) of its keys, ascending.
        steps: (K,) whether the value is constant after each key; of all joints: of all of them.
    """

    name: str
    joint: int
    frames: Ints
    steps: Bools


def rows_of(document: Document) -> tuple[Row, ...]:
    """Rows: all keys, then joints with keys: of selected items first, then of effectors, then the others."""
    take, names = document.take, document.skeleton.names
    if take is None or take.is_empty:
        return ()
    first = [joint_of(document, item) for item in reversed(document.selected_on_figure)]
    own = [effector.joint for effector in document.skeleton.effectors]
    keyed = {track.joint: track for track in take.tracks}
    order = [joint for joint in dict.fromkeys([*first, *own, *keyed]) if joint in keyed]
    step = CODES[Blend.STEP]
    rows = (Row(names[j], j, keyed[j].frames, keyed[j].blends == step) for j in order)
    return (_all(take), *rows)


def _all(take: Take) -> Row:
    frames = np.array(take.frames, dtype=np.intp)
    steps = np.ones(len(frames), dtype=np.bool_)
    seen: set[tuple[int, int]] = set()
    for track in take.tracks:
        if (id(track.frames), id(track.blends)) not in seen:  # tracks of the same frames share them
            seen.add((id(track.frames), id(track.blends)))
            steps[np.searchsorted(frames, track.frames[track.blends != CODES[Blend.STEP]])] = False
    return Row(ALL, -1, frames, steps)


def keys_in(document: Document, row: Row, low: float, high: float) -> tuple[Key, ...]:
    """Keys of a row between two frames, both included."""
    take = document.take
    if take is None:
        return ()
    found = []
    for track in take.tracks:
        if row.joint in (-1, track.joint):
            some = track.frames[np.searchsorted(track.frames, low) : np.searchsorted(track.frames, high, "right")]
            found += [Key(track.joint, frame) for frame in some.tolist()]
    return tuple(found)
