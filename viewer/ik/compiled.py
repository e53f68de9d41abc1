"""The compiled backend: the kernels and the driver, compiled by numba and cached on disk.

Imported only when it is wanted: importing numba takes most of a second, compiling some ten, once per machine.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numba

from viewer.ik import (
    driver,
    kernels,
    kernels_align,
    kernels_forward,
    kernels_joints,
    kernels_readings,
    kernels_step,
)
from viewer.ik.twin import twins

if TYPE_CHECKING:
    from types import FunctionType

_MODULES = (kernels, kernels_readings, kernels_joints, kernels_forward, kernels_step, kernels_align, driver)
# Sums may be reordered and products fused, which lets the loops use vector instructions; NaN and infinity keep
# their meaning, and the same machine gives the same bits.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "reassoc", "arcp", "nsz"}}

# What Python calls. The others are called by these only: without the code that takes sixty arrays out of Python's hands
# they compile in a fraction of the time.
_ENTRIES = ("solve", "solve_many")


def _compiled_namespace() -> dict[str, Any]:
    """Every function of the modules, compiled, and calling each other's compiled forms."""
    sources = "".join(inspect.getsource(module) for module in (*_MODULES, sys.modules[__name__]))
    # numba notices a change of a function's own file only: this makes any change of any of them a new function.
    digest = hashlib.sha256(sources.encode()).hexdigest()[:16]
    return twins(_MODULES, {}, partial(_jit, digest=digest))


def _jit(function: FunctionType, digest: str) -> Any:  # noqa: ANN401 - numba's dispatchers have no public type
    inner = function.__name__ not in _ENTRIES
    # The driver's loop becomes part of `solve_many` before anything is compiled: once instead of twice.
    inline = "always" if function.__name__ == "solve" else "never"
    options = _OPTIONS | {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True, "inline": inline}
    function.__qualname__ += f"_{digest}"
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep a cache: compiled anew in every process
        return numba.njit(**options)(function)


_space = _compiled_namespace()
solve, solve_many = (_space[name] for name in _ENTRIES)
