"""Many inputs: the files that a command line names, the output of each, and the work on all of them."""

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
from viewer.cli.inputs import SESSION_SUFFIX, STANDARD_INPUT_STEM, is_standard_input
from viewer.errors import InputError, MachineError, OutputError, ViewerError

O = TypeVar("O")
T = TypeVar("T")
R = TypeVar("R")

Work: TypeAlias = Callable[[O, T], R]
"""What is done to one item with options, in this process or in another one: a function of a module."""

STEM = "{stem}"
"""What stands for the name of an input in the name of its output."""
JOURNAL = ".batch.jsonl"
"""The file in the output's folder that says what became of each input."""

_SAMPLE = "sample:"
_MOST_PROCESSES = 61
"""As many as Windows lets one process wait for."""


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
    """Whether there is a folder of that name; a name that is too long, or holds a NUL, is that of no folder."""
    return os.path.isdir(name)  # noqa: PTH112 - `Path.is_dir` raises OSError there


def files_of(name: str) -> list[str]:
    """The file itself, or the files of known suffixes in a folder and below (the folder itself if it has none)."""
    from viewer.formats.load import READERS

    if not is_folder(name):
        return [name]
    found = sorted(
        str(file)
        for file in Path(name).rglob("*")
        if file.suffix.casefold() in READERS and not file.name.endswith(".schema.json") and file.is_file()
    )
    return found or [name]


def check_no_folder(file: str) -> None:
    """Raise InputError for a folder in which `files_of` found nothing."""
    from viewer.formats.load import READERS

    if is_folder(file):
        raise InputError(f"{file}: expected files that end in {', '.join(READERS)} in this folder, found none")


def inputs_of(names: Sequence[str], beside: Path | None = None) -> list[Input]:
    """The files that names of files and folders stand for.

    Args:
        names: as they were typed.
        beside: the folder of the outputs: where it lies below a folder that was named its files are no inputs.

    Raises:
        InputError: a folder without any.
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
    if is_standard_input(file):
        return Input(file, STANDARD_INPUT_STEM, "")
    if file.startswith(_SAMPLE):
        return Input(file, file.removeprefix(_SAMPLE), "")
    path = Path(file)
    ending = SESSION_SUFFIX if path.name.casefold().endswith(SESSION_SUFFIX) else path.suffix
    place = path.relative_to(folder) if folder is not None else Path(path.name)
    return Input(file, str(place)[: len(str(place)) - len(ending)], ending)


class Destination(NamedTuple):
    """Where outputs go: what ``-o`` names.

    Attributes:
        pattern: the text after ``-o``.
    """

    pattern: str

    @property
    def is_template(self) -> bool:
        """Whether it is a name with `STEM` in it."""
        return STEM in self.pattern

    @property
    def is_for_many(self) -> bool:
        """Whether it gives every input an output of its own; if not, it is one file."""
        ends = self.pattern.endswith(("/", os.sep)) or not Path(self.pattern).suffix
        return self.is_template or ends or is_folder(self.pattern)

    @property
    def folder(self) -> Path:
        """The folder that all outputs are in or below."""
        if not self.is_template:
            return Path(self.pattern)
        path = Path(self.pattern)
        while STEM in str(path):
            path = path.parent
        return path

    def output_of(self, given: Input, *, suffixes: Sequence[str]) -> Path:
        """The output of an input; in a folder it has its input's suffix, ``.json`` where that cannot be written."""
        if self.is_template:
            return Path(self.pattern.replace(STEM, given.stem))
        return Path(self.pattern) / (given.stem + (given.suffix if given.suffix.casefold() in suffixes else ".json"))


def check_not_read(pairs: Sequence[tuple[Input, Path]], hint: str) -> None:
    """Raise InputError if an output, by whatever name, is one of the inputs; ``hint`` says what to do."""
    read = {place: given.file for given, _ in pairs if (place := _place_of(given.file)) is not None}
    for _, out in pairs:
        # The file is written where its name leads: GONE/../NAME is NAME.
        place = _place_of(os.path.realpath(out))
        if place is not None and (file := read.get(place)) is not None:
            leads = "" if str(out) == file else f"leads to {file}, which "
            raise InputError(f"{out}: {leads}is read by this command and would be replaced: {hint}")


def _place_of(file: str) -> tuple[int, int] | None:
    """What distinguishes a file from all others, by whatever name; None if there is none of that name."""
    try:
        status = Path(file).stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def check_apart(pairs: Sequence[tuple[Input, Path]]) -> None:
    """Raise InputError if two inputs would have the same output: one of them would be lost."""
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
    """What became of each input, one JSON object on a line of `JOURNAL`: for ``--resume``, and for scripts."""

    def __init__(self, path: Path, options: str) -> None:
        """Name the file, and the options as text: what other options have made does not count as done."""
        self._path, self._options = path, options
        self._kept: dict[str, str] = {}  # the lines of an earlier run that still hold, by output

    def begin(self, pairs: Sequence[tuple[Input, Path]], *, resume: bool) -> list[tuple[Input, Path]]:
        """Make the folder and the file; returns what is to be done: with ``resume``, what an earlier run has not done.

        Raises:
            OutputError: one of them cannot be made.
        """
        if resume:
            self._look_up(pairs)
        with self._writing():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.write_text("".join(f"{line}\n" for line in self._kept.values()), encoding="utf-8")
        return [(given, out) for given, out in pairs if str(out) not in self._kept]

    def add(self, given: Input, out: Path, error: ViewerError | None) -> None:
        """A line on what became of an input.

        Raises:
            OutputError: it cannot be written.
        """
        line = json.dumps(
            self._line(given, out) | {"ok": error is None, "error": None if error is None else str(error)}
        )
        with self._writing(), self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def _look_up(self, pairs: Sequence[tuple[Input, Path]]) -> None:
        """Keep the lines of inputs that are done: unchanged since, the same options, their output still there."""
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return
        found: dict[str, dict[str, object]] = {}
        for line in lines:
            with contextlib.suppress(ValueError):  # the last one, if the machine went down in the middle of it
                entry = json.loads(line)
                if isinstance(entry, dict):
                    found[str(entry.get("output"))] = entry
        for given, out in pairs:
            now, entry = self._line(given, out), found.get(str(out), {})
            if entry.get("ok") is True and now["bytes"] is not None and out.exists() and now.items() <= entry.items():
                self._kept[str(out)] = json.dumps(entry)

    def _line(self, given: Input, out: Path) -> dict[str, object]:
        line: dict[str, object] = {"file": given.file, "output": str(out), "bytes": None, "options": self._options}
        with contextlib.suppress(OSError, ValueError):  # whether it has changed cannot be known of what is no file
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
    """Every item with what ``work(options, item)`` gave, in order; an error of one is given in its place.

    Args:
        work: a function of a module, so that other processes find it.
        options: of the command.
        items: what it is done to.
        name: of an item, for messages.
        jobs: how many processes work; with 1 it is this one alone.

    Raises:
        MachineError: what one item lacks all of them do.
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
    """In a process that is to work: Ctrl+C is its parent's business."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    output.make_streams_safe()
    output.be_quiet(quiet, debug=debug)


def _apart(work: Work[O, T, R], options: O, item: T, name: str) -> tuple[R | ViewerError, str]:
    """In another process: the result, and what went to stderr, which the first process prints in its order."""
    import numpy as np

    printed = io.StringIO()
    with contextlib.redirect_stderr(printed), np.errstate(over="ignore", invalid="ignore"):
        result = _attempt(work, options, item, name)
    return result, printed.getvalue()


def _attempt(work: Work[O, T, R], options: O, item: T, name: str) -> R | ViewerError:
    """The result, or the error of this one item: neither a bad file nor a fault of ours leaves the others undone."""
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
