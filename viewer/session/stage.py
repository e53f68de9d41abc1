"""The stage: the documents that are shown together, where each stands, and the clock that plays them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from viewer.document.actions.settings import at_frame
from viewer.document.document import Document
from viewer.document.evaluation import check_played_frame, frame_pose
from viewer.document.report import still_report
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
    """A pose that was edited and not keyed when another frame was shown.

    Attributes:
        clip: the clip that it was on, or None.
        frame: of that clip, or of the take on none.
        pose: the pose.
    """

    clip: str | None
    frame: int
    pose: Pose


class Stage:
    """What is shown. Today there is always one document.

    Attributes:
        placement: of each document, in the order of `documents`.
        active: index of the document that actions work on.
        clock: plays all documents.
        lost_pose: the last pose that was lost because another frame was shown; None: none was.
    """

    def __init__(self, state: State) -> None:
        """Show one document, at the origin."""
        self._states = [state]
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
        self._states[self.active] = state

    def at_frame(self, frame: int) -> State:
        """The state of a frame of clip or take, in the frame's own pose; an unkeyed pose that it replaces is kept.

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
        """The frame to play from: the one shown, but the other end at an end or outside the range.

        Args:
            direction: forwards (1) or backwards (-1).

        Raises:
            InputError: there is neither clip nor take.
        """
        first, last = self.document.played
        check_played_frame(self.document, last)
        ends, frame = {1: last, -1: first}, self.document.frame
        at_end = self.clock.loop is Loop.OFF and frame == ends[direction]
        return ends[-direction] if at_end or not first <= frame <= last else frame

    def play(self, direction: int) -> None:
        """Let the clock go on from the frame shown: forwards (1), backwards (-1); 0: not at all."""
        if direction:
            self.clock.start(self.document.frame - self.document.played[0], direction)

    def tick(self, now: float) -> State | None:
        """The state that is due while it plays; None where nothing changes. At the end of the clip the clock stops."""
        document, clock = self.document, self.clock
        if not clock.direction:
            return None
        first, last = document.played
        place, goes_on = clock.due(now, last - first + 1, document.frame_time)
        if not goes_on:
            clock.stop()
        if first + place != document.frame:
            return self._played(at_frame(document, first + place))
        return None if goes_on else self.state
