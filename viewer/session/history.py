"""Undo and redo: what the document was before and after each step."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.document.document import Document
from viewer.document.report import Report
from viewer.errors import InputError

MOST_STEPS = 500
"""Steps that are kept: documents share their arrays, so a step of a usual figure costs some kilobytes."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A document and the report of its last solve; None where its pose was not solved and misses a goal."""

    document: Document
    report: Report | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One undo step.

    ``before`` is not always the ``after`` of the step before it: between the two the clip may have been played, which
    is no step.

    Attributes:
        label: its name in the history.
        before: what it began with.
        after: what it led to.
        saved: whether it changes what a file would hold: selecting does not.
    """

    label: str
    before: State
    after: State
    saved: bool = True


class UndoHistory:
    """The steps done and undone.

    Attributes:
        index: how many of them are done.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.clear()

    def clear(self) -> None:
        """Forget all steps; the document is as it was saved."""
        self._steps: list[Step] = []
        self.index = 0
        self._forgotten: Step | None = None
        self._in_file: Step | None = None

    def __len__(self) -> int:
        """Steps done and undone."""
        return len(self._steps)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps done and undone, oldest first."""
        return tuple(self._steps)

    @property
    def latest_saved(self) -> Step | None:
        """The last step done that changed what a file would hold."""
        done = reversed(self._steps[: self.index])
        return next((step for step in done if step.saved), self._forgotten)

    @property
    def modified(self) -> bool:
        """Whether a file would hold something else now than when the document was saved."""
        return self.latest_saved is not self._in_file

    def mark_saved(self) -> None:
        """Note that a file holds the document as it is now."""
        self._in_file = self.latest_saved

    def add(self, step: Step) -> None:
        """Add a step; steps that are undone are forgotten, and the oldest ones beyond `MOST_STEPS`."""
        del self._steps[self.index :]
        self._steps.append(step)
        while len(self._steps) > MOST_STEPS:
            oldest = self._steps.pop(0)
            self._forgotten = oldest if oldest.saved else self._forgotten
        self.index = len(self._steps)

    def undo(self) -> Step | None:
        """Step back: the step that is undone, or None."""
        if self.index == 0:
            return None
        self.index -= 1
        return self._steps[self.index]

    def redo(self) -> Step | None:
        """Step forward: the step that is done again, or None."""
        if self.index == len(self._steps):
            return None
        self.index += 1
        return self._steps[self.index - 1]

    def go_to(self, index: int) -> State | None:
        """Go to where so many steps are done; the state there, None where that is here.

        Raises:
            InputError: there are not so many.
        """
        if not 0 <= index <= len(self._steps):
            raise InputError(f"no step {index}: the history has 0 to {len(self._steps)}")
        if index == self.index:
            return None
        back = index < self.index
        self.index = index
        return self._steps[index].before if back else self._steps[index - 1].after
