"""Autosave: a worker thread writes changed documents; recovery files left behind by windows that crashed."""

from __future__ import annotations

import secrets
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from viewer.document import Document
from viewer.errors import ViewerError, reason
from viewer.formats.files import write_whole
from viewer.locks import is_of, lock, remove_if_free
from viewer.session.action_log import ActionLog
from viewer.session.figures import Arrangement
from viewer.session.session_files import SUFFIX, Kept, read_kept, session_bytes
from viewer.session.user_files import recovery_folder, remove

SECONDS_BETWEEN = 2.0
"""Least seconds between two writes."""
FIRST_RETRY, LONGEST_RETRY = 1.0, 10.0
"""Seconds until a failed write is tried again: doubled each time, up to the second value."""
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
        """Create the folder if needed, and lock this window's file.

        Raises:
            OSError: the folder or file cannot be created.
        """
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
    def minutes(self) -> float:
        """Minutes of unsaved work in it."""
        return max(0.0, self.kept.at - self.kept.since) / 60.0

    def discard(self) -> None:
        """Remove it, when it is discarded or open again."""
        for path in (self.path, self.path.with_suffix(".lock")):
            remove(path)


def recoveries(folder: Path | None) -> tuple[Recovery, ...]:
    """Recoverable documents, newest first; those of windows that are still open are not among them."""
    location = folder or recovery_folder()
    found = []
    for path in sorted(location.glob(f"*{SUFFIX}")) if location.is_dir() else []:
        if not _is_left(path):
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
