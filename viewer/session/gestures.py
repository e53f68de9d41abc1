"""Gestures: many changes, from press to release, that are one undo step."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.document.document import Action
from viewer.document.drag_goals import Grab
from viewer.document.goal import Item
from viewer.document.report import still_report
from viewer.errors import InputError
from viewer.session.history import State, Step
from viewer.session.ik_drag import IkDrag
from viewer.session.solving import Solvers, applied, settle


@dataclass(slots=True)
class Gesture:
    """A gesture under way.

    Attributes:
        label: of its undo step.
        start: the state that cancelling goes back to.
        drag: of an IK drag.
        saved: whether it changes what a file would hold.
    """

    label: str
    start: State
    drag: IkDrag | None = None
    saved: bool = False


class GestureManager:
    """Begins, changes and ends gestures: sliders, FK and IK drags. There is one at a time.

    States are passed in and returned: the caller shows them.

    Attributes:
        gesture: the one under way, or None.
    """

    def __init__(self, solvers: Solvers) -> None:
        """Begin with none under way."""
        self.gesture: Gesture | None = None
        self._solvers = solvers

    @property
    def drag(self) -> IkDrag | None:
        """The IK drag under way, or None."""
        return None if self.gesture is None else self.gesture.drag

    def begin(self, label: str, state: State) -> None:
        """Begin a gesture of updates."""
        self.gesture = Gesture(label, state)

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None, state: State) -> None:
        """Begin an IK drag.

        Raises:
            InputError: as of `IkDrag`; nothing is begun.
        """
        drag = IkDrag(state.document, tuple(items), grab, self._solvers)
        self.gesture = Gesture(drag.label, state, drag, saved=True)

    def update(self, action: Action, state: State) -> State | None:
        """The state after an action that is part of the gesture; None where it changes nothing.

        Raises:
            InputError: what is asked cannot be done, or no gesture of updates is under way.
        """
        gesture = self.gesture
        if gesture is None or gesture.drag is not None:
            raise InputError(f"{action.label}: no gesture was begun")
        after = applied(action, state, self._solvers)
        if after is not None:
            self.note(saved=action.saved)
        return after

    def note(self, *, saved: bool) -> None:
        """Note that the gesture did something, and whether that changes what a file would hold."""
        if self.gesture is not None:
            self.gesture.saved |= saved

    def required_drag(self) -> IkDrag:
        """The IK drag under way.

        Raises:
            InputError: there is none.
        """
        if self.drag is None:
            raise InputError("no drag was begun")
        return self.drag

    def step(self, now: float) -> State | None:
        """The state after a bounded number of the drag's iterations; None where nothing is to be solved."""
        gesture, drag = self.gesture, self.drag
        if gesture is None or drag is None or not drag.pending:
            return None
        drag.step(now, gesture.start.document.solver.tick_iterations)
        return State(drag.document, drag.report)

    def commit(self, state: State) -> Step | None:
        """End the gesture: the step from its start to a state, or to where its drag leads; None if there is none."""
        gesture, self.gesture = self.gesture, None
        if gesture is None:
            return None
        after = state if gesture.drag is None else self._released(gesture.drag)
        return Step(gesture.label, gesture.start, after, saved=gesture.saved)

    def _released(self, drag: IkDrag) -> State:
        document = drag.finish()
        if drag.temporary:  # its goal is gone: the goals that stay are all there is
            return settle(document, self._solvers)
        return State(document, drag.report.whole() if drag.report else still_report(document))

    def cancel(self) -> State | None:
        """End the gesture; the state that it began with, None if there is none."""
        gesture, self.gesture = self.gesture, None
        return None if gesture is None else gesture.start
