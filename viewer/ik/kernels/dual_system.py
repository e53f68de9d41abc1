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
    """Put the upper triangle of J J^T into ``w.gram``."""
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
    """Subtract the share of a dof, which touches the rows ``low`` to ``high``, from ``w.gram``."""
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


def solve_six(gram: Floats, e: Floats, damping: float, y: Floats) -> None:
    """`solve_dual` of six rows, as of a pose: eliminated by pairs, each of which has one division to wait for.

    Rounding may leave a pair whose determinant is slightly less than that of the damping alone.
    """
    least = 0.25 * damping * damping
    a, b, c = gram[0, 0] + damping, gram[0, 1], gram[1, 1] + damping
    scale = 1.0 / max(a * c - b * b, least)
    a, b, c = scale * c, -scale * b, scale * a
    u2, u3, u4, u5 = gram[0, 2], gram[0, 3], gram[0, 4], gram[0, 5]
    v2, v3, v4, v5 = gram[1, 2], gram[1, 3], gram[1, 4], gram[1, 5]
    p2, p3, p4, p5 = a * u2 + b * v2, a * u3 + b * v3, a * u4 + b * v4, a * u5 + b * v5
    q2, q3, q4, q5 = b * u2 + c * v2, b * u3 + c * v3, b * u4 + c * v4, b * u5 + c * v5
    p, q = a * e[0] + b * e[1], b * e[0] + c * e[1]
    h33, h34, h35 = (
        gram[3, 3] + damping - u3 * p3 - v3 * q3,
        gram[3, 4] - u3 * p4 - v3 * q4,
        gram[3, 5] - u3 * p5 - v3 * q5,
    )
    h23, h24, h25 = gram[2, 3] - u2 * p3 - v2 * q3, gram[2, 4] - u2 * p4 - v2 * q4, gram[2, 5] - u2 * p5 - v2 * q5
    h22, h45 = gram[2, 2] + damping - u2 * p2 - v2 * q2, gram[4, 5] - u4 * p5 - v4 * q5
    h44, h55 = gram[4, 4] + damping - u4 * p4 - v4 * q4, gram[5, 5] + damping - u5 * p5 - v5 * q5
    e2, e3, e4, e5 = e[2] - u2 * p - v2 * q, e[3] - u3 * p - v3 * q, e[4] - u4 * p - v4 * q, e[5] - u5 * p - v5 * q
    scale = 1.0 / max(h22 * h33 - h23 * h23, least)
    a, b, c = scale * h33, -scale * h23, scale * h22
    r4, r5, r = a * h24 + b * h34, a * h25 + b * h35, a * e2 + b * e3
    t4, t5, t = b * h24 + c * h34, b * h25 + c * h35, b * e2 + c * e3
    h44, h45, h55 = h44 - h24 * r4 - h34 * t4, h45 - h24 * r5 - h34 * t5, h55 - h25 * r5 - h35 * t5
    e4, e5 = e4 - h24 * r - h34 * t, e5 - h25 * r - h35 * t
    scale = 1.0 / max(h44 * h55 - h45 * h45, least)
    y4, y5 = scale * (h55 * e4 - h45 * e5), scale * (h44 * e5 - h45 * e4)
    y2, y3 = r - r4 * y4 - r5 * y5, t - t4 * y4 - t5 * y5
    y[0], y[1] = p - p2 * y2 - p3 * y3 - p4 * y4 - p5 * y5, q - q2 * y2 - q3 * y3 - q4 * y4 - q5 * y5
    y[2], y[3], y[4], y[5] = y2, y3, y4, y5


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
    """Eliminate the rows above from rows c to c + 3 of D L^T, then these from each other; pivots are stored inverted.

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
    """Solve for y from D L^T y, in place, from the last row up, four rows at a time."""
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
