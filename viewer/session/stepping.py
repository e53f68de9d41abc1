"""The state of a session and its undo steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from viewer.document.actions.base import Action
from viewer.document.document import Document
from viewer.document.effector_transform import still_report
from viewer.document.report import Report
from viewer.session.history import History, State, Step
from viewer.session.solving import Solvers, settle
from viewer.skeleton.pose import Pose
from viewer.skeleton.relaxed import blend_poses

_NEAR = 1e-9
"""Of a quaternion's component, or metres: a pose that is nearer is the same but for rounding."""
BLEND = 0.2
"""Seconds in which another pose is blended in."""


@dataclass(slots=True)
class Blend:
    """A pose on its way to that of a state.

    Attributes:
        start: the pose it comes from.
        after: the state that it leads to.
        began: when; None until the first tick.
    """

    start: Pose
    after: State
    began: float | None = None


class Stepping:
    """The document shown, actions on it, undo and redo.

    Attributes:
        revision: counts everything that changes what is to be seen.
    """

    def __init__(self, state: State) -> None:
        """Begin with a state."""
        self.revision = 0
        self._state = state
        self._history = History()
        self._saved_step: Step | None = None
        self._solvers = Solvers()
        self._blend: Blend | None = None

    @property
    def document(self) -> Document:
        """What is shown; while a pose is blended in, the pose on its way."""
        return self._state.document

    @property
    def report(self) -> Report | None:
        """What is said of the last solve; None where the pose shown was not solved and misses a goal."""
        return self._state.report

    def _show(self, state: State) -> None:
        self._state = state
        self.revision += 1

    def dispatch(self, action: Action) -> None:
        """Do an action, solve anew if it calls for that, and note one undo step; nothing where nothing changes.

        A gesture that is under way is committed first.

        Raises:
            InputError: what is asked cannot be done; all is as it was.
        """
        self._conclude()
        after = self._after(action)
        if after is not None:
            self._add(action.label, after, saved=action.saved)

    def _after(self, action: Action) -> State | None:
        """The state after an action; None where it changes nothing."""
        before = self._state
        changed = action.apply(before.document)
        if changed is before.document:
            return None
        if action.solves:
            afresh = changed.solver.bend not in {None, before.document.solver.bend}
            return settle(changed, self._solvers, restarts=action.restarts, afresh=afresh)
        untouched = changed.goals is before.document.goals and near(changed.pose, before.document.pose)
        return State(changed, before.report if untouched else still_report(changed))

    def _add(self, label: str, after: State, *, before: State | None = None, saved: bool = True) -> None:
        """Note an undo step and show where it led."""
        start = self._state if before is None else before
        if after.document is not start.document:
            self._history.add(Step(label, start, after, saved=saved))
        self._show(after)

    def undo(self) -> bool:
        """Back to before the last step: the very document it began with. Whether there was one.

        A gesture that is under way is cancelled: that is the step.
        """
        if self._abandon():
            return True
        step = self._history.undo()
        if step is not None:
            self._leave(step.before)
        return step is not None

    def redo(self) -> bool:
        """Forward to after the step that was undone last. Whether there was one."""
        self._conclude()
        step = self._history.redo()
        if step is not None:
            self._leave(step.after)
        return step is not None

    def go_to(self, index: int) -> None:
        """To where so many steps are done, 0 for the start.

        Raises:
            InputError: there are not so many.
        """
        self._conclude()
        state = self._history.go_to(index)
        if state is not None:
            self._leave(state)

    def _leave(self, state: State) -> None:
        """Show a state of the history."""
        self._blend = None
        self._show(state)

    @property
    def history(self) -> tuple[str, ...]:
        """What each step is called, those that are undone included."""
        return self._history.labels

    @property
    def history_index(self) -> int:
        """How many steps are done."""
        return self._history.index

    @property
    def undo_depth(self) -> int:
        """Steps that can be undone."""
        return self._history.index

    @property
    def redo_depth(self) -> int:
        """Steps that can be done again."""
        return len(self._history) - self._history.index

    def _conclude(self) -> None:
        """Bring to its end what is under way."""
        if self._blend is not None:
            after, self._blend = self._blend.after, None
            self._show(after)

    def _abandon(self) -> bool:
        """Take back what is under way and not a step yet; whether anything was."""
        self._conclude()
        return False

    def _tick_blend(self, now: float) -> bool:
        blend = self._blend
        if blend is None:
            return False
        blend.began = now if blend.began is None else blend.began
        part = (now - blend.began) / BLEND
        if not 0.0 <= part < 1.0:
            self._conclude()
        else:
            pose = blend_poses(blend.start, blend.after.document.pose, part)
            self._show(State(replace(blend.after.document, pose=pose), blend.after.report))
        return True


def near(one: Pose, other: Pose) -> bool:
    """Whether two poses are the same but for rounding, as by a key."""
    if one is other or one.rotations.shape != other.rotations.shape:
        return one is other
    pairs = (one.rotations, other.rotations), (one.translations, other.translations)
    return all(float(np.abs(a - b).max()) < _NEAR for a, b in pairs)
