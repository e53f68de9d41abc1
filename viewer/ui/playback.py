"""Playback commands: play, step through frames, loop mode, speed; markers, which name frames."""

from __future__ import annotations

from viewer.document.actions import OpenTimeline, RemoveMarker, SetMarker
from viewer.document.document import Marker, marker_at
from viewer.session import Loop, Session
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.demo_commands import Demos
from viewer.ui.timeline import frame_count, last_frame, played_range
from viewer.ui.view import View

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
_TEN = 10


class Playback:
    """Plays the clip or take and steps through its frames."""

    def __init__(self, session: Session, view: View, demos: Demos) -> None:
        """Control a session's playback."""
        self._session, self._view, self._demos = session, view, demos

    @property
    def frames(self) -> int:
        """Frames of the timeline: of the clip or take, or of the take that a first key would make."""
        return frame_count(self._session.document)

    def can_play(self) -> bool:
        """Whether there is a clip or a take with keys."""
        return self._session.document.has_motion

    def toggle(self, direction: int) -> None:
        """Play in a direction, or stop if it already plays in that direction."""
        session = self._session
        if session.clock.direction == direction:
            session.stop()
        else:
            session.play(direction)

    def _space(self) -> None:
        """Play or stop; if there are moving targets, pause or resume them."""
        if self._demos.has_motions:
            self._demos.toggle()
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
        """How its commands are run."""
        demos, request, plays = self._demos, self._view.request, self.can_play
        return {
            "play.forwards": CommandBinding(self._space, lambda: plays() or demos.has_motions),
            "play.backwards": CommandBinding(lambda: self.toggle(-1), plays),
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
    """Sets, renames and removes markers, and goes to them.

    Attributes:
        renamed: frame of the marker whose name is being typed; None: none is.
    """

    def __init__(self, session: Session, view: View, playback: Playback) -> None:
        """Start without a marker being renamed."""
        self._session, self._view, self._playback = session, view, playback
        self.renamed: int | None = None

    @property
    def all(self) -> tuple[Marker, ...]:
        """The markers by frame."""
        return self._session.document.markers

    def set(self) -> None:
        """Set a marker at the frame shown, unless it has one, and ask for its name."""
        frame = self._session.document.frame
        if marker_at(self.all, frame) is None:
            self._session.dispatch(SetMarker(frame))
        self.rename(frame)

    def rename(self, frame: int) -> None:
        """Ask for the name of a marker."""
        self.renamed = frame
        self._view.changed()

    def name(self, name: str) -> None:
        """Give the marker being renamed a name, and ask no more.

        Raises:
            InputError: not a name.
        """
        assert self.renamed is not None
        self._session.dispatch(SetMarker(self.renamed, name))
        self.renamed = None

    def remove(self, frame: int) -> None:
        """Remove the marker of a frame."""
        self._session.dispatch(RemoveMarker(frame))
        self.renamed = None

    def _next(self, way: int) -> int | None:
        """The frame of the nearest marker before (-1) or after (1) the frame shown; None without one."""
        frame = self._session.document.frame
        there = [marker.frame for marker in self.all if way * (marker.frame - frame) > 0]
        return None if not there else min(there) if way > 0 else max(there)

    def _step(self, way: int) -> None:
        frame = self._next(way)
        if frame is not None:
            self._playback.go(frame)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {
            "marker.set": CommandBinding(self.set),
            "marker.previous": CommandBinding(lambda: self._step(-1), lambda: self._next(-1) is not None),
            "marker.next": CommandBinding(lambda: self._step(1), lambda: self._next(1) is not None),
        }
