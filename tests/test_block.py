"""The block of a solve's arrays: its parts, its header, and who may change what."""

from __future__ import annotations

from typing import Any

import numpy as np
from inside.ik import arrays_in, entries_of, in_block, make_many, make_state
from rigs import random_problem


def test_parts_of_a_block_are_the_arrays_given_and_apart_from_each_other() -> None:
    case = random_problem(3)
    groups = (case.system, case.work, case.state, make_many(case.system, 2))
    block, copies = in_block(groups)
    for group, copy in zip(groups, copies, strict=True):
        assert type(copy) is type(group)
        for array, part in zip(arrays_in(group), arrays_in(copy), strict=True):
            assert part.dtype == array.dtype
            np.testing.assert_array_equal(part, array)
            assert np.shares_memory(part, block) or part.size == 0
            assert not np.shares_memory(part, array)
    parts = [part for copy in copies for part in arrays_in(copy) if part.size]
    for part in parts:
        part[...] = 1
    assert all((part == 1).all() for part in parts)
    parts[0][...] = 0
    assert all((part == 1).all() for part in parts[1:])


def test_the_header_says_where_the_arrays_are_and_how_long() -> None:
    case = random_problem(4)
    groups = (case.system, make_state(case.system))
    block, copies = in_block(groups)
    place = 0
    for group in copies:
        *entries, end = _entries_of_arrays(group)
        for part, entry in zip(arrays_in(group), entries, strict=True):
            begin, *lengths = block[place + entry : place + entry + 1 + part.ndim].tolist()
            assert tuple(lengths) == part.shape
            if part.size:
                assert part.ctypes.data - block.ctypes.data == 8 * begin
                assert part.ctypes.data % 64 == 0
        place += end


def _entries_of_arrays(group: tuple[Any, ...]) -> list[int]:
    """The offsets of a group's arrays, and of those of the groups in it; the last one is its length."""
    *entries, end = entries_of(group)
    found = []
    for one, entry in zip(group, entries, strict=True):
        if isinstance(one, np.ndarray):
            found.append(entry)
        else:
            found += [entry + inner for inner in _entries_of_arrays(one)[:-1]]
    return [*found, end]
