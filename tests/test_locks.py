"""One process at a time: locks on files, and kernels that one of several windows compiles."""

from __future__ import annotations

import errno
import importlib.util
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from conftest import ROOT
from inside.ik import backends, compiled_engine

from viewer import locks
from viewer.locks import is_of, lock, remove_if_free

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

posix = pytest.mark.skipif(os.name != "posix", reason="Windows cannot remove an open file")
LONG = 60.0
HOLDER = """
import sys
from pathlib import Path
from viewer.locks import lock
held = lock(Path(sys.argv[1]))
print(held is not None, flush=True)
sys.stdin.read()
"""


def holder(path: Path) -> subprocess.Popen[str]:
    """Another process, which holds a lock until its input ends."""
    command = [sys.executable, "-c", HOLDER, str(path)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


@pytest.mark.parametrize("end", ["close", "kill"])
def test_who_waits_takes_over_however_the_holder_ends(tmp_path: Path, end: str) -> None:
    path = tmp_path / "a.lock"
    taken: list[BinaryIO | None] = []
    with holder(path) as process:
        assert lock(path) is None
        assert lock(path, wait_s=0.2) is None
        waiting = threading.Thread(target=lambda: taken.append(lock(path, wait_s=LONG)))
        waiting.start()
        if end == "kill":
            process.kill()
        else:
            process.communicate()
        waiting.join()
    assert taken[0] is not None
    assert is_of(taken[0], path)
    taken[0].close()


def test_a_lock_file_left_behind_keeps_none_out(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    path.write_text("of a process that is gone")
    held = lock(path)
    assert held is not None
    held.close()
    remove_if_free(path)
    assert not path.exists()


def test_a_lock_that_is_held_is_not_removed(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    held = lock(path)
    assert held is not None
    with held:
        remove_if_free(path)
        assert path.exists()


def test_nothing_waits_where_there_are_no_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks, "_take", refuse)
    monkeypatch.setattr(time, "sleep", lambda _: pytest.fail("waits"))
    assert lock(tmp_path / "a.lock", wait_s=LONG) is None


@posix
def test_a_lock_is_never_of_a_file_that_was_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    take, path = locks._take, tmp_path / "a.lock"
    removed: list[Path] = []

    def late(file: BinaryIO) -> None:
        if not removed:  # another program sweeps between the opening and the lock
            path.unlink()
            removed.append(path)
        take(file)

    monkeypatch.setattr(locks, "_take", late)
    held = lock(path)
    assert held is not None
    with held:
        assert os.path.samestat(os.fstat(held.fileno()), path.stat())


# Several windows with an empty cache


class Machine:
    """A cache folder, and a compiler that takes a while."""

    def __init__(self, folder: Path | None) -> None:
        self.folder, self.cached = folder, False
        self.compiled = 0
        self.compiling, self.go_on = threading.Event(), threading.Event()

    def in_cache(self) -> bool:
        return self.cached

    def cache_folder(self) -> Path | None:
        return self.folder

    def load(self) -> None:
        # Windows of earlier tests may still wait for kernels, and load them now: they are none of this machine's.
        if self.cached or threading.current_thread().name == "ikviewer-warm-up":
            return
        self.compiled += 1
        self.compiling.set()
        self.go_on.wait(LONG)
        self.cached = True


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.setattr(compiled_engine, "in_cache", made.in_cache)
    monkeypatch.setattr(compiled_engine, "cache_folder", made.cache_folder)
    monkeypatch.setattr(backends, "load", made.load)
    monkeypatch.setattr(backends, "_looked", threading.Event())
    return made


def start(count: int) -> list[threading.Thread]:
    windows = [threading.Thread(target=backends.compile_all) for _ in range(count)]
    for window in windows:
        window.start()
    return windows


def test_one_compiles_and_the_others_take_what_it_made(machine: Machine, tmp_path: Path) -> None:
    windows = start(4)
    assert machine.compiling.wait(LONG)
    time.sleep(0.3)  # the others try
    machine.go_on.set()
    for window in windows:
        window.join()
    assert machine.compiled == 1
    assert list(tmp_path.iterdir()) == [], "no lock file is left"


def test_a_compiler_that_was_killed_is_followed_by_the_next(machine: Machine, tmp_path: Path) -> None:
    machine.go_on.set()
    with holder(tmp_path / "ikviewer-kernels.lock") as process:
        windows = start(3)
        time.sleep(0.3)
        assert machine.compiled == 0
        process.kill()
        for window in windows:
            window.join()
    assert machine.compiled == 1


def test_a_compiler_that_is_stuck_is_not_waited_for(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "_LONGEST_WAIT_S", 0.2)
    machine.go_on.set()
    with holder(tmp_path / "ikviewer-kernels.lock") as process:
        backends.compile_all()
        assert machine.compiled == 1
        process.kill()


def test_with_a_full_cache_none_waits(machine: Machine, tmp_path: Path) -> None:
    machine.cached = True
    with holder(tmp_path / "ikviewer-kernels.lock") as process:
        backends.compile_all()
        process.kill()
    assert machine.compiled == 0


def test_only_quiet_compilers_wait_for_a_quiet_one(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0, raising=False)
    quiet, another = (threading.Thread(target=backends.compile_all, kwargs={"quietly": True}) for _ in range(2))
    quiet.start()
    assert machine.compiling.wait(LONG)
    machine.compiling.clear()
    another.start()
    (urgent,) = start(1)
    assert machine.compiling.wait(LONG)
    time.sleep(0.3)  # the other quiet one tries
    assert machine.compiled == 2
    machine.go_on.set()
    for window in (quiet, another, urgent):
        window.join()
    assert machine.compiled == 2
    assert list(tmp_path.iterdir()) == []


def test_a_quiet_compiler_waits_for_one_of_normal_priority(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "nice", lambda _: 0, raising=False)
    (urgent,) = start(1)
    assert machine.compiling.wait(LONG)
    quiet = threading.Thread(target=backends.compile_all, kwargs={"quietly": True})
    quiet.start()
    time.sleep(0.3)
    machine.go_on.set()
    for window in (urgent, quiet):
        window.join()
    assert machine.compiled == 1
    assert list(tmp_path.iterdir()) == []


COMPILES = """
import sys
from viewer.ik import backends
take = f"from pathlib import Path; from viewer.locks import lock; held = lock(Path({sys.argv[1]!r})); "
backends._CHILD = take + sys.argv[2]
backends.compile_elsewhere(quietly=True)
"""


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
def test_a_compiler_ends_when_the_program_that_started_it_is_killed(tmp_path: Path) -> None:
    path, ready = tmp_path / "it.lock", tmp_path / "ready"
    rest = f"Path({str(ready)!r}).touch(); import time; time.sleep({10 * LONG})"
    with subprocess.Popen([sys.executable, "-c", COMPILES, str(path), rest], cwd=ROOT) as program:
        until = time.monotonic() + LONG
        while not ready.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert lock(path) is None, "the compiler runs"
        program.kill()
    held = lock(path, wait_s=LONG)
    assert held is not None
    held.close()


@pytest.mark.parametrize("where", ["nowhere", "gone"])
def test_without_a_folder_for_a_lock_each_compiles(machine: Machine, tmp_path: Path, where: str) -> None:
    machine.folder = None if where == "nowhere" else tmp_path / "gone"
    machine.go_on.set()
    backends.compile_all()
    assert machine.compiled == 1


def test_a_compiler_that_fails_frees_the_lock(
    machine: Machine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise RuntimeError("no memory")

    monkeypatch.setattr(backends, "load", fail)
    with pytest.raises(RuntimeError):
        backends.compile_all()
    monkeypatch.setattr(backends, "load", machine.load)
    machine.go_on.set()
    backends.compile_all()
    assert machine.compiled == 1
    assert list(tmp_path.iterdir()) == []
