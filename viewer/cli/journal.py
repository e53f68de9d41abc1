"""The log of a command on many inputs, from which ``--resume`` knows what is done."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import viewer
from viewer.cli.many import Input
from viewer.cli.workers import Done
from viewer.errors import OutputError, ViewerError

JOURNAL = ".batch.jsonl"
"""The file in the output's folder that logs the result of each input."""

OK, FAILED, SET_ASIDE = "ok", "failed", "set aside"
_SYNC = 0.5
"""Seconds between flushes to the disk; what is written reaches the system at once."""


class Journal:
    """The log of a batch, one JSON object per input on a line of `JOURNAL`, for ``--resume`` and for scripts.

    A line has the input's name, size, time of change and SHA-256, the output, the options and the version that made it,
    the status, the error, seconds and the most memory of the process so far.
    """

    def __init__(self, path: Path, options: str) -> None:
        """``options`` as text: outputs made with other options are made again."""
        self._path, self._options = path, options
        self._kept: dict[str, str] = {}  # the lines of an earlier run that still hold, by output
        self._aside: dict[str, str] = {}
        self._file: TextIO | None = None
        self._synced = 0.0

    @property
    def aside(self) -> tuple[str, ...]:
        """The errors of inputs that an earlier run has set aside, and that are as they were."""
        return tuple(self._aside.values())

    def begin(self, pairs: Sequence[tuple[Input, Path]], *, resume: bool) -> list[tuple[Input, Path]]:
        """Begin the log, and return the inputs that are not done yet.

        Args:
            pairs: inputs with their outputs.
            resume: skip inputs that the log says are done, or set aside.

        Raises:
            OutputError: the log cannot be written, or its folder cannot be created.
        """
        from viewer.formats.files import write_whole

        if resume:
            self._look_up(pairs)
        with self._writing():
            self._path.parent.mkdir(parents=True, exist_ok=True)
        # Whole, so that a run that is killed here loses nothing.
        write_whole(self._path, "".join(f"{line}\n" for line in self._kept.values()))
        return [(given, out) for given, out in pairs if str(out) not in self._kept]

    def add(self, given: Input, out: Path, done: Done) -> None:
        """Log the result of one input.

        Raises:
            OutputError: the log cannot be written.
        """
        error = done.result if isinstance(done.result, ViewerError) else None
        status = SET_ASIDE if done.set_aside else OK if error is None else FAILED
        line = self._line(given, out) | {
            "sha256": _digest(given.file), "version": viewer.__version__, "status": status, "ok": error is None,
            "error": None if error is None else str(error), "seconds": round(done.seconds, 4),
            "peak_mb": round(done.peak_mb, 1),
        }  # fmt: skip
        with self._writing():
            if self._file is None:
                self._file = self._path.open("a", encoding="utf-8")
            self._file.write(f"{json.dumps(line)}\n")
            self._file.flush()
            if time.monotonic() - self._synced > _SYNC:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()

    def close(self) -> None:
        """Flush the log to the disk."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.fsync(self._file.fileno())
            with contextlib.suppress(OSError):
                self._file.close()
            self._file = None

    def _look_up(self, pairs: Iterable[tuple[Input, Path]]) -> None:
        """Keep the lines of inputs that are done: unchanged since, with the same options, and their output exists."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        found: dict[str, dict[str, object]] = {}
        for line in lines:
            with contextlib.suppress(ValueError):  # a last line that was cut off by a crash
                entry = json.loads(line)
                if isinstance(entry, dict):
                    found[str(entry.get("output"))] = entry
        for given, out in pairs:
            entry = found.get(str(out), {})
            if not self._holds(entry, given, out):
                continue
            if entry.get("ok") is True and out.exists():
                self._kept[str(out)] = json.dumps(entry)
            elif entry.get("status") == SET_ASIDE:
                self._kept[str(out)] = json.dumps(entry)
                self._aside[str(out)] = str(entry.get("error"))

    def _holds(self, entry: dict[str, object], given: Input, out: Path) -> bool:
        """Whether a line is about this input as it is now, and these options."""
        now = self._line(given, out)
        if now["bytes"] is None:
            return False
        same = ("file", "output", "bytes", "options")
        if any(entry.get(key) != now[key] for key in same):
            return False
        # A file that was copied or touched has another time; its contents count.
        return entry.get("changed_ns") == now["changed_ns"] or entry.get("sha256") == _digest(given.file)

    def _line(self, given: Input, out: Path) -> dict[str, object]:
        line: dict[str, object] = {"file": given.file, "output": str(out), "bytes": None, "options": self._options}
        with contextlib.suppress(OSError, ValueError):  # standard input and samples have no size or time
            status = Path(given.file).stat()
            line |= {"bytes": status.st_size, "changed_ns": status.st_mtime_ns}
        return line

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        from viewer.formats.files import reason

        try:
            yield
        except OSError as error:
            raise OutputError(f"{self._path}: cannot be written: {reason(error)}") from error


def _digest(file: str) -> str | None:
    """The SHA-256 of a file; None of what is no file, such as a sample."""
    import hashlib

    with contextlib.suppress(OSError, ValueError), Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
    return None
