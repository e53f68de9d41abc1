"""Eight numbers at a time: the loops of `viewer.ik.backends.compiled.dual` are made of these functions.

Compiled, `LANES` neighbours in a row of a table are one vector in the processor's registers: these functions are then
single instructions (`viewer.ik.backends.compiled.numba_types`). Left to itself the compiler finds such vectors only in
long loops, and rows here have fifteen or thirty numbers. Rows of tables are whole lanes for this: see `filled`.
"""

from __future__ import annotations

from viewer.spatial.checks import Floats

LANES = 8
"""The widest vectors there are; narrower processors take two or four of theirs instead."""


def filled(count: int) -> int:
    """The length of a row of whole lanes that holds so many numbers."""
    return -(-count // LANES) * LANES


def lanes_at(table: Floats, row: int, column: int) -> Floats:
    """The lanes that begin at a place of a table."""
    return table[row, column : column + LANES]


def entry(table: Floats, row: int, column: int) -> float:
    """One number of a table; compiled, without the look at whether indices are counted from the end."""
    number: float = table[row, column]
    return number


def put_lanes(table: Floats, row: int, column: int, lanes: Floats) -> None:
    """Put lanes at a place of a table."""
    table[row, column : column + LANES] = lanes


def plus(lanes: Floats, factor: float, others: Floats) -> Floats:
    """Lanes + factor * others."""
    return lanes + factor * others


def times(lanes: Floats, factor: float) -> Floats:
    """Lanes * factor."""
    return lanes * factor
