"""Playing the clip: commands of the transport."""

from __future__ import annotations

from viewer.document.actions import OpenTimeline
from viewer.session import Loop, Session
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.demos import Demos
from viewer.ui.timeline import frame_count, last_frame, played_range
from viewer.ui.view import View

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
_TEN = 10


class Playback:
    """Plays the clip or the take, and steps through its frames."""

    def __init__(self, session: Session, view: View, demos: Demos) -> None:
        """At rest."""
        self._session, self._view, self._demos = session, view, demos

    @property
    def frames(self) -> int:
        """Frames of the timeline: of the clip or the take, or those that a new take would have."""
        return frame_count(self._session.document)

    def can_play(self) -> bool:
        """Whether there is anything to play."""
        document = self._session.document
        return document.clip_data is not None or (document.take is not None and not document.take.is_empty)

    def toggle(self, direction: int) -> None:
        """Play, or stop if it plays that way."""
        session = self._session
        if session.clock.direction == direction:
            session.stop()
        else:
            session.play(direction)

    def _space(self) -> None:
        """Play or stop; where targets move by themselves, hold them or let them go on."""
        if self._demos.has_motions:
            self._demos.toggle()
        else:
            self.toggle(1)

    def go(self, frame: int) -> None:
        """Show a frame, the nearest that there is; playing stops."""
        session = self._session
        session.stop()
        session.stop_recording()
        frame = min(max(frame, 0), last_frame(session.document))
        if session.document.frames:
            session.seek(frame)
        elif frame != session.document.frame:
            session.dispatch(OpenTimeline(frame))

    def step(self, frames: int) -> None:
        """Go on or back; with a loop, from one end to the other."""
        session = self._session
        frame = session.document.frame + frames
        first, last = played_range(session.document)
        if session.clock.loop is not Loop.OFF and abs(frames) == 1 and first <= session.document.frame <= last:
            frame = first + (frame - first) % (last - first + 1)
        self.go(frame)

    def _end(self, *, first: bool) -> int:
        """The first or last frame of what is played; where that is shown, of all."""
        ends = played_range(self._session.document)
        there = ends[0] if first else ends[1]
        if self._session.document.frame == there:
            return 0 if first else self.frames - 1
        return there

    def next_loop(self) -> None:
        """Off, loop, ping-pong."""
        session, ways = self._session, tuple(Loop)
        session.clock.loop = ways[(ways.index(session.clock.loop) + 1) % len(ways)]
        self._view.changed()

    def faster(self, steps: int) -> None:
        """The next of the speeds offered."""
        session = self._session
        nearest = min(range(len(SPEEDS)), key=lambda place: abs(SPEEDS[place] - session.clock.speed))
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
