"""Undo steps: their history, and gestures, whose many changes from press to release are one step.

After an IK drag that ended in a local minimum another step is offered, which leaves that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from viewer.document import Action, Document, Grab, Item, still_report
from viewer.document.document import is_unchanged
from viewer.errors import InputError
from viewer.ik.solution import Status
from viewer.session.figures import Arrangement, Stage, State
from viewer.session.ik_drag import BLEND, IkDrag
from viewer.session.solving import Solvers, applied, settle
from viewer.skeleton import Pose, blend_poses

MOST_STEPS = 500
"""Steps kept: documents share their arrays, so a step usually costs some kilobytes."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One undo step.

    ``before`` is not always the ``after`` of the previous step: playing the clip in between is no step.

    Attributes:
        label: shown in the history.
        before: state before the step.
        after: state after the step.
        saved: whether it changes what a file would hold: selecting does not.
        figure: name of the figure that it changes; "": the only one.
        arranged: the figures before and after a step that adds, removes, moves or hides one; None for other steps.
    """

    label: str
    before: State
    after: State
    saved: bool = True
    figure: str = ""
    arranged: tuple[Arrangement, Arrangement] | None = None


class UndoHistory:
    """Undo steps, and how many of them are done.

    ``index`` is the number of steps done, which `undo` can take back; those after it can be redone.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Drop all steps; the document counts as saved."""
        self._steps: list[Step] = []
        self.index = 0
        self._forgotten: Step | None = None
        self._in_file: Step | None = None

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps done and undone, oldest first."""
        return tuple(self._steps)

    @property
    def labels(self) -> tuple[str, ...]:
        """The label of each step, done and undone, oldest first."""
        return tuple(step.label for step in self._steps)

    @property
    def latest_saved(self) -> Step | None:
        """The last step done that changed what a file would hold."""
        done = reversed(self._steps[: self.index])
        return next((step for step in done if step.saved), self._forgotten)

    @property
    def modified(self) -> bool:
        """Whether there are unsaved changes."""
        return self.latest_saved is not self._in_file

    def mark_saved(self) -> None:
        """Note that the present document was saved."""
        self._in_file = self.latest_saved

    def add(self, step: Step) -> None:
        """Add a step; drops the steps undone, and the oldest ones beyond `MOST_STEPS`."""
        del self._steps[self.index :]
        self._steps.append(step)
        while len(self._steps) > MOST_STEPS:
            oldest = self._steps.pop(0)
            self._forgotten = oldest if oldest.saved else self._forgotten
        self.index = len(self._steps)

    def undo(self) -> Step | None:
        """Undo one step and return it, or None."""
        if self.index == 0:
            return None
        self.index -= 1
        return self._steps[self.index]

    def redo(self) -> Step | None:
        """Redo one step and return it, or None."""
        if self.index == len(self._steps):
            return None
        self.index += 1
        return self._steps[self.index - 1]

    def go_to(self, index: int) -> tuple[Step, ...]:
        """Undo or redo until ``index`` steps are done; the steps undone, newest first, or redone, oldest first."""
        if not 0 <= index <= len(self._steps):
            raise InputError(f"no step {index}: the history has 0 to {len(self._steps)}")
        now, self.index = self.index, index
        return tuple(self._steps[now:index] if index > now else reversed(self._steps[index:now]))


# --- gestures


@dataclass(slots=True)
class OpenStep:
    """The undo step that a gesture under way makes.

    ``label`` is its name, ``start`` the state that cancelling restores, ``drag`` an IK drag; ``saved``: it
    changes what a file would hold.
    """

    label: str
    start: State
    drag: IkDrag | None = None
    saved: bool = False


class GestureManager:
    """The gesture under way: a slider, an FK drag or an IK drag. The session begins and ends it."""

    def __init__(self, solvers: Solvers, stage: Stage) -> None:
        self.open_step: OpenStep | None = None
        self._solvers, self._stage, self._calls = solvers, stage, stage.calls
        self._left: tuple[IkDrag, Document] | None = None

    @property
    def label(self) -> str | None:
        """The label of the gesture under way, or None."""
        return None if self.open_step is None else self.open_step.label

    @property
    def drag(self) -> IkDrag | None:
        """The IK drag under way, or None."""
        return None if self.open_step is None else self.open_step.drag

    def begin(self, label: str) -> None:
        """Begin a gesture of updates."""
        self.open_step = OpenStep(label, self._stage.state)

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None, opposite: Grab | None = None) -> None:
        """Begin an IK drag."""
        drag = IkDrag(self._stage.document, tuple(items), (grab, opposite), self._solvers)
        self.open_step = OpenStep(drag.label, self._stage.state, drag, saved=True)

    def update(self, action: Action) -> None:
        """Do an action as part of the gesture."""
        with self._calls("update", action):
            if self.open_step is None or self.open_step.drag is not None:
                raise InputError(f"{action.label}: no gesture was begun")
            after = applied(action, self._stage.state, self._solvers)
            if after is not None:
                self.open_step.saved |= action.saved
                self._stage.show(after)

    def drag_to(self, targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> None:
        """Set new targets of the dragged items; the next tick of the session moves the body.

        Args:
            targets: item -> (position (3,) metres, rotation (4,)), world frame; None leaves a part unchanged. The
                position of a grabbed joint's item is that of the grabbed point.
        """
        with self._calls("drag_to", targets):
            drag = self._required_drag()
            drag.aim(targets)
            self._stage.show(State(drag.document, self._stage.state.report))

    @property
    def chain(self) -> tuple[int, int]:
        """How many joints above what is dragged take part, and how many can; (0, 0) without an IK drag."""
        return (0, 0) if self.drag is None else (self.drag.chain, self.drag.longest_chain)

    def set_chain(self, length: int) -> None:
        """Limit the IK drag under way to ``length`` joints above what is dragged."""
        with self._calls("set_chain", length):
            self._required_drag().set_chain(length)
            self._stage.changed()

    def _required_drag(self) -> IkDrag:
        if self.drag is None:
            raise InputError("no drag was begun")
        return self.drag

    def step(self, now: float) -> State | None:
        """The state after a bounded number of the drag's iterations; None if there is nothing to solve."""
        step, drag = self.open_step, self.drag
        if step is None or drag is None or not drag.pending:
            return None
        drag.step(now)
        return State(drag.document, drag.report)

    def commit(self) -> Step | None:
        """End the gesture: the step from its start to the state shown, or to where the drag settles; None if none."""
        gesture, self.open_step = self.open_step, None
        if gesture is None:
            return None
        after = self._stage.state if gesture.drag is None else self._released(gesture.drag)
        self._left = None if gesture.drag is None else (gesture.drag, after.document)
        return Step(gesture.label, gesture.start, after, saved=gesture.saved)

    @property
    def fell_short(self) -> IkDrag | None:
        """The drag of a joint that ended short of its target; None once pose, goals or limits have changed since.

        The drag's own goal no longer exists, so the session's report does not mention it.
        """
        if self._left is None or self.open_step is not None:
            return None
        drag, left = self._left
        short = drag.temporary and drag.report is not None and drag.report.status is not Status.CONVERGED
        return drag if short and is_unchanged(self._stage.document, left) else None

    def _released(self, drag: IkDrag) -> State:
        document = drag.finish()
        if drag.temporary:  # the goal of the drag is gone: solve for those that remain
            return settle(document, self._solvers)
        return State(document, drag.report.whole if drag.report else still_report(document))

    def cancel(self) -> bool:
        """End the gesture and show the state that it began with; whether there was a gesture."""
        gesture, self.open_step = self.open_step, None
        if gesture is not None:
            self._stage.show(gesture.start)
        return gesture is not None


class Escape:
    """Offers a pose that leaves the local minimum which the last drag ended in.

    ``searched``: such a pose was looked for. ``meets``: the pose offered meets all goals; else it is much nearer to
    them.
    """

    def __init__(self, gestures: GestureManager, stage: Stage) -> None:
        self._gestures, self._stage, self._calls = gestures, stage, stage.calls
        self.forget()

    def forget(self) -> None:
        """Offer nothing until `watch` is called again."""
        self.searched = self.meets = False
        self._drag: IkDrag | None = None
        self._left: Document | None = None
        self._pose: Pose | None = None

    def watch(self, drag: IkDrag | None, document: Document) -> None:
        """Note a gesture that has ended. ``drag`` is None for another gesture than an IK drag."""
        self.forget()
        if drag is not None and drag.stalled:
            self._drag, self._left = drag, document

    @property
    def offered(self) -> bool:
        """Whether a solve with restarts leaves the local minimum; the first call after a drag solves to find out."""
        with self._calls("escape_offered") as call:
            searched = self.searched
            offered = self._gestures.open_step is None and self._is_found()
            call.idle = self.searched == searched
            return offered

    def _is_found(self) -> bool:
        drag, left, document = self._drag, self._left, self._stage.document
        if drag is None or left is None or not is_unchanged(document, left):
            return False
        if not self.searched:
            self._pose = drag.escape() if document.solver.restarts else None
            self.searched = True
            self.meets = self._pose is not None and still_report(replace(document, pose=self._pose)) is not None
        return self._pose is not None

    def step(self) -> Step:
        """The undo step to the pose offered."""
        assert self._pose is not None
        before = self._stage.state
        after = replace(before.document, pose=self._pose)
        return Step("Escape", before, State.at_rest(after))


class PoseBlend:
    """Blends from one pose to another, from the next tick on."""

    def __init__(self) -> None:
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
