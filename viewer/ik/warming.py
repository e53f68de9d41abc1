"""Compiling the kernels without blocking the program."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from viewer.errors import ViewerError
from viewer.ik import backends
from viewer.ik.backends import compile_elsewhere
from viewer.locks import lock, remove_if_free

_LONGEST_WAIT_S = 600.0
"""After this time a compiler counts as stuck, and another one starts."""


def load() -> None:
    """Compile the kernels, or load them from the cache on disk, and let "auto" solvers of this process use them."""
    from viewer.ik.goals import Goal
    from viewer.ik.solver import Solver
    from viewer.skeleton.tree import chain

    skeleton = chain(2)
    solver = Solver(skeleton, [Goal.position("tip", (0.5, 0.5, 0.0))], backend="numba")
    pose = skeleton.relaxed_pose()
    solver.solve(pose)
    solver.solve_batch([pose], threads=1)
    backends.compiled_is_ready()


def compile_all(*, quietly: bool = False) -> None:
    """Compile the kernels in this process, for the cache on disk; wait first for another process that does so.

    Args:
        quietly: at low priority, which only others of low priority wait for.
    """
    if quietly and hasattr(os, "nice"):
        os.nice(10)
    backends.compile_here()
    from viewer.ik.compiled import numba_engine

    with nullcontext() if numba_engine.in_cache() else _alone_in(numba_engine.cache_folder(), quietly=quietly):
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

    "auto" solvers use numpy until then: about fifteen seconds the first time on a machine, one second later.

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
