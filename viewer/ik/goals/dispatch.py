"""What the compiled kernels ask about kinds of goals: the residuals of each."""

from __future__ import annotations

from typing import Any

from viewer.ik.goals import ROW_KINDS, Kind
from viewer.ik.goals.rows import Residual
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats


def _source() -> str:
    """A function that fills all rows of a goal.

    Compiled code cannot look a function up in a table: it compares codes, with a line for each kind.
    """
    lines = ["def residuals_of(s, w, g, row, e):", "    kind = s.goal_kind[g]"]
    lines += [f"    if kind == {code}: return {_call(kind)}" for code, kind in enumerate(ROW_KINDS)]
    return "\n".join([*lines, "    return 0.0", ""])


def _call(kind: Kind) -> str:
    """What calls a kind's functions, each at its place in the rows of a goal."""
    calls, row = [], 0
    for rows in kind.rows:
        calls.append(f"{rows.residual.__name__}(s, w, g, row + {row}, e)")
        row += rows.count
    return calls[0] if len(calls) == 1 else f"max({', '.join(calls)})"


SOURCE = _source()
_names: dict[str, Any] = {rows.residual.__name__: rows.residual for kind in ROW_KINDS for rows in kind.rows}
_made: dict[str, Any] = {}
exec(SOURCE, _names | {"__name__": __name__}, _made)  # noqa: S102 - made of names of functions alone
residuals_of: Residual = _made["residuals_of"]


def goal_residual(s: System, w: Work, g: int, e: Floats) -> float:
    """Fill the rows of goal g in ``e``, and its part of the scratch; how many tolerances it misses by."""
    return residuals_of(s, w, g, s.goal_row[g], e)


def sets_place(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be at a place."""
    return bool(s.goal_lengths[g] == 3 and s.goal_base[g] < 0)


def sets_turn(s: System, g: int) -> bool:
    """Whether a goal asks its effector to be turned in one way only."""
    return bool(s.goal_angles[g] == 3 and not s.goal_looks[g] and s.goal_base[g] < 0)
