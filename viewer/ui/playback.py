"""Playing the clip: commands of the transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.session import Loop
from viewer.ui.handler import Handler, Handlers

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
        """Frames of the clip, 0 without one."""
        clip = self._controller.session.document.clip_data
        return 0 if clip is None else len(clip)

    def has_clip(self) -> bool:
        """Whether there is anything to play."""
        return self.frames > 0

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
        if self.has_clip():
            self._controller.session.stop()
            self._controller.session.seek(min(max(frame, 0), self.frames - 1))

    def step(self, frames: int) -> None:
        """Go on or back; with a loop, from one end to the other."""
        session = self._controller.session
        frame = session.document.frame + frames
        if session.loop is not Loop.OFF and abs(frames) == 1:
            frame %= self.frames
        self.go(frame)

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
        controller, clip = self._controller, self.has_clip
        return {
            "play.forwards": Handler(self._space, lambda: clip() or controller.demos.has_motions),
            "play.backwards": Handler(lambda: self.toggle(-1), clip),
            "play.previous": Handler(lambda: self.step(-1), clip),
            "play.next": Handler(lambda: self.step(1), clip),
            "play.back_ten": Handler(lambda: self.step(-_TEN), clip),
            "play.on_ten": Handler(lambda: self.step(_TEN), clip),
            "play.first": Handler(lambda: self.go(0), clip),
            "play.last": Handler(lambda: self.go(self.frames - 1), clip),
            "play.go_to": Handler(lambda: controller.request("go-to-frame"), clip),
            "play.loop": Handler(self.next_loop, clip),
            "play.slower": Handler(lambda: self.faster(-1), clip),
            "play.faster": Handler(lambda: self.faster(1), clip),
        }
