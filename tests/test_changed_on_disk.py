"""A session file that somebody else has written is not written over unasked: two windows lose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inside.document import SetLimits
from inside.session import backup_of, load_session, open_session
from panel_window import PanelWindow
from sessions import session
from ui_person import answer

import viewer
from viewer.session import Session
from viewer.ui import Controller

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    path = tmp_path / "work.ikv.json"
    assert Controller(session()).files.save_to(path)
    return path


def opened(path: Path) -> Controller:
    """Another window, as the command opens it."""
    found = open_session(path)
    return Controller(Session(found.document, path, found.digest))


@pytest.fixture
def window(work: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PanelWindow]:
    monkeypatch.chdir(work.parent)
    made = PanelWindow(viewer.load("sample:biped"))
    assert made.controller.opening.show_file(work)
    yield made
    made.close()


def turned_off(controller: Controller) -> None:
    controller.session.dispatch(SetLimits(on=False))


def asked(window: PanelWindow) -> bool:
    window.controller.files.save()
    window.frames(4)
    return window.popup


def saved_elsewhere(path: Path) -> bytes:
    """The other window changes the session, and saves it."""
    other = opened(path)
    other.session.dispatch(SetLimits(on=not other.session.document.limits_on))
    other.run("file.save")
    assert not other.session.modified
    return path.read_bytes()


def test_what_nobody_else_has_written_is_saved_unasked(window: PanelWindow, work: Path) -> None:
    for on in (False, True, False):
        window.session.dispatch(SetLimits(on=on))
        assert not asked(window)
        assert load_session(work).limits_on == on
    work.touch()  # the same bytes, whatever their date
    assert not asked(window)


def test_a_file_that_is_gone_is_written_anew(window: PanelWindow, work: Path) -> None:
    work.unlink()
    assert not asked(window)
    assert work.exists()


def test_two_windows_on_one_session_lose_nothing(window: PanelWindow, work: Path) -> None:
    turned_off(window.controller)
    theirs = saved_elsewhere(work)
    assert asked(window)
    assert work.read_bytes() == theirs
    assert window.session.modified
    assert "work.ikv.json has changed on disk" in window.words("questions")


def test_replaced_the_other_version_is_the_backup(window: PanelWindow, work: Path) -> None:
    window.session.dispatch(SetLimits(on=False))
    window.session.dispatch(SetLimits(on=True))
    theirs, backup = saved_elsewhere(work), backup_of(work)
    assert asked(window)
    window.click("questions", "Replace")
    assert not window.popup
    assert load_session(work).same_as(window.session.document)
    assert backup is not None
    assert backup.read_bytes() == theirs
    assert not window.session.modified
    assert not asked(window)  # the file is this window's now


def test_cancelled_both_are_as_they_were(window: PanelWindow, work: Path) -> None:
    turned_off(window.controller)
    document, theirs = window.session.document, saved_elsewhere(work)
    assert asked(window)
    window.click("questions", "Cancel")
    assert not window.popup
    assert work.read_bytes() == theirs
    assert window.session.document is document
    assert window.session.modified


def test_reloaded_it_is_the_other_version(window: PanelWindow, work: Path) -> None:
    saved_elsewhere(work)
    assert asked(window)
    window.click("questions", "Reload")
    assert window.session.document.same_as(load_session(work))
    assert not window.session.modified
    assert not asked(window)


def test_under_another_name_there_are_both(window: PanelWindow, work: Path) -> None:
    turned_off(window.controller)
    theirs = saved_elsewhere(work)
    (work.parent / "work 2.ikv.json").write_text("somebody's", encoding="utf-8")
    assert asked(window)
    window.click("questions", "Save as…")
    window.frames(4)
    state = window.ui._memories["files"]["state"]
    assert state.name == "work 3.ikv.json"
    assert state.asked.done(work.parent / state.name)
    assert work.read_bytes() == theirs
    assert not load_session(work.parent / state.name).limits_on
    assert window.session.path == work.parent / "work 3.ikv.json"


def test_what_waits_for_the_saving_waits_for_the_answer_too(window: PanelWindow, work: Path) -> None:
    turned_off(window.controller)
    saved_elsewhere(work)
    done: list[int] = []
    files = window.controller.files
    files.unless_unsaved(lambda: done.append(1))
    answer(window.controller, "Save")
    answer(window.controller, "Cancel")
    assert not done
    files.save_to(work)
    assert not done, "what was cancelled is forgotten"
    turned_off(window.controller)
    window.session.undo()
    window.session.dispatch(SetLimits(on=True))
    saved_elsewhere(work)
    files.unless_unsaved(lambda: done.append(2))
    answer(window.controller, "Save")
    answer(window.controller, "Replace")
    assert done == [2]
