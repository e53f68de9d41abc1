"""Commands on files, and the question whether to save first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from viewer.errors import shown
from viewer.formats.load import SAMPLE
from viewer.session.demos import PREFIX
from viewer.session.files import SUFFIX, digest_on_disk
from viewer.ui import clipboard, documents
from viewer.ui.commands import Handler, Handlers

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

Answer = Literal["save", "discard", "cancel"]
ChangedAnswer = Literal["replace", "reload", "save as", "cancel"]


class Files:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """Nothing is being asked."""
        self._controller = controller
        self._then: Callable[[], object] | None = None

    # Names

    @property
    def name(self) -> str:
        """The file's name, or the figure's."""
        session = self._controller.session
        if session.path is not None:
            return session.path.name
        source = session.document.character.source.path
        return (
            Path(source).name.removeprefix(SAMPLE).removeprefix(PREFIX)
            if source
            else session.document.skeleton.name or "Untitled"
        )

    @property
    def title(self) -> str:
        """``walk_02.bvh • modified``."""
        name = shown(self.name)
        return f"{name} • modified" if self._controller.session.modified else name

    @property
    def can_reload(self) -> bool:
        """Whether there is a file to read again."""
        session = self._controller.session
        return session.path is not None or session.document.character.source.path is not None

    # Questions

    def unless_unsaved(self, then: Callable[[], object]) -> None:
        """Do something that loses the document; where it has unsaved changes, ask first."""
        self._controller.nudging.finish()  # what is under way is a change, too
        if self._controller.session.modified:
            self._then = then
            self._controller.request("ask-save", self.name)
        else:
            then()

    def answer_save(self, answer: Answer) -> None:
        """What was answered to "ask-save"; what was asked for is done, unless it was to be cancelled.

        A document without a file is saved by a dialogue first: the answer waits until that has saved it.
        """
        if answer == "save":
            self.save()
            return
        then, self._then = self._then, None
        if answer == "discard" and then is not None:
            then()

    def _saved(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()

    # Doing

    def drop(self, paths: Iterable[Path]) -> None:
        """Open what was dropped on the window: the first of the files."""
        first = next(iter(paths), None)
        if first is not None:
            self.open(first)

    def open(self, path: Path | str) -> None:
        """Open a file or ``sample:NAME``, after asking about unsaved changes."""
        kind = clipboard.kind_of_file(path)
        if kind:
            clipboard.take_file(self._controller, Path(path), kind)
        else:
            self.unless_unsaved(partial(documents.open_path, self._controller, path))

    def save(self) -> None:
        """Save where it was saved before; else ask where. Ask first if somebody else has written that file since."""
        self._controller.nudging.finish()
        path = self._controller.session.path
        if path is None:
            self._save_as()
        elif self._written_by_another(path):
            self._controller.request("ask-changed", path.name)
        else:
            self.save_to(path)

    def _written_by_another(self, path: Path) -> bool:
        known = self._controller.session.disk
        now = None if known is None else digest_on_disk(path)
        return now is not None and now != known

    def answer_changed(self, answer: ChangedAnswer) -> None:
        """What was answered to "ask-changed": the file is not as it was when it was opened or saved here."""
        path = self._controller.session.path
        if answer == "replace" and path is not None:
            self.save_to(path)
        elif answer == "save as" and path is not None:
            self._controller.request("save-as-dialog", _free_name(path))
        else:
            self._then = None
            if answer == "reload" and path is not None:
                documents.open_path(self._controller, path)

    def save_to(self, path: Path) -> bool:
        """Save as a session; what waited for it is done. Whether it could be saved."""
        saved = documents.save_to(self._controller, path)
        if saved:
            self._saved()
        return saved

    def reload(self) -> None:
        """Read the file again, after asking about unsaved changes."""
        session = self._controller.session
        path = session.path or session.document.character.source.path
        if path is not None:
            self.unless_unsaved(partial(documents.open_path, self._controller, path))

    def _toggle_actions(self) -> None:
        """Keep all that is done from here on, for somebody to do again; or no longer."""
        controller = self._controller
        on = controller.session.action_log is None
        controller.session.record_actions(on)
        controller.preferences.record_actions = on
        said = "Actions are recorded from here on and saved with the session" if on else "Actions are not recorded"
        controller.note(said)

    def _quit(self) -> None:
        self.unless_unsaved(partial(self._controller.request, "quit"))

    def _save_as(self) -> None:
        self._controller.request("save-as-dialog", documents.proposed_session(self.name))

    def handlers(self) -> Handlers:
        """Of files."""
        request = self._controller.request
        return {
            "file.new": Handler(partial(request, "new-dialog")),
            "file.open": Handler(partial(request, "open-dialog")),
            "file.save": Handler(self.save),
            "file.save_as": Handler(self._save_as),
            "file.export": Handler(partial(request, "export-dialog")),
            "file.reload": Handler(self.reload, lambda: self.can_reload),
            "file.record_actions": Handler(
                self._toggle_actions, checked=lambda: self._controller.session.action_log is not None
            ),
            "file.quit": Handler(self._quit),
            "file.picture": Handler(partial(request, "picture-dialog")),
            "file.film": Handler(partial(request, "film-dialog"), lambda: not self._controller.session.recording),
        }


def _free_name(path: Path) -> str:
    """A name like that of a session which no file has yet: ``walk 2.ikv.json``."""
    stem = path.name[: -len(SUFFIX)] if path.name.casefold().endswith(SUFFIX) else path.stem
    return next(name for n in count(2) if not path.with_name(name := f"{stem} {n}{SUFFIX}").exists())
