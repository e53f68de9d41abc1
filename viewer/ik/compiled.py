"""The compiled backend: the kernels and the driver, compiled by numba and cached on disk.

Imported only when it is wanted: importing numba takes half a second, compiling some fifteen, once per machine.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import numpy as np

from viewer.ik import (
    compiled_arrays,
    compiled_lanes,
    driver,
    groups,
    held,
    kernels,
    kernels_align,
    kernels_call,
    kernels_dual,
    kernels_far,
    kernels_forward,
    kernels_groups,
    kernels_joints,
    kernels_pull,
    kernels_readings,
    kernels_step,
    kernels_stretch,
    leaps,
    problems,
    system,
)
from viewer.ik.compiled_lanes import INSTRUCTIONS
from viewer.ik.held import HELD, noted
from viewer.ik.system import Call, Many, Settings, State, System, Work, make_many, make_state
from viewer.ik.twin import twins
from viewer.spatial.checks import Floats

_MODULES = (
    kernels,
    kernels_readings,
    kernels_joints,
    kernels_forward,
    kernels_dual,
    kernels_step,
    kernels_pull,
    kernels_align,
    kernels_far,
    kernels_stretch,
    kernels_groups,
    driver,
    leaps,
    problems,
    kernels_call,
    held,
)
# Sums may be reordered and products fused, which lets the loops use vector instructions; NaN and infinity keep
# their meaning, and the same machine gives the same bits. The kernels allocate nothing, and whoever calls them holds
# their arrays: numba's counting of references to those would take two fifths of a solve (`_nrt`).
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "arcp", "nsz"},
    "_nrt": False,
}

# What Python calls. The others are called by these only: without the code that takes arrays out of Python's hands
# they compile in a fraction of the time.
_HELD_ENTRY, _PLAIN_ENTRY = "solve_held", "solve_call"
# Whose change is a change of all compiled code, besides the modules'.
_MACHINERY = (system, groups, compiled_arrays, compiled_lanes)
# Gives the very bits that numpy gives.
_EXACT = ("take_targets",)


def _compiled_namespace(*, whole: bool) -> dict[str, Any]:
    """Every function of the modules, compiled, and calling each other's compiled forms; see `viewer.ik.whole`."""
    how = [*_MACHINERY, sys.modules[__name__], *([import_module("viewer.ik.whole")] if whole else [])]
    sources = "".join(inspect.getsource(module) for module in (*_MODULES, *how))
    # numba notices a change of a function's own file only: this makes any change of any of them a new function.
    digest = hashlib.sha256((sources + str(HELD)).encode()).hexdigest()[:16]
    return twins(_MODULES, INSTRUCTIONS, partial(_jit, digest=digest, whole=whole))


def _jit(function: FunctionType, digest: str, *, whole: bool) -> Any:  # noqa: ANN401 - numba's have no public type
    inner = function.__name__ != _entry_name()
    options = _OPTIONS | {"no_cpython_wrapper": inner, "no_cfunc_wrapper": True}
    if function.__name__ in _EXACT:
        options["fastmath"] = False
    if whole:
        pipelines = import_module("viewer.ik.whole")
        options["pipeline_class"] = pipelines.Part if inner else pipelines.Whole
    function.__qualname__ += f"_{digest}"
    if inner and whole:  # no code of its own to keep
        return numba.njit(**options)(function)
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # nowhere to keep a cache: compiled anew in every process
        return numba.njit(**options)(function)


def _entry(*, whole: bool) -> Any:  # noqa: ANN401
    """What Python calls; nothing is compiled yet."""
    return _compiled_namespace(whole=whole)[_entry_name()]


def _entry_name() -> str:
    """Of the function that Python calls: where numba's arrays are not those known, the one that is passed them all."""
    return _HELD_ENTRY if held.KNOWN else _PLAIN_ENTRY


def _entry_as_a_whole() -> Any:  # noqa: ANN401
    try:
        return _entry(whole=True)
    except (ImportError, AttributeError, TypeError):  # a numba whose inner parts are not those known
        return _entry(whole=False)


_solve = _entry_as_a_whole()


@cache
def _make_ready() -> None:
    """Compile, or load from the cache; function by function, as numba does it, where it cannot be done as a whole."""
    global _solve  # noqa: PLW0603 - made once
    arguments = True, True, np.empty((0, 3)), np.empty((0, 4)), np.empty(0)
    first: tuple[object, ...] = (np.empty(0, np.int64), np.empty(0)) if held.KNOWN else (Settings(),)
    kinds = (*(() if held.KNOWN else HELD), *map(numba.typeof, (*first, *arguments)))
    try:
        _solve.compile(kinds)
    except Exception:  # noqa: BLE001 - whatever a numba may say whose inner parts are not those known
        _solve = _entry(whole=False)
        _solve.compile(kinds)


def in_cache() -> bool:
    """Whether a process has left compiled code on disk for this one to load; also where there is no place for it."""
    place = _solve.stats.cache_path
    return place is None or any(Path(place).glob(f"*.{_solve.__qualname__}-*.nbi"))


class Prepared:
    """Arrays that compiled code knows: it is called with few others, which costs little."""

    def __init__(self, *arrays: System | Work | State | Many | Call) -> None:
        """Note the arrays of `viewer.ik.kernels_call.solve_call`, in its order."""
        _make_ready()
        self._arrays = arrays  # held as long as the memory that points at them
        self._memory = noted(arrays)
        self._settings: Settings | None = None
        self._numbers = np.empty(0)

    def __call__(
        self,
        settings: Settings,
        onward: bool,
        settled: bool,
        places: Floats,
        turns: Floats,
        answer: Floats,
    ) -> int:
        """`viewer.ik.kernels_call.solve_call`."""
        if settings is not self._settings:
            most = min(settings.max_iterations, _MOST_ITERATIONS)
            self._settings, self._numbers = settings, np.array(settings._replace(max_iterations=most), dtype=np.float64)
        if not held.KNOWN:
            return self._plainly(onward, settled, places, turns, answer)
        code: int = _solve(self._memory, self._numbers, onward, settled, places, turns, answer)
        return code

    def _plainly(self, onward: bool, settled: bool, places: Floats, turns: Floats, answer: Floats) -> int:
        """The same, all arrays being passed; the settings as numbers of the kinds that it was compiled for."""
        numbers: Any = (type(usual)(given) for usual, given in zip(Settings(), self._numbers, strict=True))
        settings = Settings(*numbers)
        code: int = _solve(*self._arrays, settings, onward, settled, places, turns, answer)
        return code


_MOST_ITERATIONS = 2**53
"""Exact as a float64; nobody waits so long."""
_NO_ANSWER = np.empty(0)
_NO_CALL = Call(
    joints=np.empty(0, dtype=np.int64),
    goals=np.empty(0, dtype=np.int64),
    has_place=np.empty(0, dtype=np.bool_),
    has_turn=np.empty(0, dtype=np.bool_),
    places=np.empty((0, 3)),
    turns=np.empty((0, 4)),
    rotations=np.empty((0, 4)),
    translations=np.empty((0, 3)),
)


def solve_many(
    s: System,
    w: Work,
    state: State,
    trial: State,
    best: State,
    anchor: State,
    start: State,
    settings: Settings,
    many: Many,
    onward: bool,
) -> None:
    """`viewer.ik.problems.solve_many`, compiled."""
    run = Prepared(s, w, state, trial, best, anchor, start, many, _NO_CALL)
    run(settings, onward, True, _NO_CALL.places, _NO_CALL.turns, _NO_ANSWER)


def solve(
    s: System, w: Work, state: State, trial: State, best: State, anchor: State, settings: Settings
) -> tuple[int, int, float]:
    """`viewer.ik.driver.solve`, compiled."""
    one = make_many(s, 1)
    one.target[0], one.rotation[0] = s.goal_target, s.goal_rotation
    solve_many(s, w, state, trial, best, anchor, make_state(s), settings, one, True)
    return int(one.code[0]), int(one.iterations[0]), float(state.e @ state.e)
