"""The recorded sessions of ``tests/recorded``: where they are, what is compared, and how.

``tests/recorded/v1`` holds, for each recording, a session file with the recorded actions and the document that they led
to (NAME.ikv.json), and beside it what is expected of that document (NAME.expected.json). ``tests/recorded/make.py``
makes them. Where the actions lead to another document since, the expectation is of that one, and its "since" says why.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from inside.session import digest_of, load_session, open_script, save_session

from viewer import Goal
from viewer.document import stand_of, world_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viewer.document import Document
    from viewer.session import Session

FOLDER = Path(__file__).resolve().parent / "recorded"
SUFFIX, EXPECTED = ".ikv.json", ".expected.json"
TOLERANCE = 1e-6
"""Metres, or of a quaternion's component: what another machine's last bits may grow to over a drag."""
DIGITS = 8
"""Decimals of the positions in an expectation: a hundredth of the tolerance."""

Tree = dict[str, Any]


HALF = math.sqrt(0.5)
ALL_GOALS = (
    Goal.position("LeftHand", (0.4, 1.3, 0.25)),
    Goal.position("LeftForeArm", (0.1, 1.0, 0.3), weight=0.5, enabled=False),
    Goal.rotation("Head", (0.0, HALF, 0.0, HALF), rotation_weight=2.0),
    Goal.pose("RightHand", (-0.3, 1.1, 0.35), (HALF, 0.0, 0.0, HALF), weight=3.0, rotation_weight=0.25),
    Goal.pin("LeftFoot"),
    Goal.pin("RightFoot", rotation=False),
    Goal.pin("RightToes", position=False),
    Goal.pin("Hips", (0.0, 0.9, 0.05), (0.0, 0.0, 0.0, 1.0)),
    Goal.pin("LeftToes", (0.1, 0.0, 0.2), rotation=False, weight=12.0),
    Goal.distance("RightForeArm", 0.3, (0.0, 1.2, 0.4), offset=(0.0, 0.05, -0.01)),
    Goal.aim("Head.tip", (0.5, 1.5, 2.0), (0.0, 0.0, 1.0), weight=0.1),
)
"""Of the sample biped: every kind that a file of version 1 can hold, and every word."""
NEWER_GOALS = (
    Goal.position("LeftHand", (0.4, 1.3, 0.25), id="reach"),
    Goal.aim("LeftHand", (0.5, 1.5, 2.0), (0.0, 0.0, 1.0)),
    Goal.bend("LeftForeArm", math.radians(70.0), rotation_weight=0.5),
    Goal.position("RightHand", (-0.3, 1.1, 0.35), hold=True),
    Goal.pole("RightForeArm", (-0.6, 0.9, -0.8)),
    Goal.position("Head", (0.0, 1.55, 0.05), level=2),
    Goal.relative("LeftHand", "RightHand"),
    Goal.relative("LeftFoot", "RightFoot", (0.2, 0.0, 0.1), rotation=False),
    Goal.relative("Head", "LeftArm", position=False, rotation=(0.0, HALF, 0.0, HALF)),
    Goal.balance(0.02),
    Goal.grip("Hips", "ball"),
)
"""What version 2 adds."""
BY_HAND = (
    Goal.position("LeftHand", (1.0, 2.0, 0.0)),
    Goal.pin("LeftFoot"),
    Goal.pin("RightFoot", rotation=False),
    Goal.pin("Head", position=False),
    Goal.aim("Neck", (0.0, 1.0, 5.0), (0.0, 0.0, 1.0)),
)
MIDPOINTS = (
    Goal.midpoint("LeftHand", "RightHand", (0.0, 1.2, 0.3)),
    Goal.midpoint("LeftFoot", "Head.tip", (0.0, 0.9, 0.1), offset=(0.0, 0.02, 0.0), weight=2.0, enabled=False),
)
GOALS = {
    "v1/goals": ALL_GOALS, "v1/goals-by-hand": BY_HAND, "v2/goals": NEWER_GOALS, "v2/goals-midpoint": MIDPOINTS,
}  # fmt: skip
"""The goals of each goals file, by its place in `FOLDER`: as the program writes them, or as people may. A file stays as
it is: a new kind of goal, or a new word, gets a line and a file of its own ("v2/goals-NAME")."""


def recordings() -> list[Path]:
    """The session files, of every version."""
    return sorted(FOLDER.glob(f"v*/*{SUFFIX}"))


def expectation_of(path: Path) -> Path:
    """The file of what is expected of a recording."""
    return path.with_name(path.name.removesuffix(SUFFIX) + EXPECTED)


def replayed(path: Path) -> tuple[Session, list[str]]:
    """The session after all recorded actions, and the notes of what went otherwise."""
    script = open_script(path)
    while not script.finished:
        script.tick(0.0)
    return script.session, script.notes


def facts(session: Session) -> Tree:
    """The result of a session as readable data; the session is left at its last undo step."""
    shown = facts_of(session.document)
    steps = {"history": list(session.history.labels), "undo_depth": session.history.index, "middles": _middles(session)}
    return steps | shown | figures_of(session)


def figures_of(session: Session) -> Tree:
    """Where several figures stand, and what each shows; nothing of one."""
    arrangement = session.stage.figures
    if arrangement is None:
        return {}
    return {
        "figures": {
            one.name: [_rounded((*one.placement.offset, one.placement.yaw)), one.hidden, one.state.document.frame]
            + [[link.goal, link.target] for link in one.links]
            for one in arrangement.figures
        },
        "active": arrangement.figure.name,
    }


def _middles(session: Session) -> list[list[float]]:
    """By undo step, from the start to the last, the mean position of all joints, metres."""
    here, found = session.history.index, []
    for step in range(len(session.history) + 1):
        session.go_to(step)
        world = world_of(session.document.skeleton, session.document.pose)
        found.append(_rounded(world.positions.mean(axis=0)))
    session.go_to(here)
    return found


def facts_of(document: Document) -> Tree:
    """What a document holds, as data that a person can read."""
    skeleton, take = document.skeleton, document.take
    world = world_of(skeleton, document.pose)
    where = {h.id: stand_of(document, h).point for h in document.goals}
    keys = {skeleton.names[track.joint]: track.frames.tolist() for track in take.tracks} if take else {}
    return {
        "joints": list(skeleton.names),
        "roots": [_rounded(world.positions[root]) for root in skeleton.roots.tolist()],
        "effectors": {name: _rounded(position) for name, position in where.items()},
        "goals": {
            h.id: (str(h.kind) if h.enabled else "off") + (" pinned" if h.pinned else "") for h in document.goals
        },
        "selection": [list(item) for item in document.selection],
        "limits": [document.limits_on, sorted(document.unlimited)],
        "method": document.solver.method,
        "modes": [str(document.mode), str(document.scope), document.planar, document.auto_key],
        "clip": [document.clip, document.frame, document.frames, list(document.played)],
        "keys": sum(map(len, keys.values())),
        "key_frames": sorted({frame for frames in keys.values() for frame in frames}),
        "other_takes": [other.base for other in document.put_aside],
    }


def _rounded(position: Any) -> list[float]:  # noqa: ANN401 - an array
    return [round(float(number), DIGITS) + 0.0 for number in position]


def differences(one: object, other: object, path: str = "") -> Iterator[str]:
    """Where two values differ by more than `TOLERANCE`: documents, data of JSON, and whatever they are made of."""
    if one is other:
        return
    if type(one) is not type(other):
        yield f"{path}: {one!r} and {other!r}"
    elif isinstance(one, (np.ndarray, float, np.floating)):
        first, second = np.asarray(one), np.asarray(other)
        if first.shape != second.shape or not np.allclose(first, second, rtol=0.0, atol=TOLERANCE, equal_nan=True):
            yield f"{path}: {one!r} and {other!r}"
    elif (parts := _parts(one)) is None or (its := _parts(other)) is None:
        if one != other:
            yield f"{path}: {one!r} and {other!r}"
    elif parts.keys() != its.keys():
        yield f"{path}: {list(parts)} and {list(its)}"
    else:
        for name, part in parts.items():
            yield from differences(part, its[name], f"{path}.{name}")


def _parts(value: object) -> dict[object, object] | None:
    """What a value consists of, by name or place; None where it is no collection."""
    if is_dataclass(value) and not isinstance(value, type):
        # The digest of a stretch is of bits; what is not given to a constructor numbers objects of this process.
        names = [place.name for place in fields(value) if place.init and place.name != "digest"]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    return None


def store(session: Session, path: Path) -> None:
    """Write a recording and what is expected of it."""
    path.unlink(missing_ok=True)  # what stood there would be kept as a backup
    save_session(session.document, path, session.action_log, session.stage.figures)
    expected: Tree = {"digest": digest_of(session.document), **facts(session)}
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in expected.items())
    expectation_of(path).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def expected_of(path: Path) -> tuple[str, Tree]:
    """The digest of the document in a recording's file, and the facts."""
    found: Tree = json.loads(expectation_of(path).read_text(encoding="utf-8"))
    return found.pop("digest"), found


def stored(path: Path) -> tuple[Document, str]:
    """The document in a session file, and its digest."""
    document = load_session(path)
    return document, digest_of(document)


def calls(path: Path) -> list[list[Any]]:
    """The recorded calls of a session file, as they stand in it."""
    found: list[list[Any]] = json.loads(path.read_text(encoding="utf-8"))["actions"]["calls"]
    return found


def kinds_in(data: object) -> Iterator[str]:
    """The names of all kinds of values in recorded data."""
    if isinstance(data, dict):
        if isinstance(data.get("$"), str):
            yield data["$"]
        data = [*data.values()]
    if isinstance(data, list):
        for one in data:
            yield from kinds_in(one)
