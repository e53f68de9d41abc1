"""Leaving a local minimum: a drag that ended short of its targets may have a better pose, which is blended in."""

from __future__ import annotations

from dataclasses import replace

from viewer.document import Document, still_report
from viewer.document.document import is_unchanged
from viewer.session.calls import CallRecorder
from viewer.session.figures import State
from viewer.session.gestures import GestureManager
from viewer.session.history import Step
from viewer.session.ik_drag import BLEND, IkDrag
from viewer.session.stage import Stage
from viewer.skeleton import Pose
from viewer.skeleton.relaxed import blend_poses


class Escape:
    """Offers a pose that leaves the local minimum which the last drag ended in.

    Attributes:
        searched: whether such a pose was looked for.
    """

    def __init__(self, gestures: GestureManager, stage: Stage, calls: CallRecorder) -> None:
        """Start without an offer.

        Args:
            gestures: nothing is offered while one is under way.
            stage: has the document.
            calls: records the search, which takes a solve.
        """
        self._gestures, self._stage, self._calls = gestures, stage, calls
        self.forget()

    def forget(self) -> None:
        """Offer nothing until `watch` is called again."""
        self.searched = False
        self._drag: IkDrag | None = None
        self._left: Document | None = None
        self._pose: Pose | None = None

    def watch(self, drag: IkDrag | None, document: Document) -> None:
        """Note a gesture that has ended.

        Args:
            drag: the IK drag; None for another gesture.
            document: the result of the gesture.
        """
        self.forget()
        if drag is not None and drag.stalled:
            self._drag, self._left = drag, document

    @property
    def offered(self) -> bool:
        """Whether a solve with restarts leaves the local minimum; the first call after a drag solves to find out."""
        with self._calls("escape_offered") as call:
            searched = self.searched
            offered = self._gestures.gesture is None and self._is_found()
            call.idle = self.searched == searched
            return offered

    def _is_found(self) -> bool:
        drag, left, document = self._drag, self._left, self._stage.document
        if drag is None or left is None or not is_unchanged(document, left):
            return False
        if not self.searched:
            self._pose = drag.escape() if document.solver.restarts else None
            self.searched = True
        return self._pose is not None

    def step(self) -> Step:
        """The undo step to the pose offered."""
        assert self._pose is not None
        before = self._stage.state
        after = replace(before.document, pose=self._pose)
        return Step("Escape", before, State(after, still_report(after)))


class PoseBlend:
    """Blends from one pose to another, from the next tick on."""

    def __init__(self) -> None:
        """Start without a blend."""
        self._under_way: tuple[Pose, State] | None = None
        self._began: float | None = None

    @property
    def under_way(self) -> bool:
        """Whether a blend is under way."""
        return self._under_way is not None

    def begin(self, start: Pose, after: State) -> None:
        """Blend from a pose to that of a state."""
        self._under_way, self._began = (start, after), None

    def end(self) -> State | None:
        """Stop; the final state, or None without a blend."""
        ended, self._under_way = self._under_way, None
        return ended and ended[1]

    def at(self, now: float) -> State | None:
        """The state at time ``now``, seconds of any clock; None without a blend."""
        if self._under_way is None:
            return None
        start, after = self._under_way
        self._began = now if self._began is None else self._began
        part = (now - self._began) / BLEND
        if not 0.0 <= part < 1.0:
            return self.end()
        pose = blend_poses(start, after.document.pose, part)
        return State(replace(after.document, pose=pose), after.report)
