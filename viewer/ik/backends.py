"""The choice of a backend: numpy, which is always there, or the kernels compiled by numba; and compiling these.

No solve waits for the compiler unless it asks for numba: `warm_up` compiles in another process, for the cache on disk.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from viewer.choices import BACKENDS
from viewer.errors import InputError, ViewerError, is_installed, missing_library, unknown_name
from viewer.ik.system import Problems, Settings
from viewer.locks import lock, remove_if_free

_COMPILED = "viewer.ik.compiled.numba_engine"
_NUMPY = "viewer.ik.numpy_engine"


class Engine(Protocol):
    """The functions of a backend's module."""

    def solve_batch(self, buffers: Problems, settings: Settings, *, onward: bool) -> None:
        """Solve the buffers' problems, one after the other; see `viewer.ik.problems.solve_batch`."""


def check_backend(backend: str) -> str:
    """One of `BACKENDS`; an InputError for anything else."""
    if backend not in BACKENDS:
        raise InputError(unknown_name("backend", str(backend), BACKENDS))
    return backend


def engine_for(backend: str) -> tuple[Engine, str]:
    """The engine and its name. "auto" takes the compiled one once `compiled_is_ready`, and compiles nothing.

    Raises:
        MachineError: numba is asked for and cannot be imported.
    """
    return (_compiled_engine(), "numba") if takes_compiled(backend) else (import_module(_NUMPY), "numpy")


def _compiled_engine() -> Any:  # noqa: ANN401 - a module
    try:
        engine = import_module(_COMPILED)
    except ImportError as error:
        raise missing_library('backend "numba"', error) from error
    _compile_first(engine)
    return engine


def takes_compiled(backend: str) -> bool:
    """Whether `engine_for` returns the compiled engine now."""
    backend = _serving.get() if backend == "auto" else backend
    return backend == "numba" or (backend == "auto" and _ready.is_set())


@contextmanager
def serving(backend: str) -> Iterator[None]:
    """Let "auto" be one backend in this thread while the block runs, so that a replay solves as the original did."""
    token = _serving.set(backend)
    try:
        yield
    finally:
        _serving.reset(token)


_ready, _looked, _looking = threading.Event(), threading.Event(), threading.Lock()
_serving: ContextVar[str] = ContextVar("_serving", default="auto")


def _compile_first(engine: object) -> None:
    """Let another process compile what is not in the cache yet.

    Code compiled in this process and code loaded from the cache may call different compiled forms of a function, and
    so differ in the last bits of their results. With this, every process loads.
    """
    with _looking:
        in_cache = getattr(engine, "in_cache", None)
        if not _looked.is_set() and in_cache is not None and not in_cache():
            compile_elsewhere()
        _looked.set()


# Its standard input closes when this process ends, in any way: then nothing waits for the kernels any more.
# The compiler's objects live as long as the process: collecting garbage would take a sixth of the time.
_CHILD_ENDS = """
import gc, os, threading
gc.disable()
threading.Thread(target=lambda: os.read(0, 1) or os._exit(1), daemon=True).start()
"""
_CHILD = "from viewer.ik.backends import compile_all; compile_all(quietly={quietly})"


def compile_elsewhere(*, quietly: bool = False) -> bool:
    """Compile the kernels in another process, ``quietly`` at low priority; whether it succeeded.

    It ends with this process.
    """
    if not is_installed("numba"):  # numpy solves then: do not start a process only to find that out
        return False
    # It looks for modules only where this process does: -P leaves out the current folder.
    places = os.pathsep.join(place or str(Path.cwd()) for place in sys.path)
    environment = {**os.environ, "PYTHONPATH": places}
    command = [sys.executable, "-P", "-c", _CHILD_ENDS + _CHILD.format(quietly=quietly)]
    nothing = subprocess.DEVNULL
    try:
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing) as child:
            return child.wait() == 0
    except OSError:  # no Python of its own: part of another program
        return False


def load() -> None:
    """Compile the kernels, or load them from the cache on disk, and let "auto" solvers of this process use them."""
    _compiled_engine().make_ready()
    compiled_is_ready()


def compiled_is_ready() -> None:
    """Let "auto" take the compiled engine from now on: it is loaded, so no call waits for the compiler."""
    _ready.set()


_LONGEST_WAIT_S = 600.0
"""After this time a compiler counts as stuck, and another one starts."""


def compile_all(*, quietly: bool = False) -> None:
    """Compile the kernels in this process, for the cache on disk; wait first for another process that does so.

    Args:
        quietly: at low priority, which only others of low priority wait for.
    """
    if quietly and hasattr(os, "nice"):
        os.nice(10)
    _looked.set()  # no other process is asked
    engine = import_module(_COMPILED)
    with nullcontext() if engine.in_cache() else _alone_in(engine.cache_folder(), quietly=quietly):
        load()  # from the cache, if another process has compiled meanwhile


@contextmanager
def _alone_in(folder: Path | None, *, quietly: bool) -> Iterator[None]:
    """Let one process at a time run the block; none waits for a killed one, nor for one of lower priority."""
    if folder is None:
        yield
        return
    if quietly:
        with _alone_in(folder, quietly=False):  # waits for one of normal priority
            pass
    path = folder / ("ikviewer-kernels-quiet.lock" if quietly else "ikviewer-kernels.lock")
    held = None
    with suppress(OSError):
        held = lock(path, wait_s=_LONGEST_WAIT_S)
    try:
        yield
    finally:
        if held is not None:
            held.close()
            remove_if_free(path)


def warm_up(*, wait: bool = True, then: Callable[[], None] | None = None) -> threading.Thread:
    """Compile the kernels in another process, at low priority, and load them from the cache on disk.

    "auto" solvers use numpy until then: about 20 seconds the first time on a machine, one second later.

    Args:
        wait: whether to return when it is done, or at once.
        then: called when it is done, in the thread that did it.

    Returns:
        The thread that waits for the other process. If that fails, "auto" stays with numpy.
    """

    def work() -> None:
        # If either process fails, without numba or a writable disk, solvers keep numpy.
        with suppress(ViewerError):
            if compile_elsewhere(quietly=True):
                load()
        if then is not None:
            then()

    thread = threading.Thread(target=work, name="ikviewer-warm-up", daemon=True)
    thread.start()
    if wait:
        thread.join()
    return thread


def twins(
    modules: Sequence[types.ModuleType],
    others: Mapping[str, object],
    wrap: Callable[[Any], Any] = lambda function: function,
) -> dict[str, Any]:
    """Copies of all functions that the modules define, which look up each other and ``others`` by name.

    Args:
        modules: where the functions are; what else they define or import can be looked up, too.
        others: replacements for names that the modules import.
        wrap: applied to each copy, such as a compiler.

    Returns:
        The name space in which all copies look up names.
    """
    space: dict[str, Any] = {}
    for module in modules:
        space |= vars(module)
    space |= {"__name__": __name__, **others}
    for module in modules:
        for name, value in vars(module).items():
            own = isinstance(value, types.FunctionType) and value.__module__ == module.__name__
            if own and name not in others:
                twin = types.FunctionType(value.__code__, space, name, value.__defaults__)
                twin.__module__, twin.__qualname__ = value.__module__, value.__qualname__
                space[name] = wrap(twin)
    return space
