"""Progress of a long reading or writing, reported to whatever shows it.

Readers and writers report; a command or a window that wants to show it listens. Without a listener it costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Watcher: TypeAlias = Callable[[str, int, int], None]
T = TypeVar("T")

_MOST_REPORTS = 200
"""Reports on one piece of work: a frame's line is written in microseconds, and a bar has no more steps to show."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextlib.contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Within the block ``watcher(what, done, total)`` hears of long work; done = total ends each piece of it."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report(what: str, done: int, total: int) -> None:
    """Say that ``done`` of ``total`` parts of the work called ``what`` are done."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(what, done, total)


def watched(what: str, items: Iterable[T], total: int) -> Iterable[T]:
    """The items, of which there are ``total``, reported as they are taken."""
    return items if _watcher.get() is None else _reported(what, items, total)


def _reported(what: str, items: Iterable[T], total: int) -> Iterator[T]:
    stride = max(1, total // _MOST_REPORTS)
    for done, item in enumerate(items):
        if done % stride == 0:
            report(what, done, total)
        yield item
    report(what, total, total)
