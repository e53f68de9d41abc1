"""The clock of a session: which frame is due, and what is done at each tick."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from viewer.document.actions.base import Action
from viewer.document.actions.settings import at_frame
from viewer.document.checks import as_weight
from viewer.document.document import Document
from viewer.document.drag_goals import Grab
from viewer.document.effector_transform import still_report
from viewer.document.goal import Item
from viewer.document.take.evaluate import check_played_frame
from viewer.errors import InputError
from viewer.session.gestures import Gestures
from viewer.session.history import State
from viewer.session.kernels import Kernels
from viewer.session.stepping import near
from viewer.skeleton.pose import Pose


class Loop(StrEnum):
    """What happens at the end of the clip."""

    OFF = "off"
    """It stops at the last frame, backwards at the first."""
    LOOP = "loop"
    """It begins again."""
    PING_PONG = "ping-pong"
    """It turns round."""


class Player:
    """What is played, running: asked at any time it says which frame is due, counted from the first that is played.

    Time is counted from where it began to play or its speed was changed last, so that frames do not drift.
    """

    def __init__(self, frame: int, direction: int) -> None:
        """Begin at a frame, forwards (1) or backwards (-1)."""
        self.direction = direction
        self._from, self._since = float(frame), -math.inf

    def frame(self, now: float, count: int, frame_time: float, speed: float, loop: Loop) -> tuple[int, bool]:
        """The frame due and whether it goes on.

        Args:
            now: seconds, of any clock.
            count: frames that are played.
            frame_time: seconds of each.
            speed: 1 is their own.
            loop: what happens at the ends.
        """
        if math.isinf(self._since) or now < self._since:
            self._since = now
        place = self._from + self.direction * (now - self._since) * speed / frame_time
        last = count - 1
        if 0.0 <= place <= last:
            return math.floor(place + 1e-9) if self.direction > 0 else math.ceil(place - 1e-9), True
        if loop is Loop.OFF or last == 0:
            return (0 if place < 0.0 else last), False
        if loop is Loop.LOOP:
            return math.floor(place) % count, True
        phase = place % (2.0 * last)
        return round(phase if phase <= last else 2.0 * last - phase), True


@dataclass(frozen=True, slots=True, eq=False)
class LeftPose:
    """A pose that was edited and not keyed when another frame was shown.

    Attributes:
        clip: the clip that it was on, or None.
        frame: of that clip, or of the take on none.
        pose: the pose.
    """

    clip: str | None
    frame: int
    pose: Pose


class Transport(Gestures):
    """Playback and ticks.

    Attributes:
        loop: what happens at the ends of the clip.
        left: the last pose that was lost because another frame was shown; None: none was.
        interrupted: how often an edit has stopped playing.
    """

    def __init__(self, state: State) -> None:
        """Begin at rest."""
        super().__init__(state)
        self.loop = Loop.LOOP
        self.left: LeftPose | None = None
        self.interrupted = 0
        self._played_pose: Pose | None = None
        self._speed = 1.0
        self._player: Player | None = None
        self._now = -math.inf
        self._kernels = Kernels()
        self._kernels_seen = self._kernels.state

    @property
    def playing(self) -> int:
        """1 forwards, -1 backwards, 0: not playing."""
        return 0 if self._player is None else self._player.direction

    @property
    def speed(self) -> float:
        """1: the clip's own."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = as_weight(value, "speed")
        self._rebase()
        self.revision += 1

    def _rebase(self) -> None:
        if self._player is not None:
            self._player = self._from_here(self._player.direction)

    def _from_here(self, direction: int) -> Player:
        return Player(self.document.frame - self.document.played[0], direction)

    def play(self, direction: int = 1) -> None:
        """Play clip or take from the frame shown, forwards (1) or backwards (-1); at its end it starts over.

        It plays the range; from outside it, all of it.

        Raises:
            InputError: there is neither clip nor take, or another direction.
        """
        if direction not in (1, -1):
            raise InputError(f"direction: expected 1 or -1, found {direction}")
        self._conclude()
        first, last = self.document.played
        check_played_frame(self.document, last)
        ends, frame = {1: last, -1: first}, self.document.frame
        at_end = self.loop is Loop.OFF and frame == ends[direction]
        self.seek(ends[-direction] if at_end or not first <= frame <= last else frame)
        self._player = self._from_here(direction)

    def stop(self) -> None:
        """Stop playing, at the frame shown."""
        if self._player is not None:
            self._player = None
            self.revision += 1

    def seek(self, frame: int) -> None:
        """Show a frame of clip or take, as it is: limits do not bind, holds are set anew, pins stay. No undo step.

        Raises:
            InputError: there is neither clip nor take, or no such frame.
        """
        self._conclude()
        changed = at_frame(self.document, frame)
        self._remember_left()
        self._show_frame(changed)
        self._rebase()

    def _show_frame(self, document: Document) -> None:
        """Show a document that is at a frame, in the frame's own pose."""
        self._played_pose = document.pose
        self._show(State(document, still_report(document)))

    def _remember_left(self) -> None:
        """Keep the pose shown, which is about to go, if it is not the frame's own."""
        document = self.document
        if document.pose is self._played_pose or not 0 <= document.frame < document.frames:
            return
        if not near(document.pose, document.frame_pose(document.frame)):
            self.left = LeftPose(document.clip, document.frame, document.pose)

    def _interrupt(self) -> None:
        """An edit stops playing."""
        self.interrupted += self._player is not None
        self.stop()

    def begin(self, label: str) -> None:
        """See `Gestures.begin`; playing stops."""
        self._interrupt()
        super().begin(label)

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None = None) -> None:
        """See `Gestures.begin_drag`; playing stops."""
        super().begin_drag(items, grab)
        self._interrupt()

    def dispatch(self, action: Action) -> None:
        """See `Stepping.dispatch`; playing stops if it changes the pose."""
        pose = self.document.pose
        super().dispatch(action)
        if self.document.pose is not pose:
            self._interrupt()

    def _leave(self, state: State) -> None:
        self.stop()
        super()._leave(state)

    def tick(self, now: float) -> bool:
        """Do what is due: a bounded number of a drag's iterations, the clip's next frame, a step of a blend.

        Args:
            now: seconds, of any clock that does not go back.

        Returns:
            Whether anything changed, or will at the next tick: a session at rest need not be ticked.
        """
        before = self.revision
        self._tick_clip(now)
        self._tick_blend(now)
        self._tick_drag(now)
        if self._kernels.state != self._kernels_seen:
            self._kernels_seen = self._kernels.state
            self.revision += 1
        return self.revision != before or self._player is not None

    def _tick_clip(self, now: float) -> None:
        player, document = self._player, self.document
        if player is None:
            return
        first, last = document.played
        place, goes_on = player.frame(now, last - first + 1, document.frame_time, self._speed, self.loop)
        frame = first + place
        if frame != self.document.frame:
            self._show_frame(at_frame(self.document, frame))
        if not goes_on:
            self.stop()

    @property
    def kernels(self) -> str:
        """Whether the kernels are "compiling" (numpy serves meanwhile) or "ready"; "numpy": nothing is compiled."""
        return self._kernels.state

    def start_compiling(self, then: Callable[[], None] | None = None) -> None:
        """Get the compiled kernels ready in another process; solvers on "auto" switch to them by themselves.

        Args:
            then: called, in another thread, when that is done or has failed: to wake a loop that sleeps.
        """
        self._kernels.start(then or (lambda: None))
        self._kernels_seen = self._kernels.state
        self.revision += 1
