"""The stage: the documents that are shown together, where each stands, and the clock that plays them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from viewer.document.document import Document
from viewer.document.effector_transform import still_report
from viewer.ik.goals import Vector
from viewer.session.clock import PlaybackClock
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

    def frame_state(self, document: Document) -> State:
        """The state of a document that is at a frame, in the frame's own pose, which is not an edited one."""
        self._played_pose = document.pose
        return State(document, still_report(document))

    def keep_unkeyed_pose(self) -> None:
        """Keep the pose shown, which another frame's is about to replace, if it is not the frame's own."""
        document = self.document
        if document.pose is self._played_pose or not 0 <= document.frame < document.frames:
            return
        if not document.pose.is_near(document.frame_pose(document.frame)):
            self.lost_pose = UnkeyedPose(document.clip, document.frame, document.pose)

    @property
    def played_place(self) -> int:
        """The frame shown, counted from the first that is played."""
        return self.document.frame - self.document.played[0]
