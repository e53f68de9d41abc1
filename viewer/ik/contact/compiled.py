"""`viewer.ik.contact.kernel` compiled by numba: some ten nanoseconds a pair."""

from __future__ import annotations

import hashlib
import inspect
import sys
from functools import cache
from typing import Any

from viewer.ik.backends import twins
from viewer.ik.contact import kernel, rows, scalars, volumes
from viewer.spatial import closest

MODULES = (closest, rows, scalars, kernel)
"""The sources that compiled code is made of, in this order: scalars stand in for numpy's functions."""


@cache
def compiled() -> Any:  # noqa: ANN401 - numba's functions have no public type
    """`find_near`, compiled: sums stay in their order, so that it gives the bits that numpy gives.

    Raises:
        ImportError: numba is not installed.
    """
    import numba  # noqa: PLC0415 - half a second, and only compiled solvers need it

    sources = "".join(inspect.getsource(module) for module in (*MODULES, volumes, sys.modules[__name__]))
    digest = hashlib.sha256(sources.encode()).hexdigest()[:16]

    def compile_(function: Any) -> Any:  # noqa: ANN401
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
        if function.__name__ == kernel.find_near.__name__:
            # numba notices a change of a function's own file only: this makes any change a new function.
            function.__qualname__ += f"_{digest}"
            try:
                return numba.njit(cache=True, **options)(function)
            except RuntimeError:  # no place for a cache: compiled in every process
                pass
        return numba.njit(**options)(function)

    space = twins(MODULES, {}, compile_)
    return space["find_near"]
