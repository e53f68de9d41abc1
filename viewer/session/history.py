"""The history of a session: its undo steps."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.errors import InputError
from viewer.session.figures import Arrangement, State

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
