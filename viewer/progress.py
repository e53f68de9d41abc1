"""Progress of long work, passed from readers and writers to the command or window that shows it.

Without a watcher, reporting costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeAlias, TypeVar

Watcher: TypeAlias = Callable[[str, int, int], None]
T = TypeVar("T")

_MOST_REPORTS = 200
"""Reports per piece of work: lines are written in microseconds, and a bar cannot show more steps."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextlib.contextmanager
def watched_by(watcher: Watcher | None) -> Iterator[None]:
    """Within the block, call ``watcher(what, done, total)`` about long work; done = total ends a piece of work.

    None: no watcher.
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report(what: str, done: int, total: int) -> None:
    """Report that ``done`` of ``total`` parts of the work ``what`` are done."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(what, done, total)


def watched(what: str, items: Iterable[T], total: int) -> Iterable[T]:
    """The items, ``total`` of them, each reported when it is taken."""
    return items if _watcher.get() is None else _reported(what, items, total)


def _reported(what: str, items: Iterable[T], total: int) -> Iterator[T]:
    stride = max(1, total // _MOST_REPORTS)
    for done, item in enumerate(items):
        if done % stride == 0:
            report(what, done, total)
        yield item
    report(what, total, total)
