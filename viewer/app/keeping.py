"""What outlives a window: recovery files while it runs, preferences when it ends, what a crash has left behind."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.errors import ViewerError
from viewer.formats.files import write_whole
from viewer.session.actions.base import Action
from viewer.session.autosave import Autosave
from viewer.session.files import Kept, load_session, session_bytes
from viewer.session.preferences import save_preferences
from viewer.session.recovery import recoveries
from viewer.ui import documents
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.app.layout import Layout
    from viewer.session.document import Document
    from viewer.session.recovery import Recovery
    from viewer.ui.controller import Controller


@dataclass(frozen=True, slots=True)
class Recovered(Action):
    """The document is the one of a recovery file: until it is saved there is something to lose."""

    @property
    def label(self) -> str:
        """What the history calls it."""
        return "Recover work"

    def apply(self, document: Document) -> Document:
        """The same document, as a step of its own."""
        return replace(document)


class Keeper:
    """Keeps one window's work and the person's preferences.

    Args:
        controller: of the window.
        layout: of its panels.
        folder: of recovery files; the user's own unless given.
        preferences: file to write when the window closes; the user's own unless given.
    """

    def __init__(
        self, controller: Controller, layout: Layout, folder: Path | None = None, preferences: Path | None = None
    ) -> None:
        """Nothing is written yet."""
        self._controller, self._layout = controller, layout
        self._folder, self._preferences = folder, preferences
        self._autosave = Autosave(folder)
        self._since: float | None = None
        self._seen: Document | None = None
        self._problem = ""

    def offer(self) -> None:
        """Offer what a window that ended without closing has left."""
        for recovery in recoveries(self._folder)[:1]:
            self._controller.post(self._question(recovery))

    def tick(self) -> None:
        """Hand the document over if it is another one, and is not saved."""
        session = self._controller.session
        document = session.document
        if document is self._seen or (session.playing and not session.recording):
            return
        self._seen = document
        # What is under way is no step yet, but it is work: a long drag or recording can be lost, too.
        if session.modified or session.recording or session.gesture is not None:
            self._since = self._since or time.time()
            self._autosave.keep(document, None if session.path is None else str(session.path), session.tape)
        elif self._since is not None:
            self._since = None
            self._autosave.saved()
        if self._autosave.problem != self._problem:
            self._problem = self._autosave.problem
            self._controller.bar.done("autosave")
            if self._problem:
                self._controller.post(Message(f"Autosave: {self._problem}", "error", about="autosave"))

    def rescue(self) -> Path | None:
        """Write what is not saved at once: the program is about to end by its own fault; None if there is nothing."""
        session = self._controller.session
        if not (session.modified or session.recording or session.gesture is not None):
            return None
        path = None if session.path is None else str(session.path)
        kept = Kept(at=time.time(), since=self._since or time.time(), path=path)
        try:
            self._autosave.path.parent.mkdir(parents=True, exist_ok=True)
            actions = None if session.tape is None else session.tape.written(last=session.document)
            write_whole(self._autosave.path, session_bytes(session.document, kept=kept, actions=actions))
        except (OSError, ViewerError):
            return None
        return self._autosave.path

    def close(self) -> None:
        """The window closes in good order."""
        self._autosave.close()
        preferences = self._controller.preferences
        preferences.layout = self._layout.to_dict()
        try:
            save_preferences(preferences, self._preferences)
        except ViewerError:
            return  # a folder that cannot be written keeps nobody from closing a window

    def _question(self, recovery: Recovery) -> Message:
        clock = time.strftime("%H:%M", time.localtime(recovery.kept.at))
        minutes = max(1, round(recovery.minutes))
        text = f"ikviewer stopped unexpectedly at {clock}. Recover {minutes} min of work?"
        return Message(text, "error", (("Recover", lambda: self._recover(recovery)), ("Discard", recovery.discard)))

    def _recover(self, recovery: Recovery) -> None:
        try:
            document = load_session(recovery.path)
        except ViewerError as error:
            self._controller.fail(error)
            return
        path = recovery.kept.path
        documents.show(self._controller, document, None if path is None else Path(path))
        self._controller.session.dispatch(Recovered())
        recovery.discard()
