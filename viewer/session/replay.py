"""Recorded calls of a session: read from its file, and made again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from viewer.document import Action, Document, Grab, Item
from viewer.document.actions.goal_actions import RemoveGoal, removing
from viewer.errors import FormatError, MachineError, ViewerError, quote, unknown_name
from viewer.formats.json_reading import decode_typed
from viewer.ik.backends import check_backend, engine_for, serving
from viewer.ik.goals import Vector
from viewer.session import action_log
from viewer.session.action_log import decoded
from viewer.session.figures import Arrangement, Loop, Placement
from viewer.session.ik_drag import Pointer, TargetMotion
from viewer.session.serialiser import check_packed
from viewer.session.session import Session
from viewer.session.session_files import ONE_FIGURE, actions_from_version_1, read_session
from viewer.session.stored_documents import DocumentData, FigureData, arrangement_of, document_of

_OTHER = {"pose": "the pose is", "rest": "goals, settings or keys are"}

_OF_FIGURES = (action_log.OPEN_FIGURES, action_log.LEAP_FIGURES)
DOCUMENTS = (action_log.OPEN, action_log.LEAP, action_log.PUT, action_log.ADD_FIGURE, *_OF_FIGURES)
"""Calls whose last argument is a document, or all figures."""

_REMARKS = (action_log.CHECK, action_log.REFUSED, action_log.FAILED)


class Replay:
    """Makes the recorded calls of a session again: each `tick` makes those up to the next recorded tick.

    The recorded ticks have the recorded times, and the recorded backends solve. Once all calls are made, ticks go to
    the session as they come.

    ``notes`` are what differs from the recording, a line each; ``error`` is that of the first recorded call that could
    not be made; later calls are still made.
    """

    def __init__(self, actions: Actions) -> None:
        self.session = Session(actions.start, figures=actions.figures)
        self.notes: list[str] = []
        self.error: FormatError | None = None
        self._actions, self._index = actions, 0
        self._digester, self._departed = action_log.Digester(), set[str]()
        self._backend, self._recorded = "auto", 0.0
        self._offset: float | None = None
        self._pointers: dict[str, Pointer] = {}

    @property
    def finished(self) -> bool:
        """Whether all calls are made."""
        return self._index >= len(self._actions.calls)

    @property
    def progress(self) -> tuple[int, int]:
        """Calls and remarks done, and their total."""
        return self._index, len(self._actions.calls)

    def tick(self, now: float) -> bool:
        """Make the recorded calls up to the next tick; after the last one, pass the tick on, its time continued.

        Raises:
            FormatError: a recorded call cannot be made.
        """
        if self.finished:
            self._offset = self._recorded - now if self._offset is None else self._offset
            return self.session.tick(now + self._offset)
        try:
            while self._step() not in ("tick", None):
                pass
            while self._next in _REMARKS:
                self._step()
        except FormatError as error:
            self.error = self.error or error
            raise
        return True

    def tick_at(self, now: float) -> None:
        """Make a recorded tick."""
        self._recorded = float(now)
        self.session.tick(self._recorded)

    def leap(self, steps: int, document: Document) -> None:
        """Redo ``steps`` recorded steps, or undo them if below 0, and show a document."""
        self.session.go_to(self.session.history.index + steps)
        self.session.show_document(document)

    def open_figures(self, figures: Arrangement) -> None:
        """Show figures in place of all that are there."""
        self.session.replace(figures.figure.document, figures=figures)

    def leap_figures(self, steps: int, figures: Arrangement) -> None:
        """As `leap`, with all figures."""
        self.session.show_figures(figures, steps)

    def add_figure(self, name: str, offset: Vector, yaw: float, document: Document) -> None:
        """Add a figure."""
        self.session.figures.add(document, name, Placement(offset, yaw))

    def place_figure(self, name: str, offset: Vector, yaw: float, done: bool) -> None:
        """Move a figure."""
        self.session.figures.place(name, Placement(offset, yaw), done=done)

    def pointer(self, effector: str) -> Pointer:
        """The path of a target whose positions were recorded, not its path."""
        return self._pointers.setdefault(effector, Pointer(np.zeros(3)))

    def present(self, action: Action) -> Action:
        """The present action for a recorded one: `RemoveGoal` once released an effector whose first goal it named."""
        if not isinstance(action, RemoveGoal) or self._next == action_log.REFUSED:
            return action
        return removing(self.session.document.goal(action.goal))

    def serve(self, backend: str) -> None:
        """Solve by this backend from now on, where the settings name none."""
        self._backend = check_backend(backend)
        try:
            engine_for(backend)
        except MachineError as error:
            self.notes.append(f"{error}; the results will differ")
            self._backend = "numpy"

    @property
    def _next(self) -> str | None:
        """The name of the next call or remark; None at the end."""
        return None if self.finished else str(self._actions.calls[self._index][0])

    def _step(self) -> str | None:
        """Make the next call, or compare with the next remark; its name."""
        name, index = self._next, self._index
        if name is None:
            return None
        self._index += 1
        if name == action_log.CHECK:
            self._compare(self._actions.calls[index][1:])
        elif name not in (action_log.REFUSED, action_log.FAILED):
            self._do(index, name)
        return name

    def _do(self, index: int, name: str) -> None:
        given = self._actions.given(index)
        expected = self._next if self._next in (action_log.REFUSED, action_log.FAILED) else None
        try:
            with serving(self._backend):
                DOERS[name](self, *given)
        except ViewerError as error:
            if expected != action_log.REFUSED:
                self._note(f"it is refused now, and was not: {error}")
        except Exception as error:
            if expected == action_log.FAILED:
                raise  # the recording shows this very fault of the program
            raise FormatError(
                f"{name} cannot be done: {type(error).__name__}: {error}",
                file=str(self._actions.path), path=f"actions.calls[{index}]",
            ) from error  # fmt: skip
        else:
            if expected is not None:
                refused = expected == action_log.REFUSED
                self._note("it was refused, and is not now" if refused else "it failed, and does not now")
        finally:
            self.session.stage.lost_pose = None  # the user has not lost this pose

    def _compare(self, data: tuple[object, ...]) -> None:
        found = self._digester.digest(self.session.document)
        for part, now, recorded in zip(action_log.Digest._fields, found, data, strict=False):
            if now != recorded and part not in self._departed:
                self._departed.add(part)
                self._note(f"from here {_OTHER[part]} not as recorded{self._other_machine()}")

    def _other_machine(self) -> str:
        here, there = action_log.this_machine(), self._actions.machine
        return "" if here == there else f" (recorded on {there}; this is {here})"

    def _note(self, words: str) -> None:
        calls, history = self._actions.calls, self.session.history
        name = next((str(call[0]) for call in reversed(calls[: self._index]) if call[0] in DOERS), "the start")
        label = self.session.gestures.label or next(iter(history.labels[: history.index][-1:]), None)
        during = f' of "{label}"' if label else ""
        self.notes.append(f"call {self._index} of {len(calls)}, {name}{during}: {words}")


def _begin_drag(replay: Replay, items: Any, *grabs: Any) -> None:  # noqa: ANN401 - decoded data
    held = (None if grab is None else Grab(*grab) for grab in grabs)
    replay.session.begin_drag(tuple(Item(*item) for item in items), *held)


def _drag_to(replay: Replay, targets: Any) -> None:  # noqa: ANN401 - decoded data
    moved = {Item(kind, name): (position, rotation) for kind, name, position, rotation in targets}
    replay.session.gestures.drag_to(moved)


def _animate(replay: Replay, motions: Any) -> None:  # noqa: ANN401 - decoded data
    made = [TargetMotion(name, path or replay.pointer(name), bool(shown)) for name, path, shown in motions]
    replay.session.targets.animate(tuple(made))


def _positions(replay: Replay, positions: Any) -> None:  # noqa: ANN401 - decoded data
    for name, position in positions:
        replay.pointer(name).position = np.array(position, dtype=np.float64)


def _set_loop(replay: Replay, word: str) -> None:
    replay.session.clock.loop = Loop(word)


def _set_tolerance(replay: Replay, degrees: float) -> None:
    replay.session.recorder.tolerance_deg = degrees


def _call(path: str) -> Callable[..., object]:
    """A call of a method of the session, or of one of its members."""
    method = attrgetter(f"session.{path}")
    return lambda replay, *given: method(replay)(*given)


DOERS: dict[str, Callable[..., object]] = {
    **{name: _call(name) for name in (*action_log.BARE, "begin", "seek", "play")},
    "dispatch": lambda replay, action: replay.session.dispatch(replay.present(action)),
    "update": lambda replay, action: replay.session.gestures.update(replay.present(action)),
    "set_chain": _call("gestures.set_chain"),
    "pause": _call("targets.pause"),
    "resume": _call("targets.resume"),
    "remove_figure": _call("figures.remove"),
    "hide_figure": _call("figures.hide"),
    "activate": _call("figures.activate"),
    "link_goal": _call("figures.link"),
    "speed": _call("set_speed"),
    action_log.OPEN: _call("replace"),
    action_log.ADD_FIGURE: Replay.add_figure,
    "place_figure": Replay.place_figure,
    action_log.OPEN_FIGURES: Replay.open_figures,
    action_log.LEAP_FIGURES: Replay.leap_figures,
    "record_tolerance_deg": _set_tolerance,
    "begin_drag": _begin_drag,
    "drag_to": _drag_to,
    "go_to": lambda replay, steps: replay.session.go_to(replay.session.history.index + steps),
    "tick": Replay.tick_at,
    action_log.ASKED: lambda replay: replay.session.escape.offered,
    "animate": _animate,
    action_log.PLACES: _positions,
    action_log.LEAP: Replay.leap,
    action_log.PUT: lambda replay, label, saved, doc: replay.session.add_document(label, doc, saved=bool(saved)),
    action_log.LOOP: _set_loop,
    action_log.BACKEND: Replay.serve,
}
"""Makes a call again, by its name, from the replay and the decoded arguments."""


class _Data(msgspec.Struct):
    machine: action_log.Machine
    start: DocumentData
    calls: list[list[Any]]
    figures: list[FigureData] = []


class _FiguresData(msgspec.Struct):
    document: DocumentData
    figures: list[FigureData]


@dataclass(frozen=True, slots=True)
class Actions:
    """Recorded calls.

    ``path`` is the session file, ``machine`` what recorded them; ``start`` and, if there were several, ``figures`` are
    what was there before the first call. ``calls`` are name and data of each call and remark.
    """

    path: Path
    machine: action_log.Machine
    start: Document
    calls: tuple[tuple[Any, ...], ...]
    figures: Arrangement | None = None

    def given(self, index: int) -> list[Any]:
        """The arguments of a call."""
        name, *data = self.calls[index]
        path, folder = f"actions.calls[{index}]", self.path.resolve().parent
        found: list[Any] = []
        try:
            for number, one in enumerate(data):
                if name in DOCUMENTS and number == len(data) - 1:
                    found.append((_figures if name in _OF_FIGURES else _document)(one, folder))
                else:
                    found.append(decoded(one, folder, path))
        except FormatError as error:
            error.file, error.path = error.file or str(self.path), error.path or path
            raise
        except RecursionError as error:
            raise FormatError("nested too deeply", file=str(self.path), path=path) from error
        return found


def read_actions(path: str | Path) -> Actions:
    """The recorded calls of a session file."""
    file, name = Path(path), str(path)
    session = read_session(file)
    raw = bytes(session.actions)
    if not raw:
        raise FormatError(
            'the session holds no actions: it was saved while "Record actions" was off', file=name, path="actions"
        )
    try:
        raw = raw if session.version >= ONE_FIGURE else actions_from_version_1(raw)
        data = decode_typed(raw.decode(), _Data)
        check_packed(data, len(raw), "calls")
        _check(data.calls)
        start = document_of(data.start, file.resolve().parent)
        figures = arrangement_of(data.figures, start, file.resolve().parent) if data.figures else None
    except FormatError as error:
        error.file = name
        error.path = ".".join(part for part in ("actions", error.path) if part)
        error.line = error.column = None
        raise
    return Actions(file, data.machine, start, tuple(map(tuple, data.calls)), figures)


def _check(calls: list[list[Any]]) -> None:
    for index, call in enumerate(calls):
        if not call or not isinstance(call[0], str):
            raise FormatError("expected the name of a call and its data", path=f"calls[{index}]")
        if call[0] not in DOERS and call[0] not in _REMARKS:
            raise FormatError(unknown_name("call", call[0], [*DOERS, *_REMARKS]), path=f"calls[{index}]")


def _document(data: object, folder: Path) -> Document:
    try:
        return document_of(msgspec.convert(data, DocumentData), folder)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected a document, found {quote(data)}") from error


def _figures(data: object, folder: Path) -> Arrangement:
    try:
        made = msgspec.convert(data, _FiguresData)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected figures, found {quote(data)}") from error
    return arrangement_of(made.figures, document_of(made.document, folder), folder)


def open_script(path: str | Path) -> Replay:
    """The replay of a session file's recorded calls, before the first of them."""
    return Replay(read_actions(path))


def replay(path: str | Path, notes: list[str] | None = None) -> Document:
    """Make the recorded calls of a session file again, without a window; the resulting document.

    ``notes`` receives a line for everything that differs from the recording.
    """
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    if notes is not None:
        notes.extend(script.notes)
    return script.session.document
