"""Autosave: recovery files while a window runs, recovery after a crash, and preferences when the window closes.

A thread writes changed documents; files that windows which crashed have left are offered by the next one.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO

from viewer.app.layout import Layout
from viewer.document import Action, Document
from viewer.errors import ViewerError, reason
from viewer.formats.files import sweep, write_whole
from viewer.locks import is_of, lock, remove_if_free
from viewer.session.action_log import ActionLog
from viewer.session.figures import Arrangement
from viewer.session.session_files import SUFFIX, Kept, MotionError, open_session, read_kept, session_bytes
from viewer.session.user_files import config_folder, recovery_folder, remove, save_preferences
from viewer.ui.controller import Controller
from viewer.ui.events import Message

SECONDS_BETWEEN = 2.0
"""Least seconds between two writes."""
FIRST_RETRY, LONGEST_RETRY = 1.0, 10.0
"""Seconds until a failed write is tried again: doubled each time, up to the second value."""
_MOST_LISTED = 5
"""Most recoveries that are listed at once, the newest; the others follow once these are recovered."""
_LOOK_FOR, _LOOK_EVERY = 15.0, 0.5
"""Seconds for which a new window looks for work that is left, and between two looks: a window that was killed just
before holds its lock until its last write is done and its memory is freed."""
SHARE = 8.0
"""Limits the share of time spent writing: after a write of one second, the next is eight seconds later."""


@dataclass(frozen=True, slots=True)
class _Work:
    document: Document
    kept: Kept
    log: ActionLog | None = None
    entries: int = 0
    figures: Arrangement | None = None


class Autosave:
    """Writes a recovery file of one window's document.

    The window hands over each new document; a thread of its own writes the newest. The file is removed when the window
    closes normally.

    ``problem`` is why the last write failed, or ""; it is tried again until it works.
    """

    def __init__(self, folder: Path | None = None, seconds: float = SECONDS_BETWEEN) -> None:
        self.problem = ""
        self._folder = folder or recovery_folder()
        self._seconds = seconds
        self._name = secrets.token_hex(6)
        self._next: _Work | None = None
        self._given: Document | None = None
        self._several = False
        self._held: BinaryIO | None = None
        self._wake = threading.Condition()
        self._disk = threading.Lock()
        self._thread: threading.Thread | None = None
        self._ended = False

    @property
    def path(self) -> Path:
        """The recovery file."""
        return self._folder / f"{self._name}{SUFFIX}"

    def keep(
        self, document: Document, kept: Kept, log: ActionLog | None = None, figures: Arrangement | None = None
    ) -> None:
        """Hand over an unsaved document; cheap, to be called at every change.

        ``figures`` are all, if there are several; the document is then that of the active one.
        """
        if document is self._given and figures is None and not self._several:
            return
        self._given, self._several = document, figures is not None
        with self._wake:
            self._next = _Work(document, kept, log, 0 if log is None else len(log), figures)
            self._wake.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="ikviewer-autosave", daemon=True)
            self._thread.start()

    def saved(self) -> None:
        """The user has saved or discarded the changes: remove the recovery file until the next change."""
        with self._wake:
            self._next = self._given = None
            self._wake.notify()
        with self._disk:
            remove(self.path)
        self.problem = ""

    def close(self) -> None:
        """Stop and remove the files, as the window closes normally."""
        with self._wake:
            self._ended = True
            self._next = None
            self._wake.notify()
        if self._thread is not None:
            self._thread.join()
        for path in (self.path, self.path.with_suffix(".lock")):
            remove(path)

    def _work(self) -> None:
        last, pause = -self._seconds, self._seconds
        retry = FIRST_RETRY
        while work := self._wait(last + pause):
            start = time.monotonic()
            problem = self._problem_of(work)
            last = time.monotonic()
            with self._wake:
                self.problem = problem if self._next is not None else ""  # saved meanwhile
            if problem:
                pause, retry = max(self._seconds, retry), min(2.0 * retry, LONGEST_RETRY)
            else:
                pause, retry = max(self._seconds, SHARE * (last - start)), FIRST_RETRY
        if self._held is not None:
            self._held.close()

    def _wait(self, until: float) -> _Work | None:
        """Wait until it is time to write; the newest document, or None at the end."""
        with self._wake:
            while not self._ended:
                left = until - time.monotonic()
                if self._next is not None and left <= 0.0:
                    return self._next
                self._wake.wait(None if self._next is None else left)
        return None

    def _problem_of(self, work: _Work) -> str:
        """Write a document; the error text, or "". After an error the document is still pending."""
        try:
            self._claim()
        except OSError as error:
            return f"the recovery file cannot be written: {error.filename or self._folder}: {reason(error)}"
        try:
            actions = None if work.log is None else work.log.written(work.entries, work.document)
            content = session_bytes(work.document, kept=work.kept, actions=actions, figures=work.figures)
        except Exception as error:  # noqa: BLE001 - an exception would silently end the thread
            return str(error) if isinstance(error, ViewerError) else f"{type(error).__name__}: {error}"
        # The window waits for this lock only when it removes the file, so never for a slow disk.
        with self._disk:
            with self._wake:
                # The document was saved, discarded or closed meanwhile: do not write it again.
                if self._next is None or self._ended:
                    return ""
            try:
                write_whole(self.path, content)
            except ViewerError as error:
                return str(error)
            with self._wake:
                if self._next is work:
                    self._next = None
        return ""

    def _claim(self) -> None:
        """Create the folder if needed, and lock this window's file; an OSError where that cannot be done."""
        file = self.path.with_suffix(".lock")
        if self._held is not None and is_of(self._held, file):
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._held is not None:
            self._held.close()
        self._held = lock(file)


@dataclass(frozen=True, slots=True)
class Recovery:
    """An unsaved document of a window that ended without closing.

    `viewer.session.session_files.load_session` reads its path. ``kept`` says when it was written, since when it had
    unsaved changes, and the user's own file.
    """

    path: Path
    kept: Kept

    @property
    def words(self) -> str:
        """How much unsaved work is in it, and on what: ``3 min of work on walk.bvh``."""
        minutes = max(1, round((self.kept.at - self.kept.since) / 60.0))
        name = self.kept.name or (Path(self.kept.path).name if self.kept.path else "")
        return f"{minutes} min of work{f' on {name}' if name else ''}"

    @property
    def clock(self) -> str:
        """When it was written, with the day unless that is today."""
        when = time.localtime(self.kept.at)
        return time.strftime("%H:%M" if when[:3] == time.localtime()[:3] else "%H:%M on %d %b", when)

    def discard(self) -> None:
        """Remove it, when it is discarded or open again."""
        for path in (self.path, self.path.with_suffix(".lock")):
            remove(path)


def recoveries(folder: Path | None, known: Collection[Path] = ()) -> tuple[Recovery, ...]:
    """Recoverable documents, newest first; not those of windows that are still open, nor the ``known`` ones."""
    location = folder or recovery_folder()
    found = []
    for path in sorted(location.glob(f"*{SUFFIX}")) if location.is_dir() else []:
        if path in known or not _is_left(path):
            continue
        try:
            found.append(Recovery(path, read_kept(path)))
        except ViewerError:
            # Not a recovery file: leave it.
            continue
    return tuple(sorted(found, key=lambda recovery: -recovery.kept.at))


def sweep_locks(folder: Path) -> None:
    """Remove lock files of windows that have ended and left no recovery file."""
    for path in folder.glob("*.lock") if folder.is_dir() else []:
        if not path.with_suffix(".json").exists():  # the lock of a.ikv.json is a.ikv.lock
            remove_if_free(path)


def _is_left(path: Path) -> bool:
    """Whether the window that wrote it has ended."""
    try:
        held = lock(path.with_suffix(".lock"))
    except OSError:
        return False
    if held is None:
        return False
    held.close()
    return True


# --- the window


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
        self._left: list[Recovery] = []
        self._offered: set[Path] = set()
        self._look_at = self._look_until = 0.0

    def offer(self) -> None:
        """Offer to recover the work of windows that crashed, now and for a while."""
        self._look_until = time.monotonic() + _LOOK_FOR
        self._look()

    def _look(self) -> None:
        found = recoveries(self._folder, self._offered)
        self._offered |= {one.path for one in found}
        self._left += found
        self._look_at = time.monotonic() + _LOOK_EVERY
        if found:
            self._offer()

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
        if self._look_at <= time.monotonic() <= self._look_until:
            self._look()
        if not self._unsaved():
            if self._since is not None:
                self._since = self._seen = None
                self._autosave.saved()
            return
        session = self._controller.session
        document, arranged = session.document, session.stage.arranged
        same = document is self._seen and arranged == self._arranged
        if same or (session.clock.playing and not session.recorder.recording):
            return
        self._seen, self._arranged = document, arranged
        self._since = self._since or time.time()
        self._autosave.keep(document, self._kept(), session.action_log, session.stage.figures)

    def _unsaved(self) -> bool:
        session = self._controller.session
        # A drag or recording in progress is no undo step yet, but it must not be lost either.
        return bool(session.modified or session.recorder.recording or session.gestures.label is not None)

    def _report(self) -> None:
        """Show why no recovery file could be written, until it could."""
        if self._autosave.problem != self._problem:
            self._problem = self._autosave.problem
            self._controller.view.bar.done("autosave")
            if self._problem:
                self._controller.view.post(Message(f"Autosave: {self._problem}", "error", about="autosave"))

    def rescue(self) -> Path | None:
        """Write unsaved work before the program ends with an error; returns the file, None if nothing was written."""
        if not self._unsaved():
            return None
        session = self._controller.session
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

    def _offer(self) -> None:
        """Post one message about all that is left to recover, newest first, in place of the last one."""
        self._controller.view.bar.done("recovery")
        found = self._left
        if not found:
            return
        if len(found) == 1:
            text = f"ikviewer stopped unexpectedly. Recover {found[0].words}, saved at {found[0].clock}?"
            actions: list[tuple[str, Callable[[], object]]] = [
                ("Recover", partial(self._ask, found[0])),
                ("Discard", self._discard),
            ]
        else:
            text = f"ikviewer stopped unexpectedly {len(found)} times. Recover which work?"
            actions = [(f"{one.words}, {one.clock}", partial(self._ask, one)) for one in found[:_MOST_LISTED]]
            actions.append((f"Discard all {len(found)}", self._discard))
        self._controller.view.post(Message(text, "error", tuple(actions), about="recovery", stays=True))

    def _discard(self) -> None:
        while self._left:
            self._left.pop().discard()

    def _ask(self, recovery: Recovery) -> None:
        """Recover it once the current document is saved or discarded; the offer stays until then."""
        self._offer()
        self._controller.files.unless_unsaved(partial(self._recover, recovery))

    def _recover(self, recovery: Recovery) -> None:
        """Show the recovered work as unsaved, and offer the rest; without its motion say so and keep the file."""
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
        self._left.remove(recovery)
        self._offer()
        path = None if kept.path is None else Path(kept.path)
        controller.opening.show(opened.document, path, kept.sha256, opened.figures)
        controller.session.dispatch(Recovered())
        if missing is not None:
            controller.opening.note_motion(missing, without=True)
        else:
            recovery.discard()
