"""When the compiled kernels are used: only when asked for or started, and only once they are ready."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import threading
import types
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from conftest import ROOT
from inside.ik import backends
from rigs import chain

import viewer
from viewer import Goal, Solver

if TYPE_CHECKING:
    from pathlib import Path

NUMBA = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")
ARM = chain(3)
GOALS = [Goal.position("j2.tip", (0.4, 0.4, 0.1))]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is ready, whatever other tests did."""
    monkeypatch.setattr(backends, "_ready", threading.Event())


def script(code: str, **environment: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_auto_stays_with_numpy_and_starts_nothing() -> None:
    code = """
import subprocess, sys, threading
def started(*arguments, **options): raise AssertionError(arguments)
subprocess.Popen.__init__ = started
import viewer, viewer.ik
assert "numba" not in sys.modules
skeleton = viewer.load("sample:two-link").skeleton
solver = viewer.Solver(skeleton, [viewer.Goal.position("tip", (1.0, 0.5, 0.0))])
pose = skeleton.relaxed_pose()
for _ in range(5):
    print(solver.solve(pose).backend)
solver.solve_batch([pose] * 3)
print(solver.drag(pose).move([(0.9, 0.6, 0.0)]).backend)
assert "numba" not in sys.modules and threading.active_count() == 1
"""
    assert script(code) == ["numpy"] * 6


def test_auto_takes_the_compiled_engine_once_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def imported(name: str) -> Any:  # noqa: ANN401 - a module
        taken.append(name)
        return name

    monkeypatch.setattr(backends, "import_module", imported)
    compiled, plain = ("viewer.ik.compiled.numba_engine", "numba"), ("viewer.ik.numpy_engine", "numpy")

    def chosen() -> list[tuple[object, str]]:
        return [backends.engine_for(name) for name in ("auto", "numpy", "numba")]

    assert chosen() == [plain, plain, compiled]
    backends.compiled_is_ready()
    assert chosen() == [compiled, plain, compiled]


def test_numba_that_cannot_be_imported_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:  # noqa: ANN401
        raise ModuleNotFoundError(f"No module named {name!r}", name="numba.core")

    monkeypatch.setattr(backends, "import_module", missing)
    with pytest.raises(viewer.MachineError, match=r'^backend "numba" needs numba: python3 -m pip install numba$'):
        Solver(ARM, GOALS, backend="numba").solve(ARM.rest_pose())


def test_a_warm_up_that_fails_leaves_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_CHILD", "raise SystemExit(1)")
    called = threading.Event()
    thread = backends.warm_up(then=called.set)
    assert not thread.is_alive()
    assert called.is_set()
    assert Solver(ARM, GOALS).solve(ARM.rest_pose()).backend == "numpy"


def test_kernels_that_this_process_cannot_take_over_leave_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise viewer.InputError("numba is not there")

    told = threading.Event()
    monkeypatch.setattr(backends, "compile_elsewhere", lambda **_: True)
    monkeypatch.setattr(backends, "load", refuse)
    backends.warm_up(then=told.set)
    assert told.is_set()
    assert Solver(ARM, GOALS).solve(ARM.rest_pose()).backend == "numpy"


def test_the_other_process_looks_for_modules_where_this_one_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place, here = tmp_path / "place", tmp_path / "here"
    for folder in (place, here):
        folder.mkdir()
    (place / "only_there.py").write_text("", encoding="utf-8")
    # A file of a name like this in the folder where one happens to work must not be imported.
    (here / "colorsys.py").write_text("raise SystemExit(3)", encoding="utf-8")
    monkeypatch.chdir(here)
    monkeypatch.syspath_prepend(place)
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry not in {"", "."}])
    monkeypatch.setattr(backends, "_CHILD", "import only_there, colorsys")
    monkeypatch.setattr(backends, "load", backends.compiled_is_ready)
    backends.warm_up()
    assert backends._ready.is_set()


def test_a_warm_up_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "_CHILD", "pass")
    monkeypatch.setattr(backends, "load", backends.compiled_is_ready)
    called = threading.Event()
    thread = backends.warm_up(wait=False, then=called.set)
    assert thread.daemon
    assert called.wait(60.0)
    thread.join()
    assert backends._ready.is_set()


@NUMBA
def test_functions_are_compiled_without_a_cache_where_there_is_no_place_for_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import numba  # noqa: PLC0415 - takes most of a second
    from inside.ik import compiled_engine as engine  # noqa: PLC0415

    asked: list[bool] = []

    def njit(*, cache: bool = False, **_: object) -> Any:  # noqa: ANN401 - a decorator
        asked.append(cache)
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(numba, "njit", njit)

    def doubled(x: float) -> float:
        return 2.0 * x

    monkeypatch.setattr(engine, "_CALLED", ("doubled",))
    assert engine._jit(doubled, "0123", at_once=False) is doubled  # type: ignore[arg-type]  # a plain function
    assert asked == [True, False]


@NUMBA
def test_a_numba_with_other_inner_parts_compiles_function_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from inside.ik import compiled_engine as engine  # noqa: PLC0415
    from numba.core.compiler import Compiler  # noqa: PLC0415 - takes most of a second

    def missing(name: str) -> Any:  # noqa: ANN401
        raise ImportError(name)

    assert engine._quickest().solve._compiler.pipeline_class is not Compiler
    monkeypatch.setattr(engine, "import_module", missing)
    assert engine._quickest().solve._compiler.pipeline_class is Compiler


@NUMBA
def test_a_constant_that_is_passed_makes_no_function_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    import numba  # noqa: PLC0415
    from inside.ik import compiled_engine as engine  # noqa: PLC0415

    module = types.ModuleType("sums")
    exec("def more(x, by): return x + by\ndef entry(x): return more(x, 1) + more(x, 2) + more(x, 3)\n", module.__dict__)
    monkeypatch.setattr(engine, "_CALLED", ("entry",))
    context = numba.core.registry.cpu_target.typing_context
    entry = backends.twins([module], {}, partial(engine._jit, digest="0", at_once=True))["entry"]
    assert entry(1.5) == 10.5
    assert list(entry.py_func.__globals__["more"].overloads) == [(numba.float64, numba.int64)]
    assert "resolve_function_type" not in vars(context), "numba is left as it was"


@NUMBA
def test_a_kernel_that_raises_is_left_to_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    from inside.ik import compiled_engine as engine  # noqa: PLC0415

    module = types.ModuleType("roots")
    exec(
        "def root(x):\n if x < 0.0:\n  raise ValueError\n return x**0.5\ndef entry(x): return root(x)", module.__dict__
    )
    monkeypatch.setattr(engine, "_CALLED", ("entry",))
    with pytest.raises(NotImplementedError, match="a kernel that raises"):
        backends.twins([module], {}, partial(engine._jit, digest="0", at_once=True))["entry"](4.0)
    assert backends.twins([module], {}, partial(engine._jit, digest="0", at_once=False))["entry"](4.0) == 2.0


@NUMBA
def test_what_cannot_be_compiled_as_a_whole_is_compiled_function_by_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from inside.ik import compiled_engine as engine  # noqa: PLC0415

    asked: list[bool] = []

    def compiled(entries: bool) -> None:
        asked.append(entries)
        if entries:
            raise AttributeError("a library has no such attribute")

    monkeypatch.setattr(engine, "_called", True)
    monkeypatch.setattr(engine, "_entries", lambda *, at_once: at_once)
    monkeypatch.setattr(engine, "_compile", compiled)
    engine.make_ready.__wrapped__()
    assert asked == [True, False]


@NUMBA
def test_a_cache_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "cache")
    code = "import viewer.ik.compiled.numba_engine as c; print(callable(c.solve_batch))"
    assert script(code, NUMBA_CACHE_DIR=nowhere) == ["True"]


@NUMBA
def test_warm_up_gets_the_kernels_ready() -> None:
    # Slow where nothing is in the cache yet: this compiles them, in another process.
    solver = Solver(ARM, GOALS)
    plain = solver.solve(ARM.rest_pose())
    assert plain.backend == "numpy"
    viewer.ik.warm_up(wait=True)
    fast = solver.solve(ARM.rest_pose())
    assert fast.backend == "numba"
    assert fast.status is plain.status
