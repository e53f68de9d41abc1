"""What outlives a window: work after a crash, preferences after an end in good order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from inside.app import AutosaveService, recoveries
from inside.session import load_preferences, load_session
from window_pilot import Pilot

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot("sample:walk")
    yield pilot
    if not pilot.app.finished:
        pilot.close()


def keep(pilot: Pilot, folder: Path) -> AutosaveService:
    keeper = AutosaveService(pilot.app.controller, pilot.app.painter.ui.layout, folder, folder / "preferences.json")
    pilot.app.autosave = keeper
    return keeper


def end(pilot: Pilot) -> int:
    """Let the loop run to its end."""
    pilot.app.clock = lambda: pilot.now + time.monotonic()
    code = pilot.app.run()
    pilot.app.finished = True
    return code


def test_a_fault_of_the_program_ends_it_with_1_and_the_work_is_kept(
    pilot: Pilot, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(pilot, tmp_path)
    x, y = pilot.effector("LeftHand")["screen"]
    pilot.drag((x, y), (x + 20, y - 20))
    document = pilot.session.document

    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(pilot.app, "step", fail)
    assert end(pilot) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: on purpose" in said
    assert "error: ikviewer stopped; the work is kept in" in said
    (left,) = tmp_path.glob("*.ikv.json")
    assert load_session(left).same_as(document)


def test_a_window_that_is_closed_leaves_no_work_behind_and_keeps_the_layout(pilot: Pilot, tmp_path: Path) -> None:
    keep(pilot, tmp_path)
    pilot.drag((229, 300), (300, 300))
    pilot.key("l")
    pilot.app.finished = True
    assert end(pilot) == 0
    assert recoveries(tmp_path) == ()
    assert not list(tmp_path.glob("*.ikv.json"))
    assert load_preferences(tmp_path / "preferences.json").layout == {"left": 300.0}


def test_nothing_is_offered_where_nothing_was_left(pilot: Pilot, tmp_path: Path) -> None:
    keep(pilot, tmp_path).offer()
    assert pilot.state["message"] is None


def left_behind(pilot: Pilot, folder: Path) -> None:
    """A window that was killed with work in it."""
    keeper = keep(pilot, folder)
    pilot.app.autosave = None  # nobody holds the file's lock, as nobody does after a kill
    pilot.key("l")
    assert keeper.rescue() is not None


def test_what_was_left_is_offered_and_comes_back_as_unsaved_work(pilot: Pilot, tmp_path: Path) -> None:
    left_behind(pilot, tmp_path)
    pilot.close()
    again = Pilot("sample:biped")
    pilot.app.finished = True
    try:
        keep(again, tmp_path).offer()
        (message,) = again.app.controller.view.bar.messages
        assert message.text.startswith("ikviewer stopped unexpectedly. Recover 1 min of work on walk, saved at ")
        assert [words for words, _ in message.actions] == ["Recover", "Discard"]
        again.app.controller.view.bar.choose(message, 0)
        again.step(3)
        assert again.state["joints"] == len(pilot.session.document.skeleton)
        assert not again.state["limits"]
        assert again.state["modified"], "closing must ask"
        assert recoveries(tmp_path) == ()
    finally:
        again.close()


def test_what_was_left_can_be_given_up(pilot: Pilot, tmp_path: Path) -> None:
    left_behind(pilot, tmp_path)
    keep(pilot, tmp_path).offer()
    (message,) = pilot.app.controller.view.bar.messages
    pilot.app.controller.view.bar.choose(message, 1)
    assert recoveries(tmp_path) == ()


def test_work_that_is_saved_is_not_kept(pilot: Pilot, tmp_path: Path) -> None:
    keeper = keep(pilot, tmp_path)
    pilot.key("l")
    pilot.app.controller.files.save_to(tmp_path / "work.ikv.json")
    assert keeper.rescue() is None


def test_saved_work_is_not_offered_after_a_kill(pilot: Pilot, tmp_path: Path) -> None:
    folder = tmp_path / "recovery"
    keep(pilot, folder)
    for _ in range(2):  # the second change is kept again
        pilot.key("l")
        deadline = time.monotonic() + 60.0
        while not list(folder.glob("*.ikv.json")) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert list(folder.glob("*.ikv.json"))
        pilot.app.controller.files.save_to(tmp_path / "work.ikv.json")
        pilot.step()
        assert not list(folder.glob("*.ikv.json"))
