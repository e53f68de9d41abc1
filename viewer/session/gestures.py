"""Gestures: many changes, from press to release, that are one undo step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from viewer.document.actions.base import Action
from viewer.document.document import Document
from viewer.document.drag_goals import Grab
from viewer.document.effector_transform import still_report
from viewer.document.goal import Item
from viewer.errors import InputError
from viewer.session.history import State
from viewer.session.ik_drag import IkDrag
from viewer.session.solving import settle
from viewer.session.stepping import Blend, Stepping
from viewer.skeleton.pose import Pose


@dataclass(slots=True)
class Gesture:
    """A gesture under way.

    Attributes:
        label: what the history will call it.
        start: the state that cancelling goes back to.
        drag: of an IK drag.
        saved: whether it changes what a file would hold.
    """

    label: str
    start: State
    drag: IkDrag | None = None
    saved: bool = False


@dataclass(slots=True)
class Trap:
    """Where a drag was left short of its targets.

    Attributes:
        drag: that knows the way out, if there is one.
        document: as it was left; the way out is no more when pose, goals or limits are others.
        searched: whether the way out was looked for.
        pose: the way out, if it was found.
    """

    drag: IkDrag
    document: Document
    searched: bool = False
    pose: Pose | None = None

    def holds(self, now: Document) -> bool:
        """Whether a document is still caught in it."""
        then = self.document
        same = all(getattr(now, name) is getattr(then, name) for name in ("pose", "goals", "skeleton", "unlimited"))
        return same and now.limits_on == then.limits_on


class Gestures(Stepping):
    """Sliders, FK and IK drags."""

    def __init__(self, state: State) -> None:
        """Begin with none under way."""
        super().__init__(state)
        self._gesture: Gesture | None = None
        self._trap: Trap | None = None

    @property
    def gesture(self) -> str | None:
        """The label of the gesture under way, or None."""
        return None if self._gesture is None else self._gesture.label

    @property
    def dragging(self) -> bool:
        """Whether an IK drag is under way."""
        return self._gesture is not None and self._gesture.drag is not None

    def begin(self, label: str) -> None:
        """Begin a gesture of `update`s: a slider, an FK drag. One that is under way is committed."""
        self._conclude()
        self._gesture = Gesture(label, self._state)

    def update(self, action: Action) -> None:
        """Do an action as part of the gesture.

        Raises:
            InputError: what is asked cannot be done, or no such gesture is under way.
        """
        gesture = self._gesture
        if gesture is None or gesture.drag is not None:
            raise InputError(f"{action.label}: no gesture was begun")
        after = self._after(action)
        if after is not None:
            gesture.saved |= action.saved
            self._show(after)

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None = None) -> None:
        """Begin an IK drag; one gesture that is under way is committed.

        Args:
            items: effectors, whose goals will move, and joints (the root too), which have a goal for this drag.
            grab: a point of a bone that has a goal for this drag.

        Raises:
            InputError: nothing to drag, unknown names, goals that no solver takes; nothing is begun.
        """
        self._conclude()
        drag = IkDrag(self.document, tuple(items), grab, self._solvers)
        self._gesture = Gesture(drag.label, self._state, drag, saved=True)

    def drag_to(self, targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> None:
        """Take new targets of the dragged items; `tick` then moves the body.

        Args:
            targets: item -> (position (3,) metres or None: as before, rotation (4,) or None), world frame. The position
                of a grabbed joint's item is the grabbed point's.

        Raises:
            InputError: no drag is under way, an item that is not dragged, numbers that are none.
        """
        gesture = self._gesture
        if gesture is None or gesture.drag is None:
            raise InputError("no drag was begun")
        gesture.drag.aim(targets)
        self._show(State(gesture.drag.document, self.report))

    @property
    def chain(self) -> tuple[int, int]:
        """How many joints above what is dragged take part, and how many can; (0, 0) where none is dragged by IK."""
        drag = None if self._gesture is None else self._gesture.drag
        return (0, 0) if drag is None else (drag.chain, drag.longest_chain)

    def set_chain(self, length: int) -> None:
        """Let only so many joints above what is dragged take part, until the drag is over.

        Raises:
            InputError: no drag is under way, or what is no whole number.
        """
        gesture = self._gesture
        if gesture is None or gesture.drag is None:
            raise InputError("no drag was begun")
        gesture.drag.set_chain(length)
        self.revision += 1

    def commit(self) -> None:
        """The gesture is over: what it did is one undo step, if it did anything."""
        gesture, self._gesture = self._gesture, None
        if gesture is None:
            return
        if gesture.drag is not None:
            if not gesture.drag.moved:
                self._show(gesture.start)
                return
            after = self._released(gesture.drag)
        else:
            after = self._state
        caught = gesture.drag is not None and gesture.drag.stalled
        self._trap = Trap(gesture.drag, after.document) if gesture.drag is not None and caught else None
        self._add(gesture.label, after, before=gesture.start, saved=gesture.saved)

    def _released(self, drag: IkDrag) -> State:
        document = drag.finish()
        if drag.temporary:  # its goal is gone: what the others ask for is all there is
            return settle(document, self._solvers)
        return State(document, drag.report.whole() if drag.report else still_report(document))

    def cancel(self) -> None:
        """The gesture is over and did nothing: the very document that it began with is back."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            self._show(gesture.start)

    @property
    def escape_offered(self) -> bool:
        """Whether the last drag was left in a trap that a solve with restarts gets out of; looked for when asked."""
        trap = self._trap
        if trap is None or self._gesture is not None or not trap.holds(self.document):
            return False
        if not trap.searched:
            trap.pose = trap.drag.escape() if self.document.solver.restarts else None
            trap.searched = True
        return trap.pose is not None

    def accept_escape(self) -> None:
        """Take the way out: one undo step, blended in by `tick`. Nothing where none is offered."""
        if not self.escape_offered or self._trap is None or self._trap.pose is None:
            return
        start = self.document
        after = replace(start, pose=self._trap.pose)
        self._add("Escape", State(after, still_report(after)))
        self._blend = Blend(start.pose, self._state)
        self._show(State(replace(after, pose=start.pose), self.report))

    def _conclude(self) -> None:
        self.commit()
        super()._conclude()

    def _abandon(self) -> bool:
        under_way = self._gesture is not None
        self.cancel()
        super()._abandon()
        return under_way

    def _tick_drag(self, now: float) -> bool:
        gesture = self._gesture
        if gesture is None or gesture.drag is None or not gesture.drag.pending:
            return False
        gesture.drag.step(now, gesture.start.document.solver.tick_iterations)
        self._show(State(gesture.drag.document, gesture.drag.report))
        return True
