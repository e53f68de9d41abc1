"""Hours of work in short: rounds of random actions, what must hold after each, and the memory that stays."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from inside.session import session_bytes
from restless import Restless, faults
from sessions import QUICK

import viewer
from viewer.document import Document, new_document
from viewer.session import Session
from viewer.ui import Controller, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SAMPLES = ("walk", "biped", "claw-arm", "biped-hands")
ROUND = 60
"""Things that are done in a round: fewer than the steps that a history keeps."""
STEADY = 0.05
"""Part by which there may be more objects after later rounds than after the first ones, at most."""

FEW = 5
"""Documents more or less that what was done last may hold."""


class Round(NamedTuple):
    """What is seen at the end of a round.

    Attributes:
        number: from 0.
        done: things done.
        refused: how many of them could not be.
        documents: how many are still in memory after everything was undone and garbage was collected.
        objects: how many objects of any kind there are then.
        resident: bytes of the process; 0 where the system does not say.
    """

    number: int
    done: int
    refused: int
    documents: int
    objects: int
    resident: int


def rounds(seed: int, things: int = ROUND) -> Iterator[Round]:
    """Work, round after round, in one window's controller, as long as anybody asks.

    Raises:
        AssertionError: a document that must not be; undoing all that does not lead to the start.
    """
    controller = Controller(Session(new_document(viewer.load("sample:walk"))))
    session, number = controller.session, 0
    while True:
        document = new_document(viewer.load(f"sample:{SAMPLES[number % len(SAMPLES)]}"))
        session.replace(replace(document, solver=replace(document.solver, backend=QUICK)))
        session.record_actions(on=number % 2 == 1)
        hands = Restless(session, seed * 1_000_003 + number)
        for _ in range(things):
            hands.act()
            wrong = faults(session.document)
            assert not wrong, f"seed {seed}, round {number}: {wrong} after {session.history.labels[-1:]}"
        controller.tick(hands.now)
        controller.draw_list()
        state_of(controller, (1280, 720))
        session_bytes(session.document)
        check_history(session)
        refused = sum(hands.refused.values())
        session.replace(new_document(viewer.load("sample:walk")))
        del hands
        yield Round(number, things, refused, *alive(), resident())
        number += 1


def check_history(session: Session) -> None:
    """Undoing all leads to the very document that it began with, and doing all again to where it was."""
    session.stop_recording()
    session.commit()
    start, end = session.history.steps[0].before.document, session.history.steps[-1].after.document
    while session.undo():
        pass
    assert session.document is start
    while session.redo():
        pass
    assert session.document is end
    session.go_to(0)
    assert session.document is start
    session.go_to(len(session.history))
    assert session.document is end


def alive() -> tuple[int, int]:
    """Documents, and objects of any kind, that are still held; asking a dead proxy for its class would raise."""
    gc.collect()
    objects = gc.get_objects()
    return sum(type(one) is Document for one in objects), len(objects)


def resident() -> int:
    """Bytes of this process in memory."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return 4096 * pages


def wear(seen: list[Round]) -> list[str]:
    """What grows from round to round; the first one of each figure fills caches."""
    early, late = seen[: len(SAMPLES)], seen[-len(SAMPLES) :]
    found = []
    documents = [max(one.documents for one in some) for some in (early, late)]
    if documents[1] > documents[0] + FEW:
        found.append(f"documents: {documents[0]} early, {documents[1]} late")
    objects = [max(one.objects for one in some) for some in (early, late)]
    if objects[1] > (1.0 + STEADY) * objects[0]:
        found.append(f"objects: {objects[0]:,} early, {objects[1]:,} late")
    return found
