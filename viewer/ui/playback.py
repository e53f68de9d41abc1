"""Playing the clip: commands of the transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.session import Loop
from viewer.ui.command import Handler, Handlers
from viewer.ui.timeline import OpenTimeline, frame_count, last_frame, played_range

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
_TEN = 10


class Playback:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """At rest."""
        self._controller = controller

    @property
    def frames(self) -> int:
        """Frames of the timeline: of the clip or the take, or those that a new take would have."""
        return frame_count(self._controller.document)

    def can_play(self) -> bool:
        """Whether there is anything to play."""
        document = self._controller.document
        return document.clip_data is not None or (document.take is not None and not document.take.is_empty)

    def toggle(self, direction: int) -> None:
        """Play, or stop if it plays that way."""
        session = self._controller.session
        if session.playing == direction:
            session.stop()
        else:
            session.play(direction)

    def _space(self) -> None:
        """Play or stop; where targets move by themselves, hold them or let them go on."""
        if self._controller.demos.has_motions:
            self._controller.demos.toggle()
        else:
            self.toggle(1)

    def go(self, frame: int) -> None:
        """Show a frame, the nearest that there is; playing stops."""
        session = self._controller.session
        session.stop()
        session.stop_recording()
        frame = min(max(frame, 0), last_frame(session.document))
        if session.document.frames:
            session.seek(frame)
        elif frame != session.document.frame:
            session.dispatch(OpenTimeline(frame))

    def step(self, frames: int) -> None:
        """Go on or back; with a loop, from one end to the other."""
        session = self._controller.session
        frame = session.document.frame + frames
        first, last = played_range(session.document)
        if session.loop is not Loop.OFF and abs(frames) == 1 and first <= session.document.frame <= last:
            frame = first + (frame - first) % (last - first + 1)
        self.go(frame)

    def _end(self, *, first: bool) -> int:
        """The first or last frame of what is played; where that is shown, of all."""
        ends = played_range(self._controller.document)
        there = ends[0] if first else ends[1]
        if self._controller.document.frame == there:
            return 0 if first else self.frames - 1
        return there

    def next_loop(self) -> None:
        """Off, loop, ping-pong."""
        session, ways = self._controller.session, tuple(Loop)
        session.loop = ways[(ways.index(session.loop) + 1) % len(ways)]
        self._controller.changed()

    def faster(self, steps: int) -> None:
        """The next of the speeds offered."""
        session = self._controller.session
        nearest = min(range(len(SPEEDS)), key=lambda place: abs(SPEEDS[place] - session.speed))
        session.speed = SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)]

    def handlers(self) -> Handlers:
        """Of the transport."""
        controller, plays = self._controller, self.can_play
        return {
            "play.forwards": Handler(self._space, lambda: plays() or controller.demos.has_motions),
            "play.backwards": Handler(lambda: self.toggle(-1), plays),
            "play.previous": Handler(lambda: self.step(-1)),
            "play.next": Handler(lambda: self.step(1)),
            "play.back_ten": Handler(lambda: self.step(-_TEN)),
            "play.on_ten": Handler(lambda: self.step(_TEN)),
            "play.first": Handler(lambda: self.go(self._end(first=True))),
            "play.last": Handler(lambda: self.go(self._end(first=False))),
            "play.go_to": Handler(lambda: controller.request("go-to-frame")),
            "play.loop": Handler(self.next_loop),
            "play.slower": Handler(lambda: self.faster(-1)),
            "play.faster": Handler(lambda: self.faster(1)),
        }
