"""What commands print: lines and JSON on stdout, warnings and progress bars on stderr."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from viewer.errors import OutputError, one_line, visible
from viewer.formats.progress import watched_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_state = {"quiet": False}

Json: TypeAlias = "dict[str, Json] | list[Json] | str | float | int | bool | None"

_WIDTH = 100
"""Columns that a JSON list or object may take on one line."""


def make_streams_safe() -> None:
    """No name in whatever script, and no stream that the shell has closed, must end a command."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123 - lives as long as we do
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def be_quiet(quiet: bool) -> None:
    """Whether warnings, and what merely tells of work done, are left out from now on."""
    _state["quiet"] = quiet


def is_quiet() -> bool:
    """Whether they are."""
    return _state["quiet"]


def print_told(line: str) -> None:
    """A line on stdout that tells of work done (``wrote walk.glb: ...``): nothing that was asked for."""
    if not is_quiet():
        print_text(line)


def print_text(text: str) -> None:
    """A line, or lines, on stdout; nothing in them steers the terminal.

    Raises:
        OutputError: stdout cannot be written, as on a full disk.
        BrokenPipeError: nobody reads it any more.
    """
    with _stdout_errors():
        _clear_bars()
        lines = text.split("\n")
        sys.stdout.write("".join(f"{line if line.isprintable() else visible(line)}\n" for line in lines))


def flush() -> None:
    """Send what was printed on its way; raises as `print_text` does."""
    with _stdout_errors():
        sys.stdout.flush()


def drop_stdout() -> None:
    """Python flushes stdout once more when it exits: after a failure that goes to nowhere."""
    with contextlib.suppress(OSError, ValueError):  # a stdout of another kind has no descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_json(document: Json) -> None:
    """Exactly one JSON document on stdout; numbers that are missing (NaN, infinite) are null."""
    print_text(written(_finite(document)))


def written(document: Json, indent: str = "") -> str:
    """JSON text: what fits stands on one line, so that a vector is read as one."""
    import json

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
    """Warnings to stderr, a line each."""
    for line in lines:
        print_note(f"warning: {line}")


def print_note(line: str) -> None:
    """A line on stderr that is no error."""
    if not is_quiet():
        print_error(line)


def print_error(line: str) -> None:
    """A line on stderr; where that cannot be written nobody can be told."""
    _clear_bars()
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{one_line(line)}\n")


def _clear_bars() -> None:
    from viewer.cli.output import clear_bars

    clear_bars()


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
        from viewer.formats.files import reason

        raise OutputError(f"standard output: cannot be written: {reason(error)}") from error


_DELAY = 1.0
"""Seconds that work may take before a bar is shown for it."""

_BAR_FORMAT = "{desc}: {percentage:3.0f}%|{bar}| {remaining} left"


class _Work:
    """One piece of work: since when it runs, how far it is, and its bar once it has one."""

    def __init__(self, total: int) -> None:
        self.total, self.since, self.done = total, time.monotonic(), 0
        self.bar: Any = None

    def update(self, what: str, done: int) -> None:
        if self.bar is None and time.monotonic() - self.since >= _DELAY:
            from tqdm import tqdm  # only who waits pays for its import

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
    """Long work within the block shows bars, if stderr is a terminal."""
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
    """Wipe the bars off the terminal, for a line that is to be printed; they come back when work goes on."""
    for work in _works.values():
        if work.bar is not None:
            work.bar.clear()


def _watch(what: str, done: int, total: int) -> None:
    work = _works.get(what)
    if work is not None and (done < work.done or total != work.total):  # the one before was given up
        _works.pop(what).close()
        work = None
    if work is None:
        work = _works[what] = _Work(total)
    work.update(what, done)
    if done >= total:
        _works.pop(what).close()
