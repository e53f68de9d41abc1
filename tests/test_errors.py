"""Error messages: one line, the place first, near names offered.

Every call to the system that writing makes fails in its turn: a file is whole, old or new, and nothing is left.
"""

from __future__ import annotations

import builtins
import errno
import os
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import pytest
from hypothesis import given, strategies as st
from inside.app import Autosave
from inside.document import SetLimits
from inside.formats import files, write_whole
from inside.session import Kept, Preferences, backup_of, load_preferences, load_session, save_preferences, save_session
from sessions import session

from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError, quote, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from viewer.document import Document


JOINTS = ("Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftHand", "RightHand", "Head")


def test_all_errors_are_of_one_family_and_say_what_the_command_exits_with() -> None:
    exit_codes = {kind: kind.exit_code for kind in (FormatError, InputError, OutputError, MachineError)}
    assert exit_codes == {FormatError: 1, InputError: 1, OutputError: 1, MachineError: 3}
    assert all(issubclass(kind, ViewerError) for kind in exit_codes)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("found 0"), "found 0"),
        (FormatError("found 0", file="a.bvh"), "a.bvh: found 0"),
        (FormatError("found 0", file="a.bvh", line=3), "a.bvh, line 3: found 0"),
        (FormatError("found 0", file="a.bvh", line=3, column=7), "a.bvh, line 3, column 7: found 0"),
        (FormatError("found 0", line=3, column=7), "line 3, column 7: found 0"),
        (FormatError("found 0", file="a.json", path='joints[1] "b".offset'), 'a.json: joints[1] "b".offset: found 0'),
        (FormatError("found 0", path=".offset"), ".offset: found 0"),
    ],
)
def test_a_format_error_says_where_it_knows_to(error: FormatError, text: str) -> None:
    assert str(error) == text


def test_a_format_error_keeps_the_place_and_the_problem_apart() -> None:
    error = FormatError("found 0", file="a.bvh", line=3, column=7)
    assert (error.file, error.line, error.column, error.path, error.problem) == ("a.bvh", 3, 7, None, "found 0")


@pytest.mark.parametrize(
    ("found", "quoted"),
    [
        ("Hips", '"Hips"'),
        ("", '""'),
        (3.5, '"3.5"'),
        (None, '"None"'),
        ([1, "a"], "\"[1, 'a']\""),
        ("line\nbreak\tand\x00", '"line\\nbreak\\tand\\x00"'),
        ("\udc80", '"\\udc80"'),
        ("Hüfte 日本", '"Hüfte 日本"'),
        ("x" * 60, f'"{"x" * 60}"'),
        ("x" * 31 + "y" * 30, f'"{"x" * 30}…{"y" * 29}"'),
        ("\x1b[31mred\u202egnp.exe", '"\\x1b[31mred\\u202egnp.exe"'),
        ("\x9b1A\u2028\u200bHand", '"\\x9b1A\\u2028\\u200bHand"'),
    ],
)
def test_what_was_found_is_quoted_short_and_printable(found: object, quoted: str) -> None:
    assert quote(found) == quoted


@given(st.text(max_size=60))
def test_a_quote_is_always_one_printable_line(text: str) -> None:
    assert quote(text).isprintable()
    assert len(quote(text).splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LeftHnad", 'no joint "LeftHnad"; did you mean "LeftHand"?'),
        ("lefthand", 'no joint "lefthand"; did you mean "LeftHand"?'),
        ("LEFTLEG", 'no joint "LEFTLEG"; did you mean "LeftLeg" or "LeftUpLeg"?'),
        (
            "zzz",
            'no joint "zzz"; there is "Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftHand", "RightHand", "Head"',
        ),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_near_ones_else_with_what_there_is(name: str, message: str) -> None:
    assert unknown_name("joint", name, JOINTS) == message


@pytest.mark.parametrize("side", ["LeftHand", "RightHand"])
@pytest.mark.parametrize(
    "form", ["hand_{}", "hand.{}", "Hand-{}", "{}_hand", "{} Hand", "mixamorig:{}_Hand", "DEF:hand.{}", "Hand{}"]
)
def test_however_a_side_is_written_the_joint_of_that_side_is_offered(side: str, form: str) -> None:
    word = side.removesuffix("Hand")
    # Where nothing parts it from the rest of the name, a side is told by its capital.
    small = [] if form == "Hand{}" else [word.lower(), word[0].lower()]
    for written in [word, word[0], *small]:
        name = form.format(written)
        assert unknown_name("joint", name, JOINTS) == f'no joint "{name}"; did you mean "{side}"?'


@pytest.mark.parametrize("name", ["hand_l", "LeftHand", "l hand", "DEF-hand.L"])
def test_names_of_other_conventions_are_offered_too(name: str) -> None:
    for known in ("Hand.L", "LHand", "hand_left", "mixamorig:LeftHand"):
        assert unknown_name("joint", name, ["Head", known, "Foot.R"]).startswith(
            f'no joint "{name}"; did you mean "{known}"'
        )


def test_a_slip_beside_a_side_is_seen_through() -> None:
    assert unknown_name("joint", "hnad_l", JOINTS).startswith('no joint "hnad_l"; did you mean "LeftHand"')
    assert unknown_name("joint", "toe_l", ("LeftToe", "ToeL")) == 'no joint "toe_l"; did you mean "LeftToe"?'


def test_of_many_names_eight_are_listed_and_of_none_that_is_said() -> None:
    many = [f"joint{number}" for number in range(11)]
    listed = ", ".join(f'"{name}"' for name in many[:8])
    assert unknown_name("joint", "zzz", many) == f'no joint "zzz"; there is {listed} and 3 more'
    assert unknown_name("clip", "walk", iter(())) == 'no clip "walk": there is none'


def test_of_names_that_differ_in_case_alone_the_first_is_offered() -> None:
    assert unknown_name("joint", "hnad", ("Hand", "HAND", "hand")) == 'no joint "hnad"; did you mean "Hand"?'


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=10))
def test_any_name_gets_one_line(name: str, known: list[str]) -> None:
    assert unknown_name("joint", name, known).isprintable()


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
    monkeypatch.setattr("viewer.app.autosave_service.FIRST_RETRY", 0.02)
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
    monkeypatch.setattr("viewer.app.autosave_service.FIRST_RETRY", 0.02)
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
