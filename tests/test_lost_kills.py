"""Work that is under way is kept while it lasts; a kill takes five seconds of it at most, and never half a file."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inside.app import AutosaveService, Layout
from inside.document import KeyPose, SetLimits
from inside.session import autosave, backup_of, load_session
from killing import MOST_LOST, Left, kill_one, replays
from restless import Restless
from sessions import session

from viewer.errors import OutputError
from viewer.ui import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from viewer.session import Session

# Autosave


def until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20.0
    while not done() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert done()


def kept(folder: Path) -> Path | None:
    return next(iter(folder.glob("*.ikv.json")), None)


@pytest.fixture
def keeper(tmp_path: Path) -> Iterator[AutosaveService]:
    controller = Controller(session())
    made = AutosaveService(controller, Layout(), tmp_path, tmp_path / "preferences.json")
    made._autosave._seconds = 0.0  # as often as it can
    yield made
    made.close()


def hands_of(keeper: AutosaveService) -> Session:
    return keeper._controller.session


def test_a_drag_under_way_is_kept_and_taken_back_it_is_not(keeper: AutosaveService, tmp_path: Path) -> None:
    made = hands_of(keeper)
    keeper.tick()  # a window has seen what it shows long before anybody presses
    made.begin("Turn")
    keeper.tick()
    assert kept(tmp_path) is None  # nothing is changed yet
    made.gestures.update(SetLimits(on=False))
    keeper.tick()
    until(lambda: kept(tmp_path) is not None)
    made.cancel()
    keeper.tick()
    until(lambda: kept(tmp_path) is None)


def test_a_recording_under_way_is_kept(keeper: AutosaveService, tmp_path: Path) -> None:
    made = hands_of(keeper)
    made.record()
    hands = Restless(made, 3)
    hands.session.begin_drag((hands.item(),))
    for _ in range(150):
        hands.ticks(1)
        if made.recorder.seconds > 1.5:
            break
    keeper.tick()
    until(lambda: (path := kept(tmp_path)) is not None and load_session(path).take is not None)


def test_a_fault_in_writing_is_said_and_the_next_change_is_kept(
    keeper: AutosaveService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> bytes:
        raise ZeroDivisionError("on purpose")

    with monkeypatch.context() as broken:
        broken.setattr(autosave, "session_bytes", fail)
        hands_of(keeper).dispatch(SetLimits(on=False))
        keeper.tick()
        until(lambda: keeper._autosave.problem == "ZeroDivisionError: on purpose")
    hands_of(keeper).dispatch(KeyPose(0))
    keeper.tick()
    until(lambda: kept(tmp_path) is not None)
    until(lambda: not keeper._autosave.problem)


def test_what_went_wrong_is_said_until_it_works_though_nothing_changes(
    keeper: AutosaveService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OutputError("the disk is full")

    monkeypatch.setattr(autosave, "FIRST_RETRY", 0.02)
    bar = keeper._controller.view.bar
    with monkeypatch.context() as disk:
        disk.setattr(autosave, "write_whole", full)
        hands_of(keeper).dispatch(SetLimits(on=False))
        keeper.tick()
        until(lambda: keeper._autosave.problem)
        keeper.tick()
        assert [one.text for one in bar.messages] == ["Autosave: the disk is full"]
    until(lambda: kept(tmp_path) is not None)
    until(lambda: not keeper._autosave.problem)
    keeper.tick()
    assert bar.messages == ()


def test_what_cannot_be_kept_is_said_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    controller = Controller(session())
    keeper = AutosaveService(controller, Layout(), tmp_path / "file" / "folder", tmp_path / "preferences.json")
    controller.session.dispatch(KeyPose(0))
    keeper.tick()
    until(lambda: keeper._autosave.problem)
    controller.session.dispatch(KeyPose(1))
    keeper.tick()
    controller.session.dispatch(KeyPose(2))
    keeper.tick()
    said = [
        one.text
        for one in controller.view.bar.messages
        if one.text.startswith("Autosave: nothing can be saved by itself")
    ]
    assert len(said) == 1
    keeper.close()


# Kills


@pytest.mark.slow
def test_a_kill_loses_five_seconds_at_most(tmp_path: Path) -> None:
    def kill(seed: int, after: float) -> Left:
        folder = tmp_path / str(seed)
        folder.mkdir()
        return kill_one(folder, seed, after)

    # Both at once, as they mostly wait.
    with ThreadPoolExecutor(2) as workers:
        left = list(workers.map(kill, (1, 2), (5.2, 1.7)))
    assert max(one.lost for one in left) <= MOST_LOST
    assert any(one.path is not None for one in left)
    for seed, one in enumerate(left, 1):
        if one.path is not None and seed % 2:
            assert replays(one), seed


SAVES = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from sessions import session
from viewer.document.actions import SetLimits
from viewer.session.session_files import save_session
made, path = session("walk"), Path(sys.argv[1])
save_session(made.document, path)
print("ready", flush=True)
while True:
    made.dispatch(SetLimits(not made.document.limits_on))
    save_session(made.document, path)
"""


@pytest.mark.parametrize("after", [0.05, 0.2])
def test_a_kill_while_saving_leaves_a_whole_file_and_a_whole_backup(after: float, tmp_path: Path) -> None:
    path = tmp_path / "work.ikv.json"
    command = [sys.executable, "-c", SAVES, str(path), str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        child.kill()
    load_session(path)
    backup = backup_of(path)
    assert backup is not None
    if backup.exists():
        load_session(backup)
