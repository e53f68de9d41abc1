"""Recorded actions read from a session file and done again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from viewer.document.document import Document
from viewer.document.drag_goals import Grab
from viewer.document.effector_transform import still_report
from viewer.document.goal import Item
from viewer.errors import FormatError, MachineError, ViewerError, quote, unknown_name
from viewer.formats.json_reading import decode_typed
from viewer.ik.backends import check_backend, engine_for, serving
from viewer.session.action_log import (
    ASKED,
    BACKEND,
    BARE,
    CHECK,
    FAILED,
    LEAP,
    LOOP,
    OPEN,
    PLACES,
    PUT,
    REFUSED,
    SETTERS,
    Machine,
    this_machine,
)
from viewer.session.clock import Loop
from viewer.session.files import VERSION, read_session
from viewer.session.history import State, Step
from viewer.session.moving_targets import Motion, Pointer
from viewer.session.script.codec import decoded
from viewer.session.script.digest import Digest, Digester
from viewer.session.session import Session
from viewer.session.storage import version_1
from viewer.session.storage.arrays import check_packed
from viewer.session.storage.documents import DocumentData, document_of

_OTHER = {"pose": "the pose is", "rest": "goals, settings or keys are"}


class Replay(Session):
    """A session in which recorded actions are done again: each `tick` does those up to the next recorded one.

    Ticks are done at the recorded times and solved by the recorded backends. Once all is done it is a session like any
    other.

    Attributes:
        notes: what went otherwise than when it was recorded, in words.
    """

    def __init__(self, actions: Actions) -> None:
        """Begin; nothing is done yet."""
        super().__init__(actions.start)
        self.notes: list[str] = []
        self._actions, self._place = actions, 0
        self._digester, self._departed = Digester(), set[str]()
        self._backend, self._recorded = "auto", 0.0
        self._offset: float | None = None
        self._ways: dict[str, Pointer] = {}

    @property
    def finished(self) -> bool:
        """Whether all is done."""
        return self._place >= len(self._actions.calls)

    @property
    def progress(self) -> tuple[int, int]:
        """Calls and remarks done, and all of them."""
        return self._place, len(self._actions.calls)

    def tick(self, now: float) -> bool:
        """Do the recorded calls up to the next tick; once all are done, let time go on from the last one.

        Raises:
            FormatError: what was recorded cannot be done.
        """
        if self.finished:
            self._offset = self._recorded - now if self._offset is None else self._offset
            return super().tick(now + self._offset)
        while self._step() not in ("tick", None):
            pass
        while self._next in (CHECK, REFUSED, FAILED):
            self._step()
        return True

    def tick_at(self, now: float) -> None:
        """A recorded tick."""
        self._recorded = float(now)
        super().tick(self._recorded)

    def leap(self, steps: int, document: Document) -> None:
        """Undo so many recorded steps, or do them again if they are fewer than 0 before, and show a document."""
        self.go_to(self.history_index + steps)
        self._leave_for(State(document, still_report(document)))

    def put(self, label: str, document: Document, *, saved: bool) -> None:
        """Show what an action that cannot be written has led to, as it did."""
        after = State(document, still_report(document))
        if self.gesture is None:
            self._conclude()
            self._add(Step(label, self.stage.state, after, saved=saved))
        else:
            self._gestures.note(saved=saved)
            self._show(after)

    def way(self, effector: str) -> Pointer:
        """Where a target is whose way was not recorded, but its places."""
        return self._ways.setdefault(effector, Pointer(np.zeros(3)))

    def serve(self, backend: str) -> None:
        """What comes was solved by this backend, where none was named.

        Raises:
            InputError: there is none of that name.
        """
        self._backend = check_backend(backend)
        try:
            engine_for(backend)
        except MachineError as error:
            self.notes.append(f"{error}; the results will differ")
            self._backend = "numpy"

    @property
    def _next(self) -> str | None:
        """The name of what is to be done next; None where all is done."""
        return None if self.finished else str(self._actions.calls[self._place][0])

    def _step(self) -> str | None:
        """Do the next call, or compare with the next remark; its name."""
        name, place = self._next, self._place
        if name is None:
            return None
        self._place += 1
        if name == CHECK:
            self._compare(self._actions.calls[place][1:])
        elif name not in (REFUSED, FAILED):
            self._do(place, name)
        return name

    def _do(self, place: int, name: str) -> None:
        given = self._actions.given(place)
        expected = self._remark()
        try:
            with serving(self._backend):
                DOERS[name](self, *given)
        except ViewerError as error:
            if expected != REFUSED:
                self._note(f"it is refused now, and was not: {error}")
        except Exception as error:
            if expected == FAILED:
                raise  # what was to be shown: the program fails here
            raise FormatError(
                f"{name} cannot be done: {type(error).__name__}: {error}",
                file=str(self._actions.path), path=f"actions.calls[{place}]",
            ) from error  # fmt: skip
        else:
            if expected is not None:
                self._note("it was refused, and is not now" if expected == REFUSED else "it failed, and does not now")
        finally:
            self.stage.lost_pose = None  # no user has lost it

    def _remark(self) -> str | None:
        """What was said of the call that is being done."""
        return self._next if self._next in (REFUSED, FAILED) else None

    def _compare(self, data: tuple[object, ...]) -> None:
        now = self._digester.digest(self.document)
        for part, is_now, was in zip(Digest._fields, now, data, strict=False):
            if is_now != was and part not in self._departed:
                self._departed.add(part)
                self._note(f"from here {_OTHER[part]} not as recorded{self._elsewhere()}")

    def _elsewhere(self) -> str:
        here, there = this_machine(), self._actions.machine
        return "" if here == there else f" (recorded on {there}; this is {here})"

    def _note(self, words: str) -> None:
        calls = self._actions.calls
        name = next((str(one[0]) for one in reversed(calls[: self._place]) if one[0] in DOERS), "the start")
        label = self.gesture or next(iter(self.history[: self.history_index][-1:]), None)
        during = f' of "{label}"' if label else ""
        self.notes.append(f"call {self._place} of {len(calls)}, {name}{during}: {words}")


def _begin_drag(session: Replay, items: Any, grab: Any) -> None:  # noqa: ANN401 - decoded data
    session.begin_drag(tuple(Item(*item) for item in items), None if grab is None else Grab(*grab))


def _drag_to(session: Replay, targets: Any) -> None:  # noqa: ANN401 - decoded data
    session.drag_to({Item(kind, name): (place, turn) for kind, name, place, turn in targets})


def _animate(session: Replay, motions: Any) -> None:  # noqa: ANN401 - decoded data
    made = [Motion(name, path or session.way(name), bool(shown)) for name, path, shown in motions]
    session.animate(tuple(made))


def _places(session: Replay, places: Any) -> None:  # noqa: ANN401 - decoded data
    for name, place in places:
        session.way(name).place = np.array(place, dtype=np.float64)


def _set_loop(session: Replay, word: str) -> None:
    session.loop = Loop(word)


def _call(name: str) -> Callable[..., None]:
    def call(session: Replay, *given: object) -> None:
        getattr(session, name)(*given)

    return call


def _assign(name: str) -> Callable[..., None]:
    def assign(session: Replay, value: object) -> None:
        setattr(session, name, value)

    return assign


DOERS: dict[str, Callable[..., None]] = {
    **{name: _call(name) for name in (*BARE, "dispatch", "update", "begin", "set_chain", "seek", "play")},
    **{name: _assign(name) for name in SETTERS},
    "begin_drag": _begin_drag,
    "drag_to": _drag_to,
    "go_to": lambda session, steps: session.go_to(session.history_index + steps),
    "tick": lambda session, now: session.tick_at(now),
    ASKED: lambda session: session.escape_offered,
    "animate": _animate,
    PLACES: _places,
    OPEN: lambda session, document: session.replace(document),
    LEAP: lambda session, steps, document: session.leap(steps, document),
    PUT: lambda session, label, saved, document: session.put(label, document, saved=bool(saved)),
    LOOP: _set_loop,
    BACKEND: lambda session, name: session.serve(name),
}
"""What makes a call again, by its name; it is given the session and the decoded data."""

DOCUMENTS = {OPEN: 0, LEAP: 1, PUT: 2}
"""Calls whose data end in a document, and which of the data that is."""

_REMARKS = (CHECK, REFUSED, FAILED)


class _Data(msgspec.Struct):
    machine: Machine
    start: DocumentData
    calls: list[list[Any]]


@dataclass(frozen=True, slots=True)
class Actions:
    """What was recorded.

    Attributes:
        path: the file.
        machine: what it was recorded on.
        start: the document that it begins with.
        calls: name and data of each, remarks included.
    """

    path: Path
    machine: Machine
    start: Document
    calls: tuple[tuple[Any, ...], ...]

    def given(self, place: int) -> list[Any]:
        """What a call is given.

        Raises:
            FormatError: what is no value that a call can be given.
        """
        name, *data = self.calls[place]
        path, folder = f"actions.calls[{place}]", self.path.resolve().parent
        late = DOCUMENTS.get(name)
        found = []
        try:
            for number, one in enumerate(data):
                is_document = late is not None and number == len(data) - 1
                found.append(_document(one, folder) if is_document else decoded(one, folder, path))
        except FormatError as error:
            error.file, error.path = error.file or str(self.path), error.path or path
            raise
        except RecursionError as error:
            raise FormatError("nested too deeply", file=str(self.path), path=path) from error
        return found


def read_actions(path: str | Path) -> Actions:
    """The actions that a session file holds.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, or holds no actions, or calls that there are not.
    """
    place, name = Path(path), str(path)
    session = read_session(place)
    raw = bytes(session.actions)
    if not raw:
        raise FormatError(
            'the session holds no actions: it was saved while "Record actions" was off', file=name, path="actions"
        )
    try:
        raw = raw if session.version == VERSION else version_1.actions(raw)
        data = decode_typed(raw.decode(), _Data, name)
        check_packed(data, len(raw), "calls")
        _check(data.calls)
        start = document_of(data.start, place.resolve().parent)
    except FormatError as error:
        error.file = name
        error.path = ".".join(part for part in ("actions", error.path) if part)
        error.line = error.column = None
        raise
    return Actions(place, data.machine, start, tuple(map(tuple, data.calls)))


def _check(calls: list[list[Any]]) -> None:
    for place, call in enumerate(calls):
        if not call or not isinstance(call[0], str):
            raise FormatError("expected the name of a call and its data", path=f"calls[{place}]")
        if call[0] not in DOERS and call[0] not in _REMARKS:
            raise FormatError(unknown_name("call", call[0], [*DOERS, *_REMARKS]), path=f"calls[{place}]")


def _document(data: object, folder: Path) -> Document:
    try:
        return document_of(msgspec.convert(data, DocumentData), folder)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected a document, found {quote(data)}") from error


def open_script(path: str | Path) -> Replay:
    """The session that the actions of a file are done in again, tick by tick; none is done yet.

    Raises:
        InputError: the file cannot be read.
        FormatError: it is no session, holds no actions, or some that there are not.
    """
    return Replay(read_actions(path))


def replay(path: str | Path, notes: list[str] | None = None) -> Document:
    """Do the actions of a session file again, without a window; where they lead.

    Args:
        path: a session file that was saved while actions were recorded.
        notes: takes a line for what went otherwise than when it was recorded.

    Raises:
        ViewerError: as of `open_script`.
    """
    session = open_script(path)
    while not session.finished:
        session.tick(0.0)
    if notes is not None:
        notes.extend(session.notes)
    return session.document
