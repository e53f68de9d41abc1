"""An action that takes seconds, done in a thread while the window goes on."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Generic, TypeVar

from viewer.document import Action, Document, Take
from viewer.errors import ViewerError
from viewer.progress import watched_by

T = TypeVar("T")

LONG = 5_000
"""Frames of a motion from which on an action on all of them takes more than about half a second."""
_SWITCH_S = 5e-4
"""Seconds: the interpreter's switch interval while the thread works; with Python's default the window would stutter."""
_ESTIMATE_AFTER = 1.0
"""Seconds after which the remaining time is estimated."""
_BESIDE = frozenset({"pose", "goals", "selection", "mode", "scope", "frame", "auto_key", "markers"})
"""Fields of a document that the frames of its take do not depend on: they may change meanwhile."""


class _CancelledError(Exception):
    """The work is not wanted any more."""


class LongAction(Generic[T]):
    """Does an action that changes nothing but the take, and what is then shown of it, in a thread of its own.

    The document does not change: `Session.dispatch` takes the result, with the same bits as if it had done the action.

    Attributes:
        action: that is done.
        part: that is done so far, 0 to 1.
        take: of the document after the action; None while it works, and if the action failed.
        shown: what ``then`` made; None as long as ``take`` is.
        error: why the action cannot be done, or None.
    """

    def __init__(
        self, action: Action, document: Document, then: Callable[[Document], T], shares: Mapping[str, float]
    ) -> None:
        """Begin.

        Args:
            action: to be done.
            document: before it.
            then: makes what is shown, of the document after the action.
            shares: by work as it is reported, in order: its part of all the time, which sum to less than 1.
        """
        self.action, self._before, self._then = action, document, then
        self._shares, self._began = dict(shares), time.perf_counter()
        self.part, self._cancelled = 0.0, False
        self.take: Take | None = None
        self.shown: T | None = None
        self.error: ViewerError | None = None
        self._thread = threading.Thread(target=self._work, name="long action", daemon=True)
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

    def fits(self, document: Document) -> bool:
        """Whether the action would have the same result in a document: one of the same motion."""
        names = (field.name for field in fields(Document) if field.name not in _BESIDE)
        return all(getattr(document, name) is getattr(self._before, name) for name in names)

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
                after = self.action.apply(self._before)
                shown = self._then(after)
            self.take, self.shown = after.take, shown
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
