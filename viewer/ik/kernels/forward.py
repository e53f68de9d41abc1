"""Forward kinematics and the goals' residuals.

What the rows of the Jacobian need of a goal is left in the scratch: see `viewer.ik.kernels.step`. Compiled code cannot
look up a function in a table, so `goal_residual` is a comparison of codes for each kind, made of the table of kinds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from viewer.ik.algebra import product, turned
from viewer.ik.goals import ROW_KINDS, Kind
from viewer.ik.kernels.contact_rows import measure_overlap
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats


def forward(s: System, w: Work, q: Floats, t: Floats) -> None:
    """World rotations and positions of all joints: W = W_parent q, p = p_parent + W_parent t."""
    for k in range(len(s.parent)):
        p = s.parent[k]
        bx, by, bz, bw = q[k, 0], q[k, 1], q[k, 2], q[k, 3]
        x, y, z = t[k, 0], t[k, 1], t[k, 2]
        if p >= 0:
            ax, ay, az, aw = w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3]
            bx, by, bz, bw = product(ax, ay, az, aw, bx, by, bz, bw)
            x, y, z = turned(ax, ay, az, aw, x, y, z)
            x, y, z = x + w.place[p, 0], y + w.place[p, 1], z + w.place[p, 2]
        w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3] = bx, by, bz, bw
        w.place[k, 0], w.place[k, 1], w.place[k, 2] = x, y, z


GoalResidual: TypeAlias = Callable[[System, Work, int, Floats], float]
"(system, scratch, goal, e (m,)) -> tolerances that it misses by; fills its rows of e and its part of the scratch."


def dispatch_source(kinds: Sequence[Kind]) -> str:
    """The source of `goal_residual` for kinds, whose places in the list are their codes."""
    lines = ["def goal_residual(s, w, g, e):", "    kind, row = s.goal_kind[g], s.goal_row[g]"]
    for code, kind in enumerate(kinds):
        calls, at = [], 0
        for rows in kind.rows:
            calls.append(f"{rows.residual.__name__}(s, w, g, row + {at}, e)")
            at += rows.count
        lines += [f"    if kind == {code}:", f"        return {reduce('max({}, {})'.format, calls)}"]
    return "\n".join([*lines, "    return 0.0"])


def _made_of(kinds: Sequence[Kind]) -> GoalResidual:
    """`goal_residual` as a function of this module, whose source is `dispatch_source`."""
    space: dict[str, Any] = {rows.residual.__name__: rows.residual for kind in kinds for rows in kind.rows}
    space["__name__"] = __name__  # of the module, where copies of its functions look for it
    exec(dispatch_source(kinds), space)  # noqa: S102 - made of names in this package alone
    made: GoalResidual = space["goal_residual"]
    return made


goal_residual = _made_of(ROW_KINDS)


def sets_place(s: System, g: int) -> bool:
    """Whether a goal sets the position of its effector."""
    return bool(s.goal_lengths[g] == 3 and s.goal_base[g] < 0)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal sets the whole rotation of its effector."""
    return bool(s.goal_angles[g] == 3 and not s.goal_looks[g] and s.goal_base[g] < 0)


def residuals(s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:
    """Forward kinematics and all goals' residuals.

    Fills ``e`` (m,), weighted, target minus current, and in ``w`` what `rows` needs.

    Returns:
        The squared error e.e with the penalty for overlaps, and the largest residual in units of its tolerance, or
        overlap in units of what counts as touching (below 1: all goals are met); goals that weigh nothing are left out.
    """
    forward(s, w, q, t)
    worst = 0.0
    for g in range(len(s.goal_kind)):
        k = s.goal_joint[g]
        qx, qy, qz, qw = w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3]
        x, y, z = turned(qx, qy, qz, qw, s.goal_offset[g, 0], s.goal_offset[g, 1], s.goal_offset[g, 2])
        x, y, z = x + w.place[k, 0], y + w.place[k, 1], z + w.place[k, 2]
        w.point[g, 0], w.point[g, 1], w.point[g, 2] = x, y, z
        worst = max(worst, goal_residual(s, w, g, e))
    error = 0.0
    for r in range(len(e)):
        error += e[r] * e[r]
    if len(s.contact.joint) > 0:
        measure_overlap(s, w)
        error += w.contact.overlap[0]
        worst = max(worst, w.contact.overlap[1])
    # Comparisons with NaN are false, so goals that overflowed never count as met.
    return error, worst if error < math.inf else math.inf
