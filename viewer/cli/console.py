"""The output of commands: lines and JSON on stdout, warnings and progress bars on stderr."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from viewer.errors import OutputError, one_line, reason, visible
from viewer.progress import watched_by

_state = {"quiet": False, "debug": False}

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | int | bool | None"

_WIDTH = 100
"""Most columns of a JSON list or object on one line."""


def make_streams_safe() -> None:
    """Make stdout and stderr accept any character, and replace streams that the shell has closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def be_quiet(quiet: bool, *, debug: bool = False) -> None:
    """Set whether warnings and notes are omitted (``quiet``) and tracebacks are shown (``debug``)."""
    _state["quiet"], _state["debug"] = quiet, debug


def is_quiet() -> bool:
    """Whether warnings and notes are omitted."""
    return _state["quiet"]


def is_debug() -> bool:
    """Whether tracebacks are shown."""
    return _state["debug"]


def print_traceback(error: BaseException) -> None:
    """Print the traceback of an error to stderr."""
    import traceback  # noqa: PLC0415 - only with --debug

    with contextlib.suppress(OSError):
        traceback.print_exception(error)


def print_text(text: str) -> None:
    """Print lines to stdout, with control characters made visible.

    Raises:
        OutputError: stdout cannot be written, as on a full disk.
        BrokenPipeError: the reader of a pipe has closed it.
    """
    with _stdout_errors():
        clear_bars()
        lines = text.split("\n")
        sys.stdout.write("".join(f"{line if line.isprintable() else visible(line)}\n" for line in lines))


def flush() -> None:
    """Flush stdout; raises as `print_text` does."""
    with _stdout_errors():
        sys.stdout.flush()


def drop_stdout() -> None:
    """Discard the rest of stdout, because Python flushes it again when it exits."""
    with contextlib.suppress(OSError, ValueError):  # a replaced stdout may have no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(document: Json) -> None:
    """Print one JSON document to stdout; NaN and infinite numbers become null."""
    print_text(written(_finite(document)))


def written(document: Json, indent: str = "") -> str:
    """JSON text; a list or object that fits is on one line, so that vectors stay readable."""
    import json  # noqa: PLC0415 - only for JSON

    line = json.dumps(document)
    if len(indent) + len(line) <= _WIDTH or not document or not isinstance(document, (dict, list)):
        return line
    inner = indent + " "
    if isinstance(document, dict):
        items = [f"{json.dumps(key)}: {written(value, inner)}" for key, value in document.items()]
    else:
        items = [written(value, inner) for value in document]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    return f"{opening}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{closing}"


def warn(lines: Iterable[str]) -> None:
    """Print warnings to stderr, a line each, unless quiet."""
    for line in lines:
        print_note(f"warning: {line}")


def print_note(line: str) -> None:
    """Print a line to stderr unless quiet."""
    if not is_quiet():
        print_error(line)


@contextlib.contextmanager
def warnings_once(*, on: bool = True) -> Iterator[None]:
    """Within the block, a warning that was already printed about another file is counted, and the counts come last.

    With ``on`` False all are printed, also within another such block.
    """
    global _counts
    before, _counts = _counts, {} if on else None
    try:
        yield
    finally:
        found, _counts = _counts or {}, before
        for text, count in found.items():
            if count > 1:
                print_note(f"warning: {count - 1} more file{'s' if count > 2 else ''}: {text}")


_counts: dict[str, int] | None = None
"""How often each warning was raised about any file; None: they are not counted."""


def _is_repeated(line: str) -> bool:
    word, _, rest = line.partition(": ")
    _, _, text = rest.partition(": ")
    if _counts is None or word != "warning" or not text:
        return False
    _counts[text] = _counts.get(text, 0) + 1
    return _counts[text] > 1


def print_error(line: str) -> None:
    """Print a line to stderr; errors of writing are ignored."""
    if _is_repeated(line):
        return
    clear_bars()
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{one_line(line)}\n")


def _finite(document: Json) -> Json:
    if isinstance(document, dict):
        return {key: _finite(value) for key, value in document.items()}
    if isinstance(document, list):
        return [_finite(value) for value in document]
    return None if isinstance(document, float) and not math.isfinite(document) else document


@contextlib.contextmanager
def _stdout_errors() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"standard output: cannot be written: {reason(error)}") from error


_DELAY = 1.0
"""Seconds of work before a bar is shown for it."""

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {remaining} left"


class _Work:
    """One piece of work: its start, its progress and its bar, once that is shown."""

    def __init__(self, total: int) -> None:
        self.total, self.since, self.done = total, time.monotonic(), 0
        self.bar: Any = None

    def update(self, what: str, done: int) -> None:
        if self.bar is None and time.monotonic() - self.since >= _DELAY:
            from tqdm import tqdm  # noqa: PLC0415 - only for long work

            self.bar = tqdm(
                desc=what, total=self.total, initial=done, leave=False, file=sys.stderr, bar_format=_BAR_FORMAT
            )
        if self.bar is not None:
            self.bar.update(done - self.bar.n)
        self.done = done

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


_works: dict[str, _Work] = {}


@contextlib.contextmanager
def progress_bars() -> Iterator[None]:
    """Within the block, show bars for long work if stderr is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    try:
        with watched_by(_watch):
            yield
    finally:
        for what in list(_works):
            _works.pop(what).close()


def clear_bars() -> None:
    """Remove the bars from the terminal before a line is printed; the next progress draws them again."""
    for work in _works.values():
        if work.bar is not None:
            work.bar.clear()


def _watch(what: str, done: int, total: int) -> None:
    work = _works.get(what)
    if work is not None and (done < work.done or total != work.total):  # earlier work of that name was abandoned
        _works.pop(what).close()
        work = None
    if work is None:
        work = _works[what] = _Work(total)
    work.update(what, done)
    if done >= total:
        _works.pop(what).close()
