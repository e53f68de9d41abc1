"""Recovery files while a window runs, preferences when it closes, and what a crash has left behind."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from viewer.app.layout import Layout
from viewer.document.document import Action, Document
from viewer.errors import ViewerError
from viewer.formats.files import sweep, write_whole
from viewer.session.autosave import Autosave, Recovery, recoveries, sweep_locks
from viewer.session.files import Kept, MotionError, open_session, session_bytes
from viewer.session.folders import config_folder, recovery_folder
from viewer.session.preferences import save_preferences
from viewer.ui.controller import Controller
from viewer.ui.messages import Message


@dataclass(frozen=True, slots=True)
class Recovered(Action):
    """The document is the one of a recovery file: until it is saved there is something to lose."""

    @property
    def label(self) -> str:
        """Name of the undo step."""
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
        """Offer all that windows which ended without closing have left, the newest last: it is shown lowest."""
        for recovery in reversed(recoveries(self._folder)):
            self._offer(recovery)

    def sweep(self) -> None:
        """Remove what programs that were killed have left half done, in a thread: a folder may be slow."""
        folders = {Path(place).parent for place in self._controller.view.preferences.recent}
        threading.Thread(target=self._swept, args=(folders,), name="ikviewer-sweep", daemon=True).start()

    def _swept(self, folders: set[Path]) -> None:
        own = self._folder or recovery_folder()
        sweep_locks(own)
        for folder in {own, config_folder(), *folders}:
            sweep(folder)

    def tick(self) -> None:
        """Hand the document over if it is another one, and is not saved; say how the writing goes."""
        self._say()
        session = self._controller.session
        document = session.document
        if document is self._seen or (session.clock.playing and not session.recorder.recording):
            return
        self._seen = document
        # What is under way is no step yet, but it is work: a long drag or recording can be lost, too.
        if session.modified or session.recorder.recording or session.gestures.label is not None:
            self._since = self._since or time.time()
            self._autosave.keep(document, self._kept(), session.action_log)
        elif self._since is not None:
            self._since = None
            self._autosave.saved()

    def _say(self) -> None:
        """Why nothing could be written; it goes away once that has worked."""
        if self._autosave.problem != self._problem:
            self._problem = self._autosave.problem
            self._controller.view.bar.done("autosave")
            if self._problem:
                self._controller.view.post(Message(f"Autosave: {self._problem}", "error", about="autosave"))

    def rescue(self) -> Path | None:
        """Write what is not saved at once: the program is about to end by its own fault; None if there is nothing."""
        session = self._controller.session
        if not (session.modified or session.recorder.recording or session.gestures.label is not None):
            return None
        try:
            self._autosave.path.parent.mkdir(parents=True, exist_ok=True)
            actions = None if session.action_log is None else session.action_log.written(last=session.document)
            write_whole(self._autosave.path, session_bytes(session.document, kept=self._kept(), actions=actions))
        except (OSError, ViewerError):
            return None
        return self._autosave.path

    def close(self) -> None:
        """The window closes in good order."""
        self._autosave.close()
        preferences = self._controller.view.preferences
        preferences.layout = self._layout.to_dict()
        try:
            save_preferences(preferences, self._preferences)
        except ViewerError:
            return  # a folder that cannot be written keeps nobody from closing a window

    def _kept(self) -> Kept:
        session, now = self._controller.session, time.time()
        path = None if session.path is None else str(session.path)
        return Kept(
            at=now, since=self._since or now, path=path, sha256=session.file_digest, name=self._controller.files.name
        )

    def _offer(self, recovery: Recovery) -> None:
        kept, minutes = recovery.kept, max(1, round(recovery.minutes))
        when = time.localtime(kept.at)
        today = when[:3] == time.localtime()[:3]
        clock = time.strftime("%H:%M" if today else "%H:%M on %d %b", when)
        name = kept.name or (Path(kept.path).name if kept.path else "")
        text = (
            f"ikviewer stopped unexpectedly at {clock}. Recover {minutes} min of work{f' on {name}' if name else ''}?"
        )
        actions = (("Recover", lambda: self._ask(recovery)), ("Discard", recovery.discard))
        self._controller.view.post(Message(text, "error", actions, stays=True))

    def _ask(self, recovery: Recovery) -> None:
        """Recover it, once what is shown is saved or given up; the offer stays until then."""
        self._offer(recovery)
        (offer,) = self._controller.view.bar.messages[-1:]
        self._controller.files.unless_unsaved(lambda: self._recover(recovery, offer))

    def _recover(self, recovery: Recovery, offer: Message) -> None:
        """Show it as unsaved work; what of it is not there is said, and what is not recovered whole stays."""
        controller, kept = self._controller, recovery.kept
        missing = None
        try:
            opened = open_session(recovery.path)
        except MotionError as error:  # of an older program: motion stayed in its own file
            missing = error.file_of_motion
        except ViewerError as error:
            controller.view.fail(error)
            return
        try:
            opened = opened if missing is None else open_session(recovery.path, motion=False)
        except ViewerError as error:
            controller.view.fail(error)
            return
        controller.view.bar.close(offer)
        controller.opening.show(opened.document, None if kept.path is None else Path(kept.path), kept.sha256)
        controller.session.dispatch(Recovered())
        if missing is not None:
            controller.opening.note_motion(missing, without=True)
        else:
            recovery.discard()
