"""Bodies stay apart: the step of the goals, corrected so that no gap closes.

The step u of the goals minimises |A u - e|^2 + lambda |u|^2 (`viewer.ik.levenberg_marquardt`), with u in spreads of the
dofs. Each gap g_r between two bodies, with the rows D u of how fast a step opens it, adds a constraint D u >= b: bodies
that overlap must part, and bodies that are near may close most of their gap. The best step for the goals among those
is

    u + H^-1 D^T mu,    H = A^T A + lambda I,    mu >= 0, and 0 where D u > b,

over the rows D of an active set. The row that is violated most is added until none is violated; rows that would pull
are removed (a dual method: Goldfarb and Idnani, "A numerically stable dual method for solving strictly convex quadratic
programs", Mathematical Programming 27, 1983). With the factor of the goals' step H^-1 x = (x - A^T G^-1 A x) / lambda,
G = A A^T + lambda I. Treating gaps as rows comes from Faverjon and Tournassoud, "A local based approach for path
planning of manipulators with a high number of degrees of freedom" (IEEE ICRA 1987). Both engines run this source.
"""

from __future__ import annotations

from viewer.ik.algebra import fill_row
from viewer.ik.kernels.contact_rows import (
    add_row,
    drop_row,
    find_rates,
    most_violated,
    push_step,
    solve_active,
    take_step,
)
from viewer.ik.system import LEAST_WEIGHT, System, Work

MOST_WEIGHT, _STIFFER = 1e6, 10.0
"""The largest weight of overlaps, for heavy goals that push into something solid; its change from frame to frame."""
_ROUNDS = 5
"""Rows are added at most this many times the size of the active set."""


def keeps_apart(s: System) -> bool:
    """Whether the figure can touch anything."""
    return len(s.contact.joint) > 0


def weigh_overlaps(w: Work, first: bool) -> None:
    """Set the weight of overlaps: the least at the start of a solve, adapted to the last overlap in each drag step."""
    c = w.contact
    if first:
        c.weight[0] = LEAST_WEIGHT
    elif c.overlap[1] > 1.0:
        c.weight[0] = min(MOST_WEIGHT, _STIFFER * c.weight[0])
    else:
        c.weight[0] = max(LEAST_WEIGHT, c.weight[0] / _STIFFER)


def keep_apart(s: System, w: Work, damping: float) -> None:
    """Correct ``w.step``, the goals' step under this damping, whose factor is in the scratch."""
    c = w.contact
    if c.rows[0] == 0:
        return
    fill_row(c.active, False)
    push_step(s, w, 0)
    find_rates(s, w)
    count, most = 0, len(c.chosen)
    for _ in range(_ROUNDS * most):
        row = most_violated(s, w)
        if row < 0 or count == most:
            break
        add_row(s, w, count, row, damping)
        count = without_pulls(w, count + 1)
        push_step(s, w, count)
        find_rates(s, w)
    if count > 0:
        take_step(s, w)


def without_pulls(w: Work, count: int) -> int:
    """Find the pushes of the rows in the active set, dropping rows that would pull; returns how many are left."""
    c = w.contact
    while count > 0:
        solve_active(w, count)
        worst, least = -1, 0.0
        for i in range(count):
            if c.push[i] < least:
                worst, least = i, c.push[i]
        if worst < 0:
            break
        drop_row(w, worst, count)
        count -= 1
    return count
