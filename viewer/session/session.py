"""A session: the one hand that moves documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from viewer.document.document import Document
from viewer.document.effector_transform import measured, still_report
from viewer.document.opening import new_document
from viewer.document.report import GoalError
from viewer.session.history import History, State
from viewer.session.script.tape import Taping, taped
from viewer.session.solving import settle
from viewer.skeleton.character import Character


@taped
class Session(Taping):
    """What the window shows, how it came to be, and what is under way.

    Documents are never changed, only exchanged: by actions (`dispatch`), by gestures that make many changes one step
    (`begin` and `begin_drag`, until `commit` or `cancel`), by recording, which is one step, too (`record`), by undo and
    redo, and by playing the clip or take, which is no step.
    A drag is solved in `tick`, by a bounded number of iterations, so that a recorded session replays alike.
    Not for use by several threads.

    Attributes:
        path: the session file that it was saved to or opened from, or None.
        disk: SHA-256 of that file's bytes as they were then: whoever has written it since must not be written over
            unasked; None: nothing is known of it.
    """

    def __init__(self, document: Document, path: Path | None = None, disk: str | None = None) -> None:
        """Begin with a document."""
        super().__init__(State(document, still_report(document)))
        self.path, self.disk = path, disk
        self._measured: tuple[Document, dict[str, GoalError]] | None = None

    @property
    def errors(self) -> dict[str, GoalError]:
        """By effector how far its goal is missed in the pose shown, whether it was solved or not."""
        if self._measured is None or self._measured[0] is not self.document:
            self._measured = self.document, measured(self.document)
        return self._measured[1]

    def open(self, character: Character, **options: Any) -> None:  # noqa: ANN401 - passed on as they are
        """Show a character that was just loaded; what was there is forgotten, undo included.

        Raises:
            InputError: as of `new_document`, which takes the options; what was there stays.
        """
        self.replace(new_document(character, **options))

    def replace(
        self, document: Document, path: Path | None = None, disk: str | None = None, *, solve: bool = False
    ) -> None:
        """Show another document, as saved at ``path``; what was there is forgotten, undo included.

        With ``solve`` it is solved first, as `solve` does, which is no step. A document that cannot be shown raises
        before anything is forgotten.
        """
        solved = settle(document, self._solvers, restarts=True) if solve else None
        shown = solved or State(document, still_report(document))
        self._abandon()
        self.stop()
        self.animate(())
        self._history, self._saved_step, self.left = History(), None, None
        self.path, self.disk = path, disk
        self._show(shown)

    def solve(self) -> None:
        """Solve from the pose shown towards the goals, restarts allowed where they are: one undo step.

        Raises:
            InputError: settings or goals that no solver takes.
        """
        self._conclude()
        self._add("Solve", settle(self.document, self._solvers, restarts=True))

    @property
    def modified(self) -> bool:
        """Whether a file of this session would be out of date: selecting and playing do not count, recording does."""
        return self.has_recorded or self._history.last_saved_kind is not self._saved_step

    @property
    def latest_step(self) -> object:
        """The step that a file of this session would end with: another one after whatever would be lost."""
        return self._history.last_saved_kind

    def mark_saved(self, path: Path | None = None, disk: str | None = None) -> None:
        """The document as it is was written to a file."""
        self._conclude()
        self._saved_step = self._history.last_saved_kind
        self.path, self.disk = path or self.path, disk
        self.revision += 1
