"""Work at a session that is killed, and how much of it is lost: twice for the tests, 50 times for benchmarks/kill.py.

Run as a program it is the one that is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))

from inside.app import AutosaveService, Layout, recoveries
from inside.document import SetLimits
from inside.session import Preferences, digest_of, load_session, replay
from restless import TICK, Restless

import viewer
from viewer.document import new_document
from viewer.session import Session
from viewer.ui import Controller

if TYPE_CHECKING:
    from viewer.document import Document

MOST_LOST = 5.0
"""Seconds of work that a kill may take, at most."""
READY = "ready"


class Line(NamedTuple):
    """What the worker says of itself after each tick.

    Attributes:
        at: when, seconds of the machine's clock.
        digest: of the document.
        unsaved: whether there is anything to lose.
    """

    at: float
    digest: str
    unsaved: bool


class Worker(Restless):
    """Works in real time, with the keeper that a window has, and writes down what there is after each tick."""

    def __init__(self, folder: Path, log: Path, seed: int) -> None:
        preferences = Preferences(record_actions=bool(seed % 2))
        controller = Controller(Session(new_document(viewer.load("sample:walk"))), preferences)
        super().__init__(controller.session, seed)
        self.keeper = AutosaveService(controller, Layout(), folder, folder / "preferences.json")
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.digest = digest_of(self.document)

    def ticks(self, count: int) -> None:
        for _ in range(max(1, count)):
            super().ticks(1)
            self.keeper.tick()
            self.write()
            time.sleep(TICK)

    def write(self) -> None:
        session = self.session
        if session.recorder.recording or not session.clock.direction:  # frames that are played are nothing to lose
            self.digest = digest_of(session.document)
        unsaved = session.modified or session.recorder.recording is not None or session.gestures.label is not None
        os.write(self.log, f"{time.monotonic()} {self.digest} {int(unsaved)}\n".encode())


class Left(NamedTuple):
    """What a killed worker has left.

    Attributes:
        lost: seconds of work.
        document: what was recovered; None: nothing had to be.
        path: its file.
    """

    lost: float
    document: Document | None
    path: Path | None


def kill_one(folder: Path, seed: int, after: float) -> Left:
    """Let one work, kill it after so many seconds, and see what is left.

    Raises:
        AssertionError: what is left was never there.
    """
    log = folder / "log"
    command = [sys.executable, __file__, str(folder), str(log), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == READY
        time.sleep(after)
        child.kill()
        killed = time.monotonic()
    return left_behind(folder, log, killed)


def left_behind(folder: Path, log: Path, killed: float) -> Left:
    """How much is lost of what the log says there was."""
    lines = [_line(text) for text in log.read_text(encoding="utf-8").splitlines()]
    found = recoveries(folder)
    if not found:
        safe = [line.at for line in lines if not line.unsaved] or [lines[0].at]
        return Left(killed - safe[-1] if lines[-1].unsaved else 0.0, None, None)
    path = found[0].path
    document = load_session(path)
    digest = digest_of(document)
    seen = [line.at for line in lines if line.digest == digest]
    assert seen, "what was recovered was never there"
    return Left(killed - seen[-1], document, path)


def _line(text: str) -> Line:
    at, digest, unsaved = text.split()
    return Line(float(at), digest, unsaved == "1")


def replays(left: Left) -> bool:
    """Whether the recorded actions lead to what was recovered."""
    notes: list[str] = []
    assert left.path is not None
    assert left.document is not None
    return replay(left.path, notes).same_as(left.document) and not notes


def main() -> None:
    """Work until somebody comes."""
    folder, log, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    worker = Worker(folder, log, seed)
    worker.session.dispatch(SetLimits(on=False))
    worker.ticks(1)
    print(READY, flush=True)  # noqa: T201 - this is how the parent knows
    while True:
        worker.act()


if __name__ == "__main__":
    main()
