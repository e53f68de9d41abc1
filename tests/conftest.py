"""What several test files share: the data beside the checkout, and hypothesis' settings."""

from __future__ import annotations

import gc
import os
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent

# Before numpy is loaded, here and in the processes that tests start: matrices of tests are small, and where each of
# several processes has several threads, these wait for one another (a system of 66 equations took 0.2 s, not 0.1 ms).
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# No deadline: machines are shared, and no test of ours measures time. In CI the same examples every time: more of them
# would find nothing new after the first run. HYPOTHESIS_PROFILE=thorough looks for longer.
settings.register_profile("local", deadline=None, max_examples=20)
settings.register_profile("ci", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=300)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "local"))


def pytest_configure(config: pytest.Config) -> None:
    """``-m "not slow"`` leaves out what takes many seconds by its nature."""
    config.addinivalue_line("markers", "slow: takes many seconds by its nature")


def shared_dir() -> Path | None:
    """The folder of large test data, or None: $IKVIEWER_SHARED, else ``shared`` beside the checkout."""
    named = os.environ.get("IKVIEWER_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of large test data; tests that ask for it are skipped where it is absent."""
    folder = shared_dir()
    if folder is None:
        pytest.skip("shared data not beside the checkout")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _samples_are_read_once() -> Iterator[None]:
    """What is derived of a bundled sample is kept with its skeleton, and takes longer than many a test."""
    loading = import_module("viewer.formats.load")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "_sample", cache(loading._sample))
        yield


@pytest.fixture(scope="session", autouse=True)
def _windows_compile_nothing() -> Iterator[None]:
    """Each window would get the kernels ready in a process of its own, which takes longer than the window lasts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("viewer.session.solving"), "warm_up", lambda **_: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_kernels_are_ready() -> None:
    """Let "auto" mean the compiled kernels where numba is: it would change with the first test that compiles them."""
    if find_spec("numba") is not None:
        import_module("viewer.ik.backends").compiled_is_ready()


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: no collection of garbage need look through it again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def kernels_not_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let "auto" mean numpy, whatever earlier tests of this process have compiled."""
    monkeypatch.setattr("viewer.ik.backends._ready", threading.Event())
