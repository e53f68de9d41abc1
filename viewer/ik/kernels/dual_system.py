"""The dual system J J^T + lambda I of the damped step, and its solution.

J is as in `viewer.ik.kernels.step`. Its rows, and those of the other tables, are padded with zeros to whole lanes
(`viewer.ik.system.filled`), with room for one column more than J J^T has: the right side. Tables are symmetric, and
only what is right of the diagonal is read; left of it, in lanes that reach over, there may be anything.

`LANES` neighbours in a row are one vector in the processor's registers: compiled, the functions of lanes at the end of
this module are single instructions (`viewer.ik.compiled.numba_types`). Left to itself the compiler finds such vectors
only in long loops, and rows here have fifteen or thirty numbers.
"""

from __future__ import annotations

from viewer.ik.system import LANES, System, Work
from viewer.spatial.checks import Floats

_PANEL = 4
"""Rows that are eliminated together, to share loads from memory."""


def gram(s: System, w: Work) -> None:
    """Upper triangle of J J^T into ``w.gram``."""
    for r in range(len(w.wanted)):
        for c in range(len(w.gram)):
            w.gram[r, c] = 0.0
    for limb in range(len(s.limb_low)):
        add_rows(w.gram, w.jacobian, s.limb_low[limb], s.limb_high[limb], s.limb_first[limb], s.limb_first[limb + 1])


def add_rows(total: Floats, jacobian: Floats, low: int, high: int, first: int, end: int) -> None:
    """Add the share of the dofs ``first`` to ``end``, which touch the rows ``low`` to ``high``: by three rows."""
    for r in range(low, high - 2, 3):
        for at in range(r - r % LANES, high, LANES):
            one, two, three = lanes_at(total, r, at), lanes_at(total, r + 1, at), lanes_at(total, r + 2, at)
            for d in range(first, end):
                lanes = lanes_at(jacobian, d, at)
                one = plus(one, entry(jacobian, d, r), lanes)
                two = plus(two, entry(jacobian, d, r + 1), lanes)
                three = plus(three, entry(jacobian, d, r + 2), lanes)
            put_lanes(total, r, at, one)
            put_lanes(total, r + 1, at, two)
            put_lanes(total, r + 2, at, three)
    for r in range(high - (high - low) % 3, high):
        for at in range(r - r % LANES, high, LANES):
            one = lanes_at(total, r, at)
            for d in range(first, end):
                one = plus(one, entry(jacobian, d, r), lanes_at(jacobian, d, at))
            put_lanes(total, r, at, one)


def take_out(w: Work, d: int, low: int, high: int) -> None:
    """Take the share of a dof that touches the rows ``low`` to ``high`` out of ``w.gram``."""
    for r in range(low, high):
        for at in range(r - r % LANES, high, LANES):
            lanes = lanes_at(w.jacobian, d, at)
            put_lanes(w.gram, r, at, plus(lanes_at(w.gram, r, at), -entry(w.jacobian, d, r), lanes))


def scale_columns(jacobian: Floats, factors: Floats) -> None:
    """Multiply the columns of the transposed Jacobian by (m,) factors: goals' rows."""
    for d in range(len(jacobian)):
        for r in range(len(factors)):
            jacobian[d, r] *= factors[r]


def solve_dual(w: Work, e: Floats, damping: float, y: Floats) -> None:
    """Solve (J J^T + damping I) y = e by elimination, L D L^T; ``w.gram`` is kept, ``w.factor`` is overwritten.

    The right side is one more column, and so becomes D L^T y on the way.
    """
    m = len(e)
    for r in range(m):
        w.gram[r, m] = e[r]
    for c in range(0, m, _PANEL):
        eliminate(w.gram, w.factor, w.pivots, c, m + 1, damping)
    for r in range(m):
        y[r] = w.factor[r, m]
    back(w.factor, w.pivots, y)


def substitute(w: Work, e: Floats, y: Floats) -> None:
    """`solve_dual` for another ``e``, with the factor that it left."""
    m = len(e)
    for r in range(m):
        y[r] = e[r]
    for r in range(m):
        share = y[r] * w.pivots[r]
        for c in range(r + 1, m):
            y[c] -= w.factor[r, c] * share
    back(w.factor, w.pivots, y)


def eliminate(gram: Floats, factor: Floats, pivots: Floats, c: int, width: int, damping: float) -> None:
    """Rows c to c + 3 of D L^T, and the pivots, inverted: without the rows above, then without each other.

    A panel that reaches past the last row ends with rows that are never read.
    """
    a, b, d = c + 1, c + 2, c + 3
    first = c - c % LANES
    for at in range(first, width, LANES):
        one, two, three, four = (
            lanes_at(gram, c, at),
            lanes_at(gram, a, at),
            lanes_at(gram, b, at),
            lanes_at(gram, d, at),
        )
        for i in range(c):
            lanes = times(lanes_at(factor, i, at), -pivots[i])
            one = plus(one, entry(factor, i, c), lanes)
            two = plus(two, entry(factor, i, a), lanes)
            three = plus(three, entry(factor, i, b), lanes)
            four = plus(four, entry(factor, i, d), lanes)
        put_lanes(factor, c, at, one)
        put_lanes(factor, a, at, two)
        put_lanes(factor, b, at, three)
        put_lanes(factor, d, at, four)
    # The same with each other. The entries right of the panel's own diagonal are the factors.
    ca, cb, cd = entry(factor, c, a), entry(factor, c, b), entry(factor, c, d)
    pc = inverse(entry(factor, c, c), damping)
    ac, bc, dc = ca * pc, cb * pc, cd * pc
    pa = inverse(entry(factor, a, a) - ac * ca, damping)
    ab, ad = entry(factor, a, b) - ac * cb, entry(factor, a, d) - ac * cd
    ba, da = ab * pa, ad * pa
    pb = inverse(entry(factor, b, b) - bc * cb - ba * ab, damping)
    bd = entry(factor, b, d) - bc * cd - ba * ad
    db = bd * pb
    pd = inverse(entry(factor, d, d) - dc * cd - da * ad - db * bd, damping)
    pivots[c], pivots[a], pivots[b], pivots[d] = pc, pa, pb, pd
    for at in range(first, width, LANES):
        one, two, three, four = (
            lanes_at(factor, c, at),
            lanes_at(factor, a, at),
            lanes_at(factor, b, at),
            lanes_at(factor, d, at),
        )
        two = plus(two, -ac, one)
        three = plus(plus(three, -bc, one), -ba, two)
        four = plus(plus(plus(four, -dc, one), -da, two), -db, three)
        put_lanes(factor, a, at, two)
        put_lanes(factor, b, at, three)
        put_lanes(factor, d, at, four)


def inverse(value: float, damping: float) -> float:
    """A pivot, inverted: a division costs as much as ten products.

    Rounding may leave slightly less than the damping that is added.
    """
    return 1.0 / max(value + damping, 0.5 * damping)


def back(factor: Floats, pivots: Floats, y: Floats) -> None:
    """Back substitution of D L^T y to y in place, from the last row up, four at a time."""
    m = len(y)
    for r in range(m - 1, m - m % _PANEL - 1, -1):
        y[r] *= pivots[r]
        for i in range(r):
            y[i] -= entry(factor, i, r) * y[r]
    for c in range(m - m % _PANEL - _PANEL, -1, -_PANEL):
        a, b, d = c + 1, c + 2, c + 3
        four = y[d] * pivots[d]
        three = (y[b] - entry(factor, b, d) * four) * pivots[b]
        two = (y[a] - entry(factor, a, d) * four - entry(factor, a, b) * three) * pivots[a]
        one = y[c] - entry(factor, c, d) * four - entry(factor, c, b) * three - entry(factor, c, a) * two
        one *= pivots[c]
        y[c], y[a], y[b], y[d] = one, two, three, four
        for i in range(c):
            y[i] -= (
                entry(factor, i, c) * one
                + entry(factor, i, a) * two
                + entry(factor, i, b) * three
                + entry(factor, i, d) * four
            )


def lanes_at(table: Floats, row: int, column: int) -> Floats:
    """The lanes that begin at a place of a table."""
    return table[row, column : column + LANES]


def entry(table: Floats, row: int, column: int) -> float:
    """One number of a table; compiled, without the check for negative indices."""
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
