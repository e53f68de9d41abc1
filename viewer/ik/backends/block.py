"""The arrays of a solve in one block: what compiled code is called with.

To take ninety arrays from Python costs more than an easy solve. So all of them are parts of one array of integers,
which begins with a header: of each array where in the block it begins, and how long its axes are. Floats and booleans
are parts of it that numpy reads as such. Compiled code finds its arrays by the header
(`viewer.ik.backends.compiled.numba_types`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from viewer.ik.system import Integers

Group = tuple[np.ndarray[Any, Any], ...]

_BYTES = 8
_LINE = 8
"""Numbers in a line of a processor's cache: arrays begin at one."""


def entries_of(group: Group) -> list[int]:
    """Offset of each array's entry in its group's part of the header; the last one is where the next group begins."""
    return [0, *accumulate(1 + array.ndim for array in group)]


def in_block(groups: Sequence[Group]) -> tuple[Integers, list[Any]]:
    """A new block with copies of arrays of float64, int64 and bool, and the same groups made of these copies."""
    header: list[int] = []
    end, spans = _lines(sum(entries_of(group)[-1] for group in groups)), []
    for group in groups:
        for array in group:
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
        for array in group:
            begin, stop = next(following)
            part = block[begin:stop].view(array.dtype)[: array.size].reshape(array.shape)
            part[...] = array
            parts.append(part)
        copies.append(type(group)._make(parts))  # type: ignore[attr-defined]  # they are named tuples
    return block, copies


def _lines(count: int) -> int:
    """Round a count of numbers up to whole cache lines."""
    return -(-count // _LINE) * _LINE
