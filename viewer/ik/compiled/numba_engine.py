"""The compiled backend: the kernels and the loop, compiled by numba and cached on disk.

Importing it imports numba, which takes half a second; compiling takes about 15, once per machine.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from viewer.ik import algebra, arm_steps, buffers, goals, levels, levenberg_marquardt, problems, system
from viewer.ik.assemble import assemble, dof_table_of, joint_tables
from viewer.ik.backends import twins
from viewer.ik.buffers import Buffers, Targets, arrays_in, entries_of, make_call
from viewer.ik.compiled import entry, numba_types
from viewer.ik.compiled.entry import Prepared, measure_pose, put_settings, solve_in_block
from viewer.ik.compiled.numba_types import INSTRUCTIONS, Given, Group, View, groups_at
from viewer.ik.goals import ROW_KINDS, Goal, kind
from viewer.ik.kernels import contact_rows, dual_system, joints, six_axes, starts, step
from viewer.ik.prepared import KindProjection
from viewer.ik.system import Call, Settings, StartTables, make_many, make_state, make_work
from viewer.skeleton import kinematics
from viewer.skeleton.kinematics import COMPILED, walk
from viewer.skeleton.tree import chain
from viewer.spatial import closest
from viewer.spatial.checks import frozen

MODULES = (
    algebra,
    kind,
    *goals.MODULES,
    joints,
    closest,
    contact_rows,  # after `closest`: its functions of numbers take the place of numpy's
    dual_system,
    step,
    starts,
    six_axes,
    arm_steps,
    levenberg_marquardt,
    levels,
    problems,
    entry,
)
_OPTIONS: dict[str, Any] = {"nogil": True, "_nrt": False, "error_model": "numpy", "no_cfunc_wrapper": True}
# Sums may be reordered and products fused, which lets the loops use vector instructions; NaN and infinity keep
# their meaning, and the same machine gives the same bits.
_FAST = {"contract", "reassoc", "arcp", "nsz"}

# The functions that Python calls. The others need no wrappers for Python, which would take most of the compile time.
_CALLED = solve_in_block.__name__, walk.__name__, measure_pose.__name__
# Besides the kernels' modules, a change of these has everything compiled again.
_MACHINERY = (system, goals, buffers, numba_types)
_PIPELINE = "viewer.ik.compiled.pipeline"
# Functions of the solve that give the same bits as numpy.
_EXACT = ("take_targets",)


def _groups() -> tuple[Any, ...]:
    """The arrays of a small solve, group by group, in the order of `viewer.ik.compiled.entry.groups_in`."""
    skeleton = chain(2)
    dofs = dof_table_of(skeleton, np.ones((len(skeleton), 3)), limits=True, root="free")
    goals = [Goal.position("tip", (0.0, 0.0, 0.0))]
    assembly = assemble(dofs, goals, (1.0, 1.0))
    system, call = assembly.system, make_call(assembly.joints, assembly.goals, Targets(skeleton, goals), len(skeleton))
    tables = KindProjection(skeleton).tables(dofs, np.empty(0, dtype=np.intp))
    return system, make_work(system), make_state(system), make_many(system, 1), call, tables


def _types_of(groups: tuple[Any, ...]) -> list[tuple[Group, int]]:
    """Numba's types of groups, and where in the header each group's part begins."""
    made, begin = [], 0
    for group in groups:
        made.append((_type_of(group), begin))
        begin += entries_of(group)[-1]
    return made


def _type_of(one: Any) -> Any:  # noqa: ANN401 - numba's have no public type
    """Numba's type of an array, or of a group with the types of its fields."""
    if isinstance(one, np.ndarray):
        return View(numba.from_dtype(one.dtype), one.ndim)
    fields = zip(type(one)._fields, one, entries_of(one)[:-1], strict=True)
    return Group(type(one).__name__, {name: (_type_of(field), entry) for name, field, entry in fields})


_SAMPLE = _groups()
_NDIMS = [array.ndim for group in _SAMPLE for array in arrays_in(group)]
_TYPES = _types_of(_SAMPLE)


class _Entries(NamedTuple):
    """The functions that Python calls, each over compiled copies of all functions that it calls."""

    solve: Any
    walk: Any
    measure: Any


def _entries(*, at_once: bool) -> _Entries:
    """`solve_in_block`, and for `viewer.skeleton` `walk` and `measure_pose`; nothing is compiled yet.

    With ``at_once`` the pipeline of `viewer.ik.compiled.pipeline` does it, in a fraction of the time.
    """
    how = [*_MACHINERY, sys.modules[__name__], *([import_module(_PIPELINE)] if at_once else [])]
    sources = "".join(inspect.getsource(module) for module in (*MODULES, kinematics, *how))
    # numba notices a change of a function's own file only: this makes any change of any of them a new function.
    digest = hashlib.sha256((sources + joints.dispatch_source(ROW_KINDS) + str(_TYPES)).encode()).hexdigest()[:16]
    jit = partial(_jit, digest=digest, at_once=at_once)
    solve = twins(MODULES, INSTRUCTIONS | {entry.groups_in.__name__: groups_at(_TYPES)}, jit)
    exact = twins((algebra, joints, entry, kinematics), {}, partial(jit, exact=True))
    return _Entries(solve[solve_in_block.__name__], exact[walk.__name__], exact[measure_pose.__name__])


def _jit(function: FunctionType, digest: str, *, at_once: bool, exact: bool = False) -> Any:  # noqa: ANN401
    """Compiled when it is called; ``exact``: with the bits of numpy, so without reordered sums."""
    inner = function.__name__ not in _CALLED
    options = _OPTIONS | {"no_cpython_wrapper": inner}
    if not exact and function.__name__ not in _EXACT:
        options["fastmath"] = _FAST
    if at_once:
        pipelines = import_module(_PIPELINE)
        options["pipeline_class"] = pipelines.Inner if inner else pipelines.Entry
    if not inner:
        function.__qualname__ += f"_{digest}"
        return _cached(options, function)
    made = numba.njit(**options)(function)  # cached as a part of the entry
    if at_once:
        made.get_call_template = partial(_template_for, made.get_call_template)
    return made


def _template_for(template_for: Callable[..., Any], args: tuple[Any, ...], kws: dict[str, Any]) -> Any:  # noqa: ANN401
    """Numba's template of a call, by the types of arguments: else each constant passed makes another function."""
    return template_for(tuple(map(types.unliteral, args)), {name: types.unliteral(kind) for name, kind in kws.items()})  # type: ignore[no-untyped-call]  # numba has no types


def _cached(options: dict[str, Any], function: FunctionType) -> Any:  # noqa: ANN401
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # no place for a cache: compiled in every process
        return numba.njit(**options)(function)


def _quickest() -> _Entries:
    try:
        return _entries(at_once=True)
    except (ImportError, AttributeError, TypeError):  # a numba without the parts that the pipeline uses
        return _entries(at_once=False)


_called = _quickest()


@cache
def make_ready() -> Callable[..., int]:
    """Compile, or load from the cache, what Python calls; with numba's ordinary pipeline if ours fails.

    Lets `viewer.skeleton` use compiled loops on one pose: for `fk`, with the bits of numpy, and for coordinates.

    Returns:
        `solve_in_block` for the types that it is compiled for: numba would look at those of each call's arguments,
        which takes as long as the shortest solve. They have to be right.
    """
    global _called  # noqa: PLW0603 - made once
    try:
        return _compile(_called)
    except Exception:  # noqa: BLE001 - another numba may fail in any way
        _called = _entries(at_once=False)
        return _compile(_called)


def _compile(called: _Entries) -> Callable[..., int]:
    given, flag, number = Given(), types.boolean, types.int64
    solve: Callable[..., int] = called.solve.compile((number, given, given, flag, flag, flag, given, given, given))
    parents, written = frozen(np.empty(0), np.intp), (np.empty((0, 4)), np.empty((0, 3)))
    COMPILED.walk = _only_for(called.walk, parents, *_NO_POSE, *written)
    kinds = *joint_tables(chain(1)), *_NO_POSE, np.empty((0, 3)), np.empty(0)
    COMPILED.tables, COMPILED.measure = joint_tables, _only_for(called.measure, *kinds)
    return solve


def _only_for(compiled: Any, *arguments: Any) -> Any:  # noqa: ANN401
    """The function compiled for arguments of these types, and for no others."""
    compiled.compile(tuple(map(numba.typeof, arguments)))
    compiled.disable_compile()
    return compiled


def in_cache() -> bool:
    """Whether compiled code is in the disk cache, or there can be no such cache."""
    folder = cache_folder()
    return folder is None or any(folder.glob(f"*.{_called.solve.__qualname__}-*.nbi"))


def cache_folder() -> Path | None:
    """The folder of the disk cache, or None."""
    place = _called.solve.stats.cache_path
    return None if place is None else Path(place)


_NO_POSE = frozen(np.empty((0, 4))), frozen(np.empty((0, 3)))


def prepare(buffers: Buffers, call: Call = _SAMPLE[-2], tables: StartTables = _SAMPLE[-1]) -> Prepared:
    """Compile, and put the arrays of buffers, and those that calls begin with, into a block."""
    solve = make_ready()
    block, call_in_block = buffers.into_block(call, tables)
    assert buffers.ndims(call, tables) == _NDIMS
    return solve, block.ctypes.data, call_in_block


def solve_batch(buffers: Buffers, settings: Settings, *, onward: bool) -> None:
    """`viewer.ik.problems.solve_batch` on the buffers' problems, compiled."""
    if buffers.prepared is None:
        buffers.prepared = prepare(buffers)
    solve, address, call = buffers.prepared
    put_settings(call, settings)
    solve(address, None, None, False, onward, True, None, None, None)
