"""The action log: recorded actions while they grow, and the part of a session that writes them down."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from functools import wraps
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from viewer.document.actions.base import Action
from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.ik.backends import engine_for, serving
from viewer.session.demos.moving_targets import Animated
from viewer.session.history import State, Step
from viewer.session.recording import EndsRecording
from viewer.session.script import calls
from viewer.session.script.calls import CHECK
from viewer.session.script.codec import KINDS
from viewer.session.script.digest import Digester
from viewer.session.solving import Solvers
from viewer.session.storage.arrays import plain_number
from viewer.session.storage.documents import document_data
from viewer.session.transport import Loop

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


S = TypeVar("S", bound="Taping")

_MOVES = ("undo", "redo", "go_to")
_CALLS = (*calls.WRITERS, *_MOVES, "replace")


class Taping(Animated, EndsRecording):
    """Writes down calls from outside while that is asked for; what they call in their turn is not written.

    Attributes:
        tape: what was written since `record_actions`; None: nothing is.
    """

    tape: Tape | None = None
    _within = False
    _loop_noted = Loop.LOOP
    _backend_noted = ""
    _strange: tuple[Step, ...] = ()
    _places_noted: list[object] | None = None

    def record_actions(self, on: bool = True) -> None:
        """Write down from here on what is done, or forget it; what is under way is brought to its end first."""
        if on == (self.tape is not None):
            return
        self.stop_recording()
        self._conclude()
        self.stop()
        self.revision += 1
        if not on:
            self.tape, self._strange = None, ()
            return
        # Begun as a replay begins: what solvers and drags remember must not make a difference.
        self._solvers, self._trap = Solvers(), None
        self._strange = self._steps()
        self._loop_noted, self._backend_noted, self._places_noted = Loop.LOOP, "", None
        self.tape = Tape(self.document)
        for name, usual in (("speed", 1.0), ("record_tolerance_deg", 0.0)):
            if getattr(self, name) != usual:
                self.tape.add(name, getattr(self, name))
        self._start_over()

    def _start_over(self) -> None:
        """Let targets that move by themselves begin anew, as they do in a replay."""
        running = self.animating
        if self.motions:
            self.animate(self.motions)
            if not running:
                self.pause()

    def _steps(self) -> tuple[Step, ...]:
        return tuple(self._history._steps)  # noqa: SLF001 - the session's own room

    def _noted(self, call: _Call, act: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the call returns
        """Make a call from outside, and write down what it was and what came of it."""
        tape, searched = self.tape, self._searched
        assert tape is not None
        backend = self._note_settings(tape)
        try:
            with serving(backend):
                result = act()
        except Exception as error:
            if self._write(tape, call, done=False):
                tape.add(calls.REFUSED) if isinstance(error, ViewerError) else tape.add(calls.FAILED, _name(error))
            raise
        idle = (call.name == "tick" and not result and not self.animating) or (
            call.name == calls.ASKED and searched == self._searched
        )
        if not idle:
            self._write(tape, call)
            tape.check(call.name, self.document)
        return result

    def _note_settings(self, tape: Tape) -> str:
        """What the next call finds set; the backend that serves where none is named."""
        backend = engine_for("auto")[1]
        if backend != self._backend_noted:
            tape.add(calls.BACKEND, backend)
        if self.loop is not self._loop_noted:
            tape.add(calls.LOOP, str(self.loop))
        self._loop_noted, self._backend_noted = self.loop, backend
        return backend

    @property
    def _searched(self) -> bool:
        return self._trap is not None and self._trap.searched

    def _write(self, tape: Tape, call: _Call, *, done: bool = True) -> bool:
        """Write down a call; whether it is that very call."""
        if call.name == "replace":
            self._strange = ()
            tape.add_document(calls.OPEN, document=self.document)
        elif call.name in _MOVES:
            self._write_move(tape, call)
        elif call.data is not None:
            if call.name == "tick":
                self._write_places(tape)
            tape.add(call.name, *call.data)
        elif done and isinstance(call.given, Action):
            tape.add_document(calls.PUT, call.given.label, call.given.saved, document=self.document)
        else:
            tape.add("commit")  # all that it did
        return call.data is not None or call.name in _MOVES

    def _write_places(self, tape: Tape) -> None:
        """Where moving targets are at this tick, those whose ways no file can hold."""
        ways = [motion for motion in self.motions if type(motion.path).__name__ not in KINDS]
        places: list[object] = [[motion.effector, motion.path(self._seconds).tolist()] for motion in ways]
        if places and places != self._places_noted:
            tape.add(calls.PLACES, places)
        self._places_noted = places

    def _write_move(self, tape: Tape, call: _Call) -> None:
        """Steps of the history: a replay has only those since the recording began."""
        ends = sorted((call.at, self.history_index))
        crossed = self._steps()[slice(*ends)]
        ours = [step for step in crossed if step not in self._strange]
        if len(ours) < len(crossed):
            sign = 1 if self.history_index > call.at else -1
            tape.add_document(calls.LEAP, sign * len(ours), document=self.document)
        elif call.name == "go_to":
            tape.add("go_to", int(call.given) - call.at if isinstance(call.given, int) else 0)
        else:
            tape.add(call.name)

    def _put(self, label: str, state: State, *, saved: bool) -> None:
        """What an action led to, in its place."""
        if self._gesture is None:
            self._conclude()
            self._add(label, state, saved=saved)
        else:
            self._gesture.saved |= saved
            self._show(state)


class _Call(NamedTuple):
    """A call from outside.

    Attributes:
        name: the method's, or the property's.
        given: its first argument, if it has one.
        data: what it was given, as JSON can hold it; None: it cannot.
        at: how many steps of the history were done before.
    """

    name: str
    given: Any
    data: list[object] | None
    at: int


def _name(error: Exception) -> str:
    return type(error).__name__


def _written(name: str, given: tuple[Any, ...], named: dict[str, Any]) -> list[object] | None:
    if name not in calls.WRITERS:
        return None
    try:
        data = calls.WRITERS[name](*given, **named)
        msgspec.json.encode(data)
    except (ViewerError, msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        return None
    return data


def taped(kind: type[S]) -> type[S]:
    """Let all calls that change a session of this class be written down while it has a tape."""
    for name in _CALLS:
        found = getattr(kind, name)
        if not isinstance(found, property):
            setattr(kind, name, _wrapped(name, found))
        elif name == calls.ASKED:
            setattr(kind, name, property(_wrapped(name, found.fget), doc=found.__doc__))
        else:
            setattr(kind, name, property(found.fget, _wrapped(name, found.fset), doc=found.__doc__))
    return kind


def _wrapped(name: str, method: Any) -> Callable[..., Any]:  # noqa: ANN401 - any method
    @wraps(method)
    def call(self: Taping, *given: Any, **named: Any) -> Any:  # noqa: ANN401 - its own arguments
        if self.tape is None or self._within:
            return method(self, *given, **named)
        self._within = True
        try:
            first = given[0] if given else next(iter(named.values()), None)
            noted = _Call(name, first, _written(name, given, named), self.history_index)
            return self._noted(noted, lambda: method(self, *given, **named))
        finally:
            self._within = False

    return call
