"""Loops that numba compiles: the dual system J J^T + lambda I of the damped step, and its solution.

What `viewer.ik.kernels_step` says of J holds here. Short loops cost by their beginnings and by what they load: so three
rows, or three freedoms, are worked on at a time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Floats


def gram(s: System, w: Work) -> None:
    """Lower triangle of J J^T into ``w.gram`` (m, m)."""
    m = len(w.gram)
    for r in range(m):
        for c in range(r + 1):
            w.gram[r, c] = 0.0
    k = 0
    while k < len(s.parent):
        low, high, d = s.low[k], s.high[k], s.first[k]
        # Neighbours that touch the same rows, such as the joints of a limb, are taken together.
        while k < len(s.parent) and s.low[k] == low and s.high[k] == high:
            k += 1
        if high - low == 3:
            add_point(w.gram, w.jacobian, low, d, s.first[k])
        elif high > low:
            add_rows(w.gram, w.jacobian, low, high, d, s.first[k])


def add_point(total: Floats, jacobian: Floats, low: int, first: int, end: int) -> None:
    """Add the share of the freedoms ``first`` to ``end`` that touch three rows: six sums, which stay in registers."""
    xx = yx = yy = zx = zy = zz = 0.0
    for d in range(first, end):
        x, y, z = jacobian[d, low], jacobian[d, low + 1], jacobian[d, low + 2]
        xx += x * x
        yx += y * x
        yy += y * y
        zx += z * x
        zy += z * y
        zz += z * z
    total[low, low] += xx
    total[low + 1, low] += yx
    total[low + 1, low + 1] += yy
    total[low + 2, low] += zx
    total[low + 2, low + 1] += zy
    total[low + 2, low + 2] += zz


def add_rows(total: Floats, jacobian: Floats, low: int, high: int, first: int, end: int) -> None:
    """As `add_point`, for any rows: three freedoms at a time, so that three products share a load and a store."""
    d = first
    while d + 2 < end:
        for r in range(low, high):
            one, two, three = jacobian[d, r], jacobian[d + 1, r], jacobian[d + 2, r]
            for c in range(low, r + 1):
                total[r, c] += one * jacobian[d, c] + two * jacobian[d + 1, c] + three * jacobian[d + 2, c]
        d += 3
    for last in range(d, end):
        for r in range(low, high):
            for c in range(low, r + 1):
                total[r, c] += jacobian[last, r] * jacobian[last, c]


def solve_dual(w: Work, e: Floats, damping: float, y: Floats) -> None:
    """Solve (J J^T + damping I) y = e by Cholesky; ``w.gram`` is kept, ``w.factor`` is overwritten."""
    m = len(e)
    for r in range(0, m - 2, 3):
        factor_rows(w.gram, w.factor, r, damping)
    for last in range(m - m % 3, m):
        for c in range(last):
            total = w.gram[last, c]
            for i in range(c):
                total -= w.factor[last, i] * w.factor[c, i]
            w.factor[last, c] = total * w.factor[c, c]
        total = w.gram[last, last]
        for i in range(last):
            total -= w.factor[last, i] * w.factor[last, i]
        w.factor[last, last] = inverse_root(total, damping)
    substitute(w, e, y)


def substitute(w: Work, e: Floats, y: Floats) -> None:
    """`solve_dual` for another ``e``, with the factor that it left."""
    m = len(e)
    for r in range(m):
        total = e[r]
        for i in range(r):
            total -= w.factor[r, i] * y[i]
        y[r] = total * w.factor[r, r]
    for r in range(m - 1, -1, -1):
        value = y[r] * w.factor[r, r]
        y[r] = value
        for i in range(r):
            y[i] -= w.factor[r, i] * value


def factor_rows(gram: Floats, factor: Floats, r: int, damping: float) -> None:
    """Rows r, r + 1 and r + 2 of the factor, three columns at a time: nine sums share six loads."""
    a, b = r + 1, r + 2
    for c in range(0, r, 3):
        rx, ry, rz = gram[r, c], gram[r, c + 1], gram[r, c + 2]
        ax, ay, az = gram[a, c], gram[a, c + 1], gram[a, c + 2]
        bx, by, bz = gram[b, c], gram[b, c + 1], gram[b, c + 2]
        for i in range(c):
            x, y, z = factor[c, i], factor[c + 1, i], factor[c + 2, i]
            u, v, t = factor[r, i], factor[a, i], factor[b, i]
            rx -= u * x
            ry -= u * y
            rz -= u * z
            ax -= v * x
            ay -= v * y
            az -= v * z
            bx -= t * x
            by -= t * y
            bz -= t * z
        yx, zx, zy = factor[c + 1, c], factor[c + 2, c], factor[c + 2, c + 1]
        x, y, z = factor[c, c], factor[c + 1, c + 1], factor[c + 2, c + 2]
        rx, ax, bx = rx * x, ax * x, bx * x
        ry, ay, by = (ry - rx * yx) * y, (ay - ax * yx) * y, (by - bx * yx) * y
        factor[r, c], factor[a, c], factor[b, c] = rx, ax, bx
        factor[r, c + 1], factor[a, c + 1], factor[b, c + 1] = ry, ay, by
        factor[r, c + 2] = (rz - rx * zx - ry * zy) * z
        factor[a, c + 2] = (az - ax * zx - ay * zy) * z
        factor[b, c + 2] = (bz - bx * zx - by * zy) * z
    rr, ar, aa, br, ba, bb = gram[r, r], gram[a, r], gram[a, a], gram[b, r], gram[b, a], gram[b, b]
    for i in range(r):
        u, v, t = factor[r, i], factor[a, i], factor[b, i]
        rr -= u * u
        ar -= v * u
        aa -= v * v
        br -= t * u
        ba -= t * v
        bb -= t * t
    rr = inverse_root(rr, damping)
    ar, br = ar * rr, br * rr
    aa = inverse_root(aa - ar * ar, damping)
    ba = (ba - br * ar) * aa
    bb = inverse_root(bb - br * br - ba * ba, damping)
    factor[r, r], factor[a, r], factor[a, a] = rr, ar, aa
    factor[b, r], factor[b, a], factor[b, b] = br, ba, bb


def inverse_root(value: float, damping: float) -> float:
    """An entry of the factor's diagonal, which is kept inverted: a division costs as much as ten products.

    Rounding may leave a hair less than the damping that is to be put in.
    """
    return 1.0 / math.sqrt(max(value + damping, 0.5 * damping))
