"""The timeline: its frames, the visible part of them, its rows of keys, playback and markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.document import Document, Take, joint_of
from viewer.document.actions import OpenTimeline, RemoveMarker, SetMarker
from viewer.document.document import Marker, marker_at
from viewer.document.take import CODES, FRAMES, Blend, Key
from viewer.session import Loop, Session
from viewer.spatial.checks import Bools, Ints
from viewer.ui.commands import CommandBinding, CommandBindings, needs, on_found
from viewer.ui.events import NameQuestion
from viewer.ui.view import View, ViewPart

FEWEST = 8.0
"""Fewest visible frames."""
_ZOOM = 1.2
"""Zoom factor per notch of the wheel."""
_BEYOND = 3.0
"""Most visible frames, as a multiple of the existing ones."""

ALL = "All"

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
_TEN = 10


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
        return 0.0 if self.count is None else self.first

    @property
    def span(self) -> float:
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


class Playback(ViewPart):
    """Plays the clip or take and steps through its frames."""

    @property
    def frames(self) -> int:
        """Frames of the timeline: of the clip or take, or of the take that a first key would make."""
        return frame_count(self._session.document)

    def can_play(self) -> bool:
        """Whether a figure that is shown has a clip or a take with keys."""
        return any(figure.document.has_motion and not figure.hidden for figure in self._session.stage)

    def toggle(self, direction: int) -> None:
        """Play in a direction, or stop if it already plays in that direction."""
        session = self._session
        if session.clock.direction == direction:
            session.stop()
        else:
            session.play(direction)

    def _space(self) -> None:
        """Play or stop; if there are moving targets, pause or resume them."""
        if self._session.targets.motions:
            self._session.targets.toggle()
        else:
            self.toggle(1)

    def go(self, frame: int) -> None:
        """Stop playback and show the nearest existing frame."""
        session = self._session
        session.stop()
        session.stop_recording()
        frame = min(max(frame, 0), last_frame(session.document))
        if session.document.frames:
            session.seek(frame)
        elif frame != session.document.frame:
            session.dispatch(OpenTimeline(frame))

    def step(self, frames: int) -> None:
        """Step by a number of frames; with a loop mode, wrap around at the ends."""
        session = self._session
        frame = session.document.frame + frames
        first, last = played_range(session.document)
        if session.clock.loop is not Loop.OFF and abs(frames) == 1 and first <= session.document.frame <= last:
            frame = first + (frame - first) % (last - first + 1)
        self.go(frame)

    def _end(self, *, first: bool) -> int:
        """The first or last frame of the range; if it is shown already, of all frames."""
        ends = played_range(self._session.document)
        there = ends[0] if first else ends[1]
        if self._session.document.frame == there:
            return 0 if first else self.frames - 1
        return there

    def next_loop(self) -> None:
        """Switch to the next loop mode: off, loop, ping-pong."""
        session, modes = self._session, tuple(Loop)
        session.clock.loop = modes[(modes.index(session.clock.loop) + 1) % len(modes)]
        self._view.changed()

    def faster(self, steps: int) -> None:
        """Change the speed by steps of `SPEEDS`."""
        session = self._session
        nearest = min(range(len(SPEEDS)), key=lambda index: abs(SPEEDS[index] - session.clock.speed))
        session.set_speed(SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)])

    def bindings(self) -> CommandBindings:
        targets, request = self._session.targets, self._view.request
        moving = "there is no motion: open a clip, or set keys"
        return {
            "play.forwards": CommandBinding(self._space, needs(moving, lambda: self.can_play() or targets.motions)),
            "play.backwards": CommandBinding(lambda: self.toggle(-1), needs(moving, self.can_play)),
            "play.previous": CommandBinding(lambda: self.step(-1)),
            "play.next": CommandBinding(lambda: self.step(1)),
            "play.back_ten": CommandBinding(lambda: self.step(-_TEN)),
            "play.on_ten": CommandBinding(lambda: self.step(_TEN)),
            "play.first": CommandBinding(lambda: self.go(self._end(first=True))),
            "play.last": CommandBinding(lambda: self.go(self._end(first=False))),
            "play.go_to": CommandBinding(lambda: request("go-to-frame")),
            "play.loop": CommandBinding(self.next_loop),
            "play.slower": CommandBinding(lambda: self.faster(-1)),
            "play.faster": CommandBinding(lambda: self.faster(1)),
        }


class Markers:
    """Sets, renames and removes markers, and goes to them."""

    def __init__(self, session: Session, view: View, playback: Playback) -> None:
        self._session, self._view, self._playback = session, view, playback

    @property
    def all(self) -> tuple[Marker, ...]:
        return self._session.document.markers

    def set(self) -> None:
        """Set a marker at the frame shown, unless it has one, and ask for its name."""
        frame = self._session.document.frame
        if marker_at(self.all, frame) is None:
            self._session.dispatch(SetMarker(frame))
        self.rename(frame)

    def rename(self, frame: int) -> None:
        marker = marker_at(self.all, frame)
        if marker is not None:
            give = lambda name: self._session.dispatch(SetMarker(frame, name))  # noqa: E731 - a callback
            self._view.ask(NameQuestion("Marker", f"Frame {frame}", marker.name, "Name", give))

    def remove(self, frame: int) -> None:
        self._session.dispatch(RemoveMarker(frame))

    def _next(self, way: int) -> int | None:
        """The frame of the nearest marker before (-1) or after (1) the frame shown; None without one."""
        frame = self._session.document.frame
        there = [marker.frame for marker in self.all if way * (marker.frame - frame) > 0]
        return None if not there else min(there) if way > 0 else max(there)

    def bindings(self) -> CommandBindings:
        return {
            "marker.set": CommandBinding(self.set),
            "marker.previous": on_found("no marker is before this frame", lambda: self._next(-1), self._playback.go),
            "marker.next": on_found("no marker is after this frame", lambda: self._next(1), self._playback.go),
        }
