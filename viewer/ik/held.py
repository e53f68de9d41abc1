"""Where compiled code finds the arrays of a solve: noted once, instead of taken out of Python's hands at every call.

To take some ninety arrays from Python costs as much as an easy solve. `noted` writes what numba knows of each (where it
is, how large it is) into a piece of memory, and `solve_held` reads it there. Who keeps that memory keeps the arrays.

How numba lays this out is its own affair and may change. `KNOWN` says whether it is as written here; where it is not,
all arrays are passed at every call (`viewer.ik.compiled`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from numba.core import cgutils
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from viewer.ik.assemble import assemble, freedoms_of
from viewer.ik.goals import Goal
from viewer.ik.groups import groups_of
from viewer.ik.kernels_call import solve_call
from viewer.ik.system import Integers, Settings, make_call, make_many, make_state, make_work
from viewer.ik.targets import Targets
from viewer.skeleton.tree import chain
from viewer.spatial.checks import Floats

FIELDS = ("meminfo", "parent", "nitems", "itemsize", "data", "shape", "strides")
"""Numba's names of what `noted` writes of an array."""


def solve_held(
    memory: Integers, numbers: Floats, onward: bool, settled: bool, places: Floats, turns: Floats, answer: Floats
) -> int:
    """`viewer.ik.kernels_call.solve_call` on the arrays that are `noted`; the settings as numbers, in their order."""
    s, w, state, trial, best, anchor, start, many, call = taken(memory)
    settings = Settings(
        int(numbers[0]),
        int(numbers[1]),
        numbers[2],
        numbers[3],
        numbers[4],
        int(numbers[5]),
        numbers[6],
        numbers[7],
        numbers[8],
        int(numbers[9]),
        numbers[10],
        numbers[11] != 0.0,
        numbers[12] != 0.0,
        numbers[13] != 0.0,
        numbers[14],
        numbers[15] != 0.0,
    )
    return solve_call(
        s, w, state, trial, best, anchor, start, many, call, settings, onward, settled, places, turns, answer
    )


def noted(arrays: Iterable[Iterable[np.ndarray[Any, Any]]]) -> Integers:
    """Where arrays are and how large, in numba's order.

    That is of each: two pointers to owners (none: whoever calls keeps them), how many items, the bytes of one, where
    the first is, and of every axis the length, then of every axis the stride.
    """
    words = [
        word
        for group in arrays
        for array in group
        for word in (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)
    ]
    return np.array(words, dtype=np.int64)


def _sample() -> tuple[Any, ...]:
    """Arrays of a small solve, as `viewer.ik.kernels_call.solve_call` takes them."""
    skeleton = chain(2)
    freedoms = freedoms_of(skeleton, np.ones((len(skeleton), 3)), limits=True, root="free")
    goals = [Goal.position("tip", (0.0, 0.0, 0.0))]
    assembly = assemble(freedoms, goals, (1.0, 1.0))
    system, call = assembly.system, make_call(assembly.joints, assembly.goals, Targets(skeleton, goals), len(skeleton))
    states = [make_state(system) for _ in range(5)]
    return system, make_work(system), *states, make_many(system, 1), call


def is_known(groups: tuple[Any, ...], fields: tuple[str, ...] = FIELDS) -> bool:
    """Whether numba keeps of arrays what `noted` writes, and in its order; ``fields``: the names of that order."""
    context = cpu_target.target_context
    try:
        for array in {numba.typeof(array): array for group in groups for array in group}.values():
            kind = numba.typeof(array)
            model = context.data_model_manager[kind]
            if [model.get_field_position(name) for name in fields] != list(range(model.field_count)):
                return False
            if context.get_abi_sizeof(context.get_value_type(kind)) != noted([[array]]).nbytes:
                return False
        return bool(context.get_abi_sizeof(context.get_value_type(numba.typeof(groups))) == noted(groups).nbytes)
    except (AttributeError, KeyError, NotImplementedError, TypeError, ValueError):
        return False


_ARRAYS = _sample()
HELD = numba.typeof(_ARRAYS)
GROUPS = groups_of(HELD)
KNOWN = is_known(_ARRAYS)


def _taken(typing: Any, memory: Any) -> Any:  # noqa: ANN401, ARG001
    """The arrays that were noted in memory."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
        place = _place(context, builder, signature, values)
        groups = [
            builder.bitcast(cgutils.gep_inbounds(builder, place, 0, i), cgutils.voidptr_t) for i in range(len(HELD))
        ]
        return context.make_tuple(builder, signature.return_type, groups)

    return GROUPS(memory), generate


def _place(context: Any, builder: Any, signature: Any, values: Any) -> Any:  # noqa: ANN401
    memory = context.make_array(signature.args[0])(context, builder, values[0])
    return builder.bitcast(memory.data, context.get_value_type(HELD).as_pointer())


# By this name compiled code calls it.
taken: Any = intrinsic(_taken)
