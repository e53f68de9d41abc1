"""Nothing is lost: by a kill, a full disk, a folder that cannot be written or is gone, or a save thought better of.

Work that is under way is kept while it lasts; a kill takes five seconds of it at most, and never half a file.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inside.app import AutosaveService, Layout, autosave_service
from inside.document import KeyPose, SetLimits
from inside.session import backup_of, is_session, load_session, save_session
from killing import MOST_LOST, Left, kill_one, replays
from restless import Restless
from sessions import session

from viewer.errors import FormatError, OutputError
from viewer.ui import Controller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from viewer.session import Session


ROOM = 200_000
"""Bytes of a disk that is soon full."""


def worked_on(name: str = "biped") -> Controller:
    controller = Controller(session(name))
    controller.session.dispatch(SetLimits(on=False))
    return controller


def message(controller: Controller) -> str:
    return controller.view.bar.messages[-1].text


def saved(folder: Path) -> tuple[Controller, Path, bytes]:
    """A session that was saved once, has a backup, and is modified since."""
    controller, path = worked_on(), folder / "work.ikv.json"
    assert controller.files.save_to(path)
    controller.session.dispatch(SetLimits(on=True))
    assert controller.files.save_to(path)
    controller.session.dispatch(SetLimits(on=False))
    return controller, path, path.read_bytes()


def fails(controller: Controller, path: Path, words: str) -> None:
    """Saving is refused with a message; the work is still there, and still unsaved."""
    document, kept = controller.session.document, controller.session.path
    assert not controller.files.save_to(path)
    assert message(controller).startswith(f"{path}: cannot be written: ")
    assert words in message(controller)
    assert controller.view.bar.messages[-1].level == "error"
    assert controller.session.document is document
    assert controller.session.modified
    assert controller.session.path == kept


def left_alone(path: Path, content: bytes) -> None:
    """The file and its backup are as they were, and there is nothing else."""
    backup = backup_of(path)
    assert backup is not None
    assert path.read_bytes() == content
    assert load_session(path).limits_on
    assert not load_session(backup).limits_on
    assert sorted(one.name for one in path.parent.iterdir()) == ["work.backup.ikv.json", "work.ikv.json"]


# One backup


def test_saving_keeps_what_the_file_held_before(tmp_path: Path) -> None:
    _, path, content = saved(tmp_path)
    left_alone(path, content)


def test_saving_the_same_again_keeps_the_version_before(tmp_path: Path) -> None:
    controller, path, _ = saved(tmp_path)
    controller.session.undo()
    assert controller.files.save_to(path)
    assert controller.files.save_to(path)
    backup = backup_of(path)
    assert backup is not None
    assert not load_session(backup).limits_on


def test_a_new_file_has_no_backup_and_a_backup_none_of_its_own(tmp_path: Path) -> None:
    controller = worked_on()
    path = tmp_path / "work.backup.ikv.json"
    assert controller.files.save_to(path)
    controller.session.undo()
    assert controller.files.save_to(path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert is_session(path)  # it opens as any other


def test_the_backup_of_a_link_lies_beside_the_file_that_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "link.ikv.json"
    link.symlink_to(tmp_path / "real" / "work.ikv.json")
    controller = worked_on()
    for _ in range(2):
        controller.session.dispatch(SetLimits(on=not controller.session.document.limits_on))
        assert controller.files.save_to(link)
    assert link.is_symlink()
    names = sorted(one.name for one in (tmp_path / "real").iterdir())
    assert names == ["work.backup.ikv.json", "work.ikv.json"]


def test_where_files_have_no_second_names_it_is_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", none)
    _, path, content = saved(tmp_path)
    left_alone(path, content)


def test_that_no_backup_could_be_kept_is_said_and_keeps_nobody_from_saving(tmp_path: Path) -> None:
    controller, path, _ = saved(tmp_path)
    backup = backup_of(path)
    assert backup is not None
    backup.unlink()
    backup.mkdir()
    assert controller.files.save_to(path)
    assert message(controller) == "Saved work.ikv.json; no backup could be kept: expected a file, found a folder"
    assert not load_session(path).limits_on
    assert not controller.session.modified


# What can go wrong in saving


def test_a_disk_that_is_full_half_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    controller, path, content = saved(tmp_path)

    def sync(number: int) -> None:
        os.truncate(number, os.fstat(number).st_size // 2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", sync)
        fails(controller, path, "the disk is full")
    left_alone(path, content)
    assert controller.files.save_to(path)  # there is room again


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own; skipped where none can be had."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False).returncode
    except OSError:
        done = 1
    if done != 0:
        pytest.skip("only root can mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_disk_that_really_is_full(small_disk: Path) -> None:
    controller, path, content = saved(small_disk)
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))
    fails(controller, path, "the disk is full")
    filler.unlink()
    left_alone(path, content)


def test_a_disk_that_is_read_only(small_disk: Path) -> None:
    controller, path, content = saved(small_disk)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    fails(controller, path, "read-only")
    left_alone(path, content)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    controller, path, content = saved(tmp_path)
    tmp_path.chmod(0o500)
    try:
        fails(controller, path, "no permission")
        left_alone(path, content)
    finally:
        tmp_path.chmod(0o700)


def test_a_file_that_is_read_only(tmp_path: Path) -> None:
    controller, path, content = saved(tmp_path)
    path.chmod(0o400)
    fails(controller, path, "the file is read-only")
    left_alone(path, content)


def test_a_folder_that_has_vanished(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    controller, path, _ = saved(folder)
    for one in folder.iterdir():
        one.unlink()
    folder.rmdir()
    fails(controller, path, "its folder does not exist")
    assert not folder.exists()
    assert controller.files.save_to(tmp_path / "elsewhere.ikv.json")


# Versions


def test_a_file_from_a_later_program_is_refused_and_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "new.ikv.json"
    path.write_text('{"version": 99, "type": "session", "document": {"soul": true}}', encoding="utf-8")
    with pytest.raises(FormatError) as raised:
        load_session(path)
    assert str(raised.value) == f"{path}: version: expected 3, found 99: the file is from a later program"
    controller = worked_on()
    before = controller.session.document
    assert not controller.opening.show_file(path)
    assert controller.session.document is before
    assert controller.session.path is None


def test_a_file_from_before_takes_planes_and_actions_opens(tmp_path: Path) -> None:
    path = tmp_path / "old.ikv.json"
    made = session("walk")
    save_session(made.document, path)
    tree: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for name in ("take", "put_aside", "auto_key", "planar"):
        tree["document"].pop(name, None)
    path.write_text(json.dumps(tree), encoding="utf-8")
    assert load_session(path).same_as(made.document)


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
        broken.setattr(autosave_service, "session_bytes", fail)
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

    monkeypatch.setattr(autosave_service, "FIRST_RETRY", 0.02)
    bar = keeper._controller.view.bar
    with monkeypatch.context() as disk:
        disk.setattr(autosave_service, "write_whole", full)
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
        if one.text.startswith("Autosave: the recovery file cannot be written")
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
