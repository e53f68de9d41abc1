"""Every call to the system that writing makes fails in its turn: a file is whole, old or new, and nothing is left."""

from __future__ import annotations

import builtins
import errno
import os
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pytest
from inside.document import SetLimits
from inside.formats import files, write_whole
from inside.session import (
    Autosave,
    Kept,
    Preferences,
    backup_of,
    load_preferences,
    load_session,
    save_preferences,
    save_session,
)
from sessions import session

from viewer.errors import OutputError, ViewerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from viewer.document import Document

OLD, NEW = b"old\n" * 50, b"new\n" * 50_000
ON_PATHS = ("open", "stat", "lstat", "chmod", "replace", "rename", "link", "unlink", "remove", "scandir")
ON_FILES = ("fsync", "fstat", "close")
"""Of the module os, as far as a system has them; `_File` adds those of Python's open files."""


class Faults:
    """Counts the calls to the system that concern a folder, while `on`, and lets some of them fail.

    Attributes:
        calls: their names, in order.
    """

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self._folder, self._files = str(folder), set[int]()
        self._fails: Callable[[int], BaseException | None] = lambda _: None
        self._on = False
        for name in (*ON_PATHS, *ON_FILES):
            if hasattr(os, name):
                patch.setattr(os, name, self._counted(name, getattr(os, name)))
        patch.setattr(files, "open", self._open, raising=False)

    @contextmanager
    def on(self, fails: Callable[[int], BaseException | None] = lambda _: None) -> Iterator[None]:
        """Count from 0; ``fails`` says what the call of a number raises, if anything."""
        files._swept.clear()
        self.calls, self._fails, self._on = [], fails, True
        self._files.clear()
        try:
            yield
        finally:
            self._on = False

    def count(self, name: str) -> None:
        self.calls.append(name)
        error = self._fails(len(self.calls) - 1)
        if error is not None:
            raise error

    def _concerns(self, first: object) -> bool:
        if not self._on:
            return False
        if isinstance(first, int):
            return first in self._files
        return os.fspath(first).startswith(self._folder)  # type: ignore[call-overload,no-any-return]  # a path

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(first: Any, *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
            if not self._concerns(first):
                return real(first, *rest, **named)
            if name == "close":
                real(first)  # a file is closed even where the system says that it could not be
                self._files.discard(first)
            self.count(name)
            result: Any = None if name == "close" else real(first, *rest, **named)
            if name == "open":
                self._files.add(result)
            return result

        return call

    def _open(self, path: Any, *rest: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        file = builtins.open(path, *rest, **named)  # noqa: PTH123, SIM115 - in the place of just this
        return _File(file, self) if self._concerns(path) else file


class _File:
    """A file that is open, whose calls are counted."""

    def __init__(self, file: Any, faults: Faults) -> None:  # noqa: ANN401 - of any mode
        self._file, self._faults = file, faults

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever files have
        return getattr(self._file, name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, data: bytes) -> int:
        self._file.write(data[: len(data) // 2])  # what was written before the fault is there
        self._faults.count("file.write")
        return int(self._file.write(data[len(data) // 2 :]))

    def flush(self) -> None:
        self._faults.count("file.flush")
        self._file.flush()

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
            self._faults.count("file.close")


@pytest.fixture
def faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Faults:
    return Faults(tmp_path, monkeypatch)


def names(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def once(place: int, code: int) -> Callable[[int], BaseException | None]:
    return lambda number: OSError(code, os.strerror(code)) if number == place else None


def calls_of(faults: Faults, act: Callable[[], object]) -> list[str]:
    """The calls of an act that works."""
    with faults.on():
        act()
    assert {"open", "file.write", "file.flush", "fsync", "file.close", "replace"} <= set(faults.calls)
    return faults.calls


def tried(act: Callable[[], object]) -> ViewerError | None:
    """What came of it; anything else than a ViewerError fails the test."""
    found = None
    try:
        act()
    except ViewerError as error:
        found = error
    assert "\n" not in str(found)
    return found


def _gone(first: int, number: int) -> BaseException | None:
    return OSError(errno.EIO, os.strerror(errno.EIO)) if number >= first else None


def _stop(at: int, number: int) -> BaseException | None:
    return KeyboardInterrupt() if number == at else None


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("before", [OLD, None])
def test_one_fault_leaves_the_old_file_or_the_new_one(
    code: int, before: bytes | None, faults: Faults, tmp_path: Path
) -> None:
    path = tmp_path / "a.bin"

    def prepare() -> None:
        path.unlink(missing_ok=True)
        if before is not None:
            path.write_bytes(before)

    prepare()
    refused = set()
    for place, name in enumerate(calls_of(faults, lambda: write_whole(path, NEW))):
        prepare()
        with faults.on(once(place, code)):
            error = tried(lambda: write_whole(path, NEW))
        if error is None:
            assert path.read_bytes() == NEW, name
            assert names(tmp_path) == ["a.bin"], name
        else:
            assert isinstance(error, OutputError)
            assert str(error).startswith(f"{path}: cannot be written: ")
            assert (path.read_bytes() if path.exists() else None) == before, name
            assert names(tmp_path) == ([] if before is None else ["a.bin"]), name
            refused.add(name)
    # What may fail with no harm is only the looking round, and what comes once the new file is there.
    assert refused >= {"open", "file.write", "file.flush", "fsync", "file.close", "replace"}


def test_a_fault_that_lasts_leaves_the_old_file_or_the_new_one(faults: Faults, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(OLD)
    for place in range(len(calls_of(faults, lambda: write_whole(path, NEW)))):
        path.write_bytes(OLD)
        with faults.on(partial(_gone, place)):
            error = tried(lambda: write_whole(path, NEW))
        assert path.read_bytes() == (NEW if error is None else OLD)


def test_interrupted_anywhere_nothing_is_left(faults: Faults, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(OLD)
    calls = calls_of(faults, lambda: write_whole(path, NEW))
    for place, name in enumerate(calls):
        path.write_bytes(OLD)
        stop = partial(_stop, place)
        with pytest.raises(KeyboardInterrupt), faults.on(stop):
            write_whole(path, NEW)
        assert path.read_bytes() == (NEW if "replace" in calls[:place] else OLD), name
        assert names(tmp_path) == ["a.bin"], name


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_one_fault_in_saving_a_session_loses_neither_file_nor_backup(code: int, faults: Faults, tmp_path: Path) -> None:
    path, backup = tmp_path / "work.ikv.json", tmp_path / "work.backup.ikv.json"
    assert backup_of(path) == backup
    made = session("two-link")
    first = made.document
    made.dispatch(SetLimits(on=False))
    second = made.document
    save_session(first, path)
    one = path.read_bytes()
    save_session(second, path)
    two, third = path.read_bytes(), first

    def prepare() -> None:
        path.write_bytes(two)
        backup.write_bytes(one + b"\n")  # neither what is there nor what is to come

    prepare()
    for place, name in enumerate(calls_of(faults, lambda: save_session(third, path))):
        prepare()
        problems: list[str] = []
        with faults.on(once(place, code)):
            error = tried(partial(save, third, path, problems))
        assert names(tmp_path) == [backup.name, path.name], name
        if error is not None:
            assert (path.read_bytes(), backup.read_bytes()) == (two, one + b"\n"), name
        else:
            assert path.read_bytes() == one, name
            assert (backup.read_bytes() == two) != bool(problems[0]), name
        load_session(path)


def test_one_fault_in_writing_preferences_keeps_them(faults: Faults, tmp_path: Path) -> None:
    path = tmp_path / "preferences.json"
    save_preferences(Preferences(snap_deg=7.0), path)
    for place in range(len(calls_of(faults, lambda: save_preferences(Preferences(snap_deg=7.0), path)))):
        with faults.on(once(place, errno.ENOSPC)):
            error = tried(lambda: save_preferences(Preferences(snap_deg=9.0), path))
        assert load_preferences(path).snap_deg == (9.0 if error is None else 7.0)
        save_preferences(Preferences(snap_deg=7.0), path)


def save(document: Document, path: Path, problems: list[str]) -> None:
    problems.append(save_session(document, path).problem)


# Autosave


def until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20.0
    while not done() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert done()


@pytest.mark.parametrize("call", ["fsync", "replace", "open"])
def test_a_failed_autosave_is_tried_again_though_nothing_changes(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.session.autosave.FIRST_RETRY", 0.02)
    document = session("two-link").document
    autosave = Autosave(tmp_path / "recovery", seconds=0.0)
    real, failed = getattr(os, call), []

    def full(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        if str(tmp_path) in str(given[0]) or isinstance(given[0], int):
            failed.append(call)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(*given, **named)

    try:
        with monkeypatch.context() as disk:
            disk.setattr(os, call, full)
            autosave.keep(document, Kept(at=2.0, since=1.0))
            until(lambda: len(failed) > 2)
            until(lambda: autosave.problem)
            assert autosave.problem.endswith("the disk is full")
            assert not autosave.path.exists()
        until(lambda: autosave.path.exists() and not autosave.problem)
        assert load_session(autosave.path).same_as(document)
        assert names(tmp_path / "recovery") == [autosave.path.name, autosave.path.with_suffix(".lock").name]
    finally:
        autosave.close()


def test_a_recovery_folder_that_comes_late_or_goes_away_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.session.autosave.FIRST_RETRY", 0.02)
    hindrance = tmp_path / "home"
    hindrance.write_text("a file where the folder is to be", encoding="utf-8")
    autosave = Autosave(hindrance / "recovery", seconds=0.0)
    made = session("two-link")
    try:
        autosave.keep(made.document, Kept(at=2.0, since=1.0))
        until(lambda: autosave.problem)
        hindrance.unlink()
        until(autosave.path.exists)
        until(lambda: not autosave.problem)
        for one in (hindrance / "recovery").iterdir():
            one.unlink()
        (hindrance / "recovery").rmdir()
        made.dispatch(SetLimits(on=False))
        autosave.keep(made.document, Kept(at=3.0, since=1.0))
        until(autosave.path.exists)
        assert autosave.path.with_suffix(".lock").exists()
    finally:
        autosave.close()


def test_what_was_saved_meanwhile_has_no_problem(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    autosave = Autosave(tmp_path / "file" / "folder", seconds=0.0)
    autosave.keep(session("two-link").document, Kept(at=2.0, since=1.0))
    until(lambda: autosave.problem)
    autosave.saved()
    assert autosave.problem == ""
    autosave.close()
