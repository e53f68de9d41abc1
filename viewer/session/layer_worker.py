"""Long layers, solved block by block in the background."""

from __future__ import annotations

import threading

from viewer.document import Document, Take
from viewer.document.take import Stretch
from viewer.document.take_layers import LayerWork, has_long_layers, unsolved, with_stretch
from viewer.errors import ViewerError
from viewer.session.figure_stage import Stage
from viewer.session.figures import State

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
