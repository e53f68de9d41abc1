"""The calls that change a session: how each is written down, and how it is made again. No others are made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Document
from viewer.document.drag_goals import Grab
from viewer.document.effector_transform import still_report
from viewer.document.goal import Item
from viewer.session.demos.moving_targets import Motion
from viewer.session.history import State
from viewer.session.script.codec import KINDS, encoded
from viewer.session.transport import Loop

if TYPE_CHECKING:
    from viewer.session.script.player import Replay

BARE = (
    "commit", "cancel", "undo", "redo", "stop", "accept_escape", "record", "stop_recording", "solve", "pause", "resume",
)  # fmt: skip
"""Calls that are given nothing."""
ASKED = "escape_offered"
"""The one question whose answer takes a solve; it is asked again at the same place."""
SETTERS = ("speed", "record_tolerance_deg")
"""What is set by assignment and has a setter."""

OPEN, LEAP, PUT = "open", "leap", "put"
"""Another document was shown; a step from before the recording was undone or done; an action was done whose kind
cannot be written: what it led to is."""
LOOP, BACKEND, PLACES = "loop", "backend", "places"
"""What the calls after it find set, the last of them: where the targets are whose ways cannot be written."""
CHECK, REFUSED, FAILED = "check", "refused", "failed"
"""Remarks on the call before: the digest of where it led; that it raised a `ViewerError`, or another error."""


def _dragged(items: tuple[Item, ...], grab: Grab | None = None) -> list[object]:
    held = None if grab is None else Grab(*grab)
    return [[list(Item(*item)) for item in items], held and [held.joint, encoded(held.point_local)]]


def _targets(targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> list[object]:
    return [[[*Item(*item), _row(place), _row(turn)] for item, (place, turn) in targets.items()]]


def _row(numbers: ArrayLike | None) -> object:
    """There are sixty of these a second: a plain list."""
    return encoded(numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)


def _one(value: object) -> list[object]:
    return [encoded(value)]


def _motions(motions: tuple[Motion, ...]) -> list[object]:
    return [[[motion.effector, _way(motion.path), motion.shown] for motion in motions]]


def _way(path: object) -> object:
    """The way as data; None where it is any function of time: then each tick says where it has come to."""
    return encoded(path) if type(path).__name__ in KINDS else None


def _play(direction: int = 1) -> list[object]:
    return [encoded(direction)]


def _saved(path: object = None, disk: object = None) -> list[object]:
    """Where a session was saved is nobody's business."""
    del path, disk
    return []


WRITERS: dict[str, Callable[..., list[object]]] = {
    **dict.fromkeys((*BARE, ASKED), list),
    **dict.fromkeys(("dispatch", "update", "begin", "set_chain", "seek", "tick", *SETTERS), _one),
    "begin_drag": _dragged,
    "drag_to": _targets,
    "play": _play,
    "animate": _motions,
    "mark_saved": _saved,
}
"""What a call was given, as data that JSON can hold, by the call's name; each has the call's own signature."""


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


def _leap(session: Replay, steps: int, document: Document) -> None:
    session.go_to(session.history_index + steps)
    session._leave(State(document, still_report(document)))  # noqa: SLF001 - the session's own room


def _put(session: Replay, label: str, saved: bool, document: Document) -> None:
    session._put(label, State(document, still_report(document)), saved=bool(saved))  # noqa: SLF001 - likewise


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
    **{name: _call(name) for name in (*BARE, "dispatch", "update", "begin", "set_chain", "seek", "play", "mark_saved")},
    **{name: _assign(name) for name in SETTERS},
    "begin_drag": _begin_drag,
    "drag_to": _drag_to,
    "go_to": lambda session, steps: session.go_to(session.history_index + steps),
    "tick": lambda session, now: session.tick_at(now),
    ASKED: lambda session: session.escape_offered,
    "animate": _animate,
    PLACES: _places,
    OPEN: lambda session, document: session.replace(document),
    LEAP: _leap,
    PUT: _put,
    LOOP: _set_loop,
    BACKEND: lambda session, name: session.serve(name),
}
"""What makes a call again, by its name; it is given the session and the decoded data."""

DOCUMENTS = {OPEN: 0, LEAP: 1, PUT: 2}
"""Calls whose data end in a document, and which of the data that is."""
