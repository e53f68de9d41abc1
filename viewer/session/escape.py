"""The way out of a trap: a drag that was left short of its targets may have one, which is blended in."""

from __future__ import annotations

from dataclasses import replace

from viewer.document.document import Document
from viewer.document.report import still_report
from viewer.session.history import State, Step
from viewer.session.ik_drag import BLEND, IkDrag
from viewer.skeleton.pose import Pose
from viewer.skeleton.relaxed import blend_poses


class Escape:
    """Offers the way out of the trap that the last drag ended in.

    Attributes:
        searched: whether a way out of this trap was searched for.
    """

    def __init__(self) -> None:
        """Begin with no trap."""
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
            drag: that it was, if it was one.
            document: as it was left.
        """
        self.forget()
        if drag is not None and drag.stalled:
            self._drag, self._left = drag, document

    def is_offered(self, document: Document) -> bool:
        """Whether a solve with restarts gets a document out of the trap; the first time this takes a solve."""
        drag, left = self._drag, self._left
        if drag is None or left is None or not _is_caught(document, left):
            return False
        if not self.searched:
            self._pose = drag.escape() if document.solver.restarts else None
            self.searched = True
        return self._pose is not None

    def step(self, state: State) -> Step:
        """The step out of the trap, where a way is offered."""
        assert self._pose is not None
        after = replace(state.document, pose=self._pose)
        return Step("Escape", state, State(after, still_report(after)))


def _is_caught(document: Document, left: Document) -> bool:
    """Whether a document has the pose, goals and limits that it was left in."""
    names = ("pose", "goals", "skeleton", "unlimited")
    same = all(getattr(document, name) is getattr(left, name) for name in names)
    return same and document.limits_on == left.limits_on


class PoseBlend:
    """Shows a pose on its way from one to another, from the next tick on."""

    def __init__(self) -> None:
        """Begin with nothing to blend."""
        self._under_way: tuple[Pose, State] | None = None
        self._began: float | None = None

    @property
    def under_way(self) -> bool:
        """Whether a pose is on its way."""
        return self._under_way is not None

    def begin(self, start: Pose, after: State) -> None:
        """Let the pose go from ``start`` to that of a state."""
        self._under_way, self._began = (start, after), None

    def end(self) -> State | None:
        """Stop; the state that it leads to, None if there is none."""
        ended, self._under_way = self._under_way, None
        return ended and ended[1]

    def at(self, now: float) -> State | None:
        """The state at a moment, seconds of any clock; None if there is nothing to blend."""
        if self._under_way is None:
            return None
        start, after = self._under_way
        self._began = now if self._began is None else self._began
        part = (now - self._began) / BLEND
        if not 0.0 <= part < 1.0:
            return self.end()
        pose = blend_poses(start, after.document.pose, part)
        return State(replace(after.document, pose=pose), after.report)
