"""Recorded actions while they grow."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from viewer.session.script.calls import CHECK
from viewer.session.script.digest import Digester
from viewer.session.storage.arrays import plain_number
from viewer.session.storage.documents import document_data

if TYPE_CHECKING:
    from viewer.session.document import Document

QUIET = frozenset({"tick", "drag_to", "update", "loop", "backend", "places"})
"""Calls of which there are many: not each is followed by a digest ..."""
BETWEEN = 30
"""... but one after so many."""


class Machine(msgspec.Struct, frozen=True):
    """What was recorded on: results are the same to the bit where all this is."""

    program: str
    python: str
    numpy: str
    system: str

    def __str__(self) -> str:
        """``ikviewer 0.1.0, Python 3.11.2, numpy 2.1.0, Linux x86_64``."""
        return f"ikviewer {self.program}, Python {self.python}, numpy {self.numpy}, {self.system}"


def this_machine() -> Machine:
    """What runs here."""
    try:
        program = version("ikviewer")
    except PackageNotFoundError:
        program = "unknown"
    python = ".".join(map(str, sys.version_info[:3]))
    return Machine(program, python, np.__version__, f"{platform.system()} {platform.machine()}")


class Late(NamedTuple):
    """A call with a document, which is put into words once they are asked for: documents never change."""

    head: list[object]
    document: Document


class Tape:
    """Calls, in order, with remarks and digests; see `viewer.session.script.calls` for the names.

    Entries are written as they come, so that saving a long recording takes no longer than writing its bytes. Another
    thread may read what is there while more is added.
    """

    def __init__(self, start: Document) -> None:
        """Begin with a document."""
        self._start = start
        self._entries: list[bytes | Late] = []
        self._head: bytes | None = None
        self._digester = Digester()
        self._quiet = 0

    def __len__(self) -> int:
        """Entries up to now."""
        return len(self._entries)

    def add(self, name: str, *given: object) -> None:
        """Note a call or remark; what it is given must be data that JSON can hold."""
        self._entries.append(msgspec.json.encode([name, *given]))

    def add_document(self, name: str, *given: object, document: Document) -> None:
        """Note a call that ends in a document."""
        self._entries.append(Late([name, *given], document))

    def check(self, name: str, document: Document) -> None:
        """Note where a call has led, if it is time."""
        self._quiet += 1
        if name not in QUIET or self._quiet >= BETWEEN:
            self._quiet = 0
            self.add(CHECK, *self._digester.digest(document))

    def written(self, count: int | None = None, last: Document | None = None) -> msgspec.Raw:
        """All of it as JSON.

        Args:
            count: so many entries; None: all.
            last: the document that they have led to.
        """
        count = len(self._entries) if count is None else count
        for place in range(count):
            entry = self._entries[place]
            if isinstance(entry, Late):
                self._entries[place] = self._encoded([*entry.head, document_data(entry.document)])
        if self._head is None:
            self._head = self._encoded({"machine": this_machine(), "start": document_data(self._start)})[:-1]
        tail = [] if last is None else [msgspec.json.encode([CHECK, *Digester().digest(last)])]
        calls: list[Any] = [*self._entries[:count], *tail]
        return msgspec.Raw(b'%s,"calls":[%s]}' % (self._head, b",".join(calls)))

    @staticmethod
    def _encoded(value: object) -> bytes:
        return msgspec.json.encode(value, enc_hook=plain_number)
