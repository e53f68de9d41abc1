"""The action log: the calls that change a session, as plain data, and digests of their results, for replays.

Arguments of calls are tagged data; the kinds of values are a closed list, by name.
"""

from __future__ import annotations

import hashlib
import math
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import Field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import ArrayLike

import viewer
from viewer.document import Action, Document, GoalLayer, Grab, Item, Mode, Prop, Scope, Shape, Take, actions
from viewer.document.motion_curves import Tangent
from viewer.document.take import Blend, Key, PlantedContact, Track
from viewer.errors import FormatError, InputError, ViewerError, quote, unknown_name
from viewer.ik.backends import engine_for, serving
from viewer.session.figures import Arrangement, Call, Loop, Stage
from viewer.session.history import UndoHistory
from viewer.session.ik_drag import Chase, FigureEight, MovingTargets, Orbit, TargetMotion
from viewer.session.recorder import TakeRecorder
from viewer.session.serialiser import Packed, pack, plain_number, unpack
from viewer.session.stored_characters import CharacterData, character_data, character_of
from viewer.session.stored_documents import document_data, figures_data
from viewer.skeleton import Character, Pose, Skeleton

KIND, OF = "$", "of"
"""Names of the entries with a value's kind and its contents."""

_ACTIONS = [one for one in vars(actions).values() if isinstance(one, type) and issubclass(one, Action)]
_VALUES = (
    Item, Key, Grab, Pose, actions.CopiedKeys, Mode, Scope, Blend, Loop, Orbit, FigureEight, Chase,
    Prop, Shape, GoalLayer, PlantedContact, Tangent,
)  # fmt: skip
STORED_KINDS: dict[str, Any] = {kind.__name__: kind for kind in (*_ACTIONS, *_VALUES) if kind is not Action}
STORED_KINDS["Entry"] = Track  # so are keys called that were copied
"""Kinds that can be written, besides numbers, text, lists, arrays and mappings."""
_NAMES: dict[type, str] = {kind: name for name, kind in STORED_KINDS.items()}

_RENAMED = {"SetHandle": "SetGoal", "SetWanted": "SetGoalKind", "Wanted": "GoalKind"}
"""Names that kinds had in files of version 1."""

BARE = (
    "commit", "cancel", "undo", "redo", "stop", "accept_escape", "record", "stop_recording", "solve", "pause", "resume",
    "mark_saved",
)  # fmt: skip
"""Calls without arguments."""
ASKED = "escape_offered"
"""The one property whose value takes a solve; a replay reads it at the same place."""
SETTERS = ("speed", "record_tolerance_deg")
"""Values that are set."""

OPEN_FIGURES, LEAP_FIGURES, ADD_FIGURE = "open_figures", "leap_figures", "add_figure"
"""The same as "open" and "leap" for several figures; a figure was added."""
OPEN, LEAP, PUT = "open", "leap", "put"
"""Calls that are written with their resulting document: another document was shown; a step from before the recording
was undone or redone; an action of a kind that cannot be written was done.
"""
LOOP, BACKEND, PLACES = "loop", "backend", "places"
"""Settings found by the calls after it; the last: positions of targets whose paths cannot be written."""
CHECK, REFUSED, FAILED = "check", "refused", "failed"
"""Remarks on the call before: the digest of its result; that it raised a `ViewerError`, or another error."""

_MOVES = ("undo", "redo", "go_to")
_REPLACE = "replace"
QUIET = frozenset({"tick", "drag_to", "update", "loop", "backend", "places"})
"""Frequent calls, which are not each followed by a digest ..."""
BETWEEN = 30
"""... but by one after this many."""

_LETTERS = 12
_SHARED = (Skeleton, Take, Pose)
"""Types of values that documents share."""
_UNCHANGED: dict[object, tuple[str, ...]] = {
    Skeleton: (
        "rest_rotations", "kinds", "axes", "limits", "tip_parents", "tip_offsets", "poses", "mobility",
        "mobility_matrices", "inertias", "motors",
    )
}  # fmt: skip
"""Fields that only actions that read a file change; machines may read them with other last bits."""


def encoded(value: object) -> object:
    """A value as data that JSON can hold, exact to the last bit."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Enum) or value is None or isinstance(value, (bool, int, float, str)):
        return _plain(value)
    if isinstance(value, (tuple, list, Mapping)):
        return _many(value)
    if hasattr(value, "__array__"):
        return _array(np.asarray(value))
    if isinstance(value, Character):
        return {KIND: "Character", OF: msgspec.to_builtins(character_data(value))}
    name = _known(value)
    return {KIND: name, **{field.name: encoded(getattr(value, field.name)) for field in fields(value)}}  # type: ignore[arg-type]


def _many(values: tuple[object, ...] | list[object] | Mapping[Any, object]) -> object:
    if isinstance(values, Mapping):
        return {KIND: "map", OF: [[encoded(key), encoded(one)] for key, one in values.items()]}
    rows = [encoded(one) for one in values]
    return {KIND: _known(values), OF: rows} if hasattr(values, "_fields") else rows


def _known(value: object) -> str:
    if type(value) not in _NAMES:
        raise InputError(f"a {type(value).__name__} cannot be recorded")
    return _NAMES[type(value)]


def _plain(value: object) -> object:
    if isinstance(value, Enum):
        return {KIND: _known(value), OF: [value.value]}
    if isinstance(value, float) and not math.isfinite(value):
        return {KIND: "float", OF: repr(value)}
    return value


def _array(array: np.ndarray[Any, Any]) -> object:
    if array.dtype.kind not in "fi":
        return encoded(array.tolist())
    kind = "floats" if array.dtype.kind == "f" else "integers"
    return {KIND: kind, "shape": list(array.shape), OF: msgspec.to_builtins(pack(array))}


def decoded(data: object, folder: Path, path: str) -> Any:  # noqa: ANN401 - a value of any kind
    """Make a value from its data; lists become tuples.

    Files are looked for in ``folder``, besides their own paths; ``path`` is that of the data in the file, for messages.
    """
    if isinstance(data, list):
        return tuple(decoded(one, folder, f"{path}[{index}]") for index, one in enumerate(data))
    if not isinstance(data, dict):
        return data
    name = data.get(KIND)
    if not isinstance(name, str):
        raise FormatError(f"expected the kind of a value, found {quote(name)}", path=path)
    name = _RENAMED.get(name, name)
    if name in _READERS:
        return _READERS[name](data, folder, path)
    kind = STORED_KINDS.get(name)
    if kind is None:
        raise FormatError(unknown_name("kind of value", name, [*STORED_KINDS, *_READERS]), path=path)
    if name == "SetLength" and "to" not in data:  # then it named the joint at the bone's end
        data = {**data, "joint": "", "to": data.get("joint")}
    given = {key: decoded(one, folder, f"{path}.{key}") for key, one in data.items() if key != KIND}
    try:
        return _made(kind, given)
    except InputError as error:
        raise FormatError(str(error), path=path) from error
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise FormatError(f"expected the attributes of {name}, found others", path=path) from error


def _made(kind: Any, given: dict[str, Any]) -> object:  # noqa: ANN401 - one of `STORED_KINDS`
    if OF in given:
        return kind(*given[OF])
    if kind.__dataclass_params__.init:
        return kind(**given)
    changes = given.pop("changes")  # these take their changes as keywords
    return kind(**given, **changes)


def _map(data: dict[str, Any], folder: Path, path: str) -> object:
    try:
        return dict(decoded(data[OF], folder, path))
    except (TypeError, ValueError, KeyError) as error:
        raise FormatError("expected pairs of keys and values", path=path) from error


def _float(data: dict[str, Any], _: Path, path: str) -> object:
    words = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
    word = data.get(OF)
    if not isinstance(word, str) or word not in words:
        raise FormatError(f"expected nan, inf or -inf, found {quote(word)}", path=path)
    return words[word]


def _numbers(data: dict[str, Any], _: Path, path: str) -> object:
    shape, stored = data.get("shape"), data.get(OF)
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        raise FormatError("expected an array's shape", path=path)
    if isinstance(stored, dict):
        stored = _converted(stored, Packed, path)
    if not isinstance(stored, (list, Packed)):
        raise FormatError("expected an array's numbers", path=path)
    return unpack(stored, tuple(shape), path, whole=data[KIND] == "integers")


def _character(data: dict[str, Any], folder: Path, path: str) -> object:
    return character_of(_converted(data.get(OF), CharacterData, path), folder, path)


def _converted(data: object, kind: Any, path: str) -> Any:  # noqa: ANN401 - a struct
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        raise FormatError(f"expected a {kind.__name__}, found something else", path=path) from error


def _goal_kind(data: dict[str, Any], _: Path, path: str) -> object:
    """The kind of a goal, which was an enumeration when the file was written."""
    of = data.get(OF)
    if not isinstance(of, list) or len(of) != 1 or not isinstance(of[0], str):
        raise FormatError("expected the word of a kind of goal", path=path)
    return of[0]


_READERS = {
    "map": _map,
    "float": _float,
    "floats": _numbers,
    "integers": _numbers,
    "Character": _character,
    "GoalKind": _goal_kind,
}


def _dragged(items: tuple[Item, ...], *grabs: Grab | None) -> list[object]:
    held = [None if grab is None else Grab(*grab) for grab in grabs or (None,)]
    points = [grab and [grab.joint, encoded(grab.point_local)] for grab in held]
    return [[list(Item(*item)) for item in items], *points]


def _targets(targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> list[object]:
    return [[[*Item(*item), _row(position), _row(rotation)] for item, (position, rotation) in targets.items()]]


def _row(numbers: ArrayLike | None) -> object:
    """A plain list, because there are sixty of these a second."""
    return encoded(numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)


def _plainly(*given: object) -> list[object]:
    return [encoded(one) for one in given]


def _motions(motions: tuple[TargetMotion, ...]) -> list[object]:
    return [[[motion.effector, _path_data(motion.path), motion.shown] for motion in motions]]


def _path_data(path: object) -> object:
    """The path as data; None for any function of time, whose positions are written at each tick."""
    return encoded(path) if type(path) in _NAMES else None


WRITERS: dict[str, Callable[..., list[object]]] = {
    **dict.fromkeys((*BARE, ASKED), list),
    **dict.fromkeys(("dispatch", "update", "begin", "set_chain", "seek", "play", "tick", *SETTERS), _plainly),
    **dict.fromkeys((ADD_FIGURE, "remove_figure", "hide_figure", "place_figure", "activate", "link_goal"), _plainly),
    "begin_drag": _dragged,
    "drag_to": _targets,
    "animate": _motions,
}
"""Makes a call's arguments into data that JSON can hold, by the call's name; each has the call's own signature."""


class Machine(msgspec.Struct, frozen=True):
    """The machine that recorded: results are the same to the bit if all of these are."""

    program: str
    python: str
    numpy: str
    system: str

    def __str__(self) -> str:
        """``ikviewer 0.1.0, Python 3.11.2, numpy 2.1.0, Linux x86_64``."""
        return f"ikviewer {self.program}, Python {self.python}, numpy {self.numpy}, {self.system}"


def this_machine() -> Machine:
    """The machine that runs this process."""
    python = ".".join(map(str, sys.version_info[:3]))
    return Machine(viewer.__version__, python, np.__version__, f"{platform.system()} {platform.machine()}")


class _DocumentEntry(NamedTuple):
    """A call whose last argument is a document, or all figures; it is encoded only when the log is."""

    head: list[object]
    document: Document
    figures: Arrangement | None = None

    @property
    def data(self) -> object:
        document = document_data(self.document)
        return document if self.figures is None else {"document": document, "figures": figures_data(self.figures)}


class ActionLog:
    """Calls in order, with remarks and digests of their results.

    Entries are encoded as they come, so that saving a long recording takes no longer than writing its bytes. Another
    thread may read the log while entries are added.
    """

    def __init__(self, stage: Stage, history: UndoHistory, targets: MovingTargets, recorder: TakeRecorder) -> None:
        """Start with the document shown.

        Args:
            stage: has the document that calls lead to, and the clock.
            history: its present steps are not in the log: calls that undo them are written with their document.
            targets: a path that cannot be written is written position by position.
            recorder: its tolerance is the first entry, as the speed of the clock is, unless it is the default.
        """
        self._stage, self._history, self._targets = stage, history, targets
        self._start, self._steps_before = stage.document, history.steps
        self._figures = stage.figures
        self._loop, self._backend = Loop.LOOP, ""
        self._places: list[object] | None = None
        self._in_call = False
        self._entries: list[bytes | _DocumentEntry] = []
        self._head: bytes | None = None
        self._digester = Digester()
        self._unchecked = 0
        if stage.clock.speed != 1.0:
            self.add("speed", stage.clock.speed)
        if recorder.tolerance_deg != 0.0:
            self.add("record_tolerance_deg", recorder.tolerance_deg)

    def __len__(self) -> int:
        return len(self._entries)

    @contextmanager
    def record(self, name: str, *given: object) -> Iterator[Call]:
        """Record the call made in the block and its outcome; calls that it makes itself are not recorded."""
        if self._in_call:
            yield Call(name)
            return
        self._in_call = True
        call = Call(name, given[0] if given else None, _written(name, given), self._history.index)
        try:
            with serving(self._note_settings()):
                yield call
        except Exception as error:
            if self._write(call, done=False):
                self.add(*(REFUSED,) if isinstance(error, ViewerError) else (FAILED, type(error).__name__))
            raise
        else:
            if not call.idle:
                self._write(call)
                self._check(name)
        finally:
            self._in_call = False

    def add(self, name: str, *given: object) -> None:
        """Add a call or remark; its arguments must be data that JSON can hold."""
        self._entries.append(msgspec.json.encode([name, *given]))

    def _add_with_document(self, name: str, *given: object, figures: Arrangement | None = None) -> None:
        self._entries.append(_DocumentEntry([name, *given], self._stage.document, figures))

    def _note_settings(self) -> str:
        """Add settings that have changed before the next call; returns the backend that "auto" uses."""
        backend, loop = engine_for("auto")[1], self._stage.clock.loop
        if backend != self._backend:
            self.add(BACKEND, backend)
        if loop is not self._loop:
            self.add(LOOP, str(loop))
        self._loop, self._backend = loop, backend
        return backend

    def _write(self, call: Call, *, done: bool = True) -> bool:
        """Add a call; whether it can be made again exactly."""
        if call.name == _REPLACE:
            self._steps_before, figures = (), self._stage.figures
            self._add_with_document(OPEN if figures is None else OPEN_FIGURES, figures=figures)
        elif call.name in _MOVES:
            self._write_move(call)
        elif call.name == ADD_FIGURE and done:
            self._add_with_document(ADD_FIGURE, *call.data or ())
        elif call.data is not None:
            if call.name == "tick":
                self._write_places()
            self.add(call.name, *call.data)
        elif done and isinstance(call.given, Action):
            self._add_with_document(PUT, call.given.label, call.given.saved)
        else:
            self.add("commit")  # refusing it was the call's only effect
        return call.data is not None or call.name in _MOVES

    def _write_places(self) -> None:
        """Add the positions, at this tick, of moving targets whose paths no file can hold."""
        unwritten = [motion for motion in self._targets.motions if type(motion.path) not in _NAMES]
        positions: list[object] = [[one.effector, one.path(self._targets.seconds).tolist()] for one in unwritten]
        if positions and positions != self._places:
            self.add(PLACES, positions)
        self._places = positions

    def _write_move(self, call: Call) -> None:
        """Add undone or redone steps: a replay has only those since the recording began."""
        index = self._history.index
        crossed = self._history.steps[slice(*sorted((call.index, index)))]
        ours = [step for step in crossed if step not in self._steps_before]
        if len(ours) < len(crossed):
            steps, figures = (1 if index > call.index else -1) * len(ours), self._stage.figures
            rearranged = any(step.arranged is not None for step in crossed)
            if figures is None and not rearranged:
                self._add_with_document(LEAP, steps)
            else:
                self._add_with_document(LEAP_FIGURES, steps, figures=self._stage.arrangement)
        elif call.name == "go_to":
            self.add("go_to", int(call.given) - call.index if isinstance(call.given, int) else 0)
        else:
            self.add(call.name)

    def _check(self, name: str) -> None:
        """Add the digest of a call's result, if it is due."""
        self._unchecked += 1
        if name not in QUIET or self._unchecked >= BETWEEN:
            self._unchecked = 0
            self.add(CHECK, *self._digester.digest(self._stage.document))

    def written(self, count: int | None = None, last: Document | None = None) -> msgspec.Raw:
        """The log as JSON. ``count`` of the entries, None: all; ``last`` is the document after the last one."""
        count = len(self._entries) if count is None else count
        for index in range(count):
            entry = self._entries[index]
            if isinstance(entry, _DocumentEntry):
                self._entries[index] = self._encoded([*entry.head, entry.data])
        if self._head is None:
            head: dict[str, object] = {"machine": this_machine(), "start": document_data(self._start)}
            if self._figures is not None:
                head["figures"] = figures_data(self._figures)
            self._head = self._encoded(head)[:-1]
        tail = [] if last is None else [msgspec.json.encode([CHECK, *Digester().digest(last)])]
        calls: list[Any] = [*self._entries[:count], *tail]
        return msgspec.Raw(b'%s,"calls":[%s]}' % (self._head, b",".join(calls)))

    @staticmethod
    def _encoded(value: object) -> bytes:
        return msgspec.json.encode(value, enc_hook=plain_number)


def _written(name: str, given: tuple[Any, ...]) -> list[object] | None:
    """A call's arguments as data that JSON can hold; None if it cannot."""
    if name not in WRITERS:
        return None
    try:
        data = WRITERS[name](*given)
        msgspec.json.encode(data)
    except (ViewerError, msgspec.MsgspecError, TypeError, ValueError, OverflowError):
        return None
    return data


class Digest(NamedTuple):
    """The digest of a document.

    ``pose`` is of all its numbers, ``rest`` of all other fields; of the character only what actions change.
    """

    pose: str
    rest: str


class Digester:
    """Makes digests; shared values are hashed once."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[object, bytes]] = {}

    def digest(self, document: Document) -> Digest:
        """The digest of a document; those of different documents hardly ever collide."""
        rest = hashlib.sha256()
        for field in fields(document):
            value = getattr(document, field.name)
            if field.name != "pose" and _is_set(field, value):
                rest.update(field.name.encode())
                self._add(rest, field.name, value)
        pose = hashlib.sha256(document.pose.rotations.tobytes())
        pose.update(document.pose.translations.tobytes())
        return Digest(pose.hexdigest()[:_LETTERS], rest.hexdigest()[:_LETTERS])

    def _add(self, digest: Any, name: str, value: Any) -> None:  # noqa: ANN401 - a hash, any value
        if isinstance(value, np.ndarray):
            digest.update(value.tobytes())
        elif isinstance(value, Character):
            clips = [[clip.name, clip.frame_time, len(clip)] for clip in value.clips.values()]
            digest.update(_data([clips, value.source.metres_per_unit, value.source.up]))
        elif isinstance(value, _SHARED) and name:
            seen = self._read.get(name)
            if seen is None or seen[0] is not value:
                own = hashlib.sha256()
                self._add(own, "", value)
                seen = self._read[name] = value, own.digest()
            digest.update(seen[1])
        elif is_dataclass(value):
            for field in fields(value):
                one = getattr(value, field.name)
                if field.init and field.name not in _UNCHANGED.get(type(value), ()) and _is_set(field, one):
                    digest.update(field.name.encode())
                    self._add(digest, "", one)
        elif isinstance(value, Mapping):
            self._add(digest, name, [*value.items()])
        elif isinstance(value, (tuple, list)):
            for number, one in enumerate(value):
                digest.update(b",")
                self._add(digest, f"{name} {number}" if name else "", one)
        else:
            digest.update(_data(sorted(value) if isinstance(value, frozenset) else value))


def _is_set(field: Field[Any], value: object) -> bool:
    """Whether a value is not the field's default, so that a field added later leaves earlier digests unchanged."""
    return isinstance(value, np.ndarray) or not (value is field.default or value == field.default)


def _data(value: object) -> bytes:
    # Numbers of numpy hash as plain ones do.
    return msgspec.json.encode(value, enc_hook=float)


def digest_of(document: Document) -> str:
    """The digest of one document as text, for programs that compare what two windows show."""
    return "-".join(Digester().digest(document))
