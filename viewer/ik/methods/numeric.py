"""Derivatives by central differences, and goals given as functions of the user's.

Row d of the transposed Jacobian is spread_d * (e(x - h) - e(x + h)) / 2h, with e = target - current, so that it agrees
with the analytic rows (J is the derivative of "current"). The error is h^2 / 6 times the third derivative, and rounding
adds about 1e-16 / h: both are below 1e-10 per unit of e at the h taken here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from viewer.errors import InputError
from viewer.ik.vectorised_joints import move
from viewer.skeleton.kinematics import World, fk_arrays
from viewer.skeleton.tree import depth_first

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from viewer.ik.goals import Goal
    from viewer.ik.system import State, System, Work
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats, Ints

    Residuals: TypeAlias = Callable[[Ints, Floats, Floats], Floats]
    """(owner (n,), rotations (n, 4), translations (n, 3)) -> e (n, k): the rows with joint owner[d] moved to there."""

STEP = 6e-6
"""h, radians or units of length: about the cube root of the machine's precision."""
_FAR = 1e6
"""What stands for a residual that is not finite: so bad that the step there is taken back."""
_BLOCK = 1 << 18
"""Joint-frames of perturbed poses that are kept at once."""


def central_differences(s: System, w: Work, state: State, residuals: Residuals) -> Floats:
    """(n, k) rows of the transposed Jacobian, scaled by the freedoms' spreads, at the pose of ``state``."""
    plus = residuals(*_perturbed(s, w, state, STEP))
    minus = residuals(*_perturbed(s, w, state, -STEP))
    result = (minus - plus) * (s.spread / (2.0 * STEP * s.unit))[:, None]
    # Where a function of the user's has no value on one side it tells nothing of the way to go.
    result[(np.abs(plus) >= _FAR) | (np.abs(minus) >= _FAR)] = 0.0
    return np.asarray(result)


def _perturbed(s: System, w: Work, state: State, h: float) -> tuple[Ints, Floats, Floats]:
    """For every freedom: its joint (n,), and the local rotation (n, 4) and translation (n, 3) with it moved by h."""
    counts = np.diff(s.first)
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(owner)) - s.first[owner]
    turns, moves = state.q[owner], state.t[owner]
    # A difference needs both sides of a limit, too.
    free = s._replace(lower=np.full_like(s.lower, -np.inf), upper=np.full_like(s.upper, np.inf))
    # Joints' own motions do not depend on each other: one move does the first freedom of all of them, and so on.
    for i in range(int(place.max(initial=-1)) + 1):
        some = np.flatnonzero(place == i)
        step = np.zeros(len(owner))
        step[some] = h * s.unit[some]
        x, q, t = state.x.copy(), state.q.copy(), state.t.copy()
        move(free, w, step, x, q, t)
        turns[some], moves[some] = q[owner[some]], t[owner[some]]
    return owner, turns, moves


class UserRows:
    """The rows of function goals, for solves in whose system every joint of the skeleton takes part.

    A goal's residuals f stand as e = -weight * f: target (zero) minus current. It is met when |f| is at most the
    solve's tolerance in metres.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], unit: float = 1.0) -> None:
        """Take the goals that are functions and enabled; ``unit`` that their weights are measured in."""
        self._skeleton = skeleton
        self._goals = [
            (goal.residuals, goal.weight / unit) for goal in goals if goal.enabled and goal.residuals is not None
        ]
        self._joints = np.array(depth_first(skeleton), dtype=np.intp)
        self._sizes: list[int] = []

    def begin(self, state: State) -> list[int]:
        """How many residuals each function gives; they must stay as many during a solve.

        Raises:
            InputError: residuals that are not finite numbers at the pose where the solve begins.
        """
        self._sizes = []
        world = self._worlds(state.q[None], state.t[None])[0]
        values = [_residuals(function(world)) for function, _ in self._goals]
        for value in values:
            if not np.isfinite(value).all():
                raise InputError(
                    f"function goal: expected finite residuals at the start pose, found {value[~np.isfinite(value)][0]}"
                )
        self._sizes = [len(value) for value in values]
        return self._sizes

    def evaluate(self, q: Floats, t: Floats) -> tuple[Floats, float]:
        """Rows e (k,) at a pose of the system, and the largest |f| of a goal."""
        rows = self._rows(self._worlds(q[None], t[None])[0])
        largest, first = 0.0, 0
        for size, (_, weight) in zip(self._sizes, self._goals, strict=True):
            largest = max(largest, float(np.linalg.norm(rows[first : first + size])) / weight)
            first += size
        return rows, largest

    def differences(self, s: System, w: Work, state: State) -> Floats:
        """(n, k) as `central_differences`."""

        def residuals(owner: Ints, turns: Floats, moves: Floats) -> Floats:
            rows = np.empty((len(owner), sum(self._sizes)))
            step = max(1, _BLOCK // len(state.q))
            for first in range(0, len(owner), step):
                some = np.arange(first, min(first + step, len(owner)))
                q, t = np.repeat(state.q[None], len(some), axis=0), np.repeat(state.t[None], len(some), axis=0)
                here = np.arange(len(some))
                q[here, owner[some]], t[here, owner[some]] = turns[some], moves[some]
                rows[some] = [self._rows(world) for world in self._worlds(q, t)]
            return rows

        return central_differences(s, w, state, residuals)

    def _worlds(self, q: Floats, t: Floats) -> list[World]:
        """World motion of F poses (F, K, 4), (F, K, 3) of the system, with the joints in the skeleton's order."""
        rotations, translations = np.empty_like(q), np.empty_like(t)
        rotations[:, self._joints], translations[:, self._joints] = q, t
        worlds = fk_arrays(self._skeleton.parents, rotations, translations)
        return [World(*motion) for motion in zip(worlds.positions, worlds.rotations, strict=True)]

    def _rows(self, world: World) -> Floats:
        parts = [np.zeros(0)]
        for size, (function, weight) in zip(self._sizes, self._goals, strict=True):
            value = _residuals(function(world))
            if len(value) != size:
                raise InputError(f"function goal: expected {size} residuals as at the start pose, found {len(value)}")
            parts.append(np.where(np.isfinite(value), -weight * np.where(np.isfinite(value), value, 0.0), _FAR))
        return np.clip(np.concatenate(parts), -_FAR, _FAR)


def _residuals(value: object) -> Floats:
    """(k,) what a user's function gave.

    Raises:
        InputError: not a list of numbers.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:  # ragged, or no array at all
        raise InputError("function goal: expected residuals of shape (any,), found no array of numbers") from error
    if array.dtype.kind not in "biuf" or array.ndim > 1:
        raise InputError(f"function goal: expected residuals of shape (any,), found {array.dtype} of {array.shape}")
    return np.atleast_1d(array.astype(np.float64))
