"""The stage: the documents shown, where each stands, and the clock that plays them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from viewer.document.actions.settings import at_frame
from viewer.document.document import Document
from viewer.document.evaluation import check_played_frame, frame_pose
from viewer.document.report import still_report
from viewer.errors import InputError
from viewer.ik.goals import Vector
from viewer.session.clock import Loop, PlaybackClock
from viewer.session.history import State
from viewer.skeleton.pose import Pose


class Placement(NamedTuple):
    """Where a document stands in the world.

    Attributes:
        offset: metres from the document's own origin.
        yaw: radians about the vertical axis.
    """

    offset: Vector = (0.0, 0.0, 0.0)
    yaw: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class UnkeyedPose:
    """An edited pose that was lost because another frame was shown before it was keyed.

    Attributes:
        clip: the name of the clip shown, or None.
        frame: of that clip, or of the take without a clip.
        pose: the edited pose.
    """

    clip: str | None
    frame: int
    pose: Pose


class Stage:
    """The documents shown; so far always one.

    Attributes:
        placement: of each document, in the order of `documents`.
        active: index of the document that actions change.
        clock: plays all documents.
        revision: counts visible changes.
        lost_pose: the last unkeyed pose that was lost because another frame was shown, or None.
    """

    def __init__(self, state: State, adjust: Callable[[State], State] | None = None) -> None:
        """Show one document, at the origin.

        Args:
            state: of the document.
            adjust: is applied to every state before it is shown: a recording sets the frame and the take.
        """
        self._states, self._adjust = [state], adjust
        self.revision = 0
        self.placement = [Placement()]
        self.active = 0
        self.clock = PlaybackClock()
        self.lost_pose: UnkeyedPose | None = None
        self._played_pose: Pose | None = None

    @property
    def documents(self) -> tuple[Document, ...]:
        """All documents that are shown."""
        return tuple(state.document for state in self._states)

    @property
    def state(self) -> State:
        """The active document, and the report of its last solve."""
        return self._states[self.active]

    @property
    def document(self) -> Document:
        """The active document."""
        return self.state.document

    def show(self, state: State) -> None:
        """Show another state of the active document."""
        self._states[self.active] = state if self._adjust is None else self._adjust(state)
        self.changed()

    def changed(self, count: int = 1) -> None:
        """Count visible changes."""
        self.revision += count

    def at_frame(self, frame: int) -> State:
        """The state at a frame of the clip or take, in that frame's pose; keeps an unkeyed pose as `lost_pose`.

        Raises:
            InputError: there is neither clip nor take, or no such frame.
        """
        changed = at_frame(self.document, frame)
        self._keep_unkeyed_pose()
        return self._played(changed)

    def _played(self, document: Document) -> State:
        self._played_pose = document.pose
        return State(document, still_report(document))

    def _keep_unkeyed_pose(self) -> None:
        document = self.document
        if document.pose is self._played_pose or not 0 <= document.frame < document.frames:
            return
        if not document.pose.is_near(frame_pose(document, document.frame)):
            self.lost_pose = UnkeyedPose(document.clip, document.frame, document.pose)

    def first_frame(self, direction: int) -> int:
        """The frame to play from: the one shown; from an end of the range, or outside it, the other end.

        Args:
            direction: forwards (1) or backwards (-1).

        Raises:
            InputError: there is neither clip nor take, or another direction.
        """
        if direction not in (1, -1):
            raise InputError(f"direction: expected 1 or -1, found {direction}")
        first, last = self.document.played
        check_played_frame(self.document, last)
        ends, frame = {1: last, -1: first}, self.document.frame
        at_end = self.clock.loop is Loop.OFF and frame == ends[direction]
        return ends[-direction] if at_end or not first <= frame <= last else frame

    def play(self, direction: int) -> None:
        """Start the clock at the frame shown, forwards (1) or backwards (-1); 0 leaves it as it is."""
        if direction:
            self.clock.start(self.document.frame - self.document.played[0], direction)

    def tick(self, now: float) -> State | None:
        """The state that is due during playback, or None if nothing changes. Stops the clock at the end of the clip."""
        document, clock = self.document, self.clock
        if not clock.direction:
            return None
        first, last = document.played
        index, goes_on = clock.due(now, last - first + 1, document.frame_time)
        if not goes_on:
            clock.stop()
        if first + index != document.frame:
            return self._played(at_frame(document, first + index))
        return None if goes_on else self.state
