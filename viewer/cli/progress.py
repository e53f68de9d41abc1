"""Progress bars: on stderr, when it is a terminal, for what takes more than a second."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

from viewer.formats.watch import watched_by

if TYPE_CHECKING:
    from collections.abc import Iterator

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
