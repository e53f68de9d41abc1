"""The arrays of a solve in one block: what compiled code is called with.

To take ninety arrays from Python costs more than an easy solve. So all of them are parts of one array of integers,
which begins with a header: of each array where in the block it begins, and how long its axes are. Floats and booleans
are parts of it that numpy reads as such. Compiled code finds its arrays by the header
(`viewer.ik.backends.compiled.numba_types`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from viewer.ik.system import Integers

Group = tuple[Any, ...]
"""A named tuple of arrays, or of other such groups."""

_BYTES = 8
_LINE = 8
"""Numbers in a line of a processor's cache: arrays begin at one."""


def entries_of(group: Group) -> list[int]:
    """Offset of each field's entry in its group's part of the header; the last one is where the next group begins."""
    return [0, *accumulate(1 + one.ndim if isinstance(one, np.ndarray) else entries_of(one)[-1] for one in group)]


def arrays_in(group: Group) -> Iterator[np.ndarray[Any, Any]]:
    """All arrays of a group, and of the groups in it, in the order of the header."""
    for one in group:
        if isinstance(one, np.ndarray):
            yield one
        else:
            yield from arrays_in(one)


def remade(group: Group, arrays: Iterator[np.ndarray[Any, Any]]) -> Any:  # noqa: ANN401 - of the group's own type
    """The same group of other arrays, in the order of `arrays_in`."""
    parts = [next(arrays) if isinstance(one, np.ndarray) else remade(one, arrays) for one in group]
    return type(group)._make(parts)  # type: ignore[attr-defined]  # they are named tuples


def in_block(groups: Sequence[Group]) -> tuple[Integers, list[Any]]:
    """A new block with copies of arrays of float64, int64 and bool, and the same groups made of these copies."""
    header: list[int] = []
    end, spans = _lines(sum(entries_of(group)[-1] for group in groups)), []
    for group in groups:
        for array in arrays_in(group):
            header += (end, *array.shape)
            spans.append((end, end + -(-array.nbytes // _BYTES)))
            end = _lines(spans[-1][1])
    room = np.zeros(end + _LINE, dtype=np.int64)
    skip = -room.ctypes.data // _BYTES % _LINE
    block = room[skip : skip + end]
    block[: len(header)] = header
    copies, following = [], iter(spans)
    for group in groups:
        parts = []
        for array in arrays_in(group):
            begin, stop = next(following)
            part = block[begin:stop].view(array.dtype)[: array.size].reshape(array.shape)
            part[...] = array
            parts.append(part)
        copies.append(remade(group, iter(parts)))
    return block, copies


def _lines(count: int) -> int:
    """Round a count of numbers up to whole cache lines."""
    return -(-count // _LINE) * _LINE
