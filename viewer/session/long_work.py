"""Work that takes seconds, done in a thread while the window goes on; long layers, solved block by block."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Generic, TypeVar

from viewer.document import Document, Take
from viewer.document.take import Stretch
from viewer.document.take_layers import LayerWork, has_long_layers, unsolved, with_stretch
from viewer.errors import ViewerError
from viewer.progress import watched_by
from viewer.session.figure_stage import Stage
from viewer.session.figures import State

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


_BLOCKS_KEPT = 400
"""Blocks that are kept, so that undo and redo find theirs solved."""


class LayerWorker:
    """Solves the blocks of long layers that are not known yet, the nearest to the frame shown first.

    One block at a time is solved, in a thread of its own; `tick` takes it over. Until then its frames are the clip's.
    """

    def __init__(self, stage: Stage) -> None:
        """Work on the active figure of a stage."""
        self._stage = stage
        self._take: Take | None = None
        self._works: list[LayerWork] = []
        self._known: dict[str, Stretch] = {}
        self._thread: threading.Thread | None = None
        self._made: tuple[LayerWork, int, Stretch | None] | None = None

    @property
    def part(self) -> float:
        """The part of the blocks of long layers that is solved, 0 to 1."""
        total = sum(len(work.digests) for work in self._works)
        return 1.0 - self.missing / total if total else 1.0

    @property
    def missing(self) -> int:
        """Number of blocks that are still to be solved."""
        return sum(len(work.missing) for work in self._works)

    def tick(self) -> State | None:
        """The state with what was solved since, or None; begins another block if there is one."""
        document = self._stage.document
        if document.take is not self._take:
            self._plan(document)
        if self._thread is not None and not self._thread.is_alive():
            self._thread = None
            self._note()
        ready = [self._known[digest] for digest in self._ready()]
        if ready:
            for work in self._works:
                work.missing = [block for block in work.missing if work.digests[block] not in self._known]
            for stretch in ready:
                document = with_stretch(document, stretch)
            self._take = document.take
        self._works = [work for work in self._works if work.missing]
        if self._works and self._thread is None:
            self._begin(document.frame)
        return self._stage.replayed(document) if ready else None

    def _plan(self, document: Document) -> None:
        self._take = document.take
        self._works = unsolved(document) if has_long_layers(document.take, document.frames - 1) else []

    def _ready(self) -> list[str]:
        """Digests of missing blocks that are known."""
        return [work.digests[at] for work in self._works for at in work.missing if work.digests[at] in self._known]

    def _begin(self, frame: int) -> None:
        work = self._works[0]
        block = work.nearest(frame)

        def solve() -> None:
            try:
                self._made = work, block, work.stretch(block)
            except ViewerError:  # its frames stay the clip's; exporting reports the error
                self._made = work, block, None

        self._thread = threading.Thread(target=solve, name="layers", daemon=True)
        self._thread.start()

    def _note(self) -> None:
        """Keep the block that the thread has made."""
        if self._made is None:
            return
        work, block, stretch = self._made
        self._made = None
        if stretch is None:
            work.missing = [other for other in work.missing if other != block]
            return
        self._known[stretch.digest] = stretch
        while len(self._known) > _BLOCKS_KEPT:
            del self._known[next(iter(self._known))]
