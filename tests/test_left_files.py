"""What programs that were killed leave behind: temporary files and locks go, recoveries are offered, all of them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from inside.app import AutosaveService, Layout, recoveries, sweep_locks
from inside.document import SetLimits
from inside.formats import FOREIGN_AGE, sweep, temporary_name, write_whole
from inside.session import Kept, load_session, open_session, session_bytes
from sessions import session
from ui_person import answer

from viewer.locks import lock
from viewer.ui import Controller

if TYPE_CHECKING:
    from pathlib import Path

posix = pytest.mark.skipif(sys.platform == "win32", reason="there nobody can ask for a process without ending it")

WRITES = """
import sys, time
from pathlib import Path
from viewer.formats.files import write_whole
def slow(file):
    file.write(b"half")
    file.flush()
    print("half", flush=True)
    time.sleep(60)
write_whole(Path(sys.argv[1]), slow)
"""


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


@posix
def test_the_temporary_file_of_a_program_goes_once_it_is_gone(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITES, str(tmp_path / "a.txt")], stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "half\n"
        (left,) = names(tmp_path)
        sweep(tmp_path)
        assert names(tmp_path) == [left], "its program writes still"
        child.kill()
    sweep(tmp_path)
    assert names(tmp_path) == []


@posix
def test_writing_sweeps_its_folder_first(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = temporary_name(tmp_path).name.replace(f"-{os.getpid()}-", f"-{ended.pid}-")
    (tmp_path / dead).touch()
    write_whole(tmp_path / "a.txt", "a")
    assert names(tmp_path) == ["a.txt"]


def test_nothing_else_is_swept(tmp_path: Path) -> None:
    kept = [
        temporary_name(tmp_path).name,  # ours
        ".ikviewer-0123456789abcdef.tmp",  # of a version that did not say whose it was
        f".ikviewer-ffffffff-{os.getpid()}-0123456789abcdef.tmp",  # of another machine
        ".ikviewer-notes.tmp",
        "ikviewer-0123456789abcdef.tmp",
        ".ikviewer-0123456789abcdef.tmp.bvh",
    ]
    for name in kept:
        (tmp_path / name).touch()
    (tmp_path / ".ikviewer-00000000-1-0123456789abcdef.tmp").mkdir()  # a folder cannot be one
    before = names(tmp_path)
    sweep(tmp_path)
    assert names(tmp_path) == before


def test_after_a_day_those_of_unknown_programs_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (".ikviewer-0123456789abcdef.tmp", ".ikviewer-ffffffff-1-0123456789abcdef.tmp"):
        (tmp_path / name).touch()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + FOREIGN_AGE - 60.0)
    sweep(tmp_path)
    assert len(names(tmp_path)) == 2
    monkeypatch.setattr(time, "time", lambda: now + FOREIGN_AGE + 60.0)
    sweep(tmp_path)
    assert names(tmp_path) == []


def test_a_folder_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    sweep(tmp_path / "gone")
    sweep_locks(tmp_path / "gone")


# Locks


def test_locks_of_windows_that_left_nothing_go_and_those_that_are_held_stay(tmp_path: Path) -> None:
    for name in ("gone.ikv.lock", "left.ikv.lock"):
        (tmp_path / name).touch()
    (tmp_path / "left.ikv.json").write_bytes(session_bytes(session().document, Kept(at=1.0, since=0.0)))
    held = lock(tmp_path / "alive.ikv.lock")
    assert held is not None
    with held:
        sweep_locks(tmp_path)
        assert names(tmp_path) == ["alive.ikv.lock", "left.ikv.json", "left.ikv.lock"]
    sweep_locks(tmp_path)
    assert names(tmp_path) == ["left.ikv.json", "left.ikv.lock"]


# Recoveries


def window(folder: Path) -> tuple[Controller, AutosaveService]:
    controller = Controller(session())
    return controller, AutosaveService(controller, Layout(), folder, folder / "preferences.json")


def leave(folder: Path, file: str, *, on: bool, **kept: object) -> None:
    made = session()
    made.dispatch(SetLimits(on=on))
    content = session_bytes(made.document, Kept(**{"at": 125.0, "since": 5.0, **kept}))  # type: ignore[arg-type]
    (folder / f"{file}.ikv.json").write_bytes(content)


def test_every_recovery_is_offered_and_each_can_be_had(tmp_path: Path) -> None:
    leave(tmp_path, "a", on=True, name="walk.bvh")
    leave(tmp_path, "b", on=False, name="walk.bvh")  # of the same minute, in the same words
    leave(tmp_path, "c", on=False, at=900.0, path="/x/run.ikv.json")
    controller, keeper = window(tmp_path)
    keeper.offer()
    bar, day = controller.view.bar, time.strftime("%H:%M on %d %b", time.localtime(125.0))
    offered = ["15 min of work on run.ikv.json, ", *["2 min of work on walk.bvh, "] * 2, "Discard all 3"]
    rest = [*offered[1:3], "Discard all 2"]

    def left() -> list[str]:
        (message,) = bar.messages
        return [label.partition(", ")[0] + ", " if ", " in label else label for label, _ in message.actions]

    assert left() == offered
    assert bar.messages[0].text == "ikviewer stopped unexpectedly 3 times. Recover which work?"
    assert bar.messages[0].actions[1][0] == f"2 min of work on walk.bvh, {day}"
    bar.choose(bar.messages[0], 0)
    assert controller.session.path is not None
    assert controller.session.path.name == "run.ikv.json"
    assert left() == rest, "the others are offered still"
    # What is shown now would be lost by the next: that is asked first, and the offer stays until it is answered.
    before = controller.session.document
    bar.choose(bar.messages[0], 1)
    assert controller.view.requests[-1].name == "question"
    assert left() == rest
    answer(controller, "Cancel")
    assert controller.session.document is before
    bar.choose(bar.messages[0], 1)
    answer(controller, "Discard")
    assert len(recoveries(tmp_path)) == 1
    assert left() == ["Recover", "Discard"]
    assert bar.messages[0].text == f"ikviewer stopped unexpectedly. Recover 2 min of work on walk.bvh, saved at {day}?"
    bar.choose(bar.messages[0], 1)
    assert recoveries(tmp_path) == ()


def test_work_is_offered_once_a_killed_window_lets_go_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed holds its locks until it is gone, which can take seconds."""
    leave(tmp_path, "a", on=True)
    held = lock(tmp_path / "a.ikv.lock")
    assert held is not None
    controller, keeper = window(tmp_path)
    bar, now = controller.view.bar, time.monotonic()
    keeper.offer()
    keeper.tick()
    assert not bar.messages
    held.close()
    monkeypatch.setattr(time, "monotonic", lambda: now + 1.0)
    keeper.tick()
    (message,) = bar.messages
    assert [words for words, _ in message.actions] == ["Recover", "Discard"]
    # A window that ends much later is not offered here.
    leave(tmp_path, "b", on=True)
    monkeypatch.setattr(time, "monotonic", lambda: now + 60.0)
    keeper.tick()
    keeper.tick()
    assert len(bar.messages[0].actions) == 2


def test_all_recoveries_are_discarded_at_once_and_the_newest_are_listed(tmp_path: Path) -> None:
    for number in range(8):
        leave(tmp_path, str(number), on=True, at=1000.0 * number + 500.0, since=1000.0 * number, name=f"{number}.bvh")
    controller, keeper = window(tmp_path)
    keeper.offer()
    (message,) = controller.view.bar.messages
    assert [label[:22] for label, _ in message.actions[:-1]] == [f"8 min of work on {n}.bvh" for n in (7, 6, 5, 4, 3)]
    assert message.actions[-1][0] == "Discard all 8"
    controller.session.dispatch(SetLimits(on=False))
    controller.view.bar.choose(message, 0)  # asks what to do with the changes shown
    controller.view.bar.choose(controller.view.bar.messages[-1], 5)
    assert recoveries(tmp_path) == ()
    answer(controller, "Discard")
    assert [message.text for message in controller.view.bar.messages if message.about == "recovery"] == []


def test_a_recovered_session_is_not_saved_over_what_another_window_saved_since(tmp_path: Path) -> None:
    path = tmp_path / "work.ikv.json"
    controller, keeper = window(tmp_path / "recovery")
    assert controller.files.save_to(path)
    controller.session.dispatch(SetLimits(on=False))
    left = keeper.rescue()
    assert left is not None
    kept = recoveries(tmp_path / "recovery")[0].kept
    assert (kept.path, kept.sha256) == (str(path), open_session(path).digest)
    other, _ = window(tmp_path / "recovery")
    other.opening.show_file(path)
    other.session.dispatch(SetLimits(on=False))
    other.session.dispatch(SetLimits(on=True))
    other.session.dispatch(SetLimits(on=False))
    other.run("file.save")
    third, again = window(tmp_path / "recovery")
    again.offer()
    third.view.bar.choose(third.view.bar.messages[-1], 0)
    third.run("file.save")
    asked = third.view.requests[-1].value
    assert asked.title == "work.ikv.json has changed on disk"  # type: ignore[attr-defined]
    assert asked.notes[0].endswith("which is kept as work.backup.ikv.json.")  # type: ignore[attr-defined]


def test_a_recovery_carries_its_motion(tmp_path: Path) -> None:
    import viewer  # noqa: PLC0415
    from viewer.document import new_document  # noqa: PLC0415

    motion = tmp_path / "walk.bvh"
    viewer.save(viewer.load("sample:walk"), motion)
    controller, keeper = window(tmp_path / "recovery")
    controller.session.replace(new_document(viewer.load(motion, units="cm")))
    controller.session.dispatch(SetLimits(on=False))
    left = keeper.rescue()
    motion.unlink()
    assert left is not None
    assert load_session(left).same_as(controller.session.document)
    assert open_session(left).motion is None, "nothing is to be asked after a crash"
