"""Work that takes seconds, done in a thread while the window goes on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Generic, TypeVar

from viewer.document import Document
from viewer.errors import ViewerError
from viewer.progress import watched_by

T = TypeVar("T")

LONG = 5_000
"""Frames of a motion from which on work on all of them takes more than about half a second."""
_SWITCH_S = 5e-4
"""Seconds: the interpreter's switch interval while the thread works; with Python's default the window would stutter."""
_ESTIMATE_AFTER = 1.0
"""Seconds after which the remaining time is estimated."""
_BESIDE = frozenset({"pose", "goals", "selection", "mode", "scope", "frame", "auto_key", "markers"})
"""Fields of a document that its motion does not depend on."""


def same_motion(document: Document, other: Document) -> bool:
    """Whether two documents have the same motion; frame, pose and selection may differ."""
    names = (field.name for field in fields(Document) if field.name not in _BESIDE)
    return all(getattr(document, name) is getattr(other, name) for name in names)


class _CancelledError(Exception):
    """The work is not wanted any more."""


class LongWork(Generic[T]):
    """Makes something in a thread of its own; the session does not change until the result is taken over.

    Attributes:
        part: that is done so far, 0 to 1.
        result: what was made; None while it works, and if it failed.
        error: why it failed, or None.
    """

    def __init__(self, make: Callable[[], T], shares: Mapping[str, float]) -> None:
        """Begin.

        Args:
            make: makes the result, of values that do not change.
            shares: by the name of each reported part of the work, in order, its share of the time; the rest follows
            them.
        """
        self._make, self._shares, self._began = make, dict(shares), time.perf_counter()
        self.part, self._cancelled = 0.0, False
        self.result: T | None = None
        self.error: ViewerError | None = None
        self._thread = threading.Thread(target=self._work, name="long work", daemon=True)
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether it works."""
        return self._thread.is_alive()

    @property
    def left(self) -> float | None:
        """Estimated seconds left; None: unknown."""
        spent = time.perf_counter() - self._began
        return None if spent < _ESTIMATE_AFTER or not self.part else spent / self.part * (1.0 - self.part)

    def cancel(self) -> None:
        """Stop it soon; the result is not wanted."""
        self._cancelled = True

    def wait(self) -> None:
        """Wait until the thread has ended."""
        self._thread.join()

    def _work(self) -> None:
        before = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_S)
        try:
            with watched_by(self._watch):
                self.result = self._make()
        except _CancelledError:
            pass
        except ViewerError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - an exception would silently end the thread
            self.error = ViewerError(f"a fault of the program, {type(error).__name__}: {error}")
        finally:
            sys.setswitchinterval(before)

    def _watch(self, what: str, done: int, total: int) -> None:
        """Note the progress; the only places where it can be stopped."""
        if self._cancelled:
            raise _CancelledError
        if what in self._shares:
            earlier = list(self._shares).index(what)
            start = sum(list(self._shares.values())[:earlier])
            self.part = max(self.part, start + self._shares[what] * done / total)
