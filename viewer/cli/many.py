"""Commands on many inputs: the files that a command line names, the output of each, and their processing."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

from viewer.cli import output
from viewer.errors import InputError, MachineError, OutputError, ViewerError
from viewer.formats.table import READ, SAMPLE, SESSION_SUFFIX, STANDARD_INPUT, STDIN_STEM, is_session

O = TypeVar("O")
T = TypeVar("T")
R = TypeVar("R")

Work: TypeAlias = Callable[[O, T], R]
"""Processes one item; a function of a module, so that other processes can import it."""

STEM = "{stem}"
"""Stands for the name of an input in the name of its output."""
JOURNAL = ".batch.jsonl"
"""The file in the output's folder that logs the result of each input."""

_MOST_PROCESSES = 61
"""The most that a process can wait for on Windows."""


class Input(NamedTuple):
    """A file to read.

    Attributes:
        file: as it is opened.
        stem: its name without the suffix; of a file found in a folder with the folders below that one.
        suffix: of its name, "" if there is none.
    """

    file: str
    stem: str
    suffix: str


def is_folder(name: str) -> bool:
    """Whether there is a folder of that name; names that are too long or hold a NUL are not folders."""
    return os.path.isdir(name)  # noqa: PTH112 - `Path.is_dir` raises OSError there


def files_of(name: str) -> list[str]:
    """The file itself, or the files of known suffixes in a folder and below (the folder itself if it has none)."""
    if not is_folder(name):
        return [name]
    found = sorted(
        str(file)
        for file in Path(name).rglob("*")
        if file.suffix.casefold() in READ and not file.name.endswith(".schema.json") and file.is_file()
    )
    return found or [name]


def check_no_folder(file: str) -> None:
    """Raise InputError for a folder in which `files_of` found nothing."""
    if is_folder(file):
        raise InputError(f"{file}: expected files that end in {', '.join(READ)} in this folder, found none")


def inputs_of(names: Sequence[str], beside: Path | None = None) -> list[Input]:
    """The inputs that a list of files and folders means.

    Args:
        names: as they were typed.
        beside: the folder of the outputs; if it lies inside a folder in ``names``, its files are not inputs.

    Raises:
        InputError: a folder without files that can be read.
    """
    found = []
    for name in names:
        files = files_of(name)
        within = Path(name) if files != [name] else None
        if within is not None and beside is not None and _is_below(beside, within):
            files = [file for file in files if not _is_below(Path(file), beside)] or [name]
        for file in files:
            check_no_folder(file)
            found.append(_input(file, within))
    return found


def _is_below(path: Path, folder: Path) -> bool:
    inner, outer = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return inner != outer and inner.is_relative_to(outer)


def _input(file: str, folder: Path | None) -> Input:
    if file == STANDARD_INPUT:
        return Input(file, STDIN_STEM, "")
    if file.startswith(SAMPLE):
        return Input(file, file.removeprefix(SAMPLE), "")
    path = Path(file)
    ending = SESSION_SUFFIX if is_session(path) else path.suffix
    place = path.relative_to(folder) if folder is not None else Path(path.name)
    return Input(file, str(place)[: len(str(place)) - len(ending)], ending)


class Destination(NamedTuple):
    """Where outputs go.

    Attributes:
        pattern: the value of ``-o``.
    """

    pattern: str

    @property
    def is_template(self) -> bool:
        """Whether it is a name with `STEM` in it."""
        return STEM in self.pattern

    @property
    def is_for_many(self) -> bool:
        """Whether every input gets an output of its own; if not, the destination is one file."""
        ends = self.pattern.endswith(("/", os.sep)) or not Path(self.pattern).suffix
        return self.is_template or ends or is_folder(self.pattern)

    @property
    def folder(self) -> Path:
        """The folder that contains all outputs."""
        if not self.is_template:
            return Path(self.pattern)
        path = Path(self.pattern)
        while STEM in str(path):
            path = path.parent
        return path

    def output_of(self, given: Input, *, suffixes: Sequence[str]) -> Path:
        """The output of an input; in a folder it keeps the suffix, or gets ``.json`` if that cannot be written."""
        if self.is_template:
            return Path(self.pattern.replace(STEM, given.stem))
        return Path(self.pattern) / (given.stem + (given.suffix if given.suffix.casefold() in suffixes else ".json"))


def check_not_read(pairs: Sequence[tuple[Input, Path]], hint: str) -> None:
    """Raise InputError if an output is one of the inputs, also through links; ``hint`` ends the message."""
    read = {place: given.file for given, _ in pairs if (place := _place_of(given.file)) is not None}
    for _, out in pairs:
        # The file is written where its name leads: GONE/../NAME is NAME.
        place = _place_of(os.path.realpath(out))
        if place is not None and (file := read.get(place)) is not None:
            leads = "" if str(out) == file else f"leads to {file}, which "
            raise InputError(f"{out}: {leads}is read by this command and would be replaced: {hint}")


def _place_of(file: str) -> tuple[int, int] | None:
    """Device and inode of a file, which identify it under any name; None if there is no such file."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def check_apart(pairs: Sequence[tuple[Input, Path]]) -> None:
    """Raise InputError if two inputs have the same output, of which only the last would remain."""
    taken: dict[str, str] = {}
    for given, out in pairs:
        first = taken.setdefault(_key(out), given.file)
        if first is not given.file:
            both = f"{first} twice" if first == given.file else f"{first} and {given.file}"
            raise InputError(f"{out}: would be written from {both}: give each output a name of its own")


def _key(path: Path) -> str:
    """Equal for names of the same file, even where the system does not distinguish ``A`` from ``a``."""
    real = os.path.realpath(path)
    return real.casefold() if sys.platform in {"win32", "darwin"} else real


class Journal:
    """The log of a batch, one JSON object per input on a line of `JOURNAL`, for ``--resume`` and for scripts."""

    def __init__(self, path: Path, options: str) -> None:
        """``options`` as text: outputs made with other options are made again."""
        self._path, self._options = path, options
        self._kept: dict[str, str] = {}  # the lines of an earlier run that still hold, by output

    def begin(self, pairs: Sequence[tuple[Input, Path]], *, resume: bool) -> list[tuple[Input, Path]]:
        """Create the folder and the log; returns the pairs to process: with ``resume`` those that are not done yet.

        Raises:
            OutputError: folder or log cannot be created.
        """
        if resume:
            self._look_up(pairs)
        with self._writing():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("".join(f"{line}\n" for line in self._kept.values()), encoding="utf-8")
        return [(given, out) for given, out in pairs if str(out) not in self._kept]

    def add(self, given: Input, out: Path, error: ViewerError | None) -> None:
        """Log the result of one input.

        Raises:
            OutputError: the log cannot be written.
        """
        line = json.dumps(
            self._line(given, out) | {"ok": error is None, "error": None if error is None else str(error)}
        )
        with self._writing(), self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _look_up(self, pairs: Sequence[tuple[Input, Path]]) -> None:
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
            now, entry = self._line(given, out), found.get(str(out), {})
            if entry.get("ok") is True and now["bytes"] is not None and out.exists() and now.items() <= entry.items():
                self._kept[str(out)] = json.dumps(entry)

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


def done_each(
    work: Work[O, T, R], options: O, items: Sequence[T], name: Callable[[T], str], jobs: int = 1
) -> Iterator[tuple[T, R | ViewerError]]:
    """Yield every item with the result of ``work(options, item)`` or its error, in order.

    Args:
        work: processes one item.
        options: of the command.
        items: to be processed.
        name: of an item, for messages.
        jobs: the number of processes; 1: this one only.

    Raises:
        MachineError: the machine lacks something, and so every item would fail.
    """
    if jobs == 1 or len(items) < 2:
        for item in items:
            yield item, _attempt(work, options, item, name(item))
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    count = min(jobs, len(items), _MOST_PROCESSES)
    pool = ProcessPoolExecutor(count, get_context("spawn"), _begin, (output.is_quiet(), output.is_debug()))
    try:
        running = [pool.submit(_apart, work, options, item, name(item)) for item in items]
        for item, answer in zip(items, running, strict=True):
            try:
                result, printed = answer.result()
            except BrokenProcessPool:
                result = InputError(f"{name(item)}: the process that worked on it was ended from outside")
                printed = ""
            for line in printed.splitlines():
                output.print_error(line)
            yield item, result
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(quiet: bool, debug: bool) -> None:
    """Set up a worker process; its parent handles Ctrl+C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output.make_streams_safe()
    output.be_quiet(quiet, debug=debug)


def _apart(work: Work[O, T, R], options: O, item: T, name: str) -> tuple[R | ViewerError, str]:
    """In a worker process: the result and the output to stderr, which the parent prints in the items' order."""
    import numpy as np

    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), np.errstate(over="ignore", invalid="ignore"):
        result = _attempt(work, options, item, name)
    return result, printed.getvalue()


def _attempt(work: Work[O, T, R], options: O, item: T, name: str) -> R | ViewerError:
    """The result, or the error of this item; neither a bad file nor a bug stops the other items."""
    try:
        return work(options, item)
    except (MachineError, BrokenPipeError):
        raise
    except ViewerError as error:
        failure: ViewerError = error
        cause: Exception = error
    except Exception as error:  # noqa: BLE001 - see above
        from viewer.session.folders import fault_line

        failure, cause = InputError(fault_line(error, name)), error
    if output.is_debug():
        output.print_traceback(cause)
    return failure
