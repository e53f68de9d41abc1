"""Commands on folders and other sets of inputs, with one output for each input.

This module finds the files that a command line names and the output of each, and processes all of them, on several
processes or a cluster, with a log from which work can be resumed. A command declares its job once: a function of a
module from (options, (input, output)) to a `Result`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeAlias, TypeVar

import msgspec

import viewer
from viewer.cli import job
from viewer.cli.inputs import file_size
from viewer.cli.job import Json, Result, UsageError, fields_of, print_error, print_note, warnings_once
from viewer.cli.options import Spreading
from viewer.cli.workers import Done, tried_each
from viewer.errors import InputError, OutputError, ViewerError, means_full, plural, writing
from viewer.formats.file_formats import READ_IN_FOLDERS, SAMPLE, SESSION_SUFFIX, STANDARD_INPUT, STDIN_STEM, is_session
from viewer.formats.files import read_bytes, sweep, write_whole
from viewer.formats.json_reading import kind_of
from viewer.progress import watched

STEM = "{stem}"
"""The place of an input's name in the name of its output."""

JOURNAL = ".batch.jsonl"
"""The file in the output's folder that logs the result of each input: `Journal`."""

FROM, TO, SIZE = "from", "to", "to_bytes"
"""Keys of a line of `JOURNAL`: input and output as they are seen from its folder, which may be moved with them, and the
size of the output, which another one has after it was cut off or edited."""

O = TypeVar("O", bound=job.Options)

_ANNOUNCED = 20
"""Inputs from which on the command says at once how many there are."""

_APART = frozenset({"resume", "jobs", "scheduler", "output", "force", "json", "file", "paths"})
"""Fields that an output does not depend on."""

OK, FAILED, SET_ASIDE = "ok", "failed", "set aside"
_SYNC = 0.5
"""Seconds between flushes to the disk; what is written reaches the system at once."""


class Input(NamedTuple):
    """A file to read.

    ``stem`` is its name without the suffix; of a file found in a folder with the folders below that one.
    """

    file: str
    stem: str
    suffix: str


Pair: TypeAlias = tuple[Input, Path]


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
        if file.suffix.casefold() in READ_IN_FOLDERS and not file.name.endswith(".schema.json") and file.is_file()
    )
    return found or [name]


def check_no_folder(file: str) -> None:
    """Raise InputError for a folder in which `files_of` found nothing."""
    if is_folder(file):
        raise InputError(f"{file}: expected files that end in {', '.join(READ_IN_FOLDERS)} in this folder, found none")


def inputs_of(names: Sequence[str], beside: Path | None = None) -> list[Input]:
    """The inputs that a list of files and folders means.

    Of a folder, what earlier runs made from other files in it is left out, and so are files of goals, layers and others
    that accompany figures; notes say so. ``beside`` is the folder of the outputs: if it lies inside a folder in
    ``names``, its files are not inputs.
    """
    found = []
    for name in names:
        files = files_of(name)
        within = Path(name) if files != [name] else None
        if within is not None:
            if beside is not None and _is_below(beside, within):
                files = [file for file in files if not _is_below(Path(file), beside)]
            made = _made_from_others(within)
            apart = {file: "made from others in it by earlier runs" for file in files if os.path.realpath(file) in made}
            apart |= {file: "of goals, layers or such" for file in files if file not in apart and _accompanies(file)}
            for why, count in Counter(apart.values()).items():
                print_note(f"{name}: left out {f'{count} files' if count > 1 else 'a file'} {why}")
            files = [file for file in files if file not in apart] or [name]
        for file in files:
            check_no_folder(file)
            found.append(_input(file, within))
    return found


def _accompanies(file: str) -> bool:
    """Whether a file is JSON of another kind than a skeleton: goals, layers, contacts, a map, a pose."""
    path = Path(file)
    if path.suffix.casefold() != ".json" or is_session(path):
        return False
    with contextlib.suppress(ViewerError, ValueError):  # said when it is read
        parts = msgspec.json.decode(read_bytes(path, file), type=dict[str, msgspec.Raw])
        word = parts.get("type")
        return kind_of({**parts, "type": word and msgspec.json.decode(word)}) != "skeleton"
    return False


def _made_from_others(folder: Path) -> set[str]:
    """Real paths of files that `JOURNAL`s in a folder and below call outputs of files in that folder.

    An output whose input no longer exists does not count as made from others.
    """
    made = set()
    for log in folder.rglob(JOURNAL):
        for entry in _entries(log):
            with contextlib.suppress(ValueError, TypeError):  # nothing was made, or no log
                given, out = (log.parent / entry[key] for key in (FROM, TO) if key in entry)
                if given.is_file() and _is_below(given, folder) and not out.samefile(given):
                    made.add(os.path.realpath(out))
    return made


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
    """Where outputs go: the value of ``-o``."""

    pattern: str

    @property
    def is_template(self) -> bool:
        """Whether it is a name with `STEM` in it."""
        return STEM in self.pattern

    def is_for_many(self, *, lone: bool = False) -> bool:
        """Whether there is an output for each input; if not, the destination is one file.

        A folder is there, or its name has no suffix; for a ``lone`` input, whose output may be one file, both.
        """
        named = self.is_template or self.pattern.endswith(("/", os.sep))
        return named or (all if lone else any)((not Path(self.pattern).suffix, is_folder(self.pattern)))

    @property
    def folder(self) -> Path:
        """The folder that contains all outputs."""
        if not self.is_template:
            return Path(self.pattern)
        path = Path(self.pattern)
        while STEM in str(path):
            path = path.parent
        return path

    def output_of(self, given: Input, suffixes: Sequence[str], suffix: str) -> Path:
        """The output of an input; in a folder it keeps a suffix that is one of these, or gets ``suffix``."""
        if self.is_template:
            return Path(self.pattern.replace(STEM, given.stem))
        return Path(self.pattern) / (given.stem + (given.suffix if given.suffix.casefold() in suffixes else suffix))


def check_apart(pairs: Sequence[Pair]) -> None:
    """Raise InputError if two inputs have the same output, of which only the last would remain, or are the same."""
    taken: dict[str, str] = {}
    for given, out in pairs:
        real = os.path.realpath(out)  # some systems do not distinguish ``A`` from ``a``
        first = taken.setdefault(real.casefold() if sys.platform in {"win32", "darwin"} else real, given.file)
        if first is not given.file:
            if first == given.file:
                raise InputError(f"{first}: expected each input once, found it twice")
            both = f"{first} and {given.file}"
            raise InputError(f"{out}: would be written from {both}: rename one, or give them different folders")


Work: TypeAlias = Callable[[O, Pair], Result]


class Kind(NamedTuple):
    """What a command does to each of many inputs.

    Attributes:
        doing: "converting", of the progress bar.
        done: "converted", of the last line.
        suffixes: of outputs that keep their input's suffix.
        suffix: of all others, and of all if there are no ``suffixes``.
        check: of an output, before anything is written; raises a ViewerError.
        noun: what an input is called.
    """

    doing: str
    done: str
    suffixes: Sequence[str] = ()
    suffix: str = ".json"
    check: Callable[[Path], object] = str
    noun: str = "file"


def is_many(file: str, output: str | None) -> bool:
    """Whether a command line asks for outputs of their own: the input is a folder, or the output is for many."""
    return is_folder(file) or (output is not None and Destination(output).is_for_many(lone=True))


def refuse_resume(spread: Spreading) -> None:
    """Raise UsageError for ``--resume`` where there are no outputs for many."""
    if spread.resume:
        raise UsageError(f"argument --resume: expected -o FOLDER or -o '{STEM}.glb' with it")


def one_or_each(
    kind: Kind, work: Callable[[O], Result], options: O, file: str, output: str | None, spread: Spreading
) -> Result | Iterator[Result]:
    """Do the work on a command's ``file``, or on every file of that folder; ``options`` hold all three.

    A folder needs a destination for many outputs: else it is wrong usage.
    """
    if not is_many(file, output):
        refuse_resume(spread)
        return work(options)
    if output is None:
        command = type(options).__name__.removesuffix("Options").lower()
        raise UsageError(f"argument -o: several inputs need it: ikviewer {command} ... -o FOLDER or -o '{STEM}.json'")
    if not Destination(output).is_for_many():
        ends = Path(output).suffix
        raise UsageError(f"argument -o: {output} is one file: expected -o FOLDER or -o '{STEM}{ends}'")
    return on_each(kind, partial(_file_to_file, work), options, [file], output, spread)


def _file_to_file(work: Callable[[O], Result], options: O, pair: Pair) -> Result:
    """The work on one file; its document says of which."""
    names = {"file": pair[0].file, "output": str(pair[1])}
    done = work(options.replaced(**names))
    return done._replace(document={**names, **done.document} if isinstance(done.document, dict) else done.document)


def on_each(
    kind: Kind,
    work: Work[O],
    options: O,
    names: Sequence[str],
    output: str,
    spread: Spreading,
    *,
    kept: str = job.OTHER_NAME,
) -> Iterator[Result]:
    """Do the work on every input; a failure does not stop the others. Yields the results, and last a line about all.

    Names are those that were typed, and the output is a folder, or a name with `STEM`. ``kept`` is what a message
    advises where an input would be replaced; "": it may be.

    Raises:
        ViewerError: nothing was written: outputs that collide, that replace inputs, or cannot be written; or the disk
            is full.
        KeyboardInterrupt: after the inputs in work are done.
    """
    destination = Destination(output)
    given = inputs_of(names, destination.folder)
    pairs = [(each, destination.output_of(each, kind.suffixes, kind.suffix)) for each in given]
    check_apart(pairs)
    for _, out in pairs:
        kind.check(out)
    outputs = [out for _, out in pairs]
    job.check_kept(outputs, job.named_files(options, written=False))
    if kept:
        job.check_kept(outputs, [each.file for each in given], kept)
    if os.path.lexists(destination.folder) and not is_folder(str(destination.folder)):
        raise InputError(f"{destination.folder}: expected a folder for the outputs, found a file")
    _check_common(options)
    journal = Journal(destination.folder / JOURNAL, options_text(options))
    with closing(journal):
        rest = journal.begin(pairs, resume=spread.resume)
        if spread.resume:  # a run that was killed may have left temporary files
            for folder in {out.parent for _, out in pairs}:
                sweep(folder)
        for line in journal.aside:
            print_note(f"warning: as before: {line}")
        if len(rest) >= _ANNOUNCED:
            processes = f"{spread.jobs} process{'es' if spread.jobs > 1 else ''}"
            print_note(f"{len(rest)} files, {f'on {spread.scheduler}' if spread.scheduler else processes}")
        failed = len(journal.aside)
        each = partial(_into, work, options)
        tried = tried_each(each, rest, spread.jobs, spread.scheduler, lambda pair: pair[0].file, journal.add)
        with warnings_once():
            for count, (pair, done) in enumerate(watched(kind.doing, tried, len(rest)), start=1):
                if isinstance(done.result, ViewerError):
                    failed += 1
                    print_error(f"error: {done.result}")
                    yield Result(document={"file": pair[0].file, "error": str(done.result)})
                    if isinstance(done.result, OutputError) and means_full(str(done.result)):  # others would fail, too
                        stopped = f"stopped after {count} of {len(rest)} files"
                        raise OutputError(f"{stopped}: make room, then --resume continues")
                else:
                    yield done.result
    earlier = len(pairs) - len(rest) - len(journal.aside)
    document: Json = {f"{kind.noun}s": len(pairs), "done_before": earlier, "failed": failed}
    totals = f"{len(pairs) - earlier - failed} of {plural(len(pairs), kind.noun)} {kind.done}"
    totals += (f", {earlier} done before" if earlier else "") + (f", {failed} failed" if failed else "")
    yield Result(notes=[totals], document=document, code=1 if failed else 0)


def _check_common(options: job.Options) -> None:
    """Raise InputError if a file that every input needs, such as the rig, is not there: all would fail."""
    values = options.values()
    for field in fields_of(type(options)):
        value = values[field.name]
        is_file = field.reads and field.name not in _APART and not field.words and isinstance(value, str)
        if is_file and value != STANDARD_INPUT and not value.startswith(SAMPLE) and not os.path.exists(value):  # noqa: PTH110 - as `is_folder`
            raise InputError(f"{value}: no such file or folder")


def _into(work: Work[O], options: O, pair: Pair) -> Result:
    """The work on one input; the output's folder is created if it does not exist."""
    with writing(pair[1]):
        pair[1].parent.mkdir(parents=True, exist_ok=True)
    return work(options, pair)


def options_text(options: job.Options) -> str:
    """The options that an output depends on, as text; without the inputs and where outputs go."""
    values = options.values()
    names = [field.name for field in fields_of(type(options)) if field.name not in _APART]
    return " ".join(f"{name}={values[name]}" for name in sorted(names) if values[name] is not None)


# --- the log, from which ``--resume`` knows what is done


class Journal:
    """The log of a batch, one JSON object per input on a line of `JOURNAL`, for ``--resume`` and for scripts.

    A line has the input's name, size, time of change and SHA-256, the output, the options and the version that made it,
    the status, the error, seconds and the most memory of the process so far; where an output was made, also where both
    are as seen from the log, by which `inputs_of` tells it from inputs.
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
        """The errors of inputs that an earlier run has set aside and that have not changed since."""
        return tuple(self._aside.values())

    def begin(self, pairs: Sequence[Pair], *, resume: bool) -> list[Pair]:
        """Begin the log, and return the inputs that are not done yet.

        With ``resume`` these are without those that the log says are done, or set aside.
        """
        logged = self._logged()
        if resume:
            self._look_up(pairs, logged)
        with writing(self._path):
            self._path.parent.mkdir(parents=True, exist_ok=True)
        # Outputs of other runs into this folder are known by their lines, which stay.
        ours = {str(out) for _, out in pairs}
        others = [json.dumps(entry) for out, entry in logged.items() if out not in ours and self._is_there(entry)]
        # Whole, so that a run that is killed here loses nothing.
        write_whole(self._path, "".join(f"{line}\n" for line in (*others, *self._kept.values())))
        return [(given, out) for given, out in pairs if str(out) not in self._kept]

    def add(self, pair: Pair, done: Done) -> None:
        """Log the result of one input."""
        given, out = pair
        error = done.result if isinstance(done.result, ViewerError) else None
        status = SET_ASIDE if done.set_aside else OK if error is None else FAILED
        line = self._line(given, out) | {
            "sha256": _digest(given.file), "version": viewer.__version__, "status": status, "ok": error is None,
            "error": None if error is None else str(error), "seconds": round(done.seconds, 4),
            "peak_mb": round(done.peak_mb, 1),
        }  # fmt: skip
        if line["bytes"] is not None and error is None:
            line |= {FROM: self._seen(Path(given.file)), TO: self._seen(out), SIZE: file_size(out)}
        with writing(self._path):
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

    def _logged(self) -> dict[str, dict[str, object]]:
        """The lines of earlier runs by output, the last of each."""
        return {str(entry.get("output")): entry for entry in _entries(self._path)}

    def _is_there(self, entry: dict[str, object]) -> bool:
        """Whether the output of a line, one that was made, is still there."""
        out = entry.get(TO)
        return isinstance(out, str) and (self._path.parent / out).is_file()

    def _look_up(self, pairs: Iterable[Pair], found: dict[str, dict[str, object]]) -> None:
        """Keep the lines of inputs that are done: unchanged since, with the same options, and their output exists."""
        for given, out in pairs:
            entry = found.get(str(out), {})
            if not self._holds(entry, given, out):
                continue
            if entry.get("ok") is True and (size := file_size(out)) is not None and entry.get(SIZE, size) == size:
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

    def _seen(self, path: Path) -> str:
        """A path from the log's folder on; absolute on another drive."""
        with contextlib.suppress(ValueError):
            return os.path.relpath(os.path.realpath(path), os.path.realpath(self._path.parent))
        return os.path.realpath(path)


def _entries(log: Path) -> Iterator[dict[str, Any]]:
    """The objects of a `JOURNAL`; none if it cannot be read."""
    with contextlib.suppress(OSError):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError):  # a last line that was cut off by a crash
                if isinstance(entry := json.loads(line), dict):
                    yield entry


def _digest(file: str) -> str | None:
    """The SHA-256 of a file; None of what is no file, such as a sample."""
    with contextlib.suppress(OSError, ValueError), Path(file).open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
    return None
