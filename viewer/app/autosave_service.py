"""Recovery files while a window runs, recovery after a crash, and preferences when the window closes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from viewer.app.layout import Layout
from viewer.document import Action, Document
from viewer.errors import ViewerError
from viewer.formats.files import sweep, write_whole
from viewer.session.autosave import Autosave, Recovery, recoveries, sweep_locks
from viewer.session.session_files import Kept, MotionError, open_session, session_bytes
from viewer.session.user_files import config_folder, recovery_folder, save_preferences
from viewer.ui.controller import Controller
from viewer.ui.view import Message


@dataclass(frozen=True, slots=True)
class Recovered(Action):
    """Marks a recovered document as modified, with an undo step of its own."""

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return "Recover work"

    def apply(self, document: Document) -> Document:
        """An equal document, which is another object."""
        return replace(document)


class AutosaveService:
    """Saves a window's unsaved work in a ``folder``, and the user's preferences in a file; None: the user's own."""

    def __init__(
        self, controller: Controller, layout: Layout, folder: Path | None = None, preferences: Path | None = None
    ) -> None:
        self._controller, self._layout = controller, layout
        self._folder, self._preferences = folder, preferences
        self._autosave = Autosave(folder)
        self._since: float | None = None
        self._seen: Document | None = None
        self._arranged = controller.session.stage.arranged
        self._problem = ""

    def offer(self) -> None:
        """Offer to recover the work of windows that crashed, the newest last, which is shown lowest."""
        for recovery in reversed(recoveries(self._folder)):
            self._offer(recovery)

    def sweep(self) -> None:
        """Remove partial files of killed programs, in a thread, since a folder may be slow."""
        folders = {Path(place).parent for place in self._controller.view.preferences.recent}
        threading.Thread(target=self._swept, args=(folders,), name="ikviewer-sweep", daemon=True).start()

    def _swept(self, folders: set[Path]) -> None:
        own = self._folder or recovery_folder()
        sweep_locks(own)
        for folder in {own, config_folder(), *folders}:
            sweep(folder)

    def tick(self) -> None:
        """Write a recovery file if the document has changed and is not saved; report problems."""
        self._report()
        session = self._controller.session
        document, arranged = session.document, session.stage.arranged
        same = document is self._seen and arranged == self._arranged
        if same or (session.clock.playing and not session.recorder.recording):
            return
        self._seen, self._arranged = document, arranged
        # A drag or recording in progress is no undo step yet, but it must not be lost either.
        if session.modified or session.recorder.recording or session.gestures.label is not None:
            self._since = self._since or time.time()
            self._autosave.keep(document, self._kept(), session.action_log, session.stage.figures)
        elif self._since is not None:
            self._since = None
            self._autosave.saved()

    def _report(self) -> None:
        """Show why no recovery file could be written, until it could."""
        if self._autosave.problem != self._problem:
            self._problem = self._autosave.problem
            self._controller.view.bar.done("autosave")
            if self._problem:
                self._controller.view.post(Message(f"Autosave: {self._problem}", "error", about="autosave"))

    def rescue(self) -> Path | None:
        """Write unsaved work before the program ends with an error; returns the file, None if nothing was written."""
        session = self._controller.session
        if not (session.modified or session.recorder.recording or session.gestures.label is not None):
            return None
        try:
            self._autosave.path.parent.mkdir(parents=True, exist_ok=True)
            actions = None if session.action_log is None else session.action_log.written(last=session.document)
            figures, document = session.stage.figures, session.document
            content = session_bytes(document, kept=self._kept(), actions=actions, figures=figures)
            write_whole(self._autosave.path, content)
        except (OSError, ViewerError):
            return None
        return self._autosave.path

    def close(self) -> None:
        """Remove the recovery file and save the preferences: the window closes normally."""
        self._autosave.close()
        preferences = self._controller.view.preferences
        preferences.layout, preferences.closed_panels = self._layout.sizes, sorted(self._layout.closed)
        try:
            save_preferences(preferences, self._preferences)
        except ViewerError:
            return  # a folder that cannot be written must not prevent the window from closing

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
        """Recover it once the current document is saved or discarded; the offer stays until then."""
        self._offer(recovery)
        (offer,) = self._controller.view.bar.messages[-1:]
        self._controller.files.unless_unsaved(lambda: self._recover(recovery, offer))

    def _recover(self, recovery: Recovery, offer: Message) -> None:
        """Show the recovered work as unsaved; if its motion is missing, say so and keep the recovery file."""
        controller, kept = self._controller, recovery.kept
        missing = None
        try:
            try:
                opened = open_session(recovery.path)
            except MotionError as error:  # sessions of older versions left the motion in its own file
                missing = error.file_of_motion
                opened = open_session(recovery.path, motion=False)
        except ViewerError as error:
            controller.view.fail(error)
            return
        controller.view.bar.close(offer)
        path = None if kept.path is None else Path(kept.path)
        controller.opening.show(opened.document, path, kept.sha256, opened.figures)
        controller.session.dispatch(Recovered())
        if missing is not None:
            controller.opening.note_motion(missing, without=True)
        else:
            recovery.discard()
